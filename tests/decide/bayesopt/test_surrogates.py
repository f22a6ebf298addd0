"""The model for many inputs: lengths that grow as the cube's diagonal, and what that is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import RBF, LogNormalPrior, Matern52, stream
from gpnotes.decide.bayesopt import (
    Categorical,
    Optimiser,
    Real,
    Space,
    dim_scaled_model,
    fitted_model,
    fitted_with_gradients,
)
from gpnotes.decide.bayesopt.training_data import compress_tail, rank_tail


@pytest.mark.parametrize("d", [3, 30])
def test_where_readings_say_nothing_lengths_are_where_the_prior_is_densest(d):
    """All equal readings, at the corners of the cube; the mode is e^(√2 − 3) √d."""
    X = np.vstack([np.zeros(d), np.ones(d)])
    kernel = dim_scaled_model(X, np.zeros(2), rng=stream(1)).gp.kernel
    prior = LogNormalPrior(math.sqrt(2.0) + 0.5 * math.log(d), math.sqrt(3.0))
    mode = math.exp(math.sqrt(2.0) - 3.0) * math.sqrt(d)
    densities = [prior.log_density(mode * factor) for factor in (0.9, 1.0, 1.1)]
    assert max(densities) == densities[1]
    lengths = np.asarray(kernel.lengthscale)
    assert np.all(lengths > 0.8 * mode)
    assert np.ptp(lengths) < 0.01 * mode


def test_of_many_inputs_it_predicts_what_the_model_without_a_prior_cannot():
    """A wave along the diagonal of 20 inputs, 30 readings, 6 draws: errors of 60 others."""
    wins = 0
    for seed in range(6):
        X = np.asarray(stream(seed).uniform((90, 20)))
        f = np.sin(X @ np.linspace(-1.0, 1.0, 20) * 1.5)
        y = (f - np.mean(f[:30])) / np.std(f[:30])
        models = (
            model(X[:30], y[:30], rng=stream(1)) for model in (dim_scaled_model, fitted_model)
        )
        ours, usual = (float(np.mean((m.mean(X[30:]) - y[30:]) ** 2)) for m in models)
        wins += ours < usual
    assert wins >= 5


def of_eased(X, y, *, rng):
    return dim_scaled_model(X, compress_tail(y), rng=rng)


@pytest.mark.parametrize(("d", "model"), [(9, of_eased), (10, dim_scaled_model)])
def test_what_a_search_chooses_by_unless_it_is_given_a_model(d, model):
    """And no search has more than ten points without a model, unless it is asked for."""
    box, found = [(0.0, 1.0)] * d, []
    for options in ({}, {"model": model, "num_initial": 10}):
        optimiser = Optimiser(box, rng=stream(2), **options)
        for u in stream(3).uniform((10, d)):
            optimiser.tell(u, float(np.sum((u - 0.3) ** 2)))
        found.append(optimiser.ask())
    np.testing.assert_array_equal(*found)
    sequence = Optimiser(box, num_initial=11, rng=stream(2)).ask_batch(11)
    assert not np.array_equal(found[0], sequence[10])


def test_the_kernel_is_rough_below_ten_inputs_and_smooth_from_there_on():
    kinds = [
        type(dim_scaled_model(np.eye(d), np.zeros(d), rng=stream(1)).gp.kernel) for d in (9, 10)
    ]
    assert kinds == [Matern52, RBF]


def test_a_search_for_the_largest_value_asks_where_that_for_the_least_of_minus_it_does():
    """With a failure among what was told, for which the worst value stands."""
    asked = []
    for sign, goal in ((1.0, "minimise"), (-1.0, "maximise")):
        optimiser = Optimiser([(0.0, 1.0)] * 2, goal=goal, rng=1)
        for u in stream(3).uniform((8, 2)):
            optimiser.tell(u, sign * float(np.exp(9.0 * u[0]) + u[1]))
        optimiser.tell(np.asarray([0.5, 0.5]), math.inf)
        asked.append(optimiser.ask())
    np.testing.assert_array_equal(*asked)


@pytest.mark.parametrize("values", [[2.0] * 6, [math.nan] * 5 + [1.0], [1e300, *[-1e300] * 5],
                                    [1e-300, *[0.0] * 5]])  # fmt: skip
def test_a_search_goes_on_whatever_values_it_was_told(values):
    """All the same, all but one failed, the largest and the smallest there are."""
    optimiser = Optimiser([(0.0, 1.0)] * 2, rng=1)
    for u, y in zip(stream(3).uniform((6, 2)), values, strict=True):
        optimiser.tell(u, y)
    x = optimiser.ask()
    assert np.isfinite(x).all()
    assert not any(np.array_equal(x, e.x) for e in optimiser.evaluations)
    mean, variance = optimiser.predict(x[None, :])
    assert np.isfinite(mean).all()
    assert np.all(np.isfinite(variance) | (np.ptp(values) > 1e150))
    assert np.isfinite(optimiser.recommend().sd)


def test_predictions_are_of_values_that_nothing_eases():
    """The worst of readings that differ by a factor of hundreds, where it was."""
    optimiser = Optimiser([(0.0, 1.0)] * 2, rng=1)
    for u in stream(3).uniform((12, 2)):
        optimiser.tell(u, float(np.exp(9.0 * u[0])))
    worst = max(optimiser.evaluations, key=lambda one: one.y)
    mean, variance = optimiser.predict(worst.x[None, :])
    assert abs(float(mean[0]) - worst.y) < max(4.0 * float(variance[0]) ** 0.5, 0.05 * worst.y)
    assert worst.y > 30.0 * np.median([one.y for one in optimiser.evaluations])


def of_ranks(X, y, *, rng):
    return dim_scaled_model(X, rank_tail(y), rng=rng)


def test_a_space_with_categories_is_searched_by_ranks():
    space = Space({"a": Real(0.0, 1.0), "kind": Categorical(["x", "y"])})
    asked = []
    for options in ({}, {"model": of_ranks}):
        optimiser = Optimiser(space, num_initial=6, rng=stream(2), **options)
        for u in stream(3).uniform((8, 2)):
            place = space.from_units(u[None, :])[0]
            optimiser.tell(place, 1e4 * (place["kind"] == "y") + (place["a"] - 0.3) ** 2)
        asked.append(optimiser.ask())
    assert asked[0] == asked[1]


def test_what_is_recommended_is_not_blurred_by_values_far_off():
    """A valley of depth one in a plain of ten thousands, read without noise."""
    optimiser = Optimiser([(0.0, 1.0)], rng=stream(1))
    for u in np.linspace(0.0, 1.0, 9):
        optimiser.tell(np.asarray([u]), (u - 0.4) ** 2 if u < 0.7 else 1e4 * (1.0 + u))
    found = optimiser.recommend()
    blurred = math.sqrt(optimiser.predict(found.x[None, :])[1][0])
    assert found.sd < 0.3
    assert found.sd < 0.01 * blurred
    assert abs(found.mean - (found.x[0] - 0.4) ** 2) < 0.1


def test_the_default_model_is_as_good_as_its_gradients():
    """Six points of a plane: a model with gradients predicts between them, one without does not."""
    x = np.asarray([[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [0.5, 0.3], [0.4, 0.7]])
    wave = lambda x: np.sin(5.0 * x[:, 0]) * np.cos(4.0 * x[:, 1])  # noqa: E731
    slopes = np.stack([
        5.0 * np.cos(5.0 * x[:, 0]) * np.cos(4.0 * x[:, 1]),
        -4.0 * np.sin(5.0 * x[:, 0]) * np.sin(4.0 * x[:, 1]),
    ], axis=1)  # fmt: skip
    rows = np.concatenate([
        np.column_stack([x, np.zeros(6)]),
        np.column_stack([x, np.ones(6)]),
        np.column_stack([x, np.full(6, 2.0)]),
    ])  # fmt: skip
    told = np.concatenate([wave(x), slopes[:, 0], slopes[:, 1]])
    new = stream(3).normal((100, 2)) * 0.15 + 0.5
    labelled = np.column_stack([new, np.zeros(100)])
    errors = [
        np.sqrt(np.mean((fitted_with_gradients(rows[:n], told[:n], rng=stream(1)).mean(labelled)
                         - wave(new)) ** 2))
        for n in (6, 18)
    ]  # fmt: skip
    assert errors[1] < 0.1 < errors[0]
