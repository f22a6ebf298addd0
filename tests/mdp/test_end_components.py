"""End components without reward, against their definition, state by state and action by action."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.mdp import MDP, solve
from gpnotes.mdp.end_components import collapse_end_components, lift_policy


def _random_arrays(rng, S, A):
    """A process with many free actions, some impossible, whose last state is terminal."""
    P, r = np.zeros((S, A, S)), rng.choice([0.0, 0.0, 0.0, -1.0, 2.0], size=(S, A))
    for s, a in itertools.product(range(S), range(A)):
        to = rng.choice(S, size=rng.choice([1, 1, 1, 2, 3]), replace=False)
        P[s, a, to] = rng.dirichlet(np.ones(to.size))
    closed = rng.random((S, A)) < 0.2
    closed[np.arange(S), rng.integers(A, size=S)] = False
    r[closed] = -np.inf
    P[-1], r[-1] = np.eye(S)[-1], 0.0
    return P, r


def _components(P, r):
    """The free actions that stay within a component, and who is with whom, by walking."""
    S, A = r.shape
    free = {(s, a) for s in range(S) for a in range(A) if r[s, a] == 0.0}
    while True:
        reach = np.eye(S, dtype=bool)
        for s, a in free:
            reach[s] |= P[s, a] > 0.0
        for middle in range(S):
            reach |= reach[:, [middle]] & reach[[middle], :]
        together = reach & reach.T
        leaving = {(s, a) for s, a in free if np.any((P[s, a] > 0.0) & ~together[s])}
        if not leaving:
            return free, together
        free -= leaving


def _exits(members, free, r):
    """The rows of the actions that are possible and lead out of a component, in order."""
    A = r.shape[1]
    return [
        s * A + a for s in members for a in range(A) if (s, a) not in free and np.isfinite(r[s, a])
    ]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_component_is_one_state_with_the_ways_out_of_it(rng, sparse):
    seen = set()
    for S, A in itertools.product((4, 7, 9), (2, 3)):
        for _ in range(6):
            P, r = _random_arrays(rng, S, A)
            form = [sp.csr_array(P[:, a]) for a in range(A)] if sparse else P
            mdp = MDP.from_arrays(form, r, 1.0)
            free, together = _components(P, r)
            found = collapse_end_components(mdp)
            if found is None:
                assert {s for s, _ in free} == set(np.flatnonzero(mdp.terminal))
                seen.add("none")
                continue
            np.testing.assert_array_equal(
                found.free, [[(s, a) in free for a in range(A)] for s in range(S)]
            )
            K, width = found.mdp.num_states - 1, found.mdp.num_actions
            assert found.mdp.discount == 1.0
            assert found.mdp.max_successors >= mdp.max_successors
            assert found.rows.shape == (K + 1, width)
            assert set(found.label) >= set(range(K))
            for s in range(S):
                members = np.flatnonzero(together[s])
                assert len(set(found.label[members])) == 1
                exits = _exits(members, free, r)
                if not exits:
                    assert found.label[s] == K
                    seen.add("an end")
                    continue
                k = found.label[s]
                assert k < K
                np.testing.assert_array_equal(np.flatnonzero(found.label == k), members)
                inside = [-1] * any((m, a) in free for m in members for a in range(A))
                rows = exits + inside
                np.testing.assert_array_equal(found.rows[k], rows + exits[:1] * (width - len(rows)))
                seen |= {f"{bool(inside)} of {min(len(members), 2)}", len(rows) < width}
            np.testing.assert_array_equal(found.rows[K], -1)
            assert width == max(
                len(set(found.rows[k])) for k in range(K + 1)
            )  # no column that all repeat
            Q = np.asarray(found.mdp.transitions.todense()).reshape(K + 1, width, K + 1)
            for k, j in itertools.product(range(K + 1), range(width)):
                row = found.rows[k, j]
                to = np.bincount(found.label, P[row // A, row % A], K + 1) if row >= 0 else None
                np.testing.assert_allclose(Q[k, j], np.eye(K + 1)[K] if to is None else to)
                wanted = r[row // A, row % A] if row >= 0 else 0.0
                assert found.mdp.rewards[k, j] == wanted
    assert seen >= {"none", "an end", "True of 2", "True of 1", "False of 1", True, False}


def test_a_lifted_policy_walks_within_a_component_to_the_way_out_that_was_chosen(rng):
    """From each state of the component the chosen row is reached, by free actions alone."""
    walked = 0
    for _ in range(40):
        P, r = _random_arrays(rng, 8, 3)
        mdp = MDP.from_arrays(P, r, 1.0)
        found = collapse_end_components(mdp)
        if found is None:
            continue
        small = rng.integers(found.mdp.num_actions, size=found.mdp.num_states)
        policy = lift_policy(mdp, found, small)
        chosen = found.rows[np.arange(len(small)), small][found.label]
        for s in range(8):
            if chosen[s] < 0:  # to stay: the first free action of each
                assert policy[s] == next(iter(np.flatnonzero(found.free[s])), 0)
                continue
            goal = chosen[s] // 3
            assert policy[goal] == chosen[s] % 3
            length = _steps(P, [np.flatnonzero(free) for free in found.free], s, goal)
            assert _steps(P, policy[:, None], s, goal) == length < 8
            assert s == goal or found.free[s, policy[s]]
            walked += length > 1
    assert walked > 5


def _steps(P, actions, start, goal):
    """After how many steps a walk may be at its goal; eight where it is not before."""
    here, at = {start}, 0
    while goal not in here and at < 8:
        here = {t for u in here for a in actions[u] for t in np.flatnonzero(P[u, a])}
        at += 1
    return at


def test_terminal_states_alone_are_no_reason_to_collapse():
    """A state that waits for nothing before the end is one."""
    P = np.zeros((3, 2, 3))
    P[0, :, 1] = P[1, :, 2] = P[2, :, 2] = 1.0
    r = np.asarray([[0.0, 1.0], [2.0, 3.0], [0.0, 0.0]])
    assert collapse_end_components(MDP.from_arrays(P, r, 1.0)) is None
    P[0, 0] = [1.0, 0.0, 0.0]
    found = collapse_end_components(MDP.from_arrays(P, r, 1.0))
    np.testing.assert_array_equal(found.label, [0, 1, 2])
    np.testing.assert_array_equal(found.rows, [[1, -1], [2, 3], [-1, -1]])


def test_a_process_that_nothing_leads_out_of_is_worth_nothing():
    P = np.roll(np.eye(3), 1, axis=1)[:, None, :]
    mdp = MDP.from_arrays(P, np.zeros((3, 1)), 1.0)
    assert collapse_end_components(mdp).mdp.rewards.shape == (1, 1)
    found = solve(mdp)
    np.testing.assert_array_equal(found.values, 0.0)
    np.testing.assert_array_equal(found.policy, 0)


@pytest.mark.parametrize("circle", [297, 298])
def test_too_many_ways_out_are_refused_by_their_number(circle):
    """Beyond 50 times the rows of the process: 150 states of 299 actions, of 448 states of two."""
    others = 149
    S = circle + others + 1
    ring, rest = np.arange(circle), np.arange(circle, S)
    to = np.empty((S, 2), dtype=int)
    to[ring, 0], to[ring, 1] = (ring + 1) % circle, circle + ring % others
    to[rest, :] = S - 1
    r = np.where(np.arange(S)[:, None] < circle, [0.0, -1.0], [[-2.0, -1.0]])
    r[-1] = 0.0
    parts = [sp.csr_array((np.ones(S), (np.arange(S), to[:, a])), shape=(S, S)) for a in (0, 1)]
    mdp = MDP.from_arrays(parts, r, 1.0)
    if circle == 298:
        with pytest.raises(ValueError, match="end component without reward with 298 ways out"):
            collapse_end_components(mdp)
    else:
        assert collapse_end_components(mdp).mdp.rewards.shape == (151, 298)
