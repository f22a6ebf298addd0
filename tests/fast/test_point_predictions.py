"""Predictions at places, and the way back: the path in place must equal the general one."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Matern12, Matern32, Matern52, condition
from gpnotes.decide.bayesopt import LogExpectedImprovement, predict_and_pullback
from gpnotes.fast import point_predictions

KERNELS = [RBF, Matern12, Matern32, Matern52]


def posterior(kernel, rng, d, ard=True, far=0.0):
    """A process of 30 observations; `far` moves some of them far away."""
    X = rng.standard_normal((30, d))
    X[::3] += far
    lengths = 0.5 + rng.random(d) if ard else 0.8
    gp = GP(kernel(1.3, lengths), 0.1, ConstantMean(0.4))
    return condition(gp, X, rng.standard_normal(30))


def in_general(kernel):
    """The kernel as a class of its own, which has no work in place."""
    return type("General", (kernel,), {})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_both_paths_agree(kernel, d, far, rng):
    draws = np.random.default_rng(d).bit_generator.state
    answers = []
    for one in (kernel, in_general(kernel)):
        rng.bit_generator.state = draws
        model = posterior(one, rng, d, far=far)
        Xs = np.concatenate([rng.standard_normal((7, d)), model.X[:2]])
        bars = rng.standard_normal((2, 9))
        mean, variance, pull = predict_and_pullback(model, Xs)
        answers.append(
            (point_predictions.supports(model.gp.kernel, Xs), mean, variance, pull(*bars))
        )
    fast, slow = answers
    assert fast[0]
    assert not slow[0]
    for ours, theirs in zip(fast[1:], slow[1:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


def test_one_length_serves_all_inputs(rng):
    model = posterior(Matern52, rng, 4, ard=False)
    Xs = rng.standard_normal((5, 4))
    mean, variance, pull = predict_and_pullback(model, Xs)
    np.testing.assert_allclose(mean, model.mean(Xs))
    np.testing.assert_allclose(variance, model.variance(Xs))
    step = 1e-6
    for d in range(4):
        moved = step * np.eye(4)[d]
        slope = (model.mean(Xs + moved) - model.mean(Xs - moved)) / (2 * step)
        np.testing.assert_allclose(pull(np.ones(5), np.zeros(5))[:, d], slope, atol=1e-7)


def test_a_place_may_be_asked_twice(rng):
    """The way back leaves what it was made of as it was."""
    _, _, pull = predict_and_pullback(posterior(RBF, rng, 2), rng.standard_normal((5, 2)))
    bars = rng.standard_normal((2, 5))
    np.testing.assert_array_equal(pull(*bars), pull(*bars))


def test_float32_takes_the_general_path(rng):
    model = posterior(RBF, rng, 2)
    assert not point_predictions.supports(model.gp.kernel, model.X.astype(np.float32))


@pytest.mark.parametrize("z", [[-9.0, -2.5, -1.0, 3.0], [-1.0, 0.0, 2.0], [-30.0, -5.0]])
def test_value_and_derivatives_at_once_are_the_same(z):
    rule, mean = LogExpectedImprovement(0.3), np.array(z)
    variance = np.linspace(0.5, 2.0, len(z))
    value, slopes = rule.with_derivatives(mean, variance)
    np.testing.assert_array_equal(value, rule(mean, variance))
    np.testing.assert_array_equal(slopes, rule.derivatives(mean, variance))
