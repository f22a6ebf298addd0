"""What this part of the package checks at its door, beside arrays: counts, numbers and streams."""

from __future__ import annotations

from numbers import Real
from typing import Any

from .. import _check
from ..random import Stream

__all__ = ["drawn_from", "number", "whole"]


def whole(value: Any, name: str, least: int) -> int:
    """`value` as an int, if it is a whole number from `least`."""
    if not is_whole(value, least):
        raise ValueError(f"{name} must be a whole number from {least}; got {value!r}")
    return int(value)


def is_whole(value: Any, least: int) -> bool:
    """Whether `value` is one number, finite, without a fraction, and not below `least`."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and float(value).is_integer() and value >= least


def number(value: Any, name: str) -> float:
    """`value` as a float, if it is a finite one."""
    try:
        return _check.finite(float(value), name)
    except TypeError:
        raise TypeError(f"{name} must be a number; got {type(value).__name__}") from None


def drawn_from(stream: Any) -> Stream:
    """`stream`, if it is one."""
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a gpnotes Stream; got {type(stream).__name__}")
    return stream
