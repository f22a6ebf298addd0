"""Columns that an object names, such as a kernel of one of them, found among those of a frame."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

__all__ = ["at_columns", "number_of"]

T = TypeVar("T")


def at_columns(obj: T, columns: tuple[str, ...], name: str = "X") -> T:
    """Return an object of parameters that knows the numbers of the columns that it names.

    A part that names columns, or sees others than its owner, has a method of this name, without
    the first argument.

    Parameters
    ----------
    obj : object
        A kernel, a process or a model, which comes back as it is if none of its parts, dataclasses
        in dataclasses and tuples, names a column.
    columns : tuple of str
        The names of the columns of the inputs; without any it comes back as it is.
    name : str, default "X"
        The name of the inputs in an error.

    Raises
    ------
    ValueError
        If a column is not there, or twice.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> kernel = RBF().on("wind") + RBF().on(0)
    >>> [part.places for part in at_columns(kernel, ("temp", "wind")).parts]
    [(1,), (0,)]
    """
    return cast(T, _found(obj, columns, name)) if columns else obj


def number_of(column: str, columns: tuple[str, ...], name: str, owner: object) -> int:
    """Return the number of a column, which an owner asks for, among those of the inputs."""
    if (times := columns.count(column)) != 1:
        wanted = f"{name} must have a column {column!r}, which {owner!r} names"
        raise ValueError(f"{wanted}; got {'it twice' if times else list(columns)}")
    return columns.index(column)


def _found(obj: object, columns: tuple[str, ...], name: str) -> object:
    if type(obj) is tuple:
        parts = tuple(_found(part, columns, name) for part in obj)
        return obj if all(a is b for a, b in zip(parts, obj, strict=True)) else parts
    if not is_dataclass(obj) or isinstance(obj, type):
        return obj
    if hasattr(obj, "at_columns"):
        return cast(Any, obj).at_columns(columns, name)
    held = ((item.name, getattr(obj, item.name)) for item in fields(obj) if item.init)
    pairs = ((field, value, _found(value, columns, name)) for field, value in held)
    changed = {field: new for field, value, new in pairs if new is not value}
    return replace(obj, **changed) if changed else obj
