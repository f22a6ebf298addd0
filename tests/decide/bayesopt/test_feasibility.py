"""Constraints that are measured, and places that fail: what the search makes of either."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fixed_models import quick
from scipy.stats import norm

from gpnotes import stream
from gpnotes.decide.bayesopt import (
    Categorical,
    Evaluation,
    ExpectedImprovement,
    Integer,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    Optimiser,
    Real,
    Space,
    ThompsonSampling,
    fitted_model,
    minimise,
)
from gpnotes.decide.bayesopt.feasibility import log_feasibility, success_model
from gpnotes.testing import gradcheck

SQUARE = [(0.0, 1.0)] * 2


def ringed(x):
    """Least, −1, at (0.9, 0.9), which is infeasible; least feasible where x + y = 1.2."""
    return -math.exp(-4.0 * float(np.sum((x - 0.9) ** 2))), [float(x[0] + x[1] - 1.2)]


BEST = -math.exp(-8.0 * 0.3**2)  # at (0.6, 0.6)


# -- constraints ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [31, 32])
def test_the_best_feasible_place_is_found_where_chance_does_not_come_near(seed):
    found = minimise(ringed, SQUARE, 14, num_constraints=1, rng=seed)
    feasible = [e for e in found.evaluations if e.constraints[0] <= 0.0]
    assert found.best is min(feasible, key=lambda e: e.y)
    assert found.best.y - BEST < 0.01
    assert found.recommended.x.sum() <= 1.2
    assert 0.5 < found.recommended.feasibility <= 1.0
    points = stream(seed).uniform((14, 2))
    by_chance = min(y for y, c in map(ringed, points) if c[0] <= 0.0)
    assert found.best.y < by_chance
    assert f"{len(feasible)} feasible" in str(found)
    assert f"feasible by {found.recommended.feasibility:.0%}" in repr(found.recommended)


def test_without_the_constraint_the_least_place_is_infeasible():
    found = minimise(lambda x: ringed(x)[0], SQUARE, 14, rng=31)
    assert ringed(found.best.x)[1][0] > 0.0


def test_before_anything_is_feasible_the_probability_alone_decides():
    """One corner of a tenth of each side is feasible; the objective leads away from it."""

    def cornered(x):
        return float(np.sum(x)), [float(0.9 - x[0]), float(0.9 - x[1])]

    found = minimise(cornered, SQUARE, 12, num_constraints=2, num_initial=4, model=quick, rng=5)
    met = [e.is_feasible for e in found.evaluations]
    assert not any(met[:4])
    assert any(met[4:7])
    so_far = found.best_so_far()
    assert np.all(np.isnan(so_far[:4]))
    assert so_far[-1] == found.best.y


def test_a_search_without_a_feasible_place_says_so():
    found = minimise(
        lambda x: (0.0, [1.0 + x[0]]), SQUARE, 8, num_constraints=1, model=quick, rng=1
    )
    assert found.best is None
    assert found.recommended is None
    assert "none feasible" in str(found)


def test_the_probability_is_that_of_a_normal_deviate():
    """Of two constraints: the product of ``Φ(−μ / σ)``, each from a model made by hand."""
    made = Optimiser(SQUARE, num_constraints=2, model=quick, num_initial=4, rng=3)
    for _ in range(9):
        x = made.ask()
        made.tell(x, float(x[0]), constraints=[x[0] - 0.4, np.sin(5.0 * x[1])])
    X = np.stack([e.x for e in made.evaluations])
    places = stream(2).uniform((5, 2))
    expected = np.ones(5)
    for values in (X[:, 0] - 0.4, np.sin(5.0 * X[:, 1])):
        centre, scale = values.mean(), values.std()
        mean, variance = quick(X, (values - centre) / scale, rng=None).predict(places)
        z = (centre + scale * mean) / (scale * np.sqrt(variance))
        expected *= [0.5 * math.erfc(one / math.sqrt(2.0)) for one in z]
    np.testing.assert_allclose(made.feasibility(places), expected, rtol=1e-6, atol=1e-12)


def test_batches_under_constraints_are_apart_and_begin_alike():
    for initial in (4, 9):  # before and after there is a feasible place
        made = Optimiser(SQUARE, num_constraints=1, model=quick, num_initial=initial, rng=3)
        for _ in range(initial):
            x = made.ask()
            made.tell(x, float(x[0]), constraints=[(0.5 if initial == 9 else 2.0) - x[1]])
        batch = made.ask_batch(4)
        gaps = np.abs(batch[:, None] - batch[None]).max(axis=2)[np.triu_indices(4, 1)]
        assert gaps.min() > 0.01
        np.testing.assert_array_equal(made.ask(), batch[0])


def test_a_space_has_constraints_too():
    space = Space({"n": Integer(1, 9), "r": Real(0.0, 1.0), "c": Categorical(["a", "b"])})

    def loss(point):
        return -point["n"] - point["r"], [point["n"] * point["r"] - 2.0]

    found = minimise(loss, space, 20, num_constraints=1, model=quick, rng=2)
    assert loss(found.best.x)[1][0] <= 0.0
    assert found.best.y < -8.5


# -- failures ---------------------------------------------------------------------------------


def decoy(seed):
    """A quarter of the square has no value, and the slopes around promise the least one there."""
    draws = np.random.default_rng(seed)
    low, here = draws.uniform(0.65, 0.85, 2), draws.uniform(0.1, 0.35, 2)

    def f(x):
        if np.all(x > 0.5):
            raise RuntimeError("no value")
        deep = 1.5 * math.exp(-8.0 * float(np.sum((x - low) ** 2)))
        return -deep - math.exp(-12.0 * float(np.sum((x - here) ** 2)))

    return f


@pytest.mark.parametrize(
    ("model", "budget"),
    [pytest.param(quick, 14, id="quick"), pytest.param(fitted_model, 20, id="fitted")],
)
def test_a_search_that_models_failures_fails_less(model, budget):
    """Failures are counted after the six first places, which are the same; it finds no worse."""
    failed, best = {"skip": 0, "model": 0}, {"skip": 0.0, "model": 0.0}
    for seed in (101, 103):
        for mode in failed:
            found = minimise(decoy(seed), SQUARE, budget, on_failure=mode, rng=seed, model=model)
            failed[mode] += sum(bool(e.failure) for e in found.evaluations[6:])
            best[mode] += found.best.y / 2.0
    assert failed["skip"] > 3
    assert failed["model"] <= 0.5 * failed["skip"]
    assert best["model"] < best["skip"] + 0.01


def test_where_it_failed_again_and_again_success_is_out_of_sight():
    made = Optimiser(SQUARE, on_failure="model", model=quick, rng=1)
    for _ in range(16):
        x = made.ask()
        made.tell(x, math.nan if x[0] > 0.6 else float(x[1]))
    odds = made.feasibility(np.asarray([[0.1, 0.5], [0.95, 0.5]]))
    assert odds[0] > 0.9
    assert odds[1] < 0.05


def test_a_history_without_failures_is_searched_as_ever():
    runs = [
        minimise(lambda x: float(x @ x), SQUARE, 9, on_failure=mode, model=quick, rng=4)
        for mode in ("record", "model")
    ]
    np.testing.assert_array_equal(*([e.x for e in run.evaluations] for run in runs))


# -- both -------------------------------------------------------------------------------------


def test_slopes_of_the_odds_are_those_of_differences(rng):
    X = rng.random((14, 2))
    evaluations = [
        Evaluation(x, math.nan, "no", "model") if x[0] > 0.7
        else Evaluation(x, 0.0, constraints=np.asarray([x[1] - 0.5, x[0] * x[1] - 0.2]))
        for x in X
    ]  # fmt: skip
    for doubt in (True, False):
        odds = log_feasibility(evaluations, X, quick, stream(1), doubt)
        assert len(odds) == 3
        for surface in odds:
            at = rng.random((4, 2))
            values, slopes = surface.values_and_gradient(at)
            np.testing.assert_allclose(values, surface.values(at), rtol=1e-8, atol=1e-10)
            # a variance of 100 leaves differences fewer digits
            gradcheck(surface.values, lambda _, bar, g=slopes: (bar[:, None] * g,), at, rtol=1e-4)


@pytest.mark.parametrize("budgets", [(3, 4, 8), (3, 4, 7, 9, 10)])
def test_a_killed_search_goes_on_to_the_same_points(tmp_path, budgets):
    def told(x):
        value = math.nan if x[0] > 0.75 else float(np.sum((x - 0.6) ** 2))
        return value, [float(x[0] + x[1] - 1.0) / 3.0]

    options = {"num_constraints": 1, "on_failure": "model", "model": quick, "num_initial": 4}
    whole = minimise(told, SQUARE, budgets[-1], rng=7, **options)
    path = tmp_path / "history"
    for budget in budgets:
        parts = minimise(told, SQUARE, budget, path=path, rng=7, **options)
    for one, other in zip(whole.evaluations, parts.evaluations, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.y, other.y)
        assert (one.constraints is None) == (other.constraints is None) == bool(one.failure)
        if not one.failure:
            np.testing.assert_array_equal(one.constraints, other.constraints)
    with pytest.raises(ValueError, match="must hold the history of"):
        Optimiser(SQUARE, path=path, rng=7, **{**options, "num_constraints": 0})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_constraints": 1, "gradients": True}, "num_constraints must be 0 with gradients"),
        (
            {"num_constraints": 1, "acquisition": ThompsonSampling()},
            "LogExpectedImprovement with num_con",
        ),
        (
            {"num_constraints": 1, "acquisition": ExpectedImprovement},
            "LogExpectedImprovement with num_con",
        ),
        ({"on_failure": "model", "acquisition": ThompsonSampling()}, "with on_failure='model'"),
        (
            {"num_constraints": 1, "known_evaluations": [Evaluation(np.ones(2), 1.0)]},
            "must be 1 numbers",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(options, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Optimiser(SQUARE, rng=1, **options)


def test_an_acquisition_with_a_margin_is_a_logarithm_still():
    margin = Optimiser(
        SQUARE, num_constraints=1, acquisition=lambda best: LogExpectedImprovement(best, 0.1), rng=1
    )
    assert margin.num_constraints == 1


def test_what_an_objective_returns_is_looked_at():
    cases = {
        "a number and 2 constraints": (lambda x: 1.0, TypeError),
        "constraints must be 2 numbers": (lambda x: (1.0, [1.0]), ValueError),
    }
    for said, (objective, kind) in cases.items():
        with pytest.raises(kind, match=said):
            minimise(objective, SQUARE, 4, num_constraints=2, rng=1)
    made = Optimiser(SQUARE, num_constraints=1, rng=1)
    with pytest.raises(TypeError, match="constraints must be 1 numbers"):
        made.tell(np.ones(2), 1.0, constraints="x")
    with pytest.raises(ValueError, match="constraints must be None"):
        Optimiser(SQUARE, rng=1).tell(np.ones(2), 1.0, constraints=[1.0])
    found = minimise(lambda x: (1.0, [math.nan]), SQUARE, 3, num_constraints=1, rng=1)
    assert all("constraints" in e.problem for e in found.evaluations)


def test_the_logarithm_of_a_probability_keeps_its_digits_far_out():
    """``log Φ(−x) = −x² / 2 − log x − ½ log 2π + …`` and its slope x + 1 / x − 2 / x³."""
    x = 1e4
    acquisition = LogProbabilityOfImprovement(0.0)
    mean, one = np.asarray([-x]), np.ones(1)
    series = -0.5 * x * x - math.log(x) - 0.5 * math.log(2.0 * math.pi) - 1.0 / (x * x)
    np.testing.assert_allclose(acquisition(mean, one), series, rtol=1e-15)
    slope, by_variance = acquisition.derivatives(mean, one)
    np.testing.assert_allclose(slope, x + 1.0 / x - 2.0 / x**3, rtol=1e-15)
    np.testing.assert_allclose(by_variance, 0.5 * x * slope, rtol=1e-14)
    known = acquisition(np.asarray([1.0, -1.0]), np.zeros(2))
    np.testing.assert_array_equal(known, [0.0, -math.inf])


def test_the_chance_of_success_is_that_of_labels_of_plus_and_minus_one(rng):
    X, places = rng.random((9, 2)), rng.random((5, 2))
    failed = X[:, 0] > 0.5
    evaluations = [
        Evaluation(x, math.nan, "no", "model") if wrong else Evaluation(x, 0.0)
        for x, wrong in zip(X, failed, strict=True)
    ]
    (odds,) = log_feasibility(evaluations, X, quick, stream(1), doubt=False)
    mean, variance = success_model(X, np.where(failed, -1.0, 1.0)).predict(places)
    wanted = norm.logcdf(mean / np.sqrt(1.0 + variance))
    np.testing.assert_allclose(odds.values(places), wanted, rtol=1e-8)
