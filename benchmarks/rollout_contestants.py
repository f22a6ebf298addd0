"""A rollout of matched moments and its gradient, timed: what policy search does all day.

Four GPs predict how a state of four numbers changes under two controls, which a linear policy
chooses. The distribution of the state is carried through a number of steps; the cost is a sum of
squares; its derivatives by the policy are wanted. The floor is what no program that follows the
formula can do without: for each pair of outputs and each step the product that makes the exponents,
their exponentials, and the products that sum them for value and slopes. The other contestant is the
published formula, written down plainly for jax, which compiles and differentiates it.

``python benchmarks/moments_table.py`` prints the table of this benchmark alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from in_jax import value_and_gradient

POINTS, STEPS = 200, 40
STATES, CONTROLS = 4, 2
D = STATES + CONTROLS
NOISE_VAR = 0.01
PAIRS = [(a, b) for a in range(STATES) for b in range(a, STATES)]

Call = Callable[[], Any]


class Policy(NamedTuple):
    """``u = gain x + offset``."""

    gain: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True)
class RolloutProblem:
    """n random transitions, a policy, a first state, and how many steps to go."""

    n: int = POINTS
    points: int = STEPS

    @cached_property
    def data(self) -> tuple[list[Any], Policy, np.ndarray, np.ndarray]:
        """A posterior for each number of the state, the policy, the first mean and covariance."""
        from gpnotes import GP, RBF, condition

        rng = np.random.default_rng(self.n)
        X, back = rng.normal(size=(self.n, D)), 0.3 * rng.normal(size=(D, STATES))
        changes = np.sin(X @ back) - 0.2 * X[:, :STATES]
        changes += np.sqrt(NOISE_VAR) * rng.normal(size=changes.shape)
        lengths = rng.uniform(1.5, 3.0, (STATES, D))
        posteriors = [
            condition(GP(RBF(1.0 + 0.1 * k, lengths[k]), NOISE_VAR), X, changes[:, k])
            for k in range(STATES)
        ]
        policy = Policy(0.2 * rng.normal(size=(CONTROLS, STATES)), 0.1 * rng.normal(size=CONTROLS))
        root = 0.3 * rng.normal(size=(STATES, STATES))
        return posteriors, policy, rng.normal(size=STATES), root @ root.T


def floor(problem: RolloutProblem) -> Call:
    """Exponentials and products alone, for all pairs and steps, in one buffer."""
    rng = np.random.default_rng(0)
    left = 0.1 * rng.normal(size=(problem.n, D + 2))
    right = 0.1 * rng.normal(size=(D + 2, problem.n))
    back, lead = rng.normal(size=(problem.n, D + 1)), rng.normal(size=problem.n)
    matrix = np.empty((problem.n, problem.n))

    def call() -> None:
        for _ in range(problem.points * len(PAIRS)):
            np.matmul(left, right, out=matrix)
            np.exp(matrix, out=matrix)
            matrix @ back
            lead @ matrix

    return call


def ours(problem: RolloutProblem) -> Call:
    """The cost, then its derivatives by the policy."""
    from gpnotes.decide import moments

    posteriors, policy, m, S = problem.data
    model = moments.predictor(posteriors)

    def call() -> np.ndarray:
        cost, gain_bar, offset_bar = rollout(model, policy, m, S, problem.points)
        return np.concatenate([[cost], gain_bar.ravel(), offset_bar])

    return call


def rollout(
    model: Any, policy: Policy, m: np.ndarray, S: np.ndarray, steps: int
) -> tuple[float, np.ndarray, np.ndarray]:
    """Forwards step by step, then backwards through each step's pullback."""
    from gpnotes.decide import moments

    J = np.concatenate([np.eye(STATES), policy.gain])
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
    from gpnotes.decide.moments import Moments

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
def by_jax(problem: RolloutProblem) -> Call:
    """The same by automatic differentiation of the published formula, compiled beforehand."""
    in_jax = value_and_gradient(_cost_in_jax, partial(_for_jax, problem), problem.points)

    def call() -> np.ndarray:
        cost, bar = in_jax()
        return np.concatenate([np.atleast_1d(cost), np.ravel(bar.gain), np.asarray(bar.offset)])

    return call


def _for_jax(problem: RolloutProblem) -> tuple:
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


def largest_gap(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of cost and derivatives, relative to the largest of each."""
    parts = [slice(0, 1), slice(1, None)]
    return float(max(np.max(abs(one[p] - other[p])) / np.max(abs(other[p])) for p in parts))
