"""Rollouts: one step against simulation, all steps against differences."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.pilco import (
    Dynamics,
    LinearPolicy,
    PartialCost,
    QuadraticCost,
    RBFPolicy,
    SaturatingCost,
    SquashedPolicy,
    StepCost,
    augment,
    rollout,
    rollout_and_pullback,
    sample_trajectories,
    step,
)
from gpnotes.ground.params import cotangent
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck

D, K, U = 2, 4, 1  # a state of two entries, one of them an angle, and one action


@pytest.fixture
def world(rng):
    """A function that makes dynamics, policy, cost and start, in a space or NumPy."""
    X, y = rng.normal(size=(9, K + U)), 0.4 * rng.normal(size=(2, 9))
    lengths, signals = rng.uniform(1.0, 2.0, (2, K + U)), (0.3, 0.5)
    arrays = rng.normal(size=(3, 3)), rng.normal(size=(3, U)), rng.uniform(0.8, 2.0, 3)
    target, root, factor = rng.normal(size=K), rng.normal(size=(K, K)), rng.normal(size=(D, D))
    start = rng.normal(size=D), 0.05 * factor @ factor.T

    def make(asarray=np.asarray):
        gps = [
            condition(GP(RBF(v, asarray(one)), 0.01), asarray(X), asarray(z))
            for v, one, z in zip(signals, lengths, y, strict=True)
        ]
        policy = RBFPolicy(*(asarray(a) for a in arrays), inputs=(1, 2, 3), size=K)
        cost = SaturatingCost(asarray(target), asarray(0.1 * root @ root.T))
        return (
            Dynamics(tuple(gps), angles=(0,)),
            SquashedPolicy(policy, 1.3),
            cost,
            *(asarray(a) for a in start),
        )

    return make


def test_a_step_agrees_with_simulation(world, rng):
    """For a linear policy and a state without angles the moments of one step are exact."""
    dynamics, _, _, m, S = world()
    gps = [_without_angles(rng) for _ in range(D)]
    dynamics = Dynamics(tuple(gps))
    policy = LinearPolicy(rng.normal(size=(U, D)), rng.normal(size=U))
    n = 100_000
    x = m + rng.normal(size=(n, D)) @ np.linalg.cholesky(S).T
    w = np.concatenate([x, x @ policy.weights.T + policy.bias], axis=1)
    for e, gp in enumerate(gps):
        mean, variance = gp.predict(w, noise=True)
        x[:, e] += mean + np.sqrt(variance) * rng.normal(size=n)
    got_m, got_S = step(dynamics, policy, m, S)
    error = np.sqrt(np.diag(got_S) / n)
    assert (abs(got_m - x.mean(axis=0)) < 4.0 * error).all()
    np.testing.assert_allclose(got_S, np.cov(x.T), atol=0.03 * got_S.max())


def _without_angles(rng):
    X, y = rng.normal(size=(8, D + U)), rng.normal(size=8)
    return condition(GP(RBF(0.7, rng.uniform(0.8, 2.0, D + U)), 0.02), X, y)


def test_a_state_may_have_one_entry(rng):
    """From a known state the next mean is what the process predicts there."""
    X, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    gp = condition(GP(RBF(0.7, np.array([1.1, 1.6])), 0.02), X, y)
    policy = LinearPolicy(np.array([[0.8]]), np.array([-0.3]))
    m, S = np.array([0.4]), np.zeros((1, 1))
    means = rollout(Dynamics((gp,)), policy, SaturatingCost(np.zeros(1), np.eye(1)), m, S, 1).mean
    change, _ = gp.predict(np.array([[0.4, 0.8 * 0.4 - 0.3]]))
    np.testing.assert_allclose(means[1], m + change, rtol=1e-10)


def test_a_rollout_is_its_steps(world):
    dynamics, policy, cost, m, S = world()
    predicted = rollout(dynamics, policy, cost, m, S, 3)
    for t in range(3):
        m, S = step(dynamics, policy, m, S)
        np.testing.assert_allclose(predicted.mean[t + 1], m, rtol=1e-12)
        np.testing.assert_allclose(predicted.covariance[t + 1], S, rtol=1e-12)
    assert np.linalg.eigvalsh(predicted.covariance).min() > 0.0
    assert (predicted.covariance[1:] == np.swapaxes(predicted.covariance[1:], 1, 2)).all()


def test_a_rollout_lives_where_its_arguments_do(world, space):
    dynamics, policy, cost, m, S = world(space.asarray)
    predicted, pull = rollout_and_pullback(dynamics, policy, cost, m, S, 2)
    _, *bars = pull(predicted.costs)
    assert all(space.holds(a) for a in (*predicted, *bars))
    host = rollout(*world(), 2)
    for a, b in zip(predicted, host, strict=True):
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-8 if space.double else 2e-3, atol=1e-5)


def test_the_reverse_pass_is_the_gradient_of_the_whole_rollout(world):
    """By the policy and by the start, through sines, cost and five steps."""
    dynamics, policy, cost, m, S = world()

    def costs(policy, m, S):
        return rollout(dynamics, policy, cost, m, 0.5 * (S + S.T), 5).costs

    def pulled(policy, m, S, bar):
        policy_bar, m_bar, S_bar = rollout_and_pullback(dynamics, policy, cost, m, S, 5)[1](bar)
        return policy_bar, m_bar, 0.5 * (S_bar + S_bar.T)

    gradcheck(costs, pulled, policy, m, S)


def costs_of_actions(cost):
    effort = StepCost(action=QuadraticCost(np.asarray([0.2]), 0.5 * np.eye(U)))
    turned = PartialCost(SaturatingCost(np.ones(1), np.eye(1)), (3,))
    return {"both": cost + 0.3 * effort + turned, "the action alone": effort}


@pytest.mark.parametrize("kind", ["both", "the action alone"])
def test_the_reverse_pass_knows_what_actions_cost(world, kind):
    """By the policy, which acts and steers, and by the start."""
    dynamics, policy, cost, m, S = world()
    cost = costs_of_actions(cost)[kind]

    def costs(policy, m, S):
        return rollout(dynamics, policy, cost, m, 0.5 * (S + S.T), 4).costs

    def pulled(policy, m, S, bar):
        policy_bar, m_bar, S_bar = rollout_and_pullback(dynamics, policy, cost, m, S, 4)[1](bar)
        return policy_bar, m_bar, 0.5 * (S_bar + S_bar.T)

    gradcheck(costs, pulled, policy, m, S)


def test_the_cost_of_an_action_is_that_of_the_state_it_was_taken_in(world):
    """The first of them is known before anything moves."""
    dynamics, policy, cost, m, S = world()
    both = cost + costs_of_actions(cost)["the action alone"]
    extra = rollout(dynamics, policy, both, m, S, 3).costs
    extra = extra - rollout(dynamics, policy, cost, m, S, 3).costs
    for t in range(3):
        u = policy.moments(*augment(m, S, (0,)))
        wanted = 0.5 * ((u.mean[0] - 0.2) ** 2 + u.covariance[0, 0])
        np.testing.assert_allclose(extra[t], wanted, rtol=1e-10)
        m, S = step(dynamics, policy, m, S)


def test_action_costs_live_where_the_rollout_does(world, space):
    dynamics, policy, cost, m, S = world(space.asarray)
    effort = QuadraticCost(space.asarray([0.2]), space.asarray([[0.5]]))
    predicted, pull = rollout_and_pullback(
        dynamics, policy, cost + 0.1 * StepCost(action=effort), m, S, 2
    )
    assert all(space.holds(a) for a in (predicted.costs, *pull(predicted.costs)[1:]))


class Broken:
    """A cost of one's own that is not finite, from a step on, or is no cost at all."""

    def __init__(self, value, good=0):
        self.value, self.good = value, good

    def __call__(self, x):
        return self.value

    def expected_and_pullback(self, m, S):
        self.good -= 1
        value = 1.0 if self.good >= 0 else self.value
        return value, lambda bar: (0.0 * m, 0.0 * S)


def test_a_cost_that_is_not_finite_is_refused_by_name(world):
    dynamics, policy, _, m, S = world()
    with pytest.raises(ValueError, match="the expectation of cost must be finite; got nan"):
        rollout(dynamics, policy, Broken(np.nan), m, S, 2)
    with pytest.raises(TypeError, match="the expectation of cost must be a number; got NoneType"):
        rollout(dynamics, policy, Broken(None), m, S, 2)
    with pytest.raises(ValueError, match="the cost expected of step 2 must be finite; got inf"):
        rollout(dynamics, policy, Broken(np.inf, good=2), m, S, 3)


def test_a_cost_of_other_actions_is_refused_by_name(world):
    dynamics, policy, cost, m, S = world()
    effort = StepCost(action=QuadraticCost(np.zeros(2), np.eye(2)))
    with pytest.raises(ValueError, match=r"cost\.action must be one of an action, \(1,\): m must"):
        rollout(dynamics, policy, cost + effort, m, S, 2)


def test_particles_agree_with_matched_moments_while_the_uncertainty_is_small(world):
    dynamics, policy, cost, m, _ = world()
    S = 1e-4 * np.eye(D)
    gps = [posterior.extend(*_more(posterior)) for posterior in dynamics.posteriors]
    dynamics = Dynamics(tuple(gps), (0,))
    predicted, n = rollout(dynamics, policy, cost, m, S, 2), 4000
    starts = m + 0.01 * stream(1).normal((n, D))
    paths = sample_trajectories(dynamics, policy, starts, 2, rng=stream(2))
    assert paths.shape == (3, n, D)
    for t in (1, 2):
        error = np.sqrt(np.diag(predicted.covariance[t]) / n)
        assert (abs(paths[t].mean(axis=0) - predicted.mean[t]) < 4.5 * error).all()
        off = np.cov(paths[t].T) - predicted.covariance[t]
        assert abs(off).max() < 0.1 * predicted.covariance[t].max()


def _more(posterior):
    """Many more observations, so that the functions are nearly known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, K + U))
    return X, posterior.mean(X)


def test_particles_live_where_their_starts_do(world, space):
    dynamics, policy, _, m, _ = world(space.asarray)
    starts = space.xp.stack([m, m + 0.1, m - 0.1])
    paths = sample_trajectories(dynamics, policy, starts, 2, rng=stream(0))
    assert space.holds(paths)
    assert tuple(paths.shape) == (3, 3, D)


def test_a_rollout_from_a_known_state(world):
    dynamics, policy, cost, m, S = world()
    predicted, pull = rollout_and_pullback(dynamics, policy, cost, m, 0.0 * S, 4)
    policy_bar, m_bar, S_bar = pull(np.ones(4))
    assert np.isfinite(predicted.costs).all()
    assert np.isfinite(m_bar).all()
    assert np.isfinite(S_bar).all()
    assert np.isfinite(policy_bar.inner.centres).all()


def test_what_does_not_fit_is_refused(world):
    dynamics, policy, cost, m, S = world()
    with pytest.raises(ValueError, match="horizon must be a whole number from 1; got 0"):
        rollout(dynamics, policy, cost, m, S, 0)
    with pytest.raises(ValueError, match=r"S must have shape \(2, 2\)"):
        rollout(dynamics, policy, cost, m, np.eye(3), 2)
    with pytest.raises(ValueError, match="S must be positive semidefinite"):
        rollout(dynamics, policy, cost, m, np.diag([1.0, -1.0]), 2)
    with pytest.raises(TypeError, match=r"horizon must be a whole number from 1; got 2\.0"):
        rollout(dynamics, policy, cost, m, S, 2.0)
    with pytest.raises(ValueError, match=r"m must be finite"):
        step(dynamics, policy, m * np.nan, S)


def test_worlds_that_do_not_fit_together_are_refused(world):
    dynamics, policy, cost, m, S = world()
    half = Dynamics(dynamics.posteriors[:1], dynamics.angles)
    with pytest.raises(ValueError, match="one posterior for each of the 2 entries of m; got 1"):
        step(half, policy, m, S)  # broadcasting would go on
    with pytest.raises(ValueError, match="angles must be entries 0 to 1 of a state"):
        step(Dynamics(dynamics.posteriors, (7,)), policy, m, S)
    with pytest.raises(
        ValueError, match=r"cost must be one of a state .* \(4,\): m must have shape"
    ):
        rollout(dynamics, policy, SaturatingCost(np.zeros(1), np.eye(1)), m, S, 2)
    wide = LinearPolicy(np.ones((U + 1, K)), np.ones(U + 1))
    with pytest.raises(ValueError, match="the posteriors of dynamics have inputs of 5 entries"):
        rollout(dynamics, wide, cost, m, S, 2)
    _, pull = rollout_and_pullback(dynamics, policy, cost, m, S, 3)
    with pytest.raises(ValueError, match=r"costs_bar must have shape \(3,\); got \(5,\)"):
        pull(np.ones(5))


def test_particles_that_do_not_fit_are_refused(world):
    dynamics, policy, _, m, _ = world()
    with pytest.raises(ValueError, match=r"starts must have shape \(n, 2\); got \(4, 3\)"):
        sample_trajectories(dynamics, policy, np.zeros((4, 3)), 2, rng=stream(0))
    with pytest.raises(ValueError, match="starts must have at least one row"):
        sample_trajectories(dynamics, policy, m[None, :][:0], 2, rng=stream(0))
    with pytest.raises(ValueError, match="horizon must be a whole number from 1; got 0"):
        sample_trajectories(dynamics, policy, m[None, :], 0, rng=stream(0))


def calls(function):
    """How often the house checks, and how often it asks for a namespace, while a function runs."""
    counts = {"checks": 0, "namespaces": 0}

    def count(frame, event, _):
        if event == "call":
            code = frame.f_code
            counts["checks"] += code.co_filename.endswith("_check.py")
            counts["namespaces"] += code.co_name == "array_namespace"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return counts


def test_inside_the_house_nothing_is_checked_again(world):
    """A step adds one check, that of its cost; the rest is done once, at the door."""
    dynamics, policy, cost, m, S = world()
    dynamics.predictor  # noqa: B018  (made before)

    def gradient(horizon):
        predicted, pull = rollout_and_pullback(dynamics, policy, cost, m, S, horizon)
        pull(predicted.costs)

    short, long = calls(lambda: gradient(2)), calls(lambda: gradient(12))
    a_step = {name: (long[name] - short[name]) / 10 for name in short}
    assert a_step["checks"] <= 4  # a number is one through three functions
    assert a_step["namespaces"] <= 10


@dataclass(frozen=True, eq=False)
class Blend:
    """A policy with a tuple of policies, whose mean action it takes: a linear one again."""

    parts: tuple[LinearPolicy, ...]

    def _one(self):
        fields = ("weights", "bias")
        return LinearPolicy(*(np.mean([getattr(p, f) for p in self.parts], axis=0) for f in fields))

    def __call__(self, z):
        return self._one()(z)

    def moments_and_pullback(self, m, S):
        action, pull = self._one().moments_and_pullback(m, S)

        def back(bar):
            one, m_bar, S_bar = pull(bar)
            half = cotangent(one, weights=0.5 * one.weights, bias=0.5 * one.bias)
            return cotangent(self, parts=(half, half)), m_bar, S_bar

        return action, back


def test_derivatives_add_up_through_tuples_of_a_policy(world, rng):
    dynamics, _, cost, m, S = world()
    parts = [LinearPolicy(rng.normal(size=(U, K)), rng.normal(size=U)) for _ in range(2)]

    def costs(policy):
        return rollout(dynamics, policy, cost, m, S, 3).costs

    def pulled(policy, bar):
        return (rollout_and_pullback(dynamics, policy, cost, m, S, 3)[1](bar)[0],)

    gradcheck(costs, pulled, Blend(tuple(parts)))


class Foreign:
    """A policy of somebody else, whose moments are wrong where it is told to be."""

    def __init__(self, inner, wrong):
        self.inner, self.wrong = inner, wrong

    def __call__(self, z):
        return self.inner(z)

    def moments_and_pullback(self, m, S):
        action, pull = self.inner.moments_and_pullback(m, S)
        return action._replace(cross=self.wrong * action.cross), pull


@pytest.mark.parametrize("squashed", [False, True])
def test_moments_of_a_policy_of_ones_own_are_looked_at(world, squashed):
    """A covariance of state and action beyond what both variances allow is none."""
    dynamics, policy, cost, m, S = world()
    policies = [Foreign(policy.inner, wrong) for wrong in (1.0, 1e3)]
    right, wrong = [SquashedPolicy(one, 1.3) for one in policies] if squashed else policies
    plain = policy if squashed else policy.inner
    theirs, ours = (rollout(dynamics, one, cost, m, S, 2) for one in (right, plain))
    np.testing.assert_allclose(theirs.costs, ours.costs, rtol=1e-12)
    with pytest.raises(ValueError, match=r"the covariance of \(z, u\) must be positive semidef"):
        rollout(dynamics, wrong, cost, m, S, 2)


class Doubled(LinearPolicy):
    """A policy of ours with moments of its own, twice as large an action as it has."""

    def moments_and_pullback(self, m, S):
        return LinearPolicy(2.0 * self.weights, 2.0 * self.bias).moments_and_pullback(m, S)


@dataclass(frozen=True, eq=False)
class Dear(QuadraticCost):
    """A cost of ours that expects one more."""

    def expected_and_pullback(self, m, S):
        value, pull = super().expected_and_pullback(m, S)
        return value + 1.0, pull


def test_what_a_subclass_expects_is_asked(world, rng):
    """Not the unchecked method that it inherits, which knows nothing of it."""
    dynamics, _, _, m, S = world()
    W, b = rng.normal(size=(U, K)), rng.normal(size=U)
    cost, dear = (kind(np.zeros(K), np.eye(K)) for kind in (QuadraticCost, Dear))
    theirs = rollout(dynamics, Doubled(W, b), dear, m, S, 2)
    ours = rollout(dynamics, LinearPolicy(2.0 * W, 2.0 * b), cost, m, S, 2)
    np.testing.assert_allclose(theirs.costs, ours.costs + 1.0, rtol=1e-12)


def test_a_state_that_is_lost_is_refused(world):
    """An action that cannot be told from infinity leads nowhere."""
    dynamics, policy, cost, m, S = world()
    huge = SquashedPolicy(policy.inner, 1e200)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="step 1 is not"):
        rollout(dynamics, huge, cost, m, S, 3)
