"""Averages of sharp densities, which a rule with fixed nodes passes over."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gpnotes.model.likelihoods.predictive import log_average


def _normal(noise):
    """A normal density of y about f and its slope, of which the average has a closed form."""
    return (
        lambda y, f: stats.norm.logpdf(y, f, noise),
        lambda y, f: (y - f) / noise**2,
    )


@pytest.mark.parametrize("noise", [1e-5, 1e-2, 1.0, 30.0])
@pytest.mark.parametrize("y", [0.0, 2.5, -6.0])
def test_an_average_is_found_however_narrow_its_density_is(noise, y):
    mean, variance = np.asarray([0.3]), np.asarray([1.7])
    found = log_average(*_normal(noise), np.asarray([y]), mean, variance)
    wanted = stats.norm.logpdf(y, 0.3, np.sqrt(1.7 + noise**2))
    np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_a_function_that_is_known_gives_the_density_at_it():
    mean, variance = np.asarray([0.3, 0.3]), np.asarray([0.0, 1e-40])
    found = log_average(*_normal(0.5), np.ones(2), mean, variance)
    np.testing.assert_allclose(found, stats.norm.logpdf(1.0, 0.3, 0.5))


def test_the_unit_says_which_deviation_is_known():
    """In a unit of 1e-20 a deviation of 1e-20 is all but nothing beside 1."""
    given = [np.asarray([a]) for a in (1.2e-20, 0.3e-20, 1e-40)]
    found = log_average(*_normal(0.5e-20), *given, unit=0.5e-20)
    np.testing.assert_allclose(found, stats.norm.logpdf(1.2, 0.3, np.sqrt(1.25)) - np.log(1e-20))
