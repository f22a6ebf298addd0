"""Acquisitions against quadrature, SciPy and differences, far into the tail and at its ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from gpnotes import to_numpy
from gpnotes.decide.bayesopt import (
    ExpectedImprovement,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
)
from gpnotes.decide.bayesopt.acquisition import LogDeviation
from gpnotes.testing import check_acquisition, gradcheck

BEST, MARGIN = 0.7, 0.2
MEAN = np.asarray([-3.0, -0.4, 0.6, 0.95, 1.3, 4.0])
VARIANCE = np.asarray([0.9, 0.3, 1.7, 0.05, 0.6, 2.0])
ALL = (
    UpperConfidenceBound(2.5),
    ProbabilityOfImprovement(BEST, MARGIN),
    ExpectedImprovement(BEST, MARGIN),
    LogExpectedImprovement(BEST, MARGIN),
    LogProbabilityOfImprovement(BEST, MARGIN),
    LogDeviation(),
)
IMPROVEMENTS = (ProbabilityOfImprovement, ExpectedImprovement, LogExpectedImprovement)
FAR = (2.0, 2.5, 4.0, 10.0, 37.0, 1e2, 1e3, 1e5, 1e7)


def close(space):
    return {"rtol": 1e-12, "atol": 1e-14} if space.double else {"rtol": 2e-5, "atol": 1e-6}


def quadrature(mean, variance):
    """``E max(f − level, 0)`` by an adaptive rule from the level upwards."""
    sd, level = math.sqrt(variance), BEST + MARGIN

    def density(f):
        return (f - level) * stats.norm.pdf(f, mean, sd)

    top = max(level, mean) + 12.0 * sd
    return integrate.quad(density, level, top, epsabs=1e-14, epsrel=1e-12, limit=200)[0]


def far_log_h(x):
    """``log h(−x)`` with ``h(−x) = φ(x) ∫ u exp(−u²/2 − xu) du``, u = s/x from 0 to infinity."""
    whole = integrate.quad(lambda s: s * math.exp(-s - 0.5 * (s / x) ** 2), 0.0, 60.0, epsabs=0.0)
    return -0.5 * x * x - 0.5 * math.log(2.0 * math.pi) - 2.0 * math.log(x) + math.log(whole[0])


def test_the_upper_confidence_bound_is_so_many_deviations_above_the_mean(space):
    bounds = UpperConfidenceBound(6.25)(space.asarray(MEAN), space.asarray(VARIANCE))
    assert space.holds(bounds)
    np.testing.assert_allclose(to_numpy(bounds), MEAN + 2.5 * np.sqrt(VARIANCE), **close(space))


def test_the_probability_of_improvement_is_that_of_scipy(space):
    chance = ProbabilityOfImprovement(BEST, MARGIN)(space.asarray(MEAN), space.asarray(VARIANCE))
    assert space.holds(chance)
    wanted = stats.norm.sf(BEST + MARGIN, MEAN, np.sqrt(VARIANCE))
    np.testing.assert_allclose(to_numpy(chance), wanted, **close(space))


def test_the_expected_improvement_is_an_integral(space):
    values = ExpectedImprovement(BEST, MARGIN)(space.asarray(MEAN), space.asarray(VARIANCE))
    assert space.holds(values)
    wanted = [quadrature(*pair) for pair in zip(MEAN, VARIANCE, strict=True)]
    rtol = 1e-9 if space.double else 1e-4
    np.testing.assert_allclose(to_numpy(values), wanted, rtol=rtol, atol=1e-12)


def test_the_logarithm_is_that_of_the_expected_improvement(space):
    mean, variance = space.asarray(MEAN), space.asarray(VARIANCE)
    logs = LogExpectedImprovement(BEST, MARGIN)(mean, variance)
    assert space.holds(logs)
    values = to_numpy(ExpectedImprovement(BEST, MARGIN)(mean, variance))
    np.testing.assert_allclose(to_numpy(logs), np.log(values), **close(space))


@pytest.mark.parametrize("x", FAR)
def test_far_below_the_best_the_logarithm_is_an_integral_too(space, x):
    one = space.asarray([1.0])
    value = to_numpy(LogExpectedImprovement(0.0)(space.asarray([-x]), one))
    np.testing.assert_allclose(value, far_log_h(x), rtol=1e-13 if space.double else 1e-5)


def test_far_below_nothing_has_cancelled():
    """``log h + x²/2 + ½ log 2π = log(x⁻² − 3x⁻⁴ + …)``, and ``Φ/h = x + 2/x − …`` likewise."""
    x = np.asarray([30.0, 1e3])
    ones = np.ones_like(x)
    value = LogExpectedImprovement(0.0)(-x, ones)
    left = value + 0.5 * x * x + 0.5 * math.log(2.0 * math.pi)
    series = np.log1p(-3.0 / x**2 + 15.0 / x**4 - 105.0 / x**6 + 945.0 / x**8) - 2.0 * np.log(x)
    np.testing.assert_allclose(left, series, atol=3e-10)  # what x²/2 leaves of its digits
    slope, by_variance = LogExpectedImprovement(0.0).derivatives(-x, ones)
    q2 = 2.0 / x - 6.0 / x**3 + 42.0 / x**5
    np.testing.assert_allclose(slope - x, q2, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(by_variance, 0.5 * (1.0 + x * slope), rtol=1e-12)


def test_the_two_branches_meet():
    z = -2.0 + np.asarray([-1e-9, 1e-9])
    for acquisition in (ExpectedImprovement(0.0), LogExpectedImprovement(0.0)):
        values = acquisition(z, np.ones(2))
        slopes, bends = acquisition.derivatives(z, np.ones(2))
        np.testing.assert_allclose(np.diff(values), slopes[0] * 2e-9, rtol=1e-5)
        np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-7)
        np.testing.assert_allclose(bends[0], bends[1], rtol=1e-7)


@pytest.mark.parametrize("acquisition", ALL, ids=lambda one: type(one).__name__)
def test_derivatives_are_those_of_the_values(acquisition):
    def pullback(mean, variance, bar):
        by_mean, by_variance = acquisition.derivatives(mean, variance)
        return bar * by_mean, bar * by_variance

    gradcheck(acquisition, pullback, MEAN, VARIANCE)


@pytest.mark.parametrize("gap", [-60.0, -9.0, -2.5])
def test_derivatives_of_the_logarithm_in_the_tail(gap):
    acquisition = LogExpectedImprovement(0.0)

    def pullback(mean, variance, bar):
        by_mean, by_variance = acquisition.derivatives(mean, variance)
        return bar * by_mean, bar * by_variance

    gradcheck(acquisition, pullback, np.asarray([gap]), np.asarray([1.3]))


@pytest.mark.parametrize("acquisition", ALL, ids=lambda one: type(one).__name__)
def test_values_and_derivatives_live_where_the_predictions_do(space, acquisition):
    mean, variance = space.asarray(MEAN), space.asarray(VARIANCE)
    host = acquisition.derivatives(MEAN, VARIANCE)
    for got, wanted in zip(acquisition.derivatives(mean, variance), host, strict=True):
        assert space.holds(got)
        np.testing.assert_allclose(to_numpy(got), wanted, **close(space))


def test_what_is_known_is_worth_its_limit(space):
    mean, known = space.asarray([0.5, 1.4]), space.asarray([0.0, 0.0])
    gap = 1.4 - BEST - MARGIN
    never = -math.inf
    values = ([0.5, 1.4], [0.0, 1.0], [0.0, gap], [never, math.log(gap)], [never, 0.0], [never] * 2)
    slopes = ([1.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0 / gap], [0.0, 0.0], [0.0, 0.0])
    for acquisition, value, slope in zip(ALL, values, slopes, strict=True):
        by_mean, by_variance = acquisition.derivatives(mean, known)
        np.testing.assert_allclose(to_numpy(acquisition(mean, known)), value, rtol=1e-5)
        np.testing.assert_allclose(to_numpy(by_mean), slope, rtol=1e-5)
        np.testing.assert_array_equal(to_numpy(by_variance), 0.0)


def test_what_is_known_to_be_the_best_is_no_improvement():
    zero = np.zeros(1)
    worth = [acquisition(zero, zero)[0] for acquisition in (kind(0.0) for kind in IMPROVEMENTS)]
    assert worth == [0.0, 0.0, -math.inf]


@pytest.mark.parametrize("kind", IMPROVEMENTS)
def test_a_tiny_variance_is_like_none(kind):
    acquisition = kind(BEST, MARGIN)
    far = np.asarray([1.4, 2.0])
    tiny, none = acquisition(far, np.full(2, 1e-12)), acquisition(far, np.zeros(2))
    np.testing.assert_allclose(tiny, none, rtol=1e-9)


def test_a_margin_raises_the_best():
    for kind in IMPROVEMENTS:
        raised, other = kind(BEST + MARGIN), kind(BEST, MARGIN)
        np.testing.assert_array_equal(raised(MEAN, VARIANCE), other(MEAN, VARIANCE))


def test_more_doubt_is_worth_more():
    """EI and its logarithm rise with the variance, wherever the mean lies."""
    for kind in (ExpectedImprovement, LogExpectedImprovement):
        assert np.all(kind(BEST).derivatives(MEAN, VARIANCE)[1] > 0.0)


@pytest.mark.parametrize("kind", IMPROVEMENTS)
def test_what_is_refused(kind):
    with pytest.raises(ValueError, match="best must be finite; got nan"):
        kind(math.nan)
    with pytest.raises(ValueError, match="margin must be non-negative and finite; got -1"):
        kind(0.0, -1.0)
    with pytest.raises(ValueError, match="variance must be non-negative"):
        kind(0.0)(np.zeros(1), -np.ones(1))
    with pytest.raises(ValueError, match=r"variance must have the shape of mean, \(1,\)"):
        kind(0.0).derivatives(np.zeros(1), np.ones(2))


def test_a_negative_beta_is_refused():
    with pytest.raises(ValueError, match="beta must be non-negative and finite; got -1"):
        UpperConfidenceBound(-1.0)


class Flawed(ExpectedImprovement):
    """An expected improvement with one flaw."""

    flaw = ""

    def __call__(self, mean, variance):
        values = super().__call__(mean, variance)
        if self.flaw == "mixed":
            return values + mean.mean()
        return values[:-1] if self.flaw == "short" else values

    def derivatives(self, mean, variance):
        by_mean, by_variance = super().derivatives(mean, variance)
        if self.flaw == "lost":
            by_mean = by_mean * np.inf
        return by_mean, 2.0 * by_variance if self.flaw == "twice" else by_variance


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("mixed", "the last value and that of its entry alone"),
        ("short", r"acquisition\(mean, variance\) must have shape \(6,\)"),
        ("lost", "the derivative by the mean"),
        ("twice", "variance"),
    ],
)
def test_check_acquisition_finds_each_flaw(flaw, message):
    acquisition = Flawed(BEST)
    check_acquisition(acquisition, MEAN, VARIANCE)
    object.__setattr__(acquisition, "flaw", flaw)
    with pytest.raises(AssertionError, match=message):
        check_acquisition(acquisition, MEAN, VARIANCE)


@pytest.mark.parametrize("acquisition", ALL, ids=lambda one: type(one).__name__)
def test_all_of_the_package_pass_the_check(space, acquisition):
    some = slice(None) if space.name.startswith("numpy") else slice(1, 4)  # a library that is slow
    check_acquisition(acquisition, space.asarray(MEAN[some]), space.asarray(VARIANCE[some]))


def test_the_logarithm_and_its_derivatives_come_at_once_as_they_do_apart():
    mean, variance = np.append(MEAN, [-80.0, 2.0]), np.append(VARIANCE, [0.5, 0.0])
    acquisition = LogExpectedImprovement(BEST, MARGIN)
    value, slopes = acquisition.with_derivatives(mean, variance)
    np.testing.assert_array_equal(value, acquisition(mean, variance))
    np.testing.assert_array_equal(slopes, acquisition.derivatives(mean, variance))
    with pytest.raises(ValueError, match="variance must"):
        acquisition.with_derivatives(mean, -variance)


def test_what_is_known_least_is_worth_most():
    mean, variance = np.asarray([5.0, -3.0, 0.0]), np.asarray([4.0, 0.25, 0.0])
    found = LogDeviation()(mean, variance)
    np.testing.assert_allclose(found, [math.log(2.0), math.log(0.5), -math.inf])
    by_mean, by_variance = LogDeviation().derivatives(mean, variance)
    assert not by_mean.any()
    np.testing.assert_allclose(by_variance, [0.125, 2.0, 0.0])
