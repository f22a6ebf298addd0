"""Who regresses on random Fourier features, and how fast that could be.

All have the same frequencies. What is timed is the way from the data to the mean of the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import gpnotes
import gpnotes.fast.cosines
from gpnotes import condition
from gpnotes.fast.cosines import cosines_of_turns
from gpnotes.infer import features

D = 8
ROWS, FEATURES = 100_000, 1000
VARIANCE, NOISE_VAR = 1.3, 0.1
_BLOCK = 2048  # rows that the floor works on at a time

Call = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class FeatureProblem:
    """n random inputs in eight dimensions, and frequencies for `points` features."""

    n: int
    points: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.normal(size=(self.n, D))
        return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n)

    @cached_property
    def gp(self) -> gpnotes.GP:
        return gpnotes.GP(gpnotes.RBF(VARIANCE, np.linspace(1.5, 3.0, D)), NOISE_VAR)

    @cached_property
    def frequencies(self) -> features.Frequencies:
        X, _ = self.data
        return features.draw_frequencies(self.gp.kernel, X, self.points, rng=gpnotes.stream(1))


def floor(problem: FeatureProblem) -> Call:
    """The two products of each block of rows and as many cosines, and one factorisation; no more.

    The cosines are the package's, which take a third of NumPy's time.
    """
    from scipy.linalg.blas import dgemm, dsyrk
    from scipy.linalg.lapack import dpotrf

    X, _ = problem.data
    blocks = [np.asfortranarray(X[i : i + _BLOCK].T) for i in range(0, problem.n, _BLOCK)]
    omega = np.asfortranarray(problem.frequencies.unit / 6.0)
    gram = np.zeros((problem.points, problem.points), order="F")
    whole = np.asfortranarray(np.eye(problem.points) * 2.0)
    buffer = np.empty((min(_BLOCK, problem.n), problem.points))

    def call() -> None:
        for block in blocks:
            turns = buffer[: block.shape[1]]
            dgemm(1.0, omega, block, c=turns.T, overwrite_c=1)
            cosines_of_turns(turns)
            dsyrk(1.0, turns.T, 1.0, gram, lower=1, overwrite_c=1)
        dpotrf(whole, lower=1, overwrite_a=0)

    return call


def ours(problem: FeatureProblem) -> Call:
    """`condition` of a `FeatureGP`: the weights, their covariance's root and the evidence."""
    X, y = problem.data
    gp, frequencies = problem.gp, problem.frequencies
    return lambda: condition(features.FeatureGP(gp, frequencies), X, y).weights.weight_mean


def scikit_learn(problem: FeatureProblem) -> Call:
    """Its ``Ridge`` on features that NumPy makes: the mean of the weights, nothing else."""
    from sklearn.linear_model import Ridge

    X, y = problem.data
    omega = problem.frequencies.unit / problem.gp.kernel.lengthscale
    amplitude = np.sqrt(2.0 * VARIANCE / problem.points)

    def call() -> np.ndarray:
        Phi = X @ omega.T
        Phi += problem.frequencies.phases
        np.cos(Phi, Phi)
        Phi *= amplitude
        ridge = Ridge(alpha=NOISE_VAR, fit_intercept=False, solver="cholesky")
        return ridge.fit(Phi, y).coef_

    return call
