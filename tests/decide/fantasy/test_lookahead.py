"""A fantasy through a rollout: refits one by one, and the law of total variance where it holds."""

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, gauss_hermite
from gpnotes.decide import fantasy
from gpnotes.decide.pilco import Dynamics, LinearPolicy, QuadraticCost, SaturatingCost, rollout
from gpnotes.ground.xp import to_numpy
from gpnotes.infer.exact import ExactPosterior

D, U = 2, 1


@pytest.fixture
def world(rng):
    """A function that makes dynamics, policy, cost and start, in a space or NumPy."""
    X, y = rng.normal(size=(8, D + U)), 0.4 * rng.normal(size=(D, 8))
    lengths, M, factor = (rng.uniform(size=s) for s in ((D, D + U), (U, D), (D, D)))
    m = rng.normal(size=D)

    def make(asarray=np.asarray):
        posteriors = tuple(
            condition(GP(RBF(0.5, asarray(1.0 + one)), 0.02), asarray(X), asarray(z))
            for one, z in zip(lengths, y, strict=True)
        )
        policy = LinearPolicy(asarray(M - 0.5), asarray(np.asarray([0.2])))
        cost = SaturatingCost(asarray(np.zeros(D)), asarray(np.eye(D)))
        start = asarray(m), asarray(0.1 * factor @ factor.T)
        return Dynamics(posteriors), policy, cost, *start

    return make


def variances(stack):
    return stack[:, [0, 1], [0, 1]]


def test_each_answer_has_the_rollout_of_a_refit(world, rng):
    dynamics, *rest = world()
    x_hat = rng.normal(size=D + U)
    ahead = fantasy.look_ahead(dynamics, *rest, 3, x_hat)
    assert ahead.answers.shape == (9, D)
    for i in (0, 5):
        refits = [
            condition(p.gp, np.vstack([p.X, x_hat]), np.append(p.y, ahead.answers[i, e]))
            for e, p in enumerate(dynamics.posteriors)
        ]
        later = rollout(Dynamics(tuple(refits)), *rest, 3)
        np.testing.assert_allclose(ahead.means[i], later.mean, rtol=1e-9)
        np.testing.assert_allclose(ahead.covariances[i], later.covariance, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(ahead.costs[i], later.costs, rtol=1e-9)


def test_answers_have_the_moments_of_the_prediction(world, rng):
    dynamics, *rest = world()
    x_hat = rng.normal(size=D + U)
    ahead = fantasy.look_ahead(dynamics, *rest, 1, x_hat, nodes=4)
    told = [p.predict(x_hat[None], noise=True) for p in dynamics.posteriors]
    mean = ahead.weights @ ahead.answers
    off = ahead.answers - mean
    np.testing.assert_allclose(mean, [m[0] for m, _ in told], rtol=1e-9)
    covariance = off.T @ (ahead.weights[:, None] * off)
    np.testing.assert_allclose(covariance, np.diag([v[0] for _, v in told]), atol=1e-12)


def test_for_one_step_the_parts_add_up_and_are_those_of_the_closed_form(world, rng):
    """The start is an uncertain input, and its action a linear function of it."""
    dynamics, policy, cost, m, S = world()
    x_hat = rng.normal(size=D + U)
    ahead = fantasy.look_ahead(dynamics, policy, cost, m, S, 1, x_hat)
    before = rollout(dynamics, policy, cost, m, S, 1)
    np.testing.assert_allclose(ahead.left + ahead.moved, before.covariance, rtol=1e-9, atol=1e-12)
    onto = np.vstack([np.eye(D), policy.weights])
    at = onto @ m + np.append(np.zeros(D), policy.bias), onto @ S @ onto.T
    falls = fantasy.variance_reduction(dynamics.posteriors, *at, x_hat[None])[0]
    np.testing.assert_allclose(variances(ahead.moved)[1], falls, rtol=1e-9)


def test_for_several_steps_the_means_move_by_more_than_the_rollout_gives_up():
    """A state that hardly moves meets one value of the function in all steps, not one a step."""
    inputs = np.asarray([[0.0, -3.0], [0.0, 3.0]])
    dynamics = Dynamics((condition(GP(RBF(0.01, 2.0), 1e-6), inputs, np.zeros(2)),))
    still = LinearPolicy(np.zeros((1, 1)), np.zeros(1))
    cost = QuadraticCost(np.zeros(1), np.eye(1))
    given = dynamics, still, cost, np.zeros(1), np.zeros((1, 1)), 4
    ahead = fantasy.look_ahead(*given, np.zeros(2))
    before = rollout(*given).covariance[-1, 0, 0]
    assert ahead.moved[-1, 0, 0] > 3.0 * (before - ahead.left[-1, 0, 0])


def test_what_is_seen_where_nothing_can_be_learnt_changes_nothing(world):
    dynamics, *rest = world()
    ahead = fantasy.look_ahead(dynamics, *rest, 3, np.full(D + U, 60.0))
    before = rollout(dynamics, *rest, 3)
    np.testing.assert_allclose(ahead.mean, before.mean, rtol=1e-9)
    np.testing.assert_allclose(ahead.left, before.covariance, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ahead.moved, 0.0, atol=1e-12)


def test_it_lives_where_its_arguments_do(space, world, rng):
    x_hat = rng.normal(size=D + U)
    ours = fantasy.look_ahead(*world(space.asarray), 2, space.asarray(x_hat))
    numpys = fantasy.look_ahead(*world(), 2, x_hat)
    tolerance = 1e-9 if space.double else 2e-3
    for there, here in zip((*ours, ours.left), (*numpys, numpys.left), strict=True):
        assert space.holds(there)
        np.testing.assert_allclose(to_numpy(there), here, rtol=tolerance, atol=tolerance)


def test_the_weights_are_those_of_the_product_rule(world, rng):
    dynamics, *rest = world()
    ahead = fantasy.look_ahead(dynamics, *rest, 1, rng.normal(size=D + U), nodes=2)
    w = gauss_hermite(2)[1]
    np.testing.assert_allclose(ahead.weights, np.outer(w, w).ravel(), rtol=1e-12)


def test_a_posterior_is_extended_once_for_each_of_its_values(world, rng, monkeypatch):
    """What another output shows changes nothing in it: D times nodes rows, not nodes**D of each."""
    dynamics, *rest = world()
    extended = []
    extend = ExactPosterior.extend

    def counted(self, x, y):
        extended.append((self.y[0], y[0]))
        return extend(self, x, y)

    monkeypatch.setattr(ExactPosterior, "extend", counted)
    fantasy.look_ahead(dynamics, *rest, 1, rng.normal(size=D + U), nodes=4)
    assert len(extended) == len(set(extended)) == D * 4


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"x_hat": np.zeros(2)}, "x_hat"),
        ({"nodes": 0}, "nodes must be a whole number from 1 to 350"),
        ({"nodes": 317}, r"nodes must give at most 100000 .*; got 317 for D = 2, .* 100489"),
        ({"dynamics": None}, "dynamics"),
    ],
)
def test_what_does_not_fit_is_named(world, wrong, says):
    names = "dynamics", "policy", "cost", "m", "S"
    given = dict(zip(names, world(), strict=True)) | {"horizon": 1, "x_hat": np.zeros(D + U)}
    with pytest.raises((TypeError, ValueError), match=says):
        fantasy.look_ahead(**(given | wrong))
