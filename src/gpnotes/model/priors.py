"""Priors on parameters: log densities and their derivatives, of floats and of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.xp import LOG_2PI, Numbers, array_namespace
from .contracts import Value

__all__ = ["LogNormalPrior", "NormalPrior"]


@dataclass(frozen=True)
class NormalPrior:
    """A normal prior: a parameter, or each entry of one, is ``N(mean, sd²)``.

    Parameters
    ----------
    mean : float, default 0.0
        The mean.
    sd : float, default 1.0
        The standard deviation, positive.

    Examples
    --------
    >>> round(NormalPrior(0.0, 1.0).log_density(0.0), 4)
    -0.9189
    """

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        _settle_prior(self)

    def log_density(self, value: Numbers) -> float:
        """Evaluate ``−½ ((value − mean)/sd)² − log sd − ½ log 2π``, summed over the entries.

        Parameters
        ----------
        value : float or Vector, shape (d,)
            The parameter, in its own units.
        """
        return _log_normal(_check.finite(value, "value"), self.mean, self.sd)

    def gradient(self, value: Value) -> Value:
        """Differentiate `log_density` by the value.

        Parameters
        ----------
        value : float or Vector, shape (d,)
            The parameter, in its own units.

        Returns
        -------
        float or Vector, shape (d,)
            The derivative, of the value's type.
        """
        return -(_check.finite(value, "value") - self.mean) / self.sd / self.sd


@dataclass(frozen=True)
class LogNormalPrior:
    """A log-normal prior: the logarithm of a parameter, or of each entry, is ``N(mean, sd²)``.

    Parameters
    ----------
    mean : float, default 0.0
        The mean of the logarithm.
    sd : float, default 1.0
        The standard deviation of the logarithm, positive.

    Examples
    --------
    >>> round(LogNormalPrior(0.0, 1.0).log_density(1.0), 4)
    -0.9189
    """

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        _settle_prior(self)

    def log_density(self, value: Numbers) -> float:
        """Evaluate the log density by the value itself: that of its logarithm, less ``log value``.

        Parameters
        ----------
        value : float or Vector, shape (d,)
            The parameter, positive, in its own units.
        """
        log = _log(_check.positive(value, "value"))
        return _log_normal(log, self.mean, self.sd) - _sum(log)

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
        log = _log(_check.positive(value, "value"))
        return (-(log - self.mean) / self.sd / self.sd - 1.0) / value


def _settle_prior(prior: NormalPrior | LogNormalPrior) -> None:
    object.__setattr__(prior, "mean", _check.number(prior.mean, "mean"))
    object.__setattr__(prior, "sd", _check.positive(_check.number(prior.sd, "sd"), "sd"))


def _log_normal(value: Numbers, mean: float, sd: float) -> float:
    z = (value - mean) / sd
    return _sum(-0.5 * z * z - math.log(sd) - 0.5 * LOG_2PI)


def _log(value: Any) -> Any:
    if isinstance(value, int | float):
        return math.log(value)
    return np.log(value) if type(value) is np.ndarray else array_namespace(value).log(value)


def _sum(terms: Numbers) -> float:
    if isinstance(terms, float):
        return terms
    xp = np if type(terms) is np.ndarray else array_namespace(terms)
    return float(xp.sum(terms))
