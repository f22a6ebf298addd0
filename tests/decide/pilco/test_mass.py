"""A second task, a mass on a line: what is learned there against what is known of it."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.decide.pilco import (
    LinearPolicy,
    QuadraticCost,
    SaturatingCost,
    StepCost,
    Task,
    Transitions,
    initial_policy,
    learn,
)
from gpnotes.testing import check_cost, check_policy

A, B = np.asarray([[1.0, 0.2], [0.0, 1.0]]), np.asarray([[0.04], [0.2]])  # 0.2 s, pushed first
START, SPREAD, STEPS = np.asarray([1.0, 0.0]), 1e-4 * np.eye(2), 15
NEAR = SaturatingCost(np.zeros(2), np.diag([4.0, 0.5]))
EFFORT = StepCost(action=QuadraticCost(np.zeros(1), np.eye(1)))


@pytest.fixture
def trial():
    """A function that makes the world: a function of a policy, with draws of its own."""

    def make(draws):
        def act(policy):
            x, rows = START, []
            for _ in range(STEPS):
                u = 2.0 * draws.uniform(1) - 1.0 if policy is None else policy(x)
                rows.append((x, u, A @ x + B @ u))
                x = rows[-1][2]
            return Transitions(*(np.stack(part) for part in zip(*rows, strict=True)))

        return act

    return make


def learned(trial, cost, seed=0, **settings):
    draws, task = stream(seed), Task(cost, START, SPREAD, STEPS)
    propose = settings.pop("propose", None) or (
        lambda task, draws: LinearPolicy(0.3 * draws.normal((1, 2)), np.zeros(1))
    )
    trials = learn(task, trial(draws), lambda: propose(task, draws), num_trials=2, **settings)
    return task, list(trials)[-1]


@pytest.mark.parametrize(("price", "effort"), [(0.02, 29.4), (0.1, 9.74)])
def test_the_mass_is_brought_to_rest_at_a_price(trial, price, effort):
    """What the model expects comes true, and a force that costs more is used less."""
    task, last = learned(trial, NEAR + price * EFFORT, max_steps=25)
    paid = task.observed_costs(last.observed)
    assert paid.shape == (STEPS,)
    assert abs(paid.mean() - last.improvement.cost) < 0.01
    assert abs(last.observed.next_states[-1]).max() < 0.1
    np.testing.assert_allclose((last.observed.actions**2).sum(), effort, rtol=0.05)


def test_a_network_learns_it_from_the_initial_policy_of_any_task(trial):
    settings = {
        "max_steps": 25,
        "propose": lambda t, s: initial_policy(t, 3.0, num_basis_functions=8, rng=s),
    }
    task, last = learned(trial, NEAR + 0.02 * EFFORT, seed=1, **settings)
    assert task.observed_costs(last.observed).mean() < 0.35
    assert abs(last.observed.actions).max() <= 3.0


def test_with_quadratic_costs_it_is_what_riccati_says(trial):
    """The best policy of a linear world is linear; one gain for all steps is a little worse."""
    Q, r = np.diag([1.0, 0.1]), 0.05
    cost = QuadraticCost(np.zeros(2), Q) + r * EFFORT
    _, last = learned(trial, cost, max_steps=40)
    ours = total(last.improvement.policy.weights, last.improvement.policy.bias, Q, r)
    V, gains = np.zeros((2, 2)), []
    for _ in range(STEPS):
        M = Q + V
        gains.append(-np.linalg.solve(r * np.eye(1) + B.T @ M @ B, B.T @ M @ A))
        closed = A + B @ gains[-1]
        V = closed.T @ M @ closed + r * gains[-1].T @ gains[-1]
    best = (START @ V @ START + np.trace(V @ SPREAD)) / STEPS
    assert best * (1.0 - 1e-9) <= ours <= 1.02 * best
    assert ours <= 1.005 * total(gains[-1], np.zeros(1), Q, r)
    np.testing.assert_allclose(last.improvement.cost, ours, rtol=0.01)


def total(K, b, Q, r):
    """The mean cost of a step under ``u = K x + b`` in the true world."""
    m, S, cost = START, SPREAD, 0.0
    for _ in range(STEPS):
        cost += r * ((K @ m + b) @ (K @ m + b) + np.trace(K @ S @ K.T))
        m, S = A @ m + B @ (K @ m + b), (A + B @ K) @ S @ (A + B @ K).T
        cost += m @ Q @ m + np.trace(Q @ S)
    return cost / STEPS


def test_costs_put_together_and_the_initial_policy_keep_their_contracts(space):
    a = space.asarray
    near = SaturatingCost(a(np.zeros(2)), a(np.diag([4.0, 0.5])))
    square = QuadraticCost(a([0.3, -0.2]), a([[1.0, 0.2], [0.2, 0.5]]))
    m, S = a([0.3, 0.1]), a([[0.2, 0.1], [0.1, 0.3]])
    for cost in (square, near + 0.5 * square, sum([near, 2.0 * square])):
        check_cost(cost, m, S)
    task = Task(near, m, S, 3)
    check_policy(initial_policy(task, 2.0, num_basis_functions=3, rng=stream(0)), m, S)
