"""Counts: Poisson's distribution with the rate exp(f), and one that scatters more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from ...ground.params import cotangent, positive, settle
from ...ground.xp import LOG_2PI, Array, Numbers, array_namespace, as_array, digamma, fused
from .base import Bars, LikelihoodBase
from .hermite_averages import Expected

__all__ = [
    "NegativeBinomial", "Poisson", "counted", "digamma_rise", "log_chance", "log_factorial",
    "log_gamma_rise",
]  # fmt: skip

N = TypeVar("N", bound=Numbers)  # of observations

_SHIFT = 8  # by which a small argument is moved to where Stirling's series holds
_LARGE = 16.0  # from here it holds as it is
# of Stirling's series in odd powers of 1/z: Abramowitz & Stegun (1964), 6.1.40
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


@dataclass(frozen=True)
class Poisson(LikelihoodBase):
    """A count with the rate exp(f): ``log p(y | f) = y f − exp(f) − log y!`` for y = 0, 1, 2, …

    All methods work entry by entry on arrays of one shape, as in `LikelihoodBase`; counts are
    whole numbers in a floating dtype, and others a ``ValueError``.

    Notes
    -----
    A mean function near the logarithm of a typical count lets a fit start where it should: far
    below, ``exp(f)`` says so little that a full step leaps to where it overflows. Averages of the
    log density over f have a closed form, as has `predict`, by the moments of the log-normal
    distribution.

    Examples
    --------
    >>> import numpy as np
    >>> counts = Poisson()
    >>> counts.log_density(np.asarray([0.0, 3.0]), np.asarray([0.0, 1.0])).round(4)
    array([-1.  , -1.51])
    >>> counts.predict(np.asarray([0.0]), np.asarray([0.0]))
    (array([1.]), array([1.]))
    """

    def _observable(self, y: N) -> N:
        return counted(y, math.inf, "counts, 0, 1, 2 and so on")

    def _log_density(self, y: Array, f: Array) -> Array:
        """By ``δ = f − log y``: ``y (δ − (exp(δ) − 1))``, and the log density at δ = 0.

        The terms of ``y f − exp(f) − log y!`` are of the size of y log y, and cancel.
        """
        xp = array_namespace(f)
        y = y if hasattr(y, "ndim") else as_array(y, f)
        counted = y > 0.0
        count = xp.where(counted, y, xp.ones_like(y))
        above = f - xp.log(count)
        return xp.where(counted, count * (above - xp.expm1(above)) + _log_top(count), -xp.exp(f))

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        rate = array_namespace(f).exp(f)
        return y - rate, -rate, -rate

    def _expected(self, y: Array, mean: Array, variance: Array, nodes: int) -> Expected:
        """``y m − exp(m + v/2) − log y!``."""
        rate = array_namespace(mean).exp(mean + 0.5 * variance)
        return Expected(y * mean - rate - log_factorial(y, mean), y - rate, -0.5 * rate)

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """With the mean rate r: r and ``r + r² (exp(v) − 1)``."""
        xp = array_namespace(mean)
        return _scattered(mean, variance, -xp.expm1(-variance))


@dataclass(frozen=True)
class NegativeBinomial(LikelihoodBase):
    """A count with the mean exp(f) whose variance, ``μ + μ²/r``, is larger than Poisson's.

    ``log p(y | f) = log Γ(y + r)/(Γ(r) y!) + y log σ(g) + r log σ(−g)`` with ``g = f − log r`` for
    y = 0, 1, 2, …: Poisson's with a rate that scatters as a gamma variable of shape r, and Poisson
    itself as r grows. All methods work entry by entry on arrays of one shape, as in
    `LikelihoodBase`; counts are whole numbers in a floating dtype, and others a ``ValueError``.

    Parameters
    ----------
    shape : float, default 1.0
        r, positive.

    Examples
    --------
    >>> import numpy as np
    >>> counts = NegativeBinomial(2.0)
    >>> counts.log_density(np.asarray([0.0, 3.0]), np.asarray([0.0, 1.0])).round(4)
    array([-0.8109, -1.9846])
    >>> counts.predict(np.asarray([0.0]), np.asarray([0.0]))
    (array([1.]), array([1.5]))
    """

    shape: float = positive(1.0)

    def __post_init__(self) -> None:
        settle(self)

    def _observable(self, y: N) -> N:
        return counted(y, math.inf, "counts, 0, 1, 2 and so on")

    def _log_density(self, y: Array, f: Array) -> Array:
        y = y if hasattr(y, "ndim") else as_array(y, f)
        r = self.shape
        ways = log_gamma_rise(r, y) - log_factorial(y, f)
        # as log σ(g) is g + log σ(−g)
        return ways + y * f + (y + r) * log_chance(math.log(r) - f)

    def _chances(self, f: Array) -> tuple[Array, Array]:
        """σ(g) and σ(−g)."""
        xp, g = array_namespace(f), f - math.log(self.shape)
        return xp.exp(log_chance(g)), xp.exp(log_chance(-g))

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        r, (p, q) = self.shape, self._chances(f)
        bent = -(y + r) * p * q
        return y * q - r * p, bent, bent * (q - p)

    def _bar(self, y: Array, f: Array, bar: Array) -> Self:
        return cotangent(self, shape=float(array_namespace(f).sum(bar * self._by_shape(y, f))))

    def _by_shape(self, y: Array, f: Array) -> Array:
        """``∂/∂r = ψ(y + r) − ψ(r) + log σ(−g) + σ(g) − y σ(−g)/r``."""
        r, (p, q) = self.shape, self._chances(f)
        y = y if hasattr(y, "ndim") else as_array(y, f)
        return digamma_rise(r, y) + log_chance(math.log(r) - f) + p - y * q / r

    def _derivatives_bar(self, y: Array, f: Array, bars: Bars) -> Self:
        """With p and q for the chances of g, whose slope by r is ``−pq/r``:

        ``∂ℓ′/∂r = p (y q/r − p)`` and ``∂ℓ″/∂r = p q ((y + r)(q − p)/r − 1)``.
        """
        r, (p, q) = self.shape, self._chances(f)
        by_first = p * (y * q / r - p)
        by_second = p * q * ((y + r) * (q - p) / r - 1.0)
        return cotangent(self, shape=bars.total(self._by_shape(y, f), by_first, by_second))

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """With the mean rate m: m and ``m + m² (exp(v) (1 + 1/r) − 1)``."""
        share = 1.0 / self.shape - array_namespace(mean).expm1(-variance)
        return _scattered(mean, variance, share)


def _scattered(mean: Array, variance: Array, share: Array) -> tuple[Array, Array]:
    """The mean rate r, and ``r + exp(2 (m + v)) share``, where one of the factors may overflow."""
    xp = array_namespace(mean)
    rate, none = xp.exp(mean + 0.5 * variance), xp.zeros_like(mean)
    # infinity times the zero of a rate that is known would be no number
    root = xp.exp(xp.where(share > 0.0, mean + variance, none)) * xp.sqrt(share)
    return rate, rate + root * root


def counted(y: N, most: float, wanted: str) -> N:
    """The counts y, a number or an array, if they are whole and from 0 to `most`, and finite."""
    given: Any = y
    if hasattr(given, "ndim"):
        xp = array_namespace(given)
        good = (given >= 0.0) & (given <= most) & (given < math.inf) & (xp.round(given) == given)
        fits = bool(xp.all(good))
    else:
        fits = good = 0.0 <= given <= most and given < math.inf and given % 1.0 == 0.0
    if not fits:
        raise ValueError(f"y must hold {wanted}; got {first_other(y, good)}")
    return y


def first_other(y: Any, good: Any) -> str:
    """The first of y, a number or an array, that is not good, and its row."""
    if not hasattr(y, "ndim"):
        return f"{y:g}"
    xp = array_namespace(y)
    row = int(xp.argmax(xp.astype(~xp.reshape(good, (-1,)), y.dtype)))
    return f"{float(xp.reshape(y, (-1,))[row]):g} in row {row}"


def log_chance(f: Array) -> Array:
    """``log σ(f)``, for any f."""
    xp = array_namespace(f)
    return xp.clip(f, None, 0.0) - xp.log1p(xp.exp(-xp.abs(f)))


def log_factorial(y: Array, like: Array) -> Array:
    """Evaluate ``log y!``, entry by entry, to a few units of rounding.

    Parameters
    ----------
    y : Array, or float
        Numbers from 0; they are not checked.
    like : Array
        An array whose namespace, dtype and device the answer has where y is a float.

    Notes
    -----
    Stirling's series, Abramowitz & Stegun (1964), 6.1.40, after a shift by 8 where y is small.
    """
    y = y if hasattr(y, "ndim") else as_array(y, like)
    xp = array_namespace(y)
    z = y + 1.0
    shifted = _shifted_stirling(xp.clip(z, None, _LARGE))
    return xp.where(z < _LARGE, shifted, _stirling(xp.clip(z, _LARGE, None)))


def log_gamma_rise(z: float, by: N) -> N:
    """Return ``log Γ(z + by) − log Γ(z) − by log z``, whose terms cancel where z is large.

    Parameters
    ----------
    z : float
        A positive number.
    by : Array or float
        The step, not negative.

    Returns
    -------
    Array or float
        The difference, of the kind of `by`.
    """
    step: Any = by
    if z >= _LARGE:
        grown: N = (z + step - 0.5) * _log1p(step / z) - step + _tail(z + step) - _tail(z)
        return grown
    to: Any
    if hasattr(by, "ndim"):  # by that of z + 1: z − 1 has no digit of a small z
        to = log_factorial(step + z, step) - array_namespace(step).log(step + z)
    else:
        to = math.lgamma(z + step)
    rise: N = to - math.lgamma(z) - step * math.log(z)
    return rise


def digamma_rise(z: float, by: N) -> N:
    """Return ``ψ(z + by) − ψ(z)``; all is as in `log_gamma_rise`."""
    step: Any = by
    end: Any = z + step
    rise: N
    if z < _LARGE:
        rise = digamma(end) - digamma(z)
    else:
        rise = _log1p(step / z) + step / (2.0 * z * end) + _tail_slope(end) - _tail_slope(z)
    return rise


def _log1p(x: Any) -> Any:
    return array_namespace(x).log1p(x) if hasattr(x, "ndim") else math.log1p(x)


def _log_top(y: Array) -> Array:
    """``y log y − y − log y!`` for y from 1: how likely y is where the rate is y itself."""
    xp = array_namespace(y)
    small = xp.clip(y, None, _LARGE)
    direct = small * xp.log(small) - small - log_factorial(small, y)
    large = xp.clip(y, _LARGE, None)
    return xp.where(y < _LARGE, direct, -0.5 * (xp.log(large) + LOG_2PI) - _tail(large))


@fused
def _shifted_stirling(z: Array) -> Array:
    """``log Γ(z)`` for z from 1, by that of z and a whole number."""
    product = z
    for k in range(1, _SHIFT):
        product = product * (z + float(k))
    return _stirling(z + float(_SHIFT)) - array_namespace(z).log(product)


@fused
def _stirling(z: Array) -> Array:
    """``log Γ(z)`` for z from 8."""
    return (z - 0.5) * array_namespace(z).log(z) - z + 0.5 * LOG_2PI + _tail(z)


@fused
def _tail(z: Array) -> Array:
    """The sum of the terms of Stirling's series beyond the first, for z from 8."""
    inverse = 1.0 / z
    *others, last = _STIRLING
    tail: Any = last
    for coefficient in reversed(others):
        tail = tail * inverse * inverse + coefficient
    return tail * inverse


def _tail_slope(z: Any) -> Any:
    """The derivative of `_tail`."""
    power, slope = 1.0 / (z * z), 0.0
    for k, coefficient in reversed(list(enumerate(_STIRLING))):
        slope = (slope - (2 * k + 1) * coefficient) * power
    return slope
