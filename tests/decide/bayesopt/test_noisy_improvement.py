"""Noisy expected improvement: against joint draws, without noise, its slopes, and its searches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Linear, Matern52, condition, stream, to_numpy
from gpnotes.decide.bayesopt import (
    LogExpectedImprovement,
    NoisyExpectedImprovement,
    Optimiser,
    fantasise,
)
from gpnotes.decide.bayesopt.noisy_improvement import noisy_gain
from gpnotes.decide.bayesopt.pending_points import Aims, choose_batch
from gpnotes.model.means import BasisMean, Powers
from gpnotes.testing import gradcheck

PLANE = [(-1.0, 2.0), (0.0, 3.0)]
KERNEL = Matern52(1.0, np.array([0.4, 0.7]))


def quick(X, y, *, rng):
    """Condition a fixed model, for tests of the loop alone."""
    return condition(GP(Matern52(1.0, 0.4), 0.05), X, y)


def bowl(x):
    return float(np.sum((x - 0.4) ** 2))


def readings(seed, n=12, noise_var=0.1):
    """Places, the first of them twice, and their posterior."""
    draws = np.random.default_rng(seed)
    X = draws.random((n, 2))
    X[1] = X[0]
    y = np.sin(5.0 * X[:, 0]) * np.cos(4.0 * X[:, 1]) + noise_var**0.5 * draws.standard_normal(n)
    return X, condition(GP(KERNEL, noise_var, ConstantMean(0.1)), X, y)


def by_joint_draws(posterior, good, Xs, count=40_000):
    """Mean of the improvement of each place over the best of the good ones, and its error."""
    f = posterior.sample(np.concatenate([good, Xs]), count, rng=stream(9))
    gains = np.clip(f[:, len(good) :] - f[:, : len(good)].max(axis=1, keepdims=True), 0.0, None)
    return gains.mean(axis=0), gains.std(axis=0) / math.sqrt(count)


def likely_places(posterior, seed):
    """Places that improve often enough for draws to tell how much."""
    Xs = np.random.default_rng(seed).random((400, 2))
    mean, variance = posterior.predict(Xs)
    return Xs[np.argsort(mean + 2.0 * variance**0.5)[-5:]]


# -- the value --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("which", ["all", "some", "one under way", "one believed"])
def test_it_is_the_mean_improvement_of_joint_draws(seed, which):
    """Six standard errors of the joint draws, and two hundredths for 20 000 draws of its own.

    The best may count among some places alone; a place under way counts without a reading; and a
    posterior may know a reading besides those of the places.
    """
    X, posterior = readings(seed)
    places = good = np.unique(X, axis=0)
    if which == "some":
        good = places[:3]
    elif which == "one under way":
        places = good = np.concatenate([places, likely_places(posterior, 7)[:1]])
    elif which == "one believed":
        posterior = fantasise(posterior, likely_places(posterior, 7)[:1])
    Xs = likely_places(posterior, seed + 50)
    surface = noisy_gain(posterior, places, good, 20_000, stream(seed))
    truth, error = by_joint_draws(posterior, good, Xs)
    np.testing.assert_array_less(
        np.abs(np.exp(surface.values(Xs)) - truth), 6.0 * error + 0.02 * truth
    )


def test_without_noise_it_is_expected_improvement():
    """Up to the deviation of 1e-4 with which a draw knows f."""
    X, _ = readings(4)
    X = np.unique(X, axis=0)
    y = np.sin(5.0 * X[:, 0])
    posterior = condition(GP(KERNEL, 1e-10), X, y)
    Xs = likely_places(posterior, 5)
    surface = noisy_gain(posterior, X, X, 32, stream(1))
    exact = LogExpectedImprovement(float(y.max()))(*posterior.predict(Xs))
    np.testing.assert_allclose(surface.values(Xs), exact, rtol=0.0, atol=2e-3)


@pytest.mark.parametrize("kernel", [Matern52(1.0, 0.4), RBF(1.0, 0.3) + Linear(0.5)], ids=str)
def test_slopes_are_those_of_differences(space, kernel):
    """At places apart from those that were read, where the slope of a deviation jumps.

    In float32, which is too coarse for differences, they are those of float64.
    """
    X = np.array([[0.1, 0.2], [0.9, 0.1], [0.5, 0.5], [0.2, 0.9], [0.8, 0.8]])
    gp = GP(kernel, 0.1, ConstantMean(0.2))

    def surface_of(array):
        posterior = condition(gp, array(X), array(np.sin(5.0 * X[:, 0])))
        return noisy_gain(posterior, X, X, 8, stream(1))

    places = np.array([[0.3, 0.35], [0.5, 0.85], [0.85, 0.45], [0.45, 0.1]])
    surface, at = surface_of(space.asarray), space.asarray(places)
    values, slopes = surface.values_and_gradient(at)
    assert space.holds(values)
    assert space.holds(slopes)
    rtol = 1e-12 if space.double else 1e-5
    np.testing.assert_allclose(to_numpy(values), to_numpy(surface.values(at)), rtol=rtol)
    if space.double:
        gradcheck(surface.values, lambda _, bar: (bar[:, None] * slopes,), at)
    else:
        _, exact = surface_of(np.asarray).values_and_gradient(places)
        np.testing.assert_allclose(to_numpy(slopes), exact, rtol=1e-3, atol=1e-2)


def test_all_array_spaces_agree(space, rng):
    """In float32 a draw knows f where it was read less exactly."""
    X, Xs = rng.random((9, 2)), rng.random((20, 2))
    y = np.sin(5.0 * X[:, 0])
    gp = GP(Matern52(1.0, 0.4), 0.1)

    def improvements(array):
        posterior = condition(gp, array(X), array(y))
        return noisy_gain(posterior, X, X, 32, stream(1)).values(array(Xs))

    found = improvements(space.asarray)
    assert space.holds(found)
    atol = 1e-9 if space.double else 2e-4
    expected = np.exp(improvements(np.asarray))
    np.testing.assert_allclose(np.exp(to_numpy(found)), expected, rtol=0.0, atol=atol)


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-9, 1e-6])
def test_places_that_nearly_coincide_leave_it_finite(apart):
    X, _ = readings(6)
    X = np.concatenate([X, X + apart])
    posterior = condition(GP(KERNEL, 0.1), X, np.cos(3.0 * X[:, 0]))
    surface = noisy_gain(posterior, X, X, 32, stream(1))
    values, slopes = surface.values_and_gradient(np.concatenate([X, X + 0.01]))
    assert np.all(np.isfinite(slopes))
    assert np.all(values < 0.0)


def test_more_draws_come_nearer_to_each_other():
    """Of ten surfaces of 16 draws and ten of 1024 the latter differ less, by about the root."""
    X, posterior = readings(8)
    Xs = likely_places(posterior, 3)

    def spread(count):
        surfaces = [noisy_gain(posterior, X, X, count, stream(i)) for i in range(10)]
        return np.std([one.values(Xs) for one in surfaces], axis=0).mean()

    assert 3.0 < spread(16) / spread(1024) < 20.0


# -- in a search ------------------------------------------------------------------------------


def told(acquisition, count=7, **options):
    made = Optimiser(PLANE, model=quick, num_initial=5, acquisition=acquisition, rng=3, **options)
    while made.count < count:
        x = made.ask()
        measured = [[float(x[0])]] if options.get("num_constraints") else []
        made.tell(x, bowl(x), None, *measured)
    return made


def test_a_batch_begins_with_what_is_asked_for_alone():
    made = told(NoisyExpectedImprovement())
    batch = made.ask_batch(4)
    np.testing.assert_array_equal(made.ask(), batch[0])
    np.testing.assert_array_equal(told(NoisyExpectedImprovement()).ask_batch(2), batch[:2])
    beside = made.ask_batch(1, pending=batch[:1])
    np.testing.assert_allclose(beside, batch[1:2], rtol=0.0, atol=1e-6)
    gaps = np.abs(batch[:, None, :] - batch[None, :, :]).max(axis=2) + np.eye(4)
    assert gaps.min() > 1e-3


def test_pairs_are_worth_more_than_the_first_place_twice():
    """By joint draws, on eight random posteriors, by at least a fifth in the mean."""
    gains = []
    for seed in range(60, 68):
        X, posterior = readings(seed)
        rule = NoisyExpectedImprovement(128)
        pair = np.stack(choose_batch(posterior, rule, X, [], 2, stream(seed), Aims()))
        f = posterior.sample(np.concatenate([np.unique(X, axis=0), pair]), 20_000, rng=stream(1))
        over = np.clip(f[:, -2:] - f[:, :-2].max(axis=1, keepdims=True), 0.0, None)
        gains.append(over.max(axis=1).mean() / over[:, 0].mean())
    assert np.mean(gains) > 1.2


def test_the_next_place_depends_on_the_evaluations_alone(tmp_path):
    whole = told(NoisyExpectedImprovement(), 10, path=tmp_path / "history.jsonl")
    again = told(NoisyExpectedImprovement(), 10)
    np.testing.assert_array_equal(again.ask(), whole.ask())
    resumed = told(NoisyExpectedImprovement(), 10, path=tmp_path / "history.jsonl")
    np.testing.assert_array_equal(resumed.ask(), whole.ask())


def test_constraints_weigh_it_and_without_a_feasible_place_it_waits():
    """Nothing met the constraint yet: the place is that of improvement, by the odds alone."""
    made = told(NoisyExpectedImprovement(), num_constraints=1)
    feasible = [e for e in made.evaluations if e.is_feasible]
    assert feasible
    assert made.feasibility(np.stack([made.ask()]))[0] > 0.2
    options = {"model": quick, "num_constraints": 1, "num_initial": 4, "rng": 3}
    rules = NoisyExpectedImprovement(), LogExpectedImprovement
    places = [Optimiser(PLANE, acquisition=rule, **options) for rule in rules]
    for one in places:
        for x in one.ask_batch(4):
            one.tell(x, bowl(x), None, [1.0 + float(x[0]) ** 2])
    noisy, plain = (one.ask_batch(3) for one in places)
    np.testing.assert_array_equal(noisy, plain)


def test_only_places_that_count_have_to_be_improved_on():
    """With the lowest one alone to improve on, the place of the highest mean is worth most."""
    X, posterior = readings(11)
    mean = posterior.mean(X)
    aims = Aims(good=X[[int(np.argmin(mean))]])
    rule = NoisyExpectedImprovement()
    (easy,) = choose_batch(posterior, rule, X, [], 1, stream(1), aims)
    (hard,) = choose_batch(posterior, rule, X, [], 1, stream(1), Aims())
    assert posterior.variance(easy[None, :])[0] < 0.8 * posterior.variance(hard[None, :])[0]
    assert posterior.mean(easy[None, :])[0] > mean.max()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="num_samples"):
        NoisyExpectedImprovement(0)
    with pytest.raises(TypeError, match="num_samples"):
        NoisyExpectedImprovement(1.5)
    with pytest.raises(TypeError, match=r"NoisyExpectedImprovement\(\); got the class"):
        Optimiser(PLANE, acquisition=NoisyExpectedImprovement, rng=1)
    with pytest.raises(ValueError, match="NoisyExpectedImprovement with gradients=True"):
        Optimiser(PLANE, acquisition=NoisyExpectedImprovement(), gradients=True, rng=1)
    X, _ = readings(1)
    trend = condition(GP(KERNEL, 0.1, BasisMean(Powers(1))), X, X[:, 0])
    with pytest.raises(TypeError, match=r"gp\.mean must be known"):
        noisy_gain(trend, X, X, 32, stream(1))
