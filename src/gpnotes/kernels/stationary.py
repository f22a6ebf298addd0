"""Stationary kernels: functions of ``q = Σ_d (x_d − z_d)² / ℓ_d²``, with a length per dimension.

Everything is differentiated in q, not in the distance: all but Matérn-1/2 are smooth in q at
zero. Each class brings ``_profile(q)`` and its derivative ``_slope(q)``; the rest is shared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .._xp import Array, array_namespace
from ..linalg import centroid, squared_distances, squared_distances_pullback
from ..params import cotangent, positive
from .base import Kernel
from .sums import per_dimension, total

__all__ = ["RBF", "Matern12", "Matern32", "Matern52", "RationalQuadratic"]


def _scaled(kernel: Any, x: Array, z: Array | None) -> tuple[Array, Array | None]:
    """Inputs in units of the lengthscale, centred: only differences matter."""
    centre = centroid(x)
    u = (x - centre) / kernel.lengthscale
    return u, None if z is None else (z - centre) / kernel.lengthscale


def _gram(kernel: Any, x: Array, z: Array | None) -> Array:
    return kernel.variance * kernel._profile(_distances(*_scaled(kernel, x, z)))


def _diag(kernel: Any, x: Array) -> Array:
    return array_namespace(x).full_like(x[:, 0], kernel.variance)


def _pull(kernel: Any, x: Array, z: Array | None, K_bar: Array) -> tuple[Any, Array, Array | None]:
    u, v = _scaled(kernel, x, z)
    q = _distances(u, v)
    bars = kernel._shape_bars(q, K_bar)
    bars["variance"] = total(K_bar * kernel._profile(q))
    q_bar = kernel.variance * K_bar * kernel._slope(q)
    q_bar[q == 0.0] = 0.0  # points that coincide stay so to first order; their sums would only blur
    u_bar, v_bar = squared_distances_pullback(u, v, q_bar)
    # u = x / ℓ: x_bar = u_bar / ℓ and ℓ_bar = −Σ u_bar u / ℓ
    moved = u_bar * u if v is None else array_namespace(x).concat([u_bar * u, v_bar * v], axis=0)
    bars["lengthscale"] = per_dimension(-moved / kernel.lengthscale, kernel.lengthscale)
    z_bar = None if v_bar is None else v_bar / kernel.lengthscale
    return cotangent(kernel, **bars), u_bar / kernel.lengthscale, z_bar


def _pull_diag(kernel: Any, x: Array, d_bar: Array) -> tuple[Any, Array]:
    xp = array_namespace(x)
    bars = kernel._shape_bars(d_bar[:, None] * 0.0, d_bar[:, None])
    bars["lengthscale"] = per_dimension(xp.zeros_like(x), kernel.lengthscale)
    return cotangent(kernel, variance=total(d_bar), **bars), xp.zeros_like(x)


def _distances(u: Array, v: Array | None) -> Array:
    """`squared_distances`, finite where they overflow: infinity times a zero would be NaN."""
    xp, q = array_namespace(u), squared_distances(u, v)
    top = float(xp.finfo(u.dtype).max)
    if max(map(_widest, (u, u if v is None else v))) > 1e-3 * math.sqrt(top):
        return xp.clip(q, None, 1e-2 * top)
    return q


def _widest(u: Array) -> float:
    return float(array_namespace(u).max(array_namespace(u).abs(u))) if u.shape[0] else 0.0


def _no_shape_bars(kernel: Any, q: Array, K_bar: Array) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, repr=False, eq=False)
class RBF(Kernel):
    """The squared exponential kernel; its functions have derivatives of every order.

    ``k(x, z) = σ_f² exp(−q/2)``. `variance` is σ_f², `lengthscale` ℓ: a float or an array (d,).
    Source: Rasmussen & Williams (2006), equation 4.9 (one length) and 5.1 (one per dimension).

    >>> import numpy as np
    >>> RBF(variance=2.0)(np.asarray([[0.0], [1.0]])).round(4)
    array([[2.    , 1.2131],
           [1.2131, 2.    ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Any = positive(1.0, per_dimension=True, unit="x")

    _gram, _diag, _pull, _pull_diag = _gram, _diag, _pull, _pull_diag
    _shape_bars = _no_shape_bars

    def _profile(self, q: Array) -> Array:
        return array_namespace(q).exp(-0.5 * q)

    def _slope(self, q: Array) -> Array:
        return -0.5 * array_namespace(q).exp(-0.5 * q)


@dataclass(frozen=True, repr=False, eq=False)
class Matern12(Kernel):
    """The exponential kernel, Matérn with ν = 1/2; its functions are continuous and rough.

    ``k(x, z) = σ_f² exp(−√q)``. It has a kink where two points coincide. There the derivative by
    the inputs is taken as zero: the mean of the one-sided ones, and exact on the diagonal of a
    matrix of x with itself, where k is constant; the derivative by the lengthscale is zero anyway.
    Source: Rasmussen & Williams (2006), section 4.2.1.

    >>> import numpy as np
    >>> Matern12()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Any = positive(1.0, per_dimension=True, unit="x")

    _gram, _diag, _pull, _pull_diag = _gram, _diag, _pull, _pull_diag
    _shape_bars = _no_shape_bars

    def _profile(self, q: Array) -> Array:
        xp = array_namespace(q)
        return xp.exp(-xp.sqrt(q))

    def _slope(self, q: Array) -> Array:
        xp = array_namespace(q)
        r = xp.sqrt(q)
        apart = xp.astype(r > 0.0, r.dtype)
        return -0.5 * apart * xp.exp(-r) / (r + (1.0 - apart))


@dataclass(frozen=True, repr=False, eq=False)
class Matern32(Kernel):
    """The Matérn kernel with ν = 3/2; its functions have one derivative.

    ``k(x, z) = σ_f² (1 + s) exp(−s)`` with ``s = √(3q)``.
    Source: Rasmussen & Williams (2006), equation 4.17.

    >>> import numpy as np
    >>> Matern32()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 0.4834],
           [0.4834, 1.    ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Any = positive(1.0, per_dimension=True, unit="x")

    _gram, _diag, _pull, _pull_diag = _gram, _diag, _pull, _pull_diag
    _shape_bars = _no_shape_bars

    def _profile(self, q: Array) -> Array:
        s = math.sqrt(3.0) * array_namespace(q).sqrt(q)
        return (1.0 + s) * array_namespace(q).exp(-s)

    def _slope(self, q: Array) -> Array:
        xp = array_namespace(q)
        return -1.5 * xp.exp(-math.sqrt(3.0) * xp.sqrt(q))


@dataclass(frozen=True, repr=False, eq=False)
class Matern52(Kernel):
    """The Matérn kernel with ν = 5/2; its functions have two derivatives.

    ``k(x, z) = σ_f² (1 + s + s²/3) exp(−s)`` with ``s = √(5q)``.
    Source: Rasmussen & Williams (2006), equation 4.17.

    >>> import numpy as np
    >>> Matern52()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.   , 0.524],
           [0.524, 1.   ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Any = positive(1.0, per_dimension=True, unit="x")

    _gram, _diag, _pull, _pull_diag = _gram, _diag, _pull, _pull_diag
    _shape_bars = _no_shape_bars

    def _profile(self, q: Array) -> Array:
        s = math.sqrt(5.0) * array_namespace(q).sqrt(q)
        return (1.0 + s + s * s / 3.0) * array_namespace(q).exp(-s)

    def _slope(self, q: Array) -> Array:
        s = math.sqrt(5.0) * array_namespace(q).sqrt(q)
        return -5.0 / 6.0 * (1.0 + s) * array_namespace(q).exp(-s)


@dataclass(frozen=True, repr=False, eq=False)
class RationalQuadratic(Kernel):
    """A scale mixture of squared exponential kernels; RBF in the limit of large `alpha`.

    ``k(x, z) = σ_f² (1 + q / 2α)^(−α)``, the third of the kernels in :eq:`eq-fv-co2-kernel`.
    Source: Rasmussen & Williams (2006), section 4.2.1.

    >>> import numpy as np
    >>> RationalQuadratic(alpha=0.5)(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Any = positive(1.0, per_dimension=True, unit="x")
    alpha: float = positive(1.0)

    _gram, _diag, _pull, _pull_diag = _gram, _diag, _pull, _pull_diag

    def _profile(self, q: Array) -> Array:
        xp = array_namespace(q)
        return xp.exp(-self.alpha * xp.log1p(q / (2.0 * self.alpha)))

    def _slope(self, q: Array) -> Array:
        return -0.5 * self._profile(q) / (1.0 + q / (2.0 * self.alpha))

    def _shape_bars(self, q: Array, K_bar: Array) -> dict[str, Any]:
        # ∂k/∂α = k (t / (1 + t) − log(1 + t)) with t = q / 2α
        t = array_namespace(q).clip(q / (2.0 * self.alpha), None, 1e30)
        bend = t / (1.0 + t) - array_namespace(q).log1p(t)
        return {"alpha": self.variance * total(K_bar * self._profile(q) * bend)}
