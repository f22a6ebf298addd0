"""Who draws functions from a posterior, jointly at many points, and how fast that could be.

The process is conditioned beforehand. What is timed is the way from the factor of K_y to the draws:
mean and covariance at the points, a root of the covariance, one product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import gpnotes

D = 8
OBSERVATIONS, POINTS, DRAWS = 1000, 2000, 100
VARIANCE, NOISE_VAR = 1.3, 0.1

Call = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class SampleProblem:
    """A posterior after n observations in eight dimensions, and points to draw at."""

    n: int
    points: int

    @cached_property
    def data(self) -> tuple[gpnotes.ExactPosterior, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X, Xs = rng.normal(size=(self.n, D)), rng.normal(size=(self.points, D))
        y = np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n)
        kernel = gpnotes.RBF(VARIANCE, np.linspace(1.5, 3.0, D))
        return gpnotes.condition(gpnotes.GP(kernel, NOISE_VAR), X, y), Xs

    @property
    def normals(self) -> np.ndarray:
        """The numbers that every contestant makes its draws of."""
        return gpnotes.stream(1).normal((DRAWS, self.points))


def floor(problem: SampleProblem) -> Call:
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


def ours(problem: SampleProblem) -> Call:
    """`ExactPosterior.sample`, the random numbers included."""
    posterior, Xs = problem.data
    return lambda: posterior.sample(Xs, DRAWS, rng=gpnotes.stream(1))


def plain_numpy(problem: SampleProblem) -> Call:
    """As GPflow does it, in NumPy and without the jitter that it adds."""
    from scipy.linalg import solve_triangular

    posterior, Xs = problem.data
    X, alpha, lower = posterior.X, posterior.alpha, posterior.cholesky.lower
    lengthscale = posterior.gp.kernel.lengthscale

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = a / lengthscale, b / lengthscale
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2.0 * a @ b.T
        return VARIANCE * np.exp(-0.5 * np.maximum(squares, 0.0))

    def call() -> np.ndarray:
        cross = kernel(X, Xs)
        half = solve_triangular(lower, cross, lower=True)
        root = np.linalg.cholesky(kernel(Xs, Xs) - half.T @ half)
        return cross.T @ alpha + problem.normals @ root.T

    return call


def largest_gap(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two sets of draws, relative to the largest of them."""
    return float(np.max(np.abs(one - other)) / np.max(np.abs(one)))
