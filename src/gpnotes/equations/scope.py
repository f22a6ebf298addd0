"""Which names are running variables: those that a sum or an average around them declares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from .tree import Index, Name, Node

__all__ = ["bind"]


def bind(node: Node, keys: Iterable[str]) -> Node:
    """`node` with the names in `keys` turned into running variables."""
    wanted = frozenset(keys)
    if isinstance(node, Name):
        return Index(node.key, span=node.span) if node.key in wanted else node
    changes = {}
    for item in fields(node):
        value = getattr(node, item.name)
        bound = _bind_value(value, wanted)
        if bound is not value:
            changes[item.name] = bound
    return replace(node, **changes) if changes else node


def _bind_value(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, Node):
        return bind(value, keys)
    if isinstance(value, tuple) and value and not isinstance(value[0], int | str):
        bound = tuple(_bind_value(entry, keys) for entry in value)
        return value if all(a is b for a, b in zip(value, bound, strict=True)) else bound
    return value
