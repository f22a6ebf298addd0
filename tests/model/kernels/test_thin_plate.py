"""The thin-plate kernel: a covariance on its ball, and splines in the limit of a large one."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RBFInterpolator

import gpnotes as g
from gpnotes.ground.distances import squared_distances
from gpnotes.ground.params import flatten
from gpnotes.model.kernels import ThinPlate, WithGradients
from gpnotes.testing import check_kernel


def _ball(rng, n, d):
    """Points of the unit ball, a third of them on its surface, and two opposite ones."""
    away = rng.normal(size=(n, d))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    away[1] = -away[0]
    radius = rng.uniform(size=(n, 1)) ** (1.0 / d)
    radius[: n // 3] = 1.0
    return away * radius


def _least(kernel_radius, x):
    """The smallest eigenvalue at points x, whether or not they are in the ball."""
    q = squared_distances(x) / (8.0 / 3.0 * kernel_radius) ** 2
    return np.linalg.eigvalsh(1.0 - 3.0 * q + 2.0 * q**1.5)[0]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_it_is_a_covariance_on_the_ball(rng, d):
    x = _ball(rng, 300, d)
    K = ThinPlate(1.0, 1.0)(x)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-12 * values[-1]


@pytest.mark.parametrize("d", [2, 3])
def test_with_the_diameter_for_r_it_is_none(rng, d):
    """R = 2ρ, as if the radius were three quarters of what it is."""
    assert _least(0.75, _ball(rng, 300, d)) < -1e-2


def test_its_series_on_the_line_has_no_negative_coefficient():
    """``1 − 9t² + 8t³`` with period 3/2, by Gauss-Legendre: none at even orders but the first."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    t, weights = 0.375 * (nodes + 1.0), 0.375 * weights
    line = 1.0 - 9.0 * t**2 + 8.0 * t**3
    orders = np.arange(60)
    series = np.cos(np.outer(orders, t) * np.pi / 0.75) @ (weights * line)
    assert series[0] > 0.1
    assert (series[1::2] > 0.0).all()
    np.testing.assert_allclose(series[2::2], 0.0, atol=1e-13)
    # and its mean over directions is the kernel: s r for s from 0 to 1
    r = np.asarray([0.1, 0.4, 0.7])
    s = 0.5 * (nodes + 1.0)
    means = (1.0 - 9.0 * np.outer(r, s) ** 2 + 8.0 * np.outer(r, s) ** 3) @ (weights / 0.75)
    np.testing.assert_allclose(means, 1.0 - 3.0 * r**2 + 2.0 * r**3, rtol=1e-12)


def test_it_conforms(space, rng):
    check_kernel(ThinPlate(1.3, 5.0), space.asarray(rng.normal(size=(4, 3))))


def test_in_a_large_ball_it_is_the_natural_cubic_spline(rng):
    x, y = np.linspace(-1.0, 1.0, 7)[:, None], rng.normal(size=7)
    new = np.linspace(-1.0, 1.0, 50)[:, None]
    spline = CubicSpline(x[:, 0], y, bc_type="natural")(new[:, 0])
    gaps = []
    for radius in (1.0, 3.0, 9.0, 27.0):
        mean = g.condition(g.GP(ThinPlate(1.0, radius), 0.0), x, y).mean(new)
        gaps.append(np.abs(mean - spline).max())
    assert gaps[0] > 2.0 * gaps[1] > 4.0 * gaps[2] > 8.0 * gaps[3]
    assert gaps[3] < 0.05 * gaps[0]


@pytest.mark.parametrize("d", [2, 3])
def test_in_a_large_ball_it_is_the_sum_of_cubes_and_a_linear_function(rng, d):
    x, new = _ball(rng, 15, d), _ball(rng, 30, d)
    y = np.sin(3.0 * x[:, 0]) + x[:, 1]
    cubes = RBFInterpolator(x, y, kernel="cubic", degree=1)(new)
    gaps = [
        np.abs(g.condition(g.GP(ThinPlate(1.0, r), 0.0), x, y).mean(new) - cubes).max()
        for r in (1.0, 4.0, 16.0)
    ]
    assert gaps[0] > 2.0 * gaps[1] > 4.0 * gaps[2]
    assert gaps[2] < 0.1 * gaps[0]


def test_what_is_outside_of_the_ball_is_refused(space):
    kernel = ThinPlate(1.0, 2.0)
    x = space.asarray([[2.0, 0.0], [0.0, -3.0]])
    with pytest.raises(ValueError, match=r"x must lie within 2 of the origin, .* a row at 3"):
        kernel(x)
    assert kernel(x[:1, :]).shape == (1, 1)
    with pytest.raises(ValueError, match=r"x must have at most 3 columns for ThinPlate"):
        kernel(space.asarray([[0.0] * 4]))
    for radius in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match=r"ThinPlate\.radius must be"):
            ThinPlate(1.0, radius)


def test_only_its_variance_is_fitted():
    assert flatten(ThinPlate(2.0, 3.0))[0].shape == (1,)


@pytest.mark.parametrize("d", [1, 3])
def test_with_rows_of_derivatives_it_conforms(rng, d):
    labels = np.arange(6.0)[:, None] % (d + 1)
    rows = np.concatenate([rng.uniform(-1.0, 1.0, size=(6, d)), labels], axis=1)
    check_kernel(WithGradients(ThinPlate(1.3, 6.0)), rows, labels=True)
