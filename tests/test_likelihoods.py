"""The Gaussian likelihood: density, derivatives, expectation."""

import numpy as np
import pytest
from scipy.stats import norm

from gpnotes import Gaussian, expect
from gpnotes._xp import to_numpy


@pytest.fixture
def y(space):
    return space.asarray([0.3, -1.2, 2.0])


@pytest.fixture
def f(space):
    return space.asarray([0.1, 0.4, -0.5])


def test_the_density_is_that_of_scipy(space, y, f):
    found = Gaussian(0.7).log_density(y, f)
    assert space.holds(found)
    wanted = norm(to_numpy(f), np.sqrt(0.7)).logpdf(to_numpy(y))
    np.testing.assert_allclose(to_numpy(found), wanted, rtol=1e-12 if space.double else 1e-5)


def test_each_derivative_is_the_slope_of_the_one_before(space, y, f):
    noise, step = Gaussian(0.7), 0.25  # central differences of a quadratic are exact
    for k, derivative in enumerate(noise.derivatives(y, f)):
        assert space.holds(derivative)
        up, down = (
            noise.log_density(y, g) if k == 0 else noise.derivatives(y, g)[k - 1]
            for g in (f + step, f - step)
        )
        gap = to_numpy(derivative) - to_numpy(up - down) / (2.0 * step)
        assert np.abs(gap).max() < (1e-12 if space.double else 1e-4)


def test_the_expected_density_is_that_of_quadrature(space, y, f):
    variance = space.asarray([0.2, 1.0, 0.5])
    found = Gaussian(0.7).expected_log_density(y, f, variance)
    assert space.holds(found)
    # a quadratic in f: two nodes are exact
    wanted = expect(lambda t: Gaussian(0.7).log_density(y[:, None], t), f, variance, n=2)
    tolerance = 1e-12 if space.double else 1e-5
    np.testing.assert_allclose(to_numpy(found), to_numpy(wanted), rtol=tolerance)


def test_a_variance_is_positive():
    with pytest.raises(ValueError, match=r"Gaussian\.variance must be positive and finite; got 0"):
        Gaussian(0)
