"""Boxes of finite intervals, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.ground.boxes import intervals


def test_intervals_are_an_array_of_their_own():
    given = np.asarray([[0.0, 1.0], [-2.0, 3.0]])
    ends = intervals(given, "box", 2)
    given[0, 0] = 9.0
    np.testing.assert_array_equal(ends, [[0.0, 1.0], [-2.0, 3.0]])
    assert intervals([(1, 2)], "box").dtype == np.float64
    assert intervals([(-1e300, 1e300), (0.0, 5e-322)], "box").shape == (2, 2)


@pytest.mark.parametrize(
    "pairs",
    [
        [(0.0, 1.0), (1.0, 1.0)],
        [(2.0, 1.0), (0.0, 1.0)],
        [(0.0, np.inf)],
        [(-np.inf, 0.0)],
        [(-np.inf, np.inf)],
        [(np.inf, np.inf)],
        [(np.nan, 1.0)],
        [(-1.7e308, 1.7e308)],  # whose width overflows
        [(1.0, 1.0 + 1e-15)],  # five floats: a search would ask for each again and again
        [(1e20, 1e20 + 1e5)],
        [(0.0, 1.0, 2.0)],
        (0.0, 1.0),
        [],
        np.zeros((0, 2)),
        [(0.0, 1.0), (1.0,)],
        [("a", "b")],
        [(0.0, 10**400)],
        None,
    ],
    ids=str,
)
def test_what_are_no_intervals_is_refused(pairs):
    said = r"^box must be d pairs \(lower, upper\) with lower < upper, finite, 100 floats apart; "
    with pytest.raises(ValueError, match=said):
        intervals(pairs, "box")


def test_narrow_ones_with_enough_floats_are_taken():
    for ends in [(0.0, 1e-300), (1.0, 1.0 + 1e-13), (1.7e9, 1.7e9 + 1e-3)]:
        assert intervals([ends], "box").tolist() == [list(ends)]


def test_so_many_are_asked_for():
    with pytest.raises(ValueError, match=r"^box must be 2 pairs .*; got \[\(0\.0, 1\.0\)\]"):
        intervals([(0.0, 1.0)], "box", 2)
