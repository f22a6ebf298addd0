"""Who is timed, at what: each problem, and the ways to its answer.

The floor is what no program of this kind can do without: the factorisation (and the inverse, or the
triangular solve) alone, by LAPACK in place, of a matrix that somebody else has filled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bound_contestants
import epoch_contestants
import feature_contestants
import game_contestants
import numpy as np
import path_contestants
import rollout_contestants
import sample_contestants
import sum_contestants
from in_sklearn import evidence_of

import gpnotes
import gpnotes.ground.params
import gpnotes.infer.exact
from gpnotes import log_evidence_and_gradient

D = 8
POINTS = 5000  # where predictions are wanted
SIGNAL_VAR, NOISE_VAR = 1.3, 0.1


@dataclass(frozen=True)
class Problem:
    """n random inputs in eight dimensions with smooth values, and points to predict at."""

    n: int
    points: int = POINTS

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X, Xs = rng.normal(size=(self.n, D)), rng.normal(size=(self.points, D))
        return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n), Xs

    @cached_property
    def lengthscale(self) -> np.ndarray:
        return np.linspace(1.5, 3.0, D)

    @cached_property
    def gp(self) -> gpnotes.GP:
        kernel = gpnotes.RBF(SIGNAL_VAR, self.lengthscale)
        return gpnotes.GP(kernel, NOISE_VAR, gpnotes.ConstantMean(0.0))

    @cached_property
    def Ky(self) -> np.ndarray:
        K = np.asfortranarray(self.gp.kernel(self.data[0]))
        K[np.diag_indices(self.n)] += NOISE_VAR
        return K


@dataclass(frozen=True)
class Contestant:
    """`prepare` makes, outside the clock, the call that is timed; its result is compared."""

    name: str
    prepare: Callable[[Any], Callable[[], Any]]
    slow: bool = False


def floor_of_evidence(problem: Problem) -> Callable[[], Any]:
    """``dpotrf`` and ``dpotri`` of the filled matrix; nothing else."""
    from scipy.linalg.lapack import dpotrf, dpotri

    matrix = problem.Ky.copy(order="F")

    def call() -> None:
        lower, _ = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        dpotri(lower, lower=1, overwrite_c=1)

    return call


def floor_of_prediction(problem: Problem) -> Callable[[], Any]:
    """``dpotrf``, and the triangular solve of the filled cross-covariances."""
    from scipy.linalg.blas import dtrsm
    from scipy.linalg.lapack import dpotrf

    matrix = problem.Ky.copy(order="F")
    cross = np.asfortranarray(problem.gp.kernel(problem.data[0], problem.data[2]))

    def call() -> None:
        lower, _ = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        dtrsm(1.0, lower, cross, lower=1, overwrite_b=1)

    return call


def our_evidence(problem: Problem) -> Callable[[], Any]:
    """Value, then derivatives by log signal variance, log lengthscales and log noise variance.

    The derivative by the mean is computed too; scikit-learn has none to compare it with.
    """
    X, y, _ = problem.data
    gp = problem.gp

    def call() -> np.ndarray:
        value, gp_bar = log_evidence_and_gradient(gp, X, y)
        gradient = gpnotes.ground.params.flatten_gradient(gp, gp_bar, fixed=("mean",))
        return np.concatenate([[value], gradient])

    return call


def our_prediction(problem: Problem) -> Callable[[], Any]:
    """Mean, then standard deviation of f, from the data on."""
    X, y, Xs = problem.data

    def call() -> np.ndarray:
        mean, variance = gpnotes.condition(problem.gp, X, y).predict(Xs)
        return np.concatenate([mean, np.sqrt(variance)])

    return call


def _regressor(noise_in_kernel: bool) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    kernel = kernels.ConstantKernel(SIGNAL_VAR) * kernels.RBF(np.linspace(1.5, 3.0, D))
    if noise_in_kernel:
        return GaussianProcessRegressor(
            kernel + kernels.WhiteKernel(NOISE_VAR), alpha=0.0, optimizer=None
        )
    return GaussianProcessRegressor(kernel, alpha=NOISE_VAR, optimizer=None)


def their_evidence(problem: Problem) -> Callable[[], Any]:
    """scikit-learn's ``log_marginal_likelihood`` with its gradient, in the same order."""
    X, y, _ = problem.data
    return evidence_of(_regressor(noise_in_kernel=True), X, y)


def their_prediction(problem: Problem) -> Callable[[], Any]:
    """scikit-learn's ``fit`` without optimiser and ``predict`` with standard deviations."""
    X, y, Xs = problem.data

    def call() -> np.ndarray:
        regressor = _regressor(noise_in_kernel=False).fit(X, y)
        return np.concatenate(regressor.predict(Xs, return_std=True))

    return call


SUM_OR_PRODUCT = (
    Contestant("floor", sum_contestants.floor),
    Contestant("alone", sum_contestants.alone),
    Contestant("gpnotes", sum_contestants.ours),
    Contestant("general", sum_contestants.general, slow=True),
    Contestant("scikit-learn", sum_contestants.scikit_learn, slow=True),
)
TASKS = {
    "evidence": (
        Contestant("floor", floor_of_evidence),
        Contestant("gpnotes", our_evidence),
        Contestant("scikit-learn", their_evidence, slow=True),
    ),
    "prediction": (
        Contestant("floor", floor_of_prediction),
        Contestant("gpnotes", our_prediction),
        Contestant("scikit-learn", their_prediction, slow=True),
    ),
    "sum": SUM_OR_PRODUCT,
    "product": SUM_OR_PRODUCT,
    "games": (
        Contestant("floor", game_contestants.floor),
        Contestant("gaussian", game_contestants.our_method("gaussian")),
        Contestant("exact", game_contestants.our_method("exact"), slow=True),
        Contestant("one by one", game_contestants.one_by_one, slow=True),
    ),
    "moments": (
        Contestant("floor", rollout_contestants.floor),
        Contestant("gpnotes", rollout_contestants.ours),
        Contestant("jax", rollout_contestants.by_jax, slow=True),
    ),
    "features": (
        Contestant("floor", feature_contestants.floor),
        Contestant("gpnotes", feature_contestants.ours),
        Contestant("scikit-learn", feature_contestants.scikit_learn, slow=True),
    ),
    "bound": (
        Contestant("floor", bound_contestants.floor),
        Contestant("gpnotes", bound_contestants.ours),
        Contestant("jax", bound_contestants.by_jax, slow=True),
    ),
    "epoch": (
        Contestant("floor", epoch_contestants.floor),
        Contestant("gpnotes", epoch_contestants.ours),
        Contestant("jax", epoch_contestants.by_jax, slow=True),
    ),
    "samples": (
        Contestant("floor", sample_contestants.floor),
        Contestant("gpnotes", sample_contestants.ours),
        Contestant("plain NumPy", sample_contestants.plain_numpy, slow=True),
    ),
    "paths": (
        Contestant("floor", path_contestants.floor),
        Contestant("gpnotes", path_contestants.ours),
        Contestant("plain NumPy", path_contestants.plain_numpy, slow=True),
        Contestant("joint floor", sample_contestants.floor, slow=True),
    ),
}


def problem_of(task: str, n: int, points: int) -> Any:
    """The problem that a task's contestants prepare for."""
    kinds = {
        "features": feature_contestants.FeatureProblem,
        "bound": bound_contestants.BoundProblem,
        "epoch": epoch_contestants.EpochProblem,
        "games": game_contestants.GameProblem,
        "moments": rollout_contestants.RolloutProblem,
        "paths": path_contestants.PathProblem,
        "samples": sample_contestants.SampleProblem,
        "sum": sum_contestants.SumProblem,
        "product": sum_contestants.ProductProblem,
    }
    return kinds.get(task, Problem)(n, points)
