"""Parameters: what a frozen dataclass says about its fields, and what follows from it.

A field declares itself with `positive`, `nonnegative`, `real` or `fixed`. From that follow the
checks at construction (`settle`) and the objects that hold derivatives (`cotangent`).
"""

from __future__ import annotations

from dataclasses import MISSING, field, fields
from typing import Any

from . import _check

__all__ = ["cotangent", "fixed", "nonnegative", "positive", "real", "settle"]


def positive(default: Any = MISSING, *, per_dimension: bool = False) -> Any:
    """A field that must be positive and is fitted by its logarithm."""
    return _parameter("positive", default, per_dimension)


def nonnegative(default: Any = MISSING, *, per_dimension: bool = False) -> Any:
    """A field that may be zero; it is fitted by its logarithm, so a zero must be held fixed."""
    return _parameter("nonnegative", default, per_dimension)


def real(default: Any = MISSING, *, per_dimension: bool = False) -> Any:
    """A field that may have any sign and is fitted as it is."""
    return _parameter("real", default, per_dimension)


def fixed(default: Any = MISSING) -> Any:
    """A field that says what an object is, not how large: never fitted."""
    return field(default=default, metadata={"constraint": "fixed"})


def _parameter(constraint: str, default: Any, per_dimension: bool) -> Any:
    metadata = {"constraint": constraint, "per_dimension": per_dimension}
    return field(default=default, metadata=metadata)


def settle(obj: Any) -> None:
    """Check the parameters of a new object and turn its scalars into Python floats.

    To be called from ``__post_init__``. A NumPy scalar left in place would carry its float64 into
    float32 work. Raises `ValueError` or `TypeError`, naming class and field.
    """
    for item in fields(obj):
        if item.metadata.get("constraint", "fixed") != "fixed":
            value = _settled(getattr(obj, item.name), f"{type(obj).__name__}.{item.name}", item)
            object.__setattr__(obj, item.name, value)


def _settled(value: Any, name: str, item: Any) -> Any:
    if getattr(value, "ndim", 0) == 0:
        value = _scalar(value, name)
    elif item.metadata["per_dimension"]:
        _check.vector(value, name)
    else:
        raise ValueError(f"{name} must be a float; got an array of shape {value.shape}")
    if item.metadata["constraint"] == "real":
        return value
    return _check.positive(value, name, zero=item.metadata["constraint"] == "nonnegative")


def _scalar(value: Any, name: str) -> float:
    try:
        return float(value)
    except TypeError:
        raise TypeError(
            f"{name} must be a float or, where one per input dimension is allowed, a 1-D array "
            f"of the data's dtype; got {type(value).__name__}"
        ) from None


def cotangent(obj: Any, **bars: Any) -> Any:
    """An object of the class of `obj` whose fields hold derivatives, given by name.

    A gradient has the type of its argument but not its range: a derivative by a variance may be
    negative. So a cotangent is made without the checks of construction. Fields that are not
    given, the fixed ones above all, are those of `obj`.
    """
    bar = object.__new__(type(obj))
    for item in fields(obj):
        object.__setattr__(bar, item.name, bars.get(item.name, getattr(obj, item.name)))
    return bar
