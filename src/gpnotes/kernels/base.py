"""What every kernel is, and how kernels combine: sum, product, scaling, active dimensions.

A kernel is a frozen dataclass whose fields are its hyperparameters. The public methods stand in
`Kernel` and check their arguments once; each class brings the four functions behind them:
``_gram``, ``_diag``, ``_pull`` and ``_pull_diag``, which check nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from operator import mul
from typing import Any

from .. import _check, _xp, memory
from .._xp import Array, array_namespace
from ..params import cotangent, fixed, holds_derivatives, positive, settle
from .sums import added, products_of_others, total

__all__ = ["ActiveDims", "Kernel", "Product", "Scaled", "Sum"]


class Kernel:
    """A covariance function k(x, z), with the pullbacks of its matrix and of its diagonal.

    Its matrices are positive semidefinite, :eq:`eq-fv-psd`. Rows of its arguments are points.
    Kernels add and multiply: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``; ``k.on(0, 2)`` looks at some
    columns only. Kernels are equal if they are of one class and their hyperparameters are equal;
    arrays among these are copied. What ``repr`` shows is for reading: its numbers have six digits.

    A gradient by a kernel, ``kernel_bar``, is an object of the same class that holds derivatives in
    its fields. It is not checked and may have any sign; to call it, to add or to multiply it is a
    `TypeError`, since ``+`` on kernels does not add their fields.
    What is wrong with the shapes, dtypes or values of arguments is a `ValueError` or a `TypeError`
    that names the argument, what was expected and what came.

    >>> import numpy as np
    >>> from gpnotes import RBF, White
    >>> kernel = 4.0 * RBF(lengthscale=0.5) + White(0.1)
    >>> kernel(np.asarray([[0.0], [1.0]])).round(4)
    array([[4.1   , 0.5413],
           [0.5413, 4.1   ]])
    """

    __array_ufunc__ = None  # array * kernel is ours to refuse: NumPy would make an array of kernels

    def __post_init__(self) -> None:
        settle(self)

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        """The matrix ``[k(xᵢ, zⱼ)]``, (n, m), for x (n, d) and z (m, d).

        Without `z`, the matrix of x with itself. That is more than ``z = x``: white noise is
        ``variance · I`` there and nothing between two sets of points, equal or not. Raises
        `MemoryError` for a matrix that has no room.
        """
        self._admit_both(x, z)
        size = x.shape[0], (x if z is None else z).shape[0]
        memory.require(*size, copies=2, like=x, what="K")
        return self._gram(x, z)

    def diag(self, x: Array) -> Array:
        """The diagonal of ``kernel(x)``, (n,), without the rest of the matrix."""
        self._admit(_check.matrix(x, "x"), "x")
        return self._diag(x)

    def pullback(self, x: Array, z: Array | None, K_bar: Array) -> tuple[Any, Array, Array | None]:
        """Carry ``K_bar`` (n, m) back to ``(kernel_bar, x_bar, z_bar)``.

        ``kernel_bar`` holds ``Σᵢⱼ K_barᵢⱼ ∂k(xᵢ, zⱼ)/∂θ`` in the place of each hyperparameter θ,
        a float for a float, an array for an array. Without `z`, ``x_bar`` holds the share of both
        arguments and ``z_bar`` is None; ``K_bar`` need not be symmetric. The second half of
        :eq:`eq-fv-pullback`.
        """
        self._admit_both(x, z)
        _check.matrix(K_bar, "K_bar", rows=x.shape[0], columns=(x if z is None else z).shape[0])
        _check.alike(K_bar, "K_bar", x, "x")
        return self._pull(x, z, K_bar)

    def diag_pullback(self, x: Array, d_bar: Array) -> tuple[Any, Array]:
        """Carry ``d_bar`` (n,) back through `diag` to ``(kernel_bar, x_bar)``."""
        self._admit(_check.matrix(x, "x"), "x")
        _check.alike(_check.vector(d_bar, "d_bar", size=x.shape[0]), "d_bar", x, "x")
        return self._pull_diag(x, d_bar)

    def on(self, *dims: int) -> ActiveDims:
        """This kernel on the columns `dims` of its inputs."""
        return ActiveDims(self, dims)

    def __add__(self, other: Any) -> Sum:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum((*_parts(Sum, self), *_parts(Sum, other)))

    def __mul__(self, other: Any) -> Kernel:
        if not isinstance(other, Kernel):
            return Scaled(other, self)
        return Product((*_parts(Product, self), *_parts(Product, other)))

    __rmul__ = __mul__

    def __eq__(self, other: Any) -> bool:
        return self._key() == other._key() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        """The class and the hyperparameters, arrays by kind and entries: what makes it equal."""
        return type(self), *(_hashable(getattr(self, item.name)) for item in fields(self))

    def __repr__(self) -> str:
        values = (f"{item.name}={_shown(getattr(self, item.name))}" for item in fields(self))
        return f"{type(self).__name__}({', '.join(values)})"

    def _admit_both(self, x: Array, z: Array | None) -> None:
        self._admit(_check.matrix(x, "x"), "x")
        if z is not None:
            self._admit(_check.matrix(z, "z", columns=x.shape[1]), "z")
            _check.alike(z, "z", x, "x")

    def _admit(self, x: Array, name: str) -> None:
        """Raise if one of the hyperparameters does not go with inputs like `x`."""
        if holds_derivatives(self):
            raise TypeError(f"{self!r} holds derivatives and is no kernel to call")
        if x.shape[1] == 0:
            raise ValueError(f"{name} must have at least one column; got {x.shape}")
        for item in fields(self):
            value = getattr(self, item.name)
            if getattr(value, "ndim", 0) == 1:
                label = f"{type(self).__name__}.{item.name}"
                _check.alike(value, label, x, name)
                if value.shape[0] != x.shape[1]:
                    wanted = f"(n, {value.shape[0]}) to match {label}"
                    raise ValueError(f"{name} must have shape {wanted}; got {x.shape}")


def _hashable(value: Any) -> Any:
    if getattr(value, "ndim", 0) == 0:
        return value
    return type(value), str(value.dtype), *_xp.to_numpy(value).tolist()


def _require_kernels(name: str, *parts: Any) -> None:
    """Refuse what is no kernel, or the derivative of one, as `name` of a kernel."""
    for part in parts:
        _check.instance(part, name, Kernel)
        if holds_derivatives(part):
            remedy = "add the vectors of flatten_gradient instead"
            raise TypeError(f"{part!r} holds derivatives, which + does not add; {remedy}")


def _settle_parts(kernel: Any) -> None:
    parts = kernel.parts if isinstance(kernel.parts, Iterable) else (kernel.parts,)
    object.__setattr__(kernel, "parts", tuple(parts))
    _require_kernels("parts", *kernel.parts)
    if not kernel.parts:
        raise ValueError(f"{type(kernel).__name__}.parts must hold at least one kernel; got none")


def _admit_parts(kernel: Any, x: Array, name: str) -> None:
    for part in kernel.parts:
        part._admit(x, name)


def _parts(kind: type, kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, kind) else (kernel,)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if getattr(value, "ndim", 0) == 1:
        return "[" + ", ".join(f"{float(entry):.6g}" for entry in _xp.to_numpy(value)) + "]"
    return repr(value)


@dataclass(frozen=True, repr=False, eq=False)
class Sum(Kernel):
    """``k(x, z) = Σₚ kₚ(x, z)``, what ``k1 + k2`` makes: the covariance of independent functions'
    sum.

    `parts` holds the summands; a sum of sums is one sum.
    Source: Rasmussen & Williams (2006), section 4.2.4.

    >>> from gpnotes import RBF, Linear
    >>> (RBF() + Linear()).parts[1]
    Linear(variance=1)
    """

    parts: tuple[Kernel, ...]

    __post_init__, _admit = _settle_parts, _admit_parts

    def _gram(self, x: Array, z: Array | None) -> Array:
        return added(part._gram(x, z) for part in self.parts)

    def _diag(self, x: Array) -> Array:
        return added(part._diag(x) for part in self.parts)

    def _pull(self, x: Array, z: Array | None, K_bar: Array) -> tuple[Any, Array, Array | None]:
        bars, x_bars, z_bars = zip(*(p._pull(x, z, K_bar) for p in self.parts), strict=True)
        z_bar = None if z is None else added(z_bars)
        return cotangent(self, parts=bars), added(x_bars), z_bar

    def _pull_diag(self, x: Array, d_bar: Array) -> tuple[Any, Array]:
        bars, x_bars = zip(*(p._pull_diag(x, d_bar) for p in self.parts), strict=True)
        return cotangent(self, parts=bars), added(x_bars)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


@dataclass(frozen=True, repr=False, eq=False)
class Product(Kernel):
    """``k(x, z) = Πₚ kₚ(x, z)``, what ``k1 * k2`` makes; `parts` holds the factors.

    Source: Rasmussen & Williams (2006), section 4.2.4.

    >>> from gpnotes import RBF, Periodic
    >>> RBF(1.0, 90.0) * Periodic(1.0, 1.3)
    RBF(variance=1, lengthscale=90) * Periodic(variance=1, lengthscale=1.3, period=1)
    """

    parts: tuple[Kernel, ...]

    __post_init__, _admit = _settle_parts, _admit_parts

    def _gram(self, x: Array, z: Array | None) -> Array:
        return reduce(mul, (part._gram(x, z) for part in self.parts))

    def _diag(self, x: Array) -> Array:
        return reduce(mul, (part._diag(x) for part in self.parts))

    def _pull(self, x: Array, z: Array | None, K_bar: Array) -> tuple[Any, Array, Array | None]:
        others = products_of_others([part._gram(x, z) for part in self.parts])
        pulled = (p._pull(x, z, K_bar * k) for p, k in zip(self.parts, others, strict=True))
        bars, x_bars, z_bars = zip(*pulled, strict=True)
        z_bar = None if z is None else added(z_bars)
        return cotangent(self, parts=bars), added(x_bars), z_bar

    def _pull_diag(self, x: Array, d_bar: Array) -> tuple[Any, Array]:
        others = products_of_others([part._diag(x) for part in self.parts])
        pulled = (p._pull_diag(x, d_bar * k) for p, k in zip(self.parts, others, strict=True))
        bars, x_bars = zip(*pulled, strict=True)
        return cotangent(self, parts=bars), added(x_bars)

    def __repr__(self) -> str:
        return " * ".join(f"({p!r})" if isinstance(p, Sum) else repr(p) for p in self.parts)


@dataclass(frozen=True, repr=False, eq=False)
class Scaled(Kernel):
    """``k(x, z) = scale · k₁(x, z)``, what ``2.0 * k`` makes; the scale is a hyperparameter.

    >>> from gpnotes import RBF
    >>> 2.0 * RBF()
    2 * RBF(variance=1, lengthscale=1)
    """

    scale: float = positive()
    kernel: Kernel = fixed()

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_kernels("kernel", self.kernel)

    def _gram(self, x: Array, z: Array | None) -> Array:
        return self.scale * self.kernel._gram(x, z)

    def _diag(self, x: Array) -> Array:
        return self.scale * self.kernel._diag(x)

    def _pull(self, x: Array, z: Array | None, K_bar: Array) -> tuple[Any, Array, Array | None]:
        scale_bar = total(K_bar * self.kernel._gram(x, z))
        bar, x_bar, z_bar = self.kernel._pull(x, z, self.scale * K_bar)
        return cotangent(self, scale=scale_bar, kernel=bar), x_bar, z_bar

    def _pull_diag(self, x: Array, d_bar: Array) -> tuple[Any, Array]:
        bar, x_bar = self.kernel._pull_diag(x, self.scale * d_bar)
        return cotangent(self, scale=total(d_bar * self.kernel._diag(x)), kernel=bar), x_bar

    def _admit(self, x: Array, name: str) -> None:
        self.kernel._admit(x, name)

    def __repr__(self) -> str:
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.scale:.6g} * {inner}"


@dataclass(frozen=True, repr=False, eq=False)
class ActiveDims(Kernel):
    """``k(x, z) = k₁(x[:, dims], z[:, dims])``, what ``k.on(0, 2)`` makes; columns count from 0.

    >>> import numpy as np
    >>> from gpnotes import Linear
    >>> Linear().on(1)(np.asarray([[7.0, 2.0], [8.0, 3.0]]))
    array([[4., 6.],
           [6., 9.]])
    """

    kernel: Kernel = fixed()
    dims: tuple[int, ...] = fixed()

    def __post_init__(self) -> None:
        _require_kernels("kernel", self.kernel)
        dims = self.dims if isinstance(self.dims, tuple | list) else (self.dims,)
        dims = tuple(_check.whole(k, "dims", None) for k in dims)
        if not dims or len(set(dims)) < len(dims) or min(dims) < 0:
            raise ValueError(f"dims must be distinct columns from 0; got {dims}")
        object.__setattr__(self, "dims", dims)

    def _gram(self, x: Array, z: Array | None) -> Array:
        return self.kernel._gram(self._take(x), None if z is None else self._take(z))

    def _diag(self, x: Array) -> Array:
        return self.kernel._diag(self._take(x))

    def _pull(self, x: Array, z: Array | None, K_bar: Array) -> tuple[Any, Array, Array | None]:
        inner_z = None if z is None else self._take(z)
        bar, x_bar, z_bar = self.kernel._pull(self._take(x), inner_z, K_bar)
        z_bar = None if z is None else self._put(z_bar, z)
        return cotangent(self, kernel=bar), self._put(x_bar, x), z_bar

    def _pull_diag(self, x: Array, d_bar: Array) -> tuple[Any, Array]:
        bar, x_bar = self.kernel._pull_diag(self._take(x), d_bar)
        return cotangent(self, kernel=bar), self._put(x_bar, x)

    def _admit(self, x: Array, name: str) -> None:
        if max(self.dims) >= x.shape[1]:
            raise ValueError(f"{name} must have more than {max(self.dims)} columns; got {x.shape}")
        self.kernel._admit(self._take(x), f"{name}[:, {list(self.dims)}]")

    def _take(self, x: Array) -> Array:
        return array_namespace(x).stack([x[:, k] for k in self.dims], axis=1)

    def _put(self, inner: Array, x: Array) -> Array:
        xp = array_namespace(x)
        nothing = xp.zeros_like(x[:, 0])
        place = {k: i for i, k in enumerate(self.dims)}
        columns = range(x.shape[1])
        return xp.stack([inner[:, place[k]] if k in place else nothing for k in columns], axis=1)

    def __repr__(self) -> str:
        combined = isinstance(self.kernel, Sum | Product | Scaled)
        inner = f"({self.kernel!r})" if combined else repr(self.kernel)
        return f"{inner}.on({', '.join(map(str, self.dims))})"
