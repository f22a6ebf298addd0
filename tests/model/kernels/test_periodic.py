"""The periodic kernel: scikit-learn's in one dimension, positive semidefinite in any."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

import gpnotes as g
from gpnotes.ground.distances import squared_distances
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import check_kernel


def test_in_one_dimension_it_is_that_of_scikit_learn(x, z, close):
    u, v = x[:, :1], z[:, :1]
    reference = 1.3 * sk.ExpSineSquared(0.9, 2.1)(*(to_numpy(a).astype(float) for a in (u, v)))
    close(g.Periodic(1.3, 0.9, 2.1)(u, v), reference, scale=20.0)


def test_it_is_the_formula_in_several_dimensions(space, x, z, close):
    lengths, periods = [0.7, 1.4, 2.5], [1.5, 2.0, 4.0]
    kernel = g.Periodic(1.3, space.asarray(lengths), space.asarray(periods))
    gaps = to_numpy(x).astype(float)[:, None, :] - to_numpy(z).astype(float)[None, :, :]
    wanted = 1.3 * np.exp(
        -2.0 * (np.sin(math.pi * gaps / periods) ** 2 / np.square(lengths)).sum(2)
    )
    close(kernel(x, z), wanted, scale=20.0)


def test_it_repeats(x, z, close):
    kernel = g.Periodic(1.3, 0.9, 2.0)
    close(kernel(x + 6.0, z - 2.0), to_numpy(kernel(x, z)), scale=100.0)


def test_years_keep_their_digits(space, rng, close):
    """Inputs near 2000 with a period of one: the phase is that of the differences.

    Eighths of years are exact in float32 too, so nothing is lost before the kernel sees them.
    """
    eighths = rng.integers(0, 480, size=(30, 1)) / 8.0
    x, far = space.asarray(eighths), space.asarray(eighths + 1958.0)
    kernel = g.Periodic(1.0, 1.3, 1.1)
    close(kernel(far), to_numpy(kernel(x)), scale=2.0)
    K_bar = space.asarray(np.cos(eighths - eighths.T))
    (bar, x_bar, _), (far_bar, far_x_bar, _) = (
        kernel.pullback(one, None, K_bar) for one in (x, far)
    )
    assert far_bar.period == pytest.approx(bar.period, rel=1e-12 if space.double else 1e-4)
    close(far_x_bar, to_numpy(x_bar), scale=20.0)


def lowest(K):
    return float(np.linalg.eigvalsh(K)[0])


def test_sine_of_a_distance_would_not_be_a_kernel_in_three_dimensions(rng):
    """Why sin² is summed per dimension: that of the Euclidean distance has negative eigenvalues."""
    x = rng.uniform(-3.0, 3.0, size=(60, 3))
    r = np.sqrt(squared_distances(x))
    assert lowest(np.exp(-2.0 * np.sin(math.pi * r / 2.0) ** 2)) < -0.1
    assert lowest(g.Periodic(1.0, 1.0, 2.0)(x)) > -1e-12


@given(
    st.integers(1, 5),
    st.integers(2, 25),
    st.floats(0.1, 5.0),
    st.floats(0.1, 10.0),
    st.integers(0, 2**32 - 1),
)
def test_it_is_positive_semidefinite_in_any_dimension(d, n, lengthscale, period, seed):
    x = np.random.default_rng(seed).uniform(-5.0, 5.0, size=(n, d))
    assert lowest(g.Periodic(1.0, lengthscale, period)(x)) > -1e-12 * n


@pytest.mark.parametrize("each", [1.0, np.asarray([0.7, 1.4, 2.5])], ids=["one", "each"])
def test_it_keeps_the_contract_of_kernels(rng, each):
    check_kernel(g.Periodic(1.3, 0.9 * each, 1.0 + each), rng.normal(size=(5, 3)) + 0.5)


def test_a_point_has_no_share_in_derivatives_by_its_distance_from_itself(rng):
    """Even where weights on the diagonal are large, and others lie at a distance of one."""
    x = np.concatenate([3.0 * rng.normal(size=(5, 1)), [[0.0], [1.0 / 6.0]]])
    kernel = g.Periodic(1.3, 1.0, 1.0)  # of the last two q = 4 sin²(π/6) = 1
    assert kernel(x)[-1, -2] == pytest.approx(1.3 * np.exp(-0.5))
    between = rng.normal(size=(7, 7)) * (1.0 - np.eye(7))
    plain, heavy = (kernel.pullback(x, None, between + w * np.eye(7)) for w in (0.0, 1e12))
    assert heavy[0].lengthscale == plain[0].lengthscale
    assert heavy[0].period == plain[0].period
    np.testing.assert_array_equal(heavy[1], plain[1])
    np.testing.assert_allclose(
        kernel.pullback(x, x[:0], between[:, :0])[0].lengthscale, 0.0, atol=0.0
    )


def test_without_numbers_all_are_one(x, close):
    close(g.Periodic()(x), to_numpy(g.Periodic(1.0, 1.0, 1.0)(x)))
