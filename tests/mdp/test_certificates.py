"""Bounds on what any policy loses, from any numbers in the place of values."""

import itertools

import numpy as np
import pytest

from gpnotes.mdp import MDP, GridWorld, evaluate, solve
from gpnotes.mdp.certificates import bounding_function, certify, rounding_error


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


EPS = 2.0**-52


def _penalised(rng, discount, ends=False, penalty=1e9):
    """Sums of rows off by up to 8e-10, a penalty that never counts, and one action that lacks."""
    P = rng.dirichlet(np.ones(5), (5, 3))
    P *= 1.0 + 8e-10 * np.linspace(-1.0, 0.9, 15).reshape(5, 3, 1)
    r = rng.normal(size=(5, 3))
    r[1, 2], r[3, 0] = -penalty, -np.inf
    if ends:
        P[:, :, 4] += 0.1 * P[:, :, 0]
        P[:, :, 0] *= 0.9
        P[4], r[4] = np.eye(5)[4], 0.0
    return MDP.from_arrays(P, r, discount)


def _allowed(mdp, v, reward):
    """The rounding of a row of five and of four operations, each with a unit on either side."""
    return (5 + 6) * EPS * (reward + 2.0 * np.max(np.abs(v)))


def _reward_that_counts(mdp, v):
    best = np.max(np.abs(np.max(mdp.rewards, axis=1)))
    known = np.max(np.abs(mdp.rewards[mdp.available]))
    return min(known, 2.0 * best + 12.0 * np.max(np.abs(v)))


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6, 1e12])
def test_rounding_is_that_of_the_sizes_that_count(rng, scale):
    mdp = _penalised(rng, 0.9)
    v = scale * np.asarray([0.5, -1.0, 0.25, 0.0, 0.75])
    for values in (v, -v):
        wanted = _allowed(mdp, values, _reward_that_counts(mdp, values))
        assert rounding_error(mdp, values) == pytest.approx(wanted, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("ends", [False, True])
def test_a_step_shrinks_the_function_by_what_the_sums_of_rows_leave(rng, ends):
    discount = 1.0 - 1e-7
    mdp = _penalised(rng, discount, ends)
    low, high = mdp.row_sums
    assert low < 1.0 < high
    found = bounding_function(mdp)
    sums = 1.0 + 7 * EPS  # each sum of five is off by so much
    assert found.min_decrease == 1.0 - discount * high * sums - EPS
    assert found.max_decrease == 1.0 - discount * low * (2.0 - sums) + EPS
    np.testing.assert_array_equal(found.weights, [1.0, 1.0, 1.0, 1.0, 0.0] if ends else 1.0)


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("steps", [0.0, 1.0])
def test_the_bound_below_discount_one_is_the_formula_s(rng, ends, shift, steps):
    """Steps up and down, all up and all down; and of values that do not move, rounding alone."""
    discount = 1.0 - 1e-7
    mdp = _penalised(rng, discount, ends)
    v = np.asarray([3.0, -2.0, 1.0, 4.0, 0.0])
    moves = rng.uniform(-1.0, 1.0, (5, 3)) + shift
    moves[4] *= not ends
    q = v[:, None] + steps * moves
    policy = np.asarray([0, 2, 1, 1, 0])
    bounding = bounding_function(mdp)
    found = certify(mdp, v, q, policy, bounding)
    counts = _reward_that_counts(mdp, v)
    most = max(q[s, a] - v[s] for s in range(5) for a in range(3)) + _allowed(mdp, v, counts)
    least = min(q[s, policy[s]] - v[s] for s in range(5)) - _allowed(mdp, v, 1e9)
    high = most / (bounding.min_decrease if most > 0.0 else bounding.max_decrease)
    low = least / (bounding.min_decrease if least < 0.0 else bounding.max_decrease)
    assert found.bound == pytest.approx(high - low, rel=1e-11)
    wanted = v + 0.5 * (high + low) * bounding.weights
    np.testing.assert_allclose(found.values, wanted, rtol=1e-11)
    if ends:
        np.testing.assert_array_equal(found.action_values, mdp.action_values(found.values))
    else:
        q_wanted = q + discount * 0.5 * (high + low)
        np.testing.assert_allclose(found.action_values, q_wanted, rtol=1e-11)


def _steps_to_the_end(mdp, policy):
    chain = mdp.induced_chain(np.asarray(policy))[0]
    return np.append(np.linalg.solve(np.eye(4) - chain[:4, :4], np.ones(4)), 0.0)


@pytest.mark.parametrize("steps", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("longest", [True, False])
def test_the_bound_at_discount_one_is_what_each_action_needs(rng, steps, longest):
    """All shrink the function of the policy that takes longest; others may leave no bound."""
    mdp = _penalised(rng, 1.0, ends=True, penalty=1e3)
    ways = [(*way, 0) for way in itertools.product(range(3), range(3), range(3), (1, 2))]
    ways.sort(key=lambda way: sum(_steps_to_the_end(mdp, way)))
    policy = np.asarray(ways[-1 if longest else 3])
    w = _steps_to_the_end(mdp, policy)
    v = np.asarray([3.0, -2.0, 1.0, 4.0, 0.0])
    q = v[:, None] + steps * rng.uniform(-0.2, 1.0, (5, 3)) * (np.arange(5) < 4)[:, None]
    bounding = bounding_function(mdp, mdp.induced_chain(policy)[0])
    np.testing.assert_allclose(bounding.weights, w, rtol=1e-8)
    P, r = mdp.transitions.reshape(5, 3, 5), mdp.rewards
    error = rounding_error(mdp, bounding.weights)
    counts, needs = _reward_that_counts(mdp, v), {}
    for s, a in zip(*np.nonzero(mdp.available[:4]), strict=True):
        falls = w[s] - P[s, a] @ w
        assert bounding.min_decrease[s, a] == pytest.approx(falls - error, rel=1e-7)
        spread = bounding.max_decrease[s, a] - bounding.min_decrease[s, a]
        assert spread == pytest.approx(2 * error, abs=2 * EPS * w[s])
        needs["up", s, a] = q[s, a] - v[s] + _allowed(mdp, v, max(counts, abs(r[s, a])))
        if a == policy[s]:
            most = max(counts, np.max(np.abs(r[range(5), policy])))
            needs["down", s, a] = v[s] - q[s, a] + _allowed(mdp, v, most)
    least = {}
    for way in ("up", "down"):
        some = [(step, bounding.min_decrease[at[1:]]) for at, step in needs.items() if at[0] == way]
        least[way] = max([0.0, *(step / falls for step, falls in some if falls > 0.0)])
        if any(falls <= 0.0 and step > least[way] * falls for step, falls in some):
            least[way] = np.inf
    found = certify(mdp, v, q, policy, bounding)
    if np.isinf(least["up"] + least["down"]):
        assert not longest
        assert np.isinf(found.bound)
        np.testing.assert_array_equal(found.values, v)
        return
    assert longest or steps < 0.0
    assert found.bound == pytest.approx((least["up"] + least["down"]) * np.max(w), rel=1e-7, abs=0)
    wanted = v + 0.5 * (least["up"] - least["down"]) * w
    np.testing.assert_allclose(found.values, wanted, rtol=1e-7)
