"""Arc-cosine kernels: against averages over neurons, the circle, and angles close to nothing."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from gpnotes.ground.xp import has_double, to_numpy
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


@pytest.mark.parametrize("far", [0.0, 30.0, 1e3, 1e5])
def test_far_from_zero_the_derivatives_of_order_zero_keep_their_digits(space, rng, far):
    """On a line ``θ = |atan tx − atan tz|``; at 1e3 they were a hundred times too large in float32.

    In float64 none of their digits was left at 1e5.
    """
    x, z = (space.asarray(far + rng.normal(size=(n, 1))) for n in (6, 4))
    K_bar = space.asarray(rng.normal(size=(6, 4)))
    kernel = ArcCosine(0.7, 1.3, 0.6, 0)
    found, x_bar, z_bar = kernel.pullback(x, z, K_bar)
    assert space.holds(x_bar)
    t = math.sqrt(1.3 / 0.6)
    a, b, bar = (to_numpy(one).astype(float) for one in (x, z.mT, K_bar))
    slope = -0.7 / math.pi * bar * np.sign(a - b)
    by_a, by_b = t / (1.0 + (t * a) ** 2), t / (1.0 + (t * b) ** 2)
    tolerance = {"rtol": 1e-7 if space.double else 1e-4}
    np.testing.assert_allclose(to_numpy(x_bar), np.sum(slope * by_a, 1, keepdims=True), **tolerance)
    np.testing.assert_allclose(to_numpy(z_bar).T, -np.sum(slope * by_b, 0)[None], **tolerance)
    rel = 1e-4 if has_double(x) else 0.03  # sums that cancel, of terms in float32
    by_t = np.sum(slope * (a * by_a - b * by_b)) / t
    assert found.weight_variance == pytest.approx(by_t * t / 2.6, rel=rel)
    assert found.bias_variance == pytest.approx(-by_t * t / 1.2, rel=rel)


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_in_single_precision_far_from_zero_they_are_those_of_double(columns, rng):
    x = (1e4 + rng.normal(size=(7, columns))).astype(np.float32)
    z = np.concatenate([x[:2], -x[2:4], x[4:] * np.float32(1e-4)])  # also the same, and opposite
    K_bar = rng.normal(size=(7, 7)).astype(np.float32)
    weights = np.linspace(0.5, 1.5, columns)
    single = ArcCosine(0.7, weights.astype(np.float32), 0.6, 0)
    for other in (None, z):
        double = ArcCosine(0.7, single.weight_variance.astype(float), 0.6, 0)
        wide = x.astype(float), None if other is None else other.astype(float)
        pairs = [(single(x, other), double(*wide))]
        found, wanted = (
            single.pullback(x, other, K_bar),
            double.pullback(*wide, K_bar.astype(float)),
        )
        pairs += [
            (one, two) for one, two in zip(found[1:], wanted[1:], strict=True) if one is not None
        ]
        pairs += [(found[0].weight_variance, wanted[0].weight_variance)]
        for one, two in pairs:
            assert one.dtype == np.float32
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-4 * np.max(np.abs(two)))
    K = single(x)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), single.diag(x))
