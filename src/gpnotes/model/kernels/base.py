"""The base class of all kernels: four hooks that a class brings, and the public methods over them.

A kernel is a frozen dataclass whose fields are its hyperparameters. The public methods check their
arguments once; the hooks behind them, ``_gram``, ``_diag``, ``_pullback`` and ``_diag_pullback``,
check nothing. How kernels combine is in `algebra`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import Field, fields, is_dataclass
from typing import Any, ClassVar, Self

from ...fast.tiled_kernels import ByHooks
from ...fast.tiles import TiledKernel
from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.params import holds_derivatives, settle
from ...ground.xp import Matrix, MatrixLike, Numbers, Vector, array_namespace, to_numpy

__all__ = ["KernelBase"]

_SHORT = 1e-30  # whatever is longer has a reciprocal in every dtype


class KernelBase(ABC):
    """A covariance function by its four hooks; subclass `Kernel`, which adds and multiplies.

    Kernels compare by their hyperparameters and print them, also where ``@dataclass`` would write
    its own methods.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # what ``@dataclass`` puts there

    __array_ufunc__ = None  # array * kernel is ours to refuse: NumPy would make an array of kernels

    reads_inputs: ClassVar[bool] = True  # False where no column of x is looked at

    in_place: ClassVar[bool] = False  # whether `fast.stationary_evidence` can work for the class

    def __init_subclass__(cls) -> None:
        """Keep ``@dataclass`` from writing methods that cannot compare arrays."""
        super().__init_subclass__()
        for name in ("__eq__", "__hash__", "__repr__"):
            if name not in vars(cls):
                setattr(cls, name, getattr(cls, name))

    def __new__(cls, *_: object, **__: object) -> Self:
        """Refuse a class that lacks a hook, and one without fields for its hyperparameters."""
        lacking = sorted(getattr(cls, "__abstractmethods__", ()))
        if lacking:
            raise TypeError(
                f"{cls.__name__} must bring {', '.join(lacking)}: hooks of its base class"
            )
        if not is_dataclass(cls):
            wanted = "a dataclass, @dataclass(frozen=True), whose fields are its hyperparameters"
            raise TypeError(f"{cls.__name__} must be {wanted}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        settle(self)

    @abstractmethod
    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        """The matrix that calling the kernel returns, (n, m): `z` is None for x with itself."""

    @abstractmethod
    def _diag(self, x: Matrix) -> Vector:
        """The diagonal of ``_gram(x, None)``, (n,)."""

    @abstractmethod
    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        """The answer of `pullback`: ``(kernel_bar, x_bar, z_bar)``, the first by `cotangent`."""

    @abstractmethod
    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        """The answer of `diag_pullback`: ``(kernel_bar, x_bar)``."""

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        """The kernel at work on NumPy arrays, tile by tile: a hook that need not be brought."""
        return ByHooks(self, x)

    @property
    def of_pairs(self) -> bool:
        """True if the matrix of x is that of x with x, so that it can be made a few rows at a time.

        It is not for white noise, which is of a row with itself. A class that does not say so
        counts as one that is not.
        """
        return False

    @property
    def labels_rows(self) -> bool:
        """True if the last column of the inputs is a label, 0 for f and k for ∂f/∂x_k.

        A kernel made of others does so if one of them does: they are found among its fields.
        """
        return any(kernel.labels_rows for kernel in _kernels_in(self))

    @property
    def seeks_columns(self) -> bool:
        """True if it names columns of its inputs that were not found yet."""
        return any(kernel.seeks_columns for kernel in _kernels_in(self))

    @takes("x", "z")
    def __call__(self, x: MatrixLike, z: MatrixLike | None = None) -> Matrix:
        """Evaluate the matrix ``[k(xᵢ, zⱼ)]``.

        Without `z`, it is the matrix of x with itself. That is more than ``z = x``: white noise is
        ``variance · I`` there and nothing between two sets of points, equal or not.

        Parameters
        ----------
        x : Matrix, shape (n, d)
            The points of the rows.
        z : Matrix, shape (m, d), optional
            The points of the columns; those of x if it is None.

        Returns
        -------
        Matrix, shape (n, m)
            The covariances; (n, n) without `z`.
        """
        self._validate_both(x, z)
        size = x.shape[0], (x if z is None else z).shape[0]
        memory.require(*size, copies=2, like=x, what="K")
        return self._gram(x, z)

    gram = __call__  # by the name of its hook

    def diag(self, x: Matrix) -> Vector:
        """Evaluate the diagonal of ``kernel(x)`` without the rest of the matrix.

        Parameters
        ----------
        x : Matrix, shape (n, d)
            The points.
        """
        self.validate_inputs(x, "x")
        return self._diag(x)

    def pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        """Carry derivatives by the matrix back to the hyperparameters and the inputs.

        The second half of [eq-fv-pullback].

        Parameters
        ----------
        x : Matrix, shape (n, d)
            The points of the rows.
        z : Matrix, shape (m, d), or None
            The points of the columns; None for the matrix of x with itself.
        K_bar : Matrix, shape (n, m)
            The derivatives by the entries of the matrix; without `z` it need not be symmetric.

        Returns
        -------
        kernel_bar : Kernel
            A kernel of the same class that holds ``Σᵢⱼ K_barᵢⱼ ∂k(xᵢ, zⱼ)/∂θ`` in the place of
            each hyperparameter θ, a float for a float, an array for an array.
        x_bar : Matrix, shape (n, d)
            The derivatives by x; without `z`, the share of both arguments.
        z_bar : Matrix, shape (m, d), or None
            The derivatives by z; None without `z`.
        """
        self._validate_both(x, z)
        _check.matrix(K_bar, "K_bar", rows=x.shape[0], columns=(x if z is None else z).shape[0])
        _check.alike(K_bar, "K_bar", x, "x")
        return self._pullback(x, z, K_bar)

    def diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        """Carry derivatives by the diagonal back through `diag`.

        Parameters
        ----------
        x : Matrix, shape (n, d)
            The points.
        d_bar : Vector, shape (n,)
            The derivatives by the entries of the diagonal.

        Returns
        -------
        kernel_bar : Kernel
            A kernel of the same class that holds the derivatives by its hyperparameters.
        x_bar : Matrix, shape (n, d)
            The derivatives by x.
        """
        self.validate_inputs(x, "x")
        _check.alike(_check.vector(d_bar, "d_bar", size=x.shape[0]), "d_bar", x, "x")
        return self._diag_pullback(x, d_bar)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelBase) or type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Hashable, ...]:
        """The class and the hyperparameters, arrays by kind and entries, that equality compares."""
        return type(self), *(_hashable(getattr(self, item.name)) for item in fields(self))

    def __repr__(self) -> str:
        values = (f"{item.name}={_shown(getattr(self, item.name))}" for item in fields(self))
        return f"{type(self).__name__}({', '.join(values)})"

    def on_tiles(self, x: Matrix) -> TiledKernel:
        """Put the kernel to work on the tiles of its matrix of x with itself, NumPy arrays."""
        self.validate_inputs(x, "x")
        return self._on_tiles(x)

    def validate_inputs(self, x: Matrix, name: str) -> None:
        """Raise, naming the argument, if `x` is no finite matrix or no input of this kernel."""
        self._validate_inputs(_check.matrix(x, name), name)

    def _validate_both(self, x: Matrix, z: Matrix | None) -> None:
        self.validate_inputs(x, "x")
        if z is not None:
            self._validate_inputs(_check.matrix(z, "z", columns=x.shape[1]), "z")
            _check.alike(z, "z", x, "x")

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        """`validate_inputs` of a finite matrix."""
        if holds_derivatives(self):
            raise TypeError(f"{self!r} holds derivatives and cannot be called as a kernel")
        if x.shape[1] == 0:
            raise ValueError(f"{name} must have at least one column; got {tuple(x.shape)}")
        for item in fields(self):
            value = getattr(self, item.name)
            label = f"{type(self).__name__}.{item.name}"
            if isinstance(value, float):
                if value < _SHORT and item.metadata.get("unit") == "x":
                    _require_reciprocal(value, label, x)
            elif getattr(value, "ndim", 0) == 1:
                _check.alike(value, label, x, name)
                if value.shape[0] != x.shape[1]:
                    wanted = f"(n, {value.shape[0]}) to match {label}"
                    raise ValueError(f"{name} must have shape {wanted}; got {tuple(x.shape)}")


def require_power(
    x: Matrix, name: str, power: int, *, scale: Numbers, bias: float, room: float
) -> None:
    """Refuse inputs for which ``(Σ scale x² + bias)^power``, `room` times as large, overflows."""
    if not x.shape[0]:
        return
    xp = array_namespace(x)
    largest = float(xp.max(xp.abs(x * scale**0.5)))
    reach = math.hypot(largest * x.shape[1] ** 0.5, abs(bias) ** 0.5)
    if reach > (float(xp.finfo(x.dtype).max) / room) ** (0.5 / power):
        what = f"|u|^{2 * power} overflows in {x.dtype}"
        raise _check.NoValueError(f"{name} must be smaller in size: {what}")


def require_moderate(kernel: KernelBase, x: Matrix | Vector) -> None:
    """Refuse a lengthscale whose fourth power, or one over that, overflows."""
    length = getattr(kernel, "lengthscale", 1.0)
    most = 0.1 * float(array_namespace(x).finfo(x.dtype).max) ** 0.25
    if not 1.0 / most <= length <= most:
        wanted = f"{type(kernel).__name__}.lengthscale must be from {1.0 / most:.0e} to {most:.0e}"
        raise _check.NoValueError(f"{wanted} in {x.dtype}; got {length}")


def _require_reciprocal(length: float, name: str, x: Matrix) -> None:
    """Refuse a length by which x cannot be divided: a float may be too short for float32."""
    if length * float(array_namespace(x).finfo(x.dtype).max) < 1.0:
        raise _check.NoValueError(f"{name} must be larger: 1 / {length} overflows in {x.dtype}")


def _kernels_in(kernel: KernelBase) -> list[KernelBase]:
    """The kernels that its fields hold, by themselves or in tuples."""
    values = [getattr(kernel, item.name) for item in fields(kernel)]
    held = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return [part for part in held if isinstance(part, KernelBase)]


def _hashable(value: Any) -> Hashable:
    if getattr(value, "ndim", 0) == 0:
        return value
    host = to_numpy(value)
    return type(value), str(value.dtype), host.shape, *host.ravel().tolist()


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if getattr(value, "ndim", 0) > 0:
        return _shown(to_numpy(value).tolist())
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(value)
