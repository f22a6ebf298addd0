"""Who draws from a posterior without a formula, how fast: ellipses for labels, and no U-turns.

An ellipse is drawn for 1000 labels, with the factor of their prior given: what counts is draws a
second. No U-turns are taken over the ten hyperparameters of 500 readings: what counts is gradients
a second, beside a floor of one factorisation, one inverse and the exponentials of a triangle, and
effective draws a second, with the warm-up's seconds counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import gpnotes
from gpnotes import samplers
from gpnotes.ground.chunks import Rows
from gpnotes.infer.objective import Objective, objective_of

LABELS, DRAWS = 1000, 2000
READINGS, D = 500, 8

Call = Callable[[], Any]


@dataclass(frozen=True)
class LabelProblem:
    """n labels of a function of two inputs, the root of its prior, and their likelihood."""

    n: int = LABELS
    draws: int = DRAWS

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.uniform(-3.0, 3.0, size=(self.n, 2))
        K = gpnotes.RBF(1.0, 1.0)(X) + 1e-8 * np.eye(self.n)
        root = np.linalg.cholesky(K)
        f = root @ rng.normal(size=self.n)
        return root, np.where(rng.random(self.n) < 1.0 / (1.0 + np.exp(-f)), 1.0, -1.0)

    def log_likelihood(self, f: np.ndarray) -> float:
        """Of the logistic link; both contestants call it."""
        return -float(np.log1p(np.exp(-self.data[1] * f)).sum())


def our_ellipses(problem: LabelProblem) -> Call:
    """Mean and standard error of the log likelihood over the draws: steps, as `sample` takes."""
    root, _ = problem.data
    sampler = samplers.EllipticalSlice(root)

    def call() -> tuple[float, float]:
        stream = gpnotes.stream(1)
        state = sampler.init(problem.log_likelihood, np.zeros(problem.n))
        values = []
        for _ in range(problem.draws):
            state = sampler.step(problem.log_likelihood, state, stream).state
            values.append(state.log_density)
        return summary(values)

    return call


def plain_ellipses(problem: LabelProblem) -> Call:
    """Murray, Adams & MacKay's algorithm as it is printed."""
    root, _ = problem.data
    target = problem.log_likelihood

    def call() -> tuple[float, float]:
        rng = np.random.default_rng(2)
        f, values = np.zeros(problem.n), []
        value = target(f)
        for _ in range(problem.draws):
            nu = root @ rng.standard_normal(problem.n)
            level = value + math.log(rng.random())
            angle = rng.uniform(0.0, 2.0 * math.pi)
            low, high = angle - 2.0 * math.pi, angle
            while True:
                there = f * math.cos(angle) + nu * math.sin(angle)
                value = target(there)
                if value > level:
                    break
                low, high = (angle, high) if angle < 0.0 else (low, angle)
                angle = rng.uniform(low, high)
            f = there
            values.append(value)
        return summary(values)

    return call


def summary(values: list[float]) -> tuple[float, float]:
    """Mean and standard error of the second half of a chain, from the means of its tenths."""
    means = np.asarray(values[len(values) // 2 :]).reshape(10, -1).mean(axis=1)
    return float(means.mean()), float(means.std(ddof=1) / math.sqrt(10))


@dataclass(frozen=True)
class HyperProblem:
    """n readings in eight dimensions, and priors on their ten hyperparameters."""

    n: int = READINGS

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.normal(size=(self.n, D))
        return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n)

    @cached_property
    def objective(self) -> Objective[Any]:
        gp = gpnotes.GP(gpnotes.RBF(1.3, np.linspace(1.5, 3.0, D)), 0.1)
        names = "kernel.variance", "kernel.lengthscale", "noise_var"
        priors = {name: gpnotes.LogNormalPrior(0.0, 1.0) for name in names}
        return objective_of(gp, Rows(*self.data), priors=priors)


def floor_of_gradient(problem: HyperProblem) -> Call:
    """``dpotrf``, ``dpotri``, and exponentials of as many numbers as a triangle has."""
    from scipy.linalg.lapack import dpotrf, dpotri

    K = problem.objective.model.kernel(problem.data[0]) + np.eye(problem.n)
    matrix, entries = np.asfortranarray(K), np.full(problem.n * (problem.n + 1) // 2, -0.3)
    room = np.empty_like(entries)

    def call() -> None:
        lower, _ = dpotrf(matrix, lower=1, clean=0)
        dpotri(lower, lower=1, overwrite_c=1)
        np.exp(entries, out=room)

    return call


def our_gradient(problem: HyperProblem) -> Call:
    """The log density of the logarithms, and its gradient."""
    density = samplers.HyperparameterDensity(problem.objective)
    vector = problem.objective.vector(problem.objective.model)

    def call() -> np.ndarray:
        value, slope = density(vector)
        return np.append(slope, value)

    return call


def plain_gradient(problem: HyperProblem) -> Call:
    """The same, as one writes it in NumPy by whole matrices, with LAPACK's factor and inverse."""
    from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

    X, y = problem.data
    n, vector = problem.n, problem.objective.vector(problem.objective.model)
    constant = 0.5 * math.log(2.0 * math.pi)

    def call() -> np.ndarray:
        variance, noise = np.exp(vector[[0, -1]])
        u = X / np.exp(vector[1:-1])
        sizes = np.sum(u * u, axis=1)
        squares = np.maximum(sizes[:, None] + sizes[None, :] - 2.0 * u @ u.T, 0.0)
        K = variance * np.exp(-0.5 * squares)
        lower, _ = dpotrf(K.T + noise * np.eye(n), lower=1, clean=0)
        alpha, _ = dpotrs(lower, y, lower=1)
        logs = float(np.sum(np.log(np.diag(lower))))
        inverse, _ = dpotri(lower, lower=1, overwrite_c=1)
        W = np.outer(alpha, alpha) - np.tril(inverse) - np.tril(inverse, -1).T
        by_noise = 0.5 * noise * np.trace(W)
        W *= K
        by_lengths = np.sum(W, axis=1) @ (u * u) - np.sum(u * (W @ u), axis=0)
        slope = np.concatenate([[0.5 * np.sum(W)], by_lengths, [by_noise]]) - vector
        prior = -0.5 * vector @ vector - constant * len(vector)
        return np.append(slope, prior - 0.5 * y @ alpha - logs - constant * n)

    return call


def gradient_by_jax(problem: HyperProblem) -> Call:
    """The same, compiled, but for a constant of the value."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y = map(jnp.asarray, problem.data)

    def density(theta: Any) -> Any:
        u = X / jnp.exp(theta[1:-1])
        sizes = jnp.sum(u**2, 1)
        squares = jnp.maximum(sizes[:, None] + sizes[None, :] - 2.0 * u @ u.T, 0.0)
        K = jnp.exp(theta[0] - 0.5 * squares) + jnp.exp(theta[-1]) * jnp.eye(len(y))
        lower = jnp.linalg.cholesky(K)
        half = jax.scipy.linalg.solve_triangular(lower, y, lower=True)
        logs = jnp.sum(jnp.log(jnp.diag(lower))) + 0.5 * len(y) * jnp.log(2.0 * jnp.pi)
        prior = -0.5 * jnp.sum(theta**2) - 0.5 * len(theta) * jnp.log(2.0 * jnp.pi)
        return prior - 0.5 * half @ half - logs

    run = jax.jit(jax.value_and_grad(density))
    vector = jnp.asarray(problem.objective.vector(problem.objective.model))

    def call() -> np.ndarray:
        value, slope = run(vector)
        return np.append(np.asarray(slope), float(value))

    return call


def our_chain(problem: HyperProblem, draws: int) -> tuple[float, int]:
    """The least effective number of draws of one chain, and its gradients with the warm-up's.

    Variance and noise are correlated at −0.8, so that units are learnt with correlations; for ten
    numbers a third as many steps of warm-up as draws will do.
    """
    found = samplers.sample(
        problem.objective, samplers.NUTS(), rng=gpnotes.stream(1), num_chains=1, num_samples=draws,
        num_warmup=draws // 3, mass_matrix="dense",
    )  # fmt: skip
    return float(np.min(found.ess_bulk)), int(
        found.evaluations.sum() + sum(found.warmup_evaluations)
    )
