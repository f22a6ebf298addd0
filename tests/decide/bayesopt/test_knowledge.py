"""The knowledge gradient against quadrature between its kinks, and where its answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gpnotes import to_numpy
from gpnotes.decide.bayesopt import knowledge_gradient


def belief(seed, n=9):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n + 2)) * np.exp(rng.standard_normal((n, 1)))
    return 2.0 * rng.standard_normal(n), root @ root.T / n


def by_quadrature(mean, covariance, noise_var):
    """The definition, by the trapezium rule on twenty thousand intervals."""
    z = np.linspace(-12.0, 12.0, 20_001)
    density = stats.norm.pdf(z) * (z[1] - z[0])
    moves = covariance / np.sqrt(np.diag(covariance) + noise_var)
    return [np.max(mean[:, None] + np.outer(b, z), axis=0) @ density - mean.max() for b in moves.T]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_the_mean_of_the_largest(space, seed):
    mean, covariance = belief(seed)
    found = knowledge_gradient(space.asarray(mean), space.asarray(covariance), 0.3)
    assert space.holds(found)
    tight = {"rtol": 1e-6, "atol": 1e-7} if space.double else {"rtol": 2e-4, "atol": 2e-6}
    np.testing.assert_allclose(to_numpy(found), by_quadrature(mean, covariance, 0.3), **tight)


def test_of_two_places_it_is_the_improvement_of_the_difference():
    mean, covariance = np.asarray([0.4, 0.1]), np.asarray([[0.7, 0.2], [0.2, 0.5]])
    sd = np.abs(covariance[0] - covariance[1]) / np.sqrt(np.diag(covariance) + 0.3)
    z = -0.3 / sd
    wanted = sd * (stats.norm.pdf(z) + z * stats.norm.cdf(z))
    np.testing.assert_allclose(knowledge_gradient(mean, covariance, 0.3), wanted, rtol=1e-13)


def test_a_kink_far_out_loses_no_digits():
    """Twenty deviations away, where a difference of two means has no digit left."""
    mean, covariance = np.asarray([20.0, 0.0]), np.diag([0.0, 1.0])
    wanted = stats.norm.pdf(20.0) * (1.0 / 20.0**2 - 3.0 / 20.0**4 + 15.0 / 20.0**6)
    found = knowledge_gradient(mean, covariance, 0.0)[1]
    assert math.isclose(found, wanted, rel_tol=2e-6)


def test_nothing_is_learnt_where_all_is_known_and_from_a_common_shift():
    known = knowledge_gradient(np.asarray([1.0, 2.0]), np.zeros((2, 2)), 0.0)
    shifted = knowledge_gradient(np.asarray([1.0, 2.0, 2.0]), np.ones((3, 3)), 0.1)
    assert not known.any()
    assert not shifted.any()


def test_places_that_are_listed_twice_change_nothing():
    mean, covariance = belief(5, 4)
    twice = np.asarray([0, 1, 2, 3, 1, 1, 3])
    found = knowledge_gradient(mean[twice], covariance[np.ix_(twice, twice)], 0.2)
    np.testing.assert_allclose(found, knowledge_gradient(mean, covariance, 0.2)[twice], rtol=1e-12)
