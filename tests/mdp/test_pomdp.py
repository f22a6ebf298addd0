"""Beliefs and their values, held against expectation over everything that can be seen."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpnotes.ground.xp import array_namespace, epsilon, to_numpy
from gpnotes.mdp import (
    MDP,
    POMDP,
    AlphaVectors,
    backup,
    blind_policy_bound,
    fast_informed_bound,
    filter,
    max_difference,
    point_based_value_iteration,
    prune,
    qmdp,
    smooth,
)
from gpnotes.mdp.alpha_vectors import first_highest


def arrays_of(rng, states=3, actions=2, kinds=3):
    moves = rng.dirichlet(np.ones(states), (states, actions))
    return (
        moves,
        rng.standard_normal((states, actions)),
        rng.dirichlet(np.ones(kinds), (actions, states)),
    )


def drawn(rng, discount=0.8, **sizes):
    moves, rewards, seen = arrays_of(rng, **sizes)
    return POMDP(MDP.from_arrays(moves, rewards, discount, layout="state first"), seen)


def tiger(discount=0.95):
    moves = np.full((2, 3, 2), 0.5)
    moves[:, 0] = np.eye(2)
    rewards = np.asarray([[-1.0, -100.0, 10.0], [-1.0, 10.0, -100.0]])
    seen = np.full((3, 2, 2), 0.5)
    seen[0] = [[0.85, 0.15], [0.15, 0.85]]
    return POMDP(MDP.from_arrays(moves, rewards, discount, layout="state first"), seen)


def worth(pomdp, belief, steps):
    """The best expected reward of some steps, by trying every action and every observation."""
    if steps == 0:
        return 0.0
    P = to_numpy(pomdp.mdp.transitions).reshape(len(belief), pomdp.mdp.num_actions, -1)
    best = -np.inf
    for a in range(pomdp.mdp.num_actions):
        value = belief @ pomdp.mdp.rewards[:, a]
        for o in range(pomdp.num_observations):
            joint = (belief @ P[:, a]) * pomdp.observations[a, :, o]
            if joint.sum() > 0:
                after = worth(pomdp, joint / joint.sum(), steps - 1)
                value += pomdp.mdp.discount * joint.sum() * after
        best = max(best, value)
    return best


def nothing(pomdp):
    return AlphaVectors(np.zeros((1, pomdp.mdp.num_states)), (0,))


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_backups_are_the_best_over_all_plans(kinds, rng):
    pomdp = drawn(rng, kinds=kinds)
    beliefs = np.vstack([rng.dirichlet(np.ones(3), 12), np.eye(3)])
    exact = points = nothing(pomdp)
    for steps in (1, 2, 3):
        truth = [worth(pomdp, b, steps) for b in beliefs]
        points = backup(pomdp, exact, beliefs=beliefs)
        exact = backup(pomdp, exact)
        np.testing.assert_allclose(exact.values(beliefs), truth, atol=1e-7)
        np.testing.assert_allclose(points.values(beliefs), truth, atol=1e-7)


def test_an_alpha_vector_begins_with_its_action(rng):
    pomdp = drawn(rng, actions=3)
    after = backup(pomdp, nothing(pomdp))
    alphas = backup(pomdp, after)
    for b in rng.dirichlet(np.ones(3), 20):
        action, values = int(alphas.decide(b)), []
        for a in range(3):
            chances = pomdp.observation_probabilities(b, a)
            ahead = sum(
                c * float(after.values(pomdp.update(b, a, o))) for o, c in enumerate(chances)
            )
            values.append(b @ pomdp.mdp.rewards[:, a] + 0.8 * ahead)
        np.testing.assert_allclose(values[action], max(values), atol=1e-9)


def test_pruning_keeps_the_surface_and_nothing_that_is_below_it(rng):
    alphas = AlphaVectors(rng.standard_normal((40, 3)), tuple(range(40)))
    kept = prune(alphas)
    beliefs = rng.dirichlet(np.ones(3), 4000)
    np.testing.assert_allclose(kept.values(beliefs), alphas.values(beliefs), atol=1e-9)
    assert len(kept.actions) < 40
    for k in range(len(kept.actions)):  # each is needed
        rest = np.delete(kept.vectors, k, axis=0)
        assert (
            max_difference(
                AlphaVectors(kept.vectors[k : k + 1], (0,)), AlphaVectors(rest, (0,) * len(rest))
            )
            > 1e-9
        )
    assert [tuple(alphas.vectors[a]) for a in kept.actions] == [tuple(v) for v in kept.vectors]


def test_equal_vectors_are_one(rng):
    vectors = rng.standard_normal((3, 4)) + 10 * np.eye(4)[:3]
    again = prune(AlphaVectors(np.vstack([vectors, vectors, vectors - 1e-3]), (0,) * 9))
    np.testing.assert_array_equal(again.vectors, vectors)
    assert len(prune(AlphaVectors(np.zeros((5, 4)), (0,) * 5)).actions) == 1


def test_the_difference_is_the_largest_gap(rng):
    one, other = (AlphaVectors(rng.standard_normal((6, 3)), (0,) * 6) for _ in range(2))
    beliefs = np.vstack([rng.dirichlet(np.ones(3), 20000), np.eye(3)])
    gap = np.max(one.values(beliefs) - other.values(beliefs))
    assert gap <= max_difference(one, other) + 1e-9
    assert max_difference(one, other) < gap + 0.05
    assert max_difference(one, one) == pytest.approx(0.0, abs=1e-9)


def test_the_tiger():
    pomdp, middle = tiger(), np.asarray([0.5, 0.5])
    alphas, counts = nothing(pomdp), []
    for _ in range(5):
        alphas = backup(pomdp, alphas)
        counts.append(len(alphas.actions))
    np.testing.assert_allclose(alphas.values(middle), worth(pomdp, middle, 5), atol=1e-7)
    assert counts[:2] == [3, 5]
    line, met = np.linspace(0, 1, 31), pomdp.reachable_beliefs(middle, 100)
    lower = point_based_value_iteration(pomdp, np.vstack([met, np.column_stack([line, 1 - line])]))
    left = max_difference(backup(pomdp, lower), lower) / (1 - 0.95)
    assert 0.0 <= left < 1e-3
    few = point_based_value_iteration(pomdp, met)
    np.testing.assert_allclose(few.values(met), lower.values(met), atol=1e-4)
    np.testing.assert_allclose(few.values(middle), 19.3714, atol=1e-3)
    assert max_difference(lower, few) > 0.1  # elsewhere, where nothing leads


def test_bounds_stand_in_order(rng):
    for _ in range(5):
        pomdp = drawn(rng, actions=3)
        beliefs = np.vstack([rng.dirichlet(np.ones(3), 50), np.eye(3)])
        low, high, higher = blind_policy_bound(pomdp), fast_informed_bound(pomdp), qmdp(pomdp)
        between = point_based_value_iteration(pomdp, beliefs)
        truth = np.asarray([worth(pomdp, b, 3) for b in beliefs[:6]])
        rest = np.max(np.abs(pomdp.mdp.rewards)) * 0.8**3 / 0.2
        known = np.asarray([max(row) for row in higher.vectors.T])
        for below, above in ((low, between), (between, high), (high, higher)):
            assert np.all(below.values(beliefs) <= above.values(beliefs) + 1e-7)
        assert np.all(higher.values(beliefs) <= beliefs @ known + 1e-9)
        assert np.all(between.values(beliefs[:6]) <= truth + rest + 1e-7)
        assert np.all(high.values(beliefs[:6]) >= truth - rest - 1e-7)


def best_of_all_policies(mdp, states, actions):
    P = mdp.transitions.reshape(states, actions, states)
    found = []
    for policy in itertools.product(range(actions), repeat=states):
        chosen = np.asarray(policy)
        rows = np.arange(states)
        moves, rewards = P[rows, chosen], mdp.rewards[rows, chosen]
        found.append(np.linalg.solve(np.eye(states) - mdp.discount * moves, rewards))
    return np.max(found, axis=0)


def test_qmdp_is_the_process_that_is_seen(rng):
    pomdp = drawn(rng)
    values = best_of_all_policies(pomdp.mdp, 3, 2)
    truth = pomdp.mdp.action_values(values).T
    found = qmdp(pomdp)
    np.testing.assert_allclose(found.vectors, truth, atol=1e-7)
    assert np.all(found.vectors >= truth - 1e-12)


def test_what_shows_its_state_is_an_mdp(rng):
    moves, rewards, _ = arrays_of(rng)
    pomdp = POMDP(
        MDP.from_arrays(moves, rewards, 0.8), np.broadcast_to(np.eye(3), (2, 3, 3)).copy()
    )
    values = best_of_all_policies(pomdp.mdp, 3, 2)
    for alphas in (
        qmdp(pomdp),
        fast_informed_bound(pomdp),
        point_based_value_iteration(pomdp, np.eye(3), tolerance=1e-9),
    ):
        np.testing.assert_allclose(alphas.values(np.eye(3)), values, atol=1e-6)


def test_a_blind_policy_is_worth_the_sum_of_its_rewards(rng):
    pomdp = drawn(rng)
    for a, vector in enumerate(blind_policy_bound(pomdp).vectors):
        moves, total, ahead = pomdp.transitions[a], np.zeros(3), pomdp.mdp.rewards[:, a]
        for _ in range(200):
            total, ahead = total + ahead, 0.8 * moves @ ahead
        np.testing.assert_allclose(vector, total)


def test_beliefs_along_a_run_are_the_updates(rng):
    pomdp, start = drawn(rng), rng.dirichlet(np.ones(3))
    actions, readings = (1, 0, 0, 1), np.asarray([2, 0, 1, 1])
    found, belief = filter(pomdp.controlled_chain(start, actions), readings), start
    for t, (a, o) in enumerate(zip(actions, readings, strict=True)):
        belief = pomdp.update(belief, a, int(o))
        np.testing.assert_allclose(found.filtered[t], belief)
    weights = np.zeros((4, 3))
    P = pomdp.mdp.transitions.reshape(3, 2, 3)
    for path in itertools.product(range(3), repeat=5):
        weight = start[path[0]]
        for t, (a, o) in enumerate(zip(actions, readings, strict=True)):
            weight *= P[path[t], a, path[t + 1]] * pomdp.observations[a, path[t + 1], o]
        weights[range(4), path[1:]] += weight
    truth = weights / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(smooth(pomdp.controlled_chain(start, actions), readings), truth)
    np.testing.assert_allclose(np.exp(found.log_evidence), weights[0].sum())


def test_reachable_beliefs_are_reached_and_once(rng):
    pomdp = tiger()
    beliefs = pomdp.reachable_beliefs(np.asarray([0.5, 0.5]), 7)
    odds = np.log(beliefs[:, 0] / beliefs[:, 1]) / np.log(0.85 / 0.15)
    np.testing.assert_allclose(sorted(odds), range(-3, 4), atol=1e-9)
    for most in (1, 2, 3, 4):
        assert drawn(rng).reachable_beliefs(np.full(3, 1 / 3), most).shape == (most, 3)
    many = drawn(rng).reachable_beliefs(np.full(3, 1 / 3), 40)
    assert many.shape == (40, 3)
    np.testing.assert_allclose(many.sum(1), 1.0)


def test_sparse_transitions_are_the_same(rng):
    from scipy.sparse import csr_array

    pomdp = drawn(rng)
    P = pomdp.mdp.transitions
    sparse = POMDP(MDP(csr_array(P), pomdp.mdp.rewards, 0.8), pomdp.observations)
    np.testing.assert_allclose(
        backup(sparse, blind_policy_bound(sparse)).vectors,
        backup(pomdp, blind_policy_bound(pomdp)).vectors,
    )


def test_namespaces(space, rng):
    moves, rewards, seen = arrays_of(rng)
    here = POMDP(MDP.from_arrays(moves, rewards, 0.8), seen)
    there = POMDP(
        MDP.from_arrays(space.asarray(moves), space.asarray(rewards), 0.8), space.asarray(seen)
    )
    beliefs = rng.dirichlet(np.ones(3), 6)
    B, near = (
        space.asarray(beliefs),
        {"rtol": 1e4 * epsilon(space.asarray(beliefs)), "atol": 1e-4 if not space.double else 1e-8},
    )
    for make in (
        blind_policy_bound,
        lambda p: qmdp(p, tolerance=1e-4),
        lambda p: fast_informed_bound(p, tolerance=1e-4),
        lambda p: backup(p, blind_policy_bound(p), tolerance=1e-5),
        lambda p: backup(p, blind_policy_bound(p), beliefs=B if p is there else beliefs),
        lambda p: point_based_value_iteration(p, B if p is there else beliefs, tolerance=1e-3),
    ):
        ours, theirs = make(there), make(here)
        assert array_namespace(ours.vectors) is array_namespace(B)
        assert ours.vectors.dtype == B.dtype
        np.testing.assert_allclose(to_numpy(ours.values(B)), theirs.values(beliefs), **near)
    np.testing.assert_array_equal(
        to_numpy(blind_policy_bound(there).decide(B)), blind_policy_bound(here).decide(beliefs)
    )
    np.testing.assert_allclose(
        to_numpy(there.observation_probabilities(B, 1)),
        here.observation_probabilities(beliefs, 1),
        **near,
    )


HALF = np.asarray([0.5, 0.5])
SURE = np.asarray([[[1.0, 0.0]] * 2] * 3)
NOT_ALL = np.asarray([[0.0, 0.0, 0.0], [0.0, -np.inf, 0.0]])
REFUSED = {
    "shape of observations": (lambda t: POMDP(t.mdp, np.full((2, 3, 2), 0.5)), "actions, states"),
    "row": (lambda t: POMDP(t.mdp, np.full((3, 2, 2), 0.6)), r"observations must sum.*\[0, 0\]"),
    "negative": (lambda t: POMDP(t.mdp, np.asarray([[[1.5, -0.5]] * 2] * 3)), "not be negative"),
    "belief": (lambda t: t.update(np.asarray([0.5, 0.6]), 0, 0), "belief must sum to one"),
    "size": (lambda t: t.update(np.ones(3) / 3, 0, 0), "belief must have shape"),
    "action": (lambda t: t.update(HALF, 3, 0), "action must be a whole number from 0 to 2"),
    "observation": (lambda t: t.update(HALF, 0, 2), "observation must be"),
    "impossible": (
        lambda t: POMDP(t.mdp, SURE).update(HALF, 0, 1), "cannot happen",
    ),
    "readings": (
        lambda t: filter(t.controlled_chain(HALF, (0, 0)), np.asarray([1])), "one for each of 2",
    ),
    "no vector": (lambda t: AlphaVectors(np.zeros((0, 2)), ()), "one alpha vector"),
    "actions": (lambda t: AlphaVectors(np.zeros((2, 2)), (0,)), "one for each of 2 alpha vectors"),
    "an action too many": (
        lambda t: backup(t, AlphaVectors(np.zeros((2, 2)), (0, 3))), "for 2 states and 3 actions",
    ),
    "other vectors": (lambda t: backup(t, AlphaVectors(np.zeros((1, 3)), (0,))), "for 2 states"),
    "no beliefs": (
        lambda t: backup(t, blind_policy_bound(t), beliefs=np.zeros((0, 2))), "one belief",
    ),
    "an action that is missing": (
        lambda t: POMDP(replace(t.mdp, rewards=NOT_ALL), t.observations),
        "action 1 is not in state 1",
    ),
    "discount": (lambda t: blind_policy_bound(tiger(1.0)), "below one"),
    "bound": (lambda t: qmdp(tiger(1.0)), "below one"),
    "tolerance": (lambda t: prune(blind_policy_bound(t), tolerance=-1.0), "tolerance"),
    "other": (
        lambda t: max_difference(blind_policy_bound(t), AlphaVectors(np.zeros((1, 3)), (0,))),
        "other must be for 2 states",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call(tiger())


def test_an_upper_bound_says_if_it_did_not_converge(rng):
    bound, pomdp, corners = fast_informed_bound, drawn(rng), np.eye(3)
    assert not qmdp(pomdp, tolerance=1e-13, max_steps=3).converged
    full, early = bound(pomdp), bound(pomdp, max_steps=3)
    assert full.converged
    assert not early.converged
    assert np.all(early.values(corners) > full.values(corners) + 0.01)
    last = next(n for n in range(1, 1000) if bound(pomdp, max_steps=n).converged)
    assert np.array_equal(bound(pomdp, max_steps=last).vectors, full.vectors)


def test_a_lower_bound_says_if_it_did_not_converge():
    pomdp, line = tiger(), np.linspace(0.0, 1.0, 41)
    beliefs = np.column_stack([line, 1.0 - line])
    values = []
    for max_steps in (5, 20):
        early = point_based_value_iteration(pomdp, beliefs, max_steps=max_steps)
        assert not early.converged
        values.append(float(early.values(np.asarray([0.5, 0.5]))))
    full = point_based_value_iteration(pomdp, beliefs)
    assert full.converged
    assert values[0] < values[1] < float(full.values(np.asarray([0.5, 0.5]))) - 1.0
    assert not prune(early).converged
    assert prune(full).converged
    again = point_based_value_iteration(pomdp, beliefs, start=early)  # it goes on from there
    assert again.converged
    np.testing.assert_allclose(again.values(beliefs), full.values(beliefs), atol=1e-4)


def test_it_goes_on_until_no_belief_rises_however_many_have_settled():
    """One state earns one at each step; many more beliefs lie in a state that never earns."""
    mdp = MDP.from_arrays(np.stack([np.eye(2)], axis=1), np.asarray([[0.0], [1.0]]), 0.9)
    pomdp = POMDP(mdp, np.ones((1, 2, 1)))
    beliefs, zero = np.eye(2)[[0] * 50 + [1]], AlphaVectors(np.zeros((1, 2)), (0,))
    found = point_based_value_iteration(pomdp, beliefs, start=zero, tolerance=0.01)
    assert found.converged
    assert 10.0 - 0.9 * 0.01 / 0.1 <= found.values(beliefs[-1]) <= 10.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: POMDP("mdp", np.ones(1)), "mdp must be"),
        (lambda t: backup(t, "vectors"), "value must be"),
        (lambda t: point_based_value_iteration("t", np.eye(2)), "pomdp must be"),
        (lambda t: AlphaVectors(np.zeros((1, 2)), (0.5,)), "whole number"),
    ],
)
def test_of_another_kind(call, words):
    with pytest.raises(TypeError, match=words):
        call(tiger())


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e9])
def test_pruning_ends_where_rounding_decides(size, rng):
    """Vectors that meet in one belief, each many times, up to rounding, with no tolerance."""
    normal = rng.standard_normal((6, 3))
    through = size * (normal - (normal @ np.full(3, 1 / 3))[:, None])
    noise = 1 + 4e-16 * rng.integers(-2, 3, (30, 3))
    alphas = AlphaVectors(np.tile(through, (5, 1)) * noise, (0,) * 30)
    beliefs = rng.dirichlet(np.ones(3), 500)
    kept = prune(alphas, tolerance=0.0)
    np.testing.assert_allclose(kept.values(beliefs), alphas.values(beliefs), atol=1e-6 * size)


def test_no_belief_falls_while_others_rise(rng):
    for _ in range(10):
        pomdp = drawn(rng, actions=3)
        beliefs, last = rng.dirichlet(np.full(3, 0.4), 4), -np.inf
        for max_steps in range(1, 8):
            values = point_based_value_iteration(
                pomdp, beliefs, max_steps=max_steps, tolerance=1e-12
            ).values(beliefs)
            assert np.all(values >= last - 1e-12)
            last = values


@pytest.mark.parametrize("tolerance", [1e-6, 0.15])
def test_reachable_beliefs_are_those_of_a_plain_search(rng, tolerance):
    """In breadth, without what cannot be seen; a belief within the tolerance of another is it."""
    pomdp = drawn(rng, kinds=2)
    seen = np.asarray(pomdp.observations)
    seen[0, :, :] = [1.0, 0.0]
    pomdp = POMDP(pomdp.mdp, seen)
    start = np.asarray([0.2, 0.3, 0.5])
    found, queue = [start], [start]
    while queue:
        belief = queue.pop(0)
        for a, o in itertools.product(range(2), range(2)):
            joint = (belief @ pomdp.transitions[a]) * seen[a, :, o]
            if joint.sum() > 0.0 and len(found) < 25:
                new = joint / joint.sum()
                if all(np.max(np.abs(new - old)) > tolerance for old in found):
                    found.append(new)
                    queue.append(new)
    assert (len(found) < 25) == (tolerance > 0.1)
    ours = pomdp.reachable_beliefs(start, 25, tolerance=tolerance)
    np.testing.assert_allclose(ours, found, rtol=1e-12)


@pytest.fixture
def policy(rng):
    return AlphaVectors(rng.normal(size=(5, 3)), (2, 0, 1, 1, 0))


def test_a_belief_is_worth_the_best_of_all_lines(policy, rng):
    beliefs = rng.dirichlet(np.ones(3), size=40)
    for belief, value, action in zip(
        beliefs, policy.values(beliefs), policy.decide(beliefs), strict=True
    ):
        lines = [sum(p * v for p, v in zip(belief, row, strict=True)) for row in policy.vectors]
        assert value == pytest.approx(max(lines), rel=1e-13)
        assert action == policy.actions[lines.index(max(lines))]


def test_of_lines_that_differ_by_rounding_the_first_is_taken(space):
    one = 1.0 + 4.0 * float(space.xp.finfo(space.dtype).eps)
    rows = space.asarray([[1.0, one, 0.5], [0.5, 1.0, one], [1.0, 1.1, 1.2], [-10.0, 0.0, 0.1]])
    sizes = space.xp.max(space.xp.abs(rows), axis=1)
    for unit in (1.0, 2.0**-60, 2.0**60):
        assert [int(at) for at in first_highest(unit * rows, unit * sizes)] == [0, 1, 2, 2]


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**-30, 2.0**30])
def test_rewards_of_another_unit_have_the_same_plans(unit, rng):
    """Powers of two round nothing, so all is the same to the last digit."""
    beliefs = np.linspace([0.0, 1.0], [1.0, 0.0], 41)
    pairs = [(tiger(), beliefs)] + [(drawn(rng), rng.dirichlet(np.ones(3), 20)) for _ in range(3)]
    for pomdp, at in pairs:
        mdp = pomdp.mdp
        other = POMDP(MDP(mdp.transitions, unit * mdp.rewards, mdp.discount), pomdp.observations)

        def plans(process, points=at):
            steps = [nothing(process)]
            for _ in range(3):
                steps.append(backup(process, steps[-1]))
            bounds = qmdp(process), fast_informed_bound(process)
            return [
                *steps, *bounds, prune(steps[2]), backup(process, steps[-1], beliefs=points),
                point_based_value_iteration(process, points),
            ]  # fmt: skip

        for ours, theirs in zip(plans(pomdp), plans(other), strict=True):
            assert theirs.converged
            assert theirs.actions == ours.actions
            np.testing.assert_array_equal(theirs.vectors, unit * ours.vectors)
            np.testing.assert_array_equal(theirs.decide(at), ours.decide(at))


def test_a_start_needs_a_discount_below_one_too():
    with pytest.raises(ValueError, match="pomdp must have a discount below one"):
        point_based_value_iteration(tiger(1.0), np.eye(2), start=nothing(tiger()))
