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
)
from gpnotes.decide.bayesopt.training_data import (
    TrainingData,
    compress_tail,
    rank_tail,
    standardised,
    unwarped,
)


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


def test_eased_values_keep_their_order_and_what_is_above_the_median():
    y = np.asarray([-1e6, -40.0, 0.0, 1.0, 3.0])
    found = compress_tail(y)
    assert np.all(np.diff(found) > 0.0)
    good = found[2:]  # from the median 0, u = 3 above it
    assert (good[1] - good[0]) / (good[2] - good[0]) == pytest.approx(1.0 / 3.0, rel=1e-12)
    by_hand = [-3.0 * math.log(1.0 + 1e6 / 3.0), -3.0 * math.log(1.0 + 40.0 / 3.0), 0.0, 1.0, 3.0]
    np.testing.assert_allclose(found, (by_hand - np.mean(by_hand)) / np.std(by_hand), rtol=1e-12)
    np.testing.assert_allclose(compress_tail(5.0 * y + 7.0), found, rtol=1e-9)


def test_values_are_eased_without_a_kink_at_the_median():
    """Slopes on both sides of it, of values a ten-thousandth of u apart; the largest is u = 2."""
    step = 2e-4
    found = compress_tail(np.asarray([-3.0, -1.0, -step, 0.0, step, 1.0, 2.0]))
    below, above = found[3] - found[2], found[4] - found[3]
    assert below / above == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_ties_stay_ties_and_the_order_stays_where_the_better_half_is_small_or_large(unit):
    y = np.asarray([-50.0, -50.0, -7.0, -1.0, 0.0, 0.0, 0.3 * unit, unit, unit])
    found = compress_tail(y)
    assert np.isfinite(found).all()
    assert np.array_equal(np.diff(found) > 0.0, np.diff(y) > 0.0)
    assert np.array_equal(np.diff(found) == 0.0, np.diff(y) == 0.0)
    assert (np.mean(found), np.std(found)) == pytest.approx((0.0, 1.0), abs=1e-9)


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


@pytest.mark.parametrize("y", [[0.0] * 4, [-3.0, 1.0, 1.0, 1.0]])
def test_values_of_which_none_is_better_than_the_median_stay(y):
    np.testing.assert_array_equal(compress_tail(np.asarray(y)), y)


def test_predictions_are_of_values_that_nothing_eases():
    """The worst of readings that differ by a factor of hundreds, where it was."""
    optimiser = Optimiser([(0.0, 1.0)] * 2, rng=1)
    for u in stream(3).uniform((12, 2)):
        optimiser.tell(u, float(np.exp(9.0 * u[0])))
    worst = max(optimiser.evaluations, key=lambda one: one.y)
    mean, variance = optimiser.predict(worst.x[None, :])
    assert abs(float(mean[0]) - worst.y) < max(4.0 * float(variance[0]) ** 0.5, 0.05 * worst.y)
    assert worst.y > 30.0 * np.median([one.y for one in optimiser.evaluations])


def test_ranks_of_the_bad_half_know_no_distance_and_the_good_half_stays():
    y = np.asarray([3.0, 2.0, 2.5, 1.0, 0.0, -1.0, -2.0])
    found = rank_tail(y)
    far = rank_tail(np.where(y < 1.0, 1e6 * y - 1e6, y))
    np.testing.assert_allclose(far, found, rtol=1e-12)
    assert np.array_equal(np.argsort(found), np.argsort(y))
    good = found[:4]
    np.testing.assert_allclose(np.diff(good) / np.diff(y[:4]), np.full(3, (good[0] - good[1])))
    np.testing.assert_allclose([found.mean(), found.std()], [0.0, 1.0], atol=1e-12)


def test_the_bad_half_is_that_of_a_normal_distribution_as_wide_as_the_good_one():
    y = np.asarray([5.0, 3.0, 1.0, -4.0, -1e9])  # median 1; s² = (16 + 4 + 0) / 3
    width = math.sqrt(20.0 / 3.0)
    wanted = [5.0, 3.0, 1.0, 1.0 - 0.5244005127 * width, 1.0 - 1.2815515655 * width]
    np.testing.assert_allclose(rank_tail(y), standardised(np.asarray(wanted))[0], rtol=1e-9)


def test_equal_values_have_equal_ranks_and_a_level_best_half_is_left_alone():
    found = rank_tail(np.asarray([2.0, 1.0, 0.0, -1.0, -1.0, 3.0]))
    assert found[3] == found[4]
    level = np.asarray([1.0, 1.0, 1.0, -5.0])
    np.testing.assert_array_equal(rank_tail(level), level)


@pytest.mark.parametrize("warp", [compress_tail, rank_tail])
def test_a_warp_is_undone_for_the_better_half(warp):
    y = np.asarray([3.0, 2.0, 2.5, 1.0, 0.0, -1e4, -2.0])
    values, centre, unit = standardised(y)
    warped = warp(values)
    back = unwarped(TrainingData(np.zeros((7, 1)), values, centre, unit), warped)
    np.testing.assert_allclose(back.centre + back.unit * warped[:4], y[:4], rtol=1e-9)


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
