"""Kernel algebra: sum, product, scaling, power, a choice of columns, and numbers as kernels.

All of them are kernels again, so that a whole expression has one matrix and one gradient.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from ...fast import tiled_kernels
from ...fast.tiled_kernels import tiled
from ...fast.tiles import TiledKernel
from ...ground import check as _check
from ...ground.named_columns import at_columns, number_of
from ...ground.params import cotangent, fixed, holds_derivatives, positive
from ...ground.xp import Array, Matrix, Vector, array_namespace, whole_power
from .base import KernelBase
from .part_names import settled_names, shown_parts
from .pullback_sums import added, filled, nothing, products_of_others, total

__all__ = [
    "ActiveDims", "Constant", "Kernel", "Power", "Product", "Scaled", "Sum", "named",
    "named_product",
]  # fmt: skip


class Kernel(KernelBase):
    """A covariance function k(x, z), with the pullbacks of its matrix and of its diagonal.

    Its matrices are positive semidefinite, [eq-fv-psd]. Rows of its arguments are points.
    Kernels add and multiply: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``, ``sum([k1, k2])``; ``k + 1.0``
    adds a `Constant`, ``k ** 2`` is the square of one kernel, and ``k.on(0, 2)`` looks at some
    columns only. Kernels are equal if they are of one class and their
    hyperparameters are equal; arrays among these are copied. ``repr`` is for reading:
    its numbers have six digits.

    Notes
    -----
    A gradient by a kernel, ``kernel_bar``, is an object of the same class that holds derivatives
    in its fields. It is not checked and may have any sign; it can be neither called nor added nor
    multiplied, since ``+`` on kernels does not add their fields.

    A kernel that stands twice in a sum or a product is two kernels: in ``k.on(0) + k.on(1)`` they
    are equal until a fit gives each lengths of its own. ``k ** 2``, unlike ``k * k``, has one set
    of hyperparameters.

    A kernel of your own is a frozen dataclass that brings four hooks: ``_gram``, ``_diag``,
    ``_pullback`` and ``_diag_pullback``; one that depends on distances only subclasses
    `Stationary` and brings two. `gpnotes.testing.check_kernel` says whether it is right.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, White
    >>> kernel = 4.0 * RBF(lengthscale=0.5) + White(0.1)
    >>> kernel(np.asarray([[0.0], [1.0]])).round(4)
    array([[4.1   , 0.5413],
           [0.5413, 4.1   ]])
    """

    if TYPE_CHECKING:  # for an editor: ``found.model.kernel.lengthscale``, whatever its class

        def __getattr__(self, name: str) -> Any: ...

    def on(self, *dims: int | str | Sequence[int | str]) -> ActiveDims:
        """Restrict this kernel to some columns of its inputs.

        Parameters
        ----------
        *dims : int or str
            The columns, distinct: numbers from 0, or names, which are found where the inputs are a
            frame. A list of them will do too.
        """
        listed = len(dims) == 1 and isinstance(dims[0], list | tuple)
        return ActiveDims(self, tuple(cast(Any, dims[0] if listed else dims)))

    def __add__(self, other: Kernel | float) -> Sum:
        """Add a kernel, or a number as the `Constant` of that variance."""
        if isinstance(other, Real):
            other = Constant(other)
        if not isinstance(other, Kernel):
            return NotImplemented
        parts = (*_parts(Sum, self), *_parts(Sum, other))
        return Sum(parts, (*_names_of(Sum, self), *_names_of(Sum, other)))

    def __radd__(self, other: float) -> Kernel:
        """``0 + k``, where ``sum`` starts, is k; any other number is a `Constant`."""
        if type(other) is int and other == 0:
            return self
        return Constant(other) + self if isinstance(other, Real) else NotImplemented

    def __pow__(self, exponent: int) -> Kernel:
        """Multiply the kernel by itself, as one kernel with one set of hyperparameters."""
        exponent = _check.whole(exponent, "exponent", 1)
        return self if exponent == 1 else Power(self, exponent)

    def __mul__(self, other: Kernel | float) -> Kernel:
        if not isinstance(other, Kernel):
            return Scaled(other, self)
        parts = (*_parts(Product, self), *_parts(Product, other))
        return Product(parts, (*_names_of(Product, self), *_names_of(Product, other)))

    __rmul__ = __mul__


def _parts(kind: type[Sum] | type[Product], kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, kind) else (kernel,)


def _names_of(kind: type[Sum] | type[Product], kernel: Kernel) -> tuple[str, ...]:
    """The names of its summands or factors, empty where they have none."""
    names = kernel.names if isinstance(kernel, kind) else ()
    return names or ("",) * len(_parts(kind, kernel))


def named(**parts: Kernel) -> Sum:
    """Add kernels and name them, ``k(x, z) = Σₚ kₚ(x, z)``.

    Parameters
    ----------
    **parts : Kernel
        The summands by their names.

    Returns
    -------
    Sum
        The sum. ``kernel.trend`` is the part of that name, ``kernel.trend.variance`` is the name of
        its variance in reports, ``fixed=``, ``bounds=`` and ``priors=``, and
        ``posterior.part("trend")`` is its posterior. ``+`` keeps the names. Factors of a product
        have theirs by `named_product`.

    Raises
    ------
    ValueError
        If a name is an attribute of kernels, such as ``diag``, or ``mean``, the mean function's.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.4.

    Examples
    --------
    >>> from gpnotes import RBF, Periodic, named
    >>> kernel = named(trend=RBF(9.0, 5.0), season=Periodic() * RBF(1.0, 9.0))
    >>> kernel.trend
    RBF(variance=9, lengthscale=5)
    >>> kernel.season.parts[0].period
    1.0
    """
    return Sum(*_by_name(parts))


def named_product(**parts: Kernel) -> Product:
    """Multiply kernels and name them, ``k(x, z) = Πₚ kₚ(x, z)``.

    Parameters
    ----------
    **parts : Kernel
        The factors by their names.

    Returns
    -------
    Product
        The product. As of `named`, a name is an attribute, and in the names of parameters it
        stands for the number of the factor: ``kernel.wave.period``. ``*`` keeps the names. A
        factor alone has no posterior: a product is one function.

    Raises
    ------
    ValueError
        As `named`.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.4.

    Examples
    --------
    >>> from gpnotes import RBF, Periodic
    >>> season = named_product(wave=Periodic(), decay=RBF(1.0, 90.0))
    >>> season.decay.lengthscale
    90.0
    """
    return Product(*_by_name(parts))


def _by_name(parts: dict[str, Kernel]) -> tuple[tuple[Kernel, ...], tuple[str, ...]]:
    for name, part in parts.items():
        require_kernels(name, part)
    return tuple(parts.values()), tuple(parts)


def leaves_out_labels(kernel: Kernel) -> bool:
    """True if no column that may be a label is looked at: by choice of others, or of all."""
    if isinstance(kernel, Scaled | Power):
        return leaves_out_labels(kernel.kernel)
    if isinstance(kernel, _Combination):
        return all(map(leaves_out_labels, kernel.parts))
    return isinstance(kernel, ActiveDims) or not kernel.reads_inputs


def require_kernels(name: str, *parts: Any) -> None:
    """Refuse an object as `name` of a kernel that is no kernel, nor the derivative of one."""
    for part in parts:
        _check.instance(part, name, Kernel)
        if holds_derivatives(part):
            remedy = "add the vectors of flatten_gradient instead"
            raise TypeError(f"{part!r} holds derivatives, which + does not add; {remedy}")


@dataclass(frozen=True)
class _Combination(Kernel):
    """Several kernels of the same inputs, `parts`, in one."""

    parts: tuple[Kernel, ...]
    names: tuple[str, ...] = fixed(())

    def __post_init__(self) -> None:
        parts = self.parts if isinstance(self.parts, Iterable) else (self.parts,)
        object.__setattr__(self, "parts", tuple(parts))
        require_kernels("parts", *self.parts)
        if not self.parts:
            raise ValueError(f"{type(self).__name__}.parts must hold at least one kernel; got none")
        self._require_labels_known()
        object.__setattr__(self, "names", settled_names(self.names, len(self.parts), _Combination))

    def _require_labels_known(self) -> None:
        """Refuse parts that would take for a coordinate a column that is a label to others."""
        if not self.labels_rows:
            return
        for part in self.parts:
            if not (part.labels_rows or self._leaves_labels(part)):
                wanted = "a kernel of labelled rows beside another, or one that leaves out labels"
                raise TypeError(f"{type(self).__name__}.parts must be {wanted}; got {part!r}")

    @abstractmethod
    def _leaves_labels(self, part: Kernel) -> bool:
        """True if a part that knows no labels can be combined with one that does."""

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        for part in self.parts:
            part._validate_inputs(x, name)

    @property
    def of_pairs(self) -> bool:
        """True if all parts are."""
        return all(part.of_pairs for part in self.parts)

    @property
    def entry_names(self) -> dict[str, tuple[str, ...]]:
        """The names of the parts, which `ground.params` takes for their numbers."""
        return {"parts": self.names}

    def __getattr__(self, name: str) -> Kernel:
        names = vars(self).get("names", ())  # a copy in the making has none
        if not name or name not in names:
            known = f"; its parts are {', '.join(filter(None, names))}" if any(names) else ""
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{known}")
        return self.parts[names.index(name)]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(None, self.names)]

    @abstractmethod
    def __repr__(self) -> str: ...


@dataclass(frozen=True)
class Sum(_Combination):
    """The sum of kernels, ``k(x, z) = Σₚ kₚ(x, z)``, which ``k1 + k2`` makes.

    It is the covariance of the sum of independent functions.

    Parameters
    ----------
    parts : tuple of Kernel
        The summands, at least one; a sum of sums, made by ``+``, is one sum.
    names : tuple of str, default ()
        Their names, all different, as `named` gives them, which are attributes of the sum; ``""``
        for a part without one, and empty where no part has one.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.4.

    Examples
    --------
    >>> from gpnotes import RBF, Linear
    >>> (RBF() + Linear()).parts[1]
    Linear(variance=1)
    """

    def _leaves_labels(self, part: Kernel) -> bool:
        return leaves_out_labels(part)

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return added(part._gram(x, z) for part in self.parts)

    def _diag(self, x: Matrix) -> Vector:
        return added(part._diag(x) for part in self.parts)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        bars, x_bars, z_bars = zip(*(p._pullback(x, z, K_bar) for p in self.parts), strict=True)
        z_bar = None if z is None else added(z_bars)
        return cotangent(self, parts=bars), added(x_bars), z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bars, x_bars = zip(*(p._diag_pullback(x, d_bar) for p in self.parts), strict=True)
        return cotangent(self, parts=bars), added(x_bars)

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return tiled_kernels.Summed(self, [tiled(part, x) for part in self.parts])

    def __repr__(self) -> str:
        return shown_parts(self.names, self.parts, list(map(repr, self.parts)), "named", " + ")


@dataclass(frozen=True)
class Product(_Combination):
    """The product of kernels, ``k(x, z) = Πₚ kₚ(x, z)``, which ``k1 * k2`` makes.

    Parameters
    ----------
    parts : tuple of Kernel
        The factors, at least one.
    names : tuple of str, default ()
        Their names, as of a `Sum`; `named_product` gives them.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.4.

    Examples
    --------
    >>> from gpnotes import RBF, Periodic
    >>> RBF(1.0, 90.0) * Periodic(1.0, 1.3)
    RBF(variance=1, lengthscale=90) * Periodic(variance=1, lengthscale=1.3, period=1)
    """

    def _leaves_labels(self, part: Kernel) -> bool:
        """A constant alone: the derivative of a product is no product of derivatives."""
        return not part.reads_inputs

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return reduce(mul, (part._gram(x, z) for part in self.parts))

    def _diag(self, x: Matrix) -> Vector:
        return reduce(mul, (part._diag(x) for part in self.parts))

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        others = products_of_others([part._gram(x, z) for part in self.parts])
        pulled = (p._pullback(x, z, K_bar * k) for p, k in zip(self.parts, others, strict=True))
        bars, x_bars, z_bars = zip(*pulled, strict=True)
        z_bar = None if z is None else added(z_bars)
        return cotangent(self, parts=bars), added(x_bars), z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        others = products_of_others([part._diag(x) for part in self.parts])
        pulled = (p._diag_pullback(x, d_bar * k) for p, k in zip(self.parts, others, strict=True))
        bars, x_bars = zip(*pulled, strict=True)
        return cotangent(self, parts=bars), added(x_bars)

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return tiled_kernels.Multiplied(self, [tiled(part, x) for part in self.parts])

    def __repr__(self) -> str:
        terms = [f"({p!r})" if isinstance(p, Sum) else repr(p) for p in self.parts]
        return shown_parts(self.names, self.parts, terms, "named_product", " * ")


@dataclass(frozen=True)
class Scaled(Kernel):
    """A multiple of a kernel, ``k(x, z) = scale · k₁(x, z)``, which ``2.0 * k`` makes.

    Parameters
    ----------
    scale : float
        The factor, positive: a hyperparameter.
    kernel : Kernel
        The kernel k₁.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> 2.0 * RBF()
    2 * RBF(variance=1, lengthscale=1)
    """

    scale: float = positive()
    kernel: Kernel = fixed()

    def __post_init__(self) -> None:
        super().__post_init__()
        require_kernels("kernel", self.kernel)

    @property
    def of_pairs(self) -> bool:
        """True if the kernel within is."""
        return self.kernel.of_pairs

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.scale * self.kernel._gram(x, z)

    def _diag(self, x: Matrix) -> Vector:
        return self.scale * self.kernel._diag(x)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        scale_bar = total(K_bar * self.kernel._gram(x, z))
        bar, x_bar, z_bar = self.kernel._pullback(x, z, self.scale * K_bar)
        return cotangent(self, scale=scale_bar, kernel=bar), x_bar, z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bar, x_bar = self.kernel._diag_pullback(x, self.scale * d_bar)
        return cotangent(self, scale=total(d_bar * self.kernel._diag(x)), kernel=bar), x_bar

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return tiled_kernels.Scaled(self, self.scale, tiled(self.kernel, x))

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        self.kernel._validate_inputs(x, name)

    def __repr__(self) -> str:
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.scale:.6g} * {inner}"


@dataclass(frozen=True)
class Constant(Kernel):
    """One random offset, the same at every point: ``k(x, z) = variance``.

    Parameters
    ----------
    variance : float, default 1.0
        The variance of the offset, positive.

    Examples
    --------
    >>> import numpy as np
    >>> Constant(2.0)(np.ones((1, 1)), np.ones((2, 1)))
    array([[2., 2.]])
    """

    reads_inputs: ClassVar[bool] = False

    variance: float = positive(1.0, unit="y²")

    @property
    def of_pairs(self) -> bool:
        """True, but for a subclass."""
        return type(self) is Constant

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return filled(x, z, self.variance)

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.variance)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        return cotangent(self, variance=total(K_bar)), *nothing(x, z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        return cotangent(self, variance=total(d_bar)), nothing(x, None)[0]


@dataclass(frozen=True)
class Power(Kernel):
    """A power of a kernel, ``k(x, z) = k₁(x, z)ᵖ``, which ``k ** 2`` makes.

    The product of p copies of k₁ that share one set of hyperparameters.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁; none of rows that may be derivatives.
    exponent : int, default 2
        p, positive and whole: of other powers the matrix need not be positive semidefinite.

    Notes
    -----
    By the chain rule the derivatives by k₁ are ``p k₁ᵖ⁻¹`` times those by k. Source: Rasmussen &
    Williams (2006), section 4.2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import Linear
    >>> square = (1.0 + Linear()) ** 2
    >>> square
    (Constant(variance=1) + Linear(variance=1)) ** 2
    >>> square(np.asarray([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    kernel: Kernel = fixed()
    exponent: int = fixed(2)

    def __post_init__(self) -> None:
        require_kernels("kernel", self.kernel)
        if self.kernel.labels_rows:  # the derivative of a power is no power of derivatives
            raise TypeError(f"Power.kernel must observe no derivatives; got {self.kernel!r}")
        object.__setattr__(self, "exponent", _check.whole(self.exponent, "exponent", 1))

    @property
    def of_pairs(self) -> bool:
        """True if the kernel within is."""
        return self.kernel.of_pairs

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return whole_power(self.kernel._gram(x, z), self.exponent)

    def _diag(self, x: Matrix) -> Vector:
        return whole_power(self.kernel._diag(x), self.exponent)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        slope = self.exponent * whole_power(self.kernel._gram(x, z), self.exponent - 1)
        bar, x_bar, z_bar = self.kernel._pullback(x, z, K_bar * slope)
        return cotangent(self, kernel=bar), x_bar, z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        slope = self.exponent * whole_power(self.kernel._diag(x), self.exponent - 1)
        bar, x_bar = self.kernel._diag_pullback(x, d_bar * slope)
        return cotangent(self, kernel=bar), x_bar

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return tiled_kernels.Raised(self, self.exponent, tiled(self.kernel, x))

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        self.kernel._validate_inputs(x, name)

    def __repr__(self) -> str:
        combined = isinstance(self.kernel, Sum | Product | Scaled | Power)
        inner = f"({self.kernel!r})" if combined else repr(self.kernel)
        return f"{inner} ** {self.exponent}"


@dataclass(frozen=True)
class ActiveDims(Kernel):
    """A kernel of some columns, ``k₁(x[:, dims], z[:, dims])``, which ``k.on(0, 2)`` makes.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.
    dims : tuple of int or str
        The columns, distinct: numbers from 0, or names of those of a frame. `gpnotes.fit`,
        `gpnotes.condition` and all else that is given the frame with the kernel find the names in
        it, whatever their order; without a frame they are a `ValueError`.
    numbers : tuple of int, default ()
        The numbers of the columns, where names were found.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from gpnotes import Linear
    >>> Linear().on(1)(np.asarray([[7.0, 2.0], [8.0, 3.0]]))
    array([[4., 6.],
           [6., 9.]])
    >>> Linear().on("wind")(pd.DataFrame({"wind": [2.0, 3.0], "temp": [7.0, 8.0]}))
    array([[4., 6.],
           [6., 9.]])
    """

    kernel: Kernel = fixed()
    dims: tuple[int | str, ...] = fixed()
    numbers: tuple[int, ...] = fixed(())

    def __post_init__(self) -> None:
        require_kernels("kernel", self.kernel)
        dims = self.dims if isinstance(self.dims, tuple | list) else (self.dims,)
        dims = tuple(k if isinstance(k, str) else _check.whole(k, "dims", None) for k in dims)
        named = any(isinstance(k, str) for k in dims)
        numbers = tuple(_check.whole(k, "numbers", 0) for k in self.numbers) if named else dims
        below = any(isinstance(k, int) and k < 0 for k in dims)
        if not dims or below or any(len(set(some)) < len(some) for some in (dims, numbers)):
            raise ValueError(f"dims must be distinct columns, numbered from 0; got {dims}")
        if numbers and len(numbers) != len(dims):
            raise ValueError(
                f"numbers must have an entry for each of {len(dims)} dims; got {numbers}"
            )
        object.__setattr__(self, "dims", dims)
        object.__setattr__(self, "numbers", numbers)

    @property
    def of_pairs(self) -> bool:
        """True if the kernel within is."""
        return self.kernel.of_pairs

    @property
    def places(self) -> tuple[int, ...]:
        """The numbers of the columns; a `ValueError` for names that were not yet found."""
        self._require_numbers("X")
        return self.numbers

    @property
    def seeks_columns(self) -> bool:
        """True if it names columns of its inputs that were not found yet."""
        return not self.numbers or self.kernel.seeks_columns

    def at_columns(self, columns: tuple[str, ...], name: str = "X") -> ActiveDims:
        """The same kernel, with the names found among those of the columns of the inputs.

        Parameters
        ----------
        columns : tuple of str
            The names of all columns.
        name : str, default "X"
            The name of the inputs in an error.
        """
        of = (number_of(k, columns, name, self) if isinstance(k, str) else k for k in self.dims)
        numbers = tuple(of)
        kernel = at_columns(self.kernel, tuple(columns[k] for k in numbers if k < len(columns)))
        same = kernel is self.kernel and numbers == self.numbers
        return self if same else ActiveDims(kernel, self.dims, numbers)

    def _require_numbers(self, name: str) -> None:
        if not self.numbers:
            named = [k for k in self.dims if isinstance(k, str)]
            wanted = f"{name} must be a frame with the columns {named}, which {self!r} names"
            remedy = "give the frame, or number the columns, as in `.on(0)`"
            raise ValueError(f"{wanted}; got no names of columns: {remedy}")

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.kernel._gram(self.take_columns(x), None if z is None else self.take_columns(z))

    def _diag(self, x: Matrix) -> Vector:
        return self.kernel._diag(self.take_columns(x))

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        inner_z = None if z is None else self.take_columns(z)
        bar, x_bar, z_bar = self.kernel._pullback(self.take_columns(x), inner_z, K_bar)
        z_bar = None if z is None or z_bar is None else self._put(z_bar, z)
        return cotangent(self, kernel=bar), self._put(x_bar, x), z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bar, x_bar = self.kernel._diag_pullback(self.take_columns(x), d_bar)
        return cotangent(self, kernel=bar), self._put(x_bar, x)

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return tiled_kernels.Wrapped(self, tiled(self.kernel, self.take_columns(x)))

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        self._require_numbers(name)
        if (last := max(self.numbers)) >= x.shape[1]:
            raise ValueError(f"{name} must have more than {last} columns; got {tuple(x.shape)}")
        if self.kernel.labels_rows and self.numbers[-1] != x.shape[1] - 1:
            wanted = f"the last of dims, {self.dims[-1]!r}, as its last column: it holds labels"
            raise ValueError(f"{name} must have {wanted}; got {tuple(x.shape)}")
        self.kernel._validate_inputs(self.take_columns(x), f"{name}[:, {list(self.dims)}]")

    def take_columns(self, x: Array) -> Array:
        """The columns that the inner kernel sees."""
        return array_namespace(x).stack([x[:, k] for k in self.places], axis=1)

    def _put(self, inner: Array, x: Array) -> Array:
        xp = array_namespace(x)
        nothing = xp.zeros_like(x[:, 0])
        place = {k: i for i, k in enumerate(self.places)}
        columns = range(x.shape[1])
        return xp.stack([inner[:, place[k]] if k in place else nothing for k in columns], axis=1)

    def __repr__(self) -> str:
        combined = isinstance(self.kernel, Sum | Product | Scaled | Power)
        inner = f"({self.kernel!r})" if combined else repr(self.kernel)
        return f"{inner}.on({', '.join(map(repr, self.dims))})"
