"""Readings of any precision: predictions of the plain call, of other libraries and at the truth.

``python benchmarks/precise_data.py`` prints a row for each of twenty tables, two of each of ten
functions of one to four inputs: 20 to 200 readings whose noise has a standard deviation from 1e-6
of that of the function to 1, and the average log density of 1000 fresh ones. The noise is found by
`fit`, by `GPRegressor`, by scikit-learn's ``C * RBF + White`` and by GPyTorch, where that is
installed; in the column *held* it is given to ours. What `fit` finds should lie no more than 0.1
below the best. ``--noise`` gives all tables one noise.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs

from gpnotes import GP, RBF, ConstantMean, fit, stream
from gpnotes.estimators import GPRegressor

Array = NDArray[np.float64]
Moments = tuple[Array, Array]

PLACES = 1000  # where a table is read afresh
NOISES = tuple(10.0 ** (-6.0 + 6.0 * k / 19) for k in range(20))  # in standard deviations of f


def wave_in_a_bowl(x: Array) -> Any:
    """Gramacy & Lee (2012), on the unit interval."""
    at = 0.5 + 2.0 * x[0]
    return np.sin(10.0 * math.pi * at) / (2.0 * at) + (at - 1.0) ** 4


def two_waves(x: Array) -> Any:
    """Higdon (2002)."""
    return np.sin(2.0 * math.pi * x[0]) + 0.2 * np.sin(8.0 * math.pi * x[0])


def dying_wave(x: Array) -> Any:
    """Santner, Williams & Notz (2003)."""
    return np.exp(-1.4 * x[0]) * np.cos(3.5 * math.pi * x[0])


def four_hills(x: Array) -> Any:
    """Franke (1979)."""
    a, b = 9.0 * x
    return (
        0.75 * np.exp(-((a - 2.0) ** 2 + (b - 2.0) ** 2) / 4.0)
        + 0.75 * np.exp(-((a + 1.0) ** 2) / 49.0 - (b + 1.0) / 10.0)
        + 0.5 * np.exp(-((a - 7.0) ** 2 + (b - 3.0) ** 2) / 4.0)
        - 0.2 * np.exp(-((a - 4.0) ** 2) - (b - 7.0) ** 2)
    )


def saddle(x: Array) -> Any:
    """McCormick (1976)."""
    a, b = 5.5 * x[0] - 1.5, 7.0 * x[1] - 3.0
    return np.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1.0


def polynomial(x: Array) -> Any:
    """Lim, Sacks, Studden & Welch (2002)."""
    a, b = x
    first = 30.0 + 5.0 * a * np.sin(5.0 * a)
    return (first * (4.0 + np.exp(-5.0 * b)) - 100.0) / 6.0


def sines(x: Array) -> Any:
    """Ishigami & Homma (1990), half a turn to either side."""
    a, b, c = math.pi * (x - 0.5)
    return np.sin(a) + 7.0 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)


def bent(x: Array) -> Any:
    """Dette & Pepelyshev (2010)."""
    a, b, c = x
    first = 4.0 * (a - 2.0 + 8.0 * b - 8.0 * b**2) ** 2
    return first + (3.0 - 4.0 * b) ** 2 + 16.0 * np.sqrt(c + 1.0) * (2.0 * c - 1.0) ** 2


def roots(x: Array) -> Any:
    """Park (1991), the first, away from where it is not smooth."""
    a, b, c, d = 0.1 + 0.9 * x
    first = a / 2.0 * (np.sqrt(1.0 + (b + c**2) * d / a**2) - 1.0)
    return first + (a + 3.0 * d) * np.exp(1.0 + np.sin(c))


def growth(x: Array) -> Any:
    """Park (1991), the second."""
    a, b, c, d = x
    return 2.0 / 3.0 * np.exp(a + b) - d * np.sin(c) + c


FUNCTIONS: dict[Callable[[Array], Any], int] = {
    wave_in_a_bowl: 1, two_waves: 1, dying_wave: 1, four_hills: 2, saddle: 2, polynomial: 2,
    sines: 3, bent: 3, roots: 4, growth: 4,
}  # fmt: skip


class Table:
    """Readings of a function, and fresh ones, by lot."""

    def __init__(self, number: int, noise: float | None = None) -> None:
        draw = stream(number)
        order = np.asarray(stream(0).permutation(len(NOISES)))
        self.function, d = list(FUNCTIONS.items())[number // 2]
        few = max(20, 10 * d)
        self.n = round(few * (200 / few) ** float(np.asarray(draw.uniform(1))[0]))
        X = np.asarray(draw.uniform((self.n + PLACES, d)))
        f = np.asarray(self.function(X.T))
        self.share = NOISES[order[number]] if noise is None else noise
        self.noise_var = (self.share * float(np.std(f))) ** 2
        y = f + math.sqrt(self.noise_var) * np.asarray(draw.normal(len(f)))
        self.X, self.y, self.Xs, self.ys = X[: self.n], y[: self.n], X[self.n :], y[self.n :]

    def density(self, program: Callable[[Table], Moments]) -> float:
        """The average log density of a fresh reading, as a program predicts it."""
        mean, variance = program(self)
        logs = (self.ys - mean) ** 2 / variance + np.log(2.0 * math.pi * variance)
        return -0.5 * float(np.mean(logs))


def ours(table: Table) -> Moments:
    found = fit(GP(RBF(), mean=ConstantMean()), table.X, table.y)
    mean, variance = found.posterior.predict(table.Xs, noise=True)
    return np.asarray(mean), np.asarray(variance)


def ours_as_estimator(table: Table) -> Moments:
    mean, sd = GPRegressor().fit(table.X, table.y).predict(table.Xs, return_std=True)
    return np.asarray(mean), np.asarray(sd) ** 2


def ours_held(table: Table) -> Moments:
    """Ours, with the noise that the table has."""
    start = GP(RBF(), table.noise_var, ConstantMean())
    posterior = fit(start, table.X, table.y, fixed=["noise_var"]).posterior
    mean, variance = posterior.predict(table.Xs, noise=True)
    return np.asarray(mean), np.asarray(variance)


def in_sklearn(table: Table) -> Moments:
    kernel = theirs.ConstantKernel() * theirs.RBF(np.ones(table.X.shape[1])) + theirs.WhiteKernel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = GaussianProcessRegressor(kernel, normalize_y=True).fit(table.X, table.y)
    mean, sd = found.predict(table.Xs, return_std=True)
    return mean, sd**2


def in_gpytorch(table: Table) -> Moments:
    """An exact process of standardised rows, by L-BFGS, with GPyTorch's own floor."""
    import gpytorch
    import torch

    class Model(gpytorch.models.ExactGP):  # type: ignore[misc,no-any-unimported]
        def __init__(self, X: Any, y: Any, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            rbf = gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1])
            self.covar_module = gpytorch.kernels.ScaleKernel(rbf)

        def forward(self, X: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(X), self.covar_module(X)
            )

    level, unit = np.mean(table.y), np.std(table.y)
    centre, width = np.mean(table.X, axis=0), np.std(table.X, axis=0)
    X, Xs = (torch.from_numpy((rows - centre) / width) for rows in (table.X, table.Xs))
    y = torch.from_numpy((table.y - level) / unit)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(X, y, likelihood).double()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    climb = torch.optim.LBFGS(model.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Any:
        climb.zero_grad()
        value = -evidence(model(X), y)
        value.backward()
        return value

    model.train()
    climb.step(loss)
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        told = likelihood(model(Xs))
        return level + unit * told.mean.numpy(), unit**2 * told.variance.numpy()


PROGRAMS: dict[str, Callable[[Table], Moments]] = {
    "`fit`": ours, "`GPRegressor()`": ours_as_estimator, "held": ours_held,
    "scikit-learn": in_sklearn, "GPyTorch": in_gpytorch,
}  # fmt: skip


def rows(numbers: list[int], noise: float | None = None) -> list[list[str]]:
    """The table that is printed, with its heading."""
    programs = dict(PROGRAMS)
    if find_spec("gpytorch") is None:
        del programs["GPyTorch"]
    found = [["function", "d", "n", "noise", *programs, "below the best"]]
    for number in numbers:
        table = Table(number, noise)
        told = [table.density(program) for program in programs.values()]
        name = table.function.__name__.replace("_", " ")
        head = [name, str(table.X.shape[1]), str(table.n), f"{table.share:.1e}"]
        found.append([*head, *(f"{one:.2f}" for one in told), f"{max(told) - min(told[:2]):.2f}"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", type=int, default=list(range(20)))
    parser.add_argument("--noise", type=float, help="standard deviation, in that of the function")
    told = parser.parse_args()
    printed = rows(told.tables, told.noise)
    printed.insert(1, ["---"] * len(printed[0]))
    for row in printed:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
