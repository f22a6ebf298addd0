"""Arc-cosine kernels: against averages over neurons, the circle, and angles close to nothing."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import ArcCosine, CircularArcCosine
from gpnotes.testing import check_kernel, gradcheck

ACTIVATIONS = (lambda t: (t > 0.0) * 1.0, lambda t: np.maximum(t, 0.0), lambda t: (t > 0.0) * t**2)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_it_is_an_average_over_neurons(order):
    """``2 E[g(a) g(b)]`` of two normal numbers, by the angle of their common direction."""
    kernel = ArcCosine(0.7, np.asarray([0.5, 1.5]), 0.6, order)
    x, z = np.asarray([[0.3, -1.0]]), np.asarray([[1.2, 0.4]])
    covariance = lambda a, b: ((a * [0.5, 1.5]) @ b.T).item() + 0.6  # noqa: E731
    root = np.linalg.cholesky(
        [[covariance(x, x), covariance(x, z)], [covariance(z, x), covariance(z, z)]]
    )
    act = ACTIVATIONS[order]

    def by_angle(angle):
        # r² has the mean Γ(order + 1) 2^order, over a whole turn, times r^(2 order) of both
        a, b = root @ [math.cos(angle), math.sin(angle)]
        return act(a) * act(b) / (2.0 * math.pi) * 2.0**order * math.gamma(order + 1)

    kinks = sorted(
        math.atan2(-row[0], row[1]) + turn * math.pi for row in root for turn in (0.0, 1.0)
    )
    kinks = sorted(kink % (2.0 * math.pi) for kink in kinks)
    ends = [0.0, *kinks, 2.0 * math.pi]
    parts = [integrate.quad(by_angle, a, b)[0] for a, b in itertools.pairwise(ends)]
    np.testing.assert_allclose(kernel(x, z), 0.7 * 2.0 * sum(parts), rtol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_its_matrix_is_the_formula_of_an_arccosine(space, x, z, close, order):
    kernel = ArcCosine(0.7, 1.3, 0.6, order)
    u, v = (
        np.hstack([to_numpy(a).astype(float) * 1.3**0.5, np.full((len(a), 1), 0.6**0.5)])
        for a in map(to_numpy, (x, z))
    )
    r, s = np.linalg.norm(u, axis=1)[:, None], np.linalg.norm(v, axis=1)[None, :]
    angle = np.arccos(u @ v.T / (r * s))
    sine, cosine, rest = np.sin(angle), np.cos(angle), math.pi - angle
    parts = (rest, sine + rest * cosine, 3 * sine * cosine + rest * (1 + 2 * cosine**2))
    close(kernel(x, z), 0.7 / math.pi * (r * s) ** order * parts[order], scale=100.0)


def test_of_unit_vectors_order_zero_is_the_kernel_of_the_circle(close, space):
    """A heading and a fixed offset have one length, so their angle alone decides."""
    angles = np.asarray([[0.3], [1.0], [2.5], [4.0]])
    place = np.hstack([np.cos(angles), np.sin(angles)])
    flat = ArcCosine(1.3, 1.0, 1e-24, 0)(place)
    np.testing.assert_allclose(flat, CircularArcCosine(1.3)(angles), atol=1e-10)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-10])
def test_small_angles_keep_their_digits(gap):
    """``1 − k`` is the angle over π: an arccosine would give zero from 1e-8 on."""
    kernel = ArcCosine(1.0, 1.0, 1.0, 0)
    K = kernel(np.asarray([[0.0]]), np.asarray([[gap]]))
    np.testing.assert_allclose(1.0 - K[0, 0], math.atan(gap) / math.pi, rtol=1e-5)


def test_at_coincident_inputs_the_derivatives_are_finite(space):
    x = space.asarray([[0.5, 1.0], [0.5, 1.0], [-0.5, 2.0]])
    for order in (0, 1, 2):
        kernel = ArcCosine(order=order)
        bar, x_bar, _ = kernel.pullback(x, None, kernel(x))
        assert np.isfinite(to_numpy(x_bar)).all()
        assert math.isfinite(bar.weight_variance)


@pytest.mark.parametrize(("order", "far"), [(0, 1e160), (1, 1e160), (2, 1e80)])
def test_inputs_whose_powers_overflow_are_refused(order, far):
    """Of order 0 they had another angle, of order 1 derivatives that are NaN."""
    kernel, x = ArcCosine(order=order), np.asarray([[far], [3.0]])
    with pytest.raises(ValueError, match=r"x must be smaller in size: \|u\|\^[24] overflows"):
        kernel(x)
    with pytest.raises(ValueError, match="z must be smaller in size"):
        kernel.pullback(x[1:], x, np.ones((1, 2)))
    bar, x_bar, _ = kernel.pullback(x / 1e8, None, np.ones((2, 2)))
    assert np.isfinite(kernel(x / 1e8)).all()
    assert np.isfinite(x_bar).all()
    assert math.isfinite(bar.weight_variance)


def test_the_order_is_fixed_and_checked():
    with pytest.raises(ValueError, match=r"ArcCosine\.order must be a whole number from 0 to 2"):
        ArcCosine(order=3)
    kernel = ArcCosine(0.9, 0.5, 0.5, 1)
    points = np.asarray([[0.1], [0.7], [2.0]])
    gradcheck(
        lambda k, x: k(x), lambda k, x, bar: k.pullback(x, None, bar)[:2], kernel, points,
        names=("kernel", "x"), what="pullback",
    )  # fmt: skip
    assert kernel.pullback(points, None, kernel(points))[0].order == 1


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("weights", [1.3, np.asarray([0.5, 1.5, 0.9])], ids=["one", "each"])
def test_it_keeps_the_contract_of_kernels(rng, order, weights):
    check_kernel(ArcCosine(0.7, weights, 0.6, order), rng.normal(size=(5, 3)) + 0.5)
