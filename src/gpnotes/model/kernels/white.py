"""Independent noise at every point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from ...ground.params import cotangent, positive
from ...ground.xp import Matrix, Vector, array_namespace, diagonal, eye
from .algebra import Kernel
from .pullback_sums import filled, nothing, total

__all__ = ["White"]


@dataclass(frozen=True)
class White(Kernel):
    """Independent noise at every point: ``variance · I`` for ``k(x)``, zero for ``k(x, z)``.

    Parameters
    ----------
    variance : float, default 1.0
        The variance of the noise, positive.

    Notes
    -----
    Noise belongs to an observation, not to a place. So between two sets of points there is none,
    even where points of the two are equal, and within one set two equal points do not share
    theirs. GPy, GPflow and scikit-learn read it the same way.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.zeros((2, 1))
    >>> White(0.5)(x), White(0.5)(x, x)
    (array([[0.5, 0. ],
           [0. , 0.5]]), array([[0., 0.],
           [0., 0.]]))
    """

    reads_inputs: ClassVar[bool] = False

    variance: float = positive(1.0, unit="y²")

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.variance * eye(x.shape[0], x) if z is None else filled(x, z, 0.0)

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.variance)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        variance_bar = total(diagonal(K_bar)) if z is None else 0.0
        return cotangent(self, variance=variance_bar), *nothing(x, z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        return cotangent(self, variance=total(d_bar)), nothing(x, None)[0]
