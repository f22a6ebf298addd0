"""What the functions of control check at the door: states, policies and their limits."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._xp import Array, array_namespace
from ..moments.input_covariance import admit_input


def state(m: Array, S: Array, size: int | None = None, *, names: tuple = ("m", "S")) -> Array:
    """S made symmetric, if ``N(m, S)`` is a normal distribution of `size` entries."""
    _check.vector(m, names[0], size=size)
    return admit_input(m, S, m[None, :], names[1], mean=names[0])


def function(value: Any, name: str) -> Any:
    """`value` if it can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function; got {_check._kind(value)}")
    return value


def limits(limit: Any, v: Array) -> Array:
    """`limit`, one number or one for each action, as an array like v (U,)."""
    ones = array_namespace(v).ones_like(v)
    if not isinstance(limit, int | float):
        _check.alike(_check.vector(limit, "limit", size=v.shape[0]), "limit", v, "the action")
    return limit * ones
