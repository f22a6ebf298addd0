"""Equations that check themselves: the LaTeX of a chapter, parsed, evaluated and mutated.

A name is loaded when it is first used, so that a check of a string loads nothing of a book.

>>> from checked_equations import Chapter, Distribution, Estimate, Nodes
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a type checker does not call `__getattr__`
    from .book.chapter import Chapter
    from .check.equation_check import check_equation
    from .check.records import Record
    from .claims.claim import ClaimError
    from .claims.outcome import Outcome, Pick
    from .errors import EquationError
    from .evaluate.values import Distribution, Estimate, Nodes

__all__ = [
    "Chapter",
    "ClaimError",
    "Distribution",
    "EquationError",
    "Estimate",
    "Nodes",
    "Outcome",
    "Pick",
    "Record",
    "check_equation",
]
_HOMES = {
    "book.chapter": ("Chapter",),
    "check.equation_check": ("check_equation",),
    "check.records": ("Record",),
    "claims.claim": ("ClaimError",),
    "claims.outcome": ("Outcome", "Pick"),
    "errors": ("EquationError",),
    "evaluate.values": ("Distribution", "Estimate", "Nodes"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # else any misspelt name would have a type

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
