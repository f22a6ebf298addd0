"""Who takes 200 steps of Adam with a network of 2 × 50 neurons and 1000 rows, how fast.

The floor is what no program of this kind can do without: the products of each layer on the way
forth, and the two on the way back, the hyperbolic tangents, and the updates of Adam, in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

import gpnotes
from gpnotes import networks

D, ROWS, WIDTH, STEPS, RATE = 4, 1000, 50, 200, 0.03

Call = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class NetworkProblem:
    """n rows with noise, and a network that has mean and log variance of a reading as outputs."""

    n: int = ROWS
    width: int = WIDTH
    steps: int = STEPS

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.normal(size=(self.n, D))
        return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n)

    @cached_property
    def model(self) -> networks.BayesianNetwork:
        network = networks.Network((D, self.width, self.width, 2))
        prior = network.scaled_variances(like=self.data[0])
        return networks.BayesianNetwork(network, prior)

    @cached_property
    def start(self) -> np.ndarray:
        return self.model.draw(1, rng=gpnotes.stream(0))[0]


def floor(problem: NetworkProblem) -> Call:
    """BLAS in place, ``tanh``, and Adam's arithmetic."""
    from scipy.linalg.blas import dgemm

    n, sizes = problem.n, problem.model.network.sizes
    values = [np.full((n, size), 0.1, order="F") for size in sizes]
    bars = [np.full((n, size), 1e-3, order="F") for size in sizes]
    matrices = [np.full(pair, 0.01, order="F") for pair in pairwise(sizes)]
    slopes = [np.zeros_like(W, order="F") for W in matrices]
    theta, gradient, mean, square, spare = np.full((5, problem.model.network.num_weights), 0.1)

    def update() -> None:
        np.multiply(mean, 0.9, out=mean)
        np.multiply(gradient, 0.1, out=spare)
        np.add(mean, spare, out=mean)
        np.multiply(square, 0.999, out=square)
        np.multiply(gradient, gradient, out=spare)
        np.multiply(spare, 0.001, out=spare)
        np.add(square, spare, out=square)
        np.sqrt(square, out=spare)
        np.divide(mean, spare, out=spare)
        np.multiply(spare, RATE, out=spare)
        np.add(theta, spare, out=theta)

    def call() -> None:
        for _ in range(problem.steps):
            for layer, W in enumerate(matrices):
                dgemm(1.0, values[layer], W, c=values[layer + 1], overwrite_c=1)
                if layer + 1 < len(matrices):
                    np.tanh(values[layer + 1].T, out=values[layer + 1].T)
            for layer in reversed(range(len(matrices))):
                above, slope = bars[layer + 1], slopes[layer]
                dgemm(1.0, values[layer], above, trans_a=1, c=slope, overwrite_c=1)
                if layer:
                    dgemm(1.0, above, matrices[layer], trans_b=1, c=bars[layer], overwrite_c=1)
            update()

    return call


def ours(problem: NetworkProblem) -> Call:
    """The log joint density before each step."""
    X, y = problem.data
    model, start, steps = problem.model, problem.start, problem.steps
    settings = {"num_steps": steps, "learning_rate": RATE}
    return lambda: networks.map_estimate(model, X, y, start, **settings).trace


def by_jax(problem: NetworkProblem) -> Call:
    """The same steps, with derivatives by automatic differentiation of the formula, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y = map(jnp.asarray, problem.data)
    sizes, variances = problem.model.network.sizes, jnp.asarray(problem.model.prior_variance)
    constant = -0.5 * jnp.sum(jnp.log(2.0 * jnp.pi * variances))

    def log_joint(theta: Any) -> Any:
        values, at = X, 0
        for number, (inputs, outputs) in enumerate(pairwise(sizes)):
            W = theta[at : at + inputs * outputs].reshape(inputs, outputs)
            at += inputs * outputs
            values = values @ W + theta[at : at + outputs]
            at += outputs
            values = jnp.tanh(values) if number < len(sizes) - 2 else values
        mean, log_variance = values.T
        squares = (y - mean) ** 2 * jnp.exp(-log_variance)
        fit = -0.5 * jnp.sum(squares + log_variance + jnp.log(2.0 * jnp.pi))
        return fit + constant - 0.5 * jnp.sum(theta**2 / variances)

    def step(state: Any, number: Any) -> Any:
        theta, mean, square = state
        value, slope = jax.value_and_grad(log_joint)(theta)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        mean_now, square_now = (
            mean / (1 - 0.9 ** (number + 1)),
            square / (1 - 0.999 ** (number + 1)),
        )
        share = RATE * (1.0 - number / problem.steps)
        return (theta + share * mean_now / (jnp.sqrt(square_now) + 1e-8), mean, square), value

    @jax.jit
    def run(theta: Any) -> Any:
        zero = jnp.zeros_like(theta)
        return jax.lax.scan(step, (theta, zero, zero), jnp.arange(1.0 * problem.steps))[1]

    return lambda: np.asarray(run(problem.start))
