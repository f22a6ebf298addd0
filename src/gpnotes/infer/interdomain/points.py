"""Functionals that look at f at points: its values there, and weighted sums of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, cast

from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.xp import Matrix, Vector, array_namespace
from ...model.contracts import InducingVariables, MeanFunction, missing
from ...model.kernels import Kernel

__all__ = ["InducingPoints", "WeightedPoints", "variables_of"]


@dataclass(frozen=True, eq=False)
class InducingPoints:
    """``uₘ = f(zₘ)``, the values of f at the rows of Z (M, d), which is copied.

    ``K_uu = k(Z, Z)`` and ``K_uf = k(Z, X)``. Raises `ValueError` or `TypeError` for a Z that is no
    matrix of finite numbers or has no row; so do all methods for arguments that do not fit.
    Source: Titsias (2009).

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> InducingPoints(np.asarray([[0.0], [1.0]])).gram(RBF()).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    Z: Matrix

    def __post_init__(self) -> None:
        _require_rows(self.Z, "Z")
        _xp.keep_copies(self, "Z")

    @property
    def inputs(self) -> Matrix:
        """Z (M, d)."""
        return self.Z

    @property
    def size(self) -> int:
        """M."""
        return self.Z.shape[0]

    def moved(self, inputs: Matrix) -> Self:
        """The values at other points, `inputs` (M, d)."""
        return replace(self, Z=_moved(self.Z, inputs))

    def apply(self, function: MeanFunction) -> Vector:
        """``g(zₘ)``, (M,)."""
        return _values(function, self.Z)

    def gram(self, kernel: Kernel) -> Matrix:
        """``k(Z, Z)``, (M, M); O(M² d)."""
        _validate(self, kernel)
        return kernel._gram(self.Z, None)

    def gram_pullback(self, kernel: Kernel, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """``(kernel_bar, Z_bar)`` for `K_bar` (M, M)."""
        _validate(self, kernel)
        _validate_bar(self, K_bar, self.size)
        kernel_bar, Z_bar, _ = kernel._pull(self.Z, None, K_bar)
        return kernel_bar, Z_bar

    def cross(self, kernel: Kernel, X: Matrix) -> Matrix:
        """``k(Z, X)``, (M, n), for X (n, d); O(M n d)."""
        _validate(self, kernel)
        _validate_inputs(self, X)
        return kernel._gram(self.Z, X)

    def cross_pullback(self, kernel: Kernel, X: Matrix, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """``(kernel_bar, Z_bar)`` for X (n, d) and `K_bar` (M, n)."""
        _validate(self, kernel)
        _validate_inputs(self, X)
        _validate_bar(self, K_bar, X.shape[0])
        kernel_bar, Z_bar, _ = kernel._pull(self.Z, X, K_bar)
        return kernel_bar, Z_bar


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """``uₘ = Σₚ Wₘₚ f(zₚ)``: differences, integrals by quadrature, any discretised functional.

    `Z` (P, d) holds the points and `weights` W (M, P) the rows of weights; both are copied.
    ``K_uu = W k(Z, Z) Wᵀ`` and ``K_uf = W k(Z, X)``. The points can be moved, the weights stay.
    Raises `ValueError` or `TypeError` for arrays that do not fit; so do all methods.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> Z = np.asarray([[-0.01], [0.01]])
    >>> slope = WeightedPoints(Z, np.asarray([[-50.0, 50.0]]))  # nearly f'(0)
    >>> slope.gram(RBF()).round(3)  # the variance of a derivative of an RBF is 1/ℓ²
    array([[1.]])
    """

    Z: Matrix
    weights: Matrix

    def __post_init__(self) -> None:
        _require_rows(self.Z, "Z")
        _require_rows(_check.matrix(self.weights, "weights", columns=self.Z.shape[0]), "weights")
        _check.alike(self.weights, "weights", self.Z, "Z")
        _xp.keep_copies(self, "Z", "weights")

    @property
    def inputs(self) -> Matrix:
        """Z (P, d)."""
        return self.Z

    @property
    def size(self) -> int:
        """M."""
        return self.weights.shape[0]

    def moved(self, inputs: Matrix) -> Self:
        """The sums with the same weights over other points, `inputs` (P, d)."""
        return replace(self, Z=_moved(self.Z, inputs))

    def apply(self, function: MeanFunction) -> Vector:
        """``Σₚ Wₘₚ g(zₚ)``, (M,)."""
        return self.weights @ _values(function, self.Z)

    def gram(self, kernel: Kernel) -> Matrix:
        """``W k(Z, Z) Wᵀ``, (M, M); O(P² (M + d))."""
        _validate(self, kernel)
        memory.require_square(self.Z.shape[0], like=self.Z, copies=3, what="k(Z, Z)")
        turned = array_namespace(self.Z).matrix_transpose(self.weights)
        return _xp.symmetric_part(self.weights @ kernel._gram(self.Z, None) @ turned)

    def gram_pullback(self, kernel: Kernel, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """``(kernel_bar, Z_bar)`` for `K_bar` (M, M): by k(Z, Z) it is ``Wᵀ K_bar W``."""
        _validate(self, kernel)
        _validate_bar(self, K_bar, self.size)
        turned = array_namespace(self.Z).matrix_transpose(self.weights)
        kernel_bar, Z_bar, _ = kernel._pull(self.Z, None, turned @ K_bar @ self.weights)
        return kernel_bar, Z_bar

    def cross(self, kernel: Kernel, X: Matrix) -> Matrix:
        """``W k(Z, X)``, (M, n), for X (n, d); O(n P (M + d))."""
        _validate(self, kernel)
        _validate_inputs(self, X)
        return self.weights @ kernel._gram(self.Z, X)

    def cross_pullback(self, kernel: Kernel, X: Matrix, K_bar: Matrix) -> tuple[Kernel, Matrix]:
        """``(kernel_bar, Z_bar)`` for X (n, d), `K_bar` (M, n): by k(Z, X) it is ``Wᵀ K_bar``."""
        _validate(self, kernel)
        _validate_inputs(self, X)
        _validate_bar(self, K_bar, X.shape[0])
        turned = array_namespace(self.Z).matrix_transpose(self.weights)
        kernel_bar, Z_bar, _ = kernel._pull(self.Z, X, turned @ K_bar)
        return kernel_bar, Z_bar


def variables_of(Z: Matrix | InducingVariables) -> InducingVariables:
    """Inducing variables: those of the contract as they are, a matrix Z as points."""
    if not isinstance(Z, type) and not missing(Z, InducingVariables):
        return cast(InducingVariables, Z)
    return InducingPoints(cast(Matrix, Z))


def _moved(Z: Matrix, inputs: Matrix) -> Matrix:
    _check.matrix(inputs, "inputs", rows=Z.shape[0], columns=Z.shape[1])
    return _check.alike(inputs, "inputs", Z, "Z")


def _require_rows(a: Matrix, name: str) -> None:
    if _check.matrix(a, name).shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {a.shape}")


def _values(function: MeanFunction, Z: Matrix) -> Vector:
    """The values (n,) of a function at points Z (n, d)."""
    values = _check.function(function, "function")(Z)
    return _check.vector(values, "function(Z)", size=Z.shape[0])


def _validate(variables: InducingPoints | WeightedPoints, kernel: Kernel) -> None:
    """Raise, naming the argument, for a kernel that does not go with the points."""
    _check.instance(kernel, "kernel", Kernel)
    kernel._validate(variables.Z, "Z")


def _validate_inputs(variables: InducingPoints | WeightedPoints, X: Matrix) -> None:
    _check.matrix(X, "X", columns=variables.Z.shape[1])
    _check.alike(X, "X", variables.Z, "Z")


def _validate_bar(variables: InducingPoints | WeightedPoints, K_bar: Matrix, columns: int) -> None:
    _check.matrix(K_bar, "K_bar", rows=variables.size, columns=columns)
    _check.alike(K_bar, "K_bar", variables.Z, "Z")
