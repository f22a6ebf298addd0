"""Who evaluates the evidence of a sum or a product of two kernels with its gradient, how fast.

Beside it the slower of the two kernels alone, and the floor: what no program of this kind can do
without, the factorisation and the inverse, and once the distances and exponentials of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from in_sklearn import evidence_of

import gpnotes
import gpnotes.ground.params
import gpnotes.infer.exact
from gpnotes import log_evidence_and_gradient

D = 4
ROWS = 2000
NOISE_VAR = 0.1
_LENGTHS = np.linspace(1.5, 3.0, D)

Call = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class SumProblem:
    """n random inputs in four dimensions with smooth values; 2 kernels are added, or multiplied."""

    n: int
    points: int
    product = False

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.normal(size=(self.n, D))
        return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n)

    @cached_property
    def parts(self) -> tuple[gpnotes.RBF, gpnotes.Matern52]:
        return gpnotes.RBF(1.3, _LENGTHS), gpnotes.Matern52(0.7, 2.0 * _LENGTHS)

    @cached_property
    def kernel(self) -> gpnotes.Kernel:
        first, second = self.parts
        return first * second if self.product else first + second


@dataclass(frozen=True)
class ProductProblem(SumProblem):
    """The same with their product."""

    product = True


def floor(problem: SumProblem) -> Call:
    """``dpotrf`` and ``dpotri`` of the filled matrix, and twice ``dsyr2k`` and ``exp``."""
    from scipy.linalg.blas import dsyr2k
    from scipy.linalg.lapack import dpotrf, dpotri

    X, _ = problem.data
    n = problem.n
    filled = np.asfortranarray(problem.kernel(X) + NOISE_VAR * np.eye(n))
    matrix = filled.copy(order="F")
    left, right = np.asfortranarray(-0.01 * X), np.asfortranarray(X)
    K = np.zeros((n, n), order="F")

    def call() -> None:
        for _ in problem.parts:
            dsyr2k(1.0, left, right, 0.0, K, lower=1, overwrite_c=1)
            for start in range(0, n, 20):  # blocks that fit the cache
                block = K.T[start : start + 20, start:]
                np.exp(block, out=block)
        lower, _ = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        dpotri(lower, lower=1, overwrite_c=1)

    return call


def ours(problem: SumProblem) -> Call:
    """Value, then derivatives by the logarithms of all hyperparameters."""
    return _ours(problem, problem.kernel)


def alone(problem: SumProblem) -> Call:
    """The same of the second kernel alone, the slower one."""
    return _ours(problem, problem.parts[1])


def _ours(problem: SumProblem, kernel: gpnotes.Kernel) -> Call:
    X, y = problem.data
    gp = gpnotes.GP(kernel, NOISE_VAR)

    def call() -> np.ndarray:
        value, gp_bar = log_evidence_and_gradient(gp, X, y)
        return np.concatenate([[value], gpnotes.ground.params.flatten_gradient(gp, gp_bar)])

    return call


def general(problem: SumProblem) -> Call:
    """The same by the posterior and its gradient: the path of other namespaces."""
    X, y = problem.data
    gp = gpnotes.GP(problem.kernel, NOISE_VAR)

    def call() -> np.ndarray:
        posterior = gpnotes.condition(gp, X, y)
        gradient = gpnotes.ground.params.flatten_gradient(gp, posterior.evidence_gradient()[0])
        return np.concatenate([[posterior.log_evidence], gradient])

    return call


def scikit_learn(problem: SumProblem) -> Call:
    """scikit-learn's ``log_marginal_likelihood`` with its gradient, in the same order."""
    X, y = problem.data
    return evidence_of(_regressor(problem.product), X, y)


def _regressor(product: bool) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    first = kernels.ConstantKernel(1.3) * kernels.RBF(_LENGTHS)
    second = kernels.ConstantKernel(0.7) * kernels.Matern(2.0 * _LENGTHS, nu=2.5)
    both = first * second if product else first + second
    kernel = both + kernels.WhiteKernel(NOISE_VAR)
    return GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None)
