"""Leaves, arithmetic, functions and blocks as LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tree as t
from ..names import signature
from .levels import FUNCTION_WORDS, Printer, is_bare, printed

_PLAIN: dict[type[t.Node], Callable[[Any, Printer], str]] = {
    t.Constant: lambda node, p: node.name,
    t.Name: lambda node, p: node.key,
    t.Index: lambda node, p: node.key,
    t.Inner: lambda node, p: f"\\langle {p.any(node.left)}, {p.any(node.right)} \\rangle",
    t.Power: lambda node, p: f"{p.base(node.base)}^{{{p.any(node.exponent)}}}",
    t.Inverse: lambda node, p: f"{p.base(node.base)}^{{-1}}",
}
for kind, written in _PLAIN.items():
    printed.register(kind, written)


@printed.register(t.Number)
def _number(node: t.Number, p: Printer) -> str:
    text = f"{node.value:.15g}"
    if float(text) == node.value and "e" not in text:
        return text
    small = abs(node.value) < 1e15
    return f"{node.value:.17f}".rstrip("0").rstrip(".") if small else f"{node.value:.0f}"


@printed.register(t.Subscript)
def _subscript(node: t.Subscript, p: Printer) -> str:
    plain = isinstance(node.base, t.Apply) or is_bare(node.base, "_^")
    base = p.any(node.base) if plain else p.wrapped(node.base)
    return f"{base}_{{{','.join(p.any(i) for i in node.indices)}}}"


@printed.register(t.Sum)
def _sum(node: t.Sum, p: Printer) -> str:
    out = ""
    for term, sign in zip(node.terms, node.signs, strict=True):
        mark = ("+ " if out else "") if sign > 0 else "- " if out else "-"
        out += (" " if out else "") + mark + p.term(term)
    return out


@printed.register(t.Product)
def _product(node: t.Product, p: Printer) -> str:
    out = ""
    last = len(node.factors) - 1
    for place, factor in enumerate(node.factors):
        text = p.factor(factor, place == last)
        gap = " \\cdot " if text[0].isdigit() else p.times
        out += (gap if place else "") + text
    return out


@printed.register(t.Infix)
def _infix(node: t.Infix, p: Printer) -> str:
    last = len(node.factors) - 1
    operand = p.operand if node.takes_products else p.factor
    sign = f" {node.spellings[0]} "
    return sign.join(operand(factor, i == last) for i, factor in enumerate(node.factors))


@printed.register(t.Quotient)
def _quotient(node: t.Quotient, p: Printer) -> str:
    return f"\\frac{{{p.any(node.numerator)}}}{{{p.any(node.denominator)}}}"


@printed.register(t.Transpose)
def _transpose(node: t.Transpose, p: Printer) -> str:
    if isinstance(node.base, t.Inverse):
        return f"{p.base(node.base.base)}^{{-\\top}}"
    return f"{p.base(node.base)}^\\top"


@printed.register(t.Root)
def _root(node: t.Root, p: Printer) -> str:
    degree = f"[{p.any(node.degree)}]" if node.degree is not None else ""
    return f"\\sqrt{degree}{{{p.any(node.base)}}}"


@printed.register(t.Bars)
def _bars(node: t.Bars, p: Printer) -> str:
    left, right = p.bars
    nested = isinstance(node.base, t.Bars)
    return f"{left}{p.wrapped(node.base) if nested else p.any(node.base)}{right}"


@printed.register(t.Norm)
def _norm(node: t.Norm, p: Printer) -> str:
    order = "" if node.order == "2" else f"_{{{node.order}}}"
    return f"\\lVert {p.any(node.base)} \\rVert{order}"


@printed.register(t.Function)
def _function(node: t.Function, p: Printer) -> str:
    arguments = [p.any(a) for a in node.arguments]
    if node.name == "factorial":
        return f"{p.base(node.arguments[0])}!"
    if node.name == "binom":
        return f"\\binom{{{arguments[0]}}}{{{arguments[1]}}}"
    if node.name == "indicator":
        return f"\\mathbb 1[{arguments[0]}]"
    word = FUNCTION_WORDS.get(node.name, f"\\{node.name}")
    return f"{word}{p.left}{', '.join(arguments)}{p.right}"


@printed.register(t.Apply)
def _apply(node: t.Apply, p: Printer) -> str:
    shown = {"|": " \\mid ", "\\|": " \\,\\|\\, "}
    marks = [*(shown.get(mark, f"{mark} ") for mark in node.separators), ""]
    inside = "".join(p.any(a) + mark for a, mark in zip(node.arguments, marks, strict=False))
    form = signature(node.key)
    return inside if node.key == "|" else f"{form.letter if form else node.key}({inside})"


@printed.register(t.Block)
def _block(node: t.Block, p: Printer) -> str:
    rows = " \\\\ ".join(" & ".join(p.any(e) for e in row) for row in node.rows)
    return f"\\begin{{bmatrix}} {rows} \\end{{bmatrix}}"
