"""Places that come again: none without noise, some under it, and the end of a space."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.bayesopt import (
    BatchExpectedImprovement,
    Categorical,
    Integer,
    LinearConstraint,
    Optimiser,
    ParetoOptimiser,
    Real,
    Space,
    ThompsonSampling,
    UpperConfidenceBound,
    maximise,
    minimise,
    minimise_several,
)
from gpnotes.decide.bayesopt.history import Evaluation
from gpnotes.decide.bayesopt.repeats import Repeats, repeats_of

SIX = Space({"depth": Integer(1, 6)})
LETTERS = dict(zip("abcdef", [3.0, 1.0, 4.0, 1.5, 9.0, 2.0], strict=True))
BRANCHES = Space(
    {
        "rate": Real(1e-4, 1.0, log=True),
        "depth": Integer(1, 5),
        "rule": Categorical(["relu", "tanh", "sine"]),
        "order": Integer(1, 3, when={"rule": "sine"}),
    }
)


def top(best):
    """A bound that takes the mean as it is."""
    return UpperConfidenceBound(0.0)


def quick(X, y, *, rng):
    """A model without a fit that believes in no noise."""
    return condition(GP(RBF(1.0, 0.4), 1e-6), X, y)


def noisy(X, y, *, rng):
    """One that believes in some."""
    return condition(GP(RBF(1.0, 0.4), 0.1), X, y)


def corner(x):
    return (x[0] - 1.0) ** 2 + float(np.sum(x[1:]))


def branched(point):
    return point["rate"] + point["depth"] + (point["rule"] != "tanh")


def apart(evaluations):
    """The least distance between two places of the unit cube."""
    X = np.stack([one.x for one in evaluations])
    gaps = np.max(np.abs(X[:, None, :] - X[None, :, :]), axis=2)
    return np.min(gaps[np.triu_indices(len(X), 1)])


# -- without noise ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "d", "budget"), [(corner, 2, 24), (corner, 1, 14), (lambda x: x[0], 1, 20)]
)
def test_a_best_place_in_a_corner_is_evaluated_once(objective, d, budget):
    """With the default model, whose fit may take some of what it cannot follow for noise.

    Asked as the acquisition has it, the first comes again eight times, the second four.
    """
    found = minimise(objective, [(0, 1)] * d, budget, rng=1)
    assert found.repeated == 0
    assert apart(found.evaluations) > 1e-6
    assert abs(found.best.y) < 1e-6
    assert "evaluated before" not in str(found)


def valley(x):
    """Least at an edge."""
    return abs(x[0] - 0.37) + x[1]


@pytest.mark.parametrize(("objective", "seed"), [(corner, 0), (valley, 1), (corner, 2)])
@pytest.mark.parametrize(
    "acquisition",
    [None, ThompsonSampling(64), BatchExpectedImprovement(64, 64), top],
    ids=["improvement", "thompson", "batch", "mean"],
)  # fmt: skip
def test_no_acquisition_asks_for_a_corner_or_an_edge_twice(acquisition, objective, seed):
    options = {"acquisition": acquisition, "model": quick, "rng": seed}
    found = maximise(lambda x: -objective(x), [(0, 1)] * 2, 18, **options)
    assert apart(found.evaluations) > 1e-6


@pytest.mark.parametrize("options", [{}, {"model": quick, "acquisition": top}], ids=["", "mean"])
def test_mixed_and_conditional_places_are_asked_for_once(options):
    found = minimise(branched, BRANCHES, 24, rng=1, **options)
    assert found.repeated == 0
    assert not found.used_up


def test_batches_and_what_is_under_way_have_places_of_their_own():
    made = Optimiser([(0, 1)] * 2, model=quick, rng=1)
    for _ in range(6):
        batch = made.ask_batch(2)
        batch = [*batch, *made.ask_batch(2, batch)]
        for x in batch:
            made.tell(x, corner(x))
    assert apart(made.evaluations) > 1e-6


def test_several_workers_ask_for_a_corner_once(tmp_path):
    """Two that take turns, each of which knows what the other is at."""
    options = {"path": tmp_path / "history.jsonl", "shared": True, "model": quick, "rng": 1}
    workers = [Optimiser([(0, 1)] * 2, **options) for _ in range(2)]
    while workers[0].count + 2 <= 20:
        places = [worker.ask_within(20) for worker in workers]
        for worker, x in zip(workers, places, strict=True):
            worker.tell(x, corner(x))
    for worker in workers:
        worker.close()
    assert apart(Optimiser([(0, 1)] * 2, **options).evaluations) > 1e-6


def test_several_objectives_are_evaluated_at_places_of_their_own():
    found = minimise_several(
        lambda x: (corner(x), 2.0 * corner(x)), [(0, 1)] * 2, 16, model=quick, rng=1
    )
    assert found.repeated == 0
    assert apart(found.evaluations) > 1e-6


# -- the end of a space -----------------------------------------------------------------------


@pytest.mark.parametrize("acquisition", [None, ThompsonSampling(64)])
@pytest.mark.parametrize(
    ("few", "objective"),
    [
        (SIX, lambda p: (p["depth"] - 4) ** 2),
        (Space({"letter": Categorical(list(LETTERS))}), lambda p: LETTERS[p["letter"]]),
    ],
    ids=["numbers", "letters"],
)
def test_a_space_of_six_settings_ends_the_search_after_one_more(few, objective, acquisition):
    """The seventh shows that readings repeat; it is of a setting that was evaluated."""
    found = minimise(objective, few, 12, acquisition=acquisition, rng=1)
    assert len(found.evaluations) == 7
    assert len({str(one.x) for one in found.evaluations[:6]}) == 6
    assert found.used_up
    assert "All settings of the space are known: the search ended" in str(found)
    assert "1 was of a place evaluated before" in str(found)


@pytest.mark.parametrize("handling", ["record", "skip", "model"])
@pytest.mark.parametrize("good", [{"b"}, {"b", "d", "f"}])
def test_a_space_ends_where_what_failed_fails_again(handling, good):
    """Before, what failed alone was repeated, for ever, and no repeat of it ended the search."""

    def part(point):
        return LETTERS[point["c"]] if point["c"] in good else np.nan

    found = minimise(
        part, Space({"c": Categorical(list("abcdef"))}), 20, on_failure=handling, rng=1
    )
    assert found.used_up
    assert len(found.evaluations) <= 8
    assert found.best.x == {"c": "b"}


def test_a_budget_of_just_the_settings_is_spent_on_each_of_them():
    found = minimise(lambda p: p["depth"], SIX, 6, rng=1)
    assert (len(found.evaluations), found.repeated, found.used_up) == (6, 0, False)


def test_conditions_and_constraints_leave_fewer_settings_to_use_up():
    """Fifty of a kind of machine each, of 5e5 by the sizes alone; and of them those that fit."""
    sizes = {f"n_{kind}": Integer(0, 2, when={"kind": kind}) for kind in "abcd"}
    space = Space({"kind": Categorical(list("abcd")), **sizes})
    options = {"model": quick, "rng": 1}
    found = minimise(lambda p: float(sum(list(p.values())[1:])), space, 20, **options)
    assert (len(found.evaluations), found.repeated, found.used_up) == (13, 1, True)
    even = {"constraint": lambda p: list(p.values())[1] != 1, **options}
    found = minimise(lambda p: float(sum(list(p.values())[1:])), space, 20, **even)
    assert (len(found.evaluations), found.used_up) == (9, True)
    short = LinearConstraint({"depth": 1.0}, upper=3.0)
    found = minimise(lambda p: p["depth"], SIX, 12, linear_constraints=[short], **options)
    assert (len(found.evaluations), found.used_up) == (4, True)


def test_a_space_of_several_objectives_ends_too():
    found = minimise_several(lambda p: (p["depth"], -p["depth"]), SIX, 12, rng=1)
    assert (len(found.evaluations), found.repeated, found.used_up) == (7, 1, True)
    assert "the search ended" in str(found)
    assert "1 was of a place evaluated before" in str(found)


def test_a_search_that_ended_is_told_so_when_it_is_begun_again(tmp_path):
    path = tmp_path / "history.jsonl"
    first = minimise(lambda p: p["depth"], SIX, 12, path=path, model=quick, rng=1)
    again = minimise(lambda p: 1 / 0, SIX, 12, path=path, model=quick, rng=1)
    assert [one.x for one in again.evaluations] == [one.x for one in first.evaluations]
    assert again.used_up


def test_workers_end_together(tmp_path):
    """One is at the last setting while the other finds nothing to ask, and waits for it."""
    options = {"path": tmp_path / "history.jsonl", "shared": True, "model": quick, "rng": 1}
    found = []

    def work():
        found.append(minimise(lambda p: p["depth"], SIX, 30, **options))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert len(found) == 2
    assert all(one.used_up for one in found)
    assert len(found[0].evaluations) <= 8  # each worker may ask whether readings repeat


def test_who_asks_for_more_than_there_is_gets_places_again():
    made = Optimiser(SIX, model=quick, rng=1)
    assert len(made.ask_batch(9)) == 9
    assert len({p["depth"] for p in made.ask_batch(9)}) == 6
    for depth in (1, 2, 3, 4, 5, 6, 6):
        made.tell({"depth": depth}, depth)
    assert made.used_up
    assert made.ask_within(20) is None
    assert made.ask()["depth"] in range(1, 7)
    several = ParetoOptimiser(SIX, model=quick, rng=1)
    for depth in (1, 2, 3, 4, 5, 6, 6):
        several.tell({"depth": depth}, [depth, -depth])
    assert several.used_up
    assert several.ask_within(20) is None


def test_where_all_settings_fail_the_search_ends_too():
    found = minimise(lambda p: np.nan, SIX, 12, on_failure="record", rng=1)
    assert (len(found.evaluations), found.used_up, found.best) == (6, True, None)
    with pytest.raises(ValueError, match="a value at one of the first 3 places"):
        minimise(lambda p: np.nan, Space({"n": Integer(1, 3)}), 12, num_initial=8, rng=1)


# -- under noise ------------------------------------------------------------------------------


def test_a_reading_that_comes_out_otherwise_lets_a_space_go_on():
    """Whatever the model of so few believes: the one that is asked for again differs."""
    draw = stream(3)
    found = minimise(lambda p: p["depth"] + float(draw.normal()), SIX, 20, model=quick, rng=1)
    assert len(found.evaluations) == 20
    assert not found.used_up
    assert f"{found.repeated} were of places evaluated before" in str(found)
    assert found.repeated == 14


def test_a_model_that_believes_in_noise_asks_for_a_corner_again_until_it_repeats():
    made = Optimiser([(0, 1)], model=noisy, acquisition=top, rng=1)
    for _ in range(12):
        x = made.ask()
        made.tell(x, x[0])
    seen = repeats_of(made.evaluations)
    assert seen == Repeats(2, 0, 2)
    draw = stream(1)
    made = Optimiser([(0, 1)], model=noisy, acquisition=top, rng=1)
    for _ in range(14):
        x = made.ask()
        made.tell(x, x[0] + 0.1 * float(draw.normal()))
    assert repeats_of(made.evaluations).unequal > 0


def test_repeats_count_readings_and_not_failures_nor_what_is_tried_again():
    one, two = np.asarray([0.5]), np.asarray([0.25])
    told = [
        Evaluation(one, 1.0),
        Evaluation(one, 1.0),
        Evaluation(one, np.nan, "no", "record"),
        Evaluation(two, np.nan, "no", "stop"),
        Evaluation(two, 2.0),
        Evaluation(two, 2.5),
        Evaluation({"a": True}, 1.0),
        Evaluation({"a": 1}, 2.0),
        Evaluation({"b": 1}, 2.0, constraints=np.asarray([1.0])),
        Evaluation({"b": 1}, 2.0, constraints=np.asarray([2.0])),
    ]
    assert repeats_of(told) == Repeats(equal=1, unequal=2, places=4)
