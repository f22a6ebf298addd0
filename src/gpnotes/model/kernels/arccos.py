"""Arc-cosine kernels: those of a layer of infinitely many random neurons.

With ``u = (√v ⊙ x, √b)``, θ the angle between u(x) and u(z), and ``r = |u(x)|``, ``s = |u(z)|``,
``k(x, z) = σ_f² rⁿ sⁿ Jₙ(θ)/π``. In ``c = cos θ`` the angular part is smooth for n ≥ 1:
``dJₙ/dc = n² Jₙ₋₁``, while ``dJ₀/dc = 1/sin θ``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self, cast

from ...ground import check as _check
from ...ground.distances import _squared_distances, _squared_distances_pullback
from ...ground.params import cotangent, fixed, positive
from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    in_double,
    kept_where,
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
        u, v = self._pair(x, z)
        K = self.variance / math.pi * _powers(u, v, self.order) * _angular(u, v, self.order)[0]
        return array_namespace(x).astype(K, x.dtype, copy=False)

    def _diag(self, x: Matrix) -> Vector:
        # J₀(0) = J₁(0) = π and J₂(0) = 3π
        squares = array_namespace(x).sum(self._affine(x) ** 2, axis=1)
        return self.variance * AT_ZERO[self.order] * squares**self.order

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        u, v = self._pair(x, z)
        J, slope, cosine = _angular(u, v, self.order)
        weighted = K_bar / math.pi * _powers(u, v, self.order)
        variance_bar, weighted = total(weighted * J), self.variance * weighted
        other = u if v is None else v
        r, s = _lengths(u), _lengths(other)
        across = weighted * slope / (r[:, None] * s[None, :])
        if self.order:
            # with ρ = u·v/rs, ∂k/∂u ∝ rⁿ⁻¹ sⁿ⁻¹ J' v + rⁿ⁻² sⁿ (n J − ρ J') u, and alike by v
            along = weighted * (self.order * J - cosine * slope)
            u_bar = across @ other + (xp.sum(along, axis=1) / r**2)[:, None] * u
            v_bar = xp.matrix_transpose(across) @ u
            v_bar = v_bar + (xp.sum(along, axis=0) / s**2)[:, None] * other
        else:  # the part of v − u across u: far from zero the same two terms drown it
            pulled = _squared_distances_pullback(u, other, -0.5 * across)
            u_bar, v_bar = _across(u, pulled[0]), _across(other, cast(Matrix, pulled[1]))
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

    def _pair(self, x: Matrix, z: Matrix | None) -> tuple[Matrix, Matrix | None]:
        """u and v, of order 0 in float64: the slopes of small angles are large."""
        u, v = (a if a is None or self.order else in_double(a) for a in (x, z))
        return self._affine(cast(Matrix, u)), None if v is None else self._affine(v)

    def _affine(self, x: Matrix) -> Matrix:
        """``u = (√v ⊙ x, √b)``, (n, d + 1)."""
        xp = array_namespace(x)
        ones = xp.ones_like(x[:, :1])
        return xp.concat([x * self.weight_variance**0.5, self.bias_variance**0.5 * ones], axis=1)

    def _unaffine(self, x: Matrix, u_bar: Matrix, variance_bar: float) -> tuple[Self, Matrix]:
        """The pullback of `_affine`: ``√v`` has the derivative ``1/2√v``."""
        xp, root = array_namespace(x), self.weight_variance**0.5
        slopes, offset = u_bar[:, :-1], u_bar[:, -1]
        weights = per_dimension(slopes * x / (2.0 * root), self.weight_variance)
        if not isinstance(weights, float):
            weights = xp.astype(weights, x.dtype, copy=False)
        bias = total(offset) / (2.0 * self.bias_variance**0.5)
        bar = cotangent(self, variance=variance_bar, weight_variance=weights, bias_variance=bias)
        return bar, xp.astype(slopes * root, x.dtype, copy=False)


AT_ZERO = (1.0, 1.0, 3.0)


def _lengths(u: Matrix) -> Vector:
    xp = array_namespace(u)
    return xp.sqrt(xp.sum(u * u, axis=1))


def _powers(u: Matrix, v: Matrix | None, order: int) -> Matrix:
    """``rⁿ sⁿ``, (n, m)."""
    r = whole_power(_lengths(u), order)
    s = r if v is None else whole_power(_lengths(v), order)
    return r[:, None] * s[None, :]


def _across(u: Matrix, bar: Matrix) -> Matrix:
    """Rows less their parts along those of u, by ``Σ_q u_q (u_q b_p − u_p b_q) / r²``."""
    xp = array_namespace(u)
    parts = (u * (u * bar[:, p : p + 1] - u[:, p : p + 1] * bar) for p in range(u.shape[1]))
    return (
        xp.stack([xp.sum(part, axis=1) for part in parts], axis=1) / xp.sum(u * u, axis=1)[:, None]
    )


def _angular(u: Matrix, v: Matrix | None, order: int) -> tuple[Array, Array, Array]:
    """``Jₙ(θ)``, its derivative by cos θ, and cos θ; all (n, m).

    Of unit vectors a and b, ``θ = 2 atan2(|a − b|, |a + b|)``: an arccosine of ``a·b`` would lose
    half the digits of small angles. The two squares have ``4 cos θ`` as their difference and
    ``4 sin² θ`` as their product. Of order 0, whose slope is 1/sin θ, in few columns the sine is
    that of 2 × 2 minors.
    """
    xp = array_namespace(u)
    a = u / _lengths(u)[:, None]
    b = None if v is None else v / _lengths(v)[:, None]
    if order == 0 and u.shape[1] <= 4:
        squares, cosine = _squared_sines(u, v), a @ xp.matrix_transpose(a if b is None else b)
        if v is None:
            squares, cosine = symmetric_part(squares), symmetric_part(cosine)
        sine = xp.sqrt(squares)
        return math.pi - xp.atan2(sine, cosine), _inverse(sine), cosine
    apart = _squared_distances(a, b)
    opposite = _squared_distances(a, -(a if b is None else b))
    if v is None:
        opposite = symmetric_part(opposite)  # whose rounding need not be symmetric
    cosine, sine = (opposite - apart) / 4.0, xp.sqrt(apart * opposite) / 2.0
    rest = math.pi - 2.0 * xp.atan2(xp.sqrt(apart), xp.sqrt(opposite))
    ramp = sine + rest * cosine
    if order == 0:
        return rest, _inverse(sine), cosine
    if order == 1:
        return ramp, rest, cosine
    return 3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine * cosine), 4.0 * ramp, cosine


def _inverse(sine: Matrix) -> Matrix:
    """One over it, zero at a kink."""
    xp, kink = array_namespace(sine), sine <= 0.0
    return kept_where(~kink, 1.0 / xp.where(kink, 1.0, sine))


def _squared_sines(u: Matrix, v: Matrix | None) -> Matrix:
    """``sin² θ``, (n, m), by the minors of u and v, or of v − u where that is no longer."""
    xp, w = array_namespace(u), u if v is None else v
    r, s = _lengths(u), _lengths(w)
    near = r[:, None] <= 2.0 * s[None, :]
    a, columns = u / r[:, None], range(u.shape[1])
    b = [w[None, :, p] - xp.where(near, u[:, None, p], 0.0) for p in columns]
    pairs = ((p, q) for p in columns for q in range(p))
    squares = sum((a[:, None, p] * b[q] - a[:, None, q] * b[p]) ** 2 for p, q in pairs)
    return squares / (s * s)[None, :]
