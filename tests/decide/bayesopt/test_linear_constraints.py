"""Linear constraints: nothing outside is asked for, and the best on a side is found."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_models import quick

from gpnotes.decide.bayesopt import (
    Categorical,
    Fixed,
    Integer,
    LinearConstraint,
    Optimiser,
    Real,
    Space,
    ThompsonSampling,
    minimise,
)

# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("linear", "said"),
    [
        ([LinearConstraint([1.0, 1.0], upper=-1.5)], "room"),
        ([LinearConstraint([1.0, 1.0], upper=1.0, lower=1.0)], "room"),
        (
            [LinearConstraint([1.0, 1.0], upper=1.0), LinearConstraint([1.0, 0.0], lower=1.9)],
            "room",
        ),
        ([LinearConstraint([1.0], upper=1.0)], "2 coefficients"),
        ([LinearConstraint({"x": 1.0}, upper=1.0)], "2 coefficients"),
    ],
)
def test_constraints_that_leave_nothing_are_refused(linear, said):
    with pytest.raises(ValueError, match=f"linear_constraints must.*{said}"):
        Optimiser([(-1.0, 2.0), (0.0, 3.0)], linear_constraints=linear, rng=1)


@pytest.mark.parametrize(
    ("coefficients", "said"),
    [
        ({"rate": 1.0}, "not in logarithms; 'rate'"),
        ({"rule": 1.0}, "not in logarithms; 'rule'"),
        ({"height": 1.0}, "names of"),
        ({"name": 1.0, "width": 1.0}, r"linear_constraints\['name'\]"),
        ([1.0], "by the names"),
    ],
)
def test_what_has_no_sum_is_refused(coefficients, said):
    space = Space(
        {
            "rate": Real(1e-3, 1.0, log=True),
            "width": Real(0.0, 1.0),
            "rule": Categorical(["a", "b"]),
            "name": Fixed("x"),
        }
    )
    with pytest.raises((ValueError, TypeError), match=said):
        Optimiser(space, linear_constraints=[LinearConstraint(coefficients, upper=0.5)], rng=1)


# -- the search -------------------------------------------------------------------------------


@pytest.mark.parametrize("acquisition", [None, ThompsonSampling(64)], ids=["usual", "drawn"])
def test_nothing_outside_is_asked_for(acquisition):
    """Of first points, later ones, batches and what is asked beside others under way."""
    sides = [LinearConstraint([1.0, 2.0], upper=2.0), LinearConstraint([1.0, -1.0], lower=-1.5)]
    made = Optimiser(
        [(-1.0, 2.0), (0.0, 3.0)],
        linear_constraints=sides,
        model=quick,
        acquisition=acquisition,
        rng=3,
    )
    asked = []
    for _ in range(6):
        batch = made.ask_batch(3)
        asked += [*batch, *made.ask_batch(2, pending=batch)]
        for x in batch:
            made.tell(x, float(-x[0] - 2.5 * x[1]))
    x, y = np.stack(asked).T
    assert np.all(x + 2.0 * y <= 2.0)
    assert np.all(x - y >= -1.5)


def test_the_best_on_a_side_is_found_and_beyond_it_nothing():
    """The least of ``(x − 2)² + (y − 2)²`` under x + y ≤ 2 is 2, at (1, 1)."""
    found = minimise(
        lambda x: float(np.sum((x - 2.0) ** 2)),
        [(0.0, 3.0)] * 2,
        18,
        linear_constraints=[LinearConstraint([1.0, 1.0], upper=2.0)],
        callback=lambda e: e.y < 2.0 + 1e-3,
        rng=1,
    )
    assert found.best.y == pytest.approx(2.0, abs=1e-3)
    assert max(e.x.sum() for e in found.evaluations) <= 2.0


def test_whole_numbers_keep_to_a_side_with_reals():
    space = Space(
        {
            "bolts": Integer(0, 9),
            "length": Real(0.0, 9.0),
            "rule": Categorical(["a", "b", "c"]),
            "spare": Fixed(1.0),
        }
    )
    sides = [LinearConstraint({"bolts": 2.0, "length": 1.0, "spare": 1.0}, upper=10.0)]
    asked = []

    def loss(point):
        asked.append(2.0 * point["bolts"] + point["length"] + 1.0)
        return -point["bolts"] * point["length"] - (point["rule"] == "b")

    best = max(n * (9.0 - 2.0 * n) for n in range(5)) + 1.0
    near = lambda e: e.y < 0.02 - best  # noqa: E731
    found = minimise(loss, space, 24, linear_constraints=sides, callback=near, rng=1)
    assert max(asked) <= 10.0
    assert found.best.y == pytest.approx(-best, abs=0.02)


def test_settings_that_can_be_counted_are_taken_once_each():
    """All 6 of 36 with a sum of 5 exactly: an equation is no matter where all are whole."""
    space = Space({"a": Integer(0, 5), "b": Integer(0, 5)})
    sides = [LinearConstraint({"a": 1.0, "b": 1.0}, upper=5.0, lower=5.0)]
    made = Optimiser(space, linear_constraints=sides, model=quick, num_initial=2, rng=1)
    for _ in range(6):
        point = made.ask()
        made.tell(point, (point["a"] - 3.0) ** 2)
    pairs = [(e.x["a"], e.x["b"]) for e in made.evaluations]
    assert sorted(pairs) == [(n, 5 - n) for n in range(6)]


def test_walkers_go_through_many_whole_numbers():
    """Five counts of a thousand with the sum 1000: no sequence meets that, exchanges do."""
    space = Space({name: Integer(0, 1000) for name in "abcde"})
    sides = [LinearConstraint(dict.fromkeys("abcde", 1.0), upper=1000.0, lower=1000.0)]
    made = Optimiser(space, linear_constraints=sides, model=quick, rng=1)
    points = made.ask_batch(8)
    assert {sum(point.values()) for point in points} == {1000}
    assert len({tuple(point.values()) for point in points}) == 8


# -- the door ---------------------------------------------------------------------------------


def test_a_place_outside_is_refused_like_one_outside_the_box():
    inside = np.asarray([0.5, 0.5])
    outside = np.asarray([0.8, 0.8])
    sides = [LinearConstraint([1.0, 1.0], upper=1.0)]
    made = Optimiser([(0.0, 1.0)] * 2, linear_constraints=sides, model=quick, rng=1)
    made.tell(inside, 1.0)  # on the side
    for call in (
        lambda: made.tell(outside, 1.0),
        lambda: made.fail(outside, "no"),
        lambda: made.ask_batch(1, pending=outside[None, :]),
        lambda: Optimiser(
            [(0.0, 1.0)] * 2, linear_constraints=sides, initial_points=outside[None, :], rng=1
        ),
    ):
        with pytest.raises(ValueError, match="must meet the linear constraints; got x"):
            call()
    with pytest.raises(TypeError, match="sequence of LinearConstraint"):
        Optimiser([(0.0, 1.0)] * 2, linear_constraints=sides[0], rng=1)


def test_a_search_goes_on_from_its_file_to_the_same_points(tmp_path):
    sides = [LinearConstraint([1.0, 1.0, 1.0], upper=1.0)]

    def made(path):
        return Optimiser([(0.0, 1.0)] * 3, path=path, linear_constraints=sides, model=quick, rng=3)

    def run(path, kills):
        optimiser, points = made(path), []
        for number in range(12):
            if number in kills:
                optimiser = made(path)
            points.append(optimiser.ask())
            optimiser.tell(points[-1], float(np.sum((points[-1] - 0.6) ** 2)))
        return np.stack(points)

    np.testing.assert_array_equal(run(tmp_path / "a", ()), run(tmp_path / "b", (1, 5, 9, 10, 11)))
    other = [LinearConstraint([1.0, 1.0, 1.0], upper=1.5)]
    with pytest.raises(ValueError, match="must hold the history of"):
        Optimiser([(0.0, 1.0)] * 3, path=tmp_path / "a", linear_constraints=other, rng=3)
