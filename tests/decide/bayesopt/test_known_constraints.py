"""A known constraint of any form: nothing that breaks it is asked for, and it is named."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, stream
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
from gpnotes.decide.bayesopt.search_region import region_of

BOX = [(-1.0, 1.0)] * 2


def quick(X, y, *, rng):
    """A model without a fit, for loops of which only the course matters."""
    return condition(GP(RBF(1.0, 0.5), 1e-4), X, y)


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
    found = minimise(lambda x: float(-x.sum()), BOX, 16, constraint=in_disc, rng=1)
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
