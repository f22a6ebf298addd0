"""What became of a wrong call: a clear error, an obscure one, NaN, or silence."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from .kinds import Argument, Fresh

# Of two arguments that do not go together, either may be named.
_NAMED_WITH = frozenset(
    (
        "a row too many", "no rows", "a column too many", "no columns", "an entry too many",
        "no entries", "another namespace", "another precision", "another size", "another game",
    )
)  # fmt: skip

_DEEP = 6  # parts of parts of an answer, and no further


@dataclass(frozen=True)
class Call:
    """A public function and its arguments: `called` as in the documentation."""

    called: str
    function: Any
    arguments: Mapping[str, Argument]

    def right(self) -> dict[str, Any]:
        return {name: _fresh(argument.right) for name, argument in self.arguments.items()}


def call(called: str, function: Any, /, **arguments: Argument) -> Call:
    """A row of the catalogue; what takes data takes lists and whole numbers too."""
    for name in tables_of(function):
        if name in arguments:
            arguments[name] = arguments[name].table
    return Call(called, function, arguments)


def tables_of(function: Any) -> tuple[str, ...]:
    """The arguments that may be tables, by the decorator."""
    found = getattr(function, "tables", None)
    if found is None and not inspect.isclass(function):
        found = getattr(type(function).__call__, "tables", None)
    return found or ()


class Answer(NamedTuple):
    """One wrong call and what came of it: `outcome` is clear, obscure, nan or silent."""

    called: str
    argument: str
    wrong: str
    outcome: str
    said: str

    def __str__(self) -> str:
        return f"{self.called}({self.argument}={self.wrong}): {self.outcome}: {self.said[:160]}"


def answers(called: Call) -> Iterator[Answer]:
    """Make every wrong call: one argument wrong, all others right."""
    for name, argument in called.arguments.items():
        for said, value in argument.wrong.items():
            outcome, words = _outcome(called, name, value, said in _NAMED_WITH)
            yield Answer(called.called, name, said, outcome, words)


def _outcome(called: Call, name: str, value: Any, together: bool) -> tuple[str, str]:
    arguments = {**called.right(), name: value}
    names = list(arguments) if together else [name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = spent(called.function(**arguments))
    except (TypeError, ValueError) as error:
        clear = any(names_it(str(error), one) for one in names)
        return ("clear" if clear else "obscure"), _words(error)
    except Exception as error:  # noqa: BLE001  whatever else a wrong call meets is not an answer to it
        return "obscure", _words(error)
    return ("nan" if any(map(has_holes, numbers(result))) else "silent"), type(result).__name__


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0]


def names_it(said: str, argument: str) -> bool:
    """Whether the message names the argument, and is ours: with what was expected and what came."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(argument)}(?![A-Za-z])", said) is not None


def spent(result: Any) -> Any:
    """A generator is asked for its first value: nothing is checked before."""
    return next(result) if isinstance(result, Iterator) else result


def _fresh(value: Any) -> Any:
    return value.make() if isinstance(value, Fresh) else value


def numbers(result: Any, depth: int = 0) -> Iterator[np.ndarray]:
    """All arrays of floats in an answer, in an order that does not change."""
    if isinstance(result, float | np.ndarray | np.floating):
        a = np.asarray(result)
        if a.dtype.kind == "f":
            yield a
    elif depth <= _DEEP:
        for part in _parts(result):
            yield from numbers(part, depth + 1)


def _parts(result: Any) -> Iterable[Any]:
    if isinstance(result, tuple | list):
        return result
    if isinstance(result, Mapping):
        return result.values()
    if is_dataclass(result) and not isinstance(result, type):
        named = {field.name: getattr(result, field.name, None) for field in fields(result)}
        return (named | getattr(result, "__dict__", {})).values()  # and what is no field
    return ()


def has_holes(a: np.ndarray) -> bool:
    return bool(np.any(np.isnan(a)))
