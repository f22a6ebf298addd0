"""What may stand where without brackets: the printer that the rules share."""

from __future__ import annotations

from functools import singledispatch

from .. import tree as t
from ..tokenizer import tokens

FUNCTION_WORDS = {
    **{name: f"\\operatorname{{{name}}}" for name in ("tr", "diag", "rank", "sign")},
    **{name: f"\\operatorname*{{{name}}}" for name in ("argmin", "argmax")},
}


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
        loose = isinstance(node, t.Sum | t.Product | t.Infix)
        loose = loose or (isinstance(node, t.Reduction) and not last)
        loose = loose or (isinstance(node, t.Number) and node.value < 0)
        return self.wrapped(node) if loose else self.any(node)

    def operand(self, node: t.Node, last: bool) -> str:
        """What may stand beside a sign that binds less than juxtaposition."""
        if isinstance(node, t.Product) and not isinstance(node.factors[-1], t.Reduction):
            return self.any(node)
        return self.factor(node, last)

    def base(self, node: t.Node) -> str:
        """What may carry a superscript without brackets."""
        plain = isinstance(node, t.Constant | t.Bars | t.Block | t.Apply) or is_bare(node, "^")
        plain = plain or (isinstance(node, t.Number) and node.value >= 0)
        plain = plain or isinstance(node, t.Subscript | t.Norm | t.Inner)
        return self.any(node) if plain else self.wrapped(node)


def is_bare(node: t.Node, scripts: str) -> bool:
    """Whether `node` is a symbol that has none of these scripts in its name."""
    if not isinstance(node, t.Name | t.Index):
        return False
    depth = 0
    outside = ""
    for token in tokens(node.key):
        depth += {"{": 1, "}": -1}.get(token.text, 0)
        outside += token.text if depth == 0 else ""
    return not any(mark in outside for mark in scripts)
