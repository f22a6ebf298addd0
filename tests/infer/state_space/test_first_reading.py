"""What one reading tells of a process up to its place, against conditioning with matrices."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.linalg import block_diag

from gpnotes import GP, Constant, Linear, Matern12, Matern32, Matern52
from gpnotes.infer.state_space.as_terms import motion_of
from gpnotes.infer.state_space.first_reading import FirstReading
from gpnotes.model.kernels import Cosine, IntegratedWiener, Wiener

M12, M32 = Matern12(0.7, 2.0), Matern32(1.7, 1.3)
KERNELS = {
    "one": M32,
    "sum": M32 + M12 + Cosine(0.3),
    "line": Linear(0.3) + M12,
    "bend and line": Linear(0.3) + IntegratedWiener(0.2, -3.0) + M12,
    "line times a process": M32 + Linear(0.4) * M32 + M12 + Constant(0.3),
    "two carried": IntegratedWiener(0.2, -3.0) * M12 + Linear(0.4) * M12 + M12 + Matern52(),
    "walk": Wiener(0.4, -2.0) * M12 + Cosine(0.1),
}
PLACE, READING, NOISE = 2.3, 0.8, 0.15
XS = np.asarray([-1.4, 0.6, 2.2, 2.3])


class Dense(NamedTuple):
    """Conditioned by matrices: states are sums of terms' own, as `Motion.fold` adds them."""

    mean: np.ndarray
    cov: np.ndarray
    shared: np.ndarray
    own: np.ndarray  # the covariance of the first entries of terms with the state
    values: np.ndarray  # their means
    open_: np.ndarray  # their variances


def dense(motion, x, place, reading, noise):
    size = motion.size
    F = np.eye(size)[:, :, None].copy()
    gap = np.asarray([place - x])
    motion.at(gap, np.asarray([place]), float(gap[0])).up(F)
    here, there = (
        block_diag(*(term.prior(np.asarray([at]))[:, :, 0] for term in motion.terms))
        for at in (x, place)
    )
    T = np.eye(size)[:, :, None].copy()
    motion.fold(T)
    T, across = T[:, :, 0], here @ F[:, :, 0].T
    firsts = [block.start for block in motion.blocks]
    h = np.zeros(size)
    h[firsts] = 1.0
    S = h @ there @ h + noise
    c, end = across @ h, there @ h
    cov = here - np.outer(c, c) / S
    return Dense(T @ c * reading / S, T @ cov @ T.T, T @ (across - np.outer(c, end) / S) @ T.T,
                 (cov @ T.T)[firsts], c[firsts] * reading / S, np.diag(cov)[firsts])  # fmt: skip


def first_of(kernel, place=PLACE, reading=READING, noise=NOISE):
    motion = motion_of(GP(kernel, 0.1))
    return FirstReading(motion, *(np.asarray([a]) for a in (place, reading, noise)))


CLOSE = {"rtol": 1e-9, "atol": 1e-11}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@kernels
@pytest.mark.parametrize("noise", [NOISE, math.inf])
def test_states_up_to_a_reading_are_those_of_dense_algebra(kernel, noise):
    first = first_of(kernel, noise=noise)
    with np.errstate(invalid="ignore"):  # infinity times zero, which is not taken
        mean, cov, shared = first.before(XS)
        m, P = first.belief
    for k, x in enumerate(XS):
        wanted = dense(first.motion, x, PLACE, READING, noise)
        np.testing.assert_allclose(mean[:, k], wanted.mean, **CLOSE)
        np.testing.assert_allclose(cov[:, :, k], wanted.cov, **CLOSE)
        np.testing.assert_allclose(shared[:, :, k], wanted.shared, **CLOSE)
    np.testing.assert_allclose(m[:, 0], wanted.mean, **CLOSE)
    np.testing.assert_allclose(P[:, :, 0], wanted.cov, **CLOSE)


@kernels
def test_what_later_readings_tell_of_it_is_by_its_gain(kernel, rng):
    first = first_of(kernel)
    size = first.motion.size
    late, root = rng.normal(size=(size, 1)), rng.normal(size=(size, size, 1))
    taken = np.einsum("ikb,jkb->ijb", root, root)
    wanted = dense(first.motion, PLACE, PLACE, READING, NOISE)
    S = 1.0 / first.precision[0]
    assert sum(a[0] for a in first.variances) + NOISE == pytest.approx(S)
    gain = wanted.mean / READING
    np.testing.assert_allclose(first.gain[:, 0], gain, **CLOSE)
    told, known = first.told(late), first.known(taken)
    assert told[0] == pytest.approx(READING / S - gain @ late[:, 0])
    assert known[0] == pytest.approx(1.0 / S + gain @ taken[:, :, 0] @ gain)
    values = wanted.values + wanted.own @ late[:, 0]
    lost = np.einsum("bi,ij,bj->b", wanted.own, taken[:, :, 0], wanted.own)
    variances = [a[0] for a in first.variances]
    shares = (values**2 + wanted.open_ - lost) / variances
    np.testing.assert_allclose(first.shares(late, taken), shares, rtol=1e-7, atol=1e-9)


@kernels
def test_of_states_whose_values_are_known_those_stay_nothing_at_all(kernel):
    first = first_of(kernel)
    for term, own in zip(first.motion.terms, first.unseen, strict=True):
        P = term.prior(first.place)[:, :, 0]
        wanted = P - np.outer(P[0], P[0]) / P[0, 0]
        np.testing.assert_allclose(own[:, :, 0], wanted, **CLOSE)
        assert not np.any(own[0])
        assert not np.any(own[:, 0])


@pytest.mark.parametrize("kernel", [Linear(0.3) + M12, Linear(0.3) + Linear(0.2) * M12 + M12])
def test_a_term_that_is_zero_at_the_reading_keeps_its_prior(kernel):
    first = first_of(kernel, place=0.0)
    x = np.asarray([-1.4, 0.0])
    mean, cov, shared = first.before(x)
    for k in range(2):
        wanted = dense(first.motion, x[k], 0.0, READING, NOISE)
        np.testing.assert_allclose(mean[:, k], wanted.mean, **CLOSE)
        np.testing.assert_allclose(cov[:, :, k], wanted.cov, **CLOSE)
        np.testing.assert_allclose(shared[:, :, k], wanted.shared, **CLOSE)
    size = first.motion.size
    shares = first.shares(np.ones((size, 1)), np.zeros((size, size, 1)))
    zero = [not a[0] for a in first.variances]
    assert zero[0]
    assert [share for share, none in zip(shares, zero, strict=True) if none] == [1.0] * sum(zero)


@pytest.mark.parametrize("kernel", [Linear(), Linear() + IntegratedWiener(1e-6, -1.0)])
def test_far_from_its_origin_a_line_keeps_all_digits(kernel):
    """Where its prior variance is 10¹⁸ times that after the reading."""
    first = first_of(kernel, place=1e9, noise=1.0)
    _, P = first.belief
    left = sum(P[i, j, 0] for i in first.motion.seen for j in first.motion.seen)
    assert left == pytest.approx(1.0, rel=1e-9)
