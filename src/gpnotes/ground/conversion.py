"""Data as people have them, made arrays at the door: lists, frames, columns, whole numbers.

A public function of data says which of its arguments these are, ``@takes("X", "y")``; behind it
there are arrays of floats only, and nothing converts a second time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import wraps
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from . import check as _check
from .named_columns import at_columns
from .namespace import refusal
from .xp import Array, HostArray, OfEach, Table, array_namespace, as_array, epsilon, to_numpy

__all__ = [
    "NamedRows", "are_floats", "columns_of", "faithful", "first_array", "floats", "framed",
    "known_columns", "on_host", "ordered", "out_of_order", "refuse_other_order", "taken_out",
    "takes", "together",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
H = TypeVar("H", bound=Array)

# levels at which a model is searched for an array: model.gp.kernel.parts[0].kernel.lengthscale
_DEEP = 5
# the arguments whose columns an owner that has names of columns, such as a posterior, knows
_INPUTS = ("X", "Xs", "x", "phi")
_TRUTHS = (bool, np.bool_)
_OF_DATES = "gpnotes.days_since makes days of dates"
# the arguments that a frame of one column may stand for
_VECTORS = ("y", "noise_var", "weights", "offset")
# further arguments whose columns are those of the inputs beside them
_ALIKE = ("z", "reference")
# the arguments whose rows are not those of the arguments with which they come
_OF_OTHER_ROWS = ("z", "reference", "y_train")


def takes(*names: str, kept: tuple[str, ...] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Convert the arguments of these names: a table that is no array becomes one of floats.

    Frames of arguments that are `kept` stay frames, if they hold such numbers. A converted table is
    like the first array of floats among these arguments, else like the first that the model or the
    method's object holds, else float64 of NumPy. What is neither an array nor made of numbers goes
    on as it is, to be refused. Where the first argument, such as a posterior, has `columns`, those
    of a frame of inputs are matched by `ordered`; where it has `known_columns`, arguments not given
    are taken from them; where it names columns and has no data yet, `at_columns` finds them.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        code = inspect.unwrap(function).__code__  # a signature would take most of an import
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        places = {name: at for at, name in enumerate(known)}
        wanted = [(name, places[name]) for name in names]
        first = next(iter(places))
        of_y = "noise" not in places  # else what is known of the noise is asked for by noise=True

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            given = {n: args[at] if at < len(args) else kwargs.get(n) for n, at in wanted}
            if are_floats(*given.values()):
                return function(*args, **kwargs)
            owner = args[0] if args else kwargs.get(first)
            recalled = _recalled(owner, given, of_y or bool(kwargs.get("noise")))
            given = _with_columns(recalled)
            made = together(owner, **given)
            made |= {name: given[name] for name in kept if columns_of(given[name])}
            new: list[Any] = list(args)
            more: dict[str, Any] = dict(kwargs)
            holder: Any = new if args else more
            holder[0 if args else first] = _found(owner, given)
            for name, at in wanted:
                if at < len(args):
                    new[at] = made[name]
                elif name in kwargs or made[name] is not None:
                    more[name] = made[name]
            return function(*new, **more)

        vars(called)["tables"] = names
        return called

    return decorated


def _found(owner: T, given: dict[str, object]) -> T:
    """An owner without data of its own, with the columns that it names found in its inputs."""
    if hasattr(owner, "columns"):
        return owner
    frames = ((name, columns_of(given[name])) for name in _INPUTS if name in given)
    name, columns = next((pair for pair in frames if pair[1]), ("X", ()))
    return at_columns(owner, columns, name)


def _recalled(owner: object, given: dict[str, object], of_y: bool) -> dict[str, object]:
    """Tables, those that are not given by the columns that they were of the data of an owner."""
    known = getattr(owner, "known_columns", ())
    if not known:
        return given
    names = columns_of(next((given[name] for name in _INPUTS if name in given), None))
    return given | {
        name: column
        for name, column in known
        if name in given and given[name] is None and column in names
        if of_y or name == "offset"
    }


def together(owner: object, **tables: Any) -> dict[str, Any]:
    """Return tables by their names as arrays of floats of one kind; other values as they are.

    Where no table is an array of floats, they become like the arrays of their owner, a model. Rows
    that two tables label otherwise are a `ValueError`, and columns that two tables of inputs have
    in another order are matched by name.
    """
    refuse_other_order(tables)
    like = next((a for a in tables.values() if _is_floats(a)), None)
    like = first_array(owner) if like is None else like
    tables = _by_name(owner, _with_columns(tables))
    tables = {n: _only_column(a) if n in _VECTORS else a for n, a in tables.items()}
    made = {}
    for name, a in tables.items():
        made[name] = floats(a, name, like)
        like = made[name] if like is None and _is_floats(made[name]) else like
    return made


def out_of_order(tables: Mapping[str, object]) -> Iterator[tuple[str, str, str, str]]:
    """Find tables of the same rows that label them otherwise, as two frames of pandas may.

    Those of other lengths, and without labels, as arrays, lists and frames of Polars are, are
    passed over. It yields the argument, the one that it does not go with, the first row in which
    they differ, and how to give it.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = pd.DataFrame({"x": [0.5, 1.5]}), pd.Series([2.0, 3.0], index=[1, 0])
    >>> for found in out_of_order({"X": X, "y": y}):
    ...     print(*found[:3], sep=" | ")
    y | X | row 0 is 1 in y and 0 in X
    """
    labelled = [(n, _labels(a)) for n, a in tables.items() if n not in _OF_OTHER_ROWS]
    labelled = [(n, labels) for n, labels in labelled if labels is not None]
    for name, labels in labelled[1:]:
        first, wanted = labelled[0]
        if len(labels) != len(wanted) or labels.equals(wanted):
            continue
        pairs = zip(labels, wanted, strict=True)
        row, (got, there) = next(found for found in enumerate(pairs) if found[1][0] != found[1][1])
        seen = f"row {row} is {got!r} in {name} and {there!r} in {first}"
        pandas = all(hasattr(tables[one], "index") for one in (name, first))
        same = pandas and labels.is_unique and set(labels) == set(wanted)
        moved = f"`{name}.loc[{first}.index]`, or " if same else ""
        kept = f"`{name}.to_numpy()` if its order is right as it is"
        yield name, first, seen, f"give {moved}{kept}"


def refuse_other_order(tables: Mapping[str, object]) -> None:
    """Refuse tables of the same rows that label them otherwise, as `out_of_order` finds them."""
    for name, first, seen, remedy in out_of_order(tables):
        raise ValueError(f"{name} must have the row labels of {first}; {seen}: {remedy}")


def _only_column(a: Any) -> Any:
    """The column of a frame that has but one; anything else as it came."""
    names = columns_of(a)
    return _picked(a, names)[names[0]] if len(names) == 1 else a


def _labels(a: object) -> Any:
    """Return the row labels of a frame or a column of pandas; None for anything else."""
    labels = getattr(a, "index", None)
    labels = _index_of(a, 0) if labels is None else labels
    return labels if hasattr(labels, "equals") else None  # of a list it is a method


def _index_of(a: object, axis: int) -> Any:
    """Return the labels along an axis of a DataArray of xarray; None for anything else."""
    dims, indexes = getattr(a, "dims", ()), getattr(a, "indexes", {})
    known = isinstance(dims, tuple) and len(dims) > axis
    return indexes.get(dims[axis]) if known else None


def framed(a: T) -> T:
    """Return a DataArray of xarray whose columns have labels as a frame of pandas, else `a`."""
    return cast(Any, a).to_pandas() if _index_of(a, 1) is not None else a


def _picked(frame: Any, columns: Sequence[str]) -> Any:
    """Some columns of a frame."""
    return framed(frame)[list(columns)]


def _by_name(owner: object, tables: dict[str, object]) -> dict[str, object]:
    """Tables of inputs in the order of the columns of their owner, or of the first of them."""
    known = getattr(owner, "columns", ())
    known = known if isinstance(known, tuple) else ()  # of a frame it is no tuple
    made = dict(tables)
    for name, a in tables.items():
        if name in _INPUTS:
            made[name] = ordered(a, name, known)
            known = known or columns_of(a)
        elif name in _ALIKE:
            made[name] = ordered(a, name, known or columns_of(tables.get("Y")))
    return made


def floats(a: T, name: str, like: Array | None = None) -> T | Array:
    """Return a table of numbers as an array of floats like another, any other value as it is.

    A table is a sequence of numbers or of rows of them, a frame or one of its columns, or an array
    of whole numbers; errors have its name. With nothing to be like it is float64 of NumPy, but a
    frame of float32 keeps that. Whole numbers that would lose digits are a `ValueError`.

    Examples
    --------
    >>> floats([[1, 2], [3, 4]], "X")
    array([[1., 2.],
           [3., 4.]])
    """
    if got := refusal(a):
        raise TypeError(f"{name} must be an array; got {got}")
    if a is None or _is_floats(a) or type(a).__name__ in ("MaskedArray", "matrix"):
        return a
    if isinstance(a, np.ndarray) and a.dtype.kind == "O" and a.size:
        a = cast(Any, a.tolist())  # as a frame of several kinds gives its numbers
    if isinstance(a, np.ndarray) and a.dtype.kind == "M":
        raise TypeError(f"{name} must hold real numbers; got dates: {_OF_DATES}")
    if _is_array(a):
        _refuse_labels(a, name)
        return _of_whole_numbers(a, name, like)
    if not isinstance(a, list | tuple | range) and not hasattr(a, "__array__"):
        return a
    host = _host(a, name)
    return faithful(a, host if like is None else as_array(host, like), name)


class NamedRows:
    """Rows of numbers on the host with names of their columns, a frame for `columns_of`."""

    def __init__(self, rows: HostArray, columns: tuple[str, ...]) -> None:
        self.rows, self.columns, self.shape = rows, columns, rows.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        """The rows as an array of NumPy."""
        return np.asarray(self.rows, dtype=dtype)


def columns_of(X: object) -> tuple[str, ...]:
    """Return the names of the columns of a frame of pandas or Polars, else ``()``.

    So it is with the labels of the second axis of a DataArray of xarray.
    """
    if _is_array(X):
        return ()
    index = _index_of(X, 1)
    names = tuple(getattr(X, "columns", ()) if index is None else index)
    return names if all(isinstance(name, str) for name in names) else ()


def taken_out(X: T, **given: OfEach | None) -> tuple[T, dict[str, Table | None]]:
    """Return a frame without the columns that are named, and these in the place of their names.

    Each of `given` is the name of a column, whose values come back in its place, or anything else,
    which comes back as it is. A name where X has none is a TypeError, another one a ValueError.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.0, 1.0], "sd": [0.1, 0.2]})
    >>> X, each = taken_out(frame, noise_var="sd", weights=None)
    >>> list(X.columns), list(each["noise_var"])
    (['x'], [0.1, 0.2])
    """
    return _taken_out(X, "X", given)


def _taken_out(X: T, inputs: str, given: Mapping[str, object]) -> tuple[T, dict[str, Any]]:
    """`taken_out` of inputs that errors call `inputs`."""
    each = {name: _column(X, inputs, a, name) for name, a in given.items()}
    names = [a for a in given.values() if isinstance(a, str)]
    frame: Any = X
    return _picked(frame, [c for c in columns_of(X) if c not in names]) if names else X, each


def known_columns(**given: object) -> tuple[tuple[str, str], ...]:
    """Return the arguments that are names of columns, with these names."""
    return tuple((name, column) for name, column in given.items() if isinstance(column, str))


def _with_columns(tables: dict[str, object]) -> dict[str, object]:
    """Return tables, with names replaced by the columns of the inputs, which lose these."""
    given = {name: a for name, a in tables.items() if name not in _INPUTS}
    if not any(isinstance(a, str) for a in given.values()):
        return tables
    inputs = next((name for name in _INPUTS if name in tables), "X")
    X, found = _taken_out(tables.get(inputs), inputs, given)
    return tables | found | {inputs: X}


def _column(X: Any, inputs: str, a: object, name: str) -> Any:
    """Return the values of each row, a column of the inputs for a name."""
    if isinstance(a, int | float) and not isinstance(a, bool):
        wanted = "a vector with a number for each row, or the name of a column"
        raise TypeError(f"{name} must be {wanted}; got {a!r}")
    if not isinstance(a, str):
        return a
    columns = columns_of(X)
    if not columns:
        wanted = f"{name} must be a vector, where {inputs} has no names of columns"
        raise TypeError(f"{wanted}; got {a!r}")
    if columns.count(a) != 1:
        raise ValueError(f"{name} must be a column of {inputs}, one of {list(columns)}; got {a!r}")
    return _picked(X, columns)[a]


def ordered(a: T, name: str, columns: tuple[str, ...]) -> T:
    """Return the columns of these names of a frame, in this order; a value without names as it is.

    So it is with the entries of a row that has them, a column of pandas labelled by the names.
    Further columns are left out. One that is missing, or there twice, is a `ValueError`.
    """
    given = columns_of(a) or _entries_of(a)
    if not given:
        _refuse_unmatched(a, name)
    if not columns or not given or given == columns:
        return a
    for column in columns:
        if (times := given.count(column)) != 1:
            wanted = f"{name} must have a column {column!r}, as the data had"
            raise ValueError(f"{wanted}; got {'it twice' if times else list(given)}")
    frame: object = a
    return cast(T, _picked(frame, columns))


def _refuse_unmatched(a: Any, name: str) -> None:
    """Refuse a frame with numbers of columns out of order, as nothing matches them."""
    labels = () if _is_array(a) else tuple(getattr(a, "columns", ()))
    try:
        is_sorted = all(first < second for first, second in pairwise(labels))
    except TypeError:  # numbers and words
        is_sorted = False
    if not is_sorted:
        wanted = f"{name} must have columns with names, or with numbers in their order"
        remedy = f"give {name}.set_axis({name}.columns.map(str), axis=1)"
        raise ValueError(f"{wanted}; got {list(labels)}: {remedy}")


def _entries_of(a: object) -> tuple[str, ...]:
    """The names of the entries of a row of a frame, which pandas makes a column."""
    labels = _labels(a) if getattr(a, "ndim", 0) == 1 else None
    names = () if labels is None else tuple(labels)
    return names if all(isinstance(name, str) for name in names) else ()


def _is_array(a: object) -> bool:
    if isinstance(a, np.ndarray):
        return True
    try:
        array_namespace(a)
    except TypeError:
        return False
    return True


def are_floats(*tables: object) -> bool:
    """Tell if all are arrays of floats or None, so that there is nothing to convert or to name."""
    for a in tables:
        if type(a) is np.ndarray:  # as most are, and need no more questions
            if a.dtype.kind != "f" or not a.dtype.isnative:
                return False
        elif a is not None and not _is_floats(a):
            return False
    return True


def _is_floats(a: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype.kind == "f" and a.dtype.isnative
    return _is_array(a) and bool(array_namespace(a).isdtype(a.dtype, "real floating"))


def _of_whole_numbers(a: Any, name: str, like: Array | None) -> Any:
    """An array of integers as floats, floats in the byte order here; any other array as it is."""
    xp = array_namespace(a)
    if isinstance(a, np.ndarray) and a.dtype.kind == "f":  # as files of FITS or NetCDF have them
        return a.astype(a.dtype.newbyteorder("="))
    if not xp.isdtype(a.dtype, "integral"):
        return a
    if like is not None and array_namespace(like) is xp:
        return faithful(a, xp.astype(a, like.dtype), name)
    usual = xp.__array_namespace_info__().default_dtypes()["real floating"]
    return faithful(a, xp.astype(a, usual), name)


def faithful(a: Any, made: H, name: str) -> H:
    """Return `made`, the floats of a table, if its numbers are amounts, which floats can hold."""
    _refuse_categories(a, name)
    xp, eps = array_namespace(made), epsilon(made)
    most = max(2.0 / eps, 2.0**53) if name in _VECTORS else 2.0 / eps  # y may be rounded, no more
    if 0 in made.shape or not float(xp.max(xp.abs(made))) > most:
        return made
    given = _entries(a)
    pairs = enumerate(zip(given.flat, to_numpy(made).ravel().tolist(), strict=True))
    lost = [(i, int(one)) for i, (one, near) in pairs if isinstance(one, Integral) and one != near]
    if lost:
        (at, first), digits = lost[0], len(f"{max(abs(one) for _, one in lost) * eps / 2.0:.0f}")
        what = f"{len(lost)} of its whole numbers lose up to {digits} digits in {made.dtype}"
        where = f"the first in row {at * len(given) // given.size}, {first}"
        remedy = "measure it from one origin in whole numbers, dates by gpnotes.days_since"
        raise ValueError(f"{name} must be near enough to zero; {what}, {where}: {remedy}")
    return made


def _entries(a: Any) -> HostArray:
    """The entries of a table as they are: a frame of several kinds would make floats of all."""
    if _is_array(a):
        return to_numpy(a).astype(object)
    if hasattr(a, "columns") and hasattr(a, "rows"):
        a = a.rows() if callable(a.rows) else a.rows
    return np.asarray(a.astype(object) if hasattr(a, "astype") else a, dtype=object)


def _refuse_categories(a: Any, name: str) -> None:
    """Refuse numbers that pandas has for the names of categories, as they have no order."""
    kinds = getattr(a, "dtypes", ()) if hasattr(a, "columns") else [getattr(a, "dtype", 0)]
    for column, kind in zip(getattr(a, "columns", [""]), kinds, strict=False):
        if getattr(kind, "ordered", None) is False:
            where = f" in column {column!r}" if column != "" else ""
            names = "labels to `GPClassifier`" if name == "y" else "names by `gpnotes.Levels`"
            remedy = f"give amounts by `astype(float)`, {names}"
            raise TypeError(f"{name} must hold real numbers; got categories{where}: {remedy}")


def _refuse_labels(a: Any, name: str) -> None:
    """Refuse an array of booleans or of text, with what makes numbers of it."""
    is_text = isinstance(a, np.ndarray) and a.dtype.kind == "U"
    if is_text or array_namespace(a).isdtype(a.dtype, "bool"):
        remedy = _remedy(a.flat[0] if is_text and a.size else not is_text or "", name)
        raise TypeError(f"{name} must hold real numbers; got entries of type {a.dtype}{remedy}")


def on_host(a: object, name: str) -> HostArray:
    """Return a value of the host as a NumPy array; errors say if it is ragged or no array."""
    try:
        return np.asarray(a)
    except ValueError as problem:
        raise ValueError(f"{name} must not be ragged: {problem}") from problem
    except TypeError as problem:  # as of a Dataset of xarray
        raise TypeError(f"{name} must be an array or a frame: {problem}") from problem


def _host(a: object, name: str) -> HostArray:
    host, columns = on_host(a, name), columns_of(a)
    if host.dtype.kind == "O":  # columns of several kinds, or numbers that may be missing
        for i, value in enumerate(host.flat):
            if isinstance(value, _TRUTHS) or not isinstance(value, Real):
                where = f"column {columns[i % len(columns)]!r}" if columns else "it"
                got = f"{value!r} in {where}{_remedy(value, name)}"
                raise TypeError(f"{name} must hold real numbers; got {got}")
    elif host.size and host.dtype.kind not in "iuf":
        where = f" in column {columns[0]!r}" if columns else ""
        got = f"entries of type {host.dtype}{where}{_remedy(host.flat[0], name)}"
        raise TypeError(f"{name} must hold real numbers; got {got}")
    try:
        host = host if host.dtype == np.float32 else host.astype(np.float64)
    except OverflowError as problem:  # of a whole number
        raise _check.NoValueError(f"{name} must be finite in float64; {problem}") from problem
    if columns:
        _require_finite(host, name, columns)
    return host


def _require_finite(host: HostArray, name: str, columns: tuple[str, ...]) -> None:
    wrong = np.argwhere(~np.isfinite(host))
    if len(wrong):
        row, column = wrong[0]
        count = f"{len(wrong)} of its entries are not"
        where = f"the first in row {row}, column {columns[column]!r}"
        raise _check.NoValueError(f"{name} must be finite; {count}, {where}")


def _remedy(value: object, name: str) -> str:
    """Return the advice for an entry of a table that is no number."""
    if isinstance(value, str) and _is_number(value):
        return ": make numbers of its text, by `astype(float)`"
    if name == "y" and isinstance(value, str | bool | np.bool_):
        return _of_classes(value)
    if isinstance(value, str):
        words = ": one-hot encode it, as `pandas.get_dummies` does, or give it codes"
        return f"{words} by `gpnotes.Levels` for the kernel `Hamming`, or leave the column out"
    if isinstance(value, _TRUTHS):
        return ": make it 0 and 1, by `astype(float)`"
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ": fill what is missing, or leave its rows out"
    if isinstance(value, date | np.datetime64):
        return f": {_OF_DATES}"
    return ": turn it into a number, or leave the column out"


def _of_classes(label: str | bool | np.bool_) -> str:
    """Return the advice for a label of a class among what is observed."""
    is_word = isinstance(label, str)
    one = f"y == {str(label)!r}" if is_word else "y"
    made = f"`numpy.where({one}, 1.0, -1.0)` for `EPGP` or `LaplaceGP`"
    known = f": `gpnotes.GPClassifier` takes labels as they are; give {made}"
    return known if is_word else f"{known}, `y.astype(float)` for a regression on 0 and 1"


def _is_number(word: str) -> bool:
    """Return True for a word that spells a number, as in a file that was read as text."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def first_array(owner: object) -> Array | None:
    """Return the first array of floats in a model or its parts; None if there is none."""
    return next(_held(owner, _DEEP), None)


def _held(owner: object, levels: int) -> Iterator[Array]:
    """The arrays of floats that an object holds, and those of the objects that it is made of."""
    parts = list(owner if isinstance(owner, tuple) else getattr(owner, "__dict__", {}).values())
    yield from (part for part in parts if _is_floats(part))
    if levels:
        for part in parts:
            yield from _held(part, levels - 1)
