"""Statistics of rows: they add, and give evidence and weights as dense algebra does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import Normal
from gpnotes.infer.sufficient_statistics import Statistics


@pytest.fixture
def rows(rng):
    """Features (8, 3), a residual and noise variances, which differ from row to row."""
    return rng.normal(size=(8, 3)), rng.normal(size=8), rng.uniform(0.2, 2.0, size=8)


def statistics(Phi, r, noise):
    weighted = Phi / noise[:, None]
    return Statistics(
        len(r), weighted.T @ Phi, weighted.T @ r, float(r @ (r / noise)), math.fsum(np.log(noise))
    )


def test_those_of_two_sets_of_rows_add(rows):
    whole = statistics(*rows)
    added = statistics(*(a[:3] for a in rows)) + statistics(*(a[3:] for a in rows))
    assert added.count == 8
    assert added.log_evidence == pytest.approx(whole.log_evidence, rel=1e-12)
    np.testing.assert_allclose(added.weight_mean, whole.weight_mean, rtol=1e-10)


def test_the_evidence_and_the_weights_are_those_of_dense_algebra(rows):
    Phi, r, noise = rows
    sums = statistics(*rows)
    Ky = Phi @ Phi.T + np.diag(noise)
    wanted = Normal.from_covariance(np.zeros(8), Ky).log_density(r)
    assert sums.log_evidence == pytest.approx(wanted, rel=1e-11)
    np.testing.assert_allclose(sums.weight_mean, Phi.T @ np.linalg.solve(Ky, r), rtol=1e-9)
    assert sums.fit == pytest.approx(r @ np.linalg.solve(Ky, r), rel=1e-10)


def test_under_other_noise_and_the_size_of_alpha(rows):
    Phi, r, _ = rows
    sums = statistics(Phi, r, np.full(8, 0.5)).scaled(0.5 / 2.0)
    alpha = np.linalg.solve(Phi @ Phi.T + 2.0 * np.eye(8), r)
    assert sums.fit == pytest.approx(r @ alpha, rel=1e-10)
    assert sums.squared_alpha(2.0) == pytest.approx(alpha @ alpha, rel=1e-9)


def test_gaps_and_corrections_are_added_and_counted(rows):
    sums = statistics(*rows)
    more = Statistics(0, 0.0 * sums.gram, 0.0 * sums.cross, 0.0, 0.0, gap=2.0, correction=-3.0)
    both = sums + more + more
    assert (both.gap, both.correction) == (4.0, -6.0)
    assert both.log_evidence == pytest.approx(sums.log_evidence - 6.0)
