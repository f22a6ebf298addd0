"""The robust maximum: its averages against draws and quadrature, its slopes against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from gpnotes import RobustMax, to_numpy
from gpnotes.ground import memory

C = 4


@pytest.fixture
def numbers(rng):
    """Means, variances (7, C) and classes (7,) on the host."""
    return rng.normal(size=(7, C)), 0.2 + rng.random((7, C)), rng.integers(0, C, 7).astype(float)


def close(space, rtol=1e-9):
    return {"rtol": rtol, "atol": rtol} if space.double else {"rtol": 2e-4, "atol": 2e-4}


def highest(mean, variance, c):
    """``P(f_c > all others)`` by an adaptive rule."""
    sd = np.sqrt(variance)

    def density(f):
        z = (f - mean) / sd
        others = np.prod(special.ndtr(np.delete(z, c)))
        return math.exp(-0.5 * z[c] * z[c]) / (math.sqrt(2.0 * math.pi) * sd[c]) * others

    reach = mean[c] - 10.0 * sd[c], mean[c] + 10.0 * sd[c]
    return integrate.quad(density, *reach, epsabs=1e-12, epsrel=1e-11, limit=400)[0]


def test_probabilities_are_those_of_an_adaptive_rule_and_sum_to_one(space, numbers):
    mean, variance, _ = numbers
    got = RobustMax(C, 0.1).probability(space.asarray(mean), space.asarray(variance))
    assert space.holds(got)
    rows = zip(mean, variance, strict=True)
    best = np.array([[highest(m, v, c) for c in range(C)] for m, v in rows])
    np.testing.assert_allclose(to_numpy(got), 0.1 / 3 + (0.9 - 0.1 / 3) * best, **close(space))
    np.testing.assert_allclose(to_numpy(got).sum(axis=1), 1.0, rtol=1e-12 if space.double else 1e-6)


def test_averages_are_those_of_draws_and_of_an_adaptive_rule(space, numbers, rng):
    mean, variance, y = numbers
    arrays = [space.asarray(a) for a in (y, mean, variance)]
    got = to_numpy(RobustMax(C, 0.1).expected_log_density(*arrays, nodes=60))
    rows = zip(mean, variance, y, strict=True)
    best = np.array([highest(m, v, int(c)) for m, v, c in rows])
    wanted = best * np.log(0.9) + (1.0 - best) * np.log(0.1 / 3)
    np.testing.assert_allclose(got, wanted, **close(space, 1e-6))
    f = mean + np.sqrt(variance) * rng.normal(size=(100_000, 7, C))
    logs = np.where(f.argmax(-1) == y, np.log(0.9), np.log(0.1 / 3))
    assert np.all(np.abs(got - logs.mean(axis=0)) < 5.0 * logs.std(axis=0) / 100_000**0.5 + 2e-4)


@pytest.mark.parametrize("nodes", [3, 20])
def test_slopes_are_those_of_the_sum_by_differences(numbers, nodes):
    mean, variance, y = numbers
    rule = RobustMax(C, 0.02)
    by_mean, by_variance = rule.expected_derivatives(y, mean, variance, nodes)
    for c in range(C):
        step = 1e-5 * np.eye(C)[c]
        up, down = (rule.expected_log_density(y, mean + s, variance, nodes) for s in (step, -step))
        np.testing.assert_allclose(by_mean[:, c], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)
        up, down = (rule.expected_log_density(y, mean, variance + s, nodes) for s in (step, -step))
        np.testing.assert_allclose(by_variance[:, c], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)


def test_two_classes_of_unlike_variances_have_the_closed_form():
    mean, variance = np.array([[-0.87, -1.47]]), np.array([[0.028, 8.28]])
    rule, y = RobustMax(2), np.ones(1)
    lead = (mean[0, 1] - mean[0, 0]) / math.sqrt(variance.sum())
    gap = math.log(0.999 / 1e-3)
    value = math.log(1e-3) + gap * stats.norm.cdf(lead)
    assert value == pytest.approx(-4.0238, abs=1e-4)
    np.testing.assert_allclose(rule.expected_log_density(y, mean, variance), value, rtol=1e-13)
    slope = gap * stats.norm.pdf(lead) / math.sqrt(variance.sum())
    by_mean, by_variance = rule.expected_derivatives(y, mean, variance)
    np.testing.assert_allclose(by_mean, [[-slope, slope]], rtol=1e-12)
    np.testing.assert_allclose(by_variance, -0.5 * slope * lead / math.sqrt(variance.sum()))


@pytest.mark.parametrize("nodes", [20, 3])
@pytest.mark.parametrize("classes", [2, 5, 3])
@pytest.mark.parametrize("wide", [1.0, 4.0])
def test_averages_agree_with_probabilities_whatever_the_variances(rng, nodes, classes, wide):
    """The slopes too, by differences of `probability`; in units of what each slope is by."""
    mean, variance = rng.normal(size=(24, classes)), 10 ** rng.uniform(-wide, wide, (24, classes))
    y = rng.integers(0, classes, 24).astype(float)
    rule, rows = RobustMax(classes, 0.1), np.arange(24)
    other = 0.1 / (classes - 1)

    def average(m, v):
        h = (rule.probability(m, v)[rows, y.astype(int)] - other) / (0.9 - other)
        return math.log(other) + math.log(0.9 / other) * h

    got = rule.expected(y, mean, variance, nodes)
    np.testing.assert_allclose(got.value, average(mean, variance), rtol=0, atol=1e-6)
    for c in range(classes):
        one, sd = np.eye(classes)[c], np.sqrt(variance[:, c])
        m, v = 1e-4 * sd[:, None] * one, 1e-4 * variance * one
        slope = (average(mean + m, variance) - average(mean - m, variance)) / 2e-4
        np.testing.assert_allclose(got.by_mean[:, c] * sd, slope, rtol=0, atol=1e-6)
        slope = (average(mean, variance + v) - average(mean, variance - v)) / 2e-4
        np.testing.assert_allclose(got.by_variance[:, c] * variance[:, c], slope, atol=1e-6)


def test_averages_of_unlike_variances_are_those_of_an_adaptive_rule_in_every_space(space, rng):
    mean, variance = rng.normal(size=(20, 3)), 10 ** rng.uniform(-2.0, 2.0, (20, 3))
    y = rng.integers(0, 3, 20).astype(float)
    rule = RobustMax(3, 0.1)
    got = rule.expected(*(space.asarray(a) for a in (y, mean, variance)))
    assert all(space.holds(part) for part in got)
    best = [highest(m, v, int(c)) for m, v, c in zip(mean, variance, y, strict=True)]
    wanted = math.log(0.05) + math.log(0.9 / 0.05) * np.array(best)
    np.testing.assert_allclose(to_numpy(got.value), wanted, **close(space, 1e-6))
    for part, host in zip(got, rule.expected(y, mean, variance), strict=True):
        np.testing.assert_allclose(to_numpy(part), host, **close(space, 1e-6))


def test_slopes_are_the_same_in_every_space(space, numbers):
    mean, variance, y = numbers
    arrays = [space.asarray(a) for a in (y, mean, variance)]
    got = RobustMax(C).expected_derivatives(*arrays)
    for ours, wanted in zip(got, RobustMax(C).expected_derivatives(y, mean, variance), strict=True):
        assert space.holds(ours)
        np.testing.assert_allclose(to_numpy(ours), wanted, **close(space))


def test_two_classes_are_the_sign_of_a_difference(numbers):
    mean, variance, _ = (a[:, :2] if a.ndim == 2 else a for a in numbers)
    got = RobustMax(2, 0.1).probability(mean, variance)[:, 1]
    p = stats.norm.cdf((mean[:, 1] - mean[:, 0]) / np.sqrt(variance.sum(axis=1)))
    np.testing.assert_allclose(got, 0.1 + 0.8 * p, rtol=1e-10)


def test_the_unit_of_f_changes_nothing_nor_what_all_classes_have_in_common(numbers):
    mean, variance, y = numbers
    rule = RobustMax(C, 0.05)
    there = rule.expected_log_density(y, mean, variance)
    np.testing.assert_allclose(rule.expected_log_density(y, 7.0 * mean, 49.0 * variance), there)
    np.testing.assert_allclose(rule.expected_log_density(y, mean + 3.0, variance), there)
    by_mean, by_variance = rule.expected_derivatives(y, mean, variance)
    np.testing.assert_allclose(by_mean.sum(axis=1), 0.0, atol=1e-13)
    turned = np.sum(by_mean * mean + 2.0 * by_variance * variance, axis=1)
    np.testing.assert_allclose(turned, 0.0, atol=1e-12)


def test_functions_that_are_known_and_far_apart_are_no_trouble(space):
    mean = space.asarray(np.array([[0.0, 5.0, -5.0], [1e5, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    nothing = space.asarray(np.zeros((3, 3)))
    rule = RobustMax(3, 0.1)
    got = to_numpy(rule.probability(mean, nothing))
    np.testing.assert_allclose(got[:2], [[0.05, 0.9, 0.05], [0.9, 0.05, 0.05]], rtol=1e-5)
    np.testing.assert_allclose(got[2], 1.0 / 3.0, rtol=1e-5)
    y = space.asarray(np.array([2.0, 1.0, 0.0]))
    value = rule.expected_log_density(y, mean, nothing)
    for part in (value, *rule.expected_derivatives(y, mean, nothing)):
        assert np.all(np.isfinite(to_numpy(part)))


def test_blocks_of_rows_change_nothing(monkeypatch, numbers):
    mean, variance, _ = numbers
    whole = RobustMax(C).probability(mean, variance)
    monkeypatch.setattr(memory, "ENTRIES", 2000)
    np.testing.assert_allclose(RobustMax(C).probability(mean, variance), whole, rtol=1e-14)
    assert RobustMax(C).probability(mean[:0], variance[:0]).shape == (0, C)


def test_what_does_not_fit_is_named(numbers):
    mean, variance, y = numbers
    rule = RobustMax(C)
    for slip in (0.0, 1.0, -0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="slip must be"):
            RobustMax(C, slip)
    with pytest.raises(ValueError, match="classes must be a whole number from 2; got 1"):
        RobustMax(1)
    with pytest.raises(TypeError, match="slip must be"):
        RobustMax(3, "0.1")
    for wrong in (y + C, y - 5.0, y + 0.5):
        with pytest.raises(ValueError, match="y must hold classes, whole numbers from 0 to 3; got"):
            rule.expected_log_density(wrong, mean, variance)
    with pytest.raises(ValueError, match=r"mean must have shape \(n, 4\); got \(7, 3\)"):
        rule.probability(mean[:, :3], variance[:, :3])
    with pytest.raises(ValueError, match="variance"):
        rule.probability(mean, -variance)
    with pytest.raises(ValueError, match="y must"):
        rule.expected_log_density(y[:3], mean, variance)
    with pytest.raises(ValueError, match="nodes must be a whole number from 2"):
        rule.expected_log_density(y, mean, variance, nodes=1)
    with pytest.raises(ValueError, match="nodes must be a whole number from 2 to 350; got 351"):
        rule.expected_log_density(y, mean, variance, nodes=351)


@pytest.mark.parametrize("classes", [3, 5])
def test_chances_of_unlike_functions_add_up_to_one_to_the_last_digit(rng, classes):
    """Rules of their own for each class would leave some 1e-12."""
    variance = 10 ** rng.uniform(-4.0, 4.0, (200, classes))
    chances = RobustMax(classes, 0.1).probability(rng.normal(size=(200, classes)), variance)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=2e-15)


@pytest.mark.parametrize("sd", [1e-3, 1e-5, 1e-6])
def test_a_function_that_is_all_but_known_has_a_slope_by_its_variance(sd):
    """Half the second derivative by its mean of the chance that a normal value exceeds both."""
    at, other = 0.3, -0.2
    mean, variance = np.asarray([[0.0, at, other]]), np.asarray([[1.0, sd * sd, 0.49]])
    z = (at - other) / 0.7
    chance = -at * stats.norm.cdf(z) + stats.norm.pdf(z) / 0.7
    wanted = -0.5 * math.log(0.9 / 0.05) * stats.norm.pdf(at) * chance
    found = RobustMax(3, 0.1).expected(np.zeros(1), mean, variance)
    assert found.by_variance[0, 1] == pytest.approx(wanted, rel=1e-9 + 2.0 * sd * sd)
