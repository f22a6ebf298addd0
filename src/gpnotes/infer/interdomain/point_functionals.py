"""Functionals that look at f at points: its values there, and weighted sums of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, cast

from ...ground import check as _check
from ...ground import memory
from ...ground.showing import summary
from ...ground.xp import HostArray, Matrix, Vector, array_namespace, keep_copies, symmetric_part
from ...model import means
from ...model.contracts import InducingVariables, MeanFunction, missing
from ...model.kernels import Kernel

__all__ = [
    "InducingPoints",
    "WeightedPoints",
    "applied",
    "require_bar",
    "require_places",
    "variables_of",
    "with_hooks",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class InducingPoints:
    """The values of f at some points as inducing variables, ``uₘ = f(zₘ)``.

    ``K_uu = k(Z, Z)`` and ``K_uf = k(Z, X)``.

    Parameters
    ----------
    Z : Matrix, shape (M, d)
        The points, which are copied.

    Notes
    -----
    Source: Titsias (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> InducingPoints(np.asarray([[0.0], [1.0]])).gram(RBF()).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    Z: Matrix

    __repr__ = summary

    def __post_init__(self) -> None:
        _require_rows(self.Z, "Z")
        object.__setattr__(self, "Z", _own(self.Z))

    @property
    def inputs(self) -> Matrix:
        """The points Z, shape (M, d)."""
        return self.Z

    @property
    def size(self) -> int:
        """The number of inducing variables M."""
        return self.Z.shape[0]

    def moved(self, inputs: Matrix) -> Self:
        """The values at other points.

        Parameters
        ----------
        inputs : Matrix, shape (M, d)
            The other points.
        """
        return replace(self, Z=_moved(self.Z, inputs))

    def apply(self, function: MeanFunction, kernel: Kernel | None = None) -> Vector:
        """The values ``g(zₘ)`` of a function at the points, whatever the kernel.

        Parameters
        ----------
        function : callable
            The function g, of inputs (n, d).
        kernel : Kernel or None, default None
            The kernel of the process; values do not depend on it.

        Returns
        -------
        Vector, shape (M,)
            The values.
        """
        return _values(function, self.Z)

    def gram(self, kernel: Kernel) -> Matrix:
        """The covariance of u, ``k(Z, Z)``; O(M² d).

        Returns
        -------
        Matrix, shape (M, M)
            K_uu.
        """
        _validate(self, kernel)
        return self._gram(kernel)

    def _gram(self, kernel: Kernel) -> Matrix:
        return kernel._gram(self.Z, None)

    def gram_pullback(self, kernel: Kernel, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """Carry derivatives by K_uu back to the kernel and the points.

        Parameters
        ----------
        K_bar : Matrix, shape (M, M)
            The derivatives by K_uu.

        Returns
        -------
        kernel_bar : Kernel
            The derivatives by the hyperparameters.
        Z_bar : Matrix, shape (M, d)
            The derivatives by the points.
        """
        _validate(self, kernel)
        require_bar(K_bar, self.size, self.size, self.Z)
        return self._gram_pullback(kernel, K_bar)

    def _gram_pullback(self, kernel: Kernel, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        return kernel._pullback(self.Z, None, K_bar)[:2]

    def cross(self, kernel: Kernel, X: Matrix) -> Matrix:
        """The covariance of u with f, ``k(Z, X)``; O(M n d).

        Returns
        -------
        Matrix, shape (M, n)
            K_uf.
        """
        _validate(self, kernel)
        require_places(X, self.Z)
        return self._cross(kernel, X)

    def _cross(self, kernel: Kernel, X: Matrix) -> Matrix:
        return kernel._gram(self.Z, X)

    def cross_pullback(self, kernel: Kernel, X: Matrix, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """Carry derivatives by K_uf back to the kernel and the points.

        Parameters
        ----------
        kernel, X
            As in `cross`.
        K_bar : Matrix, shape (M, n)
            The derivatives by K_uf.

        Returns
        -------
        kernel_bar, Z_bar
            As in `gram_pullback`.
        """
        _validate(self, kernel)
        require_places(X, self.Z)
        require_bar(K_bar, self.size, X.shape[0], self.Z)
        return self._cross_pullback(kernel, X, K_bar)

    def _cross_pullback(self, kernel: Kernel, X: Matrix, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        return kernel._pullback(self.Z, X, K_bar)[:2]


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Weighted sums of values of f as inducing variables, ``uₘ = Σₚ Wₘₚ f(zₚ)``.

    Differences, integrals by quadrature, any discretised functional. ``K_uu = W k(Z, Z) Wᵀ`` and
    ``K_uf = W k(Z, X)``. The points can be moved, the weights stay.

    Parameters
    ----------
    Z : Matrix, shape (P, d)
        The points, which are copied.
    weights : Matrix, shape (M, P)
        The weights W of each sum in a row, which are copied.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> Z = np.asarray([[-0.01], [0.01]])
    >>> slope = WeightedPoints(Z, np.asarray([[-50.0, 50.0]]))  # nearly f'(0)
    >>> slope.gram(RBF()).round(3)  # the variance of a derivative of an RBF is 1/ℓ²
    array([[1.]])
    """

    Z: Matrix
    weights: Matrix

    __repr__ = summary

    def __post_init__(self) -> None:
        _require_rows(self.Z, "Z")
        _require_rows(_check.matrix(self.weights, "weights", columns=self.Z.shape[0]), "weights")
        _check.alike(self.weights, "weights", self.Z, "Z")
        keep_copies(self, "Z", "weights")

    @property
    def inputs(self) -> Matrix:
        """The points Z, shape (P, d)."""
        return self.Z

    @property
    def size(self) -> int:
        """The number of inducing variables M."""
        return self.weights.shape[0]

    def moved(self, inputs: Matrix) -> Self:
        """The sums with the same weights over other points.

        Parameters
        ----------
        inputs : Matrix, shape (P, d)
            The other points.
        """
        return replace(self, Z=_moved(self.Z, inputs))

    def apply(self, function: MeanFunction, kernel: Kernel | None = None) -> Vector:
        """The sums ``Σₚ Wₘₚ g(zₚ)`` of a function g.

        The argument and errors are those of `InducingPoints.apply`.
        """
        return self.weights @ _values(function, self.Z)

    def gram(self, kernel: Kernel) -> Matrix:
        """The covariance of u, ``W k(Z, Z) Wᵀ``; O(P² (M + d)).

        The argument and errors are those of `InducingPoints.gram`, and `MemoryError` if
        ``k(Z, Z)`` has no room.
        """
        _validate(self, kernel)
        memory.require_square(self.Z.shape[0], like=self.Z, copies=3, what="k(Z, Z)")
        turned = array_namespace(self.Z).matrix_transpose(self.weights)
        # a product of three matrices is symmetric only up to rounding
        return symmetric_part(self.weights @ kernel._gram(self.Z, None) @ turned)

    def gram_pullback(self, kernel: Kernel, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """Carry derivatives by K_uu back to the kernel and the points.

        The derivative by k(Z, Z) is ``Wᵀ K_bar W``.

        The arguments and errors are those of `InducingPoints.gram_pullback`; ``Z_bar``
        is (P, d).
        """
        _validate(self, kernel)
        require_bar(K_bar, self.size, self.size, self.Z)
        turned = array_namespace(self.Z).matrix_transpose(self.weights)
        kernel_bar, Z_bar, _ = kernel._pullback(self.Z, None, turned @ K_bar @ self.weights)
        return kernel_bar, Z_bar

    def cross(self, kernel: Kernel, X: Matrix) -> Matrix:
        """The covariance of u with f, ``W k(Z, X)``; O(n P (M + d)).

        The arguments and errors are those of `InducingPoints.cross`.
        """
        _validate(self, kernel)
        require_places(X, self.Z)
        return self.weights @ kernel._gram(self.Z, X)

    def cross_pullback(self, kernel: Kernel, X: Matrix, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """Carry derivatives by K_uf back to the kernel and the points.

        The derivative by k(Z, X) is ``Wᵀ K_bar``.

        The arguments and errors are those of `InducingPoints.cross_pullback`; ``Z_bar``
        is (P, d).
        """
        _validate(self, kernel)
        require_places(X, self.Z)
        require_bar(K_bar, self.size, X.shape[0], self.Z)
        turned = array_namespace(self.Z).matrix_transpose(self.weights)
        kernel_bar, Z_bar, _ = kernel._pullback(self.Z, X, turned @ K_bar)
        return kernel_bar, Z_bar


def variables_of(Z: Matrix | InducingVariables, name: str = "Z") -> InducingVariables:
    """Return inducing variables; a matrix stands for the values of f at its rows.

    Parameters
    ----------
    Z : Matrix, shape (M, d), or InducingVariables
        The points, or variables of the contract, which are returned as they are.
    name : str, default "Z"
        The name of Z in an error.
    """
    if not isinstance(Z, type) and not missing(Z, InducingVariables):
        return cast(InducingVariables, Z)
    points = cast(Matrix, Z)
    _require_rows(points, name)
    return _points_at(_own(points))


def _own(points: Matrix) -> Matrix:
    """Return a copy, read-only in NumPy, as a posterior made before would not follow a change."""
    copy = array_namespace(points).asarray(points, copy=True)
    if isinstance(copy, HostArray):
        copy.flags.writeable = False
    return copy


def _points_at(Z: Matrix) -> InducingPoints:
    """The values at points that were looked over, under another name, and copied."""
    points = object.__new__(InducingPoints)
    object.__setattr__(points, "Z", Z)
    return points


def applied(variables: InducingVariables, mean: MeanFunction, kernel: Kernel) -> Vector:
    """`InducingVariables.apply` of the mean of a process, (M,); of points nothing is checked."""
    if type(variables) is InducingPoints:
        return means.with_hooks(mean)._call(variables.Z)
    return variables.apply(mean, kernel)


def with_hooks(variables: InducingVariables) -> InducingPoints | _Brought:
    """Return inducing variables with the hooks of points, which check nothing.

    Points were looked over when they were made, and the kernel with them; other variables answer
    by their public methods, with their own checks.
    """
    return variables if type(variables) is InducingPoints else _Brought(variables)


class _Brought(NamedTuple):
    variables: InducingVariables

    def _gram(self, kernel: Kernel) -> Matrix:
        return self.variables.gram(kernel)

    def _gram_pullback(self, kernel: Kernel, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        return self.variables.gram_pullback(kernel, K_bar)

    def _cross(self, kernel: Kernel, X: Matrix) -> Matrix:
        return self.variables.cross(kernel, X)

    def _cross_pullback(self, kernel: Kernel, X: Matrix, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        return self.variables.cross_pullback(kernel, X, K_bar)


def _moved(Z: Matrix, inputs: Matrix) -> Matrix:
    _check.matrix(inputs, "inputs", rows=Z.shape[0], columns=Z.shape[1])
    return _check.alike(inputs, "inputs", Z, "Z")


def _require_rows(a: Matrix, name: str) -> None:
    if _check.matrix(a, name).shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {tuple(a.shape)}")


def _values(function: MeanFunction, Z: Matrix) -> Vector:
    """The values (n,) of a function at points Z (n, d)."""
    values = _check.function(function, "function")(Z)
    return _check.vector(values, "function(Z)", size=Z.shape[0])


def _validate(variables: InducingPoints | WeightedPoints, kernel: Kernel) -> None:
    """Raise, naming the argument, for a kernel that does not go with the points."""
    _check.instance(kernel, "kernel", Kernel)
    kernel._validate_inputs(variables.Z, "Z")


def require_places(X: Matrix, Z: Matrix) -> None:
    """Raise, naming X, for inputs that do not go with the points Z."""
    _check.squarable(_check.alike(_check.matrix(X, "X", columns=Z.shape[1]), "X", Z, "Z"), "X")


def require_bar(K_bar: Matrix, rows: int, columns: int, Z: Matrix) -> None:
    """Raise, naming K_bar, for derivatives of another shape, or not in the kind of Z."""
    _check.alike(_check.matrix(K_bar, "K_bar", rows=rows, columns=columns), "K_bar", Z, "Z")
