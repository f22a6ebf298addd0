"""Small things, which are most things: an estimator's row and hundred rows, a fit, an import."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from harness import Call, Task

from gpnotes import GP, RBF, GPClassifier, GPRegressor, condition, stream

LENGTHS, NOISE = np.asarray([0.8, 1.1, 1.7, 2.3]), 0.1


@dataclass(frozen=True)
class Problem:
    """n readings of four inputs, and estimators conditioned on them; some rows to predict."""

    n: int
    rows: int = 1

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        draw = stream(1)
        X = np.asarray(draw.uniform((self.n, 4))) * 4.0
        y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.3 * np.asarray(draw.normal(self.n))
        return X, y, np.asarray(stream(2).uniform((self.rows, 4))) * 4.0

    @property
    def labels(self) -> np.ndarray:
        return (self.data[1] > np.median(self.data[1])).astype(int)


def regressor(problem: Problem) -> Call:
    (X, y, Xs), kernel = problem.data, RBF(1.5, LENGTHS)
    fitted = GPRegressor(kernel, noise_var=NOISE, mean="zero", optimise=False).fit(X, y)
    return lambda: fitted.predict(Xs, return_std=True)


def regressor_of_sklearn(problem: Problem) -> Call:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    X, y, Xs = problem.data
    kernel = 1.5 * kernels.RBF(LENGTHS) + kernels.WhiteKernel(NOISE)
    fitted = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    return lambda: fitted.predict(Xs, return_std=True)


def classifier(problem: Problem) -> Call:
    X, _, Xs = problem.data
    fitted = GPClassifier(RBF(1.5, LENGTHS), optimise=False).fit(X, problem.labels)
    return lambda: fitted.predict_proba(Xs)


def classifier_of_sklearn(problem: Problem) -> Call:
    """Its likelihood is logistic, ours a probit: a tenth of probability is allowed."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    X, _, Xs = problem.data
    kernel = 1.5 * kernels.RBF(LENGTHS)
    fitted = GaussianProcessClassifier(kernel, optimizer=None).fit(X, problem.labels)
    return lambda: fitted.predict_proba(Xs)


def conditioned(problem: Problem) -> Call:
    X, y, Xs = problem.data
    gp = GP(RBF(1.5, LENGTHS), NOISE)
    return lambda: condition(gp, X, y).mean(Xs)


def conditioned_by_sklearn(problem: Problem) -> Call:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    X, y, Xs = problem.data
    kernel = 1.5 * kernels.RBF(LENGTHS)
    model = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None)
    return lambda: model.fit(X, y).predict(Xs)


def conditioned_floor(problem: Problem) -> Call:
    """Exponentials, factor, two solves and a product."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    _X, y, Xs = problem.data
    exponents, K = -np.ones((problem.n, problem.n)), np.eye(problem.n, order="F") * 2.0
    cross = -np.ones((len(Xs), problem.n))

    def call() -> None:
        np.exp(exponents)
        lower, _ = dpotrf(K, lower=1)
        np.exp(cross) @ dpotrs(lower, y, lower=1)[0]

    return call


def fitted(problem: Problem) -> Call:
    X, y, _ = problem.data
    return lambda: GPRegressor().fit(X, y).score(X, y)


def fitted_by_sklearn(problem: Problem) -> Call:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    X, y, _ = problem.data
    kernel = kernels.ConstantKernel() * kernels.RBF(np.ones(4)) + kernels.WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True)

    def call() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a lengthscale is at its bound
            return model.fit(X, y).score(X, y)

    return call


@dataclass(frozen=True)
class Process:
    """A new process of Python, n of them one after another."""

    n: int


def imported(code: str, problem: Process) -> Call:
    def call() -> None:
        for _ in range(problem.n):
            subprocess.run([sys.executable, "-c", code], check=True)

    return call


def _of_rows(said: str, rows: int, ways: dict[str, Any], **how: Any) -> Task:
    return Task(said, "", partial(Problem, rows=rows), ways, 500, 40, **how)


_REGRESSION = {"gpnotes": regressor, "scikit-learn": regressor_of_sklearn}
_CLASSES = {"gpnotes": classifier, "scikit-learn": classifier_of_sklearn}
TASKS = {
    "row": _of_rows("one row from {n} readings, with its deviation", 1, _REGRESSION),
    "rows": _of_rows("a hundred rows, with deviations", 100, _REGRESSION),
    "class": _of_rows("one row from {n} labels, probabilities", 1, _CLASSES, close=0.2),
    "classes": _of_rows("a hundred rows from {n} labels", 100, _CLASSES, close=0.2),
    "condition": Task(
        "condition and predict, {n} readings", "Cholesky, exponentials", Problem,
        {"floor": conditioned_floor, "gpnotes": conditioned,
         "scikit-learn": conditioned_by_sklearn}, 100, 20,
    ),
    "small fit": Task(
        "a fit of {n} readings", "", Problem,
        {"gpnotes": fitted, "scikit-learn": fitted_by_sklearn}, 100, 20, apart=("scikit-learn",),
    ),
    "import": Task(
        "import of `fit`, `GP` and `RBF`", "the import of NumPy", Process,
        {"floor": partial(imported, "import numpy"),
         "gpnotes": partial(imported, "from gpnotes import fit, GP, RBF"),
         "scikit-learn": partial(imported, "import sklearn.gaussian_process")}, 1, 1,
        apart=("scikit-learn",),
    ),
}  # fmt: skip
