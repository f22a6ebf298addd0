"""Thompson sampling: how often it chooses what, against the odds of being best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fixed_models import quick

from gpnotes import GP, RBF, Linear, Matern52, condition, stream, to_numpy
from gpnotes.decide.bayesopt import (
    LogExpectedImprovement,
    NoisyExpectedImprovement,
    Optimiser,
    ThompsonSampling,
    minimise,
    thompson_sample,
    thompson_sample_among,
)
from gpnotes.draw.paths import sample_paths

BOX = [(-1.0, 2.0), (0.0, 3.0)]


def posterior_of(kernel, rng, asarray=np.asarray, noise_var=0.01):
    X = rng.uniform((-1.0, 0.0), (2.0, 3.0), (8, 2))
    y = np.cos(2.0 * X[:, 0]) - 0.5 * (X[:, 1] - 1.0) ** 2
    return condition(GP(kernel, noise_var), asarray(X), asarray(y))


def bowl(x):
    return float(np.sum((x - 0.4) ** 2))


def asked(outcome):
    return np.stack([evaluation.x for evaluation in outcome.evaluations])


def test_a_candidate_is_chosen_as_often_as_it_is_best():
    """Of two, with probability ``Φ((μ₁ − μ₂) / √(v₁ + v₂ − 2c))``; 40 000 draws, five errors."""
    posterior = condition(GP(RBF(), 0.1), np.asarray([[0.0], [1.0]]), np.asarray([0.3, 0.1]))
    Xs = np.asarray([[-0.4], [2.0]])
    mean, covariance = posterior.mean(Xs), posterior.covariance(Xs)
    scale = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1])
    odds = 0.5 * math.erfc(-(mean[0] - mean[1]) / scale / math.sqrt(2.0))
    rows = thompson_sample_among(posterior, Xs, 40_000, rng=stream(1))
    assert rows.shape == (40_000,)
    error = math.sqrt(odds * (1.0 - odds) / 40_000)
    assert abs(np.mean(rows == 0) - odds) < 5.0 * error
    assert 0.05 < odds < 0.95
    assert abs(odds - 0.5) > 10.0 * error


def test_an_end_of_the_box_is_chosen_as_often_as_it_is_best():
    """A path of a linear kernel through the origin is largest at one end or at the other.

    ``P(slope > 0) = Φ(m / s)`` of the slope's posterior; 600 draws, five standard errors.
    """
    posterior = condition(GP(Linear(1.0), 1.0), np.asarray([[1.0]]), np.asarray([0.8]))
    m, s = 0.4, math.sqrt(0.5)
    odds = 0.5 * math.erfc(-m / s / math.sqrt(2.0))
    source = stream(2)
    ends = [
        thompson_sample(posterior, [(-1.0, 1.0)], raw_samples=4, num_restarts=1, rng=source).x[0]
        for _ in range(600)
    ]
    assert set(np.sign(ends)) == {-1.0, 1.0}
    np.testing.assert_allclose(np.abs(ends), 1.0)
    assert abs(np.mean(np.asarray(ends) > 0) - odds) < 5.0 * math.sqrt(odds * (1 - odds) / 600)


def test_no_point_of_a_grid_is_worth_more_than_the_one_found(rng):
    """The path that it climbed is the first that a stream of the same seed draws."""
    posterior = posterior_of(Matern52(1.0, 0.8), rng)
    found = thompson_sample(posterior, BOX, num_features=64, rng=stream(4))
    path = sample_paths(posterior, 1, num_features=64, rng=stream(4))
    np.testing.assert_allclose(path(found.x[None, :])[0, 0], found.value, rtol=1e-9)
    a, b = np.meshgrid(np.linspace(-1.0, 2.0, 80), np.linspace(0.0, 3.0, 80))
    grid = path(np.column_stack([a.ravel(), b.ravel()]))
    assert found.value >= np.max(grid) - 1e-6
    assert found.value == max(climb.value for climb in found.local_maxima)
    assert found.value > np.mean(grid) + np.std(grid)


def test_a_climb_ends_where_the_path_is_flat_or_the_box_ends(rng):
    posterior = posterior_of(Matern52(1.0, 0.8), rng)
    found = thompson_sample(posterior, BOX, num_features=64, rng=stream(4))
    path = sample_paths(posterior, 1, num_features=64, rng=stream(4))
    _, pull = path.values_and_pullback(found.x[None, :])
    slope = pull(np.ones((1, 1)))[0]
    inside = (found.x > [-1.0, 0.0]) & (found.x < [2.0, 3.0])
    np.testing.assert_allclose(slope[inside], 0.0, atol=1e-3)


def test_they_live_where_the_posterior_does(space, rng):
    posterior = posterior_of(Matern52(1.0, 0.8), rng, space.asarray)
    found = thompson_sample(
        posterior, BOX, num_features=16, raw_samples=32, num_restarts=2, rng=stream(4)
    )
    assert space.holds(found.x)
    host = condition(posterior.gp, *(to_numpy(a).astype(float) for a in (posterior.X, posterior.y)))
    other = thompson_sample(
        host, BOX, num_features=16, raw_samples=32, num_restarts=2, rng=stream(4)
    )
    np.testing.assert_allclose(found.value, other.value, rtol=1e-6 if space.double else 5e-3)
    Xs = rng.uniform(-1.0, 2.0, (6, 2))
    rows = thompson_sample_among(posterior, space.asarray(Xs), 20, rng=stream(1))
    np.testing.assert_array_equal(
        to_numpy(rows), thompson_sample_among(host, Xs, 20, rng=stream(1))
    )


def test_no_candidates_and_odd_features_are_refused(rng):
    posterior = posterior_of(RBF(), rng)
    with pytest.raises(ValueError, match=r"Xs must have at least one row; got \(0, 2\)"):
        thompson_sample_among(posterior, np.zeros((0, 2)), rng=stream(1))
    with pytest.raises(ValueError, match="num_features must be even"):
        ThompsonSampling(5)


# -- in the loop ------------------------------------------------------------------------------


def test_the_loop_finds_the_least_by_it():
    """Each of five seeds within 0.02 of the least value after 18 evaluations."""
    for seed in range(5):
        outcome = minimise(
            bowl, BOX, 18, model=quick, acquisition=ThompsonSampling(256), rng=stream(seed)
        )
        assert outcome.best.y < 0.02


def test_the_next_point_depends_on_the_evaluations_alone(tmp_path):
    """A loop that goes on from a file, and one that is told afresh, ask for the same points."""
    policy = ThompsonSampling(64)
    whole = asked(minimise(bowl, BOX, 11, model=quick, acquisition=policy, rng=stream(3)))
    path = tmp_path / "history.jsonl"
    for budget in (7, 9, 11):
        minimise(bowl, BOX, budget, model=quick, acquisition=policy, path=path, rng=stream(3))
    resumed = Optimiser(BOX, model=quick, acquisition=policy, path=path, rng=stream(3))
    np.testing.assert_array_equal([e.x for e in resumed.evaluations], whole)
    used = stream(3)
    used.normal(7)
    fresh = Optimiser(BOX, model=quick, acquisition=policy, rng=used)
    for x in whole[:9]:
        fresh.tell(x, bowl(x))
    np.testing.assert_array_equal(fresh.ask(), whole[9])


def test_the_points_of_a_batch_are_of_draws_of_their_own():
    optimiser = Optimiser(
        BOX, model=quick, acquisition=ThompsonSampling(64), num_initial=4, rng=stream(3)
    )
    for x in optimiser.ask_batch(4):
        optimiser.tell(x, bowl(x))
    batch = optimiser.ask_batch(4)
    np.testing.assert_array_equal(optimiser.ask(), batch[0])
    np.testing.assert_array_equal(optimiser.ask_batch(2), batch[:2])
    # two may be largest in the same corner
    assert len(np.unique(batch.round(4), axis=0)) >= 3
    # what is under way takes its number with it, and the model is not told of it
    np.testing.assert_array_equal(optimiser.ask_batch(2, batch[:2]), batch[2:])


def test_the_class_in_place_of_an_object_is_refused():
    with pytest.raises(TypeError, match=r"acquisition must be an object, ThompsonSampling\(\)"):
        Optimiser(BOX, acquisition=ThompsonSampling, rng=stream(1))


def told(d=2, noise=0.3, repeats=2, count=18, failed=False, **options):
    """A search of d inputs that was told so many values, the first place again and again."""
    optimiser = Optimiser([(-1.0, 1.0)] * d, rng=3, **options)
    errors, places = stream(5), 2.0 * stream(6).uniform((count, d)) - 1.0
    for x in np.concatenate([places, np.repeat(places[:1], repeats, axis=0)]):
        measured = [[float(x[0])]] if options.get("num_constraints") else []
        optimiser.tell(x, bowl(x) + noise * float(errors.normal()), None, *measured)
    if failed:
        optimiser.fail(np.zeros(d), "it broke")
    return optimiser


@pytest.mark.parametrize(
    ("search", "rule"),
    [
        ({}, ThompsonSampling()),
        ({"d": 1, "count": 6}, ThompsonSampling()),
        ({"noise": 0.0}, LogExpectedImprovement),
        ({"d": 1, "count": 5}, LogExpectedImprovement),
        ({"d": 3}, NoisyExpectedImprovement()),
        ({"d": 3, "count": 8}, NoisyExpectedImprovement()),
        ({"d": 3, "noise": 0.0}, LogExpectedImprovement),
        ({"d": 3, "failed": True}, LogExpectedImprovement),
        ({"failed": True}, LogExpectedImprovement),
        ({"model": quick}, LogExpectedImprovement),
        ({"num_constraints": 1}, LogExpectedImprovement),
    ],
    ids=[
        "noise",
        "eight",
        "no noise",
        "seven",
        "d = 3",
        "few of d = 3",
        "no noise of d = 3",
        "a failure of d = 3",
        "a failure",
        "a model",
        "a constraint",
    ],
)
def test_under_noise_the_number_of_inputs_chooses_where_nothing_is_said(search, rule):
    """The next place is that of the rule given by name, and not that of another."""
    rules = ThompsonSampling(), LogExpectedImprovement, NoisyExpectedImprovement()
    silent = told(**search).ask()
    for other in rules:
        draws = isinstance(other, ThompsonSampling)
        if not (draws and search.get("num_constraints")):  # whose odds they cannot be weighed by
            asked_by_name = told(**search, acquisition=other).ask()
            assert np.array_equal(silent, asked_by_name) == (other == rule)


def test_gradients_under_noise_go_on_to_improvement():
    """Paths cannot be drawn from their model."""
    optimiser = Optimiser([(-1.0, 1.0)], gradients=True, num_initial=2, rng=3)
    for x, y in 4 * [(0.1, 0.2), (0.1, 0.5), (-0.5, 0.9)]:
        optimiser.tell(np.asarray([x]), y, np.asarray([2.0 * x]))
    assert abs(optimiser.ask()[0]) <= 1.0
