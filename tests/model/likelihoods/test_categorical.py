"""The softmax of several functions: its averages against draws, its slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from gpnotes import to_numpy
from gpnotes.ground import memory
from gpnotes.model.likelihoods import Bernoulli, Categorical
from gpnotes.model.likelihoods.categorical import _nodes

C = 4


@pytest.fixture
def numbers(rng):
    """Means, variances (7, C) and classes (7,) on the host."""
    return rng.normal(size=(7, C)), 0.2 + rng.random((7, C)), rng.integers(0, C, 7).astype(float)


def draws(mean, variance, rng, count=40_000):
    return mean + np.sqrt(variance) * rng.normal(size=(count, *mean.shape))


@pytest.mark.parametrize(("unit", "off"), [(0.1, 1e-3), (1.0, 0.01), (4.0, 0.03), (25.0, 0.15)])
def test_averages_are_those_of_draws(numbers, rng, unit, off):
    """Within five standard errors of the draws and what the rule is said to leave out."""
    mean, variance, y = numbers
    got = Categorical(C).expected_log_density(y, mean, unit * variance)
    logs = log_softmax(draws(mean, unit * variance, rng), axis=-1)[:, range(7), y.astype(int)]
    error = logs.std(axis=0) / 40_000**0.5
    assert np.max(np.abs(got - logs.mean(axis=0)) - 5.0 * error) < off


def test_probabilities_are_those_of_draws_and_sum_to_one(space, numbers, rng):
    mean, variance, _ = numbers
    got = Categorical(C).probability(space.asarray(mean), space.asarray(variance))
    assert space.holds(got)
    wanted = softmax(draws(mean, variance, rng), axis=-1).mean(axis=0)
    np.testing.assert_allclose(to_numpy(got), wanted, atol=0.01)
    np.testing.assert_allclose(to_numpy(got).sum(axis=1), 1.0, rtol=1e-12 if space.double else 1e-6)


def test_two_classes_are_a_label_of_the_difference(rng):
    """``P(second) = σ(f₂ − f₁)``, of which the averages are known to 1e-12."""
    mean, variance = rng.normal(size=(9, 2)), 0.1 + 1.5 * rng.random((9, 2))
    label, gap = Bernoulli("logit"), mean[:, 1] - mean[:, 0]
    wanted = label.expected_log_density(np.ones(9), gap, variance.sum(axis=1), nodes=60)
    got = Categorical(2).expected_log_density(np.ones(9), mean, variance)
    np.testing.assert_allclose(got, wanted, atol=0.01)
    chance = Categorical(2).probability(mean, variance)[:, 1]
    np.testing.assert_allclose(chance, label.probability(gap, variance.sum(axis=1)), atol=0.006)


def test_what_is_certain_is_the_softmax(numbers):
    mean, _, y = numbers
    none = np.zeros_like(mean)
    logs = log_softmax(mean, axis=1)[range(7), y.astype(int)]
    np.testing.assert_allclose(Categorical(C).expected_log_density(y, mean, none), logs, rtol=1e-12)
    np.testing.assert_allclose(Categorical(C).probability(mean, none), softmax(mean, axis=1))
    by_mean, by_variance = Categorical(C).expected_derivatives(y, mean, none)
    share = softmax(mean, axis=1)
    np.testing.assert_allclose(by_mean, np.eye(C)[y.astype(int)] - share, atol=1e-12)
    np.testing.assert_allclose(by_variance, -0.5 * share * (1.0 - share), atol=1e-6)


def test_slopes_are_those_of_the_very_sum(space, numbers):
    mean, variance, y = numbers
    arrays = [space.asarray(a) for a in (y, mean, variance)]
    slopes = Categorical(C).expected_derivatives(*arrays)
    assert all(space.holds(slope) for slope in slopes)
    for place, slope in enumerate(slopes, 1):
        for c in range(C):
            step = np.zeros_like(mean)
            step[:, c] = 1e-5
            ends = []
            for sign in (1.0, -1.0):
                moved = [y, mean, variance]
                moved[place] = moved[place] + sign * step
                ends.append(Categorical(C).expected_log_density(*moved))
            wanted = (ends[0] - ends[1]) / 2e-5
            close = {"rtol": 1e-6, "atol": 1e-9} if space.double else {"rtol": 1e-3, "atol": 1e-5}
            np.testing.assert_allclose(to_numpy(slope)[:, c], wanted, **close)


def test_more_certainty_is_always_better(rng):
    """No slope by a variance is positive: what it is for is a precision in `svgp`."""
    for classes in (2, 3, 10):
        mean = 2.0 * rng.normal(size=(50, classes))
        variance = 10.0 ** rng.uniform(-3.0, 1.0, size=(50, classes))
        _, slope = Categorical(classes).expected_derivatives(np.zeros(50), mean, variance)
        assert np.max(slope) < 1e-6


def test_many_classes_have_nodes_enough():
    mean = np.zeros((2, 200))
    got = Categorical(200).expected_log_density(np.zeros(2), mean, 0.0 * mean + 0.01)
    np.testing.assert_allclose(got, -np.log(200.0), atol=0.006)


@pytest.mark.parametrize(("classes", "nodes"), [(2, 256), (64, 256), (65, 260), (100, 400)])
def test_nodes_are_no_fewer_than_four_for_each_class(classes, nodes):
    z = _nodes(classes, 256)
    assert z.shape == (classes, nodes)
    np.testing.assert_allclose(z @ np.ones(nodes), 0.0, atol=1e-12 * nodes)
    np.testing.assert_allclose(z @ z.T / nodes, np.eye(classes), atol=1e-12)


def test_rows_are_worked_on_in_blocks(numbers, monkeypatch):
    mean, variance, y = numbers
    whole = Categorical(C).expected_log_density(y, mean, variance)
    chance = Categorical(C).probability(mean, variance)
    monkeypatch.setattr(memory, "ENTRIES", 3 * 256 * C)
    np.testing.assert_allclose(Categorical(C).expected_log_density(y, mean, variance), whole)
    np.testing.assert_allclose(Categorical(C).probability(mean, variance), chance)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Categorical(1), "classes must be a whole number from 2; got 1"),
        (lambda: Categorical(3).probability(np.ones((2, 2)), np.ones((2, 2))),
         r"mean must have shape \(n, 3\); got \(2, 2\)"),
        (lambda: Categorical(2).expected_log_density(
            np.full(2, 2.0), np.ones((2, 2)), np.ones((2, 2))), "y must hold classes"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
