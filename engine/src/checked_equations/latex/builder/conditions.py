"""What the words of an equation state of its numbers, as nodes: ``for``, ``if``, ``for all``."""

from __future__ import annotations

from typing import Any, TypeAlias

from lark import Token as Word

from .. import tree as t
from ..tree import Node, Span
from .branches import Branches, around

_ORDERS = {"[": "\\le", "]": "\\le", "(": "<", ")": "<"}
_RELATIONS = frozenset({"=", "<", ">", "\\le", "\\ge", "\\ne", "\\succeq", "\\preceq"})
_INFINITY = t.Constant("\\infty")
_INFINITE = (_INFINITY, t.Sum((_INFINITY,), (-1,)), t.Sum((_INFINITY,), (1,)))
Claim = tuple[list[t.Step], list[Node]]
Items = tuple[Node, ...]

# What a set lists, and where its dots end.
Listed: TypeAlias = tuple[tuple[Node, ...], Node | None]


class Conditions(Branches):
    """The part of `TreeBuilder` that reads them: small methods, one a rule of the grammar."""

    def claim(self, span: Span, chain: list[t.Step], *parts: Any) -> Claim:
        """A chain and its conditions; a bare name says what the chain is for, and no more."""
        stated: list[Node] = []
        for word, conditions in zip(parts[::2], parts[1::2], strict=True):
            bare = [c for c in conditions if not isinstance(c, t.Step | t.Member)]
            if bare and (word != "all" or not all(isinstance(c, t.Name) for c in bare)):
                raise self._fault("a condition needs a relation", bare[0].span)
            stated += conditions
        return chain, stated

    def holds(self, span: Span, items: Items, *parts: Any) -> list[Node]:
        """``if x > 0``, ``for 0 < x < 1``."""
        for sign in parts[::2]:
            if sign not in _RELATIONS:
                problem = f"`{sign}` is no condition that numbers could meet"
                raise self._fault(problem, (sign.start_pos, sign.end_pos))
        rest = zip(parts[1::2], parts[2::2], parts[3::2], strict=False)
        three = [*((item, *parts[:2]) for item in items), *rest]
        return [t.Step(a, str(sign), b, span=around([a, b])) for a, sign, b in three]

    def listed(self, span: Span, items: Items, relation: Word, *parts: Any) -> list[Node]:
        """``i = 1, 2, \\dots, N``."""
        if relation != "=":
            raise self._fault("a list with dots follows `=`", span)
        return self.member(span, items, relation, self.set(span, *parts))

    def member(self, span: Span, items: Items, sign: Word, target: Node | Listed) -> list[Node]:
        """``i \\in S``, ``i \\in \\{1, 2\\}``."""
        given = (target,) if isinstance(target, Node) else (None, *target)
        return [t.Member(item, *given, span=item.span) for item in items]

    def space(self, span: Span, items: Items, sign: Word, name: Word, *shape: Any) -> list[Node]:
        """``x \\in \\mathbb R^n``."""
        sizes, _ = self.set(span, *shape)
        space = t.Space(str(name), sizes, span=(name.start_pos or 0, span[1]))
        return self.member(span, items, sign, space)

    def set(self, span: Span, *parts: Any) -> Listed:
        """What is listed, and where the dots end."""
        numbers = tuple(part for part in parts if isinstance(part, Node))
        dotted = any(isinstance(part, Word) and part.type == "DOTS" for part in parts)
        return (numbers[:-1], numbers[-1]) if dotted else (numbers, None)

    def interval(self, span: Span, items: Items, *parts: Any) -> list[Node]:
        """``x \\in [0, 1)``: the relations that its two ends make."""
        _, opened, low, _, high, shut = parts
        orders = [(low, _ORDERS[opened], None), (None, _ORDERS[shut], high)]
        return [
            t.Step(left or item, order, right or item, span=item.span)
            for item in items
            for left, order, right in orders
            if (left or right) not in _INFINITE
        ]
