"""What the races of optimisers minimise: two test functions, and the loss of a model to be tuned.

Each takes a point u (d,) of the unit cube, which stands for its own box. Neither has noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

__all__ = ["BOX", "PROBLEMS", "Problem", "branin", "hartmann", "tuning"]

Objective = Callable[[np.ndarray], float]

BOX = {"C": (-1.0, 4.0), "gamma": (-5.0, 1.0), "epsilon": (-1.0, 2.0)}  # logarithms to base ten

_A = np.asarray(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_P = 1e-4 * np.asarray(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)
_ALPHA = np.asarray([1.0, 1.2, 3.0, 3.2])


@dataclass(frozen=True)
class Problem:
    """An objective for each seed, how many inputs it has, and how often it may be evaluated.

    `least` is the minimum where it is known, and `held_out` what a point is worth on data that no
    optimiser has seen, where there are such data.
    """

    name: str
    dimensions: int
    budget: int
    objective: Callable[[int], Objective]
    least: float | None = None
    held_out: Callable[[int, np.ndarray], float] | None = None

    @property
    def initial(self) -> int:
        """How many first points all share."""
        return 2 * (self.dimensions + 1)


def branin(u: np.ndarray) -> float:
    """Branin's function over [−5, 10] × [0, 15], where it has three minima of 5 / 4π.

    One is at (π, 2.275): the square is zero there, and the cosine −1.
    Source: Dixon & Szegö (1978), with the constants that scikit-optimize has in
    ``skopt.benchmarks.branin`` and the STK toolbox in its ``stk_testfun_braninhoo``.
    """
    x, y = 15.0 * u[0] - 5.0, 15.0 * u[1]
    square = (y - 5.1 / (4.0 * np.pi**2) * x**2 + 5.0 / np.pi * x - 6.0) ** 2
    return float(square + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x) + 10.0)


def hartmann(u: np.ndarray) -> float:
    """Four bumps in the cube of six dimensions; the least value found by anyone is −3.322368.

    Source: Dixon & Szegö (1978), with the constants that scikit-optimize has in
    ``skopt.benchmarks.hart6``; they and the minimum are those of STK's ``stk_testfun_hartman6``.
    """
    return -float(_ALPHA @ np.exp(-np.sum(_A * (u - _P) ** 2, axis=1)))


def tuning(seed: int) -> Objective:
    """The cross-validated error of a support vector regression, by three logarithms.

    Root mean square error over five folds of the rows seen; `BOX` has what u stands for.
    """
    X, y, _, _ = _diabetes(seed)

    def loss(u: np.ndarray) -> float:
        from sklearn.model_selection import KFold, cross_val_predict

        folds = KFold(5, shuffle=True, random_state=seed)
        return _rmse(cross_val_predict(_machine(u), X, y, cv=folds) - y)

    return loss


def _held_out(seed: int, u: np.ndarray) -> float:
    """Root mean square error on the rows held out, by the machine that all others have fitted."""
    X, y, Xs, ys = _diabetes(seed)
    return _rmse(_machine(u).fit(X, y).predict(Xs) - ys)


@cache
def _diabetes(seed: int) -> tuple[np.ndarray, ...]:
    """Seven tenths of the 442 rows to be seen, and three to be held out, by the seed."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng([seed, 2]).permutation(len(X))
    seen, held = order[: 7 * len(X) // 10], order[7 * len(X) // 10 :]
    return X[seen], y[seen], X[held], y[held]


def _machine(u: np.ndarray) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    ends = zip(u, BOX.items(), strict=True)
    chosen = {name: 10.0 ** (a + (b - a) * v) for v, (name, (a, b)) in ends}
    return make_pipeline(StandardScaler(), SVR(**chosen))


def _rmse(miss: np.ndarray) -> float:
    return float(np.sqrt(np.mean(miss**2)))


PROBLEMS = (
    Problem("branin", 2, 40, lambda seed: branin, 5.0 / (4.0 * np.pi)),
    Problem("hartmann", 6, 60, lambda seed: hartmann, -3.322368011415512),
    Problem("tuning", 3, 30, tuning, held_out=_held_out),
)
