"""The walk in floats beside the same recursions in matrices."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, Matern12, Matern32, Matern52
from gpnotes.infer.state_space.as_terms import expansion_of
from gpnotes.infer.state_space.float_walk import covariances, mean_equations

KERNELS = [Matern12(1.3, 0.8), Matern32(0.4, 1.1), Matern52(0.7, 2.0)]


@pytest.fixture(params=KERNELS, ids=repr)
def walk(request, rng):
    """Steps to all of six readings but the first, their F and Q, and P after the first."""
    motion = expansion_of(GP(request.param, 0.2), 1e-6).motion
    gaps = np.append(rng.uniform(0.0, 1.5, 4), 0.0)
    step, d = motion.at(gaps, np.cumsum(gaps), float(np.max(gaps))), motion.size
    F = np.zeros((d, d, 5)) + np.eye(d)[:, :, None]
    step.up(F)
    P = 0.6 * motion.terms[0].prior(gaps)[:, :, 0]
    return step, np.moveaxis(F, 2, 0), np.moveaxis(step.noise[0], 2, 0), P


@pytest.mark.parametrize("alike", [False, True])
def test_covariances_are_those_of_matrices(alike, walk, rng):
    step, F, Q, P = walk
    upper, noise = np.triu_indices(len(P)), np.full(5, 0.3) if alike else rng.uniform(0.1, 0.5, 5)
    given = 0.3 if alike else noise
    found = covariances(P[upper].tolist(), step, list(Q[:, *upper].T), given)
    for t in range(5):
        P = F[t] @ P @ F[t].T + Q[t]
        np.testing.assert_allclose(found[:, t], P[upper], rtol=1e-13)
        P = P - np.outer(P[0], P[0]) / (P[0, 0] + noise[t])


def test_means_and_the_way_back_solve_the_recursions_with_the_gains_given(walk, rng):
    step, F, _, P = walk
    d = len(P)
    gains, y, told = rng.uniform(0.0, 0.7, (d, 6)), *rng.normal(size=(2, 6))
    gains[:, 0], m, late = 0.0, rng.normal(size=d), np.zeros(d)
    equations = mean_equations(step, gains, 1.0 - gains[0])
    found = equations.means(m, y)
    for t in range(6):
        np.testing.assert_allclose(found[:, t], m, rtol=1e-12, atol=1e-14)
        if t < 5:
            m = F[t] @ (m + gains[:, t] * (y[t] - m[0]))
    adjoint, alpha = equations.back(told)
    for t in reversed(range(6)):
        own = told[t] - gains[:, t] @ late
        late[0] += own
        np.testing.assert_allclose(adjoint[:, t], late, rtol=1e-12, atol=1e-14)
        assert alpha[t] == pytest.approx(own, rel=1e-12, abs=1e-14)
        late = F[t - 1].T @ late
