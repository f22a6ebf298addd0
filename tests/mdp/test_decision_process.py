"""Processes: from arrays, from gymnasium's tables, and the chains that policies make of them."""

import gymnasium
import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.ground.xp import as_index, to_numpy
from gpnotes.mdp import MDP, evaluate, occupancy_measure, solve


def test_rewards_by_state_by_action_and_by_next_state(make_arrays, rng):
    P, r = make_arrays()
    by_next = rng.normal(size=P.shape)
    expected = np.einsum("sat,sat->sa", P, by_next)
    each = [sp.csr_array(P[:, a]) for a in range(3)]
    for given in (P, each):
        assert np.array_equal(MDP.from_arrays(given, r, 0.9).rewards, r)
        np.testing.assert_allclose(MDP.from_arrays(given, by_next, 0.9).rewards, expected)
        alone = MDP.from_arrays(given, r[:, 0].copy(), 0.9).rewards
        assert np.array_equal(alone, np.repeat(r[:, :1], 3, axis=1))


def test_sparse_transitions_are_not_copied(make_arrays):
    P, r = make_arrays()
    rows = sp.csr_array(P.reshape(36, 12))
    mdp = MDP(rows, r, 0.9)
    assert np.shares_memory(mdp.transitions.data, rows.data)
    assert mdp.sparse
    assert not MDP(P.reshape(36, 12), r, 0.9).sparse


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array])
def test_any_sparse_format_is_taken(make_arrays, kind):
    P, r = make_arrays()
    mdp = MDP(kind(P.reshape(36, 12)), r, 0.9)
    v = np.arange(12.0)
    np.testing.assert_allclose(mdp.action_values(v), r + 0.9 * P @ v)
    chain, _ = mdp.induced_chain(np.zeros(12, dtype=int))
    np.testing.assert_array_equal(chain.toarray(), P[:, 0])


def test_entries_given_twice_are_added_up():
    P = sp.coo_array(([0.5, 0.5, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    mdp = MDP(P, np.zeros((2, 1)), 0.5)
    assert mdp.transitions.toarray().tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_chain_of_a_policy(make_arrays, rng, form):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P if form == "dense" else [sp.csr_array(P[:, a]) for a in range(3)], r, 1)
    actions = rng.integers(3, size=12)
    mixed = rng.dirichlet(np.ones(3), 12)
    for policy, pi in ((actions, np.eye(3)[actions]), (mixed, mixed)):
        chain, earned = mdp.induced_chain(policy)
        chain = chain.toarray() if form == "sparse" else chain
        np.testing.assert_allclose(chain, np.einsum("sa,sat->st", pi, P), rtol=1e-14)
        np.testing.assert_allclose(earned, np.sum(pi * r, axis=1), rtol=1e-14)


def test_actions_from_the_host_go_where_the_process_is(make_arrays, rng, space):
    mdp = MDP.from_arrays(*map(space.asarray, make_arrays()), 0.9)
    actions = rng.integers(3, size=12)
    chain, _ = mdp.induced_chain(actions)
    same, _ = mdp.induced_chain(as_index(actions, mdp.rewards))
    assert space.holds(chain)
    np.testing.assert_array_equal(to_numpy(chain), to_numpy(same))


def test_chains_and_values_in_every_namespace(make_arrays, rng, space):
    P, r = make_arrays()
    mdp = MDP.from_arrays(space.asarray(P), space.asarray(r), 0.9)
    v, pi = rng.normal(size=12), rng.dirichlet(np.ones(3), 12)
    wanted = np.linalg.solve(np.eye(12) - 0.9 * np.einsum("sa,sat->st", pi, P), np.sum(pi * r, 1))
    close = {"rtol": 1e-5, "atol": 1e-5}
    q = mdp.action_values(space.asarray(v))
    assert q.dtype == mdp.rewards.dtype
    np.testing.assert_allclose(to_numpy(q), r + 0.9 * P @ v, **close)
    ours = evaluate(mdp, space.asarray(pi))
    assert ours.dtype == mdp.rewards.dtype
    np.testing.assert_allclose(to_numpy(ours), wanted, **close)
    start = np.full(12, 1 / 12)
    visits = occupancy_measure(mdp, space.asarray(pi), space.asarray(start))
    np.testing.assert_allclose(np.sum(to_numpy(visits) * r), start @ wanted, **close)
    found = solve(mdp, tolerance=1e-2)
    worth = to_numpy(evaluate(mdp, found.policy))
    np.testing.assert_allclose(worth, to_numpy(found.values), rtol=0, atol=1e-2)
    assert not bool(to_numpy(mdp.terminal).any())


@pytest.mark.parametrize("one", [1.0, sum([0.1] * 10)])  # the second is rounded
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_terminal_states_stay_and_earn_nothing(form, one):
    P = np.zeros((4, 2, 4))
    P[0, :, 1] = P[1, :, 1] = P[2, :, 2] = P[3, 0, 3] = P[3, 1, 0] = one
    r = np.asarray([[0, 0], [0, 0], [0, 1], [0, 0]], dtype=float)  # 2 earns, 3 can leave
    given = P if form == "dense" else [sp.csr_array(P[:, a]) for a in range(2)]
    assert MDP.from_arrays(given, r, 0.9).terminal.tolist() == [False, True, False, False]


# -- tables of gymnasium -------------------------------------------------------------------------


def values_by_table(env, discount, sweeps=2000):
    """Value iteration on the lines of the table itself."""
    P = env.unwrapped.P
    v = np.zeros(len(P))
    for _ in range(sweeps):
        v = np.asarray(
            [
                max(
                    sum(p * (r + discount * (0.0 if end else v[to])) for p, to, r, end in P[s][a])
                    for a in P[s]
                )
                for s in range(len(P))
            ]
        )
    return v


@pytest.mark.parametrize(
    ("name", "discount"), [("FrozenLake-v1", 0.95), ("CliffWalking-v1", 0.9), ("Taxi-v4", 0.9)]
)
def test_a_table_has_the_values_that_its_lines_have(name, discount):
    env = gymnasium.make(name)
    mdp = MDP.from_gymnasium(env, discount)
    found = solve(mdp)
    wanted = values_by_table(env, discount, 400 if name == "FrozenLake-v1" else 40)
    live = ~mdp.terminal[: len(wanted)]
    np.testing.assert_allclose(found.values[: len(wanted)][live], wanted[live], rtol=0, atol=1e-4)


def test_states_that_end_the_episode_are_terminal():
    lake = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.9)
    assert np.flatnonzero(lake.terminal).tolist() == [5, 7, 11, 12, 15]
    cliff = MDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 0.9)
    assert np.flatnonzero(cliff.terminal).tolist() == [47]  # whose own lines lead on
    taxi = MDP.from_gymnasium(gymnasium.make("Taxi-v4"), 0.9)
    assert taxi.num_states == 501
    assert np.flatnonzero(taxi.terminal).tolist() == [500]


class _ThereAndBack(gymnasium.Env):
    """Two steps, which end where they began."""

    observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(1)
    P = {0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 1.0, True)]}}  # noqa: RUF012
    initial_state_distrib = np.asarray([1.0, 0.0])


def test_a_state_where_episodes_begin_is_no_end_though_they_end_there():
    env = _ThereAndBack()
    values = solve(MDP.from_gymnasium(env, 0.9)).values
    np.testing.assert_allclose(values[:2], values_by_table(env, 0.9, 3), rtol=1e-12)


# -- what policies are worth ---------------------------------------------------------------------


@pytest.mark.parametrize("discount", [0.0, 0.9, 0.999])
def test_sparse_chains_are_solved_as_dense_ones(make_arrays, rng, discount):
    P, r = make_arrays(S=60)
    policy = rng.dirichlet(np.ones(3), 60)
    dense = MDP.from_arrays(P, r, discount)
    sparse = MDP.from_arrays([sp.csr_array(P[:, a]) for a in range(3)], r, discount)
    start = rng.dirichlet(np.ones(60))
    np.testing.assert_allclose(evaluate(sparse, policy), evaluate(dense, policy), rtol=1e-9)
    np.testing.assert_allclose(
        occupancy_measure(sparse, policy, start),
        occupancy_measure(dense, policy, start),
        rtol=1e-9,
        atol=1e-12,
    )


def test_a_long_chain_is_factored_where_steps_do_not_get_on():
    """Two thousand states in a row, half of the steps backwards: mixing takes four million."""
    S = 2000
    inner = np.arange(1, S - 1)
    P = sp.coo_array(
        (
            np.concatenate([np.full(2 * (S - 2), 0.5), [1.0, 1.0]]),
            (np.concatenate([inner, inner, [0, S - 1]]),
             np.concatenate([inner - 1, inner + 1, [0, S - 1]])),
        ), shape=(S, S),
    )  # fmt: skip
    r = np.ones((S, 1))
    r[[0, -1]] = 0.0
    steps = evaluate(MDP(P, r, 1.0), np.zeros(S, dtype=int))
    s = np.arange(S)
    np.testing.assert_allclose(steps, s * (S - 1.0 - s), rtol=1e-9)


def test_occupancies_without_discount_count_the_steps_before_the_end():
    P = np.asarray([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    mdp = MDP.from_arrays(P, np.asarray([[1.0, 3.0], [0.0, 0.0]]), 1.0, layout="state first")
    mixed = np.asarray([[0.5, 0.5], [0.5, 0.5]])
    visits = occupancy_measure(mdp, mixed, np.asarray([1.0, 0.0]))
    np.testing.assert_allclose(visits, [[2 / 3, 2 / 3], [0.0, 0.0]], rtol=1e-14)
    np.testing.assert_allclose(evaluate(mdp, mixed), [8 / 3, 0.0], rtol=1e-14)


def test_who_earns_nothing_for_ever_is_worth_nothing():
    P = np.asarray([[[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]]])
    mdp = MDP.from_arrays(P, np.asarray([[2.0], [0.0], [0.0]]), 1.0)
    assert evaluate(mdp, np.zeros(3, dtype=int)).tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize("form", [np.asarray, lambda P: [sp.csr_array(P[:, a]) for a in range(3)]])
def test_in_double_precision_rows_are_off_by_what_they_came_in(make_arrays, form):
    P, r = (a.astype(np.float32) for a in make_arrays())
    double, sums = MDP.from_arrays(form(P), r, 0.9).in_double(), P.astype(float).sum(axis=2)
    assert double.rewards.dtype == np.float64
    np.testing.assert_allclose(double.row_sums, (sums.min(), sums.max()), rtol=1e-15)
    assert double.row_sums[0] < 1.0 < double.row_sums[1]
    assert double.in_double() is double
