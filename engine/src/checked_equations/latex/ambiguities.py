"""Readings on which mathematicians differ: refused, with a form to write instead.

Each function returns the ambiguity, or an empty string.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from . import tree as t
from .tree import Node, parts

Spans = Collection[tuple[int, int]]

_CLOSED = t.Bars | t.Norm | t.Root | t.Quotient
_OPENS = t.Function | t.Reduction | t.Derivative


def between_factors(before: Node | None, op: str, part: Node, *, slashed: bool, bare: Spans) -> str:
    """Two factors: `bare` are the spans of functions and gradients without brackets around."""
    if slashed and not op and (not isinstance(part, _OPENS) or _is_rounded(part)):
        return "ambiguous after `/`: is this below the line? write \\frac or parentheses"
    if before is None or before.span not in bare:
        return ""
    if isinstance(before, t.Gradient):
        variable = {part.key for part in parts(before.variable) if isinstance(part, t.Name)}
        named = {inner.key for inner in parts(part) if isinstance(inner, t.Name | t.Index)}
        another = isinstance(_without_scripts(part), t.Gradient)
        differentiated = not op and not another and variable & named
        return "ambiguous: is this differentiated too? write brackets" if differentiated else ""
    if op in ("DIV", "TIMES") and not isinstance(part, _OPENS) and not _closed(before, bare):
        return "ambiguous: does this belong to the argument of the function? write brackets"
    return ""


def _closed(function: Node, bare: Spans) -> bool:
    """Return whether the argument ends visibly, as in ``\\log |A|`` and ``\\log\\frac{a}{b}``."""
    function = _without_scripts(function)
    argument = function.arguments[0] if isinstance(function, t.Function) else function
    inner = _without_scripts(argument)
    return isinstance(inner, _CLOSED) or (isinstance(inner, t.Function) and inner.span not in bare)


def _without_scripts(node: Node) -> Node:
    while isinstance(node, t.Power | t.Inverse | t.Transpose):
        node = node.base
    return node


def _is_rounded(node: Node) -> bool:
    """Return whether it stands in brackets that round."""
    return isinstance(node, t.Function) and node.rounds


def behind_bars(argument: Node) -> str:
    """``\\log |A| b``: the bars, or brackets that round, look like the end of the argument."""
    first = argument.factors[0] if isinstance(argument, t.Product) else argument
    problem = "ambiguous: does what follows the bars belong to the function? write brackets"
    bare = _without_scripts(first)
    barred = first is not argument and (isinstance(bare, t.Bars) or _is_rounded(bare))
    return problem if barred else ""


def behind_call(argument: Node) -> int:
    """Count the factors of ``\\log p(x) c`` that belong to the function, if it seems not all do."""
    factors = argument.factors if isinstance(argument, t.Product) else ()
    calls = (i + 1 for i, factor in enumerate(factors[:-1]) if isinstance(factor, t.Apply))
    return next(calls, 0)


def trailing_factor(kind: str, indices: Iterable[str], body: Node) -> str:
    """``\\prod_i x_i c``: inside or outside, which for a sum makes no difference."""
    if kind == "sum" or not isinstance(body, t.Product | t.Quotient):
        return ""
    keys = set(indices)
    last = body.factors[-1] if isinstance(body, t.Product) else body.denominator
    if mentions_free(body, keys) and not mentions_free(last, keys):
        return "ambiguous: the last factor does not run; write it in front, or write brackets"
    return ""


def mentions_free(node: Node, keys: Collection[str]) -> bool:
    """Return whether one of `keys` occurs in `node` where nothing runs under that name."""
    if isinstance(node, t.Name | t.Index):
        return node.key in keys
    if isinstance(node, t.Reduction):
        inner = {*keys} - {node.over.index}
        return mentions_free(node.over, keys) or mentions_free(node.body, inner)
    if isinstance(node, t.Limit):
        return mentions_free(node.point, keys) or mentions_free(node.body, {*keys} - {node.key})
    own = node.variables if isinstance(node, t.Average | t.Integral) else ()
    return any(mentions_free(child, {*keys} - {*own}) for _, child in t.children(node))
