"""In which order lazy greedy selection renews its bounds: the pool is filled from the top."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gpnotes.decide.design.greedy import _leading, _rank, _renew


@pytest.mark.parametrize(
    ("size", "wanted"),
    [(1, [0]), (2, [0, 3]), (3, [0, 3, 6]), (4, [0, 3, 6, 1]), (5, [0, 3, 6, 1, 5]), (9, None)],
)
def test_the_first_of_equal_bounds_lead(size, wanted):
    """Those above the level that size allows, then as many as fit of those at it, in order."""
    bounds = np.asarray([3.0, 2.0, 9.0, 3.0, 1.0, 2.0, 3.0, 2.0])
    among = np.asarray([True] * 8)
    among[2] = False  # higher, but not asked for
    leading = _leading(bounds, among, size).tolist()
    assert leading == ([0, 1, 3, 4, 5, 6, 7] if wanted is None else wanted)


class Recorded:
    """Gains that never change, and which of them were asked for."""

    def __init__(self, gains):
        self.values = gains
        self.asked = []

    def gains(self, rows):
        self.asked.append(rows.tolist())
        return self.values[rows]


def test_bounds_are_renewed_from_the_top_and_no_further_than_needed(monkeypatch):
    """The pool is filled with the highest, four times as many each time."""
    monkeypatch.setattr(sys.modules["gpnotes.decide.design.greedy"], "_FIRST_BATCH", 1)
    values = np.exp(np.linspace(0.0, -1.0, 40))
    bounds = np.linspace(5.0, 1.0, 40)  # all too high: whoever is renewed falls below the rest
    scored = Recorded(values)
    fresh = np.zeros(40, dtype=bool)
    assert _renew(bounds, fresh, scored) == 40
    assert fresh.all()
    assert scored.asked == [[0], [1, 2, 3, 4], [*range(5, 21)], [*range(21, 40)]]
    right = Recorded(values)
    fresh = np.zeros(40, dtype=bool)
    assert _renew(_rank(values), fresh, right) == 1
    assert right.asked == [[0]]
    assert np.flatnonzero(fresh).tolist() == [0]
