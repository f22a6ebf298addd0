"""Trees in other writers' habits: their brackets, products, fractions, powers of e and braces."""

from __future__ import annotations

from dataclasses import fields, replace

from checked_equations.latex import tree as t
from checked_equations.latex.printer import Printer, to_latex
from checked_equations.latex.tokenizer import tokens

__all__ = ["STYLES"]


class Sized(Printer):
    left, right = "\\left(", "\\right)"
    bars = ("\\left| ", " \\right|")


class Brackets(Printer):
    left, right = "\\bigl[", "\\bigr]"
    times = " \\, "

    def any(self, node):
        natural = isinstance(node, t.Function) and node.name == "exp"
        return f"e^{{{self.any(node.arguments[0])}}}" if natural else super().any(node)


class Dotted(Printer):
    left, right = "\\{", "\\}"
    times = " \\cdot "


class Slashed(Printer):
    times = " \\times "

    def any(self, node):
        if isinstance(node, t.Quotient):
            return " / ".join(self.factor(n, False) for n in (node.numerator, node.denominator))
        return super().any(node)

    def factor(self, node, last):
        slashed = isinstance(node, t.Quotient)
        return self.wrapped(node) if slashed else super().factor(node, last)


class Barred(Printer):
    bars = ("\\bigl| ", " \\bigr|")


def braced(node):
    """`node` with all the braces that its names may have."""
    node = t.mapped(node, braced)
    changes = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if item.name in ("key", "index", "distribution"):
            changes[item.name] = spelt(value)
        elif item.name == "variables":
            changes[item.name] = tuple(map(spelt, value))
    return replace(node, **changes)


def spelt(key):
    text = ""
    for token in tokens(key):
        gap = " " if text[-1:].isalpha() and token.text[0].isalpha() else ""
        text += gap + token.text
    return text


STYLES = {
    "plain": to_latex,
    "sized": Sized().any,
    "brackets": Brackets().any,
    "dotted": Dotted().any,
    "slashed": Slashed().any,
    "braced": lambda node: Barred().any(braced(node)),
}
