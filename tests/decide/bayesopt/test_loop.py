"""The loop: what it finds, what it does about failures, and that it asks the same again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fixed_models import quick
from trips import trip

from gpnotes import stream
from gpnotes.decide.bayesopt import (
    BatchExpectedImprovement,
    Evaluation,
    Integer,
    LogExpectedImprovement,
    Optimiser,
    Outcome,
    Real,
    Space,
    UpperConfidenceBound,
    fitted_model,
    maximise,
    minimise,
    minimise_several,
)

LINE = [(-1.0, 2.0)]
PLANE = [(-1.0, 2.0), (0.0, 3.0)]
LEAST = 0.397887  # of Branin's function


def branin(x):
    """Three minima of one depth; Dixon & Szegö (1978)."""
    a, b = x
    bend = b - 5.1 / (4.0 * math.pi**2) * a * a + 5.0 / math.pi * a - 6.0
    return bend * bend + 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(a) + 10.0


def bowl(x):
    return float(np.sum((x - 0.4) ** 2))


SPACE = Space({"rate": Real(1e-4, 1.0, log=True), "depth": Integer(1, 8)})


def of_names(point):
    return math.log10(point["rate"] / 0.01) ** 2 + (point["depth"] - 3) ** 2


def asked(outcome):
    return np.stack([evaluation.x for evaluation in outcome.evaluations])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_finds_a_minimum_of_branin_where_chance_does_not(seed, rng):
    """Thirty evaluations, or fewer: within 0.05 of the least value, from each of three seeds."""
    box = [(-5.0, 10.0), (0.0, 15.0)]
    found = minimise(branin, box, 30, callback=lambda e: e.y - LEAST < 0.05, rng=stream(seed))
    assert found.best.y - LEAST < 0.05
    chance = [min(map(branin, rng.uniform((-5, 0), (10, 15), (30, 2)))) - LEAST for _ in range(5)]
    assert np.sum(np.asarray(chance) < 0.05) <= 2


def test_the_largest_is_found_as_the_least_is():
    least = minimise(bowl, PLANE, 12, model=quick, rng=stream(2))
    most = maximise(lambda x: -bowl(x), PLANE, 12, model=quick, rng=stream(2))
    np.testing.assert_array_equal(asked(least), asked(most))
    assert most.best.y == -least.best.y
    assert least.best.y == min(evaluation.y for evaluation in least.evaluations)
    assert least.best.y < 0.05


@pytest.fixture(scope="module")
def here():
    """A search whose objective is in a unit of its own."""
    return minimise(bowl, LINE, 8, rng=stream(1))


@pytest.mark.parametrize("scale", [1e-150, 1e200, 1e-9, 1e12])
def test_the_unit_of_the_objective_does_not_matter(scale, here):
    there = minimise(lambda x: scale * bowl(x), LINE, 8, rng=stream(1))
    np.testing.assert_allclose(asked(there), asked(here), atol=1e-3)


def test_all_points_lie_in_the_box_and_begin_as_a_sobol_sequence():
    outcome = minimise(bowl, PLANE, 16, num_initial=16, rng=stream(3))
    units = (asked(outcome) - [-1.0, 0.0]) / [3.0, 3.0]
    assert np.all((units >= 0.0) & (units <= 1.0))
    # of 16 points of the sequence one lies in each cell of a grid of 4 × 4
    cells = {tuple(cell) for cell in np.floor(4.0 * units).astype(int)}
    assert len(cells) == 16


def test_a_question_has_one_answer_until_something_is_told():
    optimiser = Optimiser(LINE, rng=stream(1))
    for _ in range(7):
        x = optimiser.ask()
        again = optimiser.ask()
        np.testing.assert_array_equal(x, again)
        again[0] = 9.0
        np.testing.assert_array_equal(x, optimiser.ask())
        optimiser.tell(x, bowl(x))
        assert optimiser.ask()[0] != x[0]


@pytest.mark.parametrize("acquisition", [LogExpectedImprovement, BatchExpectedImprovement(64, 128)])
def test_beside_first_points_that_are_left_a_model_chooses_as_beside_pending_ones(acquisition):
    given = [[-0.5], [0.0], [1.0], [1.5]]
    options = {"initial_points": given, "num_initial": 3, "rng": stream(1)}
    optimiser = Optimiser(LINE, acquisition=acquisition, **options)
    for x in given[:3]:
        optimiser.tell(np.asarray(x), bowl(np.asarray(x)))
    all_three = optimiser.ask_batch(3)
    np.testing.assert_array_equal(all_three[0], given[3])
    beside = optimiser.ask_batch(2, pending=all_three[:1])
    np.testing.assert_array_equal(all_three[1:], beside)


def test_the_next_point_depends_on_the_evaluations_alone():
    first = Optimiser(PLANE, rng=stream(1))
    for _ in range(8):
        x = first.ask()
        first.tell(x, bowl(x))
    used = stream(1)
    used.normal(5)
    second = Optimiser(PLANE, rng=used)
    for evaluation in first.evaluations:
        second.tell(evaluation.x, evaluation.y)
    np.testing.assert_array_equal(first.ask(), second.ask())


def test_other_points_may_be_told():
    optimiser = Optimiser(LINE, num_initial=1, rng=stream(1))
    optimiser.tell(np.asarray([0.4]), 0.0)
    optimiser.tell(np.asarray([1.9]), 2.25)
    assert optimiser.best.x[0] == 0.4
    assert abs(optimiser.ask()[0] - 0.4) < 1.4


def test_parts_of_ones_own_are_used():
    seen = []

    def model(X, y, *, rng):
        seen.append((X, y))
        return quick(X, y, rng=rng)

    def explore(best):
        return UpperConfidenceBound(1e6)

    outcome = minimise(
        bowl, LINE, 9, num_initial=3, model=model, acquisition=explore, rng=stream(1)
    )
    assert len(seen) == 7  # and once more for what is recommended
    X, y = seen[-2]
    units = (asked(outcome)[:8] + 1.0) / 3.0
    np.testing.assert_allclose(X, units, rtol=1e-12)
    assert abs(np.mean(y)) < 1e-12
    assert abs(np.std(y) - 1.0) < 1e-12
    # the larger the better, in the model
    assert np.argmax(y) == np.argmin([evaluation.y for evaluation in outcome.evaluations[:8]])
    # with such a bound only distance counts: no two points are near each other
    assert np.min(np.diff(np.sort(asked(outcome)[:, 0]))) > 0.1


def test_a_model_that_gives_no_posterior_is_refused():
    with pytest.raises(TypeError, match=r"model\(X, y, rng\) must be a gpnotes ExactPosterior"):
        minimise(bowl, LINE, 9, model=lambda X, y, *, rng: None, rng=stream(1))


# -- failures ---------------------------------------------------------------------------------


def raises(x):
    """No value on the right half of the line, for which there is a reason."""
    if x[0] > 0.5:
        raise ArithmeticError("too far to the right")
    return float((x[0] - 0.2) ** 2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400])
@pytest.mark.parametrize("on_failure", ["record", "skip"])
def test_a_value_that_is_none_is_kept_as_a_failure(value, on_failure):
    outcome = minimise(
        lambda x: value if x[0] > 0.5 else x[0] ** 2,
        LINE, 9, on_failure=on_failure, model=quick, rng=stream(1),
    )  # fmt: skip
    failed = [evaluation for evaluation in outcome.evaluations if evaluation.failure]
    assert len(outcome.evaluations) == 9
    assert failed
    assert all(evaluation.x[0] > 0.5 for evaluation in failed)
    assert all(math.isnan(evaluation.y) and evaluation.problem for evaluation in failed)
    assert math.isfinite(outcome.best.y)


@pytest.mark.parametrize("on_failure", ["record", "skip"])
def test_an_error_is_kept_with_its_words(on_failure, tmp_path):
    path = tmp_path / "history.jsonl"
    options = {"on_failure": on_failure, "model": quick, "path": path}
    outcome = minimise(raises, LINE, 12, rng=stream(1), **options)
    failed = [evaluation for evaluation in outcome.evaluations if evaluation.failure]
    assert {evaluation.problem for evaluation in failed} == {
        "ArithmeticError: too far to the right"
    }
    assert {evaluation.failure for evaluation in failed} == {on_failure}
    assert outcome.best.y < 0.01
    again = minimise(raises, LINE, 12, rng=stream(1), **options)
    assert [(e.problem, e.failure) for e in again.evaluations] == [
        (e.problem, e.failure) for e in outcome.evaluations
    ]


def test_a_failure_that_is_recorded_keeps_the_search_away():
    """The least of the slope lies where there is no value; only a model that knows turns back."""

    def slope(x):
        if x[0] > 0.5:
            raise ArithmeticError
        return -x[0]

    counts = {}
    for on_failure in ("record", "skip"):
        outcome = minimise(slope, LINE, 20, model=quick, on_failure=on_failure, rng=stream(2))
        counts[on_failure] = sum(bool(evaluation.failure) for evaluation in outcome.evaluations)
    assert 2 * counts["record"] < counts["skip"]


def test_after_a_failure_that_is_skipped_the_next_point_is_of_the_sequence():
    """The model, which is not told, would ask for the same point again."""
    modelled = Optimiser(LINE, num_initial=3, model=quick, on_failure="skip", rng=stream(2))
    sequence = Optimiser(LINE, num_initial=50, rng=stream(2))
    for y in (0.3, 0.1, 0.4, 0.2):
        x = modelled.ask()
        modelled.tell(x, y)
        sequence.tell(x, y)
    failing = modelled.ask()
    assert failing[0] != sequence.ask()[0]
    modelled.tell(failing, math.nan)
    sequence.tell(failing, 0.0)
    np.testing.assert_array_equal(modelled.ask(), sequence.ask())
    modelled.tell(modelled.ask(), 0.5)
    assert modelled.ask()[0] != sequence.ask()[0]


def test_a_failure_can_stop_the_loop_and_nothing_is_lost(tmp_path):
    """The error goes on; mended, the loop tries the same point again, and ends as if unharmed."""
    path = tmp_path / "history.jsonl"
    options = {"on_failure": "stop", "model": quick}
    calls = []

    def breaks(x):
        calls.append(x.copy())
        if len(calls) == 5:
            raise OSError("disk full")
        return bowl(x)

    with pytest.raises(OSError, match="disk full"):
        minimise(breaks, LINE, 8, path=path, rng=stream(1), **options)
    assert len(calls) == 5
    outcome = minimise(breaks, LINE, 8, path=path, rng=stream(1), **options)
    np.testing.assert_array_equal(calls[5], calls[4])
    failures = [evaluation.failure for evaluation in outcome.evaluations]
    assert failures == ["", "", "", "", "stop", "", "", "", ""]
    assert outcome.evaluations[4].problem == "OSError: disk full"
    unharmed = minimise(bowl, LINE, 8, model=quick, rng=stream(1))
    good = [evaluation.x for evaluation in outcome.evaluations if not evaluation.failure]
    np.testing.assert_array_equal(good, asked(unharmed))


def test_who_returns_several_objectives_hears_where_they_are_minimised():
    with pytest.raises(TypeError, match=r"got \(1.0, 2.0\) at .*`minimise_several`$"):
        minimise(lambda x: (1.0, 2.0), LINE, 3, rng=stream(1))


def test_a_value_that_is_none_can_stop_the_loop(tmp_path):
    path = tmp_path / "history.jsonl"
    with pytest.raises(ValueError, match="objective must return a finite number; got nan at"):
        minimise(lambda x: math.nan, LINE, 8, path=path, on_failure="stop", rng=stream(1))
    optimiser = Optimiser(LINE, path=path, on_failure="stop", rng=stream(1))
    assert [evaluation.failure for evaluation in optimiser.evaluations] == ["stop"]
    assert optimiser.count == 0
    with pytest.raises(ValueError, match="y must be finite; got nan"):
        optimiser.tell(optimiser.ask(), math.nan)
    assert len(optimiser.evaluations) == 2


@pytest.mark.parametrize("wrong", [None, "3.0", [1.0], np.ones(2), 1j, True])
@pytest.mark.parametrize("on_failure", ["record", "skip", "stop"])
def test_what_is_no_number_stops_the_loop_and_is_kept(wrong, on_failure, tmp_path):
    path = tmp_path / "history.jsonl"
    with pytest.raises(TypeError, match="objective must return a number; got"):
        minimise(lambda x: wrong, LINE, 8, path=path, on_failure=on_failure, rng=stream(1))
    (evaluation,) = Optimiser(LINE, path=path, rng=stream(1)).evaluations
    assert evaluation.failure == "stop"


@pytest.mark.parametrize("search", [minimise, maximise])
def test_an_error_before_there_is_a_value_ends_the_search_at_once(search, tmp_path):
    """A mistake in the objective shall not take the whole budget."""
    calls, path = [], tmp_path / search.__name__

    def mistaken(x):
        calls.append(x.copy())
        return {"a": 1.0}["b"]

    with pytest.raises(KeyError, match="b") as raised:
        search(mistaken, LINE, 12, path=path, rng=stream(1))
    assert len(calls) == 1
    assert "With on_failure='record' given it goes on" in raised.value.__notes__[0]
    mended = search(bowl, LINE, 12, path=path, model=quick, rng=stream(1))
    assert [one.failure for one in mended.evaluations] == ["stop"] + 12 * [""]
    np.testing.assert_array_equal(asked(mended)[1], calls[0])
    tried = search(mistaken, LINE, 5, on_failure="record", rng=stream(1))
    assert len(tried.evaluations) == 5


@pytest.mark.parametrize(
    ("search", "nothing"),
    [(minimise, math.nan), (maximise, math.inf), (minimise_several, (1.0, math.nan))],
)
def test_no_value_at_any_of_the_first_places_ends_the_search(search, nothing):
    calls = []

    def blind(x):
        calls.append(x)
        return nothing

    with pytest.raises(
        ValueError, match=r"objective must have a value at one of the first 4"
    ) as said:
        search(blind, LINE, 12, rng=stream(1))
    assert len(calls) == 4
    assert "y must be finite" in str(said.value)
    search(blind, LINE, 12, on_failure="record", rng=stream(1))
    assert len(calls) == 16


def test_one_value_among_the_first_places_will_do():
    values = iter([math.nan, math.nan, math.nan, 2.0, math.nan, 1.0])
    outcome = minimise(lambda x: next(values), LINE, 6, model=quick, rng=stream(1))
    assert outcome.best.y == 1.0


def test_an_error_after_nothing_but_failures_ends_the_search():
    calls = []

    def mistaken(x):
        calls.append(x)
        if len(calls) < 3:
            return math.nan
        raise KeyError("b")

    with pytest.raises(KeyError):
        minimise(mistaken, LINE, 12, rng=stream(1))
    assert len(calls) == 3


def test_an_error_after_a_value_is_a_failure_of_its_place():
    def second(x):
        calls.append(x)
        if len(calls) == 2:
            raise KeyError("b")
        return bowl(x)

    calls = []
    outcome = minimise(second, LINE, 6, model=quick, rng=stream(1))
    assert [one.failure for one in outcome.evaluations] == ["", "record", "", "", "", ""]


def test_an_interrupt_is_no_failure(tmp_path):
    path = tmp_path / "history.jsonl"

    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimise(interrupted, LINE, 8, path=path, rng=stream(1))
    assert Optimiser(LINE, path=path, rng=stream(1)).evaluations == ()


@pytest.mark.parametrize("on_failure", ["record", "skip"])
def test_where_all_fail_there_is_no_best(on_failure):
    outcome = minimise(lambda x: math.nan, LINE, 9, on_failure=on_failure, rng=stream(1))
    assert outcome.best is None
    assert len(outcome.evaluations) == 9
    assert len({float(x[0]) for x in asked(outcome)}) == 9


def test_an_objective_cannot_change_what_is_kept():
    def spoils(x):
        value = bowl(x)
        x[:] = 0.0
        return value

    spoilt, intact = (minimise(f, LINE, 6, model=quick, rng=stream(1)) for f in (spoils, bowl))
    np.testing.assert_array_equal(asked(spoilt), asked(intact))


def test_constant_and_repeated_values_are_modelled():
    outcome = minimise(lambda x: 3.0, LINE, 8, rng=stream(1))
    assert outcome.best.y == 3.0
    assert len({float(x[0]) for x in asked(outcome)}) > 4
    optimiser = Optimiser(LINE, num_initial=1, rng=stream(1))
    for _ in range(3):
        optimiser.tell(np.asarray([0.5]), 1.0)
    assert np.all(np.isfinite(optimiser.ask()))


def test_noise_is_not_taken_for_a_best():
    """What counts as the best is a mean of the model, not the luckiest reading."""
    draw = stream(7)
    bests = []

    def watch(best):
        bests.append(best)
        return UpperConfidenceBound(0.5)

    readings = []

    def noisy(x):
        readings.append(float(draw.normal()))
        return readings[-1]

    minimise(noisy, LINE, 25, acquisition=watch, rng=stream(1))
    luckiest = -(min(readings[:24]) - np.mean(readings[:24])) / np.std(readings[:24])
    assert bests[-1] < 0.7 * luckiest


def test_the_model_of_the_loop_predicts_what_it_was_told():
    X = stream(1).uniform((12, 2))
    y = np.sin(4.0 * X[:, 0]) + X[:, 1]
    y = (y - np.mean(y)) / np.std(y)
    posterior = fitted_model(X, y, rng=stream(1))
    np.testing.assert_allclose(posterior.mean(X), y, atol=0.05)


# -- wrong calls ------------------------------------------------------------------------------


def test_an_acquisition_in_place_of_a_function_is_refused_at_once():
    """It can be called, but with other arguments than the best value."""
    wanted = r"acquisition must be a function of the best value.*got an object, UpperConf"
    with pytest.raises(TypeError, match=wanted):
        Optimiser(LINE, acquisition=UpperConfidenceBound(1.0), rng=stream(1))
    with pytest.raises(TypeError, match=wanted):
        minimise(branin, LINE, 5, acquisition=UpperConfidenceBound(1.0), rng=stream(1))


def test_a_place_out_of_the_box_is_refused():
    optimiser = Optimiser(LINE, rng=stream(1))
    for outside in (2.5, -1.5):
        with pytest.raises(ValueError, match=rf"x must lie in the box; got \[{outside}\]"):
            optimiser.tell(np.asarray([outside]), 1.0)
    with pytest.raises(ValueError, match=r"x must have shape \(1,\)"):
        optimiser.tell(np.asarray([0.5, 0.5]), 1.0)
    with pytest.raises(TypeError, match="y must be a number"):
        optimiser.tell(np.asarray([0.5]), "1.0")
    assert optimiser.evaluations == ()


def test_words_that_are_none_are_refused():
    with pytest.raises(ValueError, match="on_failure must be one of"):
        minimise(bowl, LINE, 3, on_failure="ignore", rng=stream(1))
    with pytest.raises(ValueError, match="goal must be one of"):
        Optimiser(LINE, goal="max", rng=stream(1))


def test_places_may_be_lists():
    def bowl(x):
        return float(np.sum((x - 0.3) ** 2))

    box, first = [(0.0, 1.0)] * 2, [[0.5, 0], [1, 0.25]]
    lists = minimise(bowl, box, 4, initial_points=first, rng=1)
    arrays = minimise(bowl, box, 4, initial_points=np.asarray(first), rng=1)
    assert [one.y for one in lists.evaluations] == [one.y for one in arrays.evaluations]


def test_nothing_is_recommended_before_there_is_a_value():
    outcome = minimise(lambda x: math.nan, PLANE, 4, rng=1)
    assert outcome.best is None
    assert outcome.recommended is None
    assert str(outcome).splitlines() == [
        "Search for the least value: 4 evaluations, 4 failed",
        "The last that failed: y must be finite; got nan",
    ]
    with pytest.raises(ValueError, match="predict needs an evaluation with a value"):
        Optimiser(PLANE, rng=1).predict(np.zeros((1, 2)))


def test_the_page_names_the_last_problem():
    def breaks(x):
        if x[0] > 0.5:
            raise ArithmeticError(f"too far\nat {x[0]}")
        return float(x[0])

    outcome = minimise(breaks, PLANE, 6, on_failure="skip", model=quick, rng=1)
    assert str(outcome).splitlines()[1] == "The last that failed: ArithmeticError: too far"


def test_a_result_prints_a_page_and_no_array():
    outcome = minimise(of_names, SPACE, 12, model=quick, rng=1)
    lines = str(outcome).splitlines()
    assert lines[0] == "Search for the least value: 12 evaluations, none failed"
    assert lines[2].split("  ")[-1] == "recommended by the model"
    assert [line.split()[0] for line in lines[3:]] == ["value", "rate", "depth"]
    assert lines[3].split()[1] == f"{outcome.best.y:.6g}"
    assert "±" in lines[3]
    assert repr(outcome) == f"<Outcome: 12 evaluations, best {outcome.best.y:.6g}>"
    assert repr(outcome.evaluations[0]).startswith("<Evaluation: ")
    assert "rate = " in repr(outcome.best)


def test_many_inputs_are_cut_and_no_array_is_shown():
    outcome = minimise(bowl, [(0.0, 1.0)] * 40, 3, model=quick, rng=1)
    assert str(outcome).splitlines()[-1] == "and 28 more inputs"
    parts = (outcome, outcome.best, outcome.recommended, outcome.evaluations)
    assert not [part for part in parts if "array" in repr(part) + str(part)]
    assert len(repr(outcome.best)) < 200


def test_the_course_of_a_search_is_there_to_plot():
    values = iter([3.0, math.nan, 4.0, 1.0, 2.0])
    outcome = minimise(lambda x: next(values), PLANE, 5, num_initial=5, rng=1)
    np.testing.assert_array_equal(outcome.best_so_far(), [3.0, 3.0, 3.0, 1.0, 1.0])
    values = iter([math.nan, 3.0, 2.0, 4.0, 1.0])
    outcome = maximise(lambda x: next(values), PLANE, 5, num_initial=5, rng=1)
    np.testing.assert_array_equal(outcome.best_so_far(), [math.nan, 3.0, 3.0, 4.0, 4.0])


def test_a_callback_sees_each_evaluation_and_ends_the_loop():
    seen = []

    def enough(evaluation):
        seen.append(evaluation)
        return evaluation.y < 0.5

    outcome = minimise(bowl, PLANE, 40, model=quick, callback=enough, rng=1)
    assert tuple(seen) == outcome.evaluations
    assert isinstance(seen[0], Evaluation)
    assert [e.y < 0.5 for e in seen] == [*[False] * (len(seen) - 1), True]
    with pytest.raises(TypeError, match=r"callback\(evaluation\) must be True or False; got 1"):
        minimise(bowl, PLANE, 4, callback=lambda evaluation: 1, rng=1)


def test_a_bar_counts_the_evaluations(monkeypatch):
    counts = []

    class Bar:
        def update(self, n):
            counts.append(n)

        def set_postfix_str(self, words):
            assert words.startswith("best ")

        def close(self):
            counts.append("closed")

    asked = []
    door = "gpnotes.decide.bayesopt.loop.bar_of"
    monkeypatch.setattr(door, lambda *said: asked.append(said) or Bar())
    minimise(bowl, PLANE, 5, model=quick, progress=True, rng=1)
    assert asked == [(5, "search", "evaluation")]
    assert counts == [1] * 5 + ["closed"]


def test_the_page_has_the_numbers_of_both_places_and_how_many_are_feasible():
    """One constraint, which is met from 0.5 on; a place is recommended that likely meets it."""
    outcome = minimise(
        lambda x: (float(x[0]), np.asarray([0.5 - x[0]])),
        [(0.0, 1.0)] * 13, 8, num_constraints=1, num_initial=7, rng=1,
    )  # fmt: skip
    feasible = [one.x[0] >= 0.5 for one in outcome.evaluations]
    lines = str(outcome).splitlines()
    assert (
        lines[0]
        == f"Search for the least value: 8 evaluations, none failed, {sum(feasible)} feasible"
    )
    number = outcome.evaluations.index(outcome.best) + 1
    assert f"least reading, number {number} " in lines[2]
    found = outcome.recommended
    belief = f"{found.mean:.4g} ± {found.sd:.2g}"
    if found.feasibility < 1.0:
        belief += f", feasible by {found.feasibility:.0%}"
    assert lines[3].endswith(belief)
    assert lines[-1] == "and 1 more inputs"
    values = [e.y if ok else math.nan for e, ok in zip(outcome.evaluations, feasible, strict=True)]
    np.testing.assert_array_equal(outcome.best_so_far(), np.fmin.accumulate(values))


@pytest.mark.parametrize(
    ("goal", "wanted"), [("minimise", [3.0, 2.0, 2.0]), ("maximise", [3.0, 3.0, 5.0])]
)
def test_the_best_so_far_leaves_out_what_failed_or_met_no_constraint(goal, wanted):
    at, met, not_met = np.zeros(1), np.asarray([0.0, -1.0]), np.asarray([0.1, -1.0])
    told = [
        Evaluation(at, math.nan, "no power", "record"),
        Evaluation(at, 3.0, constraints=met),
        Evaluation(at, 2.0),
        Evaluation(at, 5.0),
        Evaluation(at, 0.0 if goal == "minimise" else 9.0, constraints=not_met),
    ]
    assert [one.is_feasible for one in told] == [False, True, True, True, False]
    outcome = Outcome(told[1], None, tuple(told), goal)
    np.testing.assert_array_equal(outcome.best_so_far(), [math.nan, *wanted, wanted[-1]])
    assert Outcome(None, None, (), goal).best_so_far().shape == (0,)


def test_a_search_of_twelve_evaluations_takes_few_calls():
    def bowl(x):
        return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)

    made = trip(lambda: minimise(bowl, [(-1.0, 1.0), (-1.0, 1.0)], 12, rng=0))
    # how many evidences the fits ask for hangs on rounding: 427 here, 448 with other kernels
    evidences = made.count("infer/objective.py __call__")
    assert evidences <= 460
    assert len(made) <= 25_600 + 99 * evidences
