"""Observations with normal noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ...ground.late_reads import number
from ...ground.params import cotangent, positive, settle
from ...ground.xp import LOG_2PI, Array, array_namespace, fused
from .base import Bars, LikelihoodBase
from .hermite_averages import Expected

__all__ = ["Gaussian"]


@fused
def _value_and_slope(
    mean: Array, y: Array, variance: Array, noise: float, shift: float
) -> tuple[Array, Array]:
    gap = y - mean
    return -0.5 * (gap * gap) / noise - shift - 0.5 * variance / noise, gap / noise


@fused
def _gaps(mean: Array, y: Array, variance: Array, bar: Array, noise: float) -> Array:
    gap = y - mean
    return array_namespace(mean).sum(bar * ((gap * gap + variance) / noise - 1.0))


@dataclass(frozen=True)
class Gaussian(LikelihoodBase):
    """Normal noise: ``y | f ~ N(f, variance)``, independently for each observation.

    All methods work entry by entry on arrays of one shape, as in `LikelihoodBase`; all averages
    over f have closed forms.

    Parameters
    ----------
    variance : float, default 1.0
        The variance of the noise, positive.

    Examples
    --------
    >>> import numpy as np
    >>> noise = Gaussian(1.0)
    >>> noise.log_density(np.asarray([0.0, 1.0]), np.asarray([0.0, 0.0])).round(4)
    array([-0.9189, -1.4189])
    >>> noise.predict(np.asarray([2.0]), np.asarray([0.5]))
    (array([2.]), array([1.5]))
    """

    variance: float = positive(1.0, unit="y²")

    def __post_init__(self) -> None:
        settle(self)

    @property
    def _unit(self) -> float:
        return math.sqrt(self.variance)

    def _log_density(self, y: Array, f: Array) -> Array:
        """``log N(y; f, variance)``."""
        return -0.5 * (y - f) ** 2 / self.variance - 0.5 * (LOG_2PI + math.log(self.variance))

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        xp = array_namespace(f)
        first = (y - f) / self.variance
        return first, xp.full_like(first, -1.0 / self.variance), xp.zeros_like(first)

    def _bar(self, y: Array, f: Array, bar: Array) -> Self:
        """``∂ log p/∂σ² = ½ ((y − f)²/σ² − 1)/σ²``."""
        terms = bar * ((y - f) ** 2 / self.variance - 1.0)
        total = float(array_namespace(terms).sum(terms))
        return cotangent(self, variance=0.5 * total / self.variance)

    def _derivatives_bar(self, y: Array, f: Array, bars: Bars) -> Self:
        """``∂ℓ′/∂σ² = −(y − f)/σ⁴`` and ``∂ℓ″/∂σ² = 1/σ⁴``, with that of `_bar`."""
        xp, u = array_namespace(f), (y - f) / self.variance
        by_value = 0.5 * (u * u - 1.0 / self.variance)
        by_second = xp.full_like(u, 1.0 / self.variance**2)
        return cotangent(self, variance=bars.total(by_value, -u / self.variance, by_second))

    def _expected(self, y: Array, mean: Array, variance: Array, nodes: int) -> Expected:
        """The value at the mean, less ``variance / 2σ²``."""
        shift = 0.5 * (LOG_2PI + math.log(self.variance))
        value, first = _value_and_slope(mean, y, variance, self.variance, shift)
        second = array_namespace(first).full_like(first, -0.5 / self.variance)
        return Expected(value, first, second)

    def _expected_bar(self, y: Array, mean: Array, variance: Array, bar: Array, nodes: int) -> Self:
        """As `_bar`, for on average ``(y − f)²`` is ``(y − mean)² + variance``."""
        total = number(_gaps(mean, y, variance, bar, self.variance))
        return cotangent(self, variance=0.5 * total / self.variance)

    def _log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        total = variance + self.variance
        xp = array_namespace(mean)
        return -0.5 * ((y - mean) ** 2 / total + xp.log(total) + LOG_2PI)

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        return mean, variance + self.variance
