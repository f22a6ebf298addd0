"""Expectations of kernels: against quadrature, at tiny covariances, and differentiated."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import RBF, Periodic
from gpnotes.decide import moments
from gpnotes.testing import gradcheck


@pytest.fixture
def kernels(rng):
    """A sum of two, and one, in two dimensions."""
    first, second, third = rng.uniform(0.6, 2.0, (3, 2))
    return RBF(1.3, first) + RBF(0.4, second), RBF(0.7, third)


@pytest.fixture
def points(rng):
    return rng.normal(size=(5, 2)), rng.normal(size=(4, 2))


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_expectations_are_those_of_quadrature(kernels, points, rng, covariance, nodes, rank):
    (a, b), (X, Z), m, S = kernels, points, rng.normal(size=2), covariance(2, 0.3, rank)
    x, w = nodes(m, S)
    left, right = a(X, x), b(Z, x)
    outer = (left * w) @ right.T
    between = ((left - (left @ w)[:, None]) * w) @ (right - (right @ w)[:, None]).T
    close = {"rtol": 1e-9, "atol": 1e-13}
    np.testing.assert_allclose(moments.kernel_mean(a, X, m, S), left @ w, **close)
    np.testing.assert_allclose(moments.kernel_outer(a, b, X, Z, m, S), outer, **close)
    np.testing.assert_allclose(moments.kernel_covariance(a, b, X, Z, m, S), between, **close)


@pytest.mark.parametrize("scale", [1e-6, 1e-12, 1e-18])
def test_tiny_covariances_where_subtracting_loses_every_digit(
    kernels, points, rng, covariance, scale
):
    """The leading term of the covariance is ``∇k_a S ∇k_bᵀ``; the next is smaller by `scale`."""
    (a, b), (X, Z), m, S = kernels, points, rng.normal(size=2), covariance(2, scale)
    one = np.ones((1, 1))
    slopes = [
        np.stack([k.pullback(m[None, :], p[None, :], one)[1][0] for p in where])
        for k, where in ((a, X), (b, Z))
    ]
    wanted = slopes[0] @ S @ slopes[1].T
    covariances = moments.kernel_covariance(a, b, X, Z, m, S)
    means = moments.kernel_mean(a, X, m, S), moments.kernel_mean(b, Z, m, S)
    naive = moments.kernel_outer(a, b, X, Z, m, S) - means[0][:, None] * means[1][None, :]
    size = np.max(np.abs(wanted))
    assert np.max(np.abs(covariances - wanted)) < (30.0 * scale + 4e-15) * size
    if scale < 1e-10:
        assert np.max(np.abs(naive - wanted)) > 1e-5 * size


def test_at_a_summit_the_second_order_is_there(rng):
    """At ``m = x_1`` the slope is zero: ``Cov = σ_f⁴ ½ tr (SΛ⁻¹)²``, of second order in S."""
    kernel, x = RBF(1.3, np.asarray([0.7, 1.4])), rng.normal(size=2)
    S = 1e-12 * np.asarray([[1.0, 0.3], [0.3, 0.5]])
    scaled = S / kernel.lengthscale**2
    wanted = 1.3**2 * 0.5 * np.trace(scaled @ scaled)
    covariances = moments.kernel_covariance(kernel, kernel, x[None, :], x[None, :], x, S)
    np.testing.assert_allclose(covariances, [[wanted]], rtol=1e-9)


def test_far_points_give_zero_and_nothing_that_is_no_number(covariance):
    kernel, far = RBF(1.0, 1.0), np.asarray([[1e3, 0.0], [0.0, -1e4], [40.0, 0.0], [1.0, 1.0]])
    S = np.asarray([[0.8, 0.1], [0.1, 0.6]])
    covariances = moments.kernel_covariance(kernel, kernel, far, far, np.zeros(2), S)
    assert np.all(np.isfinite(covariances))
    assert not np.any(covariances[:2, :])
    assert covariances[3, 3] > 0.01


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_pullbacks_agree_with_differences(kernels, points, rng, rank):
    (a, b), m, root = kernels, rng.normal(size=2), np.zeros((2, 2))
    root[:, :rank] = rng.normal(size=(2, rank))

    def mean(X, m, root):
        return moments.kernel_mean(a, X, m, root @ root.T)

    def mean_pullback(X, m, root, bar):
        *bars, S_bar = moments.kernel_mean_and_pullback(a, X, m, root @ root.T)[1](bar)
        return *bars, 2.0 * S_bar @ root

    def between(X, Z, m, root):
        return moments.kernel_covariance(a, b, X, Z, m, root @ root.T)

    def between_pullback(X, Z, m, root, bar):
        pull = moments.kernel_covariance_and_pullback(a, b, X, Z, m, root @ root.T)[1]
        *bars, S_bar = pull(bar)
        return *bars, 2.0 * S_bar @ root

    gradcheck(mean, mean_pullback, points[0], m, root)
    gradcheck(between, between_pullback, *points, m, root)


def test_arrays_stay_where_they_are(space, points):
    a, b = RBF(1.3, space.asarray([0.7, 1.4])) + RBF(0.4, 2.0), RBF(0.6, 1.1)
    X, Z = (space.asarray(point) for point in points)
    m, S = space.asarray([0.3, -0.2]), space.asarray([[0.2, 0.1], [0.1, 0.3]])
    mean, pull_mean = moments.kernel_mean_and_pullback(a, X, m, S)
    between, pull = moments.kernel_covariance_and_pullback(a, b, X, Z, m, S)
    outer = moments.kernel_outer(a, b, X, Z, m, S)
    found = (mean, between, outer, *pull_mean(mean), *pull(between))
    assert all(space.holds(one) for one in found)
    assert [one.shape for one in pull(between)] == [(5, 2), (4, 2), (2,), (2, 2)]


def test_what_cannot_be_integrated_is_refused(points):
    X, Z = points
    m, S = np.zeros(2), np.eye(2)
    with pytest.raises(TypeError, match=r"RBF kernel or a sum of such; got Periodic"):
        moments.kernel_mean(RBF() + Periodic(), X, m, S)
    with pytest.raises(TypeError, match="kernel must be a gpnotes Kernel; got str"):
        moments.kernel_mean("RBF", X, m, S)
    with pytest.raises(ValueError, match=r"Z must have shape \(n, 2\)"):
        moments.kernel_covariance(RBF(), RBF(), X, Z[:, :1], m, S)
    with pytest.raises(ValueError, match=r"m must have shape \(2,\)"):
        moments.kernel_mean(RBF(), X, m[:1], S)
    with pytest.raises(TypeError, match="m must have the dtype of X"):
        moments.kernel_mean(RBF(), X, m.astype(np.float32), S)


def test_no_points_are_refused(points):
    X, m, S = points[0], np.zeros(2), np.eye(2)
    with pytest.raises(ValueError, match="X must have at least one row"):
        moments.kernel_mean(RBF(), X[:0, :], m, S)
    with pytest.raises(ValueError, match="Z must have at least one row"):
        moments.kernel_covariance(RBF(), RBF(), X, X[:0, :], m, S)


@pytest.mark.parametrize("wrong", [[[0.0, 1.0]], None, "X", 3.0])
def test_what_is_no_array_is_named(points, wrong):
    X, m, S, kernel = points[0], np.zeros(2), np.eye(2), RBF()
    both = (
        moments.kernel_outer,
        moments.kernel_covariance,
        moments.kernel_covariance_and_pullback,
    )
    for call in (moments.kernel_mean, moments.kernel_mean_and_pullback):
        with pytest.raises(TypeError, match="X must be a"):
            call(kernel, wrong, m, S)
    for call in both:
        with pytest.raises(TypeError, match="X must be a"):
            call(kernel, kernel, wrong, X, m, S)
        with pytest.raises(TypeError, match="Z must be a"):
            call(kernel, kernel, X, wrong, m, S)


def test_derivatives_of_another_shape_are_refused(points):
    X, Z = points
    m, S = np.zeros(2), np.eye(2)
    _, pull = moments.kernel_mean_and_pullback(RBF(), X, m, S)
    with pytest.raises(ValueError, match=r"q_bar must have shape \(5,\); got \(1,\)"):
        pull(np.ones(1))
    _, pull = moments.kernel_covariance_and_pullback(RBF(), RBF(), X, Z, m, S)
    with pytest.raises(ValueError, match=r"C_bar must have shape \(5, 4\); got \(1, 4\)"):
        pull(np.ones((1, 4)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lengthscales_too_short_for_the_precision_are_refused(dtype):
    """Exponents of the size of (x − m)²/ℓ² cancel: in float32 the result was 1e19 once."""
    X, m, S = np.asarray([[0.5], [1.0]], dtype), np.zeros(1, dtype), np.ones((1, 1), dtype)
    short = RBF(1.0, 1e-4 if dtype == np.float32 else 1e-8)
    with pytest.raises(ValueError, match="too short a lengthscale beside S"):
        moments.kernel_covariance(short, short, X, X, m, S)
    near = moments.kernel_covariance(short, short, X, X, m, S * dtype(1e-30))
    assert np.all(np.isfinite(near))
