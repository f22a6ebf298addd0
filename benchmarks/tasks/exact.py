"""The exact process: evidence, prediction, a whole fit, a sum of kernels; small data."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest import mock

import numpy as np
from harness import Call, Task

import gpnotes
from gpnotes import GP, RBF, condition, fit, log_evidence_and_gradient, stream
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.objective import Objective

D, PLACES = 8, 5000
VARIANCE, NOISE, LENGTHS = 1.3, 0.1, np.linspace(1.5, 3.0, D)


def readings(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n random inputs of d columns, and the sine of their sum with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=n)


@dataclass(frozen=True)
class Problem:
    """n random inputs in eight dimensions with smooth values, and places to predict at."""

    n: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X, Xs = rng.normal(size=(self.n, D)), rng.normal(size=(min(PLACES, 100 * self.n), D))
        return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n), Xs

    @cached_property
    def gp(self) -> GP:
        return GP(RBF(VARIANCE, LENGTHS), NOISE, gpnotes.ConstantMean(0.0))

    @cached_property
    def Ky(self) -> np.ndarray:
        K = np.asfortranarray(self.gp.kernel(self.data[0]))
        K[np.diag_indices(self.n)] += NOISE
        return K


def factor_and_inverse(problem: Problem) -> Call:
    """``dpotrf`` and ``dpotri`` of the filled matrix; nothing else."""
    from scipy.linalg.lapack import dpotrf, dpotri

    matrix = problem.Ky.copy(order="F")

    def call() -> None:
        lower, _ = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        dpotri(lower, lower=1, overwrite_c=1)

    return call


def evidence(problem: Problem) -> Call:
    """Value, then derivatives by log signal variance, log lengthscales and log noise variance."""
    (X, y, _), gp = problem.data, problem.gp

    def call() -> np.ndarray:
        value, bar = log_evidence_and_gradient(gp, X, y)
        return np.concatenate([[value], flatten_gradient(gp, bar, fixed=("mean",))])

    return call


def evidence_by_sklearn(problem: Problem) -> Call:
    from sklearn.gaussian_process import kernels

    kernel = VARIANCE * kernels.RBF(LENGTHS) + kernels.WhiteKernel(NOISE)
    return _of_sklearn(kernel, problem.data[0], problem.data[1])


def _of_sklearn(kernel: Any, X: np.ndarray, y: np.ndarray) -> Call:
    from sklearn.gaussian_process import GaussianProcessRegressor

    few = slice(0, 10)
    regressor = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X[few], y[few])
    regressor.X_train_, regressor.y_train_ = X, y

    def call() -> np.ndarray:
        theta = regressor.kernel_.theta
        value, slope = regressor.log_marginal_likelihood(theta, True, clone_kernel=False)
        return np.concatenate([[value], slope])

    return call


def evidence_by_gpy(problem: Problem) -> Call:
    """A change of a parameter, after which GPy has value and gradient."""
    import GPy

    X, y, _ = problem.data
    kernel = GPy.kern.RBF(D, VARIANCE, LENGTHS, ARD=True)
    # GPy adds 1e-8 to the noise
    model = GPy.models.GPRegression(X, y[:, None], kernel, noise_var=NOISE - 1e-8)

    def call() -> np.ndarray:
        model.update_model(True)
        value = float(model.log_likelihood())
        slopes = [kernel.variance.gradient * VARIANCE, kernel.lengthscale.gradient * LENGTHS,
                  model.likelihood.variance.gradient * NOISE]  # fmt: skip
        return np.concatenate([[value], *slopes])

    return call


def prediction_floor(problem: Problem) -> Call:
    """``dpotrf``, and the triangular solve of the filled cross-covariances."""
    from scipy.linalg.blas import dtrsm
    from scipy.linalg.lapack import dpotrf

    matrix = problem.Ky.copy(order="F")
    cross = np.asfortranarray(problem.gp.kernel(problem.data[0], problem.data[2]))

    def call() -> None:
        lower, _ = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        dtrsm(1.0, lower, cross, lower=1, overwrite_b=1)

    return call


def prediction(problem: Problem) -> Call:
    """Mean, then variance of f, from the data on."""
    (X, y, Xs), gp = problem.data, problem.gp
    return lambda: np.concatenate(condition(gp, X, y).predict(Xs))


def prediction_by_sklearn(problem: Problem) -> Call:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    (X, y, Xs), kernel = problem.data, VARIANCE * kernels.RBF(LENGTHS)

    def call() -> np.ndarray:
        fitted = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(X, y)
        mean, sd = fitted.predict(Xs, return_std=True)
        return np.concatenate([mean, sd**2])

    return call


def prediction_by_jax(problem: Problem) -> Call:
    """The formula by hand, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    solve = jax.scipy.linalg.solve_triangular

    @jax.jit
    def both(X: Any, y: Any, Xs: Any) -> Any:
        lower = jnp.linalg.cholesky(gram(X, X, jnp) + NOISE * jnp.eye(len(y)))
        half = solve(lower, gram(X, Xs, jnp), lower=True)
        mean = half.T @ solve(lower, y, lower=True)
        return jnp.concatenate([mean, VARIANCE - jnp.sum(half * half, 0)])

    return lambda: np.asarray(both(*problem.data))


def gram(a: Any, b: Any, xp: Any, variance: Any = VARIANCE, lengths: Any = LENGTHS) -> Any:
    """The matrix of the RBF kernel, as one writes it by hand."""
    a, b = a / lengths, b / lengths
    squares = xp.sum(a**2, 1)[:, None] + xp.sum(b**2, 1)[None, :] - 2.0 * a @ b.T
    return variance * xp.exp(-0.5 * xp.maximum(squares, 0.0))


def prediction_by_gpjax(problem: Problem) -> Call:
    import jax

    X, y, Xs = problem.data
    model, data = in_gpjax(X, y)

    @jax.jit
    def both(data: Any, Xs: Any) -> Any:
        found = model.predict(Xs, data, covariance="diagonal")
        return found.mean, found.variance

    return lambda: np.concatenate([np.asarray(a) for a in both(data, Xs)])


def in_gpjax(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """GPJax's model at our hyperparameters, and its data."""
    import gpjax
    import jax

    jax.config.update("jax_enable_x64", True)
    lengths = jax.numpy.asarray(LENGTHS)
    kernel = gpjax.kernels.RBF(lengthscale=lengths, variance=VARIANCE)
    prior = gpjax.gps.Prior(kernel, gpjax.mean_functions.Zero(), jitter=0.0)
    likelihood = gpjax.likelihoods.Gaussian(obs_stddev=NOISE**0.5)
    return prior * likelihood, gpjax.Dataset(*map(jax.numpy.asarray, (X, y[:, None])))


# A whole fit, to an evidence that all reach


class Reached(Exception):
    """The evidence that was wanted has been seen."""


@dataclass(frozen=True)
class FitProblem:
    """n readings of a smooth function of five of eight inputs, centred."""

    n: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        draw = stream(1)
        X = np.asarray(draw.uniform((self.n, D)))
        y = np.sin(6.0 * X[:, 0]) + X[:, 1] * np.cos(4.0 * X[:, 2]) + X[:, 3] ** 2 - X[:, 4]
        return X, y - y.mean() + 0.1 * np.asarray(draw.normal(self.n))

    @cached_property
    def seen(self) -> list[float]:
        """The evidences that our fit sees, to its end."""
        seen: list[float] = []
        self.fit(seen.append)
        return seen

    def fit(self, watch: Any) -> None:
        """Run `gpnotes.fit` as it is; `watch` is given each evidence."""
        evaluate = Objective.__call__

        def watched(objective: Objective, vector: np.ndarray) -> tuple:
            found = evaluate(objective, vector)
            watch(found[0])
            return found

        with mock.patch.object(Objective, "__call__", watched):
            fit(GP(RBF(1.0, np.ones(D)), 0.1), *self.data)

    def until(self, run: Any) -> Call:
        """A call of `run` that ends when the evidence is a nat below our end, or at its own."""
        enough = max(self.seen) - 1.0

        def watch(value: float) -> None:
            if value >= enough:
                raise Reached

        def call() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(Reached):
                    run(watch)

        return call


def fit_floor(problem: FitProblem) -> Call:
    """As many factors and inverses as our fit has evaluations before it is there."""
    enough = max(problem.seen) - 1.0
    count = next(i for i, value in enumerate(problem.seen, 1) if value >= enough)
    exact = Problem(problem.n)
    calls = [factor_and_inverse(exact) for _ in range(count)]

    def call() -> None:
        for one in calls:
            one()

    return call


def fit_ours(problem: FitProblem) -> Call:
    return problem.until(problem.fit)


def fit_by_sklearn(problem: FitProblem) -> Call:
    """`GaussianProcessRegressor`, with bounds so wide that none is met on the way."""
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    wide = (1e-5, 1e6)
    kernel = kernels.ConstantKernel(1.0, wide) * kernels.RBF(np.ones(D), wide)
    kernel += kernels.WhiteKernel(0.1, wide)

    def run(watch: Any) -> None:
        class Watched(GaussianProcessRegressor):
            def log_marginal_likelihood(self, *which: object, **options: object) -> tuple:
                found = super().log_marginal_likelihood(*which, **options)
                if isinstance(found, tuple):
                    watch(float(found[0]))
                return found

        Watched(kernel, alpha=0.0).fit(*problem.data)

    return problem.until(run)


def fit_by_gpy(problem: FitProblem) -> Call:
    """GPy's `GPRegression`, by its default optimiser."""
    import GPy

    X, y = problem.data

    def run(watch: Any) -> None:
        class Watched(GPy.models.GPRegression):
            def parameters_changed(self) -> None:
                super().parameters_changed()
                watch(float(self.log_likelihood()))

        kernel = GPy.kern.RBF(D, 1.0, np.ones(D), ARD=True)
        Watched(X, y[:, None], kernel, noise_var=0.1).optimize()

    return problem.until(run)


def fit_by_tinygp(problem: FitProblem) -> Call:
    """tinygp's evidence and gradient, compiled, climbed by SciPy's L-BFGS-B."""
    import jax
    import jax.numpy as jnp
    from scipy.optimize import minimize
    from tinygp import GaussianProcess, kernels, transforms

    jax.config.update("jax_enable_x64", True)
    X, y = problem.data

    @jax.jit
    @jax.value_and_grad
    def loss(logs: Any) -> Any:
        kernel = jnp.exp(logs[0]) * transforms.Linear(jnp.exp(-logs[1:-1]), kernels.ExpSquared())
        return -GaussianProcess(kernel, X, diag=jnp.exp(logs[-1])).log_probability(y)

    start = np.append(np.zeros(D + 1), np.log(0.1))
    loss(start)

    def run(watch: Any) -> None:
        def both(logs: np.ndarray) -> Any:
            value, slope = loss(logs)
            watch(-float(value))
            return float(value), np.asarray(slope)

        minimize(both, start, jac=True, method="L-BFGS-B")

    return problem.until(run)


TASKS = {
    "evidence": Task(
        "evidence and gradient, {n} points", "Cholesky, inverse", Problem,
        {"floor": factor_and_inverse, "gpnotes": evidence, "scikit-learn": evidence_by_sklearn,
         "GPy": evidence_by_gpy}, 2000, 40, close=1e-7, front=True,
    ),
    "fit": Task(
        "whole fit, {n} points", "Cholesky, inverse", FitProblem,
        {"floor": fit_floor, "gpnotes": fit_ours, "scikit-learn": fit_by_sklearn,
         "GPy": fit_by_gpy, "tinygp": fit_by_tinygp}, 1000, 30,
        apart=("scikit-learn", "GPy", "tinygp"), front=True,
    ),
    "prediction": Task(
        "prediction at 5000 points from {n}", "triangular solve", Problem,
        {"floor": prediction_floor, "gpnotes": prediction, "scikit-learn": prediction_by_sklearn,
         "GPJax": prediction_by_gpjax, "jax by hand": prediction_by_jax}, 2000, 40, front=True,
    ),
}  # fmt: skip
