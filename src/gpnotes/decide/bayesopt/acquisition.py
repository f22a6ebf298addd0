"""Acquisitions: the worth of an observation of f at a point, from its mean and variance there.

Each acquisition is a function of mean and variance (n,) of f, entry by entry, with its derivatives
by both. The larger f is the better: to minimise, model −f. Noise of the observations has no place
here: the variance is that of f.

Where the variance is zero, f is known: values are the limits for a vanishing variance, and the
derivatives by the variance are taken as zero. At an observation without noise the standard
deviation has a kink over x, and zero is the mean of its slopes on the two sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ...ground import check as _check
from ...ground.xp import (
    LOG_2PI,
    Array,
    Namespace,
    array_namespace,
    is_numpy_namespace,
    log_normal_cdf,
    mills_fractions,
)

__all__ = [
    "ExpectedImprovement",
    "LogExpectedImprovement",
    "LogProbabilityOfImprovement",
    "ProbabilityOfImprovement",
    "UpperConfidenceBound",
]

_TAIL = 2.0  # below minus this φ(z) + z Φ(z) is written without its cancellation


@dataclass(frozen=True)
class UpperConfidenceBound:
    """Upper confidence bound: how large f may well be, ``μ + √β σ``.

    Parameters
    ----------
    beta : float
        The weight β ≥ 0 of the variance: a large one explores, zero takes the mean as it is.

    Notes
    -----
    Source: Srinivas, Krause, Kakade & Seeger (2010).

    Examples
    --------
    >>> import numpy as np
    >>> UpperConfidenceBound(4.0)(np.asarray([1.0, 1.0]), np.asarray([0.0, 0.25]))
    array([1., 2.])
    """

    beta: float

    def __post_init__(self) -> None:
        beta = _check.positive(_check.number(self.beta, "beta"), "beta", zero=True)
        object.__setattr__(self, "beta", beta)

    def __call__(self, mean: Array, variance: Array) -> Array:
        """Return the bound for each mean and variance of f.

        Parameters
        ----------
        mean : Array, shape (n,)
            Predictive means of f.
        variance : Array, shape (n,)
            Predictive variances of f, none of them negative.

        Returns
        -------
        Array, shape (n,)
            The bounds.
        """
        xp = _validate(mean, variance)
        return mean + math.sqrt(self.beta) * xp.sqrt(variance)

    def derivatives(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the derivatives by the mean, 1, and by the variance, ``√β / 2σ``; (n,) each.

        Arguments and errors are those of calling the acquisition.
        """
        xp = _validate(mean, variance)
        s = _standardised(xp, mean, variance, 0.0)
        slope = 0.5 * math.sqrt(self.beta) / s.sd
        return xp.ones_like(mean), xp.where(s.open, slope, xp.zeros_like(slope))


@dataclass(frozen=True)
class _Improvement:
    """The common part of the three measures of an improvement over ``best + margin``."""

    best: float
    margin: float = 0.0

    def __post_init__(self) -> None:
        margin = _check.positive(_check.number(self.margin, "margin"), "margin", zero=True)
        object.__setattr__(self, "best", _check.number(self.best, "best"))
        object.__setattr__(self, "margin", margin)

    def _admitted(self, mean: Array, variance: Array) -> tuple[Namespace, _Standardised]:
        xp = _validate(mean, variance)
        return xp, _standardised(xp, mean, variance, self.best + self.margin)


@dataclass(frozen=True)
class ProbabilityOfImprovement(_Improvement):
    """Probability that f exceeds the best value by more than a margin.

    Parameters
    ----------
    best : float
        The value to improve on.
    margin : float, default 0.0
        The least improvement that counts, not negative. Without a margin a tiny improvement that
        is nearly certain is preferred to a large one that is likely.

    Notes
    -----
    ``P(f > best + margin) = Φ(z)`` with ``z = (μ − best − margin) / σ``.

    Source: Kushner (1964); Jones (2001).

    Examples
    --------
    >>> import numpy as np
    >>> ProbabilityOfImprovement(1.0)(np.asarray([1.0, 2.0]), np.asarray([1.0, 0.0]))
    array([0.5, 1. ])
    """

    def __call__(self, mean: Array, variance: Array) -> Array:
        """Return the probability, (n,), for mean and variance of f, (n,) each.

        Arguments and errors are those of calling an `UpperConfidenceBound`.
        """
        xp, s = self._admitted(mean, variance)
        return xp.where(s.open, xp.exp(log_normal_cdf(s.z)), _step(xp, s.gap))

    def derivatives(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the derivatives by mean, ``φ(z) / σ``, and variance, ``−z φ(z) / 2σ²``; (n,) each.

        Arguments and errors are those of calling the acquisition.
        """
        xp, s = self._admitted(mean, variance)
        return _by_slope(xp, s, _density(xp, s.z))


@dataclass(frozen=True)
class ExpectedImprovement(_Improvement):
    """Expected improvement over the best value and a margin, ``E max(f − best − margin, 0)``.

    Parameters
    ----------
    best : float
        The value to improve on.
    margin : float, default 0.0
        The least improvement that counts, not negative.

    Notes
    -----
    ``σ h(z)`` with ``h(z) = φ(z) + z Φ(z)`` and ``z = (μ − best − margin) / σ``. It underflows to
    zero below z = −38, and with it its derivatives: `LogExpectedImprovement` does not.

    Source: Jones, Schonlau & Welch (1998).

    Examples
    --------
    >>> import numpy as np
    >>> ExpectedImprovement(1.0)(np.asarray([1.0, 3.0]), np.asarray([1.0, 0.0])).round(4)
    array([0.3989, 2.    ])
    """

    def __call__(self, mean: Array, variance: Array) -> Array:
        """Return the improvement, (n,), for mean and variance of f, (n,) each.

        Arguments and errors are those of calling an `UpperConfidenceBound`.
        """
        xp, s = self._admitted(mean, variance)
        near, far = _near(xp, s.z), _far(xp, s.z)
        h = xp.where(s.z > -_TAIL, near.h, xp.exp(far.log_h))
        return xp.where(s.open, s.sd * h, xp.clip(s.gap, 0.0, None))

    def derivatives(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the derivatives by mean, ``Φ(z)``, and by variance, ``φ(z) / 2σ``; (n,) each.

        Arguments and errors are those of calling the acquisition.
        """
        xp, s = self._admitted(mean, variance)
        slope = 0.5 * _density(xp, s.z) / s.sd
        by_mean = xp.where(s.open, xp.exp(log_normal_cdf(s.z)), _step(xp, s.gap))
        return by_mean, xp.where(s.open, slope, xp.zeros_like(slope))


@dataclass(frozen=True)
class LogExpectedImprovement(_Improvement):
    """Logarithm of `ExpectedImprovement`, also where that is zero in floating point.

    Parameters
    ----------
    best, margin
        As in `ExpectedImprovement`.

    Notes
    -----
    ``log σ + log h(z)``. Of the branches of Ament et al. the first, ``log(φ(z) + z Φ(z))``, is
    taken above z = −2. Below it ``h(z) = φ(z) q₁ / (q₁ − z)`` with the continued fraction
    ``q₁ = 1 / (−z + 2 / (−z + 3 / …))`` of Φ: nothing cancels, and far out it is their third,
    ``φ(z) / z²``, by itself. Minus infinity where f is known to be no improvement.

    Source: Ament, Daulton, Eriksson, Balandat & Bakshy (2023); Abramowitz & Stegun (1964), section
    26.2, for the fraction.

    Examples
    --------
    >>> import numpy as np
    >>> LogExpectedImprovement(0.0)(np.asarray([-1000.0]), np.ones(1)).round(2)
    array([-500014.73])
    """

    def __call__(self, mean: Array, variance: Array) -> Array:
        """Return the logarithm, (n,), for mean and variance of f, (n,) each.

        Arguments and errors are those of calling an `UpperConfidenceBound`.
        """
        return self._value(*self._admitted(mean, variance))

    def derivatives(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the derivatives by mean and by variance, (n,) each.

        They are ``Φ(z) / σ h(z)`` and ``φ(z) / 2σ² h(z)``. Arguments and errors are those of
        calling the acquisition.
        """
        return self._derivatives(*self._admitted(mean, variance))

    def with_derivatives(self, mean: Array, variance: Array) -> tuple[Array, tuple[Array, Array]]:
        """Return the logarithm and its derivatives at once: the fractions serve both."""
        _validate(mean, variance)
        return self._with_derivatives(mean, variance)

    def _with_derivatives(self, mean: Array, variance: Array) -> tuple[Array, tuple[Array, Array]]:
        xp = array_namespace(mean)
        s = _standardised(xp, mean, variance, self.best + self.margin)
        tails = _near(xp, s.z), _far(xp, s.z)
        return self._value(xp, s, tails), self._derivatives(xp, s, tails)

    def _value(self, xp: Namespace, s: _Standardised, tails: _Tails | None = None) -> Array:
        near, far = tails or (_near(xp, s.z), _far(xp, s.z))
        log_h = xp.where(s.z > -_TAIL, xp.log(near.h), far.log_h)
        better = s.gap > 0.0
        log_gap = xp.log(xp.where(better, s.gap, xp.ones_like(s.gap)))
        known = xp.where(better, log_gap, xp.full_like(log_gap, -math.inf))
        return xp.where(s.open, xp.log(s.sd) + log_h, known)

    def _derivatives(
        self, xp: Namespace, s: _Standardised, tails: _Tails | None = None
    ) -> tuple[Array, Array]:
        near, far = tails or (_near(xp, s.z), _far(xp, s.z))
        by_mean = xp.where(s.z > -_TAIL, near.cdf / near.h, far.cdf_by_h) / s.sd
        ratio = xp.where(s.z > -_TAIL, near.pdf / near.h, far.pdf_by_h)
        gap = xp.where(s.gap > 0.0, s.gap, xp.ones_like(s.gap))
        by_mean = xp.where(s.open, by_mean, _step(xp, s.gap) / gap)
        return by_mean, xp.where(s.open, 0.5 * ratio / s.sd / s.sd, xp.zeros_like(ratio))


@dataclass(frozen=True)
class LogProbabilityOfImprovement(_Improvement):
    """Logarithm of `ProbabilityOfImprovement`, also where that is zero in floating point.

    Parameters
    ----------
    best, margin
        As in `ExpectedImprovement`.

    Notes
    -----
    ``log Φ(z)`` with ``z = (μ − best − margin) / σ``, and derivatives by ``φ(z) / Φ(z)``, which is
    a continued fraction far below zero. Of a constraint with ``best = 0`` it is the logarithm of
    the probability that it is met.

    Source: Kushner (1964); Abramowitz & Stegun (1964), section 26.2, for the fraction.

    Examples
    --------
    >>> import numpy as np
    >>> LogProbabilityOfImprovement(0.0)(np.asarray([0.0, -100.0]), np.ones(2)).round(2)
    array([-6.90000e-01, -5.00552e+03])
    """

    def __call__(self, mean: Array, variance: Array) -> Array:
        """Return the logarithm, (n,), for mean and variance of f, (n,) each.

        Arguments and errors are those of calling an `UpperConfidenceBound`.
        """
        xp, s = self._admitted(mean, variance)
        sure = xp.where(s.gap > 0.0, xp.zeros_like(s.gap), xp.full_like(s.gap, -math.inf))
        return xp.where(s.open, log_normal_cdf(s.z), sure)

    def derivatives(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the derivatives by the mean and by the variance, (n,) each.

        They are ``φ(z) / σ Φ(z)`` and ``−z φ(z) / 2σ² Φ(z)``. Arguments and errors are those of
        calling the acquisition.
        """
        xp, s = self._admitted(mean, variance)
        return _by_slope(xp, s, hazard(s.z))


@dataclass(frozen=True)
class LogDeviation:
    """``log σ``, largest where f is least known; minus infinity where it is known exactly."""

    def __call__(self, mean: Array, variance: Array) -> Array:
        """Return the logarithm, (n,), for mean and variance of f, (n,) each."""
        xp = array_namespace(mean)
        s = _standardised(xp, mean, variance, 0.0)
        return xp.where(s.open, xp.log(s.sd), xp.full_like(mean, -math.inf))

    def derivatives(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return the derivatives by the mean, 0, and by the variance, ``1 / 2σ²``; (n,) each."""
        xp = array_namespace(mean)
        s = _standardised(xp, mean, variance, 0.0)
        zero = xp.zeros_like(mean)
        return zero, xp.where(s.open, 0.5 / s.sd / s.sd, zero)


def hazard(z: Array) -> Array:
    """``φ(z) / Φ(z)``, the derivative of ``log Φ``; without cancellation far below zero."""
    xp = array_namespace(z)
    near, far = _near(xp, z), _far(xp, z)
    return xp.where(z > -_TAIL, near.pdf / near.cdf, far.pdf_by_h / far.cdf_by_h)


def _validate(mean: Array, variance: Array) -> Namespace:
    """The namespace of a mean and a variance that go together, and whose squares exist."""
    xp = _check.mean_and_variance(mean, variance)
    _check.squarable(mean, "mean")
    _check.squarable(variance, "variance")
    return xp


class _Standardised(NamedTuple):
    """The gap between the mean and a level, in standard deviations as well; `open` is σ > 0."""

    gap: Array
    sd: Array
    z: Array
    open: Array


def _standardised(xp: Namespace, mean: Array, variance: Array, level: float) -> _Standardised:
    info = xp.finfo(mean.dtype)
    widest = float(info.max) ** 0.4  # the square of z is finite
    gap = mean - level
    uncertain = variance >= float(info.smallest_normal)
    sd = xp.sqrt(xp.where(uncertain, variance, xp.ones_like(variance)))
    return _Standardised(gap, sd, xp.clip(gap / sd, -widest, widest), uncertain)


def _step(xp: Namespace, gap: Array) -> Array:
    """One where the gap is positive, else zero."""
    return xp.astype(gap > 0.0, gap.dtype)


def _by_slope(xp: Namespace, s: _Standardised, by_z: Array) -> tuple[Array, Array]:
    """The derivatives by mean and variance of a function of z alone, of those by z."""
    slope = by_z / s.sd
    zero = xp.zeros_like(slope)
    return xp.where(s.open, slope, zero), xp.where(s.open, -0.5 * s.z * slope / s.sd, zero)


def _density(xp: Namespace, z: Array) -> Array:
    return xp.exp(-0.5 * (z * z + LOG_2PI))


class _Near(NamedTuple):
    """Φ, φ and ``h = φ + z Φ`` above −2, where the sum loses less than a digit."""

    cdf: Array
    pdf: Array
    h: Array


def _near(xp: Namespace, z: Array) -> _Near:
    near = xp.clip(z, -_TAIL, None)
    cdf = xp.exp(log_normal_cdf(near))
    pdf = _density(xp, near)
    return _Near(cdf, pdf, pdf + near * cdf)


class _Far(NamedTuple):
    """``log h``, ``Φ / h`` and ``φ / h`` below −2."""

    log_h: Array
    cdf_by_h: Array
    pdf_by_h: Array


def _far(xp: Namespace, z: Array) -> _Far:
    """With x = −z and ``qₖ = k / (x + qₖ₊₁)``: ``Φ = φ / (x + q₁)``, so that
    ``h = φ − x Φ = φ q₁ / (x + q₁)``, ``Φ / h = 1 / q₁ = x + q₂``, ``φ / h = (x + q₁)(x + q₂)``."""
    x = xp.clip(-z, _TAIL, None)
    if is_numpy_namespace(xp) and not bool(xp.any(x > _TAIL)):
        x = x[:1]  # nobody asks; one entry is broadcast to all
    q1, q2, _ = mills_fractions(x)
    log_h = xp.log(q1 / (x + q1)) - 0.5 * (x * x + LOG_2PI)
    return _Far(log_h, x + q2, (x + q1) * (x + q2))


_Tails: TypeAlias = tuple[_Near, _Far]
