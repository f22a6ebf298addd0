"""What models are told: values of which those that stand for failures set no scale."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpnotes.decide.bayesopt import Optimiser, minimise, minimise_several
from gpnotes.decide.bayesopt.training_data import (
    TrainingData,
    are_penalties,
    compress_tail,
    rank_tail,
    standardised,
    unwarped,
)

PENALTIES = [1e12, 1e15, 1e20, 1e100, 1e200, 1e300, 1e308, sys.float_info.max]
HALF = 0.5


def bowl(x):
    return (x[0] - 0.31) ** 2 + 0.3 * float(np.sum((x[1:] - 0.8) ** 2))


def searched(penalty):
    return minimise(lambda x: bowl(x) if x[0] < HALF else penalty, [(0, 1)] * 2, 14, rng=1)


@pytest.fixture(scope="module")
def found():
    """A search with the least of the penalties."""
    return searched(min(PENALTIES))


def test_a_penalty_on_half_of_the_box_sets_no_scale(found):
    """It finds as good a place as where the penalty is moderate."""
    reference = searched(1e3)
    assert found.best.y <= max(2.0 * reference.best.y, 1e-4)
    assert bowl(found.recommended.x) - found.best.y < 1e-4
    assert abs(found.recommended.mean - found.best.y) < 1e-3
    assert found.recommended.sd < 1e-2


@pytest.mark.parametrize(
    "penalties", [*([one] for one in PENALTIES), [1e300, 1e30, 1e200]], ids=str
)
def test_which_penalty_it_is_does_not_matter(penalties, found):
    """Nor do several different ones: the search asks for the same places and recommends one."""
    made, penalty = Optimiser([(0, 1)] * 2, rng=1), itertools.cycle(penalties)
    for number, one in enumerate(found.evaluations):
        if number in (8, 13):
            np.testing.assert_array_equal(made.ask(), one.x)
        made.tell(one.x, one.y if one.x[0] < HALF else next(penalty))
    recommended = made.recommend()
    np.testing.assert_array_equal(recommended.x, found.recommended.x)
    assert (recommended.mean, recommended.sd) == (found.recommended.mean, found.recommended.sd)


def test_penalties_spoil_neither_fronts_nor_constraints():
    def both(x):
        return (bowl(x), (x[0] - 0.1) ** 2) if x[0] < HALF else (1e300, 1e300)

    front = minimise_several(both, [(0, 1)], 12, rng=1)
    assert len(front.front) > 5
    assert sum(one.x[0] >= HALF for one in front.evaluations) <= 4

    def limited(x):
        return bowl(x), [0.2 - x[0] if x[0] < HALF else 1e300]

    found = minimise(limited, [(0, 1)], 14, num_constraints=1, rng=1)
    assert found.best.y < 1e-4
    assert found.recommended.feasibility > 0.9


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=9, unique=True),
    st.lists(st.sampled_from(PENALTIES), max_size=9),
)
def test_what_is_a_penalty_is_worse_than_all_that_is_not(good, bad):
    y = np.asarray([*good, *(-value for value in bad)])
    found = are_penalties(y)
    if not np.any(are_penalties(y[: len(good)])):  # a gap may lie among the good ones alone
        assert not np.any(found[: len(good)])
    if np.any(found):
        assert np.max(y[found]) < np.min(y[~found])
        assert np.sum(~found) >= 2
    spread = np.ptp(good)
    if bad and min(bad) >= 1e15 and spread > 1e-3 and len(good) > len(bad):
        assert np.all(found[len(good) :])


def test_values_of_all_sizes_and_a_search_that_has_ended_are_no_penalties():
    for y in (
        -(10.0 ** np.arange(12.0)),
        -np.asarray([0.3979, 0.3979 + 1e-13, 1.0, 300.0]),
        -np.asarray([1e-16, 1e-12, 1e-7, 1e-3, 1.0]),
        -1e200 * np.asarray([1.0, 2.0, 3.0]),
        np.asarray([1.0, 1.0, np.nan, 1.0]),
        np.full(3, np.nan),
    ):
        assert not np.any(are_penalties(y))
    np.testing.assert_array_equal(
        are_penalties(np.asarray([-1.0, -1e300, np.nan, -2.0])), [False, True, False, False]
    )


@pytest.mark.parametrize("many", [5, 12, 40])
def test_what_fewer_than_a_quarter_are_better_than_is_no_penalty(many):
    """An objective may be as bad nearly everywhere: its scale is that of what it mostly is."""
    quarter = max(2, many // 4)
    for good in (quarter - 1, quarter):
        y = np.append(np.linspace(1.0, 0.5, good), np.full(many - good, -1e300))
        wanted = (np.arange(many) >= good) & (good == quarter)
        np.testing.assert_array_equal(are_penalties(y), wanted)


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


@pytest.mark.parametrize("y", [[0.0] * 4, [-3.0, 1.0, 1.0, 1.0]])
def test_values_of_which_none_is_better_than_the_median_stay(y):
    np.testing.assert_array_equal(compress_tail(np.asarray(y)), y)


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
