"""Parameters: declarations in the fields of frozen dataclasses, and functions of them.

A field declares itself with `positive`, `nonnegative`, `real` or `fixed`. From that follow the
checks at construction (`settle`), the objects that hold derivatives (`cotangent`), and the flat
vector that an optimiser or a sampler works on (`flatten`): logarithms of positive parameters.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import cache
from types import EllipsisType
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from . import check as _check
from . import late_reads
from .conversion import floats
from .namespace import refusal
from .naming import covered, entry_names, expansions, left, require_names, spelt, unknown
from .open_numbers import Open, is_open, kept_open
from .xp import (
    Array,
    HostVector,
    Numbers,
    array_namespace,
    as_array,
    is_cupy_array,
    largest,
    to_numpy,
)

__all__ = [
    "added", "cotangent", "fixed", "flatten", "flatten_gradient", "holds_derivatives", "left_open",
    "names", "nonnegative", "positive", "real", "settle",
]  # fmt: skip


class Parameters(Protocol):
    """A dataclass, whose fields may be parameters."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_NORMAL = sys.float_info.min  # the least with all its digits
_SHORT = 1e-30  # a length whose reciprocal no dtype need fear
_OURS = f"{__name__.partition('.')[0]}."  # classes that a valid object can be remade of unchecked

P = TypeVar("P", bound=Parameters)
T = TypeVar("T")


# To a type checker these give the value that the field holds, as `dataclasses.field` does.


def positive(default: T | EllipsisType = ..., *, per_dimension: bool = False, unit: str = "") -> T:
    """Declare a field that must be positive and is fitted by its logarithm.

    Parameters
    ----------
    default : float, optional
        The value where none is given; without it, one must be. A parameter with a unit that is left
        at it is open, `left_open`: a fit starts it from the data.
    per_dimension : bool, default False
        Allow an array too, with one value for each dimension of the inputs.
    unit : str, default ""
        ``"x"`` for a length of the inputs, ``"y²"`` for a variance of the observations: from it a
        fit knows where to look, `bounds.ends`.

    Returns
    -------
    dataclasses.Field
        The field.
    """
    return _field(default, constraint="positive", per_dimension=per_dimension, unit=unit)


def nonnegative(
    default: T | EllipsisType = ..., *, per_dimension: bool = False, unit: str = ""
) -> T:
    """Declare a field that may be zero; fitted by its logarithm, so that a zero must be held fixed.

    The arguments are those of `positive`.

    Returns
    -------
    dataclasses.Field
        The field.
    """
    return _field(default, constraint="nonnegative", per_dimension=per_dimension, unit=unit)


def real(default: T | EllipsisType = ..., *, per_dimension: bool = False, unit: str = "") -> T:
    """Declare a field that may have any sign and is fitted as it is.

    The arguments are those of `positive`; `unit` is ``"y"`` for a mean of y.

    Returns
    -------
    dataclasses.Field
        The field.
    """
    return _field(default, constraint="real", per_dimension=per_dimension, unit=unit)


def fixed(default: T | EllipsisType = ...) -> T:
    """Declare a field that sets the kind of an object, not its size; it is never fitted.

    Parameters
    ----------
    default : Any, optional
        The value where none is given; without it, one must be.

    Returns
    -------
    dataclasses.Field
        The field.
    """
    return _field(default, constraint="fixed")


def _field(default: object, **metadata: object) -> Any:
    if metadata.get("unit") and type(default) is float:
        default = Open(default)
    return field(default=MISSING if default is ... else default, metadata=metadata)


def settle(obj: Parameters) -> None:
    """Check the parameters of a new object, turn its scalars into Python floats, copy its arrays.

    To be called from ``__post_init__``. A NumPy scalar left in place would carry its float64 into
    float32 work.

    Parameters
    ----------
    obj : Parameters
        The object, whose fields are replaced in place.
    """
    opened = []
    for item in _declared(cast("Any", type(obj))) or ():
        value = getattr(obj, item.name)
        if item.unit and is_open(value):
            opened.append(item.name)
            object.__setattr__(obj, item.name, kept_open(value))
            continue
        settled = type(value) is float and _NORMAL <= value < math.inf  # as in every step of a fit
        if item.constraint != "fixed" and not settled:
            value = _settled(value, f"{type(obj).__name__}.{item.name}", item)
            object.__setattr__(obj, item.name, value)
    if opened:
        object.__setattr__(obj, "_open", tuple(opened))  # a set's order changes from run to run


def left_open(obj: object) -> tuple[str, ...]:
    """Return the names of the parameters that an object was made without, of those with a unit.

    Each has the number that is its default, for all but a fit, which starts it from the data. A
    copy by ``dataclasses.replace`` leaves the same numbers open, but for those that it
    replaces, and so do copies, pickles and `saving.load`. A fit leaves nothing open.

    Parameters
    ----------
    obj : object
        The object; objects within are ignored.

    Returns
    -------
    tuple of str
        The names of fields, in their order: pickles and hashes are the same in every process.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from gpnotes import RBF
    >>> [left_open(one) for one in (RBF(), RBF(2.0), replace(RBF(), lengthscale=1.0))]
    [('variance', 'lengthscale'), ('lengthscale',), ('variance',)]
    """
    return getattr(obj, "_open", ())


def _settled(value: Any, name: str, item: _Declared) -> Numbers:
    if item.per_dimension and isinstance(value, list | tuple):
        value = floats(value, name)
    if getattr(value, "ndim", 0) == 0:
        value = _scalar(value, name)
    elif item.per_dimension:
        if not _check.vector(value, name).shape[0]:
            raise ValueError(f"{name} must have an entry for each dimension; got none")
        value = array_namespace(value).asarray(value, copy=True)  # the caller's may change
    else:
        raise ValueError(f"{name} must be a float; got an array of shape {tuple(value.shape)}")
    if item.constraint == "real":
        return _check.finite(value, name)
    value = _check.positive(value, name, zero=item.constraint == "nonnegative")
    return _divisible(value, name) if item.unit == "x" or item.name == "lengthscale" else value


def _divisible(length: Numbers, name: str) -> Numbers:
    """A length that inputs can be divided by; far below normal numbers, one has no reciprocal."""
    least, top = length, sys.float_info.max
    if not isinstance(length, float):
        xp = array_namespace(length)
        top = float(xp.finfo(length.dtype).max)
        if late_reads.expect(lambda: largest(1.0 / length), top):
            return length
        least = float(xp.min(length))
    if least * top < 1.0:
        raise _check.NoValueError(f"{name} must be larger: 1 / {least} overflows")
    return length


def _scalar(value: object, name: str) -> float:
    if not (_is_real(value) and hasattr(value, "__float__")):
        got = refusal(value) or getattr(value, "dtype", type(value).__name__)
        raise TypeError(
            f"{name} must be a float or, where one per input dimension is allowed, a 1-D array "
            f"of the data's dtype; got {got}"
        )
    try:
        return float(value)
    except OverflowError as problem:
        raise ValueError(f"{name} must be finite; got a number that no float can hold") from problem


def _is_real(value: object) -> bool:
    """Tell if it counts as a number; of an array without axes its dtype decides."""
    if not hasattr(value, "dtype"):
        return not isinstance(value, str | bytes | bool | complex | type)
    kinds = ("real floating", "integral")
    try:
        return array_namespace(value).isdtype(value.dtype, kinds)
    except TypeError:  # no namespace knows it
        return False


def cotangent(obj: P, **bars: object) -> P:
    """Return an object of the class of `obj` whose fields hold derivatives, given by name.

    Parameters
    ----------
    obj : Parameters
        The object by whose parameters they are derivatives.
    **bars : Any
        The derivatives. Fields that are not given, the fixed ones above all, are those of `obj`.

    Returns
    -------
    Parameters
        The object that holds them.

    Notes
    -----
    A gradient has the type of its argument but not its range: a derivative by a variance may be
    negative. So a cotangent is made without the checks of construction, and `holds_derivatives`
    tells it from an object of use. A copy holds derivatives too; `dataclasses.replace` makes an
    object of use, checked.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> cotangent(RBF(), variance=-0.5, lengthscale=2.0)
    RBF(variance=-0.5, lengthscale=2)
    """
    bar: P = object.__new__(type(obj))
    for name in _names(type(obj)):
        object.__setattr__(bar, name, bars.get(name, getattr(obj, name)))
    object.__setattr__(bar, "_holds_derivatives", True)
    return bar


def added(first: P, second: P) -> P:
    """Return the sum of two cotangents of one object.

    Parameters
    ----------
    first, second : Parameters
        The cotangents.

    Returns
    -------
    Parameters
        Their sum.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> added(cotangent(RBF(), variance=-0.5), cotangent(RBF(), variance=2.0)).variance
    1.5
    """
    return cast("P", _added(first, second))


def _added(first: Any, second: Any) -> object:
    if isinstance(first, tuple):
        return tuple(map(_added, first, second))
    if not is_dataclass(first) or isinstance(first, type):
        return first
    sums = {}
    for item in fields(first):
        pair = getattr(first, item.name), getattr(second, item.name)
        is_parameter = item.metadata.get("constraint", "fixed") != "fixed"
        sums[item.name] = pair[0] + pair[1] if is_parameter else _added(*pair)
    return cotangent(first, **sums)


def numbers_read(bar: P) -> P:
    """Return a cotangent with Python's floats for numbers that a trial left on a device."""
    return cast("P", bar if late_reads.on_trial() else _read(bar))


def _read(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_read, value))
    if is_cupy_array(value):
        return value if value.ndim else float(value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {name: getattr(value, name) for name in _names(type(value))}
    read = {name: _read(part) for name, part in found.items()}
    return value if all(read[name] is found[name] for name in read) else cotangent(value, **read)


def holds_derivatives(obj: Parameters) -> bool:
    """Tell if an object was made by `cotangent`."""
    return getattr(obj, "_holds_derivatives", False)


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; a rollout makes cotangents of the same few in every step."""
    return tuple(item.name for item in fields(kind))


class _Declared(NamedTuple):
    """The declaration of a field; a fit reads those of the same few classes in every step."""

    name: str
    constraint: str
    unit: str
    per_dimension: bool


@cache
def _declared(kind: object) -> tuple[_Declared, ...] | None:
    """The fields of a dataclass; None for a class that is none."""
    if not is_dataclass(kind):
        return None
    said = ((item.name, item.metadata.get) for item in fields(kind))
    return tuple(
        _Declared(name, of("constraint", "fixed"), of("unit", ""), of("per_dimension", False))
        for name, of in said
    )


class Leaf(NamedTuple):
    """A parameter inside nested dataclasses: the path to it, its kind, its value, its unit.

    Where only some entries of an array are free, `free` has their numbers; `owner` is the class
    that has it.
    """

    path: str
    constraint: str
    value: Numbers
    unit: str
    free: tuple[int, ...] | None = None
    owner: type = object

    @property
    def entries(self) -> list[str]:
        """The names of the free entries."""
        if isinstance(self.value, float):
            return [self.path]
        every = entry_names(self.path, tuple(self.value.shape))
        return every if self.free is None else [every[i] for i in self.free]


def leaves(obj: object, path: str = "") -> list[Leaf]:
    """Every parameter of `obj` in the order of the fields, through dataclasses and tuples."""
    found: list[Leaf] = []
    ahead: list[tuple[str, Any]] = [(path, obj)]
    while ahead:
        path, part = ahead.pop()
        kind: Any = type(part)
        inner: list[tuple[str, Any]] = []
        if kind is Leaf:
            found.append(part)
        elif isinstance(part, tuple):
            inner = [(f"{path}{i}.", entry) for i, entry in enumerate(part)]
        for name, constraint, unit, _ in _declared(kind) or ():
            value = getattr(part, name)
            if constraint != "fixed":
                leaf = Leaf(f"{path}{name}", constraint, value, unit, owner=kind)
                inner.append((leaf.path, leaf))
            elif isinstance(value, tuple):
                steps = _steps(part, name, path, len(value)) if value else []
                inner += zip(steps, value, strict=True)
            else:
                inner.append((f"{path}{name}.", value))
        ahead += reversed(inner)
    return found


def _steps(obj: object, name: str, path: str, size: int) -> list[str]:
    """The way to each entry of a tuple in a field of `obj`, which may give names to entries.

    It gives them in `entry_names`, a mapping from fields to names, ``""`` for an entry that goes
    by its number.
    """
    given = getattr(obj, "entry_names", {}).get(name) or size * ("",)
    return [f"{path}{word or f'{name}.{i}'}." for i, word in enumerate(given)]


def _moved(obj: object, **values: object) -> object:
    """The same with parameters that are in their range: a class of ours need not look again."""
    kind = type(obj)
    if not kind.__module__.startswith(_OURS):
        return kind(**values)
    new = object.__new__(kind)
    vars(new).update(values)
    return new


def _anew(obj: object, **values: object) -> object:
    """`dataclasses.replace` of all fields at once."""
    return type(obj)(**values)


def replaced(
    obj: T, values: Mapping[str, object], *, make: Callable[..., object] = _anew, path: str = ""
) -> T:
    """`obj` with the parameters at the paths of `values` replaced.

    The new object is checked like any other, and leaves nothing open; with ``make=cotangent`` it
    holds derivatives.
    """
    if isinstance(obj, tuple):
        entries = (replaced(p, values, make=make, path=f"{path}{i}.") for i, p in enumerate(obj))
        return cast("T", tuple(entries))
    kind: object = type(obj)
    declared = _declared(kind)
    if declared is None:
        return obj
    new = {}
    for name, constraint, *_ in declared:
        here, value = f"{path}{name}", getattr(obj, name)
        own: object = type(value)
        if here in values or constraint != "fixed":
            value = values.get(here, value)
            value = value * 1.0 if isinstance(value, float) else value  # a float that is not open
        elif isinstance(value, tuple) and value:
            pairs = zip(value, _steps(obj, name, path, len(value)), strict=True)
            value = tuple(replaced(p, values, make=make, path=step) for p, step in pairs)
        elif _declared(own) is not None:
            value = replaced(value, values, make=make, path=f"{here}.")
        new[name] = value
    return cast("T", make(obj, **new))


def flatten(obj: P, *, fixed: Collection[str] = ()) -> tuple[HostVector, Callable[[HostVector], P]]:
    """Return the parameters of an object as one vector on the host, and the way back.

    Parameters
    ----------
    obj : Parameters
        The object.
    fixed : collection of str, default ()
        Parameters, entries of them, or objects with all their parameters, that stay out:
        ``("noise_var", "kernel.lengthscale[1]", "kernel.parts.0")``.

    Returns
    -------
    vector : HostVector, shape (p,)
        Positive parameters enter by their logarithm, real ones as they are; in float64.
    rebuild : callable
        A function that makes an object like `obj` from a vector; its scalars are Python floats,
        its arrays of the kind that they were.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> vector, rebuild = flatten(RBF(1.0, 2.0))
    >>> vector.round(4)
    array([0.    , 0.6931])
    >>> rebuild(vector + 1.0)
    RBF(variance=2.71828, lengthscale=5.43656)
    """
    flat, way = vector_of(obj, fixed=fixed), Flattening(obj, fixed)

    def checked(vector: HostVector) -> P:
        """The object whose free parameters `vector` holds, in the order of `names`."""
        vector = np.asarray(vector, dtype=np.float64)
        _check.vector(vector, "vector", size=flat.size)
        return way.rebuild(vector)

    return flat, checked


def vector_of(obj: Parameters, *, fixed: Collection[str] = ()) -> HostVector:
    """Return the vector of `flatten` alone."""
    return _joined([_to_flat(leaf) for leaf in free_leaves(obj, fixed)])


class Flattening(Generic[P]):
    """The ways between objects like one and vectors of their free parameters, as in `flatten`.

    Which these are is found once: a fit goes both ways at every step.

    Parameters
    ----------
    obj : Parameters
        The object.
    fixed : collection of str
        The parameters that stay out.
    """

    def __init__(self, obj: P, fixed: Collection[str]) -> None:
        """Find the free parameters, and their parts of the vector."""
        free, sizes = free_leaves(obj, fixed), _sizes(leaves(obj))
        counts = [sizes[leaf.path] if leaf.free is None else len(leaf.free) for leaf in free]
        ends = itertools.accumulate(counts)
        parts = (slice(end - count, end) for count, end in zip(counts, ends, strict=True))
        self._obj, self._sizes, self._size = obj, sizes, sum(counts)
        self._free = list(zip(free, parts, strict=True))
        self._signed = np.zeros(self._size, dtype=bool)
        for leaf, part in self._free:
            self._signed[part] = leaf.constraint == "real"

    def rebuild(self, vector: HostVector) -> P:
        """Return the object that a vector (p,) stands for."""
        values = {}
        with np.errstate(all="ignore"):
            for leaf, part in self._free:
                values[leaf.path] = _from_flat(leaf, vector[part])
        return replaced(self._obj, values, make=_moved)

    def read(self, obj: Parameters, name: str = "obj") -> HostVector:
        """Return the entries of a like object, or of its cotangent, in their own units, (p,).

        One with other parameters is refused by its `name`.
        """
        given: dict[str, Numbers] = {}
        for leaf in leaves(obj):
            given[leaf.path] = leaf.value
        alike = len(given) == len(self._sizes)
        for path, size in self._sizes.items():
            alike = alike and path in given and math.prod(getattr(given[path], "shape", ())) == size
        if not alike:
            wanted = f"the parameters of obj, {self._sizes}"
            raise ValueError(f"{name} must have {wanted}; got {_sizes(leaves(obj))}")
        read = np.empty(self._size)
        for leaf, part in self._free:
            value = given[leaf.path]
            read[part] = value if isinstance(value, float) else _host(value, leaf.free)
        return read

    def chain(self, values: HostVector) -> HostVector:
        """Return the derivatives of entries in their own units by the vector, (p,).

        By ``log θ`` that is θ.
        """
        return np.where(self._signed, 1.0, values)


def flatten_gradient(obj: P, obj_bar: P, *, fixed: Collection[str] = ()) -> HostVector:
    """Return the derivatives that a cotangent holds as derivatives by the vector of `flatten`.

    Parameters
    ----------
    obj : Parameters
        The object.
    obj_bar : Parameters
        Its cotangent.
    fixed : collection of str, default ()
        The names left out, as in `flatten`.

    Returns
    -------
    HostVector, shape (p,)
        The derivatives, in the order of the vector. By the chain rule a derivative by ``log θ`` is
        θ times the derivative by θ.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> flatten_gradient(RBF(1.0, 2.0), cotangent(RBF(), variance=-0.5, lengthscale=3.0))
    array([-0.5,  6. ])
    """
    for thing, name in ((obj, "obj"), (obj_bar, "obj_bar")):
        _require_dataclass(thing, name)
    way = Flattening(obj, fixed)
    return way.read(obj_bar, "obj_bar") * way.chain(way.read(obj))


def _sizes(some: list[Leaf]) -> dict[str, int]:
    """Return the number of entries of each parameter."""
    return {
        leaf.path: 1 if isinstance(leaf.value, float) else math.prod(leaf.value.shape)
        for leaf in some
    }


def names(obj: Parameters, *, fixed: Collection[str] = ()) -> list[str]:
    """Return the name of each entry of the vector of `flatten`.

    Parameters
    ----------
    fixed : collection of str, default ()
        The names left out, as in `flatten`.

    Returns
    -------
    list of str
        Names such as ``kernel.lengthscale[1]`` and ``noise_var``.

    Examples
    --------
    >>> from gpnotes import RBF, White
    >>> names(RBF() + White(), fixed=("parts.0.lengthscale",))
    ['parts.0.variance', 'parts.1.variance']
    """
    return [entry for leaf in free_leaves(obj, fixed) for entry in leaf.entries]


def free_leaves(obj: Parameters, fixed: Collection[str]) -> list[Leaf]:
    """The parameters of `obj` that `fixed` does not name, as `flatten` takes them."""
    _require_dataclass(obj, "obj")
    return _free(leaves(obj), fixed)


def _free(every: list[Leaf], fixed: Collection[str]) -> list[Leaf]:
    if fixed == ():
        return every
    held = {spelt(name) for name in require_names(fixed)}
    whole = {name for name in held if any(covered((name,), leaf.path) for leaf in every)}
    free = [leaf for leaf in every if not covered(whole, leaf.path)]
    if held == whole:
        return free
    there = {leaf.path: leaf.entries for leaf in every}
    known = expansions(there)
    for name in fixed:
        if spelt(name) not in whole and spelt(name) not in known:
            raise unknown("fixed names {!r}; there are {}", [name], there)
    kept = [leaf._replace(free=left(leaf.entries, held)) for leaf in free]
    return [leaf for leaf in kept if leaf.free]


def _require_dataclass(obj: object, name: str) -> None:
    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError(f"{name} must be a dataclass of parameters; got {_check.kind_of(obj)}")


def _host(value: Numbers, free: tuple[int, ...] | None = None) -> HostVector:
    """The entries of a parameter, or those that are free."""
    if isinstance(value, float):
        return np.array([value])
    host = value if type(value) is np.ndarray else to_numpy(value)
    entries = host.astype(np.float64).ravel()
    return entries if free is None else entries[list(free)]


def _joined(parts: Iterable[HostVector]) -> HostVector:
    return np.concatenate([np.zeros(0), *parts])


def _to_flat(leaf: Leaf) -> HostVector:
    value = _host(leaf.value, leaf.free)
    if leaf.constraint == "real":
        return value
    if not value.all():
        raise ValueError(f"{leaf.path} is zero and has no logarithm; name it in fixed")
    return np.log(value)


def _held(value: HostVector, array: Array) -> HostVector:
    """Return numbers as an array holds them, float32 less, without reading them from its device."""
    short = array_namespace(array).finfo(array.dtype).bits == 32
    with np.errstate(over="ignore"):
        return value.astype(np.float32).astype(np.float64) if short else value


def _from_flat(leaf: Leaf, part: HostVector) -> Numbers:
    value = part.copy() if leaf.constraint == "real" else np.exp(part)  # no part of the vector
    given = leaf.value
    if leaf.free is not None:
        whole = _host(given).copy()
        whole[list(leaf.free)] = value
        value = whole
    array: Array | None = None
    if type(given) is np.ndarray:
        array = held = value.astype(given.dtype).reshape(given.shape)
    elif not isinstance(given, float):
        array = as_array(value.reshape(given.shape), given)
        held = _held(value, array)
    else:
        held = value
    if not (np.isfinite(held).all() and (leaf.constraint == "real" or held.all())):
        raise _check.NoValueError(f"{leaf.path} must be a number that floats can hold")
    divides = leaf.unit == "x" or leaf.path.endswith("lengthscale")
    if divides and value.size and value.min() < _SHORT:
        _divisible(float(value[0]) if array is None else array, leaf.path)
    return float(value[0]) if array is None else array
