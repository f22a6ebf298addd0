"""Newton's steps end at the mode, whatever the unit of f."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest

from gpnotes import (
    EPGP,
    GP,
    RBF,
    Bernoulli,
    Constant,
    ConstantMean,
    LaplaceGP,
    Poisson,
    SoftmaxGP,
    StudentT,
    condition,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.ground.check import NoValueError
from gpnotes.ground.linalg import RoundingWarning
from gpnotes.model.likelihoods import Gaussian


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize("level", [0.0, 1e6])
def test_a_mode_is_found_in_any_unit_of_y_and_at_any_level(unit, level):
    """Steps are measured by the prior's deviations; by 1, those of y in 1e-12 were all short."""
    X = np.random.default_rng(0).uniform(size=(25, 1))
    y = np.sin(5.0 * X[:, 0]) + 0.1 * np.random.default_rng(9).normal(size=25)

    def posterior(unit, level):
        gp = GP(RBF(unit * unit, 0.3), mean=ConstantMean(level * unit))
        return condition(LaplaceGP(gp, StudentT(0.1 * unit, 4.0)), X, (y + level) * unit)

    here, there = posterior(1.0, 0.0), posterior(unit, level)
    assert there.log_evidence + 25.0 * math.log(unit) == pytest.approx(here.log_evidence, abs=1e-6)
    np.testing.assert_allclose(there.mean(X) / unit - level, here.mean(X), atol=1e-6)


@pytest.mark.parametrize("level", [1e9, 1e12])
@pytest.mark.parametrize("likelihood", [StudentT(0.01, 4.0), Gaussian(1e-4)])
def test_a_level_far_from_zero_costs_what_it_rounds_y_by_and_no_more(likelihood, level):
    """At 1e12 a float64 is rounded by 6e-5; where f was, by 0.01 of noise, means were off by 22."""
    X = np.linspace(0.0, 5.0, 20)[:, None]
    y = np.sin(X[:, 0]) + 0.01 * np.random.default_rng(0).normal(size=20) + level
    y[5] += 0.3
    there, here = (
        condition(
            LaplaceGP(GP(RBF(1.0, 1.0), mean=ConstantMean(at)), likelihood), X, y - level + at
        )
        for at in (level, 0.0)
    )
    np.testing.assert_allclose(
        there.mean(X) - level, here.mean(X), rtol=0.0, atol=np.spacing(level)
    )
    np.testing.assert_allclose(there.variance(X), here.variance(X), rtol=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda gp: LaplaceGP(gp, Poisson()),
        lambda gp: LaplaceGP(gp, Bernoulli("logit")),
        lambda gp: SoftmaxGP(gp, 2),
    ],
    ids=["counts", "labels", "classes"],
)
def test_under_a_vague_level_predictions_at_the_data_are_the_mode(make):
    """Slopes of log p(y | f) there round by more than K takes: rates were 2.6 times too high."""
    rng = np.random.default_rng(1)
    X = np.linspace(0.0, 6.0, 20)[:, None]
    model = make(GP(RBF() + Constant(1e6), 0.0))
    y = rng.poisson(np.exp(1.0 + np.sin(X[:, 0]))).astype(float)
    if not isinstance(getattr(model, "likelihood", None), Poisson):
        y = (y > 2.0) * 1.0 if isinstance(model, SoftmaxGP) else np.where(y > 2.0, 1.0, -1.0)
    posterior = condition(model, X, y)
    mean = posterior.predict(X)[0]
    np.testing.assert_allclose(mean, posterior.mode, rtol=0.0, atol=1e-6)


def test_two_labels_that_disagree_at_one_place_leave_a_wide_prior_at_its_mean():
    """The slopes of both sum to nothing but rounding, and K took that for 0.75 at 1e8."""
    gp = GP(RBF(1e8), 0.0)
    posterior = condition(LaplaceGP(gp), np.zeros((2, 1)), np.asarray([1.0, -1.0]))
    assert posterior.probability([[0.0]])[0] == pytest.approx(0.5, abs=1e-6)


def test_in_single_precision_counts_under_a_wide_level_settle_in_a_few_steps():
    """When each step was computed from f itself, it took 66 steps and ended off by 0.07."""
    X = np.linspace(0.0, 6.0, 20)[:, None].astype(np.float32)
    y = np.random.default_rng(1).poisson(np.exp(1.0 + np.sin(X[:, 0]))).astype(np.float32)
    model = LaplaceGP(GP(RBF() + Constant(1e4), 0.0), Poisson())
    double = condition(model, X.astype(float), y.astype(float))
    with pytest.warns(RoundingWarning, match=r"may be off by 1\.[1-4]e-01 of themselves"):
        single = condition(model, X, y)
    assert single.steps < 12
    np.testing.assert_allclose(single.mode, double.mode, rtol=0.0, atol=0.03)


@pytest.mark.parametrize(
    "model", [EPGP, LaplaceGP, lambda gp: SoftmaxGP(gp, 2)], ids=["ep", "laplace", "softmax"]
)
def test_a_prior_too_wide_for_the_precision_is_no_secret(model):
    """The evidence by expectation propagation was −12.2 instead of −21.7, without a word."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 10.0, 30))[:, None].astype(np.float32)
    chosen = model(GP(Constant(1e6), 0.0))
    low = 0.0 if isinstance(chosen, SoftmaxGP) else -1.0
    y = np.where(np.sin(X[:, 0]) > -0.5, 1.0, low).astype(np.float32)
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                verb(chosen, X, y)
                said = "; ".join(str(one.message) for one in caught)
            except NoValueError as error:  # rounding decides whether a mode is found at all
                said = str(error)
        assert re.search("prior is too wide|prior not too wide", said), said
        verb(chosen, X.astype(float), y.astype(float))


@pytest.mark.parametrize("size", [1e7, 1e8, 1e10])
def test_a_mode_is_found_from_zero_for_counts_however_large(size):
    """Twenty halvings left exp(f) infinite, and the error spoke of a matrix that is not finite."""
    X = np.linspace(0.0, 1.0, 8)[:, None]
    y = np.round(size * np.exp(np.sin(6.0 * X[:, 0])))
    far, near = (
        condition(LaplaceGP(GP(RBF(1.0, 0.05), 0.0, ConstantMean(level)), Poisson()), X, y)
        for level in (0.0, math.log(size))
    )
    np.testing.assert_allclose(far.predict(X)[0], np.log(y), rtol=1e-6)
    np.testing.assert_allclose(near.predict(X)[0], np.log(y), rtol=1e-6)


@pytest.mark.parametrize("link", ["probit", "logit"])
@pytest.mark.parametrize(("dtype", "variance"), [("float32", 1e6), ("float64", 1e14)])
def test_a_step_that_is_short_for_a_wide_prior_is_not_the_last(link, dtype, variance):
    """Such a step left f off by two, and a variance at a hundredth of its value."""
    one = np.ones((1, 1), dtype)
    found = condition(LaplaceGP(GP(RBF(variance), 0.0), Bernoulli(link)), one, one[0])
    f, told = float(found.mode[0]), float(found.variance(one)[0])
    # at the mode f = v ∇log p(y | f), and 1/variance = 1/v + W
    slope = f / variance
    if link == "probit":
        density = math.exp(-0.5 * f * f) / math.sqrt(2.0 * math.pi)
        wanted, W = density / (0.5 * math.erfc(-f / math.sqrt(2.0))), slope * (f + slope)
    else:
        wanted, W = 1.0 / (1.0 + math.exp(f)), slope * (1.0 - slope)
    assert slope == pytest.approx(wanted, rel=1e-3)
    assert 1.0 / told == pytest.approx(1.0 / variance + W, rel=1e-3)


def test_a_mode_that_rounding_keeps_from_settling_is_taken_with_a_warning():
    """What all classes have in common no label tells, and float32 moves it to and fro."""
    one = np.ones((1, 1), np.float32)
    with pytest.warns(RoundingWarning):
        found = condition(SoftmaxGP(GP(RBF(1e6), 0.0), 2), one, one[0])
    np.testing.assert_allclose(found.mode, [[-6.01, 6.01]], atol=0.3)
