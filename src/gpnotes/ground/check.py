"""Checks of the public door: shapes and values, with errors that name both.

Every function returns its argument, so that a public function reads
``X = matrix(X, "X")``. Arguments that a public function passes on are not checked again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from numbers import Real
from operator import index
from typing import Any, NamedTuple, SupportsIndex, TypeVar

import numpy as np

from .late_reads import expect
from .namespace import refusal
from .xp import (
    Array,
    Matrix,
    Namespace,
    Numbers,
    Vector,
    array_namespace,
    device,
    device_elsewhere,
    epsilon,
    fused,
    how_many,
    largest,
    symmetric_part,
)

T = TypeVar("T")  # what is checked comes back as what it was
Derivatives = TypeVar("Derivatives", bound=NamedTuple)

_ROUNDED = 1e5  # times eps and the largest eigenvalue: what is as far below zero is zero
_REAL = (np.dtype(np.float32), np.dtype(np.float64))
_FEW = 8  # numbers that a message may hold


class NoValueError(ValueError, RuntimeError, ArithmeticError):
    """The error for arguments of the right kind without a value, as by an overflow.

    Whoever gives such arguments gets a `ValueError`, and whoever sees an iteration leap there a
    `RuntimeError`. It is an `ArithmeticError` too, from which a fit turns back as from a wall: it
    says so in the message of its run.
    """


def matrix(a: Matrix, name: str, *, rows: int | None = None, columns: int | None = None) -> Matrix:
    """Return `a` if it is a finite real matrix with the stated numbers of rows and columns.

    An argument that is no array of float32 or float64 is a `TypeError`, another shape a
    `ValueError`, and entries that are not finite are a `NoValueError`; so it is in all functions
    for arrays here.
    """
    _floating(a, name)
    wanted = ("n" if rows is None else rows, "d" if columns is None else columns)
    if a.ndim != 2 or rows not in (None, a.shape[0]) or columns not in (None, a.shape[1]):
        remedy = _as_matrix(a, name, columns)
        said = f"{name} must have shape ({wanted[0]}, {wanted[1]}); got {tuple(a.shape)}{remedy}"
        raise ValueError(said)
    return _finite(a, name)


def _as_matrix(a: Array, name: str, columns: int | None) -> str:
    """Return the advice for a vector where a matrix is wanted."""
    if a.ndim != 1:
        return ""
    column = f": give {name}[:, None] for one column"
    row = f": give {name}[None, :] for one row"
    if columns in (None, 1):
        return f"{column}, {name}[None, :] for one row" if columns is None else column
    return row if columns == a.shape[0] else ""


def square(a: Matrix, name: str) -> Matrix:
    """Return `a` if it is a finite real matrix with as many rows as columns."""
    _floating(a, name)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"{name} must have shape (n, n); got {tuple(a.shape)}")
    return _finite(a, name)


def symmetric(a: Matrix, name: str) -> Matrix:
    """Return `a` if it is square, and its own transpose up to rounding."""
    return _symmetric(square(a, name), name)


def _symmetric(a: Matrix, name: str) -> Matrix:
    xp = array_namespace(a)
    gap = float(xp.sum(xp.abs(a - xp.matrix_transpose(a))))
    if gap > math.sqrt(epsilon(a)) * float(xp.sum(xp.abs(a))):
        raise ValueError(f"{name} must be symmetric; its transpose differs from it by {gap:.3g}")
    return a


def vector(
    a: Vector, name: str, *, size: int | None = None, rows: Matrix | None = None, of: str = "X"
) -> Vector:
    """Return `a` if it is a finite real vector of the stated size, or as long as there are `rows`.

    Errors call the rows `of`.
    """
    _floating(a, name)
    size = size if rows is None else rows.shape[0]
    if a.ndim != 1 or size not in (None, a.shape[0]):
        n = "n" if size is None else size
        column = a.ndim == 2 and a.shape[1] and size in (None, a.shape[0])
        one = "" if a.shape[-1:] == (1,) else "one column at a time, as "
        remedy = f": give {one}{name}[:, 0]" if column else turned(a, rows, of)
        raise ValueError(f"{name} must have shape ({n},); got {tuple(a.shape)}{remedy}")
    return _finite(a, name)


def turned(a: Array, rows: Matrix | None, of: str = "X") -> str:
    """Return the advice where `a` has an entry for each column of the rows, and none for a row."""
    if rows is None or rows.ndim != 2 or a.shape[:1] != rows.shape[1:]:
        return ""
    return f": {of} has shape {tuple(rows.shape)}; give {of}.T if its columns are the observations"


def semidefinite(
    a: Matrix, name: str, *, size: int | None = None, error: type[ValueError] = NoValueError
) -> Matrix:
    """Return `a` (n, n) made symmetric, if it is a covariance: symmetric, no eigenvalue below zero.

    Both up to rounding: an eigenvalue may lie below zero by ``min(√eps, 1e5 eps)`` of the largest,
    the rounding of a covariance that was computed as a difference. `error` is the class of the
    error for one that is lower.
    """
    if size is not None and getattr(a, "shape", (size, size)) != (size, size):
        raise ValueError(f"{name} must have shape ({size}, {size}); got {tuple(a.shape)}")
    return _semidefinite(square(a, name), name, error)


def _semidefinite(a: Matrix, name: str, error: type[ValueError]) -> Matrix:
    xp = array_namespace(_symmetric(a, name))
    a = symmetric_part(a)
    if 0 in a.shape:
        return a
    values = xp.linalg.eigvalsh(a)
    least = float(xp.min(values))
    most = float(xp.max(values))
    if not least >= -min(math.sqrt(epsilon(a)), _ROUNDED * epsilon(a)) * abs(most):
        raise error(
            f"{name} must be positive semidefinite; its smallest eigenvalue is {least:.3g}, its "
            f"largest {most:.3g}"
        )
    return a


def normal(
    m: Vector, S: Matrix, *, size: int | None = None, names: tuple[str, str] = ("m", "S")
) -> Matrix:
    """Return S made symmetric, if ``N(m, S)`` is a normal distribution of `size` entries."""
    mean, covariance = names
    k = vector(m, mean, size=size).shape[0]
    alike(matrix(S, covariance, rows=k, columns=k), covariance, m, mean)
    squarable(m, mean)
    return _semidefinite(squarable(S, covariance), covariance, NoValueError)


def array(a: Array, name: str) -> Array:
    """Return `a` if it is an array, of any dtype and shape, else raise `TypeError`."""
    try:
        array_namespace(a)
    except TypeError:
        calls = [call for call in ("to_numpy", "toarray", "collect") if hasattr(a, call)]
        remedy = f": give {name}.{calls[0]}()" if calls else ""
        raise TypeError(f"{name} must be an array; got {kind_of(a)}{remedy}") from None
    return a


def floating(a: Array, name: str) -> Array:
    """Return `a` if it is an array of float32 or float64, of any shape, else raise `TypeError`."""
    _floating(a, name)
    return a


def mean_and_variance(mean: Array, variance: Array) -> Namespace:
    """Return the namespace of a mean and a variance of one shape and kind, entry by entry."""
    floating(mean, "mean")
    alike(floating(variance, "variance"), "variance", mean, "mean")
    if mean.shape != positive(variance, "variance", zero=True).shape:
        wanted = f"the shape of mean, {tuple(mean.shape)}"
        raise ValueError(f"variance must have {wanted}; got {tuple(variance.shape)}")
    return array_namespace(_finite(mean, "mean"), variance)


def positive(value: T, name: str, *, zero: bool = False) -> T:
    """Return `value`, a float or an array, if every entry is finite and positive.

    With `zero`, entries may be zero. Anything else is a `TypeError`; a bool and an array of them
    are no numbers.
    """
    given: Any = value
    if isinstance(given, int | float) and not isinstance(given, bool):
        good = _is_finite(given) and (given >= 0 if zero else given > 0)
    elif type(given) is np.ndarray and given.dtype in _REAL:
        good = bool((np.isfinite(given) & ((given >= 0) if zero else (given > 0))).all())
    else:
        good = _is_positive(given, name, zero)
    if not good:
        wanted = "non-negative" if zero else "positive"
        raise ValueError(f"{name} must be {wanted} and finite; got {_not_positive(value, zero)}")
    return value


def _not_positive(value: Any, zero: bool) -> str:
    """A number, a few, or where the first stands of many that are not all positive."""
    if getattr(value, "ndim", 0) == 0 or math.prod(value.shape) <= _FEW:
        return str(value)
    xp = array_namespace(value)
    count, row = how_many(~(xp.isfinite(value) & ((value >= 0) if zero else (value > 0))))
    return f"{count} that are not, the first in row {row}: {value[row, ...]}"


def _is_positive(value: Any, name: str, zero: bool) -> bool:
    """Tell it of an array of any library, or refuse another value."""
    xp = _real(value, name)
    if 0 not in value.shape and expect(lambda: _wrong_signs(value, float(zero)), 1.0):
        return True
    return bool(xp.all(xp.isfinite(value) & ((value >= 0) if zero else (value > 0))))


@fused
def _wrong_signs(value: Array, zero: float) -> Array:
    """0 where all are finite and positive, or zero where that is 1."""
    xp = array_namespace(value)
    good = (value - value == 0.0) & ((value > 0.0) | ((value == 0.0) & (zero > 0.0)))
    return xp.max(xp.where(good, 0.0, 1.0))


def _real(value: Any, name: str) -> Namespace:
    """The namespace of an array of real numbers; `TypeError` for anything else."""
    try:
        xp = array_namespace(value)
    except TypeError:
        raise TypeError(f"{name} must be a number or an array; got {kind_of(value)}") from None
    if not xp.isdtype(value.dtype, ("real floating", "integral")):
        raise TypeError(f"{name} must hold real numbers; got {value.dtype}")
    return xp


def kind_of(value: object) -> str:
    """Return the kind of a value in words, for an error message."""
    if got := refusal(value):
        return got
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def cotangent(bar: Array, name: str, like: Array) -> Array:
    """Return `bar` if it may hold the derivatives by `like`: finite, of its shape and its kind."""
    if type(bar) is not type(like) or bar.dtype != like.dtype:  # the rest costs a rollout time
        _floating(bar, name)
    if bar.shape != like.shape:
        raise ValueError(f"{name} must have shape {tuple(like.shape)}; got {tuple(bar.shape)}")
    return _finite(alike(bar, name, like, "what it is a derivative by"), name)


def cotangents(bar: Derivatives, name: str, like: Derivatives) -> Derivatives:
    """Return `bar`, a named tuple, if each part may be a derivative by the same part of `like`."""
    if not isinstance(bar, tuple) or len(bar) != len(like):
        wanted = f"a {type(like).__name__} of derivatives, {', '.join(like._fields)}"
        raise TypeError(f"{name} must be {wanted}; got {kind_of(bar)}")
    for field, part, other in zip(like._fields, bar, like, strict=True):
        cotangent(part, f"{name}.{field}", other)
    return bar


def alike(a: Array, name: str, other: Array, other_name: str) -> Array:
    """Return `a` if it has the namespace, dtype and device of `other`, else raise `TypeError`."""
    if type(a) is type(other) and a.dtype == other.dtype and device(a) == device(other):
        return a
    for what, kind in (("namespace", array_namespace), ("dtype", _dtype), ("device", device)):
        if kind(a) != kind(other):
            said = f"{name} must have the {what} of {other_name}, {_word(kind(other))}"
            remedy = (
                f": give {name}.astype({_word(kind(other))!r})" if _is_host_dtype(a, what) else ""
            )
            raise TypeError(f"{said}; got {_word(kind(a))}{remedy}")
    return a


def _is_host_dtype(a: object, what: str) -> bool:
    """Return True if only the dtype of an array of NumPy is wrong, which one call mends."""
    return what == "dtype" and isinstance(a, np.ndarray)


def _dtype(a: Array) -> object:
    return a.dtype


def _word(thing: object) -> str:
    return getattr(thing, "__name__", str(thing)).removeprefix("array_api_compat.")


def finite(value: T, name: str) -> T:
    """Return `value`, a float or an array, if every entry is finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        _real(value, name)
        _finite(value, name)
    elif not _is_finite(value):
        raise NoValueError(f"{name} must be finite; got {value}")
    return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def whole(value: SupportsIndex, name: str, least: int | None = 0, most: int | None = None) -> int:
    """Return `value` as an int, if it is a whole number from `least` to `most`.

    None for either means that there is no such limit.

    Integers of Python and NumPy are taken; a bool, 2.0 and "2" are no whole numbers but a slip,
    and so a `TypeError`. A number out of range is a `ValueError`.
    """
    got = value if type(value) is int else whole_or_none(value)
    if got is not None and (least is None or got >= least) and (most is None or got <= most):
        return got
    wanted = "a whole number" + ("" if least is None else f" from {least}")
    wanted += "" if most is None else f" to {most}"
    if got is None:
        raise TypeError(f"{name} must be {wanted}; got {value!r}")
    raise ValueError(f"{name} must be {wanted}; got {got}")


def whole_or_none(value: Any) -> int | None:
    """`value` as an int, if it is a whole number; a bool is none."""
    if isinstance(value, bool) or getattr(value, "dtype", None) == "bool":
        return None
    try:
        return index(value)
    except TypeError:
        return None


def entries(
    values: Iterable[SupportsIndex],
    name: str,
    size: int,
    of: str,
    *,
    repeat: bool = False,
    back: bool = False,
) -> tuple[int, ...]:
    """Return `values` as a tuple, if they are whole numbers from 0 to size − 1.

    Each may occur once, unless `repeat`. `of` names in the error the thing that they are entries
    of. With `back`, −1 is the last, and so on.
    """
    try:
        given = [whole_or_none(value) for value in values]
    except TypeError:
        given = [None]
    got = tuple(entry for entry in given if entry is not None)
    if len(got) < len(given):
        raise TypeError(f"{name} must be whole numbers, entries of {of}; got {values!r}")
    least = -size if back else 0
    if any(not least <= entry < size for entry in got):
        raise ValueError(f"{name} must be entries {least} to {size - 1} of {of}; got {got}")
    got = tuple(entry % size for entry in got)
    if not repeat and len(set(got)) < len(got):
        raise ValueError(f"{name} must name each entry once; got {got}")
    return got


def flag(value: bool, name: str) -> bool:
    """Return `value` as a bool, if it is one of Python or NumPy: "no", 0 and None are refused."""
    if type(value).__name__ != "bool":
        raise TypeError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def choice(value: str, name: str, among: Iterable[str]) -> str:
    """Return `value` if it is one of the words of `among`."""
    words = list(among)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {words}; got {kind_of(value)}")
    if value not in words:
        raise ValueError(f"{name} must be one of {words}; got {value!r}")
    return value


def number(value: Numbers, name: str) -> float:
    """Return `value` as a float, if it is one finite real number and no bool."""
    if isinstance(value, bool) or not (isinstance(value, Real) or getattr(value, "ndim", 1) == 0):
        raise TypeError(f"{name} must be a number; got {kind_of(value)}")
    if not isinstance(value, Real):
        _real(value, name)
    return float(finite(value, name)) if isinstance(value, Real) else finite(float(value), name)


def squarable(a: Array, name: str) -> Array:
    """Return `a`, finite already, if products of a few of its entries do not overflow."""
    if math.prod(a.shape) and not has_squares(a):
        wanted = f"smaller than {_squares_end(a):.1g} in size"
        raise NoValueError(f"{name} must be {wanted}: squares overflow")
    return a


def has_squares(a: Array) -> bool:
    """Tell if products of a few entries of `a` do not overflow; no NaN has such products."""
    if _looked_at_later(a, _squares_end(a)):
        return True
    xp, end = array_namespace(a), _squares_end(a)
    return float(xp.max(a)) < end and float(xp.min(a)) > -end


def _squares_end(a: Array) -> float:
    return float(array_namespace(a).finfo(a.dtype).max) ** 0.4


def _looked_at_later(a: Array, limit: float = math.inf) -> bool:
    """True in a trial, at whose end the largest entry must be below a limit, and none NaN."""
    return 0 not in a.shape and expect(lambda: largest(a) if a.ndim else a, limit)


def _all_finite(a: Any) -> bool:
    """Tell if all entries are finite: of an array on the host at once, on a device in a trial."""
    if type(a) is np.ndarray:
        return bool(np.isfinite(a).all())
    xp = array_namespace(a)
    return _looked_at_later(a) or bool(xp.all(xp.isfinite(a)))


def no_overflow(value: T, name: str, what: str) -> T:
    """Return `value`, which is `what` of an argument `name`, unless the argument was too large."""
    given: object = value
    if not (_is_finite(given) if isinstance(given, float) else _all_finite(given)):
        raise NoValueError(f"{name} must be smaller in size: {what} overflows")
    return value


def divisor(value: float, name: str, what: str) -> float:
    """Return `value`, zero or positive, unless its reciprocal overflows: `what` in the error."""
    if value * sys.float_info.max < 1.0:
        raise NoValueError(f"{name} must be larger: {what} overflows")
    return value


def function(value: T, name: str, of: str = "") -> T:
    """Return `value` if it can be called; an error says `of` what it is a function."""
    if not callable(value):
        raise TypeError(f"{name} must be a function{of and f' of {of}'}; got {kind_of(value)}")
    return value


def instance(value: T, name: str, kind: type[object]) -> T:
    """Return `value` if it is an instance of `kind`, else raise `TypeError`."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a gpnotes {kind.__name__}; got {whose(value)}")
    return value


def whose(value: object) -> str:
    """Return the kind of a value, and its package where that is another."""
    made = value if isinstance(value, type) else type(value)
    package = made.__module__.partition(".")[0]
    ours = package in ("builtins", "gpnotes", "__main__")
    return kind_of(value) if ours else f"{kind_of(value)} of {package}"


def plain(a: T, name: str) -> T:
    """Return `a` unless it is a masked array or NumPy's matrix.

    The mask would be lost, and ``*`` is another product.
    """
    if type(a).__name__ in ("MaskedArray", "matrix"):
        raise TypeError(f"{name} must be a plain array; got {type(a).__name__}")
    return a


def _floating(a: Array, name: str) -> None:
    if type(a) is np.ndarray and a.dtype in _REAL:
        return
    xp = array_namespace(array(a, name))
    plain(a, name)
    if a.dtype not in (xp.float32, xp.float64):  # LAPACK would silently change any other
        wanted = "a real floating dtype, float32 or float64"
        raise TypeError(f"{name} must have {wanted}; got {a.dtype}")
    if (here := device_elsewhere(a)) is not None:
        wanted = f"live on the current device, {here}"
        raise ValueError(f"{name} must {wanted}; got {device(a)}: call it in `with {name}.device:`")


def _finite(a: Any, name: str) -> Any:
    if type(a) is np.ndarray and np.isfinite(a).all():
        return a
    if not _all_finite(a):
        xp = array_namespace(a)
        count, row = how_many(~xp.isfinite(a))
        where = f", the first in row {row}" if a.ndim else ""
        remedy = ": leave those rows out of all arguments" if name == "y" and a.ndim == 1 else ""
        said = f"{name} must be finite; {count} of its entries are not{where}{remedy}"
        raise NoValueError(said)
    return a
