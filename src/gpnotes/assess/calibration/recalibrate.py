"""Probabilities mended on labels that were held out: one number, two, or any rising function.

A *score* is a number that rises with the belief in the label 1: the log odds `logit` of a
predicted probability, or a latent value. Each fit returns a function of scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.conversion import takes
from ...ground.showing import summary
from ...ground.xp import (
    Array,
    ArrayLike,
    HostVector,
    Vector,
    VectorLike,
    array_namespace,
    as_array,
    how_many,
    in_double,
    keep_copies,
    to_numpy,
)
from .label_checks import beside, is_one, labels

__all__ = [
    "Isotonic", "PlattScaling", "TemperatureScaling", "fit_isotonic", "fit_platt",
    "fit_temperature", "logit",
]  # fmt: skip

_MOST_STEPS = 100
_MOST_DOUBLINGS = 60
_FLAT = 1e-10  # of a gradient, beside the sum of the sizes of its terms


@takes("probability")
def logit(probability: ArrayLike) -> Array:
    """Return the log odds ``log(p / (1 − p))`` of probabilities.

    Parameters
    ----------
    probability : Array
        The probabilities, of any shape.

    Examples
    --------
    >>> import numpy as np
    >>> logit(np.asarray([0.5, 0.8])).round(4)
    array([0.    , 1.3863])
    """
    p = _check.floating(probability, "probability")
    xp = array_namespace(p)
    right = (p > 0.0) & (p < 1.0)
    if not bool(xp.all(right)):
        wrong, _ = how_many(~right)
        wanted = "strictly between 0 and 1"
        raise ValueError(f"probability must be {wanted}; {wrong} of its entries are not")
    return xp.log(p) - xp.log1p(-p)


@dataclass(frozen=True)
class TemperatureScaling:
    """Log odds f become ``σ(f / T)``; made by `fit_temperature`.

    Parameters
    ----------
    temperature : float
        T, positive: above one, predictions move towards a half; below, away from it.

    Notes
    -----
    A prediction never crosses a half, so that no decision by the likelier label changes.
    Source: Guo, Pleiss, Sun & Weinberger (2017). Equation [eq-ca-temperature].

    Examples
    --------
    >>> import numpy as np
    >>> TemperatureScaling(2.0)(np.asarray([0.0, 4.0])).round(4)
    array([0.5   , 0.8808])
    """

    temperature: float

    def __post_init__(self) -> None:
        _check.positive(_check.number(self.temperature, "temperature"), "temperature")

    @takes("score")
    def __call__(self, score: ArrayLike) -> Array:
        """Return the probability of the label 1 for scores of any shape."""
        return _sigmoid(_score(score) / self.temperature)


@dataclass(frozen=True)
class PlattScaling:
    """Scores f become ``σ(a f + b)``; made by `fit_platt`.

    Parameters
    ----------
    slope : float
        The slope, a.
    intercept : float
        The intercept, b.

    Notes
    -----
    Source: Platt (1999). Equation [eq-ca-platt].

    Examples
    --------
    >>> import numpy as np
    >>> PlattScaling(1.0, -2.0)(np.asarray([0.0, 2.0])).round(4)
    array([0.1192, 0.5   ])
    """

    slope: float
    intercept: float

    def __post_init__(self) -> None:
        _check.number(self.slope, "slope")
        _check.number(self.intercept, "intercept")

    @takes("score")
    def __call__(self, score: ArrayLike) -> Array:
        """Return the probability of the label 1 for scores of any shape."""
        return _sigmoid(self.slope * _score(score) + self.intercept)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Scores become the value of a rising function, straight between its knots.

    Made by `fit_isotonic`. Below the first knot and above the last it is constant.

    Parameters
    ----------
    knots : HostVector, shape (k,)
        Scores, rising.
    values : HostVector, shape (k,)
        The probabilities there, not falling.

    Notes
    -----
    Source: Zadrozny & Elkan (2002). Equation [eq-ca-isotonic].
    """

    knots: HostVector
    values: HostVector

    __repr__ = summary

    def __post_init__(self) -> None:
        _check.vector(self.knots, "knots")
        _check.vector(self.values, "values", size=len(self.knots))
        if len(self.knots) == 0 or (np.diff(self.knots) <= 0.0).any():
            raise ValueError(f"knots must increase, and hold at least one; got {self.knots}")
        low, high = self.values[0], self.values[-1]
        if (np.diff(self.values) < 0.0).any() or not 0.0 <= low <= high <= 1.0:
            raise ValueError(f"values must not decrease, and lie from 0 to 1; got {self.values}")
        keep_copies(self, "knots", "values")

    @takes("score")
    def __call__(self, score: ArrayLike) -> Array:
        """Return the probability of the label 1 for scores of any shape."""
        host = to_numpy(_score(score))
        return as_array(np.interp(host, self.knots, self.values), score)


@takes("y", "score")
def fit_temperature(y: VectorLike, score: VectorLike) -> TemperatureScaling:
    """Find the temperature of the least log loss for labels y (n,) with log odds f (n,).

    Parameters
    ----------
    y : Vector, shape (n,)
        The labels, 1 and −1, which the model has not seen.
    score : Vector, shape (n,)
        The log odds that the model gives them.

    Notes
    -----
    The loss is convex in ``1/T``, and its one minimum is found by Newton steps within a bracket.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.asarray([1.0, 1.0, 1.0, -1.0])
    >>> round(fit_temperature(y, np.full(4, 4.0)).temperature, 4)
    3.641
    """
    f, one = _labelled(y, score)
    xp = array_namespace(f)
    unit = float(xp.mean(xp.abs(f))) or 1.0  # in which no bracket is too far off
    f = f / unit
    if not float(f @ (one - 0.5)) > 0.0:
        raise _check.NoValueError(
            "score must say something of the labels: at any temperature it does worse than nothing"
        )
    if bool(xp.all(f * (one - 0.5) >= 0.0)):
        raise _check.NoValueError(
            "score must be on the wrong side of zero for one label at least: for labels that are "
            "told apart without error, the best temperature is zero"
        )

    def slope(inverse: float) -> tuple[float, float]:
        p = _sigmoid(inverse * f)
        return float(f @ (one - p)), float((f * f) @ (p * (1.0 - p)))

    return TemperatureScaling(unit / _root(slope))


@takes("y", "score")
def fit_platt(y: VectorLike, score: VectorLike) -> PlattScaling:
    """Find slope and intercept of Platt's sigmoid for labels y (n,) with scores f (n,).

    Parameters
    ----------
    y : Vector, shape (n,)
        The labels, 1 and −1, of both kinds, which the model has not seen.
    score : Vector, shape (n,)
        Any scores that the model gives them; they must not be all equal.

    Notes
    -----
    The labels count as ``(n₊ + 1)/(n₊ + 2)`` and ``1/(n₋ + 2)`` in the place of one and zero, as
    Platt has it, so that there is a best sigmoid even if scores tell all labels apart. Newton
    steps, each halved until it lowers the loss. Source: Platt (1999); Lin, Lin & Weng
    (2007) for the steps.

    Examples
    --------
    >>> import numpy as np
    >>> y, score = np.asarray([-1.0, -1.0, 1.0, 1.0]), np.asarray([0.0, 1.0, 1.5, 4.0])
    >>> found = fit_platt(y, score)
    >>> round(found.slope, 3), round(found.intercept, 3)
    (0.583, -0.914)
    """
    f, one = _labelled(y, score)
    xp = array_namespace(f)
    n, ones = f.shape[0], float(xp.sum(one))
    if ones in (0.0, float(n)):
        raise ValueError(f"y must hold labels of both kinds; its {n} labels are all {float(y[0])}")
    low, high = float(xp.min(f)), float(xp.max(f))
    if low == high:
        raise ValueError(f"score must vary; its {n} entries are all {low}")
    target = one * ((ones + 1.0) / (ones + 2.0)) + (1.0 - one) / (n - ones + 2.0)
    middle, width = 0.5 * (low + high), 0.5 * (high - low)
    a, b = _newton((f - middle) / width, target, math.log((ones + 1.0) / (n - ones + 1.0)))
    return PlattScaling(a / width, b - a * middle / width)


@takes("y", "score")
def fit_isotonic(y: VectorLike, score: VectorLike) -> Isotonic:
    """Find the rising function of scores f (n,) nearest to labels y (n,) in squares.

    Parameters
    ----------
    y : Vector, shape (n,)
        The labels, 1 and −1, which the model has not seen.
    score : Vector, shape (n,)
        Any scores that the model gives them.

    Returns
    -------
    Isotonic
        The function that mends scores. It says 0 and 1 where all labels beyond a score are alike:
        of such a certainty, one label of the other kind costs a log loss without end.

    Notes
    -----
    Neighbours that fall are pooled until none do, O(n log n) with the sorting, on the host; equal
    scores are one. Among rising functions it has the least log loss as well. Source: Ayer, Brunk,
    Ewing, Reid & Silverman (1955).

    Examples
    --------
    >>> import numpy as np
    >>> y = np.asarray([-1.0, 1.0, -1.0, 1.0])
    >>> fit_isotonic(y, np.asarray([0.0, 1.0, 2.0, 3.0])).values
    array([0. , 0.5, 0.5, 1. ])
    """
    f, one = _labelled(y, score)
    scores, number = np.unique(to_numpy(f), return_inverse=True)
    weight = np.bincount(number).astype(np.float64)
    mean = np.bincount(number, weights=to_numpy(one)) / weight
    values = _pooled(mean, weight)
    inner = np.zeros(len(values), dtype=bool)
    inner[1:-1] = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    return Isotonic(scores[~inner], values[~inner])


def _pooled(mean: HostVector, weight: HostVector) -> HostVector:
    """The rising values nearest to `mean`, in squares with weights."""
    blocks: list[tuple[float, float, int]] = []  # sum, weight and size, of means that rise
    for value, w in zip(mean.tolist(), weight.tolist(), strict=True):
        total, over, size = value * w, w, 1
        while blocks and blocks[-1][0] * over >= total * blocks[-1][1]:
            before, its_weight, its_size = blocks.pop()
            total, over, size = total + before, over + its_weight, size + its_size
        blocks.append((total, over, size))
    totals, weights, sizes = zip(*blocks, strict=True)
    return np.repeat(np.asarray(totals) / np.asarray(weights), sizes)


def _root(slope: Callable[[float], tuple[float, float]]) -> float:
    """Where a function that falls from above zero at zero is zero; it comes with −derivative."""
    low, high = 0.0, 1.0
    for _ in range(_MOST_DOUBLINGS):
        if slope(high)[0] <= 0.0:
            break
        low, high = high, 2.0 * high
    at = 0.5 * (low + high)
    for _ in range(_MOST_STEPS):
        value, fall = slope(at)
        low, high = (at, high) if value > 0.0 else (low, at)
        new = at + value / fall if fall > 0.0 else high
        if abs(new - at) <= 64.0 * math.ulp(at):  # nearer, the sums round it to and fro
            return new
        if not low < new < high:
            new = 0.5 * (low + high)
        at = new
    return at


def _newton(f: Vector, target: Vector, start: float) -> tuple[float, float]:
    """Slope and intercept of the least log loss, for scores within one of zero."""
    a, b = 0.0, start
    loss = _loss(a, b, f, target)
    for _ in range(_MOST_STEPS):
        xp = array_namespace(f)
        p = _sigmoid(a * f + b)
        off, w = target - p, p * (1.0 - p)
        ga, gb = float(f @ off), float(xp.sum(off))
        if abs(ga) + abs(gb) <= _FLAT * f.shape[0]:
            break
        haa, hab, hbb = float((f * f) @ w), float(f @ w), float(xp.sum(w))
        ridge = 1e-12 * (haa + hbb)
        det = (haa + ridge) * (hbb + ridge) - hab * hab
        da, db = ((hbb + ridge) * ga - hab * gb) / det, ((haa + ridge) * gb - hab * ga) / det
        step = 1.0
        while (tried := _loss(a + step * da, b + step * db, f, target)) > loss and step > 1e-10:
            step *= 0.5
        a, b, loss = a + step * da, b + step * db, min(loss, tried)
    return a, b


def _loss(a: float, b: float, f: Vector, target: Vector) -> float:
    """The log loss of ``σ(a f + b)``, without an overflow."""
    xp = array_namespace(f)
    g = a * f + b
    softplus = xp.clip(g, 0.0, None) + xp.log1p(xp.exp(-xp.abs(g)))
    return float(xp.sum(softplus - target * g))


def _labelled(y: Vector, score: Vector) -> tuple[Vector, Vector]:
    """Scores, and one for each label 1, in float64."""
    labels(y)
    f = in_double(beside(score, "score", y))
    return _check.squarable(f, "score"), is_one(y)


def _score(score: Array) -> Array:
    return _check.finite(_check.floating(score, "score"), "score")


def _sigmoid(f: Array) -> Array:
    """``1 / (1 + e⁻ᶠ)``, by the exponential that does not overflow."""
    xp = array_namespace(f)
    small = xp.exp(-xp.abs(f))
    return xp.where(f >= 0.0, 1.0 / (1.0 + small), small / (1.0 + small))
