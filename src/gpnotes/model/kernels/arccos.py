"""Arc-cosine kernels: those of a layer of infinitely many random neurons.

With ``u = (√v ⊙ x, √b)``, θ the angle between u(x) and u(z), and ``r = |u(x)|``, ``s = |u(z)|``,
``k(x, z) = σ_f² rⁿ sⁿ Jₙ(θ)/π``. In ``c = cos θ`` the angular part is smooth for n ≥ 1:
``dJₙ/dc = n² Jₙ₋₁``, while ``dJ₀/dc = 1/sin θ``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground.distances import _squared_distances
from ...ground.params import cotangent, fixed, positive
from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    symmetric_part,
    whole_power,
)
from .algebra import Kernel
from .base import require_power
from .pullback_sums import per_dimension, total

__all__ = ["ArcCosine"]


@dataclass(frozen=True)
class ArcCosine(Kernel):
    """A layer of infinitely many neurons: ``k(x, z) = σ_f² rⁿ sⁿ Jₙ(θ)/π``, [eq-ke-arccos].

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive. From order 1 on, it only repeats the scale of the other two: hold it fixed
        in a fit.
    weight_variance : float or Vector, shape (d,), default 1.0
        v, positive: the variance of the weights, one for all or one per dimension.
    bias_variance : float, default 1.0
        b, positive: the variance of the offsets.
    order : int, default 1
        n: 0 for neurons that are a step, 1 for a ramp, 2 for the square of a ramp; it is not
        fitted.

    Notes
    -----
    It is ``2 E[g(w·x + c) g(w·z + c)]`` with weights ``w_d ~ N(0, v_d)`` and offsets
    ``c ~ N(0, b)``, for the step ``g(t) = 1[t > 0]`` (`order` 0), the ramp ``max(t, 0)`` (1), or
    its square (2), times σ_f². The derivative by an input at a kink of order 0, where two inputs
    coincide, is zero. Inputs so large that ``|u|²ⁿ`` overflows, ``|u|²`` of order 0, are refused.
    Source: Cho & Saul (2009), without the offset.

    Examples
    --------
    >>> import numpy as np
    >>> ArcCosine()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 1.0683],
           [1.0683, 2.    ]])
    """

    variance: float = positive(1.0, unit="y², of order 0")
    weight_variance: Numbers = positive(1.0, per_dimension=True, unit="y^(2/n)/x²")
    bias_variance: float = positive(1.0, unit="y^(2/n)")
    order: int = fixed(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "order", _check.whole(self.order, "ArcCosine.order", 0, 2))

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        # k(x, x) = 3 σ_f² |u|⁴ of order 2, and its derivatives are some times as large
        room = 64.0 * max(self.variance, 1.0)
        scale, bias = self.weight_variance, self.bias_variance
        require_power(x, name, max(self.order, 1), scale=scale, bias=bias, room=room)

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        u = self._affine(x)
        v = None if z is None else self._affine(z)
        return self.variance / math.pi * _powers(u, v, self.order) * _angular(u, v, self.order)[0]

    def _diag(self, x: Matrix) -> Vector:
        # J₀(0) = J₁(0) = π and J₂(0) = 3π
        squares = array_namespace(x).sum(self._affine(x) ** 2, axis=1)
        return self.variance * AT_ZERO[self.order] * squares**self.order

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        u = self._affine(x)
        v = None if z is None else self._affine(z)
        J, slope, cosine = _angular(u, v, self.order)
        # with ρ = u·v/rs, ∂k/∂u ∝ rⁿ⁻¹ sⁿ⁻¹ J' v + rⁿ⁻² sⁿ (n J − ρ J') u, and alike by v
        weighted = K_bar / math.pi * _powers(u, v, self.order)
        variance_bar = total(weighted * J)
        along = self.variance * weighted * (self.order * J - cosine * slope)
        lengths = _lengths(u), _lengths(u if v is None else v)
        across = self.variance * weighted * slope / (lengths[0][:, None] * lengths[1][None, :])
        other = u if v is None else v
        u_bar = across @ other + (xp.sum(along, axis=1) / lengths[0] ** 2)[:, None] * u
        v_bar = xp.matrix_transpose(across) @ u
        v_bar = v_bar + (xp.sum(along, axis=0) / lengths[1] ** 2)[:, None] * other
        if z is None:
            bar, x_bar = self._unaffine(x, u_bar + v_bar, variance_bar)
            return bar, x_bar, None
        both = xp.concat([x, z], axis=0), xp.concat([u_bar, v_bar], axis=0)
        bar, out = self._unaffine(*both, variance_bar)
        return bar, out[: x.shape[0], :], out[x.shape[0] :, :]

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        u = self._affine(x)
        squares = array_namespace(x).sum(u * u, axis=1)
        scaled = d_bar * AT_ZERO[self.order]
        slope = self.variance * scaled * self.order * whole_power(squares, max(self.order - 1, 0))
        u_bar = 2.0 * slope[:, None] * u
        return self._unaffine(x, u_bar, total(scaled * whole_power(squares, self.order)))

    def _affine(self, x: Matrix) -> Matrix:
        """``u = (√v ⊙ x, √b)``, (n, d + 1)."""
        xp = array_namespace(x)
        ones = xp.ones_like(x[:, :1])
        return xp.concat([x * self.weight_variance**0.5, self.bias_variance**0.5 * ones], axis=1)

    def _unaffine(self, x: Matrix, u_bar: Matrix, variance_bar: float) -> tuple[Self, Matrix]:
        """The pullback of `_affine`: ``√v`` has the derivative ``1/2√v``."""
        root = self.weight_variance**0.5
        slopes, offset = u_bar[:, :-1], u_bar[:, -1]
        weights = per_dimension(slopes * x / (2.0 * root), self.weight_variance)
        bias = total(offset) / (2.0 * self.bias_variance**0.5)
        bar = cotangent(self, variance=variance_bar, weight_variance=weights, bias_variance=bias)
        return bar, slopes * root


AT_ZERO = (1.0, 1.0, 3.0)


def _lengths(u: Matrix) -> Vector:
    xp = array_namespace(u)
    return xp.sqrt(xp.sum(u * u, axis=1))


def _powers(u: Matrix, v: Matrix | None, order: int) -> Matrix:
    """``rⁿ sⁿ``, (n, m)."""
    r = whole_power(_lengths(u), order)
    s = r if v is None else whole_power(_lengths(v), order)
    return r[:, None] * s[None, :]


def _angular(u: Matrix, v: Matrix | None, order: int) -> tuple[Array, Array, Array]:
    """``Jₙ(θ)``, its derivative by cos θ, and cos θ; all (n, m).

    Of unit vectors a and b, ``θ = 2 atan2(|a − b|, |a + b|)``: an arccosine of ``a·b`` would lose
    half the digits of small angles. The two squares have ``4 cos θ`` as their difference and
    ``4 sin² θ`` as their product.
    """
    xp = array_namespace(u)
    a = u / _lengths(u)[:, None]
    b = None if v is None else v / _lengths(v)[:, None]
    apart = _squared_distances(a, b)
    opposite = _squared_distances(a, -(a if b is None else b))
    if v is None:
        opposite = symmetric_part(opposite)  # whose rounding need not be symmetric
    cosine, sine = (opposite - apart) / 4.0, xp.sqrt(apart * opposite) / 2.0
    rest = math.pi - 2.0 * xp.atan2(xp.sqrt(apart), xp.sqrt(opposite))
    step, ramp = rest, sine + rest * cosine
    if order == 0:
        kink = sine <= 0.0
        inverse = 1.0 / xp.where(kink, xp.ones_like(sine), sine)
        return step, xp.where(kink, xp.zeros_like(sine), inverse), cosine
    if order == 1:
        return ramp, step, cosine
    return 3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine * cosine), 4.0 * ramp, cosine
