"""Labels left out against those that are, and a fit that they contradict."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, FitWarning, LaplaceGP, SoftmaxGP, condition, fit, stream
from gpnotes.infer.laplace.left_out import compared
from gpnotes.model.likelihoods import Bernoulli, Binomial, Poisson


def two(kind, seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if kind == "separable":
        return X, np.sign(X[:, 0])
    y = np.where(np.arange(n) < (6 if kind == "rare" else n // 2), 1.0, -1.0)
    return X + (3.0 if kind == "rare" else 0.7) * (y[:, None] > 0.0), y


def binary():
    return LaplaceGP(GP(RBF(1.0, np.ones(2)), 0.0, ConstantMean(0.0)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["separable", "rare"])
def test_probabilities_too_near_to_even_are_told_with_a_remedy(kind, seed):
    with pytest.warns(
        FitWarning, match="too near to even: .* its share .*: take an EPGP, "
    ) as said:
        found = fit(binary(), *two(kind, seed, 80), max_steps=15)
    assert said[0].filename == __file__
    assert "Probabilities are too near to even" in " ".join(str(found.report()).split())


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_overlap_are_no_matter_for_a_warning(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        fit(binary(), *two("balanced", seed))
        counts = np.arange(12.0) % 3
        fit(LaplaceGP(GP(RBF(), 0.0), Poisson()), np.arange(12.0)[:, None], counts, max_steps=3)


@pytest.mark.parametrize("link", ["probit", "logit"])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_a_label_left_out_is_told_as_by_the_others_alone(link, shift):
    """Nearly: Laplace's site of a label is taken away, and the others stay where they are."""
    X, y = two("balanced", 5, 30)
    offset = shift * X[:, 0]
    model = LaplaceGP(GP(RBF(4.0, 0.6), 0.0, ConstantMean(0.2)), Bernoulli(link))
    found = condition(model, X, y, offset=offset)._left_out(Bernoulli(link))
    chance = []
    for i in range(30):
        others = np.arange(30) != i
        without = condition(model, X[others], y[others], offset=offset[others])
        mean, variance = without.predict(X[i : i + 1])
        one = Bernoulli(link).probability(mean + offset[i], variance)[0]
        chance.append([1.0 - one, one])
    told = np.stack([y < 0.0, y > 0.0], axis=1).astype(float)
    wanted = compared(np.asarray(chance), told)
    assert found.guess == pytest.approx(wanted.guess, abs=0.02)
    apart = [abs(one.mean - one.share) for one in (found, wanted)]  # of either class
    assert apart[0] == pytest.approx(apart[1], abs=0.02)
    assert found.right == pytest.approx(wanted.right, abs=0.07)  # two of thirty near to even


@pytest.mark.parametrize("y", [np.full(40, 10.0), np.where(np.arange(40) < 20, 0.0, 10.0)])
def test_so_are_shares_of_successes(y):
    """Of 40 times ten of ten it predicted seven of ten, without a word."""
    X = np.linspace(0.0, 6.0, 40)[:, None]
    model = LaplaceGP(GP(RBF(), 0.0, ConstantMean(0.0)), Binomial(10))
    with pytest.warns(FitWarning, match="near to even: .* that of failures .*: take an SVGP"):
        found = fit(model, X, y)
    assert np.abs(found.posterior.predict(X, noise=True)[0] - y).max() > 2.0


def test_shares_that_are_predicted_well_are_no_matter_for_a_warning():
    X = np.linspace(0.0, 6.0, 40)[:, None]
    model = LaplaceGP(GP(RBF(), 0.0, ConstantMean(0.0)), Binomial(10))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        for seed in range(3):
            chance = 1.0 / (1.0 + np.exp(2.0 - np.sin(X[:, 0])))
            fit(model, X, np.random.default_rng(seed).binomial(10, chance).astype(float))


def three(apart, n=60):
    y = np.arange(float(n)) % 3
    return np.random.default_rng(1).normal(size=(n, 2)) + apart * np.eye(3)[y.astype(int)][:, :2], y


def test_several_classes_that_separate_are_told_with_a_remedy():
    with pytest.warns(
        FitWarning,
        match="near to even: .* class ., counted from 0, .* share 0.333: take an SVGP with a Cat",
    ) as said:
        found = fit(SoftmaxGP(GP(RBF(1.0, 1.0), 0.0), 3), *three(6.0), max_steps=15)
    assert said[0].filename == __file__
    assert "Probabilities are too near to even" in " ".join(str(found.report()).split())


def test_several_classes_that_overlap_are_no_matter_for_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        fit(SoftmaxGP(GP(RBF(1.0, 1.0), 0.0), 3), *three(1.0), max_steps=15)


def test_one_of_several_classes_left_out_is_told_as_by_the_others_alone():
    """Nearly, as of two: Laplace's site is taken away, and the others stay where they are."""
    X, y = three(1.5, 21)
    model = SoftmaxGP(GP(RBF(4.0, 1.2), 0.0), 3)
    found = condition(model, X, y)._left_out()
    chance = []
    for i in range(21):
        others = np.arange(21) != i
        without = condition(model, X[others], y[others])
        chance.append(without.probability(X[i : i + 1], 1000, rng=stream(0))[0])
    wanted = compared(np.asarray(chance), np.eye(3)[y.astype(int)])
    assert found.guess == pytest.approx(wanted.guess, abs=0.02)
    assert found.right == pytest.approx(wanted.right, abs=0.1)  # two of twenty near to even
    inside = compared(
        condition(model, X, y).probability(X, rng=stream(0)), np.eye(3)[y.astype(int)]
    )
    assert found.guess < inside.guess - 0.05  # which has seen the label that it guesses


def test_guesses_that_are_right_as_often_as_they_say_are_no_deviation():
    told = np.repeat(np.eye(2), [80, 20], axis=0)
    even = compared(np.tile([0.8, 0.2], (100, 1)), told)
    assert even == pytest.approx((0.8, 0.8, 0.0, 0, 0.8, 0.8), abs=1e-12)
    timid = compared(np.tile([0.6, 0.4], (100, 1)), told)
    assert timid.deviations == pytest.approx(20.0 / 24.0**0.5)
    assert "0.800 of labels, each left out, are as guessed" in timid.doubt(("a", "b"), "x")
    assert even.doubt(("a", "b"), "x") == ""
