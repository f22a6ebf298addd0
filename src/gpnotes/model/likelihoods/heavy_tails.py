"""Observations with outliers: noise whose density falls by a power, Student's t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ...ground.params import cotangent, positive, settle
from ...ground.xp import LOG_2PI, Array, array_namespace
from .base import Bars, LikelihoodBase
from .counts import digamma_rise, log_gamma_rise

__all__ = ["StudentT"]

_FAR = 1e9  # times 1 + ν: from there ``log(1 + u²/ν)`` is ``2 log |u| − log ν`` to rounding


@dataclass(frozen=True)
class StudentT(LikelihoodBase):
    """Noise with outliers, ``y = f + scale · t`` with t of Student's distribution.

    All methods work entry by entry on arrays of one shape, as in `LikelihoodBase`.

    Parameters
    ----------
    scale : float, default 1.0
        The scale of the noise, positive, in the units of y.
    dof : float, default 4.0
        ν, the degrees of freedom, positive.

    Notes
    -----
    ``log p(y | f) = c − ½ (ν + 1) log(1 + u²/ν)`` with ``u = (y − f) / scale``, whose constant c
    is ``log Γ((ν + 1)/2) − log Γ(ν/2) − ½ log πν − log scale``. It is not log-concave in f: beyond
    ``|u| = √ν`` its second derivative is positive, and an observation that lies there says less
    the farther it is off: a posterior may have several modes: Laplace's method takes the
    one uphill from the prior mean, and a variational process another. The variance of y is
    infinite for ν up to 2, and so is then that of `predict`; up to ν = 1, where y has no mean
    either, its mean is the median.

    `expected_log_density`, and so the bound of `svgp`, averages by a rule with fixed nodes, which
    wants f known no worse than y: for ν from 1 to 30 and a scale of 1, 0.5, 0.3, 0.1 and 0.01
    standard deviations of f, 20 nodes are off by up to 1e-4, 0.007, 0.04, 0.2 and 5 nats, 100
    nodes by 1e-9, 1e-5, 6e-4, 0.03 and 1. That may be upwards: the bound is then none.
    `log_predictive` has no such limit.

    Examples
    --------
    >>> import numpy as np
    >>> noise = StudentT(scale=1.0, dof=4.0)
    >>> noise.log_density(np.asarray([0.0, 10.0]), np.asarray([0.0, 0.0])).round(4)
    array([-0.9808, -9.1261])
    >>> noise.predict(np.asarray([2.0]), np.asarray([0.5]))
    (array([2.]), array([2.5]))
    """

    scale: float = positive(1.0, unit="y")
    dof: float = positive(4.0)

    def __post_init__(self) -> None:
        settle(self)

    @property
    def _unit(self) -> float:
        return self.scale

    def _log_density(self, y: Array, f: Array) -> Array:
        u = (y - f) / self.scale
        half = 0.5 * (self.dof + 1.0)
        constant = log_gamma_rise(0.5 * self.dof, 0.5) - 0.5 * LOG_2PI - math.log(self.scale)
        return constant - half * self._log_one_plus(u)

    def _log_one_plus(self, u: Array) -> Array:
        """``log(1 + u²/ν)``, by the logarithm of |u| where u² might overflow, and 1 is lost."""
        xp = array_namespace(u)
        far = xp.abs(u) > _FAR * (1.0 + self.dof)
        near = xp.log1p(xp.where(far, xp.zeros_like(u), u) ** 2 / self.dof)
        distance = xp.where(far, xp.abs(u), xp.ones_like(u))
        return xp.where(far, 2.0 * xp.log(distance) - math.log(self.dof), near)

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """With ``D = ν + u²`` and ``g = (ν + 1)/D``, in units of the scale:

        ``g u``, ``g (u² − ν)/D`` and ``2 g u (u² − 3ν)/D²``, where ``(u² − ν)/D = 1 − 2ν/D``
        and ``(u² − 3ν)/D = 1 − 4ν/D`` need no power of u that overflows.
        """
        u = self._units(y, f)
        D = self.dof + u * u
        g = (self.dof + 1.0) / D
        second = g * (1.0 - 2.0 * self.dof / D)
        third = 2.0 * g * (u / D) * (1.0 - 4.0 * self.dof / D)
        return g * u / self.scale, second / self.scale**2, third / self.scale**3

    def _units(self, y: Array, f: Array) -> Array:
        """``(y − f)/scale``, cut where derivatives are as good as zero: its square is finite."""
        xp = array_namespace(f)
        most = 0.1 * float(xp.finfo(f.dtype).max) ** 0.5
        return xp.clip((y - f) / self.scale, -most, most)

    def _value_and_slope(self, y: Array, f: Array) -> tuple[Array, Array]:
        u = self._units(y, f)
        slope = (self.dof + 1.0) * u / (self.dof + u * u) / self.scale
        return self._log_density(y, f), slope

    def _slope(self, y: Array, f: Array) -> Array:
        return self._value_and_slope(y, f)[1]

    def _bar(self, y: Array, f: Array, bar: Array) -> Self:
        xp = array_namespace(f)
        by_scale, by_dof = self._by_scale_and_dof(y, f)
        return cotangent(self, scale=float(xp.sum(bar * by_scale)), dof=float(xp.sum(bar * by_dof)))

    def _by_scale_and_dof(self, y: Array, f: Array) -> tuple[Array, Array]:
        """``∂/∂scale = (g u² − 1)/scale``, and by ν half of

        ``ψ((ν + 1)/2) − ψ(ν/2) − 1/ν − log(1 + u²/ν) + g u²/ν``.
        """
        nu, u = self.dof, self._units(y, f)
        pulled = (nu + 1.0) * u * u / (nu + u * u)
        constant = digamma_rise(0.5 * nu, 0.5) - 1.0 / nu
        by_dof = constant - self._log_one_plus((y - f) / self.scale) + pulled / nu
        return (pulled - 1.0) / self.scale, 0.5 * by_dof

    def _derivatives_bar(self, y: Array, f: Array, bars: Bars) -> Self:
        """With ``D = ν + u²`` and ``g = (ν + 1)/D``, in units of the scale:

        ``∂ℓ′/∂scale = −2 ν g u/D`` and ``∂ℓ″/∂scale = 2 ν g (ν − 3u²)/D²``, by ν
        ``∂ℓ′/∂ν = u (u² − 1)/D²`` and ``∂ℓ″/∂ν = ((u² − 2ν − 1) − 2 g (u² − ν))/D²``; a fraction
        of D is 1 less a multiple of 1/D, as in `_derivatives`.
        """
        nu, scale = self.dof, self.scale
        u = self._units(y, f)
        D = nu + u * u
        g = (nu + 1.0) / D
        by_scale, by_dof = self._by_scale_and_dof(y, f)
        first_by_scale, second_by_scale = -2.0 * g * u / D, 2.0 * g / D * (4.0 * nu / D - 3.0)
        first_by_dof = u / D * (1.0 - (nu + 1.0) / D)
        second_by_dof = (1.0 - (3.0 * nu + 1.0) / D - 2.0 * g * (1.0 - 2.0 * nu / D)) / D
        return cotangent(
            self,
            scale=bars.total(
                by_scale, nu * first_by_scale / scale**2, nu * second_by_scale / scale**3
            ),
            dof=bars.total(by_dof, first_by_dof / scale, second_by_dof / scale**2),
        )

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        ratio = self.dof / (self.dof - 2.0) if self.dof > 2.0 else math.inf
        return mean, variance + self.scale**2 * ratio
