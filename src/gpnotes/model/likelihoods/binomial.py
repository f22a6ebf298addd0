"""Counts out of a number of trials: the binomial distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...ground import check as _check
from ...ground.params import fixed
from ...ground.xp import LOG_2PI, Array, array_namespace, as_array
from .base import LikelihoodBase
from .binary import Bernoulli
from .counts import counted, log_chance, log_factorial

__all__ = ["Binomial"]

_STEP = 0.25  # of the sums for averages: what they leave out is far below rounding
_REACH, _WIDE = 9.0, 40.0  # of their places, in standard deviations and in units of f


@dataclass(frozen=True)
class Binomial(LikelihoodBase):
    """The number of successes in some trials, each with chance ``σ(f) = 1/(1 + exp(−f))``.

    ``log p(y | f) = log C(n, y) + y log σ(f) + (n − y) log σ(−f)`` for y = 0, 1, …, n. All methods
    work entry by entry on arrays of one shape, as in `LikelihoodBase`; counts are whole numbers in
    a floating dtype, and others a ``ValueError``.

    Parameters
    ----------
    trials : int, default 1
        n, the trials behind each y, at least one. It is no parameter of a fit.

    Notes
    -----
    All rows have as many trials. Where they differ, the trials themselves are rows, labels of
    ``Bernoulli("logit")``: ``np.repeat(X, n, axis=0)`` with y_i ones and ``n_i − y_i`` times minus
    one. That is the same posterior and, but for the ways of choosing y of n, the same bound; for
    `svgp` as many more rows of one pass are cheap, while Laplace's approximation takes their cube.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Binomial(10)
    >>> votes.log_density(np.asarray([0.0, 5.0]), np.asarray([0.0, 0.0])).round(4)
    array([-6.9315, -1.402 ])
    >>> votes.predict(np.asarray([0.0]), np.asarray([0.0]))
    (array([5.]), array([2.5]))
    """

    trials: int = fixed(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", _check.whole(self.trials, "Binomial.trials", 1))

    def _observable(self, y: Any) -> Any:
        return counted(y, self.trials, f"counts from 0 to {self.trials}, the trials")

    def _log_density(self, y: Array, f: Array) -> Array:
        y = y if hasattr(y, "ndim") else as_array(y, f)
        n = self.trials
        ways = math.lgamma(n + 1.0) - log_factorial(y, f) - log_factorial(n - y, f)
        return ways + y * log_chance(f) + (n - y) * log_chance(-f)

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        xp, n = array_namespace(f), self.trials
        p, q = xp.exp(log_chance(f)), xp.exp(log_chance(-f))
        return y * q - (n - y) * p, -n * p * q, -n * p * q * (q - p)

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """``n p`` and ``n p q + n (n − 1) var σ(f)``, with ``var σ = p q − E σ′(f)``."""
        label, n = Bernoulli("logit"), self.trials
        p, q = label._probability(mean, variance), label._probability(-mean, variance)
        both, slope = p * q, _average_slope(mean, variance)
        gap = array_namespace(mean).clip(both - slope, 0.0, None)
        return n * p, n * both + n * (n - 1.0) * gap


def _average_slope(mean: Array, variance: Array) -> Array:
    """``E σ(f) σ(−f)``, by the trapezoid rule: in f where f is wide, in its deviations elsewhere.

    Both are analytic in a strip, so that the rule is exact to rounding.
    """
    xp = array_namespace(mean)
    deviation = xp.sqrt(variance)[..., None]
    wide = deviation > 1.0
    total = xp.zeros_like(mean)
    for near in (True, False):
        reach = _REACH if near else _WIDE
        count = round(2.0 * reach / _STEP) + 1
        z = as_array([-reach + _STEP * i for i in range(count)], mean)
        sd = xp.where(wide, xp.ones_like(deviation), deviation)
        if near:
            f, weights = mean[..., None] + sd * z, xp.exp(-0.5 * (z * z + LOG_2PI))
        else:
            sd = xp.where(wide, deviation, xp.ones_like(deviation))
            f, weights = z, xp.exp(-0.5 * (((z - mean[..., None]) / sd) ** 2 + LOG_2PI)) / sd
        slope = xp.exp(log_chance(f) + log_chance(-f))
        found = _STEP * xp.sum(weights * slope, axis=-1)
        total = xp.where(wide[..., 0] != near, found, total)
    return total
