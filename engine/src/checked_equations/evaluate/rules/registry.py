"""What the rules share: one for each kind of node, and what they may ask of the evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

from ...latex.tree import Node
from ..values import Array

__all__ = ["Array", "Calculator", "Item", "Scope", "rule"]


class Item(NamedTuple):
    """What a running variable stands for: a token that tells its values apart, the value."""

    token: Any
    value: Any


Scope = Mapping[str, Item]


class Calculator(Protocol):
    """The evaluator as a rule sees it."""

    bindings: dict[str, Any]
    terms: int  # of all sums so far
    series: dict[int, int]  # the terms that each sum without end took, those inside it as well
    mutants_follow: bool  # whether the statement itself has been evaluated

    def of(self, node: Node, scope: Scope) -> Array:
        """The value of `node` in `scope`."""

    def bound(self, key: str) -> Array:
        """The value that the name `key` is bound to."""

    def depends(self, node: Node, key: str) -> bool:
        """Whether the symbol `key` occurs in `node`."""


@singledispatch
def rule(node: Node, ev: Calculator, scope: Scope) -> Array:
    """The value of `node`, by the rule of its kind."""
    raise TypeError(f"a {type(node).__name__} has no value")
