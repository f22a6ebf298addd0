"""Brownian motion and its integral: a level, or a slope, that wanders from where it starts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground.params import cotangent, fixed, positive
from ...ground.xp import Array, Matrix, Vector, array_namespace
from .algebra import Kernel
from .pullback_sums import total

__all__ = ["IntegratedWiener", "Wiener"]


@dataclass(frozen=True)
class _FromOrigin(Kernel):
    """A kernel of the distances u and w of two places from where a process starts in zero."""

    variance: float = positive(1.0, unit="y²/x, y²/x³")
    origin: float = fixed(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        label = f"{type(self).__name__}.origin"
        object.__setattr__(self, "origin", _check.number(self.origin, label))

    @abstractmethod
    def _profile(self, less: Array, more: Array) -> Array:
        """The covariance of variance one, by the lesser and the larger distance."""

    @abstractmethod
    def _slopes(self, less: Array, more: Array) -> tuple[Array, Array]:
        """Its derivatives by both; equal where the distances are."""

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.variance * self._profile(*self._ordered(x, z)[:2])

    def _diag(self, x: Matrix) -> Vector:
        u = x[:, 0] - self.origin
        return self.variance * self._profile(u, u)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        less, more, first = self._ordered(x, z)
        by_less, by_more = (self.variance * K_bar * slope for slope in self._slopes(less, more))
        left = xp.sum(first * by_less + (1.0 - first) * by_more, axis=1)[:, None]
        right = xp.sum((1.0 - first) * by_less + first * by_more, axis=0)[:, None]
        bar = cotangent(self, variance=total(K_bar * self._profile(less, more)))
        return (bar, left + right, None) if z is None else (bar, left, right)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        u = x[:, 0] - self.origin
        by_less, by_more = self._slopes(u, u)
        bar = cotangent(self, variance=total(d_bar * self._profile(u, u)))
        return bar, (self.variance * d_bar * (by_less + by_more))[:, None]

    def _ordered(self, x: Matrix, z: Matrix | None) -> tuple[Array, Array, Array]:
        """The lesser and the larger of each two distances, and where that of x is the lesser."""
        xp = array_namespace(x)
        u = x - self.origin
        w = xp.matrix_transpose(u if z is None else z - self.origin)
        first = xp.astype(u < w, x.dtype) + 0.5 * xp.astype(u == w, x.dtype)
        return xp.minimum(u, w), xp.maximum(u, w), first

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        kind = type(self).__name__
        if x.shape[1] != 1:
            raise ValueError(f"{name} must have one column for {kind}; got {tuple(x.shape)}")
        least = float(array_namespace(x).min(x)) if x.shape[0] else self.origin
        if least < self.origin:
            wanted = f"no less than {kind}.origin, {self.origin:.6g}"
            raise ValueError(f"{name} must be {wanted}; got {least:.6g}")


@dataclass(frozen=True)
class Wiener(_FromOrigin):
    """Brownian motion, a level that wanders: ``k(x, z) = v min(x − o, z − o)``.

    Parameters
    ----------
    variance : float, default 1.0
        v, positive: the variance that it gains in a unit of x.
    origin : float, default 0.0
        o, where it starts in zero; it is not fitted, and no input may be less. Add `Constant` for a
        level to start from.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section B.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> Wiener(2.0)(np.asarray([[1.0], [3.0]]))
    array([[2., 2.],
           [2., 6.]])
    """

    def _profile(self, less: Array, more: Array) -> Array:
        return less

    def _slopes(self, less: Array, more: Array) -> tuple[Array, Array]:
        xp = array_namespace(less)
        tie = 0.5 * xp.astype(less == more, less.dtype)
        return 1.0 - tie, tie


@dataclass(frozen=True)
class IntegratedWiener(_FromOrigin):
    """A slope that wanders, the prior of cubic splines: the integral of Brownian motion.

    ``k(x, z) = v (m³/3 + |x − z| m²/2)`` with ``m = min(x − o, z − o)``.

    Parameters
    ----------
    variance : float, default 1.0
        v, positive: the variance that the slope gains in a unit of x.
    origin : float, default 0.0
        o, where value and slope start in zero; it is not fitted, and no input may be less. Add
        `Constant` and `Linear` for a line to start from: the trend of structural time series.

    Notes
    -----
    Source: Rasmussen & Williams (2006), equation 6.28; Wahba (1978).

    Examples
    --------
    >>> import numpy as np
    >>> IntegratedWiener(6.0)(np.asarray([[1.0], [3.0]]))
    array([[ 2.,  8.],
           [ 8., 54.]])
    """

    def _profile(self, less: Array, more: Array) -> Array:
        return less * less * (0.5 * more - less / 6.0)

    def _slopes(self, less: Array, more: Array) -> tuple[Array, Array]:
        return less * (more - 0.5 * less), 0.5 * less * less
