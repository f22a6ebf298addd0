"""Steps of sums and products of processes beside matrix exponentials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from gpnotes import GP, Constant, Matern32, Matern52
from gpnotes.infer.state_space.as_terms import expansion_of
from gpnotes.model.kernels import Cosine

KERNELS = [
    Matern32(1.3, 0.8), Matern52(0.7, 2.0) + Matern32(0.4, 1.0) + Constant(0.4),
    Matern32(0.5, 1.0) * Cosine(0.3), Matern32(0.5, 1.0) * Matern52(1.0, 3.0) + Cosine(0.2),
]  # fmt: skip
GAPS = np.asarray([0.0, 0.3, 2.5])


@pytest.fixture(params=KERNELS, ids=repr)
def motion(request):
    return expansion_of(GP(request.param, 0.1), 1e-6).motion


def _step(motion):
    return motion.at(GAPS, np.cumsum(GAPS), float(GAPS.max()))


def _matrices(motion, turn):
    M = np.repeat(np.eye(motion.size)[:, :, None], GAPS.size, axis=2)
    turn(M)
    return M


def test_a_step_back_is_the_transpose_of_a_step(motion):
    step = _step(motion)
    up, down = _matrices(motion, step.up), _matrices(motion, step.down)
    np.testing.assert_allclose(down, np.swapaxes(up, 0, 1), atol=1e-13)


def test_steps_make_up_longer_ones(motion):
    """``F(a + b) = F(b) F(a)``, and each block is the exponential of some generator."""
    F = _matrices(motion, _step(motion).up)
    longer = _matrices(motion, motion.at(2.0 * GAPS, 2.0 * np.cumsum(GAPS), 5.0).up)
    for k in range(GAPS.size):
        np.testing.assert_allclose(longer[:, :, k], F[:, :, k] @ F[:, :, k], atol=1e-10)
    G = linalg.logm(F[:, :, 1]).real / GAPS[1]
    np.testing.assert_allclose(linalg.expm(2.5 * G), F[:, :, 2], atol=1e-6)


def test_the_noise_of_a_step_keeps_the_prior(motion):
    """``P = F P Fᵀ + Q`` for processes that are the same everywhere."""
    step, x = _step(motion), np.cumsum(GAPS)
    P = np.zeros((motion.size, motion.size, GAPS.size))
    for block, term in zip(motion.blocks, motion.terms, strict=True):
        P[block, block, :] = term.prior(x)
    moved = P.copy()
    step.carry(moved)
    step.add_noise(moved)
    np.testing.assert_allclose(moved, P, atol=1e-12)


def test_only_what_grows_or_lasts_has_a_reach():
    for kernel, bounded in ((Matern32(), False), (Cosine(0.3), True), (Constant(), False)):
        motion = expansion_of(GP(kernel + Matern52(), 0.1), 1e-6).motion
        assert motion.lasts == bounded
        assert not motion.grows
