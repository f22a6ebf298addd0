"""Stationary kernels against scikit-learn, and in their limits."""

import itertools
import math

import cupy_stand_in
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

import gpnotes as g
from gpnotes import log_evidence_and_gradient
from gpnotes.ground.params import flatten_gradient
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import check_kernel

PAIRS = {
    "RBF": (g.RBF, sk.RBF),
    "Matern12": (g.Matern12, lambda scale: sk.Matern(scale, nu=0.5)),
    "Matern32": (g.Matern32, lambda scale: sk.Matern(scale, nu=1.5)),
    "Matern52": (g.Matern52, lambda scale: sk.Matern(scale, nu=2.5)),
}


@pytest.fixture(params=[0.8, [0.7, 1.4, 2.5]], ids=["one length", "three lengths"])
def lengths(request):
    return request.param


@pytest.mark.parametrize("name", PAIRS)
def test_values_are_those_of_scikit_learn(space, x, z, close, name, lengths):
    ours, theirs = PAIRS[name]
    kernel = ours(1.3, lengths if isinstance(lengths, float) else space.asarray(lengths))
    reference = 1.3 * theirs(lengths)(to_numpy(x).astype(float), to_numpy(z).astype(float))
    close(kernel(x, z), reference, scale=10.0)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 7.0])
def test_the_rational_quadratic_is_that_of_scikit_learn(x, z, close, alpha):
    reference = 1.3 * sk.RationalQuadratic(0.8, alpha)(*(to_numpy(a).astype(float) for a in (x, z)))
    close(g.RationalQuadratic(1.3, 0.8, alpha)(x, z), reference, scale=10.0)


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_are_those_of_scikit_learn(name, rng):
    """Its gradient is by the logarithm of the lengthscale, as an n × n × d array."""
    ours, theirs = PAIRS[name]
    x, K_bar, lengths = rng.normal(size=(6, 3)), rng.normal(size=(6, 6)), np.asarray([0.7, 1.4, 2])
    _, by_log = theirs(lengths)(x, eval_gradient=True)
    bar = ours(1.0, lengths).pullback(x, None, K_bar)[0].lengthscale
    wanted = np.einsum("ij,ijd->d", K_bar, by_log) / lengths
    np.testing.assert_allclose(bar, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", [g.RBF, g.Matern12, g.Matern32, g.Matern52, g.RationalQuadratic])
def test_a_shift_changes_nothing(space, x, z, close, kernel):
    k = kernel(1.3, 0.8)
    close(k(x + 8.0, z + 8.0), to_numpy(k(x, z)), scale=100.0)


@pytest.mark.parametrize("d", [1, 5])
def test_repeated_points_are_fully_correlated(space, rng, d):
    """Matérn-1/2 shows every rounding error of a distance as its square root."""
    x = space.asarray(rng.normal(size=(6, d)) + 5.0)
    for kernel in (g.RBF(0.7), g.Matern12(0.7), g.Matern32(0.7)):
        again = to_numpy(kernel(x, x + 0.0))
        np.testing.assert_array_equal(np.diag(again), again.dtype.type(0.7))


def test_matern12_has_no_gradient_where_points_coincide(space):
    """The choice that its docstring states; the other points keep theirs."""
    x = space.asarray([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    k = g.Matern12(1.0, 0.5)
    together = space.asarray([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    bar, x_bar, _ = k.pullback(x, None, together)
    assert (to_numpy(x_bar) == 0.0).all()
    assert bar.lengthscale == 0.0
    assert bar.variance == 1.0
    apart = space.asarray([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    slope = 2.0 * np.exp(-4.0)
    wanted = [[slope, 0.0], [0.0, 0.0], [-slope, 0.0]]
    np.testing.assert_allclose(to_numpy(k.pullback(x, None, apart)[1]), wanted, rtol=1e-5)


def test_matern12_has_opposite_gradients_on_the_two_sides_of_a_point(rng):
    k, one = g.Matern12(), np.asarray([[1.0]])
    left, right = (
        k.pullback(np.asarray([[value]]), np.zeros((1, 1)), one)[1][0, 0] for value in (-1e-9, 1e-9)
    )
    assert (left, right) == pytest.approx((1.0, -1.0), rel=1e-6)


def test_the_rational_quadratic_tends_to_the_squared_exponential(x, z):
    gaps = [
        np.abs(to_numpy(g.RationalQuadratic(alpha=alpha)(x, z) - g.RBF()(x, z))).max()
        for alpha in (10.0, 100.0, 1000.0)
    ]
    assert gaps[0] > 5.0 * gaps[1] > 25.0 * gaps[2]


@given(st.floats(1e-3, 1e3), st.floats(1e-2, 1e2), st.integers(0, 2**32 - 1))
def test_values_lie_between_zero_and_the_signal_variance(variance, lengthscale, seed):
    x = np.random.default_rng(seed).normal(size=(5, 2)) * 10.0
    for kernel in (g.RBF, g.Matern12, g.Matern32, g.Matern52, g.RationalQuadratic):
        K = kernel(variance, lengthscale)(x)
        assert (K >= 0.0).all()
        assert (variance * (1.0 + 1e-12) >= K).all()


@given(st.floats(0.1, 10.0), st.integers(0, 2**32 - 1))
def test_scaling_inputs_and_lengths_together_changes_nothing(factor, seed):
    x = np.random.default_rng(seed).normal(size=(5, 2))
    for kernel in (g.RBF, g.Matern12, g.Matern32, g.Matern52, g.RationalQuadratic):
        K = kernel(1.0, 0.7)(x)
        np.testing.assert_allclose(kernel(1.0, 0.7 * factor)(x * factor), K, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "kind", [g.RBF, g.Matern12, g.Matern32, g.Matern52, g.RationalQuadratic, g.Periodic]
)
@pytest.mark.parametrize("d", [2, 5])
def test_a_point_has_no_share_in_derivatives_by_its_distance_from_itself(space, rng, kind, d):
    x = space.asarray(3.0 * rng.normal(size=(7, d)))
    between = rng.normal(size=(7, 7)) * (1.0 - np.eye(7))
    K_bars = between, between + 1e12 * np.eye(7)  # such weights come from little noise
    plain, heavy = (kind(1.3, 0.7).pullback(x, None, space.asarray(bar)) for bar in K_bars)
    assert heavy[0].lengthscale == plain[0].lengthscale
    np.testing.assert_array_equal(to_numpy(heavy[1]), to_numpy(plain[1]))


STATIONARY = [g.RBF, g.Matern12, g.Matern32, g.Matern52, g.RationalQuadratic]


@pytest.mark.parametrize("kind", STATIONARY)
def test_points_whose_distance_overflows_have_nothing_in_common(space, kind):
    """Infinity times a zero would be NaN, in the kernel and in its gradient."""
    far = 1e160 if space.double else 1e25
    x = space.asarray([[0.0], [far], [2.0 * far]])
    with np.errstate(over="ignore"):
        kernel = kind(1.3)
        np.testing.assert_allclose(to_numpy(kernel(x)), 1.3 * np.eye(3), rtol=1e-6, atol=1e-20)
        bars = kernel.pullback(x, None, space.asarray(np.ones((3, 3))))
        assert np.isfinite(flatten_gradient(kernel, bars[0])).all()
        assert np.isfinite(to_numpy(bars[1])).all()


@pytest.mark.parametrize("kind", STATIONARY)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_evidence_has_a_gradient_at_lengthscales_that_are_far_too_small(kind, d, rng):
    X, y = rng.normal(size=(12, d)), rng.normal(size=12)
    for lengthscale in (1e-160, np.full(d, 1e-170), 1e-20):
        gp = g.GP(kind(1.3, lengthscale), 0.1)
        with np.errstate(over="ignore"):
            value, bar = log_evidence_and_gradient(gp, X, y)
        gradient = flatten_gradient(gp, bar)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        # only the variances have an effect: y is white noise of their sum
        np.testing.assert_allclose(gradient[1:-1], 0.0, atol=1e-12)
        slope = 0.5 * (np.sum(y * y) / 1.4**2 - 12 / 1.4)
        np.testing.assert_allclose(gradient[-1], 0.1 * slope, rtol=1e-9)


class Unwritable(np.ndarray):
    """A stand-in for the arrays of JAX, into which nothing is written."""

    def __setitem__(self, *_):
        raise TypeError("arrays are immutable")


@pytest.mark.parametrize("kernel", [g.RBF(1.3, 0.7), g.Matern32(1.3, 0.7)])
def test_a_pullback_writes_into_no_array(kernel, rng):
    x, K_bar = rng.normal(size=(5, 2)), rng.normal(size=(5, 5))
    wanted = kernel.pullback(x, None, K_bar)
    got = kernel.pullback(x, None, K_bar.view(Unwritable))
    assert got[0] == wanted[0]
    np.testing.assert_array_equal(np.asarray(got[1]), wanted[1])


@pytest.mark.parametrize("kind", [g.RBF, g.Matern12, g.Matern32, g.Matern52, g.Periodic])
def test_an_outlier_leaves_the_others_their_covariances(space, kind):
    near, far = np.asarray([[0.0], [0.3]]), np.asarray([[0.0], [0.3], [1e12]])
    kernel = kind()
    alone, beside = kernel(space.asarray(near)), kernel(space.asarray(far))
    np.testing.assert_allclose(to_numpy(beside)[:2, :2], to_numpy(alone), rtol=1e-5)


def test_an_outlier_leaves_the_evidence_of_the_others_as_it_was():
    """The path in place has its own centre."""
    X, y = np.asarray([[0.0], [0.3], [1e20]]), np.asarray([1.0, 2.0, 0.0])
    alone = g.log_evidence(g.GP(g.RBF(), 0.1), X[:2], y[:2])
    both = g.log_evidence(g.GP(g.RBF(), 0.1), X, y)
    assert both == pytest.approx(alone - 0.5 * math.log(2.0 * math.pi * 1.1), rel=1e-12)
    value, _ = log_evidence_and_gradient(g.GP(g.RBF(), 0.1), X, y)
    assert value == pytest.approx(both, rel=1e-12)


@pytest.mark.parametrize("kind", STATIONARY)
def test_it_keeps_the_contract_of_kernels(rng, lengths, kind):
    extra = {"alpha": 0.3} if kind is g.RationalQuadratic else {}
    length = lengths if isinstance(lengths, float) else np.asarray(lengths)
    check_kernel(kind(1.3, length, **extra), rng.normal(size=(5, 3)) + 0.5)


@pytest.mark.parametrize("kind", [g.RBF, g.Matern32, g.Matern52])
def test_each_slope_of_a_profile_is_that_of_the_one_before(kind):
    """Each by q: of the profile the first, of that the second, and of that the third."""
    kernel, q, step = kind(), np.asarray([1e-2, 0.3, 1.0, 4.0]), 1e-6

    def chain(q):
        return kernel.profile(q), kernel._slope(q), *kernel._higher_slopes(q)

    for before, after in itertools.pairwise(
        zip(chain(q - step), chain(q), chain(q + step), strict=True)
    ):
        differences = (before[2] - before[0]) / (2.0 * step)
        np.testing.assert_allclose(after[1], differences, rtol=1e-6)


def test_higher_slopes_where_points_coincide_are_what_a_matrix_can_hold():
    """That of a Matérn-5/2 is the limit 25/12, all others that grow without end are zero."""
    zero = np.zeros(1)
    assert g.Matern52()._higher_slopes(zero)[0] == pytest.approx(25.0 / 12.0)
    for values in (*g.Matern32()._higher_slopes(zero), g.Matern52()._higher_slopes(zero)[1]):
        assert values.tolist() == [0.0]


@pytest.mark.parametrize("kind", STATIONARY)
@pytest.mark.parametrize("separate", [True, False])
def test_a_device_gives_the_numbers_of_numpy_in_launches_of_its_own(rng, kind, separate):
    """Of a pair of tables, of one, with weights that are not symmetric."""
    x, z, pair, own = (rng.normal(size=shape) for shape in ((7, 3), (4, 3), (7, 4), (7, 7)))
    length = np.asarray([0.7, 1.4, 2.5]) if separate else 1.4
    here = kind(1.3, length)
    with cupy_stand_in.installed() as cp:
        there = kind(1.3, cp.asarray(length) if separate else length)
        for others, bar in ((z, pair), (None, own)):
            given = [cp.asarray(x), None if others is None else cp.asarray(others)]
            np.testing.assert_allclose(there(*given).get(), here(x, others), rtol=1e-12)
            found, *moved = there.pullback(*given, cp.asarray(bar))
            wanted, *expected = here.pullback(x, others, bar)
            assert found.variance == pytest.approx(wanted.variance, rel=1e-12)
            lengths = found.lengthscale.get() if separate else found.lengthscale
            np.testing.assert_allclose(lengths, wanted.lengthscale, rtol=1e-11)
            for mine, theirs in zip(moved, expected, strict=True):
                assert (mine is None) == (theirs is None)
                if theirs is not None:
                    np.testing.assert_allclose(mine.get(), theirs, rtol=1e-10, atol=1e-12)
