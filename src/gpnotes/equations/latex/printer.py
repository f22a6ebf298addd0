"""A tree as LaTeX again, in several styles; what is printed parses back to the same tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from . import tree as t
from .ambiguities import trailing_factor
from .builder.averages import behind_the_bar
from .names import signature
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


class _Printer:
    def __init__(self, style: Style) -> None:
        self.style = style

    # -- levels: any, a term of a sum, a factor of a product, the base of a script --------

    def any(self, node: t.Node) -> str:
        return _RULES[type(node)](self, node)

    def wrapped(self, node: t.Node) -> str:
        return f"{self.style.left}{self.any(node)}{self.style.right}"

    def term(self, node: t.Node) -> str:
        return self.wrapped(node) if isinstance(node, t.Sum) else self.any(node)

    def factor(self, node: t.Node, last: bool) -> str:
        loose = isinstance(node, t.Sum | t.Product | t.Elementwise | t.Kronecker)
        loose = loose or (isinstance(node, t.Reduction) and not last)
        loose = loose or (isinstance(node, t.Quotient) and self.style.slash)
        loose = loose or (isinstance(node, t.Number) and node.value < 0)
        return self.wrapped(node) if loose else self.any(node)

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

    # -- nodes --------------------------------------------------------------------------

    def number(self, node: t.Number) -> str:
        text = f"{node.value:.15g}"
        return text if float(text) == node.value and "e" not in text else _decimal(node.value)

    def subscript(self, node: t.Subscript) -> str:
        plain = isinstance(node.base, t.Apply) or _is_bare(node.base, "_^")
        base = self.any(node.base) if plain else self.wrapped(node.base)
        return f"{base}_{{{','.join(self.any(i) for i in node.indices)}}}"

    def sum(self, node: t.Sum) -> str:
        out = ""
        for term, sign in zip(node.terms, node.signs, strict=True):
            mark = ("+ " if out else "") if sign > 0 else "- " if out else "-"
            out += (" " if out else "") + mark + self.term(term)
        return out

    def product(self, node: t.Product) -> str:
        out, last = "", len(node.factors) - 1
        for place, factor in enumerate(node.factors):
            text = self.factor(factor, place == last)
            gap = " \\cdot " if text[0].isdigit() else self.style.times
            out += (gap if place else "") + text
        return out

    def elementwise(self, node: t.Elementwise) -> str:
        last = len(node.factors) - 1
        return " \\odot ".join(self.operand(f, i == last) for i, f in enumerate(node.factors))

    def kronecker(self, node: t.Kronecker) -> str:
        last = len(node.factors) - 1
        return " \\otimes ".join(self.factor(f, i == last) for i, f in enumerate(node.factors))

    def operand(self, node: t.Node, last: bool) -> str:
        if isinstance(node, t.Product) and not isinstance(node.factors[-1], t.Reduction):
            return self.any(node)
        return self.factor(node, last)

    def quotient(self, node: t.Quotient) -> str:
        if not self.style.slash:
            return f"\\frac{{{self.any(node.numerator)}}}{{{self.any(node.denominator)}}}"
        above = self.factor(node.numerator, False)
        return f"{above} / {self.factor(node.denominator, False)}"

    def power(self, node: t.Power) -> str:
        return f"{self.base(node.base)}^{{{self.any(node.exponent)}}}"

    def inverse(self, node: t.Inverse) -> str:
        return f"{self.base(node.base)}^{{-1}}"

    def transpose(self, node: t.Transpose) -> str:
        if isinstance(node.base, t.Inverse):
            return f"{self.base(node.base.base)}^{{-\\top}}"
        return f"{self.base(node.base)}^\\top"

    def root(self, node: t.Root) -> str:
        degree = f"[{self.any(node.degree)}]" if node.degree is not None else ""
        return f"\\sqrt{degree}{{{self.any(node.base)}}}"

    def bars(self, node: t.Bars) -> str:
        left, right = self.style.bars
        nested = isinstance(node.base, t.Bars)
        return f"{left}{self.wrapped(node.base) if nested else self.any(node.base)}{right}"

    def norm(self, node: t.Norm) -> str:
        order = "" if node.order == "2" else f"_{{{node.order}}}"
        return f"\\lVert {self.any(node.base)} \\rVert{order}"

    def function(self, node: t.Function) -> str:
        arguments = [self.any(a) for a in node.arguments]
        if node.name == "factorial":
            return f"{self.base(node.arguments[0])}!"
        if node.name == "binom":
            return f"\\binom{{{arguments[0]}}}{{{arguments[1]}}}"
        if node.name == "indicator":
            return f"\\mathbb 1[{arguments[0]}]"
        if node.name == "exp" and self.style.natural:
            return f"e^{{{arguments[0]}}}"
        word = _FUNCTION_WORDS.get(node.name, f"\\{node.name}")
        return f"{word}{self.style.left}{', '.join(arguments)}{self.style.right}"

    def apply(self, node: t.Apply) -> str:
        marks = [*(_mark(s) for s in node.separators), ""]
        inside = "".join(self.any(a) + mark for a, mark in zip(node.arguments, marks, strict=False))
        form = signature(node.key)
        return (
            inside
            if node.key == "|"
            else f"{self.key(form.letter if form else node.key)}({inside})"
        )

    def range(self, node: t.Range) -> str:
        key = self.key(node.index)
        if node.without is not None:
            return self.without(node, node.without)
        if node.members is None:
            first, last = map(self.any, node.limits)
            return f"_{{{key}={first}}}^{{{last}}}"
        if node.members == t.Name(node.index):
            return f"_{{{key}}}"
        if isinstance(node.members, t.Block):
            inside = ", ".join(self.any(member) for member in node.members.rows[0])
            return f"_{{{key} \\in \\{{{inside}\\}}}}"
        return f"_{{{key} \\in {self.any(node.members)}}}"

    def without(self, node: t.Range, member: t.Node) -> str:
        """A range that leaves a member out, behind what it runs over."""
        left_out = f"{self.key(node.index)} \\ne {self.any(member)}"
        if node.members == t.Name(node.index):
            return f"_{{{left_out}}}"
        whole = self.range(replace(node, without=None))
        end = whole.index("}^{") if node.members is None else len(whole) - 1
        return f"{whole[:end]}, {left_out}{whole[end:]}"

    def reduction(self, node: t.Reduction) -> str:
        word = _FUNCTION_WORDS.get(node.kind, f"\\{node.kind}")
        loose = trailing_factor(node.kind, (node.over.index,), node.body)
        body = self.wrapped(node.body) if loose else self.term(node.body)
        return f"{word}{self.range(node.over)} {body}"

    def average(self, sign: str, over: tuple[t.Under, ...], *bodies: t.Node) -> str:
        under = f"_{{{', '.join(map(self.under, over))}}}" if over else ""
        return f"{sign}{under}[{', '.join(self.any(b) for b in bodies)}]"

    def under(self, node: t.Under) -> str:
        form = signature(node.distribution)
        if node.variables == (node.distribution,):
            return self.key(node.distribution)
        behind = [self.any(g) for g in behind_the_bar(node)] or list(form.given if form else ())
        given = f" \\mid {', '.join(behind)}" if behind else ""
        inside = ", ".join(map(self.key, node.variables)) + given
        letter = form.letter if form else node.distribution
        return f"{self.key(letter)}({inside})" if letter else inside

    def integral(self, node: t.Integral) -> str:
        limits = ""
        if node.dimension is not None:
            side = f"[{', '.join(map(self.any, node.limits))}]"
            limits = f"_{{{side}^{{{self.any(node.dimension)}}}}}"
        elif node.first is not None:
            first, last = map(self.any, node.limits)
            limits = f"_{{{first}}}^{{{last}}}"
        ends = "".join(f" \\,\\mathrm d {self.key(v)}" for v in node.variables)
        return f"\\int{limits} {self.any(node.body)}{ends}"

    def derivative(self, node: t.Derivative) -> str:
        body = self.factor(node.body, True)
        return f"\\frac{{\\partial {body}}}{{\\partial {self.any(node.variable)}}}"

    def gradient(self, node: t.Gradient) -> str:
        called = isinstance(node.body, t.Apply | t.Name)
        body = self.any(node.body) if called else self.wrapped(node.body)
        return f"\\nabla_{{{self.any(node.variable)}}} {body}"

    def block(self, node: t.Block) -> str:
        rows = " \\\\ ".join(" & ".join(self.any(e) for e in row) for row in node.rows)
        return f"\\begin{{bmatrix}} {rows} \\end{{bmatrix}}"

    def cases(self, node: t.Cases) -> str:
        pairs = zip(node.values, node.conditions, strict=True)
        rows = " \\\\ ".join(f"{self.any(v)} & {self.condition(c)}" for v, c in pairs)
        return f"\\begin{{cases}} {rows} \\end{{cases}}"

    def condition(self, step: t.Step | None) -> str:
        return "\\text{otherwise}" if step is None else f"\\text{{if }} {self.any(step)}"

    def step(self, node: t.Step) -> str:
        return f"{self.any(node.left)} {node.relation} {self.any(node.right)}"

    def statement(self, node: t.Statement) -> str:
        out, before = "", None
        for step in node.steps:
            chained = before is not None and step.left is before
            gap = " " if chained else ", \\quad " if out else ""
            text = f"{step.relation} {self.any(step.right)}" if chained else self.step(step)
            out, before = out + gap + text, step.right
        return out + "".join(map(self.behind, node.conditions))

    def behind(self, condition: t.Node) -> str:
        """A condition of a statement with the words before it."""
        words = "if" if isinstance(condition, t.Step) else "for all"
        return f" \\text{{ {words} }} {self.any(condition)}"

    def space(self, node: t.Space) -> str:
        sizes = " \\times ".join(map(self.term, node.shape))
        return f"{node.name}^{{{sizes}}}" if sizes else node.name

    def member(self, node: t.Member) -> str:
        element = self.any(node.element)
        if node.members is not None:
            return f"{element} \\in {self.any(node.members)}"
        listed = ", ".join(map(self.any, node.listed))
        if node.last is None:
            return f"{element} \\in \\{{{listed}\\}}"
        return f"{element} = {listed}, \\dots, {self.any(node.last)}"


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


_RULES: dict[type, Callable[[_Printer, Any], str]] = {
    t.Number: _Printer.number,
    t.Constant: lambda p, n: n.name,
    t.Name: lambda p, n: p.key(n.key),
    t.Index: lambda p, n: p.key(n.key),
    t.Subscript: _Printer.subscript,
    t.Sum: _Printer.sum,
    t.Product: _Printer.product,
    t.Elementwise: _Printer.elementwise,
    t.Kronecker: _Printer.kronecker,
    t.Inner: lambda p, n: f"\\langle {p.any(n.left)}, {p.any(n.right)} \\rangle",
    t.Quotient: _Printer.quotient,
    t.Power: _Printer.power,
    t.Inverse: _Printer.inverse,
    t.Transpose: _Printer.transpose,
    t.Root: _Printer.root,
    t.Bars: _Printer.bars,
    t.Norm: _Printer.norm,
    t.Function: _Printer.function,
    t.Apply: _Printer.apply,
    t.Range: _Printer.range,
    t.Reduction: _Printer.reduction,
    t.Expectation: lambda p, n: p.average("\\mathbb E", n.over, n.body),
    t.Variance: lambda p, n: p.average("\\mathbb V", n.over, n.body),
    t.Covariance: lambda p, n: p.average("\\operatorname{Cov}", n.over, n.left, n.right),
    t.Under: _Printer.under,
    t.Integral: _Printer.integral,
    t.Derivative: _Printer.derivative,
    t.Gradient: _Printer.gradient,
    t.Block: _Printer.block,
    t.Cases: _Printer.cases,
    t.Step: _Printer.step,
    t.Space: _Printer.space,
    t.Member: _Printer.member,
    t.Statement: _Printer.statement,
}
