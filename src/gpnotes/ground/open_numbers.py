"""Open numbers: defaults of parameters, which a fit replaces by numbers from the data."""

from __future__ import annotations

from typing import Any

__all__ = ["Open", "is_open", "kept_open"]


class Open(float):
    """An open number, as the default of a field; `kept_open` makes it a plain one."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Let a class with such a field come back from a pickle with the same numbers open."""
        if not hasattr(owner, "__setstate__"):
            type.__setattr__(owner, "__setstate__", _unpickled)


def _unpickled(obj: object, state: dict[str, Any]) -> None:
    """Set the fields of an object; a pickle holds its numbers by value, so that none were open."""
    opened = {name: kept_open(state[name]) for name in state.get("_open", ())}
    obj.__dict__.update(state, **opened)


# Array libraries know plain floats alone, so a field holds one. By its value it is always the same
# object, which no number that a caller writes is: `dataclasses.replace`, which hands on what it
# finds in the fields, so hands on that it is open.
_NOBODY_CHOSE: dict[float, float] = {}


def is_open(value: object) -> bool:
    """Return True for an open number."""
    return type(value) is Open or (type(value) is float and _NOBODY_CHOSE.get(value) is value)


def kept_open(value: float) -> float:
    """Return the plain float of an open number, which `is_open` knows again."""
    return _NOBODY_CHOSE.setdefault(float(value), float(value))
