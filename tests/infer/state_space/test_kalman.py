"""The filter and the way back beside the inverse of one dense covariance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gpnotes import GP, Constant, Linear, Matern12, Matern52
from gpnotes.infer.state_space.as_terms import expansion_of
from gpnotes.infer.state_space.kalman import kalman_filter
from gpnotes.infer.state_space.parallel_scan import lanes_of
from gpnotes.model.kernels import Cosine

KERNELS = [
    Matern12(1.3, 0.8), Matern52(0.7, 2.0) + Constant(0.4), Matern12(0.5, 1.0) * Cosine(0.3),
    Linear(0.1) + Matern52(1.0, 1.0),
]  # fmt: skip


@pytest.fixture(params=KERNELS, ids=repr)
def run(request, rng):
    """A filter of forty readings, their covariance and themselves, in units of the signal."""
    t, y = np.sort(rng.uniform(-3.0, 8.0, 40)), rng.normal(size=40)
    found = expansion_of(GP(request.param, 0.2), 1e-6)
    noise = rng.uniform(0.05, 0.6, 40)
    cov = request.param(t[:, None], t[:, None]) / found.unit + np.diag(noise)
    return kalman_filter(lanes_of(found.motion, t, y, noise)), cov, y


def test_the_evidence_is_the_normal_density(run):
    found, cov, y = run
    assert found.log_evidence == pytest.approx(stats.multivariate_normal(cov=cov).logpdf(y))
    assert found.log_det == pytest.approx(np.linalg.slogdet(cov)[1])
    assert found.fit == pytest.approx(y @ np.linalg.solve(cov, y))


def test_rounding_is_at_most_its_bound(run):
    found, *_ = run
    assert 0.0 < found.rounding <= found.most_rounding


def test_the_way_back_gives_the_inverse_of_the_covariance(run):
    found, cov, y = run
    inverse = np.linalg.inv(cov)
    alpha = found.lanes.ordered(found.smoothed_means.alpha)
    np.testing.assert_allclose(alpha, inverse @ y, atol=1e-9)
    precision = found.lanes.ordered(found.smoothed_covariances.precision)
    np.testing.assert_allclose(precision, np.diag(inverse), atol=1e-9)


def test_innovations_are_what_the_earlier_readings_leave(run):
    """By the Cholesky factor: reading t has the variance ``L_tt²`` given those before it."""
    found, cov, y = run
    L = np.linalg.cholesky(cov)
    precision = found.lanes.ordered(found.precision)
    innovation = found.lanes.ordered(found.innovation)
    np.testing.assert_allclose(precision[1:], np.diag(L)[1:] ** -2, rtol=1e-8)
    wanted = np.linalg.solve(L, y) * np.diag(L)
    np.testing.assert_allclose(innovation[1:], wanted[1:], atol=1e-8)
