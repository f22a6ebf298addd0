"""A known constraint of any form: nothing that breaks it is asked for, and it is named."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_models import quick

from gpnotes import stream
from gpnotes.decide.bayesopt import (
    Categorical,
    Evaluation,
    Integer,
    LinearConstraint,
    Optimiser,
    Real,
    Space,
    minimise,
)
from gpnotes.decide.bayesopt.known_constraints import KnownConstraint, _near
from gpnotes.decide.bayesopt.polytopes import Polytope
from gpnotes.decide.bayesopt.search_region import region_of

BOX = [(-1.0, 1.0)] * 2


def in_disc(x):
    return x @ x <= 0.5


def test_nothing_outside_is_asked_for():
    """Of first points, later ones, batches and what is asked beside others under way."""
    made = Optimiser(BOX, constraint=in_disc, model=quick, rng=3)
    asked = []
    for _ in range(5):
        batch = made.ask_batch(3)
        asked += [*batch, *made.ask_batch(2, pending=batch)]
        for x in batch:
            made.tell(x, float(-x[0] - x[1]))
    assert all(in_disc(x) for x in asked)


def test_the_best_on_a_curved_side_is_found():
    """The least of −x − y in the disc of radius √½ is −1, at (½, ½)."""
    near = lambda e: e.y < -1.0 + 1e-2  # noqa: E731
    loss = lambda x: float(-x.sum())  # noqa: E731
    found = minimise(loss, BOX, 16, constraint=in_disc, callback=near, rng=1)
    assert all(in_disc(e.x) for e in found.evaluations)
    assert found.best.y == pytest.approx(-1.0, abs=1e-2)


def test_it_stands_beside_linear_ones_with_categories_and_whole_numbers():
    space = Space({"n": Integer(0, 9), "a": Real(0.0, 3.0), "rule": Categorical(["p", "q", "r"])})
    side = LinearConstraint({"n": 1.0, "a": 1.0}, upper=7.0)

    def met(p):
        return p["rule"] != "r" and p["a"] ** 2 + p["n"] <= 8.0

    found = minimise(
        lambda p: -p["n"] * p["a"] - (p["rule"] == "q"), space, 16,
        linear_constraints=[side], constraint=met, model=quick, rng=1,
    )  # fmt: skip
    assert all(met(e.x) and e.x["n"] + e.x["a"] <= 7.0 for e in found.evaluations)
    assert found.best.y < -8.0  # 9.7 at n = 5, a = √3


def test_few_settings_are_taken_once_each():
    space = Space({"n": Integer(0, 5), "m": Integer(0, 5)})
    made = Optimiser(
        space, constraint=lambda p: p["n"] * p["m"] == 4, model=quick, num_initial=1, rng=1
    )
    for _ in range(3):
        point = made.ask()
        made.tell(point, float(point["n"]))
    assert sorted(e.x["n"] for e in made.evaluations) == [1, 2, 4]


def test_a_thin_ring_is_filled_and_a_longer_list_begins_like_a_shorter_one():
    def in_ring(x):
        return abs(x @ x - 0.5) < 1e-3

    room = region_of(BOX, (), in_ring).room
    points = room.spread(900, stream(1))
    assert points.shape == (900, 2)
    assert all(in_ring(x) for x in 2.0 * points - 1.0)
    assert len(np.unique(points, axis=0)) > 800
    np.testing.assert_array_equal(room.spread(200, stream(1)), points[:200])


def test_a_place_outside_is_refused_by_name():
    outside = np.asarray([0.9, 0.9])
    made = Optimiser(BOX, constraint=in_disc, rng=1)
    known = [Evaluation(outside, 1.0)]
    calls = {
        "x": lambda: made.tell(outside, 1.0),
        "pending": lambda: made.ask_batch(1, outside[None, :]),
        "initial_points": lambda: Optimiser(
            BOX, constraint=in_disc, initial_points=outside[None, :], rng=1
        ),
        "known_evaluations": lambda: Optimiser(
            BOX, constraint=in_disc, known_evaluations=known, rng=1
        ),
    }
    for name, refused in calls.items():
        with pytest.raises(ValueError, match=rf"^{name} must meet the constraint; got x\[0\]"):
            refused()


def test_what_never_holds_or_is_no_predicate_is_refused():
    with pytest.raises(ValueError, match="got False at all 131072 tried"):
        Optimiser(BOX, constraint=lambda x: False, rng=1)
    with pytest.raises(ValueError, match="got False at all 6 tried"):
        Optimiser(Space({"n": Integer(0, 5)}), constraint=lambda p: False, rng=1)
    with pytest.raises(TypeError, match=r"constraint\(x\) must be True or False; got 0"):
        Optimiser(BOX, constraint=lambda x: 0, rng=1)


def room_of(met, seen=None, within=None):
    """The points of the unit square where a predicate holds, and a list of what it is asked of."""

    def constraint(u):
        if seen is not None:
            seen.append(tuple(u))
        return bool(met(u))

    return KnownConstraint(constraint, list, 2, None, within)


def test_a_climb_that_ends_outside_is_cut_back_to_the_best_of_its_way():
    """Sixteen points from its start on; the best of all such climbs creeps on from there."""

    def met(u):
        return u[0] + u[1] <= 1.0 and not 0.3 < u[0] < 0.4

    room = room_of(met)
    starts = np.asarray([[0.1, 0.1], [0.1, 0.6], [0.5, 0.1], [0.5, 0.4]])
    ends = np.asarray([[0.2, 0.3], [0.9, 0.8], [0.8, 0.9], [0.7, 0.5]])

    def values(units):
        return units @ np.asarray([1.0, 0.5])

    wanted = []
    for start, end in zip(starts, ends, strict=True):
        way = [start + i / 16 * (end - start) for i in range(16)]
        inside = [u for u in way if met(u)]
        wanted.append(end if met(end) else max(inside, key=lambda u: u @ [1.0, 0.5]))
    best = 1 + int(np.argmax(values(np.asarray(wanted[1:]))))
    found = room.reached(starts, ends, np.asarray([True, False]), values)
    for i in range(4):
        if i == best:
            assert met(found[i])
            assert found[i, 1] == wanted[i][1]  # a column that is not free stays
            limit = 1.0 - wanted[i][1]
            assert max(wanted[i][0], limit - 1e-3) < found[i, 0] <= limit
        else:
            np.testing.assert_array_equal(found[i], wanted[i])
    np.testing.assert_array_equal(room.reached(starts, starts, np.ones(2, bool), values), starts)


def test_where_nothing_on_the_way_holds_a_climb_stays_at_its_start():
    room = room_of(lambda u: u[0] < 0.5)
    outside = np.asarray([[0.75, 0.5]])
    found = room.reached(outside, outside + 0.1, np.zeros(2, bool), lambda u: u[:, 0])
    np.testing.assert_array_equal(found, outside)


def test_only_what_linear_constraints_leave_is_asked_of_a_predicate():
    seen = []
    within = Polytope(np.asarray([[1.0, 0.0]]), np.asarray([0.5]), np.zeros(2, dtype=int), "it")
    room = room_of(lambda u: u[1] > 0.5, seen, within)
    seen.clear()
    units = np.asarray([[0.4, 0.6], [0.6, 0.6], [0.4, 0.4], [0.6, 0.4]])
    assert room.holds(units).tolist() == [True, False, False, False]
    assert seen == [(0.4, 0.6), (0.4, 0.4)]
    sides, left = room.slopes(units, np.ones(2, bool))
    np.testing.assert_array_equal(sides, [[1.0, 0.0]])
    np.testing.assert_allclose(left, 0.5 - 1e-10, rtol=1e-15)
    assert room_of(lambda u: True).slopes(units, np.ones(2, bool)) is None
    points = room.spread(300, stream(1))
    assert np.all((points[:, 0] <= 0.5 + 1e-12) & (points[:, 1] > 0.5))


@pytest.mark.parametrize(("count", "blocks"), [(400, 1), (600, 2)])
def test_sequences_are_tried_until_there_are_enough(count, blocks):
    seen = []
    room = room_of(lambda u: u[0] < 0.5, seen)
    seen.clear()
    assert len(room.spread(count, stream(1))) == count
    assert len(seen) == blocks * 1024


def test_where_sequences_miss_all_points_are_near_those_that_are_known():
    """After sixteen blocks; the one that was found is the first of a thousand by a thousand."""
    seen = []
    known = room_of(lambda u: u[0] < 0.01)._known[0]
    room = room_of(lambda u: np.max(np.abs(u - known)) < 2e-4 or len(seen) < 1, seen)
    room._known = known[None, :]
    seen[:] = [None]
    points = room.spread(40, stream(1))
    assert len(points) == 40
    assert np.max(np.abs(points - known)) < 2e-4
    assert len(np.unique(points, axis=0)) > 20
    assert (len(seen) - 1) % 1024 == 0
    assert len(seen) > 17 * 1024


def test_near_points_are_at_all_distances_from_a_tenth_to_a_ten_thousandth():
    near = _near(np.asarray([[0.5, 0.5]]), stream(1))
    logs = np.log10(np.linalg.norm(near - 0.5, axis=1) / np.sqrt(np.pi / 2.0))
    assert near.shape == (1024, 2)
    np.testing.assert_allclose(np.quantile(logs, [0.1, 0.5, 0.9]), [-3.7, -2.5, -1.3], atol=0.25)
    corner = _near(np.asarray([[0.0, 1.0]]), stream(1))
    assert np.min(corner) == 0.0
    assert np.max(corner) == 1.0


def test_up_to_4096_settings_are_looked_at_one_by_one():
    for top, tried in ((4095, 4096), (4096, 131072)):
        space = Space({"n": Integer(0, top)})
        with pytest.raises(ValueError, match=f"got False at all {tried} tried"):
            Optimiser(space, constraint=lambda p: False, rng=1)
