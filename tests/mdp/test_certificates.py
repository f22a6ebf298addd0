"""Bounds on what any policy loses, from any numbers in the place of values."""

import numpy as np
import pytest

from gpnotes.mdp import MDP, GridWorld, evaluate, solve
from gpnotes.mdp.certificates import bounding_function, certify


def certified(mdp, values, policy):
    P, _ = mdp.induced_chain(policy)
    q = mdp._action_values(values)
    return certify(mdp, values, q, policy, bounding_function(mdp, P))


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.95])
def test_no_policy_loses_more_whatever_the_values(make_arrays, rng, discount):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, discount)
    best = solve(mdp, "policy iteration").values
    for spread in (0.0, 1e-6, 0.1, 10.0):
        values = best + spread * rng.normal(size=12) + rng.normal()
        policy = rng.integers(3, size=12)
        found = certified(mdp, values, policy)
        assert np.max(best - evaluate(mdp, policy)) <= found.bound
        assert np.max(np.abs(found.values - best)) <= found.bound


@pytest.mark.parametrize("discount", [0.7, 1.0])
def test_so_it_is_where_the_walk_ends(rng, discount):
    mdp = GridWorld(("S..G", ".#.X", "...."), step_reward=-0.3, slip=0.4).mdp(discount)
    best = solve(mdp, "policy iteration")
    live = ~mdp.terminal
    for spread in (1e-9, 1e-4, 1e-2):
        values = best.values + spread * rng.normal(size=mdp.num_states) * live
        policy = np.where(rng.random(mdp.num_states) < 0.2, rng.integers(4, size=11), best.policy)
        found = certified(mdp, values, policy)
        assert np.max(best.values - evaluate(mdp, policy)) <= found.bound
        assert np.max(np.abs(found.values - best.values)) <= found.bound
        assert np.all(found.values[~live] == 0.0)
    assert np.isfinite(found.bound)


def test_the_bound_is_met():
    """One state, two actions, and the policy takes the one that earns nothing, for ever."""
    mdp = MDP(np.ones((2, 1)), np.asarray([[1.0, 0.0]]), 0.75)
    found = certified(mdp, np.zeros(1), np.asarray([1]))
    loss = (solve(mdp).values - evaluate(mdp, np.asarray([1])))[0]
    assert loss == pytest.approx(4.0)
    assert loss <= found.bound <= loss * (1.0 + 1e-10)
    assert abs(found.values[0] - 4.0) == pytest.approx(0.5 * found.bound)


def test_a_shift_of_all_values_changes_nothing(make_arrays):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, 0.9)
    v = np.arange(12.0)
    policy = np.zeros(12, dtype=int)
    near, far = (certified(mdp, v + shift, policy) for shift in (0.0, 1e3))
    assert far.bound == pytest.approx(near.bound, rel=1e-6)
    np.testing.assert_allclose(far.values, near.values, rtol=0, atol=1e-7)


def test_an_action_that_leads_away_from_the_end_is_seen():
    """At discount 1 it has to lose more than the function grows; if it does not, no bound."""
    P = np.asarray([[[0, 1, 0], [1, 0, 0]], [[0, 0, 1], [1, 0, 0]], [[0, 0, 1], [0, 0, 1]]])
    r = np.asarray([[-1.0, -1.0], [-1.0, -1.0], [0.0, 0.0]])
    mdp = MDP.from_arrays(P.astype(float), r, 1.0)
    policy = np.zeros(3, dtype=int)
    assert certified(mdp, np.asarray([-2.0, -1.0, 0.0]), policy).bound < 1e-12
    assert np.isinf(certified(mdp, np.asarray([0.5, -1.0, 0.0]), policy).bound)
