"""Indefinite integrals: both sides are differentiated, so that no constant is compared.

``\\int f(x) \\,\\mathrm d x = F(x)`` is read as ``f(x) = F'(x)``. An integral stands on its side
alone, in a sum, or with factors that do not move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .. import tree as t
from ..tree import Node


def differentiated(
    step: t.Step, kinds: Mapping[str, str], before: Sequence[Node] = ()
) -> t.Step | None:
    """`step` without its indefinite integrals; itself where it has none, None where one is left.

    Behind one, which stands on a side `before`, ``F(x) + C = G(x) + C`` has two constants.
    """
    sides = (step.left, step.right)
    every = (*sides, *(before if any(map(_constant, *map(_terms, sides))) else ()))
    key = next((k for side in every for k in _variables(side, every, kinds)), "")
    if not key or step.relation != "=":
        return step
    left, right = (slope(side, key) for side in sides)
    return None if left is None or right is None else replace(step, left=left, right=right)


def _terms(node: Node) -> tuple[Node, ...]:
    return node.terms[::-1] if isinstance(node, t.Sum) else ()


def _constant(one: Node, other: Node) -> bool:
    return one == other and isinstance(one, t.Name)


def _variables(side: Node, sides: tuple[Node, ...], kinds: Mapping[str, str]) -> list[str]:
    """The variables of integrals without limits that stand for a number elsewhere."""
    open_ends = (p for p in t.parts(side) if isinstance(p, t.Integral) and p.first is None)
    keys = [p.variables[0] for p in open_ends if len(p.variables) == 1]
    if not keys:
        return []
    named = {p.key for one in sides for p in t.parts(one) if isinstance(p, t.Name)}
    return [k for k in keys if kinds.get(k) == "value" or (k not in kinds and k in named)]


def slope(node: Node, key: str) -> Node | None:
    """The derivative of `node` by `key`, where an integral by `key` gives its integrand.

    None where such an integral stands inside of something else.
    """
    if not _mentions(node, key):
        return t.Number(0.0, span=node.span)
    if isinstance(node, t.Sum):
        return _of_sum(node, key)
    if not _holds_integral(node, key):
        return t.Derivative(node, t.Name(key, span=node.span), span=node.span)
    match node:
        case t.Integral(body=body) if _is_over(node, key):
            return _named(body, key)
        case t.Product(factors):
            moved = [i for i, factor in enumerate(factors) if _mentions(factor, key)]
            inner = slope(factors[moved[0]], key) if len(moved) == 1 else None
            return inner and t.replace_at(node, (("factors", moved[0], -1),), inner)
        case t.Quotient(above, below) if not _mentions(below, key):
            inner = slope(above, key)
            return inner and replace(node, numerator=inner)
    return None


def _of_sum(node: t.Sum, key: str) -> Node | None:
    """Return the derivative of a sum without its constant terms."""
    parts: list[Node] = []
    signs: list[int] = []
    for term, sign in zip(node.terms, node.signs, strict=True):
        inner = slope(term, key)
        if inner is None:
            return None
        if inner != t.Number(0.0):
            parts.append(inner)
            signs.append(sign)
    return parts[0] if signs == [1] else t.Sum(tuple(parts), tuple(signs), span=node.span)


def _holds_integral(node: Node, key: str) -> bool:
    return any(_is_over(part, key) for part in t.parts(node))


def _is_over(node: Node, key: str) -> bool:
    return isinstance(node, t.Integral) and node.first is None and node.variables == (key,)


def _mentions(node: Node, key: str) -> bool:
    """Return whether the variable occurs, if only behind the d of an integral: ``\\int a dx``."""
    own = (t.Name(key), t.Index(key))
    return any(part in own or _is_over(part, key) for part in t.parts(node))


def _named(node: Node, key: str) -> Node:
    """`node` with the variable of the integral as the symbol that it is elsewhere."""
    if node == t.Index(key):
        return t.Name(key, span=node.span)
    return t.mapped(node, lambda part: _named(part, key))
