"""Policies: actions, their moments against quadrature, and pullbacks against differences."""

import numpy as np
import pytest

from gpnotes import gauss_hermite
from gpnotes.decide.moments import Moments
from gpnotes.decide.pilco import LinearPolicy, RBFPolicy, SquashedPolicy
from gpnotes.decide.pilco.policies import with_hooks
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck

K, U = 3, 2


def linear(rng, asarray=np.asarray):
    return LinearPolicy(asarray(rng.normal(size=(U, K))), asarray(rng.normal(size=U)))


def bumps(rng, asarray=np.asarray):
    arrays = rng.normal(size=(4, 2)), rng.normal(size=(4, U)), rng.uniform(0.8, 2.0, 2)
    return RBFPolicy(*(asarray(a) for a in arrays), inputs=(2, 0), size=K)


def squashed(rng, asarray=np.asarray):
    return SquashedPolicy(bumps(rng, asarray), asarray([1.5, 0.7]))


MAKERS = [linear, bumps, squashed]


@pytest.fixture
def state(rng):
    factor = 0.5 * rng.normal(size=(K, K))
    return rng.normal(size=K), factor @ factor.T


def by_quadrature(policy, m, S, n=22):
    nodes, weights = gauss_hermite(n)
    grid = np.stack(np.meshgrid(*[nodes] * K, indexing="ij"), axis=-1).reshape(-1, K)
    mass = np.prod(np.stack(np.meshgrid(*[weights] * K, indexing="ij")), axis=0).reshape(-1)
    off = grid @ np.linalg.cholesky(S).T
    actions = np.stack([policy(m + one) for one in off])
    mean = mass @ actions
    weighted = (actions - mean) * mass[:, None]
    return Moments(mean, (actions - mean).T @ weighted, off.T @ weighted)


@pytest.mark.parametrize("make", MAKERS[:2])
def test_moments_are_those_of_quadrature(make, rng, state):
    policy = make(rng)
    for got, wanted in zip(policy.moments(*state), by_quadrature(policy, *state), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)


def test_squashed_moments_are_exact_for_a_linear_policy(rng, state):
    policy = SquashedPolicy(linear(rng), 1.7)
    for got, wanted in zip(policy.moments(*state), by_quadrature(policy, *state), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("make", MAKERS)
def test_moments_live_where_their_arguments_do(make, rng, space, state):
    policy = make(rng, space.asarray)
    m, S = (space.asarray(a) for a in state)
    actions, pull = policy.moments_and_pullback(m, S)
    policy_bar, *bars = pull(actions)
    assert type(policy_bar) is type(policy)
    assert all(space.holds(a) for a in (*actions, *bars, policy(m)))


@pytest.mark.parametrize("make", MAKERS)
def test_without_uncertainty_the_mean_is_the_action(make, rng, state):
    policy = make(rng)
    mean, covariance, cross = policy.moments(state[0], np.zeros((K, K)))
    np.testing.assert_allclose(mean, policy(state[0]), rtol=1e-9)
    assert abs(covariance).max() == abs(cross).max() == 0.0


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("part", range(3))
def test_the_pullback_is_the_gradient(make, part, rng, state):
    def moment(policy, m, S):
        return policy.moments(m, 0.5 * (S + S.T))[part]

    def pulled(policy, m, S, bar):
        parts = [np.zeros(U), np.zeros((U, U)), np.zeros((K, U))]
        parts[part] = bar
        policy_bar, m_bar, S_bar = policy.moments_and_pullback(m, S)[1](Moments(*parts))
        return policy_bar, m_bar, 0.5 * (S_bar + S_bar.T)

    gradcheck(moment, pulled, make(rng), *state)


class Foreign:
    """A policy that answers as another does, by its public methods alone."""

    def __init__(self, other, factor=1.0):
        self.other, self.factor = other, factor

    def __call__(self, z):
        return self.other(z)

    def moments(self, m, S):
        return self.moments_and_pullback(m, S)[0]

    def moments_and_pullback(self, m, S):
        moments, pull = self.other.moments_and_pullback(m, S)
        return moments._replace(covariance=self.factor * moments.covariance), pull


class Louder(LinearPolicy):
    """One of our policies with its public methods overridden."""

    def moments_and_pullback(self, m, S):
        moments, pull = super().moments_and_pullback(m, S)
        return moments._replace(covariance=4.0 * moments.covariance), pull


@pytest.mark.parametrize("make", MAKERS)
def test_a_policy_of_ones_own_is_asked_by_its_public_methods(make, rng, state):
    policy = make(rng)
    assert with_hooks(policy) is policy
    wanted, wanted_pull = policy.moments_and_pullback(*state)
    found, pull = with_hooks(Foreign(policy))._moments_and_pullback(*state)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    for ours, theirs in zip(pull(wanted)[1:], wanted_pull(wanted)[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_a_subclass_says_in_public_is_heard(rng, state):
    plain = linear(rng)
    louder = Louder(plain.weights, plain.bias)
    found, _ = with_hooks(louder)._moments_and_pullback(*state)
    np.testing.assert_allclose(found.covariance, 4.0 * plain.moments(*state).covariance, rtol=1e-12)


def test_a_policy_whose_action_follows_its_state_more_than_it_varies_is_refused(rng, state):
    foreign = Foreign(linear(rng), 0.5)
    with pytest.raises(ValueError, match=r"the covariance of \(z, u\) must be positive semidef"):
        with_hooks(foreign)._moments_and_pullback(*state)


def test_a_squashed_action_is_bounded(rng):
    policy = SquashedPolicy(linear(rng), 0.5)
    assert max(abs(policy(20.0 * rng.normal(size=K))).max() for _ in range(50)) <= 0.5


def test_a_network_is_blind_to_what_is_no_input(rng, state):
    policy, m = bumps(rng), state[0]
    np.testing.assert_allclose(policy(m), policy(m + np.asarray([0.0, 1e3, 0.0])), rtol=1e-12)
    _, m_bar, S_bar = policy.moments_and_pullback(*state)[1](policy.moments(*state))
    assert abs(m_bar[1]) < 1e-9 * abs(m_bar).max()
    assert abs(S_bar[1, 1]) < 1e-9 * abs(S_bar).max()


def test_what_does_not_fit_is_refused():
    ones = np.ones((2, 2))
    with pytest.raises(ValueError, match=r"bias must have shape \(2,\)"):
        LinearPolicy(ones, np.ones(3))
    with pytest.raises(ValueError, match=r"inputs must be entries 0 to 2 of z; got \(0, 3\)"):
        RBFPolicy(ones, ones, np.ones(2), inputs=(0, 3), size=3)
    with pytest.raises(ValueError, match="lengthscale must be positive"):
        RBFPolicy(ones, ones, np.asarray([1.0, 0.0]), inputs=(0, 1), size=3)
    with pytest.raises(ValueError, match="max_action must be positive"):
        SquashedPolicy(LinearPolicy(ones, np.ones(2)), 0.0)
    with pytest.raises(TypeError, match="max_action must be an array; got list"):
        SquashedPolicy(LinearPolicy(ones, np.ones(2)), [1.0, 1.0])
    with pytest.raises(ValueError, match="inputs must name each entry once"):
        RBFPolicy(ones, ones, np.ones(2), inputs=(1, 1), size=3)
    with pytest.raises(ValueError, match="centres must have at least one row"):
        RBFPolicy(ones[:0], ones[:0], np.ones(2), inputs=(0, 1), size=3)


def test_what_does_not_fit_is_refused_when_used(state):
    line = LinearPolicy(np.ones((1, K)), np.ones(1))
    for use in (lambda one: one(state[0]), lambda one: one.moments(*state)):
        with pytest.raises(ValueError, match=r"max_action must have shape \(1,\); got \(3,\)"):
            use(SquashedPolicy(line, np.ones(3)))
    with pytest.raises(ValueError, match=r"m must have shape \(3,\); got \(2,\)"):
        line.moments(np.zeros(2), np.eye(2))
    with pytest.raises(ValueError, match="S must be positive semidefinite"):
        line.moments(state[0], -state[1])
    with pytest.raises(TypeError, match="z must have the dtype of weights"):
        line(state[0].astype(np.float32))


@pytest.mark.parametrize("make", MAKERS)
def test_a_policy_keeps_its_own_arrays(space, make, rng):
    given = []

    def asarray(host):
        given.append(space.asarray(host))
        return given[-1]

    policy, z = make(rng, asarray), space.asarray(np.ones(K))
    before = to_numpy(policy(z)).copy()
    for array in given:
        array[...] = float("nan")
    np.testing.assert_array_equal(to_numpy(policy(z)), before)
