"""The rollout of the pendulum's chapter and its gradient, timed against jax: small problems.

Two GPs know n transitions of a pendulum; a network of 30 bumps, squashed, chooses the torque; the
state goes 35 steps as a Gaussian, through sines, network and GPs, each step at its expected cost.
Wanted are the mean cost and its derivatives by the policy's 151 parameters. The other contestant is
the textbook's formulas, written down plainly for jax, which compiles and differentiates them. There
a covariance is a difference of second moments, so that the two agree to the digits it has left.

``python benchmarks/pendulum_table.py`` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from in_jax import value_and_gradient

STEPS, BUMPS = 35, 30
LENGTHS = (1e6, 10.0, 1.6, 1.6, 5.0)  # of θ, which is not looked at, θ̇, sin θ, cos θ, the torque
NOISE = 1e-2  # times the variance of what is predicted

Call = Callable[[], np.ndarray]


@dataclass(frozen=True)
class PendulumProblem:
    """n transitions of a pendulum that is pushed at random, and a first policy."""

    n: int
    horizon: int = STEPS
    bumps: int = BUMPS

    @cached_property
    def data(self) -> tuple[Any, Any, Any]:
        """The dynamics, the policy and the task."""
        from gpnotes import stream
        from gpnotes.decide.pilco import Dynamics, initial_policy
        from gpnotes.decide.pilco.pendulum import TORQUE, swing_up

        rng = np.random.default_rng(self.n)
        states = np.stack([rng.uniform(0.0, 2.0 * np.pi, self.n), 3.0 * rng.normal(size=self.n)], 1)
        torques = rng.uniform(-2.0, 2.0, (self.n, 1))
        change = moved(states, torques[:, 0]) - states
        angle = states[:, :1]
        X = np.concatenate([states, np.sin(angle), np.cos(angle), torques], axis=1)
        posteriors = tuple(_posterior(X, y, rng) for y in change.T)
        task = swing_up(X, horizon=self.horizon)
        policy = initial_policy(
            task, TORQUE, scale=4.0, num_basis_functions=self.bumps, rng=stream(4)
        )
        return Dynamics(posteriors, (0,)), policy, task


def moved(states: np.ndarray, torques: np.ndarray) -> np.ndarray:
    """Three time steps of the simulator's equation, from states (n, 2)."""
    theta, velocity = states.T
    for _ in range(3):
        velocity = np.clip(velocity + 0.05 * (15.0 * np.sin(theta) + 3.0 * torques), -8.0, 8.0)
        theta = theta + 0.05 * velocity
    return np.stack([theta, velocity], axis=1)


def _posterior(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Any:
    from gpnotes import GP, RBF, condition

    noise_var = NOISE * y.var()
    y = y + np.sqrt(noise_var) * rng.normal(size=y.shape)
    return condition(GP(RBF(y.var(), np.asarray(LENGTHS)), noise_var), X, y)


def ours(problem: PendulumProblem) -> Call:
    """The mean cost, then its derivatives by weights, centres and lengthscales."""
    from gpnotes.decide.pilco import rollout_and_pullback

    dynamics, policy, task = problem.data
    dynamics.predictor  # noqa: B018  (made once, as in a search)
    shares = np.full(task.horizon, 1.0 / task.horizon)

    def call() -> np.ndarray:
        predicted, pull = rollout_and_pullback(
            dynamics, policy, task.cost, task.mean, task.covariance, task.horizon
        )
        bar = pull(shares)[0].inner
        bars = bar.weights.ravel(), bar.centres.ravel(), bar.lengthscale
        return np.concatenate([[predicted.costs @ shares], *bars])

    return call


def by_jax(problem: PendulumProblem) -> Call:
    """The same by automatic differentiation of the published formulas, compiled beforehand."""
    in_jax = value_and_gradient(_mean_cost, partial(_for_jax, problem), problem.horizon)

    def call() -> np.ndarray:
        cost, bar = in_jax()
        bars = (np.ravel(bar[name]) for name in ("weights", "centres", "lengths"))
        return np.concatenate([np.atleast_1d(cost), *bars])

    return call


def _for_jax(problem: PendulumProblem) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The policy, what the formulas need of the GPs, and the task."""
    import jax
    import jax.numpy as jnp

    dynamics, policy, task = problem.data
    every, network = dynamics.posteriors, policy.inner
    tables = (
        {"weights": network.weights, "centres": network.centres, "lengths": network.lengthscale},
        {
            "X": every[0].X[:, 1:],
            "weights": np.stack([posterior.alpha for posterior in every]),
            "inverse": np.stack([posterior.cholesky.inverse() for posterior in every]),
            "precision": np.stack(
                [posterior.gp.kernel.lengthscale[1:] ** -2.0 for posterior in every]
            ),
            "variance": np.asarray([posterior.gp.kernel.variance for posterior in every]),
            "noise": np.asarray([posterior.gp.noise_var for posterior in every]),
        },
        {
            "mean": task.mean,
            "covariance": task.covariance,
            "target": task.cost.target,
            "weight": task.cost.weight,
            "limit": np.asarray(policy.max_action),
        },
    )
    return jax.tree.map(jnp.asarray, tables)


def _mean_cost(policy: dict[str, Any], gps: dict[str, Any], task: dict[str, Any], horizon: int):
    import jax
    import jax.numpy as jnp

    def step(state: Any, _: None) -> Any:
        m, S = state
        z, Z = _augmented(m, S)
        u, U, cross = _action(policy, task["limit"], z[1:], Z[1:, 1:])
        w, W = _joined(z, Z, u, U, Z[:, 1:] @ jnp.linalg.solve(Z[1:, 1:], cross))
        change, covariance, cross = _predicted(gps, w[1:], W[1:, 1:])
        across = W[:2, 1:] @ cross
        m, S = m + change, S + covariance + across + across.T
        return (m, S), _cost(task, *_augmented(m, S))

    start = task["mean"], task["covariance"]
    return jnp.mean(jax.lax.scan(step, start, None, length=horizon)[1])


def _joined(m: Any, S: Any, more: Any, covariance: Any, cross: Any) -> tuple[Any, Any]:
    import jax.numpy as jnp

    return jnp.concatenate([m, more]), jnp.block([[S, cross], [cross.T, covariance]])


def _sines(m: Any, S: Any) -> tuple[Any, Any, Any]:
    """Mean and covariance of ``sin ψ``, and the expected slope."""
    import jax.numpy as jnp

    v = jnp.diag(S)
    shrink = jnp.exp(-0.5 * v)
    h = 0.5 * (v[:, None] + v)
    less, more = jnp.cos(m[:, None] - m), jnp.cos(m[:, None] + m)
    second = 0.5 * (jnp.exp(S - h) * less - jnp.exp(-S - h) * more)
    mean = shrink * jnp.sin(m)
    return mean, second - jnp.outer(mean, mean), shrink * jnp.cos(m)


def _augmented(m: Any, S: Any) -> tuple[Any, Any]:
    """``(θ, θ̇, sin θ, cos θ)``."""
    import jax.numpy as jnp

    turned = jnp.stack([m[0], m[0] + 0.5 * jnp.pi])
    mean, covariance, gain = _sines(turned, jnp.full((2, 2), S[0, 0]))
    return _joined(m, S, mean, covariance, jnp.stack([S[:, 0], S[:, 0]], axis=1) * gain)


def _action(policy: dict[str, Any], limit: Any, m: Any, S: Any) -> tuple[Any, Any, Any]:
    """The network's moments, one kernel for all bumps, and the sine that bounds them."""
    import jax.numpy as jnp

    precision = policy["lengths"] ** -2.0
    q, slopes = _expectation(policy["centres"] - m, precision, 1.0, S)
    Q = _second(policy["centres"] - m, precision, precision, 1.0, 1.0, S)
    mean = policy["weights"].T @ q
    covariance = policy["weights"].T @ Q @ policy["weights"] - jnp.outer(mean, mean)
    cross = S @ (slopes.T @ policy["weights"])
    mean, covariance, gain = _sines(mean, covariance)
    return limit * mean, limit**2 * covariance, limit * gain * cross


def _expectation(nu: Any, precision: Any, variance: Any, S: Any) -> tuple[Any, Any]:
    """``E k(x_i, x)``, and its slopes by m."""
    import jax.numpy as jnp

    inner = S * precision + jnp.eye(len(S))
    solved = jnp.linalg.solve(inner.T, (nu * precision).T).T  # rows (S + Λ)⁻¹ ν
    q = variance / jnp.sqrt(jnp.linalg.det(inner)) * jnp.exp(-0.5 * jnp.sum(nu * solved, 1))
    return q, solved * q[:, None]


def _second(nu: Any, first: Any, other: Any, v: Any, w: Any, S: Any) -> Any:
    """``E k(x_i, x) k'(x_j, x)``, with ``R = S(Λ⁻¹ + Λ'⁻¹) + I``."""
    import jax.numpy as jnp

    R = S * (first + other) + jnp.eye(len(S))
    a, b = nu * first, nu * other
    bent = jnp.linalg.solve(R, S)
    square = jnp.sum((a @ bent) * a, 1)[:, None] + jnp.sum((b @ bent) * b, 1)
    plain = jnp.sum(nu * a, 1)[:, None] + jnp.sum(nu * b, 1)
    exponents = 0.5 * (square - plain) + a @ bent @ b.T
    return v * w * jnp.exp(exponents) / jnp.sqrt(jnp.linalg.det(R))


def _predicted(gps: dict[str, Any], m: Any, S: Any) -> tuple[Any, Any, Any]:
    """Mean and covariance of the change, noise included, and ``S⁻¹ cov[x, change]``."""
    import jax
    import jax.numpy as jnp

    nu, names = gps["X"] - m, ("weights", "precision", "variance")

    def pair(a: Any, b: Any) -> tuple[Any, Any]:
        (alpha, first, v), (beta, other, w) = ([gps[name][i] for name in names] for i in (a, b))
        Q = _second(nu, first, other, v, w, S)
        trace = jnp.where(a == b, jnp.sum(gps["inverse"][a] * Q), 0.0)
        return alpha @ Q @ beta, trace

    q, slopes = jax.vmap(lambda p, v: _expectation(nu, p, v, S))(gps["precision"], gps["variance"])
    mean = jnp.sum(gps["weights"] * q, axis=1)
    cross = jnp.einsum("en,end->de", gps["weights"], slopes)
    rows, columns = jnp.triu_indices(len(mean))
    second, trace = jax.vmap(pair)(rows, columns)
    upper = jnp.zeros((len(mean), len(mean))).at[rows, columns].set(second - trace)
    covariance = upper + jnp.triu(upper, 1).T + jnp.diag(gps["variance"] + gps["noise"])
    return mean, covariance - jnp.outer(mean, mean), cross


def _cost(task: dict[str, Any], m: Any, S: Any) -> Any:
    import jax.numpy as jnp

    off, R = m - task["target"], S @ task["weight"] + jnp.eye(len(m))
    square = off @ task["weight"] @ jnp.linalg.solve(R, off)
    return 1.0 - jnp.exp(-0.5 * square) / jnp.sqrt(jnp.linalg.det(R))
