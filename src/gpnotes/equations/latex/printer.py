"""A tree as LaTeX again, in several styles; what is printed parses back to the same tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from . import tree as t
from .ambiguities import trailing_factor
from .builder.averages import behind_the_bar
from .names import signature
from .register import Register
from .tokenizer import tokens

__all__ = ["STYLES", "Style", "to_latex"]


@dataclass(frozen=True)
class Style:
    """How a writer's habits differ: brackets, products, fractions, powers of e, braces."""

    left: str = "("
    right: str = ")"
    times: str = " "
    slash: bool = False
    natural: bool = False
    braced: bool = False
    bars: tuple[str, str] = ("\\lvert ", " \\rvert")


STYLES = {
    "plain": Style(),
    "sized": Style("\\left(", "\\right)", bars=("\\left| ", " \\right|")),
    "brackets": Style("\\bigl[", "\\bigr]", times=" \\, ", natural=True),
    "dotted": Style("\\{", "\\}", times=" \\cdot "),
    "slashed": Style(slash=True, times=" \\times "),
    "braced": Style(braced=True, bars=("\\bigl| ", " \\bigr|")),
}


def to_latex(node: t.Node, style: str | Style = "plain") -> str:
    """The LaTeX of `node`.

    >>> from gpnotes.equations.latex.tree import Inverse, Name, Product
    >>> to_latex(Product((Inverse(Name("K_y")), Name("\\\\mathbf y"))))
    'K_y^{-1} \\\\mathbf y'
    """
    return _Printer(STYLES[style] if isinstance(style, str) else style).any(node)


_FUNCTION_WORDS = {
    **{name: f"\\operatorname{{{name}}}" for name in ("tr", "diag", "rank", "sign")},
    **{name: f"\\operatorname*{{{name}}}" for name in ("argmin", "argmax")},
}


printed: Register[Callable[[_Printer, Any], str]] = Register("LaTeX")


class _Printer:
    def __init__(self, style: Style) -> None:
        self.style = style

    # -- levels: any, a term of a sum, a factor of a product, the base of a script --------

    def any(self, node: t.Node) -> str:
        return printed.of(node)(self, node)

    def wrapped(self, node: t.Node) -> str:
        return f"{self.style.left}{self.any(node)}{self.style.right}"

    def term(self, node: t.Node) -> str:
        return self.wrapped(node) if isinstance(node, t.Sum) else self.any(node)

    def factor(self, node: t.Node, last: bool) -> str:
        loose = isinstance(node, t.Sum | t.Product | t.Infix)
        loose = loose or (isinstance(node, t.Reduction) and not last)
        loose = loose or (isinstance(node, t.Quotient) and self.style.slash)
        loose = loose or (isinstance(node, t.Number) and node.value < 0)
        return self.wrapped(node) if loose else self.any(node)

    def operand(self, node: t.Node, last: bool) -> str:
        """What may stand beside a sign that binds less than juxtaposition."""
        if isinstance(node, t.Product) and not isinstance(node.factors[-1], t.Reduction):
            return self.any(node)
        return self.factor(node, last)

    def base(self, node: t.Node) -> str:
        """What may carry a superscript without brackets."""
        plain = isinstance(node, t.Constant | t.Bars | t.Block | t.Apply) or _is_bare(node, "^")
        plain = plain or (isinstance(node, t.Number) and node.value >= 0)
        plain = plain or isinstance(node, t.Subscript | t.Norm | t.Inner)
        return self.any(node) if plain else self.wrapped(node)

    def key(self, key: str) -> str:
        if not self.style.braced:
            return key
        text = ""
        for token in tokens(key):
            gap = " " if text[-1:].isalpha() and token.text[0].isalpha() else ""
            text += gap + token.text
        return text


@printed(t.Constant)
def _constant(p: _Printer, node: t.Constant) -> str:
    return node.name


@printed(t.Name, t.Index)
def _name(p: _Printer, node: t.Name | t.Index) -> str:
    return p.key(node.key)


@printed(t.Inner)
def _inner(p: _Printer, node: t.Inner) -> str:
    return f"\\langle {p.any(node.left)}, {p.any(node.right)} \\rangle"


@printed(t.Expectation)
def _expectation(p: _Printer, node: t.Expectation) -> str:
    return _average(p, "\\mathbb E", node.over, node.body)


@printed(t.Variance)
def _variance(p: _Printer, node: t.Variance) -> str:
    return _average(p, "\\mathbb V", node.over, node.body)


@printed(t.Covariance)
def _covariance(p: _Printer, node: t.Covariance) -> str:
    return _average(p, "\\operatorname{Cov}", node.over, node.left, node.right)


@printed(t.Number)
def _number(p: _Printer, node: t.Number) -> str:
    text = f"{node.value:.15g}"
    return text if float(text) == node.value and "e" not in text else _decimal(node.value)


@printed(t.Subscript)
def _subscript(p: _Printer, node: t.Subscript) -> str:
    plain = isinstance(node.base, t.Apply) or _is_bare(node.base, "_^")
    base = p.any(node.base) if plain else p.wrapped(node.base)
    return f"{base}_{{{','.join(p.any(i) for i in node.indices)}}}"


@printed(t.Sum)
def _sum(p: _Printer, node: t.Sum) -> str:
    out = ""
    for term, sign in zip(node.terms, node.signs, strict=True):
        mark = ("+ " if out else "") if sign > 0 else "- " if out else "-"
        out += (" " if out else "") + mark + p.term(term)
    return out


@printed(t.Product)
def _product(p: _Printer, node: t.Product) -> str:
    out, last = "", len(node.factors) - 1
    for place, factor in enumerate(node.factors):
        text = p.factor(factor, place == last)
        gap = " \\cdot " if text[0].isdigit() else p.style.times
        out += (gap if place else "") + text
    return out


@printed(t.Infix)
def _infix(p: _Printer, node: t.Infix) -> str:
    last = len(node.factors) - 1
    operand = p.operand if node.takes_products else p.factor
    sign = f" {node.spellings[0]} "
    return sign.join(operand(factor, i == last) for i, factor in enumerate(node.factors))


@printed(t.Quotient)
def _quotient(p: _Printer, node: t.Quotient) -> str:
    if not p.style.slash:
        return f"\\frac{{{p.any(node.numerator)}}}{{{p.any(node.denominator)}}}"
    above = p.factor(node.numerator, False)
    return f"{above} / {p.factor(node.denominator, False)}"


@printed(t.Power)
def _power(p: _Printer, node: t.Power) -> str:
    return f"{p.base(node.base)}^{{{p.any(node.exponent)}}}"


@printed(t.Inverse)
def _inverse(p: _Printer, node: t.Inverse) -> str:
    return f"{p.base(node.base)}^{{-1}}"


@printed(t.Transpose)
def _transpose(p: _Printer, node: t.Transpose) -> str:
    if isinstance(node.base, t.Inverse):
        return f"{p.base(node.base.base)}^{{-\\top}}"
    return f"{p.base(node.base)}^\\top"


@printed(t.Root)
def _root(p: _Printer, node: t.Root) -> str:
    degree = f"[{p.any(node.degree)}]" if node.degree is not None else ""
    return f"\\sqrt{degree}{{{p.any(node.base)}}}"


@printed(t.Bars)
def _bars(p: _Printer, node: t.Bars) -> str:
    left, right = p.style.bars
    nested = isinstance(node.base, t.Bars)
    return f"{left}{p.wrapped(node.base) if nested else p.any(node.base)}{right}"


@printed(t.Norm)
def _norm(p: _Printer, node: t.Norm) -> str:
    order = "" if node.order == "2" else f"_{{{node.order}}}"
    return f"\\lVert {p.any(node.base)} \\rVert{order}"


@printed(t.Function)
def _function(p: _Printer, node: t.Function) -> str:
    arguments = [p.any(a) for a in node.arguments]
    if node.name == "factorial":
        return f"{p.base(node.arguments[0])}!"
    if node.name == "binom":
        return f"\\binom{{{arguments[0]}}}{{{arguments[1]}}}"
    if node.name == "indicator":
        return f"\\mathbb 1[{arguments[0]}]"
    if node.name == "exp" and p.style.natural:
        return f"e^{{{arguments[0]}}}"
    word = _FUNCTION_WORDS.get(node.name, f"\\{node.name}")
    return f"{word}{p.style.left}{', '.join(arguments)}{p.style.right}"


@printed(t.Apply)
def _apply(p: _Printer, node: t.Apply) -> str:
    marks = [*(_mark(s) for s in node.separators), ""]
    inside = "".join(p.any(a) + mark for a, mark in zip(node.arguments, marks, strict=False))
    form = signature(node.key)
    return inside if node.key == "|" else f"{p.key(form.letter if form else node.key)}({inside})"


@printed(t.Range)
def _range(p: _Printer, node: t.Range) -> str:
    key = p.key(node.index)
    if node.without is not None:
        return _without(p, node, node.without)
    if node.members is None:
        first, last = map(p.any, node.limits)
        return f"_{{{key}={first}}}^{{{last}}}"
    if node.members == t.Name(node.index):
        return f"_{{{key}}}"
    if isinstance(node.members, t.Block):
        inside = ", ".join(p.any(member) for member in node.members.rows[0])
        return f"_{{{key} \\in \\{{{inside}\\}}}}"
    return f"_{{{key} \\in {p.any(node.members)}}}"


def _without(p: _Printer, node: t.Range, member: t.Node) -> str:
    """A range that leaves a member out, behind what it runs over."""
    left_out = f"{p.key(node.index)} \\ne {p.any(member)}"
    if node.members == t.Name(node.index):
        return f"_{{{left_out}}}"
    whole = _range(p, replace(node, without=None))
    end = whole.index("}^{") if node.members is None else len(whole) - 1
    return f"{whole[:end]}, {left_out}{whole[end:]}"


@printed(t.Reduction)
def _reduction(p: _Printer, node: t.Reduction) -> str:
    word = _FUNCTION_WORDS.get(node.kind, f"\\{node.kind}")
    loose = trailing_factor(node.kind, (node.over.index,), node.body)
    body = p.wrapped(node.body) if loose else p.term(node.body)
    return f"{word}{_range(p, node.over)} {body}"


def _average(p: _Printer, sign: str, over: tuple[t.Under, ...], *bodies: t.Node) -> str:
    under = f"_{{{', '.join(map(partial(_under, p), over))}}}" if over else ""
    return f"{sign}{under}[{', '.join(p.any(b) for b in bodies)}]"


@printed(t.Under)
def _under(p: _Printer, node: t.Under) -> str:
    form = signature(node.distribution)
    if node.variables == (node.distribution,):
        return p.key(node.distribution)
    behind = [p.any(g) for g in behind_the_bar(node)] or list(form.given if form else ())
    given = f" \\mid {', '.join(behind)}" if behind else ""
    inside = ", ".join(map(p.key, node.variables)) + given
    letter = form.letter if form else node.distribution
    return f"{p.key(letter)}({inside})" if letter else inside


@printed(t.Integral)
def _integral(p: _Printer, node: t.Integral) -> str:
    limits = ""
    if node.dimension is not None:
        side = f"[{', '.join(map(p.any, node.limits))}]"
        limits = f"_{{{side}^{{{p.any(node.dimension)}}}}}"
    elif node.first is not None:
        first, last = map(p.any, node.limits)
        limits = f"_{{{first}}}^{{{last}}}"
    ends = "".join(f" \\,\\mathrm d {p.key(v)}" for v in node.variables)
    return f"\\int{limits} {p.any(node.body)}{ends}"


@printed(t.Derivative)
def _derivative(p: _Printer, node: t.Derivative) -> str:
    body = p.factor(node.body, True)
    return f"\\frac{{\\partial {body}}}{{\\partial {p.any(node.variable)}}}"


@printed(t.Gradient)
def _gradient(p: _Printer, node: t.Gradient) -> str:
    called = isinstance(node.body, t.Apply | t.Name)
    body = p.any(node.body) if called else p.wrapped(node.body)
    return f"\\nabla_{{{p.any(node.variable)}}} {body}"


@printed(t.Block)
def _block(p: _Printer, node: t.Block) -> str:
    rows = " \\\\ ".join(" & ".join(p.any(e) for e in row) for row in node.rows)
    return f"\\begin{{bmatrix}} {rows} \\end{{bmatrix}}"


@printed(t.Cases)
def _cases(p: _Printer, node: t.Cases) -> str:
    pairs = zip(node.values, node.conditions, strict=True)
    rows = " \\\\ ".join(f"{p.any(v)} & {_condition(p, c)}" for v, c in pairs)
    return f"\\begin{{cases}} {rows} \\end{{cases}}"


def _condition(p: _Printer, step: t.Step | None) -> str:
    return "\\text{otherwise}" if step is None else f"\\text{{if }} {p.any(step)}"


@printed(t.Step)
def _step(p: _Printer, node: t.Step) -> str:
    return f"{p.any(node.left)} {node.relation} {p.any(node.right)}"


@printed(t.Statement)
def _statement(p: _Printer, node: t.Statement) -> str:
    out, before = "", None
    for step in node.steps:
        chained = before is not None and step.left is before
        gap = " " if chained else ", \\quad " if out else ""
        text = f"{step.relation} {p.any(step.right)}" if chained else _step(p, step)
        out, before = out + gap + text, step.right
    return out + "".join(map(partial(_behind, p), node.conditions))


def _behind(p: _Printer, condition: t.Node) -> str:
    """A condition of a statement with the words before it."""
    words = "if" if isinstance(condition, t.Step) else "for all"
    return f" \\text{{ {words} }} {p.any(condition)}"


@printed(t.Space)
def _space(p: _Printer, node: t.Space) -> str:
    sizes = " \\times ".join(map(p.term, node.shape))
    return f"{node.name}^{{{sizes}}}" if sizes else node.name


@printed(t.Member)
def _member(p: _Printer, node: t.Member) -> str:
    element = p.any(node.element)
    if node.members is not None:
        return f"{element} \\in {p.any(node.members)}"
    listed = ", ".join(map(p.any, node.listed))
    if node.last is None:
        return f"{element} \\in \\{{{listed}\\}}"
    return f"{element} = {listed}, \\dots, {p.any(node.last)}"


def _is_bare(node: t.Node, scripts: str) -> bool:
    """Whether `node` is a symbol that has none of these scripts in its name."""
    if not isinstance(node, t.Name | t.Index):
        return False
    depth, found = 0, ""
    for token in tokens(node.key):
        depth += {"{": 1, "}": -1}.get(token.text, 0)
        found += token.text if depth == 0 else ""
    return not any(mark in found for mark in scripts)


def _mark(separator: str) -> str:
    return {"|": " \\mid ", "\\|": " \\,\\|\\, "}.get(separator, f"{separator} ")


def _decimal(value: float) -> str:
    return f"{value:.17f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:.0f}"
