"""Joint improvement: its value, its slopes, and the batches that it chooses, against quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fixed_models import quick
from scipy.special import ndtr

from gpnotes import GP, ConstantMean, Matern52, condition, stream, to_numpy
from gpnotes.decide.bayesopt import (
    BatchExpectedImprovement,
    Integer,
    LinearConstraint,
    LogExpectedImprovement,
    NoisyExpectedImprovement,
    Optimiser,
    Real,
    Space,
    batch_improvement,
)
from gpnotes.decide.bayesopt.batch_improvement import batch_gain
from gpnotes.decide.bayesopt.pending_points import Aims, choose_batch
from gpnotes.draw.paths import sample_paths
from gpnotes.testing import gradcheck

PLANE = [(-1.0, 2.0), (0.0, 3.0)]


def bowl(x):
    return float(np.sum((x - 0.4) ** 2))


def a_posterior(seed, n=8, d=2):
    draws = np.random.default_rng(seed)
    X = draws.random((n, d))
    gp = GP(Matern52(1.0, 0.3), 1e-4, ConstantMean(0.0))
    return condition(gp, X, np.sin(5.0 * X[:, 0]) * np.cos(4.0 * X[:, 1]))


def exact(posterior, pair, best):
    """``E max(f₁, f₂, b) − b``: over f₁ by the trapezium rule, over f₂ given f₁ in closed form."""
    (m1, m2), C = posterior.mean(pair), posterior.covariance(pair)
    s1 = math.sqrt(C[0, 0])
    u = np.linspace(-9.0, 9.0, 20001)
    given = m2 + C[0, 1] / s1 * u
    deviation = math.sqrt(max(C[1, 1] - C[0, 1] ** 2 / C[0, 0], 1e-300))
    level = np.maximum(m1 + s1 * u, best)
    z = (given - level) / deviation
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    whole = level - best + deviation * (density + z * ndtr(z))
    return float(np.trapezoid(whole * np.exp(-0.5 * u * u), u) / math.sqrt(2.0 * math.pi))


# -- the value --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_average_to_the_improvement_of_two_points(seed):
    """Five standard errors, and one hundredth for the features."""
    posterior = a_posterior(seed)
    best = float(np.max(posterior.mean(posterior.X)))
    paths = sample_paths(posterior, 4000, num_features=4096, rng=stream(seed))
    pair = np.random.default_rng(seed + 50).random((2, 2))
    improvements = np.clip(paths(pair).max(axis=1) - best, 0.0, None)
    truth = exact(posterior, pair, best)
    assert (
        abs(improvements.mean() - truth)
        < 5.0 * improvements.std() / math.sqrt(4000.0) + 0.01 * truth
    )


def test_the_quadrature_knows_one_point():
    """Of a point and itself: the expected improvement of one."""
    posterior = a_posterior(4)
    pair = np.random.default_rng(4).random((1, 2)).repeat(2, axis=0)
    mean, variance = posterior.predict(pair[:1])
    best = float(mean[0] + 0.5 * variance[0] ** 0.5)
    alone = np.exp(LogExpectedImprovement(best)(mean, variance))[0]
    assert exact(posterior, pair, best) == pytest.approx(alone, rel=1e-5, abs=0.0)


def test_slopes_are_those_of_differences(space, rng, monkeypatch):
    """With an improvement that sets in over a tenth: a thousandth is too sharp for differences."""
    monkeypatch.setattr(batch_improvement, "_SMOOTH", 0.1)
    if not space.double:
        pytest.skip("differences need double precision")
    X = rng.random((6, 2))
    gp = GP(Matern52(1.0, 0.4), 1e-3)
    posterior = condition(gp, space.asarray(X), space.asarray(np.sin(5.0 * X[:, 0])))
    paths = sample_paths(posterior, 16, num_features=64, rng=stream(1))
    surface = batch_gain(paths, space.asarray(rng.random((2, 2))), 0.2)
    at = space.asarray(rng.random((5, 2)))
    values, slopes = surface.values_and_gradient(at)
    np.testing.assert_allclose(to_numpy(values), to_numpy(surface.values(at)), rtol=1e-12)
    gradcheck(surface.values, lambda _, bar: (bar[:, None] * slopes,), at)
    assert space.holds(values)
    assert space.holds(slopes)


def test_all_points_before_count_in_whatever_order():
    """Each function has the best of its values at all of them to improve on."""
    posterior, x = a_posterior(6), np.random.default_rng(1).random((3, 2))
    paths = sample_paths(posterior, 40, num_features=64, rng=stream(1))
    best = float(np.median(paths(x)))
    wanted = np.maximum(paths(x).max(axis=1), best)
    assert len(set(np.argmax(paths(x), axis=1))) == 3
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        np.testing.assert_allclose(batch_gain(paths, x[order], best).levels, wanted, rtol=1e-12)


def test_where_no_draw_improves_nothing_is_taken_away():
    posterior = a_posterior(5)
    paths = sample_paths(posterior, 8, num_features=64, rng=stream(1))
    surface = batch_gain(paths, posterior.X[:1], 50.0)
    values, slopes = surface.values_and_gradient(np.full((1, 2), 0.37))
    np.testing.assert_array_equal(values, 0.0)
    np.testing.assert_array_equal(slopes, 0.0)


# -- the batch --------------------------------------------------------------------------------


def test_pairs_are_worth_more_than_those_of_a_believer():
    """On thirteen random posteriors, by exact values, they are worth more on average."""
    gains = []
    for seed in range(500, 513):
        posterior = a_posterior(seed)
        best = float(np.max(posterior.mean(posterior.X)))
        worth = []
        for acquisition in (BatchExpectedImprovement(), LogExpectedImprovement):
            pair = choose_batch(posterior, acquisition, posterior.X, [], 2, stream(seed), Aims())
            worth.append(exact(posterior, np.stack(pair), best))
        gains.append(worth[0] / worth[1] - 1.0)
    assert np.mean(gains) > 0.0
    assert np.mean(np.asarray(gains) > -0.01) > 0.8


def test_the_first_is_what_is_asked_for_alone_and_longer_batches_begin_alike():
    def told(acquisition):
        made = Optimiser(PLANE, model=quick, num_initial=5, acquisition=acquisition, rng=3)
        while made.count < 7:
            x = made.ask()
            made.tell(x, bowl(x))
        return made

    alone = told(LogExpectedImprovement).ask()
    made = told(BatchExpectedImprovement())
    np.testing.assert_array_equal(made.ask(), alone)
    batch = made.ask_batch(4)
    np.testing.assert_array_equal(batch[0], alone)
    np.testing.assert_array_equal(told(BatchExpectedImprovement()).ask_batch(2), batch[:2])
    beside = made.ask_batch(1, pending=batch[:1])
    np.testing.assert_array_equal(beside, batch[1:2])


@pytest.mark.parametrize("rule", [BatchExpectedImprovement(64, 128), NoisyExpectedImprovement()])
def test_batches_find_the_bowl_and_keep_to_rooms_and_lattices(rule):
    room = LinearConstraint([1.0, 1.0], upper=0.6)
    made = Optimiser(PLANE, acquisition=rule, linear_constraints=[room], rng=2)
    for _ in range(5):
        for x in made.ask_batch(4):
            assert x.sum() <= 0.6
            made.tell(x, bowl(x))
    assert made.best.y - 2 * 0.1**2 < 5e-3  # at (0.3, 0.3)
    space = Space({"n": Integer(0, 9), "r": Real(0.0, 1.0)})
    whole = Optimiser(space, acquisition=rule, model=quick, rng=2)
    for _ in range(5):
        for point in whole.ask_batch(4):
            whole.tell(point, (point["n"] - 6) ** 2 + point["r"])
    assert whole.best.x["n"] == 6


def test_it_goes_with_constraints_and_from_a_file(tmp_path):
    options = {
        "acquisition": BatchExpectedImprovement(32, 64),
        "num_constraints": 1,
        "model": quick,
    }

    def run(path, kills):
        made, points = Optimiser(PLANE, path=path, rng=5, **options), []
        for number in range(5):
            if number in kills:
                made = Optimiser(PLANE, path=path, rng=5, **options)
            points.append(made.ask_batch(3))
            for x in points[-1]:
                made.tell(x, bowl(x), constraints=[float(x[0] - 0.1)])
        return np.stack(points)

    np.testing.assert_array_equal(run(tmp_path / "a", ()), run(tmp_path / "b", (1, 3, 4)))


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"num_samples": 0}, ValueError, "num_samples"),
        ({"num_features": 7}, ValueError, "num_features"),
        ({"num_samples": 1.5}, TypeError, "num_samples"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(given, kind, said):
    with pytest.raises(kind, match=said):
        BatchExpectedImprovement(**given)
    with pytest.raises(TypeError, match=r"BatchExpectedImprovement\(\); got the class"):
        Optimiser(PLANE, acquisition=BatchExpectedImprovement, rng=1)
    with pytest.raises(ValueError, match="BatchExpectedImprovement with gradients=True"):
        Optimiser(PLANE, acquisition=BatchExpectedImprovement(), gradients=True, rng=1)
