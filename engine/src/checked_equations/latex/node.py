"""What all nodes of a tree share: their stretch of text, and how to walk and edit them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, dataclass_transform

Span = tuple[int, int]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Frozen:
    """What makes every class below it a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Node(_Frozen):
    """A node of the tree, a frozen dataclass, and the stretch of LaTeX that it was read from."""

    span: Span = field(default=(0, 0), compare=False, repr=False, kw_only=True)


def children(node: Node) -> Iterator[tuple[tuple[str, int, int], Node]]:
    """The child nodes of `node`, each with its place: field, position, position in the row."""
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            yield (item.name, -1, -1), value
        elif isinstance(value, tuple):
            yield from _inside(item.name, value)


def _inside(name: str, values: tuple[Any, ...]) -> Iterator[tuple[tuple[str, int, int], Node]]:
    for i, value in enumerate(values):
        if isinstance(value, Node):
            yield (name, i, -1), value
        elif isinstance(value, tuple):
            for j, entry in enumerate(value):
                if isinstance(entry, Node):
                    yield (name, i, j), entry


Path = tuple[tuple[str, int, int], ...]


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node below and including `node`, parents first, with the path that leads to it."""
    yield path, node
    for place, child in children(node):
        yield from walk(child, (*path, place))


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """`node` with `change` made to each of its children; itself, where that leaves them all."""
    changes: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        new = _mapped_value(value, change)
        if new is not value:
            changes[item.name] = new
    return replace(node, **changes) if changes else node


def _mapped_value(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple) and value and not isinstance(value[0], int | str):
        new = tuple(_mapped_value(entry, change) for entry in value)
        return value if all(a is b for a, b in zip(value, new, strict=True)) else new
    return value


def replace_at(node: Node, path: Path, new: Node) -> Node:
    """`node` with the node at `path` replaced by `new`; everything off the path is shared."""
    if not path:
        return new
    name, i, j = path[0]
    rest = path[1:]
    value: Any = getattr(node, name)
    if i < 0:
        changes: dict[str, Any] = {name: replace_at(value, rest, new)}
    elif j < 0:
        changes = {name: (*value[:i], replace_at(value[i], rest, new), *value[i + 1 :])}
    else:
        row = (*value[i][:j], replace_at(value[i][j], rest, new), *value[i][j + 1 :])
        changes = {name: (*value[:i], row, *value[i + 1 :])}
    return replace(node, **changes)
