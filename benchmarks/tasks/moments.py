"""Matched moments: predictions at uncertain inputs, and a rollout of forty with its gradient.

Four GPs predict how a state of four numbers changes under two controls, which a linear policy
chooses. A rollout carries the distribution of the state through steps; its cost is a sum of
squares, of which the derivatives by the policy are wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from harness import Call, Task

from gpnotes import GP, RBF, condition
from gpnotes.decide import moments
from gpnotes.decide.moments import Moments

STEPS, CALLS, STATES, CONTROLS = 40, 50, 4, 2
D, NOISE = STATES + CONTROLS, 0.01
PAIRS = [(a, b) for a in range(STATES) for b in range(a, STATES)]


class Policy(NamedTuple):
    """``u = gain x + offset``."""

    gain: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True)
class Problem:
    """n random transitions, a policy, and a first state."""

    n: int

    @cached_property
    def data(self) -> tuple[list[Any], Policy, np.ndarray, np.ndarray]:
        """A posterior for each number of the state, the policy, the first mean and covariance."""
        rng = np.random.default_rng(self.n)
        X, back = rng.normal(size=(self.n, D)), 0.3 * rng.normal(size=(D, STATES))
        changes = np.sin(X @ back) - 0.2 * X[:, :STATES]
        changes += np.sqrt(NOISE) * rng.normal(size=changes.shape)
        lengths = rng.uniform(1.5, 3.0, (STATES, D))
        posteriors = [
            condition(GP(RBF(1.0 + 0.1 * k, lengths[k]), NOISE), X, changes[:, k])
            for k in range(STATES)
        ]
        policy = Policy(0.2 * rng.normal(size=(CONTROLS, STATES)), 0.1 * rng.normal(size=CONTROLS))
        root = 0.3 * rng.normal(size=(STATES, STATES))
        return posteriors, policy, rng.normal(size=STATES), root @ root.T


def _floor(repeats: int, back: int, problem: Problem) -> Call:
    """Exponentials and products alone, for all pairs and steps, in one buffer."""
    rng = np.random.default_rng(0)
    left = 0.1 * rng.normal(size=(problem.n, D + 2))
    right = 0.1 * rng.normal(size=(D + 2, problem.n))
    wide, lead = rng.normal(size=(problem.n, back)), rng.normal(size=problem.n)
    matrix = np.empty((problem.n, problem.n))

    def call() -> None:
        for _ in range(repeats * len(PAIRS)):
            np.matmul(left, right, out=matrix)
            np.exp(matrix, out=matrix)
            if back:
                matrix @ wide
            lead @ matrix

    return call


def matched(problem: Problem) -> Call:
    """Mean, covariance and input-output covariance at fifty uncertain inputs."""
    posteriors, policy, m, S = problem.data
    model, J = moments.predictor(posteriors), _with_controls(policy)
    offset = np.concatenate([np.zeros(STATES), policy.offset])

    def call() -> np.ndarray:
        found = [
            moments.predict(model, J @ (m + 0.01 * k) + offset, J @ S @ J.T) for k in range(CALLS)
        ]
        return np.asarray([one.covariance for one in found])

    return call


def _with_controls(policy: Policy) -> np.ndarray:
    return np.concatenate([np.eye(STATES), policy.gain])


def ours(problem: Problem) -> Call:
    """The cost, then its derivatives by the policy."""
    posteriors, policy, m, S = problem.data
    model = moments.predictor(posteriors)

    def call() -> np.ndarray:
        cost, gain_bar, offset_bar = rollout(model, policy, m, S, STEPS)
        return np.concatenate([[cost], gain_bar.ravel(), offset_bar])

    return call


def rollout(
    model: Any, policy: Policy, m: np.ndarray, S: np.ndarray, steps: int
) -> tuple[float, np.ndarray, np.ndarray]:
    """Forwards step by step, then backwards through each step's pullback."""
    J = _with_controls(policy)
    offset = np.concatenate([np.zeros(STATES), policy.offset])
    cost, passed = 0.0, []
    for _ in range(steps):
        prediction, pull = moments.predict_and_pullback(model, J @ m + offset, J @ S @ J.T)
        passed.append((m, S, pull))
        across = prediction.cross[:STATES]
        m, S = m + prediction.mean, S + prediction.covariance + across + across.T
        passed[-1] += (2.0 * m,)
        cost += float(m @ m + np.trace(S))
    return cost, *_backwards(J, passed)


def _backwards(J: np.ndarray, passed: list[tuple]) -> tuple[np.ndarray, np.ndarray]:
    m_bar, S_bar = np.zeros(STATES), np.zeros((STATES, STATES))
    J_bar, offset_bar = np.zeros_like(J), np.zeros(D)
    for m, S, pull, slope in reversed(passed):
        m_bar, S_bar = m_bar + slope, S_bar + np.eye(STATES)
        across = np.concatenate([2.0 * S_bar, np.zeros((CONTROLS, STATES))])
        into_m, into_S = pull(Moments(m_bar, S_bar, across))
        J_bar += np.outer(into_m, m) + 2.0 * into_S @ J @ S
        offset_bar += into_m
        m_bar, S_bar = m_bar + J.T @ into_m, S_bar + J.T @ into_S @ J
    return J_bar[STATES:], offset_bar[STATES:]


@cache
def by_jax(problem: Problem) -> Call:
    """The rollout by automatic differentiation of the published formula, compiled."""
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays = _for_jax(problem)
    both = jax.jit(jax.value_and_grad(partial(_cost_in_jax, steps=STEPS)))

    def call() -> np.ndarray:
        cost, bar = jax.block_until_ready(both(*arrays))
        return np.concatenate([np.atleast_1d(cost), np.ravel(bar.gain), np.asarray(bar.offset)])

    return call


def matched_by_jax(problem: Problem) -> Call:
    """The published formula at the same inputs, compiled."""
    import jax

    jax.config.update("jax_enable_x64", True)
    _policy, gps, m, S = _for_jax(problem)
    J = _with_controls(problem.data[1])
    offset = np.concatenate([np.zeros(STATES), problem.data[1].offset])
    one = jax.jit(published)

    def call() -> np.ndarray:
        found = [one(gps, J @ (m + 0.01 * k) + offset, J @ S @ J.T) for k in range(CALLS)]
        return np.asarray([covariance for _, covariance, _ in found])

    return call


def _for_jax(problem: Problem) -> tuple:
    """The policy, what the formula needs of the GPs, and the first state."""
    import jax.numpy as jnp

    posteriors, policy, m, S = problem.data
    gps = {
        "X": posteriors[0].X,
        "weights": np.stack([posterior.alpha for posterior in posteriors]),
        "inverse": np.stack([posterior.cholesky.inverse() for posterior in posteriors]),
        "precision": np.stack([posterior.gp.kernel.lengthscale**-2.0 for posterior in posteriors]),
        "variance": np.asarray([posterior.gp.kernel.variance for posterior in posteriors]),
    }
    held = {name: jnp.asarray(value) for name, value in gps.items()}
    return Policy(*map(jnp.asarray, policy)), held, jnp.asarray(m), jnp.asarray(S)


def _cost_in_jax(policy: Policy, gps: dict[str, Any], m: Any, S: Any, steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    J = jnp.concatenate([jnp.eye(STATES), policy.gain])
    offset = jnp.concatenate([jnp.zeros(STATES), policy.offset])

    def step(state: Any, _: None) -> Any:
        m, S = state
        mean, covariance, cross = published(gps, J @ m + offset, J @ S @ J.T)
        across = cross[:STATES]
        m, S = m + mean, S + covariance + across + across.T
        return (m, S), m @ m + jnp.trace(S)

    return jnp.sum(jax.lax.scan(step, (m, S), None, length=steps)[1])


def published(gps: dict[str, Any], m: Any, S: Any) -> tuple[Any, Any, Any]:
    """Mean, covariance and input-output covariance, as Deisenroth & Rasmussen (2011) print them.

    For each output and each pair of outputs, with R = S(Λ_a⁻¹ + Λ_b⁻¹) + I and one matrix Q of all
    points with all points.
    """
    import jax
    import jax.numpy as jnp

    nu = gps["X"] - m
    eye = jnp.eye(D)

    def one(weights: Any, precision: Any, variance: Any) -> tuple[Any, Any]:
        inner = S * precision + eye
        solved = jnp.linalg.solve(inner.T, (nu * precision).T).T  # rows (S + Λ)⁻¹ ν
        q = variance / jnp.sqrt(jnp.linalg.det(inner)) * jnp.exp(-0.5 * jnp.sum(nu * solved, 1))
        return weights @ q, S @ (solved.T @ (weights * q))

    def pair(a: Any, b: Any) -> tuple[Any, Any]:
        first, second = gps["precision"][a], gps["precision"][b]
        R = S * (first + second) + eye
        u, v = nu * first, nu * second
        bent = jnp.linalg.solve(R, S)
        square = jnp.sum((u @ bent) * u, 1)[:, None] + jnp.sum((v @ bent) * v, 1)
        log_k = jnp.log(gps["variance"][a]) - 0.5 * jnp.sum(nu * u, 1)
        log_l = jnp.log(gps["variance"][b]) - 0.5 * jnp.sum(nu * v, 1)
        exponents = log_k[:, None] + log_l + 0.5 * square + u @ bent @ v.T
        Q = jnp.exp(exponents) / jnp.sqrt(jnp.linalg.det(R))
        trace = jnp.where(a == b, jnp.sum(gps["inverse"][a] * Q), 0.0)
        return gps["weights"][a] @ Q @ gps["weights"][b], trace

    mean, cross = jax.vmap(one)(gps["weights"], gps["precision"], gps["variance"])
    rows, columns = jnp.triu_indices(STATES)
    second, trace = jax.lax.map(lambda ab: pair(*ab), (rows, columns))
    upper = jnp.zeros((STATES, STATES)).at[rows, columns].set(second - trace)
    covariance = upper + jnp.triu(upper, 1).T + jnp.diag(gps["variance"])
    return mean, covariance - jnp.outer(mean, mean), cross.T


TASKS = {
    "moments": Task(
        "50 predictions at an uncertain input", "products, exponentials", Problem,
        {"floor": partial(_floor, CALLS, 0), "gpnotes": matched, "jax by hand": matched_by_jax},
        200, 11, front=True,
    ),
    "rollout": Task(
        "a rollout of 40 matched steps and its gradient", "products, exponentials", Problem,
        {"floor": partial(_floor, STEPS, D + 1), "gpnotes": ours, "jax by hand": by_jax}, 200, 11,
    ),
}  # fmt: skip
