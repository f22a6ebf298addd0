"""An ascent that ends: at the top, at an end, or where a wall leaves it."""

import math
import threading
import types

import numpy as np
import pytest

from gpnotes.ground.ascent import ascend, ascend_all, finite_or_none
from gpnotes.ground.check import NoValueError
from gpnotes.ground.linalg import FactorisationError

SLIPS = [ValueError, TypeError, RuntimeError, MemoryError, KeyboardInterrupt]
FREE = np.asarray([[-np.inf, np.inf]] * 2)


def hill(v):
    """Its top is 3 at (1, −2)."""
    gap = v - np.asarray([1.0, -2.0])
    return 3.0 - float(gap @ gap), -2.0 * gap


def test_the_top_is_found_and_its_value_reported():
    ascent = ascend(hill, np.zeros(2), FREE, 50)
    np.testing.assert_allclose(ascent.vector, [1.0, -2.0], atol=1e-5)
    assert ascent.value == pytest.approx(3.0)
    assert ascent.converged
    assert ascent.evaluations < 20


def test_the_start_is_moved_to_its_ends_and_evaluated_once():
    seen = []

    def watched(v):
        seen.append(tuple(v))
        return hill(v)

    ascent = ascend(watched, np.asarray([9.0, 9.0]), np.asarray([[2.0, 3.0], [-1.0, 0.0]]), 50)
    assert seen[0] == (3.0, 0.0)
    assert seen.count((3.0, 0.0)) == 1
    assert ascent.evaluations == len(seen)
    np.testing.assert_array_equal(ascent.vector, [2.0, -1.0])


@pytest.mark.parametrize(
    "problem",
    [NoValueError, FactorisationError, FloatingPointError, OverflowError, ZeroDivisionError],
)
def test_behind_a_wall_is_no_way_but_before_it_there_is(problem):
    """The top lies just before the wall, and the first step leads far behind it."""

    def walled(v):
        if v[0] > 1.5:
            raise problem("there is nothing")
        value, gradient = hill(v)
        return 1e3 * value, 1e3 * gradient

    ascent = ascend(walled, np.asarray([-40.0, -2.0]), FREE, 200)
    np.testing.assert_allclose(ascent.vector, [1.0, -2.0], atol=1e-2)
    assert np.isfinite(ascent.value)


@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf, 1e151])
def test_what_is_not_finite_is_a_wall(nothing):
    for broken in (
        lambda v: (nothing, np.zeros(2)),
        lambda v: (0.0, np.asarray([0.0, nothing])),
    ):
        ascent = ascend(broken, np.zeros(2), FREE, 50)
        assert ascent.value == -math.inf
        assert not ascent.converged
        assert ascent.message == "no value at the start: value or gradient overflow"
        assert ascent.evaluations == 1


def test_an_ascent_that_leaves_its_ends_is_brought_back_and_goes_on_within():
    def ridge(v):
        """Rises with v₀ for ever; its top in v₁ moves with v₀ up to 2."""
        top = min(v[0], 2.0)
        gradient = np.asarray([1e-3 + 2.0 * (v[1] - top) * (v[0] < 2.0), -2.0 * (v[1] - top)])
        return 1e-3 * float(v[0]) - float(v[1] - top) ** 2, gradient

    box = np.asarray([[-1.0, 1.0], [-9.0, 9.0]])
    free, kept = (ascend(ridge, np.zeros(2), FREE, 100, e) for e in (None, box))
    assert free.vector[0] > 1.0
    np.testing.assert_allclose(kept.vector, [1.0, 1.0], atol=1e-3)
    assert kept.evaluations > free.evaluations


def test_one_that_is_brought_back_into_a_valley_begins_again_from_its_start():
    def pitted(v):
        """Rises to a top at 50, with a narrow valley where the ends are."""
        pit = 3.0 * math.exp(-(((v[0] - 0.5) / 0.05) ** 2))
        slope = 1.0 - 0.02 * v[0] + 2.0 * pit * (v[0] - 0.5) / 0.05**2
        return float(v[0] - 0.01 * v[0] ** 2 - pit), np.asarray([slope, 0.0])

    box = np.asarray([[-1.0, 0.5], [-1.0, 1.0]])
    assert ascend(pitted, np.zeros(2), FREE, 50).vector[0] > 1.0
    kept = ascend(pitted, np.zeros(2), FREE, 50, box)
    assert kept.value > 0.0
    assert 0.0 < kept.vector[0] < 0.5


def test_an_ascent_that_ends_within_never_notices_the_ends():
    box = np.asarray([[0.9, 1.1], [-2.1, -1.9]])
    free, kept = (ascend(hill, np.zeros(2), FREE, 50, e) for e in (None, box))
    np.testing.assert_array_equal(kept.vector, free.vector)
    assert kept.evaluations == free.evaluations


def test_an_ascent_out_of_steps_within_its_ends_is_left_where_it_stopped():
    def ravine(v):
        """Its top is at (1, 1), at the end of a curved ridge that takes many steps."""
        off = v[1] - v[0] ** 2
        gradient = np.asarray([2.0 * (1.0 - v[0]) + 400.0 * v[0] * off, -200.0 * off])
        return -float((1.0 - v[0]) ** 2 + 100.0 * off**2), gradient

    box = np.asarray([[-9.0, 9.0]] * 2)
    start = np.asarray([-1.2, 1.0])
    free, kept = (ascend(ravine, start, FREE, 3, ends) for ends in (None, box))
    assert not free.converged
    np.testing.assert_array_equal(kept.vector, free.vector)
    assert kept.evaluations == free.evaluations


def test_what_a_wall_said_last_is_told():
    def edge(v):
        if v[0] > 1e-6:
            raise NoValueError(f"{v[0] > 1e-6} is behind the wall")
        return float(v[0]), np.asarray([1.0, 0.0])

    ascent = ascend(edge, np.zeros(2), FREE, 50)
    assert ascent.vector[0] <= 1e-6
    assert ascent.message.endswith("the last: True is behind the wall")


@pytest.mark.parametrize("error", SLIPS)
def test_what_is_no_matter_of_the_point_is_raised(error):
    def broken(v):
        raise error("no")

    with pytest.raises(error):
        ascend(broken, np.zeros(2), FREE, 5)


def test_an_overflow_on_the_way_is_no_warning():
    def overflowing(v):
        value, gradient = hill(v)
        return value + 0.0 * float(np.exp(np.float64(1e3)) < 0.0), gradient

    assert ascend(overflowing, np.zeros(2), FREE, 50).converged


def test_where_nothing_is_free_there_is_a_value():
    ascent = ascend(lambda v: (2.5, v), np.zeros(0), np.zeros((0, 2)), 5)
    assert (ascent.value, ascent.converged, ascent.message) == (2.5, True, "nothing is free")
    assert ascent.evaluations == 1


@pytest.mark.parametrize(("walls", "said"), [(1, "; 1 point had no"), (2, "; 2 points had no")])
def test_points_without_a_value_are_counted(walls, said):
    asked = []

    def walled(v):
        asked.append(v)
        if 1 < len(asked) <= 1 + walls:
            raise NoValueError("there is nothing")
        return hill(v)

    ascent = ascend(walled, np.zeros(2), FREE, 50)
    assert f"{said} value, the last: there is nothing" in ascent.message


def hills(points, watch=None):
    if watch is not None:
        watch.append(len(points))
    found = [hill(v) for v in points]
    return np.asarray([value for value, _ in found]), np.stack([slope for _, slope in found])


@pytest.mark.parametrize("m", [1, 10, 70])
def test_ascents_together_are_the_ascents_alone(rng, m):
    starts = rng.normal(scale=5.0, size=(m, 2))
    box = np.asarray([[-9.0, 0.5], [-9.0, 9.0]])
    calls = []
    found = ascend_all(lambda points: hills(points, calls), starts, box, 50)
    for start, ascent in zip(starts, found, strict=True):
        alone = ascend(hill, start, box, 50)
        np.testing.assert_array_equal(ascent.vector, alone.vector)
        assert ascent[1:] == alone[1:]
    assert sum(calls) == sum(ascent.evaluations for ascent in found)
    assert max(calls) == min(m, 32)
    most = [max(a.evaluations for a in found[i : i + 32]) for i in range(0, m, 32)]
    assert len(calls) == sum(most)  # as many calls as the longest ascent has points


def test_a_wall_before_one_ascent_stops_no_other():
    def walled(points):
        if np.any(points[:, 0] > 5.0):
            raise NoValueError("there is nothing")
        return hills(points)

    box = np.asarray([[-9.0, 9.0]] * 2)
    good, bad = ascend_all(walled, np.asarray([[0.0, 0.0], [6.0, 0.0]]), box, 50)
    np.testing.assert_allclose(good.vector, [1.0, -2.0], atol=1e-5)
    assert bad.value == -math.inf
    assert bad.message == "no value at the start: there is nothing"


@pytest.mark.parametrize("error", SLIPS)
@pytest.mark.parametrize("call", [1, 3])
def test_what_is_no_matter_of_the_points_ends_all_ascents(error, call):
    before = set(threading.enumerate())
    calls = []

    def broken(points):
        if len(calls) == call - 1:
            raise error("no")
        return hills(points, calls)

    with pytest.raises(error, match="no"):
        ascend_all(broken, np.zeros((5, 2)) - np.arange(5.0)[:, None], FREE, 50)
    for thread in set(threading.enumerate()) - before:
        thread.join(5.0)
        assert not thread.is_alive()


def test_what_goes_wrong_within_an_ascent_is_raised(monkeypatch):
    def gives_up(function, start, limits, steps, rows):
        function(start)
        raise MemoryError("no room")

    monkeypatch.setattr("gpnotes.ground.ascent.ascend", gives_up)
    with pytest.raises(MemoryError, match="no room"):
        ascend_all(hills, np.zeros((3, 2)), FREE, 5)


def test_no_start_no_ascent():
    assert ascend_all(hills, np.zeros((0, 2)), FREE, 5) == []


def test_together_an_overflow_is_no_warning_either():
    def overflowing(points):
        values, slopes = hills(points)
        return values + 0.0 * (np.exp(np.full(len(points), 1e3)) < 0.0), slopes

    assert all(a.converged for a in ascend_all(overflowing, np.zeros((2, 2)), FREE, 50))


def test_a_value_is_there_or_an_ascent_would_meet_a_wall():
    right = finite_or_none(lambda v: (2.0, 3.0 * v), np.ones(2))
    assert right[0] == 2.0
    np.testing.assert_array_equal(right[1], [3.0, 3.0])
    for value, slope in ((np.inf, 1.0), (np.nan, 1.0), (1.0, np.nan), (1e151, 1.0)):
        assert finite_or_none(lambda v, s=slope, f=value: (f, s * v), np.ones(2)) is None


@pytest.mark.parametrize("end", [[np.inf, 0.0], [0.0, np.nan]])
def test_a_step_that_overflows_in_one_number_leaves_the_start(monkeypatch, end):
    def overflows(function, *_):
        found = {"x": np.asarray(end), "fun": -9.0, "message": "beyond", "success": True}
        return types.SimpleNamespace(**found, jac=np.ones(2))

    monkeypatch.setattr("gpnotes.ground.ascent.minimise", overflows)
    found = ascend(hill, np.zeros(2), FREE, 5)
    assert (found.vector.tolist(), found.value, found.converged) == ([0.0, 0.0], -2.0, False)


@pytest.mark.parametrize(("slope", "again", "kept"), [
    (0.5, -7.0, "again"), (0.5, -3.0, "first"), (0.04, -7.0, "first"), (-0.5, -7.0, "first"),
])  # fmt: skip
def test_an_end_that_is_steep_begins_anew_and_the_better_one_is_kept(
    monkeypatch, slope, again, kept
):
    """Steep is a slope of a hundredth of the value, here 5, that does not lead out of the box."""
    begun = []

    def minimise(function, start, *_):
        begun.append(start)
        x, fun = (np.asarray([0.0]), -5.0) if len(begun) == 1 else (np.asarray([-1.0]), again)
        found = {"x": x, "fun": fun, "message": "", "success": True, "jac": np.asarray([slope])}
        return types.SimpleNamespace(**found)

    monkeypatch.setattr("gpnotes.ground.ascent.minimise", minimise)
    ascent = ascend(lambda v: (0.0, v), np.zeros(1), np.asarray([[-2.0, 0.0]]), 9)
    assert len(begun) == (1 if abs(slope) < 0.05 or slope < 0.0 else 2)
    assert (ascent.vector[0], ascent.value) == ((-1.0, 7.0) if kept == "again" else (0.0, 5.0))


def test_each_of_several_ascents_stays_within_its_own_rows():
    """Nearest to (1, −2) where x + y ≤ b and x ≤ ½: on the edges, or at the corner."""
    A, b = np.asarray([[1.0, 1.0], [1.0, 0.0]]), np.asarray([[-3.0, 0.5], [9.0, 0.5], [-1.0, 9.0]])
    box = np.asarray([[-9.0, 9.0]] * 2)
    found = ascend_all(hills, np.full((3, 2), -5.0), box, 90, (A, b))
    tops = [[0.0, -3.0], [0.5, -2.0], [1.0, -2.0]]
    np.testing.assert_allclose([ascent.vector for ascent in found], tops, atol=1e-5)


@pytest.mark.parametrize(("again", "taken"), [(-2.0, "again"), (-1.0, "again"), (-0.9, "first")])
@pytest.mark.parametrize("outside", [False, True])
def test_before_a_wall_the_better_end_is_kept_and_outside_the_second(
    monkeypatch, again, taken, outside
):
    """The first run stops at a wall with a loss of −1; the second begins at the nearest place."""
    begun = []

    def minimise(function, start, *_):
        begun.append(start)
        function(np.asarray([8.0, 0.0]))
        first = len(begun) == 1
        x = np.asarray([9.0 if outside else 0.25, 0.5] if first else [0.75, 0.5])
        found = {"x": x, "fun": -1.0 if first else again, "message": "", "success": not first}
        return types.SimpleNamespace(**found)

    def walled(v):
        if v[0] > 5.0:
            raise NoValueError("there is nothing")
        return 0.5, np.zeros(2)

    monkeypatch.setattr("gpnotes.ground.ascent.minimise", minimise)
    ascent = ascend(walled, np.zeros(2), FREE, 9, np.asarray([[-1.0, 1.0]] * 2))
    np.testing.assert_array_equal(begun[1], [1.0 if outside else 0.25, 0.5])
    kept = outside or taken == "again"
    assert (ascent.vector[0], ascent.value) == ((0.75, -again) if kept else (0.25, 1.0))
