"""Enumeration, space-filling and random designs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, to_numpy
from gpnotes.decide.design import (
    exhaustive_design,
    farthest_points,
    greedy_design,
    information_gain,
)

SETS = ["information", "integrated variance", "mutual information"]


@pytest.mark.parametrize("criterion", SETS)
@pytest.mark.parametrize("noisy", ["one noise", "a noise each"])
def test_exhaustive_search_is_the_best_of_all_subsets(
    space, inputs, noises, dense, criterion, noisy, monkeypatch
):
    from gpnotes.decide.design import baselines

    monkeypatch.setattr(baselines, "_BATCH", 50)  # several batches
    gp, X = GP(RBF(1.3, 0.9), 0.2), space.asarray(inputs)
    given, host = (None, 0.2) if noisy == "one noise" else (space.asarray(noises), noises)
    design = exhaustive_design(gp, X, 3, criterion, noise_var=given)
    assert space.holds(design.gains)
    assert design.evaluations == 220
    sets = dense(gp, X, host)
    values = {S: sets.value(criterion, S) for S in combinations(range(12), 3)}
    best = max(values, key=values.get)
    tolerance = {"rel": 1e-9} if space.double else {"rel": 1e-3}
    picked = tuple(to_numpy(design.indices).tolist())
    assert values[picked] == pytest.approx(values[best], **tolerance)
    assert design.value == pytest.approx(values[best], **tolerance)
    if space.double:
        assert picked == best


@pytest.mark.parametrize("criterion", SETS)
def test_greedy_is_at_most_the_best_and_seldom_far(rng, criterion):
    shares = []
    for _ in range(10):
        X, gp = rng.uniform(0.0, 3.0, size=(9, 1)), GP(RBF(1.0, 0.6), 0.2)
        best, reached = (
            exhaustive_design(gp, X, 3, criterion).value,
            greedy_design(gp, X, 3, criterion).value,
        )
        assert reached <= best * (1.0 + 1e-9)
        shares.append(reached / best)
    assert min(shares) > 1.0 - 1.0 / np.e


@pytest.mark.parametrize("criterion", SETS)
def test_exhaustive_search_given_data(inputs, criterion):
    """The best subset by the posterior, whose covariance is that after the data."""
    gp = GP(RBF(1.3, 0.9), 0.2)
    posterior = condition(gp, inputs[:5], inputs[:5, 0])
    design = exhaustive_design(posterior, inputs[5:], 2, criterion)
    assert design.value >= greedy_design(posterior, inputs[5:], 2, criterion).value * (1.0 - 1e-9)
    if criterion == "information":
        rows = [0, 1, 2, 3, 4, *(5 + design.indices).tolist()]
        wanted = information_gain(gp, inputs[rows]) - information_gain(gp, inputs[:5])
        assert design.value == pytest.approx(wanted, rel=1e-9)


def test_too_many_subsets_are_refused_with_their_number(inputs):
    message = "there are 495 subsets of 4 out of 12, more than 494"
    with pytest.raises(ValueError, match=message):
        exhaustive_design(GP(RBF(), 0.1), inputs, 4, max_subsets=494)
    assert exhaustive_design(GP(RBF(), 0.1), inputs, 4, max_subsets=495).indices.shape == (4,)
    with pytest.raises(ValueError, match=r"there are 10\d{28} subsets of 50 out of 100"):
        exhaustive_design(GP(RBF(), 0.1), np.arange(100.0)[:, None], 50)


@pytest.mark.parametrize("criterion", SETS)
def test_the_extremes_of_a_budget(inputs, criterion):
    gp = GP(RBF(), 0.1)
    assert exhaustive_design(gp, inputs, 0, criterion).indices.shape == (0,)
    everything = exhaustive_design(gp, inputs, 12, criterion)
    assert everything.indices.tolist() == list(range(12))
    with pytest.raises(ValueError, match="budget must be a whole number from 0 to 12; got 13"):
        exhaustive_design(gp, inputs, 13, criterion)


def test_without_noise_copies_are_no_trouble_for_integrated_variance():
    X = np.asarray([[0.0], [0.0], [1.0], [1.0]])
    design = exhaustive_design(GP(RBF(), 0.0), X, 3, "integrated variance")
    assert design.value == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(ValueError, match="noise_var must be positive for information"):
        exhaustive_design(GP(RBF(), 0.0), X, 3)


def test_the_variance_is_no_function_of_a_set(inputs):
    with pytest.raises(ValueError, match=r"criterion must be one of .*; got 'variance'"):
        exhaustive_design(GP(RBF(), 0.1), inputs, 2, "variance")


# Space-filling and chance


def test_the_farthest_points_takes_the_farthest_point_each_time(space, inputs):
    X = space.asarray(inputs)
    indices = farthest_points(X, 7)
    picks = to_numpy(indices).tolist()
    assert picks[0] == int(np.argmin(((inputs - inputs.mean(axis=0)) ** 2).sum(axis=1)))
    for t in range(1, 7):
        gaps = np.linalg.norm(inputs[:, None] - inputs[None, picks[:t]], axis=2).min(axis=1)
        assert picks[t] == int(np.argmax(gaps))


def test_the_farthest_points_covers_within_twice_the_best(rng):
    X = rng.uniform(size=(11, 2))
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    best = min(gaps[:, list(S)].min(axis=1).max() for S in combinations(range(11), 4))
    radius = gaps[:, farthest_points(X, 4)].min(axis=1).max()
    assert best <= radius <= 2.0 * best


def test_the_farthest_points_counts_what_was_measured_before(inputs):
    longer = farthest_points(inputs, 6)
    np.testing.assert_array_equal(farthest_points(inputs, 4, initial_subset=longer[:2]), longer[2:])


def test_the_farthest_points_takes_copies_last(space):
    X = space.asarray([[0.0], [0.0], [5.0], [5.0], [2.0]])
    assert to_numpy(farthest_points(X, 5)).tolist() == [4, 2, 0, 1, 3]


def test_a_budget_that_does_not_fit(inputs):
    with pytest.raises(ValueError, match="budget must be a whole number from 0 to 12; got 13"):
        farthest_points(inputs, 13)
    with pytest.raises(ValueError, match="budget must be a whole number from 0"):
        farthest_points(inputs, -1)
    with pytest.raises(ValueError, match="X must be finite"):
        farthest_points(inputs * np.nan, 2)
    assert farthest_points(inputs, 0).shape == (0,)


def test_a_start_that_does_not_fit(inputs):
    with pytest.raises(ValueError, match="initial_subset must name each entry once"):
        farthest_points(inputs, 2, initial_subset=[1, 1])
    with pytest.raises(ValueError, match="budget must be a whole number from 0 to 10; got 11"):
        farthest_points(inputs, 11, initial_subset=[0, 1])


def test_at_one_place_of_interest_the_value_is_the_variance_that_two_observations_take(inputs):
    gp, place = GP(RBF(1.3, 0.9), 0.2), np.full((1, inputs.shape[1]), 0.4)
    best = exhaustive_design(gp, inputs, 2, "integrated variance", reference=place)
    posterior = condition(gp, inputs[best.indices], np.zeros(2))
    before, after = gp.kernel.diag(place)[0], posterior.predict(place)[1][0]
    assert best.value == pytest.approx(before - after, rel=1e-9)


def test_given_data_and_places_of_interest_the_best_leaves_least_variance_there(inputs, rng):
    """Of all pairs, one after the other: what each takes from the mean variance at four places."""
    gp, places = GP(RBF(1.3, 0.9), 0.2), rng.normal(size=(4, inputs.shape[1]))
    posterior = condition(gp, inputs[:5], inputs[:5, 0])
    design = exhaustive_design(posterior, inputs[5:], 2, "integrated variance", reference=places)

    def left(*rows):
        at = inputs[[*range(5), *(5 + r for r in rows)]]
        return np.mean(condition(gp, at, at[:, 0]).variance(places))

    values = {S: left() - left(*S) for S in combinations(range(7), 2)}
    first, second = best = max(values, key=values.get)
    assert tuple(design.indices) == best
    gains = [left() - left(first), left(first) - left(first, second)]
    np.testing.assert_allclose(design.gains, gains, rtol=1e-9)


def test_of_several_best_subsets_the_first_is_taken():
    """The candidates are as far apart as can be, and alike."""
    X = 1e3 * np.arange(5.0)[:, None]
    for criterion in ("information", "integrated variance"):
        assert exhaustive_design(GP(RBF(), 0.1), X, 2, criterion).indices.tolist() == [0, 1]
