"""The thin-plate kernel: cubes of distances, made a covariance on a ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground.params import cotangent, fixed, positive
from ...ground.xp import Array, Matrix, Vector, array_namespace, whole_power
from .algebra import Kernel
from .stationary import Stationary, inside, roots

__all__ = ["ThinPlate"]

_REACH = 8.0 / 3.0  # R in radii of the ball: 4/3 of its diameter


@dataclass(frozen=True)
class ThinPlate(Kernel):
    """Cubes of distances on a ball: ``k(x, z) = σ_f² (1 − 3 s² + 2 s³)`` with ``s = |x − z| / R``.

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.
    radius : float, default 1.0
        ρ, positive: that of a ball about the origin in which all inputs lie, in up to three
        dimensions; ``R = 8ρ/3``. It is not fitted.

    Notes
    -----
    A cube of distances alone is no covariance: it is one only for sums of values whose weights are
    orthogonal to constants and linear functions. The other two terms give these a large variance,
    and within the ball a covariance is left. Functions have one derivative, and no length of their
    own: the larger the ball, the closer the mean is to the sum of cubes and a linear function that
    interpolates, on a line the natural cubic spline.

    In units of R, averaged over all directions, the covariance ``1 − 9t² + 8t³`` of a process on a
    line is this one in three dimensions. As a cosine series of the period ``2 · 3/4`` that has no
    negative coefficient, so that all is well for distances up to 3R/4, the diameter of the ball.
    With R = 2ρ, the largest distance, matrices of points that fill a ball in two or three
    dimensions have negative eigenvalues.

    Source: Williams & Fitzgibbon (2007), Gaussian process implicit surfaces, for the form.

    Examples
    --------
    >>> import numpy as np
    >>> ThinPlate(radius=0.75)(np.asarray([[-0.5], [0.5]])).round(4)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    variance: float = positive(1.0, unit="y²")
    radius: float = fixed(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        radius = _check.positive(_check.number(self.radius, "ThinPlate.radius"), "ThinPlate.radius")
        object.__setattr__(self, "radius", radius)

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self._inner._gram(x, z)

    def _diag(self, x: Matrix) -> Vector:
        return self._inner._diag(x)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        bar, x_bar, z_bar = self._inner._pullback(x, z, K_bar)
        return cotangent(self, variance=bar.variance), x_bar, z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bar, x_bar = self._inner._diag_pullback(x, d_bar)
        return cotangent(self, variance=bar.variance), x_bar

    @property
    def _inner(self) -> _Cubic:
        return _Cubic(self.variance, _REACH * self.radius)

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        if x.shape[1] > 3:
            wanted = "at most 3 columns for ThinPlate"
            raise ValueError(f"{name} must have {wanted}; got {tuple(x.shape)}")
        xp = array_namespace(x)
        away = xp.sqrt(xp.sum((x / self.radius) ** 2, axis=1))
        farthest = float(xp.max(away)) if x.shape[0] else 0.0
        if not farthest <= 1.0 + 1e-6:
            wanted = f"within {self.radius:.6g} of the origin, ThinPlate.radius"
            raise ValueError(f"{name} must lie {wanted}; got a row at {self.radius * farthest:.6g}")


@dataclass(frozen=True)
class _Cubic(Stationary):
    """``p(q) = 1 − 3q + 2q^(3/2)``; `lengthscale` is R."""

    def _profile(self, q: Array) -> Array:
        return 1.0 + q * (2.0 * array_namespace(q).sqrt(q) - 3.0)

    def _slope(self, q: Array) -> Array:
        return 3.0 * array_namespace(q).sqrt(q) - 3.0

    def _higher_slopes(self, q: Array) -> tuple[Array, Array]:
        s = roots(q)
        one = inside(array_namespace(q).ones_like(q), q)
        return 1.5 * one / s, -0.75 * one / whole_power(s, 3)
