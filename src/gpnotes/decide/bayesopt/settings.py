"""The settings of an input of a space, and the conditions under which an input exists.

An input may hang on others: the degree of a polynomial is there only where the kernel is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from ...ground import check as _check
from ...ground.xp import HostVector

__all__ = [
    "Conditions", "Point", "Setting", "When", "as_called", "conditions_of", "is_setting", "key_of",
    "plain", "setting", "validated_when",
]  # fmt: skip

Setting: TypeAlias = str | int | float | bool | None
Point: TypeAlias = dict[str, Any]
Record: TypeAlias = dict[str, Any]  # an object of JSON
When: TypeAlias = Mapping[str, Setting | Sequence[Setting]]
T = TypeVar("T")


def plain(value: T) -> T:
    """A number of NumPy as Python has it; all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def is_setting(value: object) -> bool:
    """Return True for a value that can be a setting."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int | bool)


def setting(value: Any, name: str) -> Setting:
    """Return a value as Python has it, if it may be one of an input's."""
    given = plain(value)
    if not is_setting(given):
        wanted = "strings, finite numbers, truth values or None"
        raise TypeError(f"{name} must be made of {wanted}; got {value!r}")
    found: Setting = given
    return found


def key_of(value: Setting) -> tuple[str, Setting]:
    """Return the identity of a choice: True is not 1."""
    return type(value).__name__, value


def validated_when(when: object) -> dict[str, tuple[Setting, ...]] | None:
    """Return for each input that another hangs on the settings with which that is there."""
    if when is None:
        return None
    if not isinstance(when, Mapping):
        wanted = "a mapping from names of inputs to one of their settings or several"
        raise TypeError(f"when must be {wanted}; got {_check.kind_of(when)}")
    if not when:
        raise ValueError("when must name an input, or be None; got none")
    return {_named(name): _settings(name, given) for name, given in when.items()}


def _named(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"when must have strings for names; got {name!r}")
    return name


def _settings(name: str, given: Any) -> tuple[Setting, ...]:
    several = isinstance(given, Sequence) and not isinstance(given, str)
    chosen = tuple(setting(one, f"when[{name!r}]") for one in (given if several else [given]))
    if not chosen:
        raise ValueError(f"when[{name!r}] must have at least one setting; got none")
    return chosen


def as_called(dimension: Any) -> str:
    """The call that makes a dimension; `when` stands in it only where it is given."""
    told = {field.name: getattr(dimension, field.name) for field in fields(dimension)}
    parts = [f"{name}={value!r}" for name, value in told.items() if name != "when" or value]
    return f"{type(dimension).__name__}({', '.join(parts)})"


class Conditional(Protocol):
    """A dimension, as far as conditions ask."""

    @property
    def when(self) -> When | None:
        """The settings of others with which it is there."""

    @property
    def count(self) -> int | None:
        """The number of settings."""

    def validated(self, value: Setting, name: str) -> Setting:
        """Return a setting of it, or raise."""


class Conditions:
    """Which inputs are there at which points.

    Parameters
    ----------
    when : dict
        For each input that hangs on others, these with their settings; those on which others hang
        come first.
    """

    def __init__(self, when: dict[str, dict[str, tuple[Setting, ...]]]) -> None:
        self.when = when
        self._keys = {
            name: {parent: {key_of(one) for one in chosen} for parent, chosen in parents.items()}
            for name, parents in when.items()
        }

    def masks(self, columns: Mapping[str, Sequence[Setting]]) -> dict[str, HostVector]:
        """Tell of each input that hangs on others at which of n points it is there, (n,)."""
        there: dict[str, HostVector] = {}
        for name, parents in self._keys.items():
            parts = [
                np.asarray([key_of(plain(one)) in keys for one in columns[parent]], dtype=bool)
                & there.get(parent, np.True_)
                for parent, keys in parents.items()
            ]
            there[name] = np.all(parts, axis=0)
        return there

    def absent(self, point: Mapping[str, Setting]) -> list[str]:
        """The inputs that are not there at a point, whose others have settings of theirs."""
        gone: list[str] = []
        for name, parents in self._keys.items():
            met = [
                parent not in gone and parent in point and key_of(plain(point[parent])) in keys
                for parent, keys in parents.items()
            ]
            if not all(met):
                gone.append(name)
        return gone

    def said(self, name: str) -> str:
        """In words, when an input is there."""
        parts = [
            f"{parent} is {' or '.join(map(repr, chosen))}"
            for parent, chosen in self.when[name].items()
        ]
        return " and ".join(parts)


def conditions_of(dimensions: Mapping[str, Conditional]) -> Conditions | None:
    """Return the conditions of a space, or None where no input hangs on another."""
    hanging = {name: dict(dim.when) for name, dim in dimensions.items() if dim.when is not None}
    if not hanging:
        return None
    valid = {name: _valid(name, when, dimensions) for name, when in hanging.items()}
    return Conditions({name: valid[name] for name in _ordered(valid)})


def _valid(
    name: str, when: Mapping[str, Any], dimensions: Mapping[str, Conditional]
) -> dict[str, tuple[Setting, ...]]:
    where = f"dimensions[{name!r}].when"
    found: dict[str, tuple[Setting, ...]] = {}
    for parent, chosen in when.items():
        if parent not in dimensions:
            raise ValueError(f"{where} must have names of {list(dimensions)}; got {parent!r}")
        dim = dimensions[parent]
        if dim.count is None:
            wanted = "whole numbers, categories or fixed inputs, which have settings to name"
            raise ValueError(f"{where} must be of {wanted}; {parent!r} is {dim!r}")
        fixed = dim.count == 1  # to another setting perhaps: then the input is never there
        label = f"{where}[{parent!r}]"
        found[parent] = tuple(one if fixed else dim.validated(one, label) for one in chosen)
    return found


def _ordered(when: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The inputs that hang on others, each after those that it hangs on."""
    order: list[str] = []
    while len(order) < len(when):
        left = [name for name in when if name not in order]
        ready = [name for name in left if not any(parent in left for parent in when[name])]
        if not ready:
            raise ValueError(f"dimensions must not depend on each other in a circle; {left} do")
        order += ready
    return order
