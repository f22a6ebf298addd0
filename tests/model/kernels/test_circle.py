"""Kernels on the circle: against their definitions as sums over images, and as Fourier series."""

import math

import numpy as np
import pytest

from gpnotes import GP, SparseGP
from gpnotes.ground.xp import to_numpy
from gpnotes.infer.interdomain import Harmonics
from gpnotes.model.kernels import CircularArcCosine, CircularMatern12, CircularMatern32, CircularRBF
from gpnotes.testing import check_kernel, gradcheck

LENGTHED = (CircularRBF, CircularMatern12, CircularMatern32)
LENGTHS = (0.3, 0.9, 1.1, 2.5)
LINE = {
    CircularRBF: lambda r, s: np.exp(-0.5 * (r / s) ** 2),
    CircularMatern12: lambda r, s: np.exp(-np.abs(r) / s),
    CircularMatern32: lambda r, s: (
        (1 + math.sqrt(3) * np.abs(r) / s) * np.exp(-math.sqrt(3) * np.abs(r) / s)
    ),
}


@pytest.fixture
def angles(space, rng):
    """Twelve angles of several turns, one column."""
    return space.asarray(rng.uniform(-9.0, 9.0, size=(12, 1)))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", LENGTHED)
def test_it_is_the_kernel_of_the_line_wrapped_round(angles, close, kind, length):
    """Two hundred images each way, scaled to the variance."""
    host = to_numpy(angles).astype(float)
    turns = 2.0 * math.pi * np.arange(-200, 201)
    wrapped = LINE[kind]((host - host.T)[:, :, None] + turns, length).sum(axis=2)
    at_zero = LINE[kind](turns, length).sum()
    close(kind(1.3, length)(angles), 1.3 * wrapped / at_zero, scale=100.0)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_exponential_is_a_hyperbolic_cosine(length):
    d = np.linspace(0.0, math.pi, 9)
    K = CircularMatern12(1.3, length)(d[:, None], np.zeros((1, 1)))[:, 0]
    wanted = 1.3 * np.cosh((math.pi - d) / length) / math.cosh(math.pi / length)
    np.testing.assert_allclose(K, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [*(kind(1.3, length) for kind in LENGTHED for length in LENGTHS), CircularArcCosine(1.3)],
    ids=str,
)
def test_its_pullbacks_agree_with_differences(rng, kernel):
    """Of angles of several turns, none of them opposite or equal to another."""
    check_kernel(kernel, rng.uniform(-9.0, 9.0, size=(8, 1)))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", LENGTHED)
def test_its_coefficients_are_integrals(kind, length):
    """Gauss-Legendre's rule from 0 to π, where the kernel is smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    d, weights = 0.5 * math.pi * (nodes + 1.0), 0.5 * math.pi * weights
    kernel, orders = kind(1.3, length), np.arange(12.0)
    k = kernel(d[:, None], np.zeros((1, 1)))[:, 0]
    integrals = 2.0 / math.pi * (np.cos(np.outer(orders, d)) * k) @ weights
    integrals[0] *= 0.5
    np.testing.assert_allclose(kernel.coefficients(orders), integrals, rtol=1e-9, atol=1e-13)


def test_the_coefficients_of_the_arc_cosine_kernel_are_integrals():
    nodes, weights = np.polynomial.legendre.leggauss(200)
    d, weights = 0.5 * math.pi * (nodes + 1.0), 0.5 * math.pi * weights
    orders = np.arange(12.0)
    integrals = 2.0 / math.pi * (np.cos(np.outer(orders, d)) * (1.0 - d / math.pi)) @ weights
    integrals[0] *= 0.5
    coefficients = CircularArcCosine(1.3).coefficients(orders)
    np.testing.assert_allclose(coefficients, 1.3 * integrals, atol=1e-14)
    assert np.all(coefficients[2::2] == 0.0)


@pytest.mark.parametrize(
    ("kernel", "least"),
    [
        (CircularRBF(1.3, 0.3), 1e-14), (CircularRBF(1.3, 1.7), 1e-14),
        (CircularRBF(1.3, 1.0), 1e-14), (CircularRBF(1.3, 1.0 + 1e-15), 1e-14),
        (CircularMatern12(1.3, 0.6), 1e-3), (CircularMatern32(1.3, 0.6), 1e-6),
        (CircularArcCosine(1.3), 1e-3),
    ],
)  # fmt: skip
def test_its_coefficients_add_up_to_the_variance(kernel, least):
    coefficients = kernel.coefficients(np.arange(2000.0))
    assert np.all(coefficients >= 0.0)
    assert float(np.sum(coefficients)) == pytest.approx(1.3, rel=least)


@pytest.mark.parametrize("kernel", [*(kind(1.3, 0.7) for kind in LENGTHED), CircularArcCosine()])
def test_its_series_is_the_kernel(space, angles, kernel):
    orders = space.asarray(np.arange(600.0))
    coefficients = kernel.coefficients(orders)
    assert space.holds(coefficients)
    host = to_numpy(angles).astype(float)
    series = np.cos((host - host.T)[:, :, None] * np.arange(600.0)) @ to_numpy(coefficients)
    np.testing.assert_allclose(series, to_numpy(kernel(angles)), atol=2e-3)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", LENGTHED)
def test_the_derivatives_of_the_coefficients_agree_with_differences(kind, length):
    orders = np.asarray([0.0, 1.0, 2.0, 5.0])
    gradcheck(
        lambda kernel: kernel.coefficients(orders),
        lambda kernel, bar: (kernel.coefficients_pullback(orders, bar),),
        kind(1.3, length),
        names=("kernel",),
    )


def test_at_length_one_two_sums_have_the_same_derivative():
    """Below it is taken from the images of the circle, above from its waves."""
    orders, bar = np.arange(3.0), np.asarray([1.0, -0.4, 0.7])
    below, above = (CircularRBF(1.3, length) for length in (1.0, 1.0 + 1e-15))
    slopes = [k.coefficients_pullback(orders, bar).lengthscale for k in (below, above)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-12)


def test_of_the_shorter_way_itself_the_line_s_kernels_need_not_be_kernels():
    """Why they are wrapped: exp(−d²/2) has a negative coefficient."""
    d = np.linspace(-math.pi, math.pi, 64, endpoint=False)
    way = np.abs(np.remainder(d[:, None] - d[None, :] + math.pi, 2.0 * math.pi) - math.pi)
    assert float(np.linalg.eigvalsh(np.exp(-0.5 * way**2))[0]) < -1e-2
    assert float(np.linalg.eigvalsh(CircularRBF()(d[:, None]))[0]) > -1e-12


def test_the_arc_cosine_kernel_is_that_of_the_angle_between_unit_vectors(angles, close):
    host = to_numpy(angles).astype(float)[:, 0]
    vectors = np.stack([np.cos(host), np.sin(host)], axis=1)
    between = np.arccos(np.clip(vectors @ vectors.T, -1.0, 1.0))
    np.testing.assert_allclose(
        to_numpy(CircularArcCosine()(angles)), 1.0 - between / math.pi, atol=1e-6
    )


def test_of_the_arc_cosine_kernel_two_opposite_pairs_add_up_to_the_same():
    """So it is positive semidefinite, and not strictly."""
    pairs = np.asarray([[0.3], [0.3 + math.pi], [1.9], [1.9 + math.pi]])
    lowest, *rest = np.linalg.eigvalsh(CircularArcCosine()(pairs))
    assert abs(lowest) < 1e-15
    assert min(rest) > 0.1


def test_as_the_source_prints_it_the_kernel_is_one_of_the_interval_and_not_of_the_circle():
    """``π − |θ − θ′|`` without wrapping: semidefinite on [−π, π], but ``f(π) = −f(−π)``."""
    theta = np.linspace(-math.pi, math.pi, 41)
    K = math.pi - np.abs(theta[:, None] - theta[None, :])
    assert float(np.linalg.eigvalsh(K)[0]) > -1e-12
    assert K[0, -1] == pytest.approx(-math.pi)
    opposite = np.zeros(41)
    opposite[[0, -1]] = 1.0
    assert opposite @ K @ opposite == pytest.approx(0.0, abs=1e-12)
    longer = 1.1 * theta  # on any longer interval it is no kernel at all
    beyond = math.pi - np.abs(longer[:, None] - longer[None, :])
    assert float(np.linalg.eigvalsh(beyond)[0]) < -0.1


def test_what_is_no_column_of_angles_is_refused(space):
    wide = space.asarray(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="x must have one column, of angles"):
        CircularRBF()(wide)
    with pytest.raises(ValueError, match="orders must be whole numbers from 0"):
        CircularRBF().coefficients(space.asarray([0.5]))


@pytest.mark.parametrize("length", [0.6, 0.9, 0.97, 1.0, 1.02, 1.3])
def test_the_sum_of_all_waves_is_that_of_sixty_each_way(length):
    """The first coefficient of the heat kernel is one of them, and the sum's slope in its own."""
    n = np.arange(-60.0, 61.0)
    terms = np.exp(-0.5 * (n * length) ** 2)
    whole, slope = terms.sum(), -length * np.sum(n * n * terms)
    kernel, order = CircularRBF(1.3, length), np.zeros(1)
    assert kernel.coefficients(order)[0] == pytest.approx(1.3 / whole, rel=1e-14)
    bar = kernel.coefficients_pullback(order, np.ones(1))
    assert bar.lengthscale == pytest.approx(-1.3 * slope / whole**2, rel=1e-12)
    assert bar.variance == pytest.approx(1.0 / whole, rel=1e-14)


@pytest.mark.parametrize("kind", LENGTHED)
def test_lengths_whose_powers_overflow_are_refused_by_name(kind, space):
    """Python's floats raise where a power overflows, and cubes that vanish divided by zero."""
    at, orders = space.asarray([[0.1], [3.0]]), space.asarray([0.0, 1.0, 2.0])
    K_bar = space.asarray([[1.0, 0.5], [0.5, 1.0]])
    for length in (1e-300, 1e-160, 1e160, 1e300):
        kernel, said = kind(1.0, length), rf"^{kind.__name__}\.lengthscale must be (from|larger)"
        for call in (lambda k: k(at), lambda k: k.pullback(at, None, K_bar),
                     lambda k: k.coefficients(orders),
                     lambda k: k.coefficients_pullback(orders, orders)):  # fmt: skip
            with pytest.raises(ValueError, match=said):
                call(kernel)
    for length in (1e-8, 1e8):
        kernel = kind(1.0, length)
        bar, x_bar, _ = kernel.pullback(at, None, K_bar)
        found = [kernel(at), x_bar, kernel.coefficients(orders), np.asarray(bar.lengthscale)]
        assert all(np.isfinite(to_numpy(one)).all() for one in found)
        assert float(kernel(at)[0, 1]) == pytest.approx(1.0 if length > 1.0 else 0.0, rel=1e-6)


def test_a_model_of_waves_says_so_too():
    with pytest.raises(ValueError, match=r"CircularRBF\.lengthscale must be from"):
        SparseGP(GP(CircularRBF(1.0, 1e160), 0.1), Harmonics(np.arange(3.0)))
