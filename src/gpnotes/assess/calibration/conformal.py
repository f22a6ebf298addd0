"""For numbers: the probability integral transform, and intervals that are conformal."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ground import check as _check
from ...ground.conversion import takes
from ...ground.xp import (
    Array,
    Vector,
    VectorLike,
    array_namespace,
    as_array,
    in_double,
    log_normal_cdf,
)

__all__ = [
    "ConformalCoverage", "SplitConformal", "conformal_coverage", "conformal_quantile",
    "probability_integral_transform", "split_conformal",
]  # fmt: skip

_ROUNDED = 1e-12  # of (n + 1) level: a level of 0.95 is no float


@takes("y", "mean", "variance")
def probability_integral_transform(y: VectorLike, mean: VectorLike, variance: VectorLike) -> Vector:
    """Return ``Φ((y − m)/√v)``: where each held-out y (n,) stands in its predicted distribution.

    Parameters
    ----------
    y : Vector, shape (n,)
        The held-out observations.
    mean : Vector, shape (n,)
        Their predictive means, m.
    variance : Vector, shape (n,)
        Their predictive variances, v, with the noise.

    Returns
    -------
    Vector, shape (n,)
        Numbers from 0 to 1, which spread evenly if the predictions are true: in the middle if
        predicted variances are too large, at the ends if they are too small.

    Notes
    -----
    Source: Dawid (1984); Gneiting, Balabdaoui & Raftery (2007). Equation [eq-ca-pit].

    Examples
    --------
    >>> import numpy as np
    >>> y = np.asarray([0.0, 2.0])
    >>> probability_integral_transform(y, np.zeros(2), np.ones(2)).round(4)
    array([0.5   , 0.9772])
    """
    n = _filled(y, "y")
    for a, name in ((mean, "mean"), (variance, "variance")):
        _check.alike(_check.vector(a, name, size=n), name, y, "y")
    _check.positive(variance, "variance")
    xp = array_namespace(y)
    z = (in_double(y) - in_double(mean)) / xp.sqrt(in_double(variance))
    _check.no_overflow(z, "variance", "(y − mean) / √variance")
    return xp.astype(xp.exp(log_normal_cdf(z)), y.dtype)


@takes("scores")
def conformal_quantile(scores: VectorLike, level: float) -> float:
    """Return the score that a new one exceeds with a probability of at most 1 − level.

    Parameters
    ----------
    scores : Vector, shape (n,)
        How badly each of n held-out observations was predicted, in any unit.
    level : float
        The probability, between 0 and 1.

    Returns
    -------
    float
        The k-th smallest score, ``k = ⌈(n + 1) level⌉``.

    Notes
    -----
    It holds if the new score and the n are exchangeable. A level needs ``n ≥ level/(1 − level)``:
    nineteen scores for 0.95. Source: Vovk, Gammerman & Shafer (2005); Lei, G'Sell, Rinaldo,
    Tibshirani & Wasserman (2018). Equation [eq-ca-rank].

    Examples
    --------
    >>> import numpy as np
    >>> conformal_quantile(np.arange(1.0, 20.0), 0.9)
    18.0
    """
    k = _rank(_filled(scores, "scores"), _level(level))
    return float(array_namespace(scores).sort(scores)[k - 1])


@dataclass(frozen=True)
class SplitConformal:
    """Intervals ``m ± q s`` around predicted means; made by `split_conformal`.

    Parameters
    ----------
    quantile : float
        The number of scales to each side, q.
    level : float
        The probability that was asked for.
    count : int
        How many observations the quantile is of.
    scale : float or None, default 1.0
        The scale that all of them had; None where each had its own.
    """

    quantile: float
    level: float
    count: int
    scale: float | None = 1.0

    @takes("mean", "scale")
    def interval(
        self, mean: VectorLike, scale: VectorLike | float | None = None
    ) -> tuple[Vector, Vector]:
        """Return both ends of the intervals around means (m,) with scales (m,).

        Parameters
        ----------
        mean : Vector, shape (m,)
            The predicted means.
        scale : Vector, shape (m,), or float, or None, default None
            The scales; None is the one that `split_conformal` had, if it had one for all.

        Returns
        -------
        low : Vector, shape (m,)
            The lower ends.
        high : Vector, shape (m,)
            The upper ends.
        """
        _check.vector(mean, "mean")
        scale = self.scale if scale is None else scale
        if scale is None:
            raise ValueError("scale must be given: the held-out observations had one each")
        reach = self.quantile * _scale(scale, mean, "mean")
        return mean - reach, mean + reach

    @property
    def coverage(self) -> ConformalCoverage:
        """The distribution over such sets of the share of new observations in the intervals."""
        return conformal_coverage(self.count, self.level)


@takes("y", "mean", "scale")
def split_conformal(
    y: VectorLike, mean: VectorLike, scale: VectorLike | float = 1.0, *, level: float = 0.9
) -> SplitConformal:
    """Find how wide intervals around a model's means must be, from y (n,) that it has not seen.

    Parameters
    ----------
    y : Vector, shape (n,)
        Observations that were held out for this, and served for nothing else.
    mean : Vector, shape (n,)
        Their predicted means, m.
    scale : Vector, shape (n,), or float, default 1.0
        In which unit an error counts, s: one for all, or the predicted standard deviations.
    level : float, default 0.9
        The probability with which an interval is to hold a new observation.

    Notes
    -----
    The scores are ``|y − m| / s``. On average over the sets of n observations, and over new ones,
    the intervals hold at least `level` of them, whatever the model is; of the one set at hand
    `conformal_coverage` tells, and of one kind of new observation nothing is promised.
    Source: Lei, G'Sell, Rinaldo, Tibshirani & Wasserman (2018).

    Examples
    --------
    >>> import numpy as np
    >>> found = split_conformal(np.arange(1.0, 20.0), np.zeros(19))
    >>> found.interval(np.zeros(1))
    (array([-18.]), array([18.]))
    """
    n = _filled(y, "y")
    _check.alike(_check.vector(mean, "mean", size=n), "mean", y, "y")
    xp = array_namespace(y)
    scores = xp.abs(y - mean) / _scale(scale, y, "y")
    _check.no_overflow(scores, "scale", "|y − mean| / scale")
    own = float(scale) if isinstance(scale, int | float) else None
    return SplitConformal(conformal_quantile(scores, level), float(level), n, own)


@dataclass(frozen=True)
class ConformalCoverage:
    """The Beta(a, b) distribution of the coverage, over sets of n held-out observations.

    Made by `conformal_coverage`.

    Parameters
    ----------
    a : int
        The rank of the quantile among the scores, ``⌈(n + 1) level⌉``.
    b : int
        ``n + 1 − a``.
    """

    a: int
    b: int

    @property
    def mean(self) -> float:
        """``a / (n + 1)``, at least the level and less than ``1/(n + 1)`` above it."""
        return self.a / (self.a + self.b)

    @property
    def sd(self) -> float:
        """The standard deviation, near ``√(level (1 − level)/n)``."""
        n1 = self.a + self.b
        return math.sqrt(self.a * self.b / (n1 + 1)) / n1


def conformal_coverage(n: int, level: float) -> ConformalCoverage:
    """Return how the coverage is distributed over sets of n held-out observations.

    Parameters
    ----------
    n : int
        How many observations are held out.
    level : float
        The probability that is asked for.

    Returns
    -------
    ConformalCoverage
        The distribution, where scores are independent and no two are equal.

    Notes
    -----
    Source: Vovk (2012). Equation [eq-ca-beta].

    Examples
    --------
    >>> coverage = conformal_coverage(99, 0.9)
    >>> coverage.mean, round(coverage.sd, 4)
    (0.9, 0.0299)
    """
    n = _check.whole(n, "n", 1)
    k = _rank(n, _level(level))
    return ConformalCoverage(k, n + 1 - k)


def _rank(n: int, level: float) -> int:
    """``⌈(n + 1) level⌉``, where there are so many scores."""
    k = math.ceil((n + 1) * level * (1.0 - _ROUNDED))
    if k > n:
        needed = math.ceil(level / (1.0 - level) * (1.0 - _ROUNDED))
        raise ValueError(
            f"level {level} needs at least {needed} held-out observations; got {n}, and with so "
            "few the interval that has this coverage is unbounded"
        )
    return k


def _level(level: float) -> float:
    level = _check.number(level, "level")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level}")
    return level


def _filled(a: Vector, name: str) -> int:
    n = _check.vector(a, name).shape[0]
    if n == 0:
        raise ValueError(f"{name} must have at least one entry; got (0,)")
    return n


def _scale(scale: Array | float, like: Vector, name: str) -> Vector:
    """Return the scales as an array in the namespace of `like`."""
    if isinstance(scale, int | float):
        value = _check.positive(_check.number(scale, "scale"), "scale")
        return as_array(float(value), like)
    _check.vector(scale, "scale", size=like.shape[0])
    return _check.positive(_check.alike(scale, "scale", like, name), "scale")
