"""Mean functions of a Gaussian process, with their pullbacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from . import _check
from ._xp import Matrix, Vector, array_namespace
from .params import cotangent, real, settle

__all__ = ["ConstantMean", "ConstantOfValues", "ZeroMean"]


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


@dataclass(frozen=True)
class ConstantOfValues:
    """The constant mean of a process with gradients, whose rows end in a label.

    `value` in rows that see values of f, of which the last column is 0, and zero in those that see
    derivatives: the mean that goes with `kernels.WithGradients`.

    >>> import numpy as np
    >>> ConstantOfValues(2.0)(np.asarray([[3.0, 0.0], [3.0, 1.0]]))
    array([2., 0.])
    """

    value: float = real(0.0, unit="y")

    def __post_init__(self) -> None:
        settle(self)

    def __call__(self, x: Matrix) -> Vector:
        """`value` or zero, (n,), for rows (n, d + 1)."""
        return self.value * _is_value(x)

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,); ``mean_bar.value`` sums `bar` over the values."""
        _admit_bar(x, bar)
        xp = array_namespace(x)
        value_bar = float(xp.sum(bar * _is_value(x)))
        return cotangent(self, value=value_bar), xp.zeros_like(x)


def _is_value(x: Matrix) -> Vector:
    if _check.matrix(x, "x").shape[1] < 2:
        raise ValueError(f"x must have columns for a point and one for labels; got {x.shape}")
    return array_namespace(x).astype(x[:, -1] == 0.0, x.dtype)


def _admit_bar(x: Matrix, bar: Vector) -> None:
    _check.vector(bar, "bar", size=_check.matrix(x, "x").shape[0])
    _check.alike(bar, "bar", x, "x")
