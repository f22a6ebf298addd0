"""Sums and products over an index, averages, integrals and derivatives as LaTeX."""

from __future__ import annotations

from dataclasses import replace

from .. import tree as t
from ..ambiguities import trailing_factor
from ..builder.averages import behind_the_bar
from ..names import signature
from .levels import FUNCTION_WORDS, Printer, printed

_SIGNS = {
    t.Expectation: "\\mathbb E",
    t.Variance: "\\mathbb V",
    t.Covariance: "\\operatorname{Cov}",
}


@printed.register(t.Average)
def _average(node: t.Average, p: Printer) -> str:
    under = f"_{{{', '.join(_under(one, p) for one in node.over)}}}" if node.over else ""
    parts = (p.any(part) for (name, *_), part in t.children(node) if name != "over")
    return f"{_SIGNS[type(node)]}{under}[{', '.join(parts)}]"


@printed.register(t.Range)
def _range(node: t.Range, p: Printer) -> str:
    key = node.index
    if node.without is not None:
        left_out = f"{key} \\ne {p.any(node.without)}"
        if node.members == t.Name(node.index):
            return f"_{{{left_out}}}"
        shown = _range(replace(node, without=None), p)
        end = shown.index("}^{") if node.members is None else len(shown) - 1
        return f"{shown[:end]}, {left_out}{shown[end:]}"
    if node.members is None:
        first, last = map(p.any, node.limits)
        return f"_{{{key}={first}}}^{{{last}}}"
    if node.members == t.Name(node.index):
        return f"_{{{key}}}"
    if isinstance(node.members, t.Block):
        inside = ", ".join(p.any(member) for member in node.members.rows[0])
        return f"_{{{key} \\in \\{{{inside}\\}}}}"
    return f"_{{{key} \\in {p.any(node.members)}}}"


@printed.register(t.Reduction)
def _reduction(node: t.Reduction, p: Printer) -> str:
    word = FUNCTION_WORDS.get(node.kind, f"\\{node.kind}")
    loose = trailing_factor(node.kind, (node.over.index,), node.body)
    body = p.wrapped(node.body) if loose else p.term(node.body)
    return f"{word}{_range(node.over, p)} {body}"


@printed.register(t.Under)
def _under(node: t.Under, p: Printer) -> str:
    form = signature(node.distribution)
    if node.variables == (node.distribution,):
        return node.distribution
    behind = [p.any(g) for g in behind_the_bar(node)] or list(form.given if form else ())
    given = f" \\mid {', '.join(behind)}" if behind else ""
    inside = ", ".join(node.variables) + given
    letter = form.letter if form else node.distribution
    return f"{letter}({inside})" if letter else inside


@printed.register(t.Integral)
def _integral(node: t.Integral, p: Printer) -> str:
    limits = ""
    if node.dimension is not None:
        side = f"[{', '.join(map(p.any, node.limits))}]"
        limits = f"_{{{side}^{{{p.any(node.dimension)}}}}}"
    elif node.first is not None:
        first, last = map(p.any, node.limits)
        limits = f"_{{{first}}}^{{{last}}}"
    ends = "".join(f" \\,\\mathrm d {v}" for v in node.variables)
    return f"\\int{limits} {p.any(node.body)}{ends}"


@printed.register(t.Derivative)
def _derivative(node: t.Derivative, p: Printer) -> str:
    body = p.factor(node.body, True)
    return f"\\frac{{\\partial {body}}}{{\\partial {p.any(node.variable)}}}"


@printed.register(t.At)
def _at(node: t.At, p: Printer) -> str:
    return f"\\left. {p.any(node.body)} \\right|_{{{node.key} = {p.any(node.point)}}}"


@printed.register(t.Gradient)
def _gradient(node: t.Gradient, p: Printer) -> str:
    called = isinstance(node.body, t.Apply | t.Name)
    body = p.any(node.body) if called else p.wrapped(node.body)
    return f"\\nabla_{{{p.any(node.variable)}}} {body}"
