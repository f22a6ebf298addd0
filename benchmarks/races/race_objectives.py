"""What the races of optimisers minimise: test functions, and losses of models to be tuned.

Each takes a point u (d,) of the unit cube, which stands for its own box. `PROBLEMS` are those of
the chapter, without noise; `WIDER` are more of them, of up to twenty inputs, each also with noise;
`UNSEEN` are functions on which no default of this package was chosen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

__all__ = ["BOX", "PROBLEMS", "UNSEEN", "WIDER", "Problem", "branin", "hartmann", "tuning"]

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
    optimiser has seen, where there are such data. `noise` is the standard deviation of what is
    added to each reading.
    """

    name: str
    dimensions: int
    budget: int
    objective: Callable[[int], Objective]
    least: float | None = None
    held_out: Callable[[int, np.ndarray], float] | None = None
    noise: float = 0.0
    begin: int | None = None

    @property
    def initial(self) -> int:
        """How many first points all share: `begin`, or else 2 (d + 1)."""
        return 2 * (self.dimensions + 1) if self.begin is None else self.begin


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


_A3 = np.asarray([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
_P3 = 1e-4 * np.asarray(
    [[3689.0, 1170.0, 2673.0], [4699.0, 4387.0, 7470.0], [1091.0, 8732.0, 5547.0],
     [381.0, 5743.0, 8828.0]]
)  # fmt: skip


def hartmann_of_three(u: np.ndarray) -> float:
    """The same in three dimensions; the least value found by anyone is −3.862780."""
    return -float(_ALPHA @ np.exp(-np.sum(_A3 * (u - _P3) ** 2, axis=1)))


def hartmann_among_twenty(u: np.ndarray) -> float:
    """Hartmann's function of the first six inputs; the others do nothing."""
    return hartmann(u[:6])


def rosenbrock(u: np.ndarray) -> float:
    """A bent valley over [−5, 10]^d, least, 0, where all inputs are 1."""
    x = 15.0 * u - 5.0
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def ackley(u: np.ndarray) -> float:
    """A funnel with dents over [−5, 10]^d, least, 0, at the origin."""
    x = 15.0 * u - 5.0
    funnel = -20.0 * np.exp(-0.2 * np.sqrt(np.mean(x**2)))
    return float(funnel - np.exp(np.mean(np.cos(2.0 * np.pi * x))) + 20.0 + np.e)


def levy(u: np.ndarray) -> float:
    """Waves in a bowl over [−10, 10]^d, least, 0, where all inputs are 1."""
    w = 1.0 + (20.0 * u - 11.0) / 4.0
    first = np.sin(np.pi * w[0]) ** 2
    last = (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
    inner = (w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2)
    return float(first + np.sum(inner) + last)


def styblinski(u: np.ndarray) -> float:
    """Two dents along each input of [−5, 5]^d, of which one is deeper, at −2.903534."""
    x = 10.0 * u - 5.0
    return float(np.sum(x**4 - 16.0 * x**2 + 5.0 * x) / 2.0)


def goldstein_price(u: np.ndarray) -> float:
    """A polynomial over [−2, 2]² with values to a million, least, 3, at (0, −1).

    Source: Dixon & Szegö (1978).
    """
    x, y = 4.0 * u - 2.0
    near = 1.0 + (x + y + 1.0) ** 2 * (
        19.0 - 14.0 * x + 3.0 * x**2 - 14.0 * y + 6.0 * x * y + 3.0 * y**2
    )
    far = 30.0 + (2.0 * x - 3.0 * y) ** 2 * (
        18.0 - 32.0 * x + 12.0 * x**2 + 48.0 * y - 36.0 * x * y + 27.0 * y**2
    )
    return float(near * far)


def camel(u: np.ndarray) -> float:
    """Six humps over [−3, 3] × [−2, 2], with two minima of −1.031628.

    Source: Dixon & Szegö (1978).
    """
    x, y = 6.0 * u[0] - 3.0, 4.0 * u[1] - 2.0
    return float((4.0 - 2.1 * x**2 + x**4 / 3.0) * x**2 + x * y + (4.0 * y**2 - 4.0) * y**2)


_SHEKEL_AT = np.asarray(
    [[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7],
     [2, 9, 2, 9], [5, 5, 3, 3], [8, 1, 8, 1], [6, 2, 6, 2], [7, 3.6, 7, 3.6]]
)  # fmt: skip
_SHEKEL_WIDTHS = np.asarray([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])


def shekel(u: np.ndarray) -> float:
    """Ten narrow holes in [0, 10]⁴, the deepest, −10.53641, near 4 in each input.

    Source: Dixon & Szegö (1978).
    """
    squares = np.sum((10.0 * u - _SHEKEL_AT) ** 2, axis=1)
    return -float(np.sum(1.0 / (squares + _SHEKEL_WIDTHS)))


def michalewicz(u: np.ndarray) -> float:
    """Steep valleys along each input of [0, π]^d, of sharpness ten; of five least −4.687658.

    Source: Michalewicz (1992).
    """
    x, order = np.pi * u, np.arange(1, len(u) + 1)
    return -float(np.sum(np.sin(x) * np.sin(order * x**2 / np.pi) ** 20))


def griewank(u: np.ndarray) -> float:
    """Ripples in a wide bowl over [−300, 600]^d, least, 0, at the origin, which is not the middle.

    Source: Griewank (1981), whose box is even; ours is shifted by a half of its arm.
    """
    x, order = 900.0 * u - 300.0, np.arange(1, len(u) + 1)
    return float(1.0 + np.sum(x**2) / 4000.0 - np.prod(np.cos(x / np.sqrt(order))))


def cosine_mixture(u: np.ndarray) -> float:
    """A bowl with dents over [−0.7, 1.3]^d, least, −d / 10, at the origin, which is not the middle.

    Source: Breiman & Cutler (1993), whose box is even.
    """
    x = 2.0 * u - 0.7
    return float(np.sum(x**2) - 0.1 * np.sum(np.cos(5.0 * np.pi * x)))


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


def ridge(seed: int) -> Objective:
    """The cross-validated error of a kernel ridge regression, by two logarithms.

    Root mean square error over five folds; alpha is 10^−6 to 10², gamma 10^−5 to 10.
    """
    X, y, _, _ = _diabetes(seed)

    def loss(u: np.ndarray) -> float:
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.model_selection import KFold, cross_val_predict
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        alpha, gamma = 10.0 ** (8.0 * u[0] - 6.0), 10.0 ** (6.0 * u[1] - 5.0)
        machine = make_pipeline(StandardScaler(), KernelRidge(alpha, kernel="rbf", gamma=gamma))
        folds = KFold(5, shuffle=True, random_state=seed)
        return _rmse(cross_val_predict(machine, X, y - y.mean(), cv=folds) - (y - y.mean()))

    return loss


def net(seed: int) -> Objective:
    """The cross-validated loss of a small neural network, by three logarithms.

    Minus the mean logarithm of the probability of the right one of three wines, over three folds;
    the rate is 10^−4 to 1, the decay 10^−6 to 10, the width 2 to 64.
    """

    def loss(u: np.ndarray) -> float:
        from sklearn.datasets import load_wine
        from sklearn.metrics import log_loss
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = load_wine(return_X_y=True)
        rate, decay = 10.0 ** (4.0 * u[0] - 4.0), 10.0 ** (7.0 * u[1] - 6.0)
        width = round(2.0 * 32.0 ** u[2])
        network = MLPClassifier(
            (width,), alpha=decay, learning_rate_init=rate, max_iter=40, random_state=seed
        )
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that forty rounds are few
            machine = make_pipeline(StandardScaler(), network)
            said = cross_val_predict(machine, X, y, cv=folds, method="predict_proba")
        return float(log_loss(y, said))

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

_HARTMANN = -3.322368011415512
_EXACT = (
    Problem("branin", 2, 100, lambda seed: branin, 5.0 / (4.0 * np.pi)),
    Problem("hartmann 3", 3, 100, lambda seed: hartmann_of_three, -3.8627797873326666),
    Problem("rosenbrock 4", 4, 100, lambda seed: rosenbrock, 0.0),
    Problem("ackley 5", 5, 100, lambda seed: ackley, 0.0),
    Problem("hartmann 6", 6, 100, lambda seed: hartmann, _HARTMANN),
    Problem("styblinski 10", 10, 100, lambda seed: styblinski, -391.6616570377142),
    Problem("levy 20", 20, 100, lambda seed: levy, 0.0),
    Problem("hartmann 20", 20, 100, lambda seed: hartmann_among_twenty, _HARTMANN),
)
# a tenth of the standard deviation of the function over its box, with one digit
_NOISES = (5.0, 0.1, 40000.0, 0.2, 0.04, 10.0, 7.0, 0.04)
_NOISY = tuple(
    replace(problem, name=f"{problem.name} noisy", noise=noise)
    for problem, noise in zip(_EXACT, _NOISES, strict=True)
)
_TUNED = (
    Problem("svr", 3, 100, tuning),
    Problem("ridge", 2, 100, ridge),
    Problem("net", 3, 100, net),
)
WIDER = tuple(replace(problem, begin=10) for problem in (*_EXACT, *_NOISY, *_TUNED))
UNSEEN = tuple(
    Problem(name, dimensions, 50, lambda seed, f=function: f, least, begin=10)
    for name, dimensions, function, least in (
        ("goldstein-price", 2, goldstein_price, 3.0),
        ("six-hump camel", 2, camel, -1.0316284534898774),
        ("shekel 4", 4, shekel, -10.536409816692043),
        ("michalewicz 5", 5, michalewicz, -4.687658179088148),
        ("griewank 6", 6, griewank, 0.0),
        ("cosine mixture 8", 8, cosine_mixture, -0.8),
    )
)
