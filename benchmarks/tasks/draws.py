"""Draws from a posterior: jointly at many points, and as whole functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from harness import Call, Task

import gpnotes
from gpnotes.draw import paths
from gpnotes.fast.cosines import cosines_of_turns
from gpnotes.infer import features
from tasks.exact import LENGTHS, NOISE, VARIANCE, D, gram, in_gpjax, readings

DRAWS, FEATURES = 100, 1024


@dataclass(frozen=True)
class Problem:
    """n places to draw at, and a posterior after half as many observations."""

    n: int

    @cached_property
    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        return readings(self.n // 2, D, seed=self.n)

    @cached_property
    def data(self) -> tuple[gpnotes.ExactPosterior, np.ndarray]:
        gp = gpnotes.GP(gpnotes.RBF(VARIANCE, LENGTHS), NOISE)
        Xs = np.random.default_rng(1).normal(size=(self.n, D))
        return gpnotes.condition(gp, *self.observed), Xs

    @property
    def normals(self) -> np.ndarray:
        """The standard normals from which all contestants make their draws."""
        return gpnotes.stream(1).normal((DRAWS, self.n))


def joint_floor(problem: Problem) -> Call:
    """The solve, the product and ``dpotrf`` of filled matrices, in place, and what z becomes."""
    from scipy.linalg.blas import dsyrk, dtrmm, dtrsm
    from scipy.linalg.lapack import dpotrf

    posterior, Xs = problem.data
    cross = np.asfortranarray(posterior.gp.kernel(posterior.X, Xs))
    K = np.asfortranarray(posterior.gp.kernel(Xs))
    z = np.asfortranarray(problem.normals.T)

    def call() -> None:
        half = dtrsm(1.0, posterior.cholesky.lower, cross, lower=1, overwrite_b=1)
        covariance = dsyrk(-1.0, half, 1.0, K, trans=1, lower=1, overwrite_c=1)
        root, _ = dpotrf(covariance, lower=1, clean=0, overwrite_a=1)
        dtrmm(1.0, root, z, lower=1, overwrite_b=1)

    return call


def joint_ours(problem: Problem) -> Call:
    """`ExactPosterior.sample`, the random numbers included."""
    posterior, Xs = problem.data
    return lambda: posterior.sample(Xs, DRAWS, rng=gpnotes.stream(1))


def joint_by_numpy(problem: Problem) -> Call:
    """As GPflow does it, in NumPy and without the jitter that it adds."""
    from scipy.linalg import solve_triangular

    posterior, Xs = problem.data
    X, alpha, lower = posterior.X, posterior.alpha, posterior.cholesky.lower

    def call() -> np.ndarray:
        cross = gram(X, Xs, np)
        half = solve_triangular(lower, cross, lower=True)
        root = np.linalg.cholesky(gram(Xs, Xs, np) - half.T @ half)
        return cross.T @ alpha + problem.normals @ root.T

    return call


def by_gpjax(problem: Problem, joint: bool) -> Call:
    import jax

    model, data = in_gpjax(*problem.observed)
    posterior, Xs = model.condition(data), jax.numpy.asarray(problem.data[1])

    @jax.jit
    def drawn(posterior: Any, key: Any) -> Any:
        if joint:
            return posterior.predict(Xs).sample(key, (DRAWS,))
        return posterior.sample_approx(DRAWS, key, FEATURES)(Xs)

    return lambda: np.asarray(drawn(posterior, jax.random.key(1)))


def paths_floor(problem: Problem) -> Call:
    """The products, the two solves, as many cosines and as many exponentials; no more.

    The cosines are the package's, which take a third of NumPy's time.
    """
    from scipy.linalg.blas import dgemm, dtrsm

    posterior, Xs = problem.data
    n, points = posterior.X.shape[0], Xs.shape[0]
    inputs = np.asfortranarray(np.vstack([posterior.X, Xs]).T)
    omega = np.asfortranarray(np.full((FEATURES, inputs.shape[0]), 0.1))
    weights = np.asfortranarray(np.ones((FEATURES, DRAWS)))
    turns = np.empty((n + points, FEATURES))
    K = np.empty((n, points), order="F")
    scaled = np.asfortranarray(posterior.X.T)

    def call() -> None:
        dgemm(1.0, omega, inputs, c=turns.T, overwrite_c=1)
        cosines_of_turns(turns)
        drawn = dgemm(1.0, turns.T, weights, trans_a=1)
        half = dtrsm(1.0, posterior.cholesky.lower, drawn[:n], lower=1)
        update = dtrsm(1.0, posterior.cholesky.lower, half, lower=1, trans_a=1)
        dgemm(-1e-3, scaled, inputs[:, n:], trans_a=1, c=K, overwrite_c=1)
        np.exp(K, out=K)
        dgemm(1.0, K, update, trans_a=1)

    return call


def paths_ours(problem: Problem) -> Call:
    """`sample_paths` and their values, the random numbers included."""
    posterior, Xs = problem.data
    return lambda: paths.sample_paths(
        posterior, DRAWS, num_features=FEATURES, rng=gpnotes.stream(1)
    )(Xs)


def paths_by_numpy(problem: Problem) -> Call:
    """The formula in NumPy, with the same random numbers."""
    from scipy.linalg import cho_solve

    posterior, Xs = problem.data
    X, y, kernel = posterior.X, posterior.y, posterior.gp.kernel

    def call() -> np.ndarray:
        source = gpnotes.stream(1)
        drawn = features.draw_frequencies(kernel, X, FEATURES, rng=source)
        w = source.normal((DRAWS, FEATURES))
        noise = np.sqrt(posterior.gp.noise_var) * source.normal((DRAWS, X.shape[0]))

        def prior(inputs: np.ndarray) -> np.ndarray:
            angles = ((inputs - X.mean(axis=0)) / LENGTHS) @ drawn.unit.T + drawn.phases
            return w @ (np.sqrt(2.0 * VARIANCE / FEATURES) * np.cos(angles)).T

        gap = y - prior(X) - noise
        return prior(Xs) + cho_solve((posterior.cholesky.lower, True), gap.T).T @ gram(X, Xs, np)

    return call


TASKS = {
    "samples": Task(
        "100 joint draws", "Cholesky, products", Problem,
        {"floor": joint_floor, "gpnotes": joint_ours, "plain NumPy": joint_by_numpy,
         "GPJax": partial(by_gpjax, joint=True)}, 2000, 80, apart=("GPJax",), front=True,
    ),
    "paths": Task(
        "100 sampled functions", "products, cosines", Problem,
        {"floor": paths_floor, "gpnotes": paths_ours, "plain NumPy": paths_by_numpy,
         "GPJax": partial(by_gpjax, joint=False)}, 2000, 80, apart=("GPJax",), front=True,
    ),
}  # fmt: skip
