"""What models are told: values of which those that stand for failures set no scale."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpnotes.decide.bayesopt import minimise, minimise_several
from gpnotes.decide.bayesopt.training_data import are_penalties

PENALTIES = [1e12, 1e15, 1e20, 1e100, 1e200, 1e300, 1e308, sys.float_info.max]
HALF = 0.5


def bowl(x):
    return (x[0] - 0.31) ** 2 + 0.3 * float(np.sum((x[1:] - 0.8) ** 2))


@pytest.fixture(scope="module")
def reference():
    """What a search finds where the penalty is moderate."""
    return searched(1e3)


def searched(penalty):
    return minimise(lambda x: bowl(x) if x[0] < HALF else penalty, [(0, 1)] * 2, 14, rng=1)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_penalty_on_half_of_the_box_sets_no_scale(penalty, reference):
    found = searched(penalty)
    assert found.best.y <= max(2.0 * reference.best.y, 1e-4)
    assert bowl(found.recommended.x) - found.best.y < 1e-4
    assert abs(found.recommended.mean - found.best.y) < 1e-3
    assert found.recommended.sd < 1e-2


def test_which_penalty_it_is_does_not_matter():
    """Nor whether it is one and the same."""
    mixed = iter([1e200, 1e300, sys.float_info.max, 1e30] * 9)
    found = [searched(penalty) for penalty in (1e30, 1e300)]
    found += [minimise(lambda x: bowl(x) if x[0] < HALF else next(mixed), [(0, 1)] * 2, 14, rng=1)]
    for other in found[1:]:
        np.testing.assert_array_equal(
            [one.x for one in other.evaluations], [one.x for one in found[0].evaluations]
        )


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
    assert not np.any(found[: len(good)]) or not bad  # a gap may lie among good ones alone
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
