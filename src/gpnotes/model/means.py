"""Mean functions of a Gaussian process, with their pullbacks.

A mean is known, or it has a basis, ``m(x) = h(x)ᵀβ``, whose weights are learnt with the function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, cast

from ..ground import check as _check
from ..ground.params import cotangent, fixed, real, settle
from ..ground.showing import summary
from ..ground.xp import Matrix, Vector, array_namespace, whole_power
from .contracts import Basis, Mean, MeanFunction
from .normal import Normal

__all__ = ["BasisMean", "ConstantMean", "ConstantOfValues", "Powers", "ZeroMean"]


@dataclass(frozen=True)
class ZeroMean:
    """The mean function that is zero everywhere, ``m(x) = 0``.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroMean()(np.ones((2, 3)))
    array([0., 0.])
    """

    def __call__(self, x: Matrix) -> Vector:
        """Evaluate the mean.

        Returns
        -------
        Vector, shape (n,)
            Zeros.
        """
        return self._call(_check.matrix(x, "x"))

    def _call(self, x: Matrix) -> Vector:
        return array_namespace(x).zeros_like(x[:, 0])

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """Carry derivatives by the means back: there is nothing to differentiate.

        Parameters
        ----------
        bar : Vector, shape (n,)
            The derivatives by the means.

        Returns
        -------
        mean_bar : ZeroMean
            This mean, which has no parameters.
        x_bar : Matrix, shape (n, d)
            Zeros.
        """
        _validate_bar(x, bar)
        return self._pullback(x, bar)

    def _pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        return self, array_namespace(x).zeros_like(x)


@dataclass(frozen=True)
class ConstantMean:
    """A mean function that is the same everywhere, ``m(x) = value``.

    Parameters
    ----------
    value : float, default 0.0
        The mean, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> ConstantMean(2.0)(np.ones((2, 3)))
    array([2., 2.])
    """

    value: float = real(0.0, unit="y")

    def __post_init__(self) -> None:
        settle(self)

    def __call__(self, x: Matrix) -> Vector:
        """Evaluate the mean.

        Returns
        -------
        Vector, shape (n,)
            `value`, repeated.
        """
        return self._call(_check.matrix(x, "x"))

    def _call(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.value)

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """Carry derivatives by the means back to the value and the inputs.

        Parameters
        ----------
        bar : Vector, shape (n,)
            The derivatives by the means.

        Returns
        -------
        mean_bar : ConstantMean
            A mean of this class whose ``value`` is the sum of `bar`.
        x_bar : Matrix, shape (n, d)
            Zeros.
        """
        _validate_bar(x, bar)
        return self._pullback(x, bar)

    def _pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        xp = array_namespace(x)
        value_bar = float(xp.sum(bar))
        return cotangent(self, value=value_bar), xp.zeros_like(x)


@dataclass(frozen=True)
class ConstantOfValues:
    """The constant mean of a process with gradients, whose rows end in a label.

    It is `value` in rows that see values of f, whose last column is 0, and zero in those
    that see derivatives: the mean that goes with `kernels.WithGradients`.

    Parameters
    ----------
    value : float, default 0.0
        The mean of the values, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> ConstantOfValues(2.0)(np.asarray([[3.0, 0.0], [3.0, 1.0]]))
    array([2., 0.])
    """

    value: float = real(0.0, unit="y")

    def __post_init__(self) -> None:
        settle(self)

    def __call__(self, x: Matrix) -> Vector:
        """Evaluate the mean.

        Parameters
        ----------
        x : Matrix, shape (n, d + 1)
            The rows: a point and a label each.

        Returns
        -------
        Vector, shape (n,)
            `value` where a row sees a value, and zero elsewhere.
        """
        return self.value * _is_value(x)

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """Carry derivatives by the means back to the value and the rows.

        Parameters
        ----------
        x : Matrix, shape (n, d + 1)
            The rows: a point and a label each.
        bar : Vector, shape (n,)
            The derivatives by the means.

        Returns
        -------
        mean_bar : ConstantOfValues
            A mean of this class whose ``value`` is the sum of `bar` over the rows that see values.
        x_bar : Matrix, shape (n, d + 1)
            Zeros.
        """
        _validate_bar(x, bar)
        xp = array_namespace(x)
        value_bar = float(xp.sum(bar * _is_value(x)))
        return cotangent(self, value=value_bar), xp.zeros_like(x)


@dataclass(frozen=True)
class Powers:
    """A basis of powers, ``h(x) = (1, x_1, …, x_D, x_1², …, x_D², …)`` up to the power `degree`.

    It has 1 + degree · D columns: powers of each input alone, without products of inputs. Degree 0
    is the constant, degree 1 a plane.

    Parameters
    ----------
    degree : int, default 1
        The highest power, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> Powers(2)(np.asarray([[3.0]]))
    array([[1., 3., 9.]])
    """

    degree: int = fixed(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", _check.whole(self.degree, "Powers.degree"))

    def __call__(self, x: Matrix) -> Matrix:
        """Evaluate the columns.

        Returns
        -------
        Matrix, shape (n, 1 + degree · d)
            The rows ``h(xᵢ)``.
        """
        _check.matrix(x, "x")
        xp = array_namespace(x)
        return xp.concat(
            [xp.ones_like(x[:, :1]), *(whole_power(x, k) for k in range(1, self.degree + 1))],
            axis=1,
        )

    def pullback(self, x: Matrix, bar: Matrix) -> Matrix:
        """Carry derivatives by the columns back to the inputs.

        Parameters
        ----------
        bar : Matrix, shape (n, 1 + degree · d)
            The derivatives by the columns.
        """
        n, d = _check.matrix(x, "x").shape
        _check.matrix(bar, "bar", rows=n, columns=1 + self.degree * d)
        _check.alike(bar, "bar", x, "x")
        x_bar = array_namespace(x).zeros_like(x)
        for k in range(1, self.degree + 1):
            x_bar = x_bar + k * whole_power(x, k - 1) * bar[:, 1 + (k - 1) * d : 1 + k * d]
        return x_bar


@dataclass(frozen=True)
class BasisMean:
    """A mean ``m(x) = h(x)ᵀβ`` whose weights are learnt with f: ``β ~ N(b, B)``, or vague.

    [eq-mf-model], [eq-mf-prior]. Of a process with this mean, `gpnotes.condition` learns the
    weights and the function together, and all views of the posterior count the uncertainty of
    both; the other methods refuse it. Nothing of it is fitted: the weights are integrated out.
    Vague `Powers` lose no digits far from zero, as at epoch seconds: they are measured from the
    middle of the inputs. Columns of your own that cancel there are a ``RoundingWarning``.

    Parameters
    ----------
    basis : Basis
        h, any function from (n, d) to (n, p), such as `Powers`.
    weights : Normal, optional
        The prior ``Normal(b, root)`` on the p weights; without it they are vague, with the prior
        of a B that grows without end.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 2.7.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X = np.asarray([[0.0], [1.0], [2.0], [3.0]])
    >>> posterior = condition(GP(RBF(), 0.1, BasisMean(Powers(1))), X, 2.0 * X[:, 0] + 1.0)
    >>> posterior.basis.mean.round(4), posterior.mean(np.asarray([[50.0]])).round(4)
    (array([1., 2.]), array([101.]))
    """

    basis: Basis
    weights: Normal | None = None

    __repr__ = summary

    def __post_init__(self) -> None:
        if isinstance(self.basis, type):  # a class can be called, too
            wanted = "a function of inputs, such as Powers(1)"
            raise TypeError(f"BasisMean.basis must be {wanted}; got {_check.kind_of(self.basis)}")
        _check.function(self.basis, "BasisMean.basis")
        if self.weights is not None:
            _check.instance(self.weights, "BasisMean.weights", Normal)

    def columns(self, x: Matrix) -> Matrix:
        """Evaluate the basis: ``H`` with the rows ``h(xᵢ)ᵀ``.

        Returns
        -------
        Matrix, shape (n, p)
            H.
        """
        n = _check.matrix(x, "x").shape[0]
        p = None if self.weights is None else self.weights.size
        own = x if isinstance(self.basis, Powers) else _copied(x)
        H = _check.matrix(self.basis(own), "BasisMean.basis(x)", rows=n, columns=p)
        return _check.alike(H, "BasisMean.basis(x)", x, "x")

    def columns_pullback(self, x: Matrix, bar: Matrix) -> Matrix:
        """Carry derivatives by the columns back to the inputs, by the pullback of the basis.

        Parameters
        ----------
        bar : Matrix, shape (n, p)
            The derivatives by the columns.

        Raises
        ------
        TypeError
            If the basis has no pullback.
        """
        pullback = getattr(self.basis, "pullback", None)
        if pullback is None:
            raise TypeError(
                f"BasisMean.basis must have a pullback, such as Powers; got {self.basis!r}"
            )
        return pullback(x, bar)

    def __call__(self, x: Matrix) -> Vector:
        """Evaluate the mean expected before any data, ``h(x)ᵀb``; zero if the weights are vague."""
        H = self.columns(x)
        if self.weights is None:
            return array_namespace(x).zeros_like(x[:, 0])
        return H @ self.weights.mean

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """Carry derivatives by ``h(x)ᵀb`` back to the inputs.

        Parameters
        ----------
        bar : Vector, shape (n,)
            The derivatives by the expected means.

        Returns
        -------
        mean_bar : BasisMean
            A mean of this class, which has no parameters to fit.
        x_bar : Matrix, shape (n, d)
            The derivatives by x; zeros if the weights are vague.

        Raises
        ------
        TypeError
            If an array is not real and floating, the two differ in namespace, dtype or device, or
            the weights have a prior and the basis has no pullback.
        """
        _validate_bar(x, bar)
        if self.weights is None:
            return cotangent(self), array_namespace(x).zeros_like(x)
        return cotangent(self), self.columns_pullback(x, bar[:, None] * self.weights.mean[None, :])


class _WithHooks(Protocol):
    """A mean through methods without checks, for inputs that are validated."""

    def _call(self, x: Matrix) -> Vector: ...

    def _pullback(self, x: Matrix, bar: Vector) -> tuple[Mean, Matrix]: ...


class _Brought(NamedTuple):
    """A mean without hooks, which answers by its public methods; its values are looked over."""

    mean: MeanFunction

    def _call(self, x: Matrix) -> Vector:
        return _check.vector(self.mean(_copied(x)), "gp.mean(X)", size=x.shape[0])

    def _pullback(self, x: Matrix, bar: Vector) -> tuple[Mean, Matrix]:
        return cast(Mean, self.mean).pullback(_copied(x), bar)


def with_hooks(mean: MeanFunction) -> _WithHooks:
    """Return a mean with the hooks of ours; a subclass with none of its own may do as it likes."""
    own = {"_call", "_pullback"} <= vars(type(mean)).keys()
    return cast(_WithHooks, mean) if own else _Brought(mean)


def _copied(x: Matrix) -> Matrix:
    """A copy for a function of others, which may write into it."""
    return array_namespace(x).asarray(x, copy=True)


def _is_value(x: Matrix) -> Vector:
    if _check.matrix(x, "x").shape[1] < 2:
        wanted = "x must have columns for a point and one for labels"
        raise ValueError(f"{wanted}; got {tuple(x.shape)}")
    return array_namespace(x).astype(x[:, -1] == 0.0, x.dtype)


def _validate_bar(x: Matrix, bar: Vector) -> None:
    _check.vector(bar, "bar", size=_check.matrix(x, "x").shape[0])
    _check.alike(bar, "bar", x, "x")
