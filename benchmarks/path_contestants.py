"""Who draws whole functions from a posterior and asks them for values, and how fast that could be.

The process is conditioned beforehand, as for `sample_contestants`, whose problem it is. What is
timed is the way from the factor of K_y to the values of a hundred paths at all points: frequencies
and weights, one solve, and the two products of every point.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sample_contestants import DRAWS, VARIANCE, SampleProblem

import gpnotes
import gpnotes.fast.cosines
from gpnotes.draw import paths
from gpnotes.fast.cosines import cosines_of_turns
from gpnotes.infer import features

FEATURES = 1024

Call = Callable[[], np.ndarray | None]


class PathProblem(SampleProblem):
    """The same posterior and points."""


def floor(problem: PathProblem) -> Call:
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


def ours(problem: PathProblem) -> Call:
    """`sample_paths` and their values, the random numbers included."""
    posterior, Xs = problem.data
    return lambda: paths.sample_paths(
        posterior, DRAWS, num_features=FEATURES, rng=gpnotes.stream(1)
    )(Xs)


def plain_numpy(problem: PathProblem) -> Call:
    """The formula in NumPy, with the same random numbers."""
    from scipy.linalg import cho_solve

    posterior, Xs = problem.data
    X, y, kernel = posterior.X, posterior.y, posterior.gp.kernel
    lengthscale = kernel.lengthscale

    def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = a / lengthscale, b / lengthscale
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2.0 * a @ b.T
        return VARIANCE * np.exp(-0.5 * np.maximum(squares, 0.0))

    def call() -> np.ndarray:
        source = gpnotes.stream(1)
        drawn = features.draw_frequencies(kernel, X, FEATURES, rng=source)
        w = source.normal((DRAWS, FEATURES))
        noise = np.sqrt(posterior.gp.noise_var) * source.normal((DRAWS, X.shape[0]))

        def prior(inputs: np.ndarray) -> np.ndarray:
            angles = ((inputs - X.mean(axis=0)) / lengthscale) @ drawn.unit.T + drawn.phases
            return w @ (np.sqrt(2.0 * VARIANCE / FEATURES) * np.cos(angles)).T

        gap = y - prior(X) - noise
        return prior(Xs) + cho_solve((posterior.cholesky.lower, True), gap.T).T @ cross(X, Xs)

    return call
