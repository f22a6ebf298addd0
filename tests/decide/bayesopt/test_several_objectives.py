"""The search for a front: what it finds, what it asks for and what it says."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, condition
from gpnotes.decide.bayesopt import (
    Categorical,
    ExpectedHypervolumeImprovement,
    LinearConstraint,
    ParetoOptimiser,
    Real,
    Space,
    hypervolume,
    minimise_several,
    several_objectives,
)
from gpnotes.testing import gradcheck

SQUARE = [(-1.0, 2.0), (0.0, 3.0)]


def quick(X, y, *, rng):
    """A model without a fit, for loops of which only the course matters."""
    return condition(GP(RBF(1.0, 0.3), 1e-4), X, y)


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


@pytest.mark.parametrize("answer", [1.0, (1.0,), (1.0, np.nan), "ab", None])
def test_an_objective_that_returns_something_else_is_told_so(answer):
    with pytest.raises(ValueError, match="objective must return 2 finite numbers"):
        minimise_several(lambda x: answer, SQUARE, 3, rng=1)
