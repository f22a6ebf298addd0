"""Kernels of the inner product: Bayesian linear regression, seen from function space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground.params import cotangent, fixed, nonnegative, positive
from ...ground.xp import Array, Matrix, Numbers, Vector, array_namespace, whole_power
from .algebra import Kernel
from .base import require_power
from .pullback_sums import per_dimension, total

__all__ = ["Linear", "Polynomial"]


@dataclass(frozen=True)
class Linear(Kernel):
    """Linear functions without an offset: ``k(x, z) = Σ_d v_d x_d z_d``.

    For an offset add `Constant`.

    Parameters
    ----------
    variance : float or Vector, shape (d,), default 1.0
        v, positive: the variance of the slopes, one for all or one per dimension.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> Linear(2.0)(np.asarray([[1.0], [3.0]]))
    array([[ 2.,  6.],
           [ 6., 18.]])
    """

    variance: Numbers = positive(1.0, per_dimension=True, unit="y²/x²")

    @property
    def of_pairs(self) -> bool:
        """True, but for a subclass."""
        return type(self) is Linear

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        root = self.variance**0.5  # on both sides, so that a matrix of x with itself is symmetric
        u = x * root
        return u @ array_namespace(x).matrix_transpose(u if z is None else z * root)

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).sum(x * x * self.variance, axis=1)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        # K = x V zᵀ: x_bar = K_bar z V, z_bar = K_barᵀ x V, v_bar = diag(xᵀ K_bar z)
        other = x if z is None else z
        right = K_bar @ other
        left = array_namespace(x).matrix_transpose(K_bar) @ x
        bar = cotangent(self, variance=per_dimension(x * right, self.variance))
        x_bar = right * self.variance
        z_bar = left * self.variance
        return (bar, x_bar + z_bar, None) if z is None else (bar, x_bar, z_bar)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        weighted = d_bar[:, None] * x
        bar = cotangent(self, variance=per_dimension(weighted * x, self.variance))
        return bar, 2.0 * weighted * self.variance


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomials: ``k(x, z) = (variance · xᵀz + bias)^degree``, [eq-wv-polynomial].

    Parameters
    ----------
    variance : float, default 1.0
        The factor of the inner product, positive.
    bias : float, default 1.0
        The offset added to it, not negative.
    degree : int, default 2
        The power, from 1; it is not fitted.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.2 (the inhomogeneous polynomial kernel).

    Examples
    --------
    >>> import numpy as np
    >>> Polynomial(degree=2)(np.asarray([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    variance: float = positive(1.0, unit="y^(2/p)/x²")
    bias: float = nonnegative(1.0, unit="y^(2/p)")
    degree: int = fixed(2)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", _check.whole(self.degree, "Polynomial.degree", 1))

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        # of k(x, x) and its derivatives, which are some times as large
        require_power(x, name, self.degree, scale=self.variance, bias=self.bias, room=1024.0)

    @property
    def of_pairs(self) -> bool:
        """True, but for a subclass."""
        return type(self) is Polynomial

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return whole_power(self._inner._gram(x, z) + self.bias, self.degree)

    def _diag(self, x: Matrix) -> Vector:
        return whole_power(self._inner._diag(x) + self.bias, self.degree)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        base_bar = K_bar * self._slope(self._inner._gram(x, z))
        inner_bar, x_bar, z_bar = self._inner._pullback(x, z, base_bar)
        return self._bar(inner_bar, base_bar), x_bar, z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        base_bar = d_bar * self._slope(self._inner._diag(x))
        inner_bar, x_bar = self._inner._diag_pullback(x, base_bar)
        return self._bar(inner_bar, base_bar), x_bar

    @property
    def _inner(self) -> Linear:
        return Linear(self.variance)

    def _slope(self, inner: Array) -> Array:
        return self.degree * whole_power(inner + self.bias, self.degree - 1)

    def _bar(self, inner_bar: Linear, base_bar: Array) -> Self:
        return cotangent(self, variance=inner_bar.variance, bias=total(base_bar))
