"""The periodic kernel: a squared exponential on circles, one circle per input dimension.

Column d of x is wrapped onto a circle, ``φ = (cos 2πx_d/p_d, sin 2πx_d/p_d) / ℓ_d``. The squared
distance of two such points is ``q = Σ_d 4 sin²(π(x_d − z_d)/p_d) / ℓ_d²``, and ``exp(−q/2)`` is
an RBF of the wrapped inputs: positive semidefinite in any dimension, which ``sin²`` of a distance
is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ...ground.distances import _centroid, _squared_distances, _squared_distances_pullback
from ...ground.params import cotangent, positive
from ...ground.xp import Array, Matrix, Numbers, Vector, array_namespace, zero_where
from .algebra import Kernel
from .pullback_sums import per_dimension, total

__all__ = ["Periodic"]


@dataclass(frozen=True)
class Periodic(Kernel):
    """Functions that repeat: ``k(x, z) = σ_f² exp(−2 Σ_d sin²(π(x_d − z_d)/p_d) / ℓ_d²)``.

    For one input it is [eq-ke-periodic].

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.
    lengthscale : float or Vector, shape (d,), default 1.0
        ℓ, positive, in units of the circle, not of x: one, or one per dimension.
    period : float or Vector, shape (d,), default 1.0
        p, positive: one, or one per dimension.

    Notes
    -----
    Source: MacKay (1998), Introduction to Gaussian processes, equation 47; Rasmussen & Williams
    (2006), section 4.2.3, in one dimension with the period 2π.

    Examples
    --------
    >>> import numpy as np
    >>> Periodic(period=2.0)(np.asarray([[0.0], [1.0], [2.0]])).round(4)
    array([[1.    , 0.1353, 1.    ],
           [0.1353, 1.    , 0.1353],
           [1.    , 0.1353, 1.    ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Numbers = positive(1.0, per_dimension=True)
    period: Numbers = positive(1.0, per_dimension=True, unit="x")

    @property
    def of_pairs(self) -> bool:
        """True, but for a subclass."""
        return type(self) is Periodic

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        centre = _centroid(x, self.period)
        v = None if z is None else self._wrap(z - centre)
        return self.variance * _profile(_squared_distances(self._wrap(x - centre), v))

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.variance)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        centre = _centroid(x, self.period)
        x = x - centre
        z = None if z is None else z - centre
        u = self._wrap(x)
        v = None if z is None else self._wrap(z)
        q = _squared_distances(u, v)
        weighted = K_bar * _profile(q)
        variance_bar = total(weighted)
        weighted = zero_where(q == 0.0, weighted)  # as in the stationary kernels
        u_bar, v_bar = _squared_distances_pullback(u, v, -0.5 * self.variance * weighted)
        bar, x_bar = self._unwrap(x, u, u_bar, variance_bar)
        if z is None or v is None or v_bar is None:
            return bar, x_bar, None
        other, z_bar = self._unwrap(z, v, v_bar, 0.0)
        lengthscale_bar = bar.lengthscale + other.lengthscale
        period_bar = bar.period + other.period
        return cotangent(bar, lengthscale=lengthscale_bar, period=period_bar), x_bar, z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        zeros = array_namespace(x).zeros_like(x)
        return self._bar(total(d_bar), zeros, zeros), zeros

    def _wrap(self, x: Array) -> Array:
        xp = array_namespace(x)
        angle = (2.0 * math.pi / self.period) * x
        return xp.concat(
            [xp.cos(angle) / self.lengthscale, xp.sin(angle) / self.lengthscale], axis=1
        )

    def _unwrap(self, x: Array, u: Array, u_bar: Array, variance_bar: float) -> tuple[Self, Matrix]:
        """The pullback of `_wrap`: u = (c, s) with c' = −s and s' = c by the angle."""
        d = x.shape[1]
        cos, sin = u[:, :d], u[:, d:]
        cos_bar, sin_bar = u_bar[:, :d], u_bar[:, d:]
        x_bar = (cos * sin_bar - sin * cos_bar) * (2.0 * math.pi / self.period)
        # the angle is x/p, the length 1/ℓ: ℓ_bar = −Σ u_bar u / ℓ and p_bar = −Σ x_bar x / p
        lengths = -(cos * cos_bar + sin * sin_bar) / self.lengthscale
        return self._bar(variance_bar, lengths, -x_bar * x / self.period), x_bar

    def _bar(self, variance_bar: float, lengths: Array, periods: Array) -> Self:
        return cotangent(
            self,
            variance=variance_bar,
            lengthscale=per_dimension(lengths, self.lengthscale),
            period=per_dimension(periods, self.period),
        )


def _profile(q: Array) -> Array:
    return array_namespace(q).exp(-0.5 * q)
