"""What the words of an equation state of its numbers, as nodes: ``for``, ``if``, ``for all``."""

from __future__ import annotations

from typing import TypeAlias

from lark import Token as Word
from lark.tree import Meta

from .. import tree as t
from ..tree import Node
from .branches import Branches, Parts

_ORDERS = {"[": "\\le", "]": "\\le", "(": "<", ")": "<"}
_RELATIONS = frozenset({"=", "<", ">", "\\le", "\\ge", "\\ne", "\\succeq", "\\preceq"})
_INFINITY = t.Constant("\\infty")
_INFINITE = (_INFINITY, t.Sum((_INFINITY,), (-1,)), t.Sum((_INFINITY,), (1,)))
Claim = tuple[list[t.Step], list[Node]]

# What a set lists, and where its dots end.
Listed: TypeAlias = tuple[tuple[Node, ...], Node | None]


class Conditions(Branches):
    """The part of `TreeBuilder` that reads them: small methods, one a rule of the grammar."""

    def claim(self, meta: Meta, parts: Parts) -> Claim:
        """A chain and its conditions; a bare name says what the chain is for, and no more."""
        stated: list[Node] = []
        for word, conditions in zip(parts[1::2], parts[2::2], strict=True):
            bare = [c for c in conditions if not isinstance(c, t.Step | t.Member)]
            if bare and (word != "all" or not all(isinstance(c, t.Name) for c in bare)):
                self._refuse("a condition needs a relation", bare[0].span)
            stated += conditions
        return parts[0], stated

    def items(self, meta: Meta, parts: Parts) -> list[Node]:
        """What a condition is about: ``x, y`` of ``for x, y > 0``."""
        return parts[::2]

    def quantified(self, meta: Meta, parts: Parts) -> list[Node]:
        """``for all x, y`` without a relation."""
        return parts[0]

    def holds(self, meta: Meta, parts: Parts) -> list[Node]:
        """``if x > 0``, ``for 0 < x < 1``."""
        items, relation, first = parts[:3]
        for sign in parts[1::2]:
            if sign not in _RELATIONS:
                span = (sign.start_pos, sign.end_pos)
                self._refuse(f"`{sign}` is no condition that numbers could meet", span)
        rest = zip(parts[2::2], parts[3::2], parts[4::2], strict=False)
        steps = [_step(item, relation, first) for item in items]
        return [*steps, *(_step(*three) for three in rest)]

    def listed(self, meta: Meta, parts: Parts) -> list[Node]:
        """``i = 1, 2, \\dots, N``."""
        items, relation, *values = parts
        if relation != "=":
            raise self._fault("a list with dots follows `=`", meta)
        numbers = tuple(value for value in values if isinstance(value, Node))
        return _members(items, (numbers[:-1], numbers[-1]))

    def member(self, meta: Meta, parts: Parts) -> list[Node]:
        """``i \\in S``, ``i \\in \\{1, 2\\}``."""
        items, _, target = parts
        return _members(items, target)

    def space(self, meta: Meta, parts: Parts) -> list[Node]:
        """``x \\in \\mathbb R^n``."""
        items, _, name, *shape = parts
        sizes = tuple(part for part in shape if isinstance(part, Node))
        span = (name.start_pos, meta.end_pos)
        return _members(items, t.Space(str(name), sizes, span=span))

    def set(self, meta: Meta, parts: Parts) -> Listed:
        """What is listed, and where the dots end."""
        numbers = tuple(part for part in parts if isinstance(part, Node))
        dotted = any(isinstance(part, Word) and part.type == "DOTS" for part in parts)
        return (numbers[:-1], numbers[-1]) if dotted else (numbers, None)

    def interval(self, meta: Meta, parts: Parts) -> list[Node]:
        """``x \\in [0, 1)``: the relations that its two ends make."""
        items, _, opened, low, _, high, shut = parts
        orders = [(low, _ORDERS[opened], None), (None, _ORDERS[shut], high)]
        return [
            t.Step(left or item, order, right or item, span=item.span)
            for item in items
            for left, order, right in orders
            if (left or right) not in _INFINITE
        ]


def _members(items: list[Node], target: Node | Listed) -> list[Node]:
    given = (target,) if isinstance(target, Node) else (None, *target)
    return [t.Member(item, *given, span=item.span) for item in items]


def _step(left: Node, relation: Word, right: Node) -> t.Step:
    return t.Step(left, str(relation), right, span=(left.span[0], right.span[1]))
