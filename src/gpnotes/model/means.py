"""Mean functions of a Gaussian process, with their pullbacks.

A mean is known, or it has a basis, ``m(x) = h(x)ᵀβ``, whose weights are learnt with the function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeGuard

from ..ground import check as _check
from ..ground.params import cotangent, fixed, real, settle
from ..ground.xp import Matrix, Vector, array_namespace
from .contracts import Basis, Mean, MeanFunction
from .gaussian import Normal

__all__ = ["BasisMean", "ConstantMean", "ConstantOfValues", "Powers", "ZeroMean"]


@dataclass(frozen=True)
class ZeroMean:
    """``m(x) = 0``.

    >>> import numpy as np
    >>> ZeroMean()(np.ones((2, 3)))
    array([0., 0.])
    """

    def __call__(self, x: Matrix) -> Vector:
        """Zeros of shape (n,) for x (n, d)."""
        return self._values(_check.matrix(x, "x"))

    def _values(self, x: Matrix) -> Vector:
        return array_namespace(x).zeros_like(x[:, 0])

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,): there is nothing to differentiate."""
        _validate_bar(x, bar)
        return self._pulled(x, bar)

    def _pulled(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
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
        return self._values(_check.matrix(x, "x"))

    def _values(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.value)

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,); ``mean_bar.value`` is the sum of `bar`."""
        _validate_bar(x, bar)
        return self._pulled(x, bar)

    def _pulled(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
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
        _validate_bar(x, bar)
        xp = array_namespace(x)
        value_bar = float(xp.sum(bar * _is_value(x)))
        return cotangent(self, value=value_bar), xp.zeros_like(x)


@dataclass(frozen=True)
class Powers:
    """``h(x) = (1, x_1, …, x_D, x_1², …, x_D², …)`` up to the power `degree`.

    1 + degree · D columns: powers of each input alone, without products of inputs. Degree 0 is the
    constant, degree 1 a plane. Raises `ValueError` or `TypeError` for a degree that is no whole
    number from 0.

    >>> import numpy as np
    >>> Powers(2)(np.asarray([[3.0]]))
    array([[1., 3., 9.]])
    """

    degree: int = fixed(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", _check.whole(self.degree, "Powers.degree"))

    def __call__(self, x: Matrix) -> Matrix:
        """The columns, (n, 1 + degree · d), for x (n, d)."""
        _check.matrix(x, "x")
        xp = array_namespace(x)
        return xp.concat(
            [xp.ones_like(x[:, :1]), *(x**k for k in range(1, self.degree + 1))], axis=1
        )

    def pullback(self, x: Matrix, bar: Matrix) -> Matrix:
        """The derivatives by x (n, d) for those by the columns, `bar` (n, 1 + degree · d)."""
        n, d = _check.matrix(x, "x").shape
        _check.matrix(bar, "bar", rows=n, columns=1 + self.degree * d)
        _check.alike(bar, "bar", x, "x")
        x_bar = array_namespace(x).zeros_like(x)
        for k in range(1, self.degree + 1):
            x_bar = x_bar + k * x ** (k - 1) * bar[:, 1 + (k - 1) * d : 1 + k * d]
        return x_bar


@dataclass(frozen=True)
class BasisMean:
    """``m(x) = h(x)ᵀβ`` with weights that are learnt: ``β ~ N(b, B)``, or vague.

    :eq:`eq-mf-model`, :eq:`eq-mf-prior`. `basis` is h, any function from (n, d) to (n, p), such as
    `Powers`; `weights` is the prior ``Normal(b, root)``, and without it that of a B that grows
    without end. Of a process with this mean, `exact.condition` learns the weights and the function
    together, and all views of the posterior count what remains unknown of both; the other methods
    refuse it. Nothing of it is fitted: the weights are integrated out.
    Raises `TypeError` for what is no function or no `Normal`.
    Source: Rasmussen & Williams (2006), section 2.7.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X = np.asarray([[0.0], [1.0], [2.0], [3.0]])
    >>> posterior = condition(GP(RBF(), 0.1, BasisMean(Powers(1))), X, 2.0 * X[:, 0] + 1.0)
    >>> posterior.basis.mean.round(4), posterior.mean(np.asarray([[50.0]])).round(4)
    (array([1., 2.]), array([101.]))
    """

    basis: Basis
    weights: Normal | None = None

    def __post_init__(self) -> None:
        if isinstance(self.basis, type):  # a class can be called, too
            wanted = "a function of inputs, such as Powers(1)"
            raise TypeError(f"BasisMean.basis must be {wanted}; got {_check.kind_of(self.basis)}")
        _check.function(self.basis, "BasisMean.basis")
        if self.weights is not None:
            _check.instance(self.weights, "BasisMean.weights", Normal)

    def columns(self, x: Matrix) -> Matrix:
        """``H``, (n, p), of rows ``h(xᵢ)ᵀ``, for x (n, d); a `ValueError` for another shape."""
        n = _check.matrix(x, "x").shape[0]
        p = None if self.weights is None else self.weights.size
        H = _check.matrix(self.basis(x), "BasisMean.basis(x)", rows=n, columns=p)
        return _check.alike(H, "BasisMean.basis(x)", x, "x")

    def columns_pullback(self, x: Matrix, bar: Matrix) -> Matrix:
        """The derivatives by x (n, d) for those by the columns; a `TypeError` if h has none."""
        pullback = getattr(self.basis, "pullback", None)
        if pullback is None:
            raise TypeError(
                f"BasisMean.basis must have a pullback, such as Powers; got {self.basis!r}"
            )
        return pullback(x, bar)

    def __call__(self, x: Matrix) -> Vector:
        """What the mean is expected to be before any data, ``h(x)ᵀb``, (n,); zero if vague."""
        H = self.columns(x)
        if self.weights is None:
            return array_namespace(x).zeros_like(x[:, 0])
        return H @ self.weights.mean

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,) by ``h(x)ᵀb``."""
        _validate_bar(x, bar)
        if self.weights is None:
            return cotangent(self), array_namespace(x).zeros_like(x)
        return cotangent(self), self.columns_pullback(x, bar[:, None] * self.weights.mean[None, :])


def _is_own(mean: object) -> TypeGuard[ZeroMean | ConstantMean]:
    """Whether nothing can go wrong for inputs that are validated; a subclass may do as it likes."""
    return type(mean) in (ZeroMean, ConstantMean)


def values_of(mean: MeanFunction, x: Matrix) -> Vector:
    """The mean at inputs x (n, d) that are validated; one of another's making is looked over.

    Another shape would broadcast.
    """
    if _is_own(mean):
        return mean._values(x)
    return _check.vector(mean(x), "gp.mean(X)", size=x.shape[0])


def pulled(mean: Mean, x: Matrix, bar: Vector) -> tuple[Mean, Matrix]:
    """`Mean.pullback` at inputs that are validated, of derivatives worked out from what is."""
    return mean._pulled(x, bar) if _is_own(mean) else mean.pullback(x, bar)


def _is_value(x: Matrix) -> Vector:
    if _check.matrix(x, "x").shape[1] < 2:
        raise ValueError(f"x must have columns for a point and one for labels; got {x.shape}")
    return array_namespace(x).astype(x[:, -1] == 0.0, x.dtype)


def _validate_bar(x: Matrix, bar: Vector) -> None:
    _check.vector(bar, "bar", size=_check.matrix(x, "x").shape[0])
    _check.alike(bar, "bar", x, "x")
