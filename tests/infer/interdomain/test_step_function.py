"""The source's step-function variable, ``u = f'(θₘ) + ∫ f dθ`` with k = π − d: it has no variance.

Its derivative is a central difference of width h, its integral a sum over a grid: for each h > 0 a
functional that there is, whose covariance with f tends to a step while its variance has no limit.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import (
    GP,
    SparseGP,
    log_evidence,
)
from gpnotes.infer.interdomain import Harmonics, InducingPoints, WeightedPoints, leading_harmonics
from gpnotes.model.kernels import CircularArcCosine, CircularMatern32

KERNEL = CircularArcCosine(math.pi)
WIDTHS = (0.4, 0.1, 0.025, 1e-3, 1e-5)
GRID = 2.0 * math.pi / 512 * np.arange(512) - math.pi
NINE = 0.1 - math.pi + 2.0 * math.pi / 9 * np.arange(9)
EVERYWHERE = (2.0 * math.pi / 200 * np.arange(200) - 3.1)[:, None]


def steps(angles, width, weight=1.0):
    """``(f(θₘ + h/2) − f(θₘ − h/2))/h + weight · ∫ f dθ`` for each of the angles."""
    at = np.asarray(angles)
    eye = np.eye(at.size) / width
    integral = np.full((at.size, 512), weight * 2.0 * math.pi / 512)
    Z = np.concatenate([at - width / 2.0, at + width / 2.0, GRID])
    return WeightedPoints(Z[:, None], np.concatenate([-eye, eye, integral], axis=1))


def difference_of_slopes(width):
    """The difference quotient of width h less that of h/2."""
    h = width
    Z = np.asarray([[-h / 2.0], [h / 2.0], [-h / 4.0], [h / 4.0]])
    return WeightedPoints(Z, np.asarray([[-1.0, 1.0, 2.0, -2.0]]) / h)


@pytest.mark.parametrize("width", WIDTHS)
def test_its_variance_is_that_of_the_integral_and_two_over_h(width):
    (variance,) = steps([0.3], width).gram(KERNEL)[0]
    assert variance == pytest.approx(2.0 * math.pi**3 + 2.0 / width, rel=1e-4)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_difference_quotients_have_no_limit_in_mean_square(width):
    """Two of them are further apart the smaller h is: no Cauchy sequence."""
    (apart,) = difference_of_slopes(width).gram(KERNEL)[0]
    assert apart == pytest.approx(2.0 / width, rel=1e-9)


@pytest.mark.parametrize("width", WIDTHS[:3])
def test_of_a_smoother_kernel_they_have_one(width):
    """Matérn 3/2 has a derivative in mean square; the distance falls with h, by 1/4 for a 1/4."""
    kernel = CircularMatern32(math.pi, 1.0)
    far, near = (difference_of_slopes(w).gram(kernel)[0, 0] for w in (width, width / 4.0))
    assert near < 0.3 * far


def test_its_covariance_with_f_is_a_step_up_and_half_a_turn_later_a_step_down():
    """``π² ± 1``; a Heaviside function, twice, only if the integral has the weight 1/π²."""
    behind, ahead = np.asarray([[-2.8], [-1.0], [0.2]]), np.asarray([[0.4], [1.7], [3.3]])
    narrow, weighted = steps([0.3], 1e-3), steps([0.3], 1e-3, 1.0 / math.pi**2)
    for X, sign in ((behind, -1.0), (ahead, 1.0)):
        np.testing.assert_allclose(narrow.cross(KERNEL, X), math.pi**2 + sign, rtol=1e-4)
        np.testing.assert_allclose(weighted.cross(KERNEL, X), 1.0 + sign, atol=1e-4)


def test_as_printed_without_wrapping_the_integral_is_no_constant():
    """``∫ (π − |θ − θ′|) dθ = π² − θ′²`` from −π to π."""
    theta = np.linspace(-math.pi, math.pi, 2001)
    for at in (0.0, 1.0, math.pi):
        integral = np.trapezoid(math.pi - np.abs(theta - at), theta)
        assert integral == pytest.approx(math.pi**2 - at**2, abs=1e-4)


def explained(variables):
    """The share of the variance of f, on average over the circle, that the variables explain."""
    K_uf = variables.cross(KERNEL, EVERYWHERE)
    known = np.sum(K_uf * np.linalg.solve(variables.gram(KERNEL), K_uf), axis=0)
    return float(np.mean(known)) / KERNEL.variance


def test_the_narrower_the_step_the_less_it_tells_of_f():
    shares = [explained(steps(NINE, width)) for width in WIDTHS]
    assert np.all(np.diff(shares) < 0.0)
    assert shares[-1] < 0.01
    assert explained(InducingPoints(NINE[:, None])) > shares[0]
    harmonics = leading_harmonics(KERNEL, EVERYWHERE, 5)
    assert harmonics.size == 9
    assert explained(harmonics) > explained(InducingPoints(NINE[:, None]))


def test_no_step_is_a_sum_of_what_harmonics_bring():
    """Σ cₙ² / aₙ, the norm of the step in the kernel's space, grows with the harmonics taken.

    The step's coefficients are 4/πn for odd n, and aₙ = 4/πn²: the sum is 4/π for each.
    """
    for top in (10, 100, 1000):
        odd = np.arange(1.0, 2.0 * top, 2.0)
        angles = (np.arange(8 * top) + 0.5) * 2.0 * math.pi / (8 * top)
        square = np.where(angles < math.pi, 1.0, -1.0)
        c = 2.0 / angles.size * np.sin(np.outer(odd[:3], angles)) @ square
        np.testing.assert_allclose(c, 4.0 / (math.pi * odd[:3]), rtol=0.03)
        norm = np.sum((4.0 / (math.pi * odd)) ** 2 / KERNEL.coefficients(odd))
        assert norm == pytest.approx(4.0 / math.pi * top, rel=1e-9)


def test_regression_on_harmonics_beats_that_on_narrow_steps(rng):
    """VFE with nine variables each, on ten sets of data."""
    gains = []
    for _ in range(10):
        X = rng.uniform(-math.pi, math.pi, size=(40, 1))
        y = np.where(X[:, 0] > 0.3, 1.0, -1.0) + 0.1 * rng.normal(size=40)
        gp = GP(KERNEL, 0.1)
        narrow, waves = (
            log_evidence(SparseGP(gp, u), X, y)
            for u in (steps(NINE, 1e-3), Harmonics(np.asarray([0.0, 1.0, 3.0, 5.0, 7.0])))
        )
        gains.append(waves - narrow)
    assert min(gains) > 10.0
