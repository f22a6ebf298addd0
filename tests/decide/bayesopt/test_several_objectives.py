"""The search for a front: what it finds, what it asks for and what it says."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_models import quick
from grown_volume import growths

from gpnotes import GP, RBF, condition
from gpnotes.decide.bayesopt import (
    Categorical,
    ExpectedHypervolumeImprovement,
    LinearConstraint,
    Optimiser,
    ParetoOptimiser,
    Real,
    Space,
    VectorEvaluation,
    hypervolume,
    minimise_several,
    several_objectives,
)
from gpnotes.ground.interrupts import InterruptWarning
from gpnotes.testing import gradcheck

SQUARE = [(-1.0, 2.0), (0.0, 3.0)]


def two(x):
    return x[0] ** 2 + x[1], (x[0] - 1.0) ** 2 + x[1]


def test_the_front_is_found_where_chance_is_far_from_it():
    reference = np.asarray([1.5, 1.5])
    found = minimise_several(two, SQUARE, 20, reference=reference, rng=1)
    draws = np.random.default_rng(0).random((20, 2)) * 3.0 + [-1.0, 0.0]
    chance = hypervolume([two(x) for x in draws], reference)
    t = np.linspace(0.0, 1.0, 2001)  # the true front, where the second input is zero
    true = hypervolume(np.stack([t**2, (t - 1.0) ** 2], axis=1), reference)
    assert found.hypervolume > chance
    assert found.hypervolume > 0.9 * true
    assert found.hypervolume <= 1.001 * true


def test_the_outcome_has_the_front_and_prints_it():
    found = minimise_several(two, SQUARE, 9, model=quick, rng=1)
    y = np.stack([one.y for one in found.front])
    assert np.all(np.diff(y[:, 0]) >= 0)
    assert np.all(np.diff(y[:, 1]) <= 0)
    assert found.hypervolume == hypervolume([one.y for one in found.evaluations], found.reference)
    text = str(found)
    assert f"9 evaluations, {len(found.front)} on the front" in text
    assert f"Hypervolume {found.hypervolume:.6g} below" in text
    assert len(text.splitlines()) == 4 + len(found.front)
    assert f"{found.front[0].y[0]:.6g}" in text


def test_a_failure_without_a_word_is_shown():
    search = ParetoOptimiser(SQUARE, rng=1)
    search.fail(search.ask(), "")
    assert str(search.outcome()).splitlines()[1] == "The last that failed: "


def test_the_reference_is_a_tenth_beyond_the_front():
    values = np.asarray([[0.0, 4.0], [1.0, 2.0], [5.0, 5.0]])
    np.testing.assert_allclose(several_objectives.reference_of(values), [1.1, 4.2])
    alone = np.asarray([[0.0, 2.0], [5.0, 5.0]])  # one on the front: the worst of all
    np.testing.assert_allclose(several_objectives.reference_of(alone), [5.5, 5.3])


def test_asking_again_gives_the_same_and_a_batch_begins_with_it():
    search = ParetoOptimiser(SQUARE, num_initial=3, model=quick, rng=1)
    for _ in range(5):
        x = search.ask()
        np.testing.assert_array_equal(x, search.ask())
        search.tell(x, two(x))
    one = search.ask()
    batch = search.ask_batch(3)
    np.testing.assert_array_equal(batch[0], one)
    assert len({tuple(x) for x in batch}) == 3


def test_the_course_follows_from_the_seed_and_what_was_told():
    first = minimise_several(two, SQUARE, 8, model=quick, rng=3).evaluations
    again = ParetoOptimiser(SQUARE, model=quick, rng=3)
    for one in first[:7]:
        again.tell(one.x, one.y)
    np.testing.assert_array_equal(again.ask(), first[7].x)


@pytest.mark.parametrize("given", [True, False])
def test_neither_unit_nor_zero_of_an_objective_changes_what_is_asked_for(given):
    """Of values, and of a reference with them: those of the first are tiny, and far from zero."""
    asked = []
    for unit, zero in (
        (np.ones(2), np.zeros(2)),
        (np.asarray([2.0**-9, 8.0]), np.asarray([4.0, -64.0])),
    ):
        reference = unit * 1.2 + zero if given else None
        search = ParetoOptimiser(SQUARE, reference=reference, model=quick, rng=3)
        while search.count < 8:
            x = search.ask()
            search.tell(x, unit * np.asarray(two(x)) + zero)
        asked.append([one.x for one in search.evaluations])
    np.testing.assert_allclose(*asked, rtol=0.0, atol=1e-5)


def test_a_space_with_categories_and_three_objectives():
    space = Space({"a": Real(0.0, 1.0), "kind": Categorical(["x", "y", "z"])})

    def three(p):
        worse = float(p["kind"] != "y")
        return p["a"] + worse, 1.0 - p["a"] + worse, worse

    found = minimise_several(three, space, 12, objectives=3, model=quick, rng=1)
    assert {one.x["kind"] for one in found.front} == {"y"}
    assert "kind" in str(found)


def test_linear_constraints_hold():
    limit = [LinearConstraint([1.0, 1.0], upper=1.0)]
    found = minimise_several(two, SQUARE, 9, linear_constraints=limit, model=quick, rng=1)
    assert all(np.sum(one.x) <= 1.0 + 1e-9 for one in found.evaluations)


def test_the_logarithm_of_the_growth_rises_as_its_gradient_says():
    draws = np.random.default_rng(1)
    X = draws.random((7, 2))
    models = tuple(condition(GP(RBF(1.0, 0.4), 1e-3), X, y) for y in (X[:, 0], np.sin(4 * X[:, 1])))
    worth = ExpectedHypervolumeImprovement(draws.standard_normal((4, 2)), [2.0, 2.0])
    growth = several_objectives._Growth(models, worth)

    def pullback(Xs, bar):
        return (bar[:, None] * growth.values_and_gradient(Xs)[1],)

    gradcheck(growth.values, pullback, draws.random((4, 2)))


def test_a_callback_ends_the_search():
    found = minimise_several(two, SQUARE, 9, callback=lambda one: one.y[0] > 0, rng=1)
    assert found.evaluations[-1].y[0] > 0


@pytest.mark.parametrize("answer", [1.0, (1.0,), "ab", None, (1.0, 2.0, 3.0)])
def test_an_objective_that_returns_something_else_is_told_so(answer):
    with pytest.raises(TypeError, match="objective must return 2 numbers; got"):
        minimise_several(lambda x: answer, SQUARE, 3, rng=1)


# -- beside brute force -------------------------------------------------------------------------


@pytest.mark.parametrize("objectives", [2, 3])
def test_the_hypervolume_of_an_outcome_is_what_points_at_random_count(objectives):
    """The share of 20 000 points of the box below the reference that a vector dominates."""

    def several(x):
        return [x[0] ** 2, (x[0] - 1.0) ** 2 + x[1], (x[1] - 0.5) ** 2][:objectives]

    options = {"objectives": objectives, "model": quick, "num_initial": 6}
    found = minimise_several(several, SQUARE, 9, **options, rng=1)
    Y = np.stack([one.y for one in found.evaluations])
    least = Y.min(axis=0)
    points = least + np.random.default_rng(1).random((20_000, objectives)) * (
        found.reference - least
    )
    share = np.mean([np.any(np.all(point >= Y, axis=1)) for point in points])
    volume = np.prod(found.reference - least)
    error = volume * np.sqrt(share * (1.0 - share) / 20_000)
    assert found.hypervolume == pytest.approx(volume * share, abs=5.0 * error)


def test_the_place_that_is_asked_for_adds_most_of_all_draws():
    """The mean growth of the hypervolume, by draws from both models, at that place and at 40."""
    search = ParetoOptimiser(SQUARE, model=quick, num_initial=7, reference=[6.0, 6.0], rng=3)
    for x in search.ask_batch(7):
        search.tell(x, two(x))
    asked = search.ask()
    Y = np.stack([one.y for one in search.evaluations])
    X = (np.stack([one.x for one in search.evaluations]) - [-1.0, 0.0]) / 3.0
    centre, scale = Y.mean(axis=0), Y.std(axis=0)
    models = [quick(X, -y, rng=None) for y in ((Y - centre) / scale).T]
    before = np.column_stack([centre[j] - scale[j] * m.mean(X) for j, m in enumerate(models)])
    draws = np.random.default_rng(0)
    z = draws.standard_normal((150, 2))

    def growth(x):
        unit = (np.asarray(x)[None, :] - [-1.0, 0.0]) / 3.0
        mean = np.asarray([m.mean(unit)[0] for m in models])
        sd = np.sqrt([m.variance(unit)[0] for m in models])
        drawn = centre - scale * (mean + sd * z)
        return np.mean(growths(before, np.full(2, 6.0), drawn))

    others = [growth(x) for x in draws.random((40, 2)) * 3.0 + [-1.0, 0.0]]
    assert growth(asked) > 0.95 * max(others)


# -- files, workers, failures, constraints ------------------------------------------------------


def constrained(x):
    """Nothing counts left of 0.4, where the first objective would be least."""
    return two(x), [0.4 - x[0]]


def test_a_file_goes_on_to_the_same_places(tmp_path):
    path = tmp_path / "history.jsonl"
    options = {"model": quick, "num_initial": 5, "num_constraints": 1, "reference": [3.0, 3.0]}
    whole = minimise_several(constrained, SQUARE, 12, rng=4, **options)
    for budget in (3, 8, 12):
        parts = minimise_several(constrained, SQUARE, budget, path=path, rng=4, **options)
    for one, other in zip(parts.evaluations, whole.evaluations, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.y, other.y)
        np.testing.assert_array_equal(one.constraints, other.constraints)
    torn = path.read_bytes()[:-9]
    path.write_bytes(torn)
    again = minimise_several(constrained, SQUARE, 12, path=path, rng=4, **options)
    np.testing.assert_array_equal(again.evaluations[-1].x, whole.evaluations[-1].x)
    for change in ({"reference": [3.0, 4.0]}, {"num_constraints": 2}, {"num_initial": 6}):
        with pytest.raises(ValueError, match=r"path: .* must hold the history of"):
            ParetoOptimiser(SQUARE, path=path, rng=4, **{**options, **change})
    with pytest.raises(ValueError, match=r"path: .* must hold the history of"):
        Optimiser(SQUARE, path=path, rng=4)
    path.write_bytes(path.read_bytes() + b'{"x": [0.1, 0.2], "y": [1.0]}\n')
    with pytest.raises(ValueError, match=r"path: line 14 .* must be an evaluation"):
        ParetoOptimiser(SQUARE, path=path, rng=4, **options)


def test_failures_are_in_the_file_and_out_of_the_front(tmp_path):
    path = tmp_path / "history.jsonl"

    def objective(x):
        if x[0] > 1.0:
            raise RuntimeError("out of memory")
        return (np.nan, 1.0) if x[0] < -0.6 else two(x)

    options = {"model": quick, "num_initial": 8, "on_failure": "record", "path": path}
    found = minimise_several(objective, SQUARE, 12, rng=1, **options)
    failed = [one for one in found.evaluations if one.failure]
    told = {one.problem.split(":")[0].split(" must")[0] for one in failed}
    assert told == {"RuntimeError", "y"}
    assert all(np.all(np.isnan(one.y)) for one in failed)
    assert not any(one.failure for one in found.front)
    assert f"12 evaluations, {len(failed)} failed" in str(found)
    again = minimise_several(objective, SQUARE, 12, rng=1, **options)
    assert [one.problem for one in again.evaluations] == [one.problem for one in found.evaluations]


def test_the_first_failure_ends_the_search_unless_failures_are_expected():
    def objective(x):
        raise KeyError("width")

    with pytest.raises(KeyError, match="width"):
        minimise_several(objective, SQUARE, 5, rng=1)
    found = minimise_several(objective, SQUARE, 5, on_failure="record", rng=1)
    assert len(found.evaluations) == 5
    assert found.front == ()
    assert found.reference is None
    assert found.hypervolume == 0.0
    assert "KeyError" in str(found)
    search = ParetoOptimiser(SQUARE, on_failure="stop", rng=1)
    x = search.ask()
    with pytest.raises(ValueError, match="y must be finite"):
        search.tell(x, [1.0, np.inf])
    np.testing.assert_array_equal(search.ask(), x)
    assert search.count == 0
    with pytest.raises(ValueError, match="reference needs a feasible evaluation"):
        search.reference  # noqa: B018
    with pytest.raises(ValueError, match="on_failure must be"):
        ParetoOptimiser(SQUARE, on_failure="pass", rng=1)


@pytest.mark.parametrize("word", ["skip", "model"])
def test_failures_are_skipped_or_modelled(word, tmp_path):
    """A front half of which nobody can reach; a search that is cut goes on to the same places."""

    def objective(x):
        if x[0] > 0.6:
            raise RuntimeError("diverged")
        return two(x)

    options = {"model": quick, "num_initial": 5, "on_failure": word, "rng": 2}
    whole = minimise_several(objective, SQUARE, 14, **options)
    failed = [one for one in whole.evaluations if one.failure]
    assert {one.failure for one in failed} == {word}
    places = np.stack([one.x for one in whole.evaluations])
    assert len(np.unique(places.round(6), axis=0)) == 14  # none is asked for twice
    assert whole.front
    assert all(one.x[0] <= 0.6 for one in whole.front)
    path = tmp_path / "front.jsonl"
    for budget in (9, 14):
        parts = minimise_several(objective, SQUARE, budget, path=path, **options)
    np.testing.assert_array_equal([one.x for one in parts.evaluations], places)


def test_what_is_skipped_tells_the_models_nothing_and_what_is_modelled_no_better_than_the_best():
    search = {word: ParetoOptimiser(SQUARE, model=quick, on_failure=word, num_initial=4, rng=3)
              for word in ("record", "skip", "model")}  # fmt: skip
    asked = {}
    for word, one in search.items():
        for x in ((0.1, 0.2), (0.4, 0.9), (0.8, 0.3), (0.6, 0.6)):
            one.tell(x, two(np.asarray(x)))
        one.fail((0.5, 0.5), "diverged")
        one.tell((0.2, 0.7), two(np.asarray((0.2, 0.7))))
        asked[word] = one.ask()
    assert not np.allclose(asked["record"], asked["skip"])
    assert not np.allclose(asked["record"], asked["model"])
    assert not np.allclose(asked["skip"], asked["model"])


def test_the_front_is_of_what_meets_measured_constraints():
    found = minimise_several(
        constrained, SQUARE, 18, num_constraints=1, reference=[1.5, 1.5], rng=1
    )
    assert all(one.x[0] >= 0.4 for one in found.front)
    met = [one.y for one in found.evaluations if one.x[0] >= 0.4]
    assert found.hypervolume == hypervolume(met, [1.5, 1.5])
    t = np.linspace(0.4, 1.0, 2001)
    true = hypervolume(np.stack([t**2, (t - 1.0) ** 2], axis=1), [1.5, 1.5])
    assert 0.85 * true < found.hypervolume <= 1.001 * true
    assert f"18 evaluations, {len(met)} feasible" in str(found)


def test_as_long_as_nothing_meets_the_constraints_they_alone_decide():
    """They are met beyond 0.8 alone, which the model can see from slopes."""
    search = ParetoOptimiser(SQUARE, model=quick, num_initial=3, num_constraints=1, rng=1)
    for x in np.asarray([[-0.5, 1.0], [0.0, 2.0], [0.4, 0.5]]):
        search.tell(x, two(x), [1.5 - x[0]])
    assert search.front == ()
    assert search.ask()[0] > 0.4


def test_known_constraints_and_points_of_ones_own():
    known = ParetoOptimiser(SQUARE, num_constraints=0, model=quick, rng=5)
    for x in known.ask_batch(4):
        known.tell(x, two(x))
    own = np.asarray([[0.5, 1.0], [0.2, 0.3]])
    found = minimise_several(
        two, SQUARE, 8, model=quick, initial_points=own, known_evaluations=known.evaluations,
        constraint=lambda x: bool(x[0] + x[1] < 4.5), rng=1,
    )  # fmt: skip
    assert len(found.evaluations) == 12
    np.testing.assert_array_equal([one.x for one in found.evaluations[4:6]], own)
    assert all(np.sum(one.x) < 4.5 for one in found.evaluations)
    with pytest.raises(TypeError, match="known_evaluations must be a sequence of VectorEvaluation"):
        ParetoOptimiser(SQUARE, known_evaluations=[1.0], rng=1)
    told = ParetoOptimiser(SQUARE, known_evaluations=[VectorEvaluation(own[0], (1, 2.0))], rng=1)
    np.testing.assert_array_equal(told.front[0].y, [1.0, 2.0])


def test_what_is_pending_is_not_asked_for_again():
    search = ParetoOptimiser(SQUARE, num_initial=5, model=quick, rng=1)
    for x in search.ask_batch(5):
        search.tell(x, two(x))
    first = search.ask_batch(2)
    further = search.ask_batch(2, pending=first)
    assert np.min(np.linalg.norm(further[:, None] - first[None], axis=2)) > 1e-3
    np.testing.assert_array_equal(search.ask_batch(2, pending=first[:1])[0], first[1])


def test_workers_share_one_file_and_its_budget(tmp_path):
    """Two by turns: none is given what the other is at, and one that is gone leaves its place."""
    path = tmp_path / "history.jsonl"
    options = {"path": path, "shared": True, "num_initial": 4, "model": quick, "rng": 2}
    one, other = (ParetoOptimiser(SQUARE, **options) for _ in range(2))
    for _ in range(3):
        x, z = one.ask(), other.ask()
        assert not np.array_equal(x, z)
        other.tell(z, two(z))
        one.tell(x, two(x))
    left = one.ask()
    assert other.ask_within(7) is None  # six are told, and one is under way
    one.close()
    np.testing.assert_array_equal(other.ask_within(7), left)
    other.close()
    found = minimise_several(two, SQUARE, 9, **options)
    assert len(found.evaluations) == 9
    with pytest.raises(ValueError, match="path must be that of a file where shared is True"):
        ParetoOptimiser(SQUARE, shared=True, rng=1)


def test_an_interrupt_keeps_the_front():
    calls = []

    def objective(x):
        calls.append(x)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return two(x)

    with pytest.warns(InterruptWarning, match="the search keeps its 6 evaluations"):
        found = minimise_several(objective, SQUARE, 12, model=quick, rng=1)
    assert len(found.evaluations) == 6
    assert found.front


def test_the_bar_says_how_many_are_on_the_front(capsys):
    pytest.importorskip("tqdm")
    found = minimise_several(two, SQUARE, 5, model=quick, num_initial=5, progress=True, rng=1)
    assert f"{len(found.front)} on the front" in capsys.readouterr().err
