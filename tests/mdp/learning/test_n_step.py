"""Learners from n steps beside a loop over one recorded run."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP
from gpnotes.mdp.learning import MDPEnvironment, NStepTD, run


@pytest.fixture
def environment(rng):
    transitions = rng.dirichlet(np.ones(4), size=(2, 4))
    transitions[:, 3] = np.eye(4)[3]  # the end
    rewards = rng.normal(size=(4, 2))
    rewards[3] = 0.0
    return MDPEnvironment(
        MDP.from_arrays(transitions, rewards, 0.9), np.full(4, 0.25) * [4 / 3, 4 / 3, 4 / 3, 0]
    )


def _by_loop(record, n, discount, step_size, states):
    """Values after one run, as Sutton and Barto's page 144 has it, step by step."""
    values, waiting = np.zeros(states), []

    def learn(rewards, at, value):
        target = (
            sum(discount**k * r for k, r in enumerate(rewards)) + discount ** len(rewards) * value
        )
        values[at] += step_size * (target - values[at])

    for at, reward, to, terminated, truncated in record:
        waiting = [(s, [*past, reward]) for s, past in waiting] + [(at, [reward])]
        end = 0.0 if terminated else values[to]
        if len(waiting[0][1]) == n:
            learn(waiting[0][1], waiting[0][0], end)
            waiting = waiting[1:]
        if terminated or truncated:
            for s, past in waiting:
                learn(past, s, end)
            waiting = []
    return values


@pytest.mark.parametrize("n", [1, 2, 5])
def test_values_are_those_of_a_loop_over_the_transitions(environment, n):
    learner = NStepTD(0.9, np.full((4, 2), 0.5), step_size=0.3, n=n)
    found = run(learner, environment, num_steps=60, num_runs=2, rng=stream(3), record=True)
    t = found.transitions
    for one in range(2):
        record = [
            tuple(np.asarray(part)[k, one] for part in
                  (t.states, t.rewards, t.next_states, t.terminated, t.truncated))
            for k in range(60)
        ]  # fmt: skip
        wanted = _by_loop(record, n, 0.9, 0.3, 4)
        np.testing.assert_allclose(found.learner_state.values[one], wanted, atol=1e-12)
