"""Mean functions of a Gaussian process, with their pullbacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from . import _check
from ._xp import Matrix, Vector, array_namespace
from .params import cotangent, real, settle

__all__ = ["ConstantMean", "ZeroMean"]


@dataclass(frozen=True)
class ZeroMean:
    """``m(x) = 0``.

    >>> import numpy as np
    >>> ZeroMean()(np.ones((2, 3)))
    array([0., 0.])
    """

    def __call__(self, x: Matrix) -> Vector:
        """Zeros of shape (n,) for x (n, d)."""
        _check.matrix(x, "x")
        return array_namespace(x).zeros_like(x[:, 0])

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,): there is nothing to differentiate."""
        _admit_bar(x, bar)
        return self, array_namespace(x).zeros_like(x)


@dataclass(frozen=True)
class ConstantMean:
    """``m(x) = value``, the same everywhere.

    >>> import numpy as np
    >>> ConstantMean(2.0)(np.ones((2, 3)))
    array([2., 2.])
    """

    value: float = real(0.0, unit="y")

    def __post_init__(self) -> None:
        settle(self)

    def __call__(self, x: Matrix) -> Vector:
        """`value`, repeated to shape (n,), for x (n, d)."""
        _check.matrix(x, "x")
        return array_namespace(x).full_like(x[:, 0], self.value)

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,); ``mean_bar.value`` is the sum of `bar`."""
        _admit_bar(x, bar)
        xp = array_namespace(x)
        value_bar = float(xp.sum(bar))
        return cotangent(self, value=value_bar), xp.zeros_like(x)


def _admit_bar(x: Matrix, bar: Vector) -> None:
    _check.vector(bar, "bar", size=_check.matrix(x, "x").shape[0])
    _check.alike(bar, "bar", x, "x")
