"""Learners of one step: their updates by hand, their limits, and exact means over runs."""

from __future__ import annotations

import importlib.util

import gymnasium
import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP, evaluate, solve
from gpnotes.mdp.learning import (
    SARSA,
    EpsilonGreedy,
    ExpectedSARSA,
    FixedPolicy,
    LearnerState,
    MDPEnvironment,
    PowerLawDecay,
    QLearning,
    Transition,
    run,
)
from gpnotes.mdp.learning.td_control import expected_value


def process(P, r):
    """A process from nested lists."""
    S, A = np.shape(r)
    return MDP(np.asarray(P, float).reshape(S * A, S), np.asarray(r, float), 0.5)


def random_process(seed, S=4, A=2):
    rng = np.random.default_rng(seed)
    return process(rng.dirichlet(np.ones(S), size=S * A), rng.random((S, A)))


def best(mdp, discount):
    Q = np.zeros((mdp.num_states, mdp.num_actions))
    for _ in range(3000):
        Q = mdp.rewards + discount * (mdp.transitions @ Q.max(1)).reshape(Q.shape)
    return Q


def step(states, actions, rewards, onward, terminated=False, truncated=False):
    """One transition of a single run."""
    as_bool = [np.asarray([bool(one)]) for one in (terminated, truncated)]
    return Transition(
        np.asarray([states]), np.asarray([actions]), np.asarray([float(rewards)]),
        np.asarray([onward]), *as_bool,
    )  # fmt: skip


def test_q_learning_by_hand():
    learner = QLearning(0.5, step_size=0.1, initial_values=np.asarray([[1.0, 2.0], [3.0, 4.0]]))
    learned = learner.init(2, 2, 1)
    learned = learner.step(learned, step(0, 1, 10.0, 1), stream(1))
    assert learned.values[0, 0, 1] == pytest.approx(2.0 + 0.1 * (10.0 + 0.5 * 4.0 - 2.0))
    learned = learner.step(learned, step(1, 0, 10.0, 1, terminated=True), stream(1))
    assert learned.values[0, 1, 0] == pytest.approx(3.0 + 0.1 * (10.0 - 3.0))
    learned = learner.step(learned, step(1, 1, 0.0, 1, truncated=True), stream(1))
    assert learned.values[0, 1, 1] == pytest.approx(4.0 + 0.1 * (0.5 * 4.0 - 4.0))
    assert learned.visits.tolist() == [[[0, 1], [1, 1]]]
    assert learned.time == 3


def test_sarsa_by_hand():
    """The update of a step is made with the action of the next; at an end at once."""
    learner = SARSA(0.5, step_size=0.1, initial_values=np.asarray([[1.0, 2.0], [3.0, 4.0]]))
    learned = learner.init(2, 2, 1)
    learned = learner.step(learned, step(0, 1, 10.0, 1), stream(1))
    assert learned.values[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    learned = learner.step(learned, step(1, 0, 7.0, 0), stream(1))
    first = 2.0 + 0.1 * (10.0 + 0.5 * 3.0 - 2.0)
    assert learned.values[0, 0].tolist() == [1.0, pytest.approx(first)]
    learned = learner.step(learned, step(0, 1, 5.0, 1, terminated=True), stream(1))
    second = 3.0 + 0.1 * (7.0 + 0.5 * first - 3.0)
    third = first + 0.1 * (5.0 - first)
    assert learned.values[0] == pytest.approx(np.asarray([[1.0, third], [second, 4.0]]))
    learned = learner.step(learned, step(0, 0, 5.0, 1), stream(1))
    assert learned.values[0] == pytest.approx(np.asarray([[1.0, third], [second, 4.0]]))


def test_sarsa_where_an_episode_is_cut():
    learner = SARSA(
        0.5,
        step_size=0.1,
        exploration=EpsilonGreedy(0.4),
        initial_values=np.asarray([[1.0], [3.0]]) * [1, 2],
    )
    learned = learner.step(learner.init(2, 2, 1), step(0, 0, 1.0, 1, truncated=True), stream(1))
    mean = 0.2 * 3.0 + 0.8 * 6.0
    assert learned.values[0, 0, 0] == pytest.approx(1.0 + 0.1 * (1.0 + 0.5 * mean - 1.0))


def test_expected_sarsa_by_hand_and_off_policy():
    start = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    policy = FixedPolicy(np.asarray([[0.5, 0.5], [0.25, 0.75]]))
    learner = ExpectedSARSA(0.5, step_size=0.1, initial_values=start, policy=policy)
    learned = learner.step(learner.init(2, 2, 1), step(0, 1, 10.0, 1), stream(1))
    mean = 0.25 * 3.0 + 0.75 * 4.0
    assert learned.values[0, 0, 1] == pytest.approx(2.0 + 0.1 * (10.0 + 0.5 * mean - 2.0))


def test_expected_sarsa_of_the_greedy_policy_is_q_learning():
    environment = MDPEnvironment(random_process(1))
    settings = {"num_steps": 300, "num_runs": 5, "rng": stream(3)}
    one = run(QLearning(0.9), environment, **settings)
    other = run(ExpectedSARSA(0.9, policy=EpsilonGreedy(0.0)), environment, **settings)
    assert np.array_equal(one.learner_state.values, other.learner_state.values)


def test_q_learning_with_full_steps_is_value_iteration_where_nothing_is_random():
    """Each round of visits takes a factor of the discount off the error, its largest."""
    mdp = process([[1, 0], [0, 1], [1, 0], [0, 1]], [[0.0, -1.0], [2.0, 1.0]])
    found = run(
        QLearning(0.5, step_size=1.0, exploration=EpsilonGreedy(1.0)),
        MDPEnvironment(mdp), num_steps=2000, num_runs=4, rng=stream(1),
    )  # fmt: skip
    rounds = found.learner_state.visits.min()
    assert rounds > 300
    assert found.learner_state.values == pytest.approx(np.stack([best(mdp, 0.5)] * 4), abs=1e-14)


def test_q_learning_at_the_best_values_stays_there_on_average():
    """From the fixed point the mean of a step is nought: five standard errors, known exactly."""
    mdp, runs, discount = random_process(2), 40000, 0.9
    Q = best(mdp, discount)
    learner = QLearning(discount, step_size=0.5, exploration=EpsilonGreedy(1.0), initial_values=Q)
    for state in range(mdp.num_states):
        found = run(
            learner, MDPEnvironment(mdp, state), num_steps=1, num_runs=runs, rng=stream(state)
        )
        moved = found.learner_state.values - Q
        top = Q.max(1)
        for action in range(mdp.num_actions):
            row = mdp.transitions[state * mdp.num_actions + action]
            sd = 0.5 * discount * np.sqrt(row @ top**2 - (row @ top) ** 2)
            taken = found.learner_state.visits[:, state, action].sum()
            assert taken > 15000
            assert abs(moved[:, state, action].sum() / taken) < 5 * sd / np.sqrt(taken)


def test_q_learning_comes_to_the_best_values_as_fast_as_a_mean():
    """Two layers: once the lower one is known, which takes one visit, the upper one is a mean.

    Of n visits the c before that are off by at most the range of values, the others by what
    Hoeffding's inequality leaves: with probability 1e-9 one of all pairs of all runs by more.
    """
    P, r, runs = np.zeros((5, 2, 5)), np.zeros((5, 2)), 20
    P[0, :, 1:4] = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
    P[1:, :, 4] = 1.0
    r[1:4] = [[0.0, 1.0], [0.3, 0.2], [-1.0, -0.5]]
    mdp = MDP.from_arrays(P, r, 0.9)
    found = run(
        QLearning(0.9, exploration=EpsilonGreedy(1.0)), MDPEnvironment(mdp), num_steps=6000,
        num_runs=runs, rng=stream(2), record=True,
    )  # fmt: skip
    exact, wide = best(mdp, 0.9), 0.9 * 1.5
    assert np.all(found.learner_state.values[:, 1:4] == r[1:4])
    tried = found.transitions.states * 2 + found.transitions.actions
    for one in range(runs):
        known = max(int(np.argmax(tried[:, one] == pair)) for pair in range(2, 8))
        for a in range(2):
            n = found.learner_state.visits[one, 0, a]
            early = np.count_nonzero(tried[:known, one] == a)
            bound = wide * (early / n + np.sqrt(np.log(4 * runs / 1e-9) / (2 * n)))
            assert abs(found.learner_state.values[one, 0, a] - exact[0, a]) < bound < 0.25


@pytest.mark.parametrize("kind", ["expected", "sarsa"])
def test_the_mean_over_runs_is_the_exact_one(kind):
    """Under a fixed policy the mean of table and state together moves by a linear map."""
    mdp, discount, T, runs = random_process(5, S=3), 0.8, 12, 20000
    policy = np.asarray([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]])
    step_size = PowerLawDecay(0.7, 0.6, clock="time")
    learner = {"expected": ExpectedSARSA, "sarsa": SARSA}[kind](
        discount, step_size, FixedPolicy(policy)
    )
    found = run(learner, MDPEnvironment(mdp), num_steps=T, num_runs=runs, rng=stream(4))
    exact = _exact_means(mdp, discount, policy, step_size, T - (kind == "sarsa"), kind)
    values = found.learner_state.values.reshape(runs, -1)
    error = values.std(0, ddof=1) / np.sqrt(runs)
    assert np.all(np.abs(values.mean(0) - exact) < 5 * error)
    assert np.all(np.abs(exact) > 10 * error)  # it has learnt something


def _exact_means(mdp, discount, policy, step_size, steps, kind):
    """E Q after so many updates, by the means of Q on each pair: states of a longer chain."""
    S, A = mdp.rewards.shape
    n = S * A
    chance = np.zeros(n)
    chance[:A] = policy[0]
    held = np.zeros((n, n))  # E[Q; the pair is now (s, a)]
    chain = (mdp.transitions[:, :, None] * policy).reshape(n, n)
    for t in range(steps):
        alpha = float(step_size(np.asarray(float(t))))
        next_held = np.zeros_like(held)
        for pair in range(n):
            for other in range(n):
                look = np.zeros(n)
                if kind == "sarsa":
                    look[other] = 1.0
                else:
                    look[other // A * A : (other // A + 1) * A] = policy[other // A]
                moved = held[pair].copy()
                error = chance[pair] * mdp.rewards.reshape(-1)[pair] + discount * look @ held[pair]
                moved[pair] += alpha * (error - held[pair, pair])
                next_held[other] += chain[pair, other] * moved
        held, chance = next_held, chance @ chain
    return held.sum(0)


def test_the_defaults_cross_a_frozen_lake():
    mdp = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1").unwrapped, 0.99)
    found = run(QLearning(0.99), MDPEnvironment(mdp), num_steps=15_000, num_runs=8, horizon=100,
                rng=stream(1))  # fmt: skip
    values = [evaluate(mdp, policy)[0] for policy in found.learner_state.greedy]
    assert np.median(values) > 0.5 * solve(mdp).values[0]


def test_the_default_step_size_learns_what_one_over_k_does_not():
    mdp = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1").unwrapped, 0.99)
    world, best = MDPEnvironment(mdp), solve(mdp).values[0]
    compiled = importlib.util.find_spec("numba") is not None  # the same walk, to the last bit
    worth = {}
    for name, learner in {
        "default": QLearning(0.99),
        "1/k": QLearning(0.99, PowerLawDecay()),
    }.items():
        found = run(learner, world, num_steps=60_000, num_runs=20, horizon=100, rng=stream(1),
                    compiled=compiled)  # fmt: skip
        values = [evaluate(mdp, policy)[0] / best for policy in found.learner_state.greedy]
        worth[name] = np.mean(values)
    assert (
        worth["default"] > 0.85 > 0.65 > worth["1/k"]
    )  # streams 1 to 5: 0.93 to 0.97, 0.46 to 0.56


@pytest.mark.parametrize("learner", [QLearning(0.5), SARSA(0.5), ExpectedSARSA(0.5)], ids=repr)
def test_every_step_counts_as_one_visit(learner):
    found = run(learner, MDPEnvironment(random_process(1)), num_steps=9, num_runs=2, rng=stream(1))
    assert found.learner_state.visits.sum(axis=(1, 2)).tolist() == [9, 9]


def test_an_expected_value_of_what_is_not_there_is_refused_by_its_state():
    values = np.asarray([[[1.0, 2.0], [3.0, -np.inf]]] * 2)
    learned = LearnerState(values, np.zeros((2, 2, 2), int))
    policy = FixedPolicy(np.asarray([[0.25, 0.75], [0.5, 0.5]]))
    assert expected_value(policy, learned, np.asarray([0, 0])).tolist() == [1.75, 1.75]
    with pytest.raises(ValueError, match="available; in state 1 it does not"):
        expected_value(policy, learned, np.asarray([0, 1]))
