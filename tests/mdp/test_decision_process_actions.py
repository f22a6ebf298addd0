"""Actions that are not available: as if they had been taken out by hand, for all that asks."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.mdp import MDP, POMDP, GridWorld, evaluate, occupancy_measure, solve
from gpnotes.mdp.certificates import bounding_function, certify
from gpnotes.mdp.solving import METHODS

every_method = pytest.mark.parametrize("method", METHODS)
SEEDS = range(6)


def masked(seed, discount, form="dense", S=4, A=3):
    """A small process, and which of its actions each state has; at discount 1 one that ends."""
    rng = np.random.default_rng(seed)
    P, r = rng.dirichlet(np.full(S, 0.5), (S, A)), rng.normal(size=(S, A))
    available = rng.random((S, A)) < 0.5
    available[np.arange(S), rng.integers(A, size=S)] = True
    if discount == 1.0:
        P = 0.9 * P
        P[:, :, -1] += 1.0 - P.sum(2)
        P[-1], r[-1] = np.eye(S)[-1], 0.0
        r[:-1] -= 1.0
        available[-1] = np.arange(A) == A - 1
    given = P if form == "dense" else [sp.csr_array(P[:, a]) for a in range(A)]
    return MDP.from_arrays(given, r, discount, available=available), P, r, available


def every_policy(available):
    """All policies of the actions that there are, one by one."""
    return itertools.product(*(np.flatnonzero(row) for row in available))


def by_hand(P, r, discount, policy):
    """What a policy is worth, by its own system of equations."""
    at = np.arange(len(r))
    chain, earned = P[at, policy], r[at, policy]
    live = slice(None, -1) if discount == 1.0 else slice(None)
    values = np.zeros(len(r))
    system = np.eye(len(r))[live, live] - discount * chain[live, live]
    values[live] = np.linalg.solve(system, earned[live])
    return values


@every_method
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("discount", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_is_the_best_of_all_policies_that_there_are(method, form, discount, seed):
    mdp, P, r, available = masked(seed, discount, form)
    found = solve(mdp, method)
    worth = [by_hand(P, r, discount, np.asarray(policy)) for policy in every_policy(available)]
    best = np.max(worth, axis=0)
    np.testing.assert_allclose(found.values, best, rtol=0, atol=1e-8)
    assert np.max(best - evaluate(mdp, found.policy)) <= found.bound <= 1e-8
    assert available[np.arange(len(r)), found.policy].all()
    assert np.array_equal(np.isneginf(found.action_values), ~available)
    assert np.isfinite(found.action_values[available]).all()


@pytest.mark.parametrize("discount", [0.9, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_mask_and_minus_infinity_and_rows_of_zeros_are_one_process(discount, seed):
    mdp, P, r, available = masked(seed, discount)
    lost = np.where(available, r, -np.inf)
    empty = np.where(available[..., None], P, 0.0)
    broken = np.where(available[..., None], P, np.nan)  # is not read
    for other in (
        MDP.from_arrays(P, lost, discount),
        MDP.from_arrays(empty, lost, discount),
        MDP.from_arrays(broken, np.where(available, r, np.nan), discount, available=available),
        MDP(P.reshape(-1, 4), lost, discount),
        MDP(sp.csr_array(empty.reshape(-1, 4)), lost, discount),
        MDP(sp.csr_array(broken.reshape(-1, 4)), lost, discount),
    ):
        rows = other.transitions.toarray() if other.sparse else other.transitions
        np.testing.assert_array_equal(rows, mdp.transitions)
        np.testing.assert_array_equal(other.rewards, mdp.rewards)
        np.testing.assert_array_equal(other.available, available)
        np.testing.assert_allclose(other.row_sums, 1.0, rtol=1e-9)
        np.testing.assert_array_equal(other.terminal, mdp.terminal)
        np.testing.assert_allclose(solve(other).values, solve(mdp).values, rtol=0, atol=1e-8)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("discount", [0.9, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_policy_by_chance_is_worth_the_same_with_and_without_what_is_not_there(
    form, discount, seed
):
    mdp, P, r, available = masked(seed, discount, form)
    policy = np.where(available, np.random.default_rng(seed).random(r.shape), 0.0)
    policy /= policy.sum(1, keepdims=True)
    chain, earned = np.einsum("sa,sat->st", policy, P), np.sum(policy * r, axis=1)
    live = slice(None, -1) if discount == 1.0 else slice(None)
    wanted = np.zeros(len(r))
    system = np.eye(len(r))[live, live] - discount * chain[live, live]
    wanted[live] = np.linalg.solve(system, earned[live])
    np.testing.assert_allclose(evaluate(mdp, policy), wanted, rtol=1e-12, atol=1e-12)
    start = np.full(len(r), 1.0 / len(r))
    visits = occupancy_measure(mdp, policy, start)
    assert np.all(visits[~available] == 0.0)
    np.testing.assert_allclose(np.sum(visits[available] * r[available]), start @ wanted, rtol=1e-11)


@pytest.mark.parametrize("discount", [0.9, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_hold_whatever_the_values(discount, seed):
    mdp, P, r, available = masked(seed, discount)
    rng = np.random.default_rng(seed)
    worth = [by_hand(P, r, discount, np.asarray(policy)) for policy in every_policy(available)]
    best = np.max(worth, axis=0)
    for spread in (1e-6, 0.1, 10.0):
        values = best + spread * rng.normal(size=4) * ~mdp.terminal
        policy = np.asarray([rng.choice(np.flatnonzero(row)) for row in available])
        bounding = bounding_function(mdp, mdp.induced_chain(policy)[0])
        found = certify(mdp, values, mdp.action_values(values), policy, bounding)
        assert not np.isnan(found.bound)
        assert np.max(best - by_hand(P, r, discount, policy)) <= found.bound
        assert np.max(np.abs(found.values - best)) <= found.bound


@every_method
def test_free_walks_use_what_there_is(method):
    """End components without reward at discount 1, where some of their ways are closed."""
    mdp = GridWorld(("S..G", ".#..", "...X")).mdp(1.0)
    rng = np.random.default_rng(3)
    available = rng.random(mdp.rewards.shape) < 0.7
    available[:, 1] |= ~available.any(axis=1)
    lost = np.where(available, mdp.rewards, -np.inf)
    closed = MDP(mdp.transitions, lost, 1.0)
    assert np.array_equal(closed.terminal, mdp.terminal)
    try:
        found = solve(closed, method)
    except ValueError as error:
        pytest.fail(str(error))
    P = mdp.transitions.toarray().reshape(*mdp.rewards.shape, -1)
    values = np.zeros(mdp.num_states)
    for _ in range(100):
        q = np.where(available, mdp.rewards + P @ values, -np.inf)
        values = np.where(mdp.terminal, 0.0, np.maximum(np.max(q, axis=1), 0.0))
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-8)
    np.testing.assert_allclose(evaluate(closed, found.policy), values, rtol=0, atol=1e-8)


def test_a_terminal_state_needs_one_action():
    P = np.asarray([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    mdp = MDP.from_arrays(P, np.asarray([[1.0, 0.0], [-np.inf, 0.0]]), 1.0, layout="state first")
    assert mdp.terminal.tolist() == [False, True]
    assert mdp.largest_reward == 1.0
    found = solve(mdp)
    assert (found.values.tolist(), found.policy.tolist()) == ([1.0, 0.0], [0, 1])


def test_single_precision_keeps_them():
    mdp, P, r, available = masked(1, 0.9)
    lost = np.where(available, r, -np.inf).astype(np.float32)
    found = solve(MDP.from_arrays(P.astype(np.float32), lost, 0.9))
    assert found.action_values.dtype == np.float32
    assert np.array_equal(np.isneginf(found.action_values), ~available)
    np.testing.assert_allclose(found.values, solve(mdp).values, rtol=1e-5)


def test_what_takes_them_is_refused_by_name():
    P, r = np.asarray([[[1.0, 0.0], [0.0, 1.0]]] * 2), np.asarray([[1.0, 2.0], [3.0, -np.inf]])
    mdp = MDP.from_arrays(P, r, 0.5, layout="state first")
    for policy in (np.asarray([0, 1]), np.asarray([[0.5, 0.5], [0.5, 0.5]])):
        for ask in (evaluate, MDP.induced_chain, MDP.check_policy):
            with pytest.raises(ValueError, match=r"policy must take .* action 1 is not in state 1"):
                ask(mdp, policy)
    with pytest.raises(
        ValueError, match=r"mdp must have every action .* action 1 is not in state 1"
    ):
        POMDP(mdp, np.ones((2, 2, 1)))
    r[1] = -np.inf
    with pytest.raises(ValueError, match=r"rewards must leave .* of state 1 are all -inf: where"):
        MDP.from_arrays(P, r, 0.5, layout="state first")
    r[0] = -np.inf
    with pytest.raises(ValueError, match=r"those of state 0 and 1 more are all -inf: where"):
        MDP.from_arrays(P, r, 0.5, layout="state first")


def test_what_a_process_prints_has_no_numbers():
    mdp, *_ = masked(0, 0.9)
    assert repr(mdp) == "MDP(transitions=<12×4 float64>, rewards=<4×3 float64>, discount=0.9)"
    assert "nan" not in repr(solve(mdp))
