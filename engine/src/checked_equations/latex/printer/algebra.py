"""Leaves, arithmetic, functions and blocks as LaTeX."""

from __future__ import annotations

from .. import tree as t
from ..names import signature
from .levels import FUNCTION_WORDS, Printer, is_bare, printed


@printed(t.Constant)
def _constant(p: Printer, node: t.Constant) -> str:
    return node.name


@printed(t.Name, t.Index)
def _name(p: Printer, node: t.Name | t.Index) -> str:
    return p.key(node.key)


@printed(t.Inner)
def _inner(p: Printer, node: t.Inner) -> str:
    return f"\\langle {p.any(node.left)}, {p.any(node.right)} \\rangle"


@printed(t.Number)
def _number(p: Printer, node: t.Number) -> str:
    text = f"{node.value:.15g}"
    return text if float(text) == node.value and "e" not in text else _decimal(node.value)


@printed(t.Subscript)
def _subscript(p: Printer, node: t.Subscript) -> str:
    plain = isinstance(node.base, t.Apply) or is_bare(node.base, "_^")
    base = p.any(node.base) if plain else p.wrapped(node.base)
    return f"{base}_{{{','.join(p.any(i) for i in node.indices)}}}"


@printed(t.Sum)
def _sum(p: Printer, node: t.Sum) -> str:
    out = ""
    for term, sign in zip(node.terms, node.signs, strict=True):
        mark = ("+ " if out else "") if sign > 0 else "- " if out else "-"
        out += (" " if out else "") + mark + p.term(term)
    return out


@printed(t.Product)
def _product(p: Printer, node: t.Product) -> str:
    out = ""
    last = len(node.factors) - 1
    for place, factor in enumerate(node.factors):
        text = p.factor(factor, place == last)
        gap = " \\cdot " if text[0].isdigit() else p.style.times
        out += (gap if place else "") + text
    return out


@printed(t.Infix)
def _infix(p: Printer, node: t.Infix) -> str:
    last = len(node.factors) - 1
    operand = p.operand if node.takes_products else p.factor
    sign = f" {node.spellings[0]} "
    return sign.join(operand(factor, i == last) for i, factor in enumerate(node.factors))


@printed(t.Quotient)
def _quotient(p: Printer, node: t.Quotient) -> str:
    if not p.style.slash:
        return f"\\frac{{{p.any(node.numerator)}}}{{{p.any(node.denominator)}}}"
    above = p.factor(node.numerator, False)
    return f"{above} / {p.factor(node.denominator, False)}"


@printed(t.Power)
def _power(p: Printer, node: t.Power) -> str:
    return f"{p.base(node.base)}^{{{p.any(node.exponent)}}}"


@printed(t.Inverse)
def _inverse(p: Printer, node: t.Inverse) -> str:
    return f"{p.base(node.base)}^{{-1}}"


@printed(t.Transpose)
def _transpose(p: Printer, node: t.Transpose) -> str:
    if isinstance(node.base, t.Inverse):
        return f"{p.base(node.base.base)}^{{-\\top}}"
    return f"{p.base(node.base)}^\\top"


@printed(t.Root)
def _root(p: Printer, node: t.Root) -> str:
    degree = f"[{p.any(node.degree)}]" if node.degree is not None else ""
    return f"\\sqrt{degree}{{{p.any(node.base)}}}"


@printed(t.Bars)
def _bars(p: Printer, node: t.Bars) -> str:
    left, right = p.style.bars
    nested = isinstance(node.base, t.Bars)
    return f"{left}{p.wrapped(node.base) if nested else p.any(node.base)}{right}"


@printed(t.Norm)
def _norm(p: Printer, node: t.Norm) -> str:
    order = "" if node.order == "2" else f"_{{{node.order}}}"
    return f"\\lVert {p.any(node.base)} \\rVert{order}"


@printed(t.Function)
def _function(p: Printer, node: t.Function) -> str:
    arguments = [p.any(a) for a in node.arguments]
    if node.name == "factorial":
        return f"{p.base(node.arguments[0])}!"
    if node.name == "binom":
        return f"\\binom{{{arguments[0]}}}{{{arguments[1]}}}"
    if node.name == "indicator":
        return f"\\mathbb 1[{arguments[0]}]"
    if node.name == "exp" and p.style.natural:
        return f"e^{{{arguments[0]}}}"
    word = FUNCTION_WORDS.get(node.name, f"\\{node.name}")
    return f"{word}{p.style.left}{', '.join(arguments)}{p.style.right}"


@printed(t.Apply)
def _apply(p: Printer, node: t.Apply) -> str:
    marks = [*(_mark(s) for s in node.separators), ""]
    inside = "".join(p.any(a) + mark for a, mark in zip(node.arguments, marks, strict=False))
    form = signature(node.key)
    return inside if node.key == "|" else f"{p.key(form.letter if form else node.key)}({inside})"


@printed(t.Block)
def _block(p: Printer, node: t.Block) -> str:
    rows = " \\\\ ".join(" & ".join(p.any(e) for e in row) for row in node.rows)
    return f"\\begin{{bmatrix}} {rows} \\end{{bmatrix}}"


def _mark(separator: str) -> str:
    return {"|": " \\mid ", "\\|": " \\,\\|\\, "}.get(separator, f"{separator} ")


def _decimal(value: float) -> str:
    return f"{value:.17f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:.0f}"
