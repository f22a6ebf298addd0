"""What the rules share: the register itself, and what they may ask of the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from ...latex.register import Register
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

    def of(self, node: Node, scope: Scope) -> Array: ...

    def bound(self, key: str) -> Array: ...

    def depends(self, node: Node, key: str) -> bool: ...


rule: Register[Callable[[Calculator, Any, Scope], Array]] = Register("value")
