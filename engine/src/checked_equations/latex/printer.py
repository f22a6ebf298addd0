"""A tree as LaTeX again; the printed text parses back to the same tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import singledispatch
from typing import Any

from . import tree as t
from . import vocabulary as v
from .ambiguities import trailing_factor
from .builder.ranges import behind_the_bar
from .names import signature
from .tokenizer import outside, tokens


def _spellings(words: Mapping[str, str], upright: str) -> dict[str, str]:
    """A spelling of each function in a register of the vocabulary: its own name where it has one.

    Upright letters are the argument of `upright`, a command, by which the engine reads them again.
    """
    chosen: dict[str, str] = {}
    for word, name in words.items():
        if name not in chosen or word == f"\\{name}":
            chosen[name] = word
    return {name: word.replace("\\mathrm", upright) for name, word in chosen.items()}


_FUNCTIONS = _spellings(v.FUNCTIONS, "\\operatorname")
_REDUCTIONS = _spellings(v.BIG, "\\operatorname*")
_MARKS = {"factorial": "!", "double_factorial": "!!"}  # behind what they are of
_BY = " \\times "


@singledispatch
def printed(node: t.Node, printer: Printer) -> str:
    """The LaTeX of `node`, by its kind."""
    raise TypeError(f"a {type(node).__name__} has no LaTeX")


class Printer:
    """Writes nodes, each with the brackets that its place asks for."""

    left, right = "(", ")"
    times = " "
    bars = ("\\lvert ", " \\rvert")

    def any(self, node: t.Node) -> str:
        """Without brackets around it."""
        return printed(node, self)

    def wrapped(self, node: t.Node) -> str:
        """In brackets."""
        return f"{self.left}{self.any(node)}{self.right}"

    def term(self, node: t.Node) -> str:
        """A term of a sum."""
        return self.wrapped(node) if isinstance(node, t.Sum) else self.any(node)

    def factor(self, node: t.Node, last: bool) -> str:
        """A factor of a product; a sum sign reaches to the end, so that it may stand last."""
        reaching = isinstance(node, t.Reduction | t.Limit) and not last
        negative = isinstance(node, t.Number) and node.value < 0
        loose = reaching or negative or isinstance(node, t.Sum | t.Product | t.Infix)
        return self.wrapped(node) if loose else self.any(node)

    def operand(self, node: t.Node, last: bool) -> str:
        """Return the text of a factor next to a sign that binds less than juxtaposition."""
        if isinstance(node, t.Product) and not isinstance(node.factors[-1], t.Reduction | t.Limit):
            return self.any(node)
        return self.factor(node, last)

    def row(self, node: t.Product | t.Infix, write: Callable[[t.Node, bool], str]) -> list[str]:
        """All factors."""
        *others, last = node.factors
        return [*(write(other, False) for other in others), write(last, True)]

    def base(self, node: t.Node) -> str:
        """Return the text of a base that can carry a superscript without brackets."""
        whole = t.Constant | t.Bars | t.Block | t.Subscript | t.Norm | t.Inner
        positive = isinstance(node, t.Number) and node.value >= 0
        plain = positive or isinstance(node, whole) or _is_bare(node, "^")
        return self.any(node) if plain else self.wrapped(node)


def _is_bare(node: t.Node, scripts: str) -> bool:
    """Return whether `node` is a call, or a symbol that has none of these scripts in its name."""
    if not isinstance(node, t.Name | t.Index):
        return isinstance(node, t.Apply)
    return not any(free and token.text in scripts for token, free in outside(tokens(node.key)))


def _below(node: t.Subscript, p: Printer) -> str:
    return f"_{{{','.join(map(p.any, node.indices))}}}"


def to_latex(node: t.Node) -> str:
    """The LaTeX of `node`.

    >>> to_latex(t.Product((t.Inverse(t.Name("K_y")), t.Name("\\\\mathbf y"))))
    'K_y^{-1} \\\\mathbf y'
    """
    return Printer().any(node)


# Leaves, arithmetic, functions and blocks

_PLAIN: dict[type[t.Node], Callable[[Any, Printer], str]] = {
    t.Number: lambda node, p: f"{Decimal(str(node.value)).normalize():f}",
    t.Constant: lambda node, p: node.name,
    t.Name: lambda node, p: node.key,
    t.Index: lambda node, p: node.key,
    t.Inner: lambda node, p: f"\\langle {p.any(node.left)}, {p.any(node.right)} \\rangle",
    t.Power: lambda node, p: f"{p.base(node.base)}^{{{p.any(node.exponent)}}}",
    t.Inverse: lambda node, p: f"{p.base(node.base)}^{{-1}}",
    t.Transpose: lambda node, p: (
        f"{p.base(node.base.base)}^{{-\\top}}"
        if isinstance(node.base, t.Inverse)
        else f"{p.base(node.base)}^\\top"
    ),
    t.Quotient: lambda node, p: f"\\frac{{{p.any(node.numerator)}}}{{{p.any(node.denominator)}}}",
    t.At: lambda node, p: (
        f"\\left. {p.any(node.body)} \\right|_{{{node.key} = {p.any(node.point)}}}"
    ),
    t.Subscript: lambda node, p: (
        (p.any(node.base) if _is_bare(node.base, "_^") else f"[{p.any(node.base)}]")
        + _below(node, p)
    ),
    t.Root: lambda node, p: (
        "\\sqrt" + (f"[{p.any(node.degree)}]" if node.degree else "") + f"{{{p.any(node.base)}}}"
    ),
    t.Bars: lambda node, p: (
        p.wrapped(node.base) if isinstance(node.base, t.Bars) else p.any(node.base)
    ).join(p.bars),
    t.Norm: lambda node, p: (
        f"\\lVert {p.any(node.base)} \\rVert" + (f"_{{{node.order}}}" if node.order else "")
    ),
    t.Block: lambda node, p: _grid("bmatrix", (map(p.any, row) for row in node.rows)),
    t.Space: lambda node, p: (
        node.name + (f"^{{{_BY.join(map(p.term, node.shape))}}}" if node.shape else "")
    ),
    t.Gradient: lambda node, p: (
        f"\\nabla_{{{p.any(node.variable)}}} "
        + (p.any if isinstance(node.body, t.Apply | t.Name) else p.wrapped)(node.body)
    ),
    t.Derivative: lambda node, p: (
        f"\\frac{{\\partial{_order(node, p)} {p.factor(node.body, True)}}}"
        f"{{\\partial {p.any(node.variable)}{_order(node, p)}}}"
    ),
    t.Dots: lambda node, p: p.any(node.body),
    t.Step: lambda node, p: f"{p.any(node.left)} {node.relation} {p.any(node.right)}",
}
for _kind, _written in _PLAIN.items():
    printed.register(_kind, _written)


def _order(node: t.Derivative, p: Printer) -> str:
    return "" if node.order is None else f"^{{{p.any(node.order)}}}"


@printed.register(t.Sum)
def _sum(node: t.Sum, p: Printer) -> str:
    out = ""
    for term, sign in zip(node.terms, node.signs, strict=True):
        mark = ("+ " if out else "") if sign > 0 else "- " if out else "-"
        out += (" " if out else "") + mark + p.term(term)
    return out


@printed.register(t.Product)
def _product(node: t.Product, p: Printer) -> str:
    out, *texts = p.row(node, p.factor)
    for text in texts:
        out += (" \\cdot " if text[0].isdigit() else p.times) + text
    return out


@printed.register(t.Infix)
def _infix(node: t.Infix, p: Printer) -> str:
    operand = p.operand if node.takes_products else p.factor
    return f" {node.spellings[0]} ".join(p.row(node, operand))


@printed.register(t.Function)
def _function(node: t.Function, p: Printer) -> str:
    arguments = [p.any(a) for a in node.arguments]
    if node.name in _MARKS:
        return p.base(node.arguments[0]) + _MARKS[node.name]
    if node.rounds:
        return f"\\l{node.name} {arguments[0]} \\r{node.name}"
    if node.name == "binom":
        return f"\\binom{{{arguments[0]}}}{{{arguments[1]}}}"
    if node.name == "identity":
        return f"I_{{{arguments[0]} \\times {arguments[0]}}}"
    if node.name == "indicator":
        return f"\\mathbb 1[{arguments[0]}]"
    word = node.name if node.name[0] == "\\" else _FUNCTIONS.get(node.name)
    if word is None:
        raise TypeError(f"{node.name} has no LaTeX: give it a row in FUNCTIONS of vocabulary.py")
    return f"{word}{p.left}{', '.join(arguments)}{p.right}"


@printed.register(t.Apply)
def _apply(node: t.Apply, p: Printer) -> str:
    shown = {"|": " \\mid ", "\\|": " \\,\\|\\, "}
    marks = [*(shown.get(mark, f"{mark} ") for mark in node.separators), ""]
    form = signature(node.key) if node.key != "|" else None
    forms = (*form.variables, *form.given) if form else ()
    parts = list(map(p.any, node.arguments))
    for i, own in enumerate(forms[: len(parts)]):
        if own.startswith("\\mathrm{do}("):
            parts[i] = f"\\operatorname{{do}}({parts[i]})"
        elif parts[i] != own:  # by its name, or the engine would look for another distribution
            parts[i] = f"{own} = {parts[i]}"
    inside = "".join(a + mark for a, mark in zip(parts, marks, strict=False))
    return inside if node.key == "|" else f"{form.letter if form else node.key}({inside})"


@printed.register(t.Primed)
def _primed(node: t.Primed, p: Printer) -> str:
    order = node.order.value if isinstance(node.order, t.Number) else 0
    mark = "'" * int(order) if order in (1, 2, 3) else f"^{{({p.any(node.order)})}}"
    return f"{node.key}{mark}({p.any(node.arguments[0])})"


# Sums and products over an index, averages and integrals

_SIGNS = {
    t.Expectation: "\\mathbb E",
    t.Variance: "\\mathbb V",
    t.Covariance: "\\operatorname{Cov}",
}


@printed.register(t.Average)
def _average(node: t.Average, p: Printer) -> str:
    inside = ", ".join(p.any(part) for (name, *_), part in t.children(node) if name != "over")
    settings = _settings(node.over[0], p) if len(node.over) == 1 else ""
    below = ", ".join(node.over[0].variables if settings else (_under(one, p) for one in node.over))
    return f"{_SIGNS[type(node)]}{below and f'_{{{below}}}'}[{inside}{settings}]"


def _settings(under: t.Under, p: Printer) -> str:
    """The values behind the bar, ``\\mid x = 2``, of a distribution that has no letter.

    Below the sign, as in ``y \\mid 2``, they would not name their distribution.
    """
    form = signature(under.distribution)
    values = [p.any(one) for one in behind_the_bar(under)]
    if form is None or form.letter or not values or values == list(form.given):
        return ""
    pairs = zip(form.given, values, strict=True)
    return " \\mid " + ", ".join(f"{name} = {value}" for name, value in pairs)


@printed.register(t.Range)
def _range(node: t.Range, p: Printer) -> str:
    below, above = node.index, ""
    own = node.members == t.Name(node.index)
    if node.members is None:
        first, last = map(p.any, node.limits)
        below, above = f"{node.index}={first}", f"^{{{last}}}"
    elif isinstance(node.members, t.Block):
        below += f" \\in \\{{{', '.join(map(p.any, node.members.rows[0]))}\\}}"
    elif not own:
        below += f" \\in {p.any(node.members)}"
    if node.without is not None:
        below += f"{'' if own else f', {node.index}'} \\ne {p.any(node.without)}"
    return f"_{{{below}}}{above}"


@printed.register(t.Reduction)
def _reduction(node: t.Reduction, p: Printer) -> str:
    word = _REDUCTIONS[node.kind]
    loose = trailing_factor(node.kind, (node.over.index,), node.body)
    body = p.wrapped(node.body) if loose else p.term(node.body)
    return f"{word}{_range(node.over, p)} {body}"


@printed.register(t.Limit)
def _limit(node: t.Limit, p: Printer) -> str:
    side = f"^{{{node.side}}}" if node.side else ""
    return f"\\lim_{{{node.key} \\to {p.any(node.point)}{side}}} {p.term(node.body)}"


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
    if node.first is not None:
        first, last = map(p.any, node.limits)
        limits = f"_{{{first}}}^{{{last}}}"
        if node.dimension is not None:
            limits = f"_{{[{first}, {last}]^{{{p.any(node.dimension)}}}}}"
    ends = "".join(f" \\,\\mathrm d {v}" for v in node.variables)
    return f"\\int{limits} {p.any(node.body)}{ends}"


# Relations, statements and their conditions


@printed.register(t.Cases)
def _cases(node: t.Cases, p: Printer) -> str:
    when = (f"\\text{{if }} {p.any(c)}" if c else "\\text{otherwise}" for c in node.conditions)
    return _grid("cases", zip(map(p.any, node.values), when, strict=True))


def _grid(environment: str, rows: Iterable[Iterable[str]]) -> str:
    inside = " \\\\ ".join(map(" & ".join, rows))
    return f"\\begin{{{environment}}} {inside} \\end{{{environment}}}"


@printed.register(t.Statement)
def _statement(node: t.Statement, p: Printer) -> str:
    out = ""
    before: t.Node | None = None
    for step in node.steps:
        if step.left is before:
            out += f" {step.relation} {p.any(step.right)}"
        else:
            out += (", \\quad " if out else "") + p.any(step)
        before = step.right
    for condition in node.conditions:
        words = "if" if isinstance(condition, t.Step) else "for all"
        out += f" \\text{{ {words} }} {p.any(condition)}"
    return out


@printed.register(t.Member)
def _member(node: t.Member, p: Printer) -> str:
    element = p.any(node.element)
    if node.members is not None:
        return f"{element} \\in {p.any(node.members)}"
    listed = ", ".join(map(p.any, node.listed))
    if node.last is None:
        return f"{element} \\in \\{{{listed}\\}}"
    end = "" if node.last == t.Constant("\\infty") else f", {p.any(node.last)}"
    return f"{element} = {listed}, \\dots{end}"
