"""Where the posterior has no formula: ellipses, no U-turns over hyperparameters, a network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from harness import Call, Task

import gpnotes
from gpnotes import networks, samplers
from gpnotes.ground.chunks import Rows
from gpnotes.infer.objective import Objective, objective_of
from tasks.exact import LENGTHS, D, gram, readings

DRAWS, WARMUP, KEPT = 4000, 60, 75
INPUTS, WIDTH, STEPS, RATE = 4, 50, 200, 0.03  # of the network


@dataclass(frozen=True)
class LabelProblem:
    """n labels of a function of two inputs, the root of its prior, and their likelihood."""

    n: int

    @property
    def draws(self) -> int:
        return DRAWS if self.n > 100 else 400

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


def ellipses_ours(problem: LabelProblem) -> Call:
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


def ellipses_by_numpy(problem: LabelProblem) -> Call:
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


def ellipses_floor(problem: LabelProblem) -> Call:
    """A product with the factor for each draw, and three likelihoods."""
    from scipy.linalg.blas import dtrmv

    root, z = np.asfortranarray(problem.data[0]), np.ones(problem.n)

    def call() -> None:
        for _ in range(problem.draws):
            f = dtrmv(root, z, lower=1)
            for _ in range(3):
                problem.log_likelihood(f)

    return call


def summary(values: list[float]) -> tuple[float, float]:
    """Mean and standard error of the second half of a chain, from the means of its tenths."""
    means = np.asarray(values[len(values) // 2 :]).reshape(10, -1).mean(axis=1)
    return float(means.mean()), float(means.std(ddof=1) / math.sqrt(10))


@dataclass(frozen=True)
class HyperProblem:
    """n readings in eight dimensions, and priors on their ten hyperparameters."""

    n: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        return readings(self.n, D, seed=self.n)

    @cached_property
    def objective(self) -> Objective[Any]:
        gp = gpnotes.GP(gpnotes.RBF(1.3, LENGTHS), 0.1)
        names = "kernel.variance", "kernel.lengthscale", "noise_var"
        priors = {name: gpnotes.LogNormalPrior(0.0, 1.0) for name in names}
        return objective_of(gp, Rows(*self.data), priors=priors)


def gradient_floor(problem: HyperProblem) -> Call:
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


def gradient_ours(problem: HyperProblem) -> Call:
    """The log density of the logarithms, and its gradient."""
    density = samplers.HyperparameterDensity(problem.objective)
    vector = problem.objective.vector(problem.objective.model)

    def call() -> np.ndarray:
        value, slope = density(vector)
        return np.append(slope, value)

    return call


def gradient_by_numpy(problem: HyperProblem) -> Call:
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


def _density_in_jax(problem: HyperProblem) -> Any:
    """The log density of the logarithms by jax, and where they stand."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y = map(jnp.asarray, problem.data)

    def density(theta: Any) -> Any:
        K = gram(X, X, jnp, jnp.exp(theta[0]), jnp.exp(theta[1:-1]))
        lower = jnp.linalg.cholesky(K + jnp.exp(theta[-1]) * jnp.eye(len(y)))
        half = jax.scipy.linalg.solve_triangular(lower, y, lower=True)
        logs = jnp.sum(jnp.log(jnp.diag(lower))) + 0.5 * len(y) * jnp.log(2.0 * jnp.pi)
        prior = -0.5 * jnp.sum(theta**2) - 0.5 * len(theta) * jnp.log(2.0 * jnp.pi)
        return prior - 0.5 * half @ half - logs

    return density, jnp.asarray(problem.objective.vector(problem.objective.model))


def gradient_by_jax(problem: HyperProblem) -> Call:
    """The same, compiled."""
    import jax

    density, vector = _density_in_jax(problem)
    run = jax.jit(jax.value_and_grad(density))

    def call() -> np.ndarray:
        value, slope = run(vector)
        return np.append(np.asarray(slope), float(value))

    return call


def chain_ours(problem: HyperProblem) -> Call:
    """Two chains, with their warm-up."""
    steps = {"num_warmup": WARMUP, "num_samples": KEPT} if problem.n > 100 else {
        "num_warmup": 10, "num_samples": 10}  # fmt: skip

    def call() -> np.ndarray:
        found = samplers.sample(
            problem.objective, samplers.NUTS(), rng=gpnotes.stream(1), num_chains=2, **steps,
            mass_matrix="dense",
        )  # fmt: skip
        return np.asarray(found.ess_bulk)

    return call


def chain_by_blackjax(problem: HyperProblem) -> Call:
    """Its window adaptation and NUTS on the density in jax, two chains one after the other."""
    import blackjax
    import jax

    density, vector = _density_in_jax(problem)
    warmup, kept = (WARMUP, KEPT) if problem.n > 100 else (10, 10)

    @jax.jit
    def chain(key: Any) -> Any:
        adapt = blackjax.window_adaptation(blackjax.nuts, density, is_mass_matrix_diagonal=False)
        (state, parameters), _ = adapt.run(key, vector, num_steps=warmup)
        step = blackjax.nuts(density, **parameters).step
        keys = jax.random.split(key, kept)
        return jax.lax.scan(lambda s, k: (step(k, s)[0], s.position), state, keys)[1]

    return lambda: [jax.block_until_ready(chain(jax.random.key(k))) for k in (0, 1)]


def chain_floor(problem: HyperProblem) -> Call:
    """A gradient's floor for each of eight steps of a draw, as ours takes in the mean."""
    one = gradient_floor(problem)
    draws = 2 * (WARMUP + KEPT) if problem.n > 100 else 40

    def call() -> None:
        for _ in range(8 * draws):
            one()

    return call


@dataclass(frozen=True)
class NetworkProblem:
    """n rows with noise, and a network that has mean and log variance of a reading as outputs."""

    n: int
    width: int = WIDTH
    steps: int = STEPS

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        return readings(self.n, INPUTS, seed=self.n)

    @cached_property
    def model(self) -> networks.BayesianNetwork:
        network = networks.Network((INPUTS, self.width, self.width, 2))
        prior = network.scaled_variances(like=self.data[0])
        return networks.BayesianNetwork(network, prior)

    @cached_property
    def start(self) -> np.ndarray:
        return self.model.draw(1, rng=gpnotes.stream(0))[0]


def network_floor(problem: NetworkProblem) -> Call:
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


def network_ours(problem: NetworkProblem) -> Call:
    """The log joint density before each step."""
    X, y = problem.data
    model, start, steps = problem.model, problem.start, problem.steps
    settings = {"num_steps": steps, "learning_rate": RATE}
    return lambda: networks.map_estimate(model, X, y, start, **settings).trace


def network_by_jax(problem: NetworkProblem) -> Call:
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


def network_by_torch(problem: NetworkProblem) -> Call:
    """The same steps, with derivatives by automatic differentiation as the formula is run."""
    import torch

    X, y = map(torch.from_numpy, problem.data)
    sizes = problem.model.network.sizes
    variances = torch.from_numpy(np.asarray(problem.model.prior_variance))
    constant = -0.5 * torch.log(2.0 * math.pi * variances).sum()
    counts = [count for pair in pairwise(sizes) for count in (pair[0] * pair[1], pair[1])]

    def log_joint(theta: Any) -> Any:
        parts = torch.split(theta, counts)
        values = X
        for number, pair in enumerate(pairwise(sizes)):
            values = torch.addmm(parts[2 * number + 1], values, parts[2 * number].view(pair))
            values = torch.tanh(values) if number < len(sizes) - 2 else values
        mean, log_variance = values.T
        squares = (y - mean) ** 2 * torch.exp(-log_variance)
        fit = -0.5 * (squares + log_variance + math.log(2.0 * math.pi)).sum()
        return fit + constant - 0.5 * (theta**2 / variances).sum()

    def call() -> np.ndarray:
        theta = torch.from_numpy(problem.start.copy()).requires_grad_()
        mean, square = torch.zeros(2, theta.numel(), dtype=torch.float64)
        trace = []
        for number in range(problem.steps):
            value = log_joint(theta)
            (slope,) = torch.autograd.grad(value, theta)
            trace.append(value.detach())
            with torch.no_grad():
                mean.mul_(0.9).add_(slope, alpha=0.1)
                square.mul_(0.999).addcmul_(slope, slope, value=0.001)
                share = RATE * (1.0 - number / problem.steps) / (1 - 0.9 ** (number + 1))
                root = torch.sqrt(square / (1 - 0.999 ** (number + 1))).add_(1e-8)
                theta.addcdiv_(mean, root, value=share)
        return torch.stack(trace).numpy()

    return call


def standard_errors(ours: Any, theirs: Any) -> float:
    """How far two means lie apart, in their standard errors; five are allowed, so a fifth."""
    return abs(ours[0] - theirs[0]) / math.hypot(ours[1], theirs[1]) / 5.0


TASKS = {
    "ellipses": Task(
        "elliptical slices, {n} labels, 4000 draws", "products, likelihoods", LabelProblem,
        {"floor": ellipses_floor, "gpnotes": ellipses_ours, "plain NumPy": ellipses_by_numpy},
        1000, 30, close=1.0, gap=standard_errors,
    ),
    "hyperparameters": Task(
        "log posterior of ten hyperparameters, {n} readings", "Cholesky, inverse, exponentials",
        HyperProblem,
        {"floor": gradient_floor, "gpnotes": gradient_ours, "plain NumPy": gradient_by_numpy,
         "jax by hand": gradient_by_jax}, 500, 40,
    ),
    "no u-turn": Task(
        "no U-turns over them, two chains of 60 + 75", "eight gradients a draw", HyperProblem,
        {"floor": chain_floor, "gpnotes": chain_ours, "BlackJAX": chain_by_blackjax}, 500, 40,
        apart=("BlackJAX",),
    ),
    "network": Task(
        "200 steps of Adam, a network of 2 × 50, {n} rows", "products, tangents", NetworkProblem,
        {"floor": network_floor, "gpnotes": network_ours, "jax by hand": network_by_jax,
         "torch by hand": network_by_torch}, 1000, 30,
    ),
}  # fmt: skip
