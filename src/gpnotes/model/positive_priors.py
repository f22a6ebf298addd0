"""Priors on positive parameters: lengthscales, variances, the noise.

Each is a density of the parameter in its own units, not of its logarithm, as `gpnotes.fit` wants.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Any, Self

from ..ground import check as _check
from ..ground.xp import Numbers, array_namespace, gamma_tail, root_of
from .contracts import Value

__all__ = [
    "GammaPrior", "HalfCauchyPrior", "HalfNormalPrior", "InverseGammaPrior", "SAASPrior",
]  # fmt: skip

_LOG_2_OVER_PI = math.log(2.0 / math.pi)


@dataclass(frozen=True)
class _PositivePrior:
    """A prior with a density on the positive numbers; its parameters are positive too."""

    def __post_init__(self) -> None:
        for field in fields(self):
            given = _check.number(getattr(self, field.name), field.name)
            object.__setattr__(self, field.name, _check.positive(given, field.name))

    def log_density(self, value: Numbers) -> float:
        """Evaluate the log density, summed over the entries.

        Parameters
        ----------
        value : float or Vector, shape (d,)
            The parameter, positive, in its own units.
        """
        terms = self._log_terms(_check.positive(value, "value"), _log(value))
        return terms if isinstance(terms, float) else float(array_namespace(terms).sum(terms))

    def gradient(self, value: Value) -> Value:
        """Differentiate `log_density` by the value.

        Parameters
        ----------
        value : float or Vector, shape (d,)
            The parameter, positive, in its own units.

        Returns
        -------
        float or Vector, shape (d,)
            The derivative, of the value's type.
        """
        slopes: Value = self._slope(_check.positive(value, "value"), _log(value))
        return slopes

    @abstractmethod
    def _log_terms(self, value: Numbers, log: Numbers) -> Numbers:
        """The log density of each entry, from the value and its logarithm."""

    @abstractmethod
    def _slope(self, value: Value, log: Value) -> Value:
        """Its derivative by the value."""


@dataclass(frozen=True)
class GammaPrior(_PositivePrior):
    """A gamma prior: the density is in proportion to ``v^(shape − 1) exp(−rate v)``.

    Its mean is ``shape / rate``, its variance ``shape / rate²``.

    Parameters
    ----------
    shape : float
        Positive; above 1 the density is zero at zero.
    rate : float
        Positive, in one over the units of the parameter.

    Examples
    --------
    >>> round(GammaPrior(1.0, 2.0).log_density(1.0), 4)
    -1.3069
    """

    shape: float
    rate: float

    def _log_terms(self, value: Numbers, log: Numbers) -> Numbers:
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return constant + (self.shape - 1.0) * log - self.rate * value

    def _slope(self, value: Value, log: Value) -> Value:
        return (self.shape - 1.0) / value - self.rate


@dataclass(frozen=True)
class InverseGammaPrior(_PositivePrior):
    """An inverse gamma prior: the density is in proportion to ``v^(−shape − 1) exp(−scale / v)``.

    It vanishes at zero faster than any power, and falls slowly above, as suits a lengthscale,
    about which the readings say nothing below their least distance.

    Parameters
    ----------
    shape : float
        Positive.
    scale : float
        Positive, in the units of the parameter; the mode is ``scale / (shape + 1)``.

    Examples
    --------
    >>> round(InverseGammaPrior(2.0, 3.0).log_density(1.0), 4)
    -0.8028
    """

    shape: float
    scale: float

    @classmethod
    def between(cls, low: float, high: float, mass: float = 0.98) -> Self:
        """Return the prior that has a mass between two values, and half of the rest on each side.

        Parameters
        ----------
        low, high : float
            The values, ``0 < low < high``: of inputs the least distance and the range, say.
        mass : float, default 0.98
            The probability of the interval between them.

        Raises
        ------
        ValueError
            If the values are not in order, or so near to each other or so far apart that no shape
            between 1e-3 and 1e6 will do.

        Notes
        -----
        With ``Q`` the upper tail of the gamma distribution, ``P(v < x) = Q(shape, scale / x)``; the
        ratio of both ends is a function of the shape alone, and falls.

        Examples
        --------
        >>> prior = InverseGammaPrior.between(0.1, 2.0)
        >>> round(prior.shape, 3), round(prior.scale, 3)
        (2.939, 0.83)
        """
        low = _check.positive(_check.number(low, "low"), "low")
        high = _check.positive(_check.number(high, "high"), "high")
        mass = _check.number(mass, "mass")
        if not 0.0 < mass < 1.0:
            raise ValueError(f"mass must be between 0 and 1; got {mass}")
        if low >= high:
            raise ValueError(f"high must be above low, {low}; got {high}")
        outside = 0.5 * (1.0 - mass)
        wanted = math.log(high) - math.log(low)

        def excess(log_shape: float) -> float:
            at_low, at_high = (gamma_tail(math.exp(log_shape), p) for p in (outside, 1.0 - outside))
            return math.log(at_low) - math.log(at_high) - wanted if at_high > 0.0 else math.inf

        shape = root_of(excess, math.log(1e-3), math.log(1e6))
        if shape is None:
            asked = f"low and high must have a prior with mass {mass} between them"
            raise ValueError(f"{asked}; got {low} and {high}")
        return cls(math.exp(shape), low * gamma_tail(math.exp(shape), outside))

    def _log_terms(self, value: Numbers, log: Numbers) -> Numbers:
        constant = self.shape * math.log(self.scale) - math.lgamma(self.shape)
        return constant - (self.shape + 1.0) * log - self.scale / value

    def _slope(self, value: Value, log: Value) -> Value:
        return (self.scale / value - self.shape - 1.0) / value


@dataclass(frozen=True)
class HalfNormalPrior(_PositivePrior):
    """A half-normal prior: the size of a normal number with mean 0, ``N(0, sd²)``.

    Parameters
    ----------
    sd : float
        Positive, in the units of the parameter.

    Examples
    --------
    >>> round(HalfNormalPrior(1.0).log_density(1.0), 4)
    -0.7258
    """

    sd: float

    def _log_terms(self, value: Numbers, log: Numbers) -> Numbers:
        z = value / self.sd
        return 0.5 * _LOG_2_OVER_PI - math.log(self.sd) - 0.5 * z * z

    def _slope(self, value: Value, log: Value) -> Value:
        return -(value / self.sd) / self.sd


@dataclass(frozen=True)
class HalfCauchyPrior(_PositivePrior):
    """A half-Cauchy prior: half of it lies below `scale`, and its heavy tail rules nothing out.

    Parameters
    ----------
    scale : float
        Positive, in the units of the parameter: the median.

    Notes
    -----
    As ``p(v) ∝ 1 / (1 + (v / scale)²)`` falls like ``v⁻²``, it has no mean.

    Examples
    --------
    >>> round(HalfCauchyPrior(1.0).log_density(1.0), 4)
    -1.1447
    """

    scale: float

    def _log_terms(self, value: Numbers, log: Numbers) -> Numbers:
        log_scale = math.log(self.scale)
        return _LOG_2_OVER_PI - log_scale - _log_one_plus_square(log - log_scale)

    def _slope(self, value: Value, log: Value) -> Value:
        return -2.0 * _share_of_square(log - math.log(self.scale)) / value


@dataclass(frozen=True)
class SAASPrior(_PositivePrior):
    """The prior of sparse axis-aligned subspaces, on lengthscales: ``ℓ⁻²`` is half-Cauchy.

    With many inputs and few readings: most lengthscales stay long, so that their inputs do nothing,
    and a few may be as short as the readings ask, since the tail rules no ``ℓ⁻²`` out. It is
    the counterpart for inputs of a process of the horseshoe for weights of a regression.

    Parameters
    ----------
    shrinkage : float, default 0.1
        The median of ``ℓ⁻²``, of inputs that are scaled to a box of sides 1: the smaller, the fewer
        inputs matter. Here it is a number; a further level, with a prior of its own on it, is not
        here.

    Notes
    -----
    By the change of variables from ``ρ = ℓ⁻²``, with ``|dρ/dℓ| = 2 ℓ⁻³``, the density is
    ``p(ℓ) = 4 / (π shrinkage) · ℓ⁻³ / (1 + ρ² / shrinkage²)``. Its mode is at
    ``ℓ² = 1 / (√3 shrinkage)``, and there a fit, which takes a maximum, is pulled: it is a prior
    for draws of the hyperparameters, as by `samplers.NUTS`.

    Source: Eriksson & Jankowiak (2021), *High-dimensional Bayesian optimization with sparse
    axis-aligned subspaces*, whose shrinkage has a half-Cauchy prior of its own.

    Examples
    --------
    >>> round(SAASPrior(1.0).log_density(1.0), 4)
    -0.4516
    """

    shrinkage: float = 0.1

    def _log_terms(self, value: Numbers, log: Numbers) -> Numbers:
        log_shrinkage = math.log(self.shrinkage)
        constant = math.log(4.0 / math.pi) - log_shrinkage
        return constant - 3.0 * log - _log_one_plus_square(-2.0 * log - log_shrinkage)

    def _slope(self, value: Value, log: Value) -> Value:
        return (4.0 * _share_of_square(-2.0 * log - math.log(self.shrinkage)) - 3.0) / value


def _log(value: Any) -> Any:
    return math.log(value) if isinstance(value, int | float) else array_namespace(value).log(value)


def _log_one_plus_square(log: Numbers) -> Numbers:
    """``log(1 + t²)`` from ``log t``, where squares may overflow."""
    if isinstance(log, float):
        return max(2.0 * log, 0.0) + math.log1p(math.exp(-abs(2.0 * log)))
    xp = array_namespace(log)
    small = xp.log1p(xp.exp(-xp.abs(2.0 * log)))
    return small + xp.where(log > 0.0, 2.0 * log, xp.zeros_like(log))


def _share_of_square(log: Value) -> Value:
    """``t² / (1 + t²)`` from ``log t``."""
    if isinstance(log, float):
        least = math.exp(-abs(2.0 * log))
        return (1.0 if log > 0.0 else least) / (1.0 + least)
    xp = array_namespace(log)
    small = xp.exp(-xp.abs(2.0 * log))
    return xp.where(log > 0.0, xp.ones_like(small), small) / (1.0 + small)
