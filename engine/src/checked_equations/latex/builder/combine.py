"""Small steps of building a tree: products, quotients, indices, running variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from .. import tree as t
from ..tree import Index, Name, Node

# What the parser hands to the method of a rule: trees, words, and what other methods returned.
Parts: TypeAlias = list[Any]


def bind(node: Node, keys: Iterable[str]) -> Node:
    """`node` with the names in `keys` turned into running variables."""
    wanted = frozenset(keys)
    if isinstance(node, Name):
        return Index(node.key, span=node.span) if node.key in wanted else node
    return t.mapped(node, lambda part: bind(part, wanted))


def around(factors: list[Node]) -> tuple[int, int]:
    """The stretch of text from the first of `factors` to the last."""
    return factors[0].span[0], factors[-1].span[1]


def below(limit: Node, relation: str) -> Node:
    """The last index of ``i < limit`` or ``i \\le limit``."""
    if relation == "LE":
        return limit
    return t.Sum((limit, t.Number(1.0)), (1, -1), span=limit.span)


def one_product(factors: list[Node]) -> Node:
    """The product of `factors`, which is the factor itself if there is one."""
    if len(factors) == 1:
        return factors[0]
    return t.Product(tuple(factors), span=around(factors))


def quotient(numerator: Node, denominator: Node) -> Node:
    """The quotient of two nodes, with the stretch of both."""
    return t.Quotient(numerator, denominator, span=around([numerator, denominator]))


def split_indices(part: Node) -> tuple[Node, ...]:
    """``ij`` in a subscript is two indices, and so are ``i1`` and ``1i``; ``2i`` is one."""
    plain = t.Name | t.Index | t.Subscript
    if not isinstance(part, t.Product):
        return (part,)
    first, rest = part.factors[0], part.factors[1:]
    starts = isinstance(first, plain) or first == t.Number(1.0)
    pair = starts and all(isinstance(f, plain | t.Number) for f in rest)
    return part.factors if pair else (part,)
