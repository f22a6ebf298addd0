"""A tree as LaTeX again, in several styles; what is printed parses back to the same tree."""

from __future__ import annotations

from .. import tree as t
from . import algebra, loops, statements
from .levels import STYLES, Printer, Style, printed

__all__ = ["STYLES", "Style", "algebra", "loops", "printed", "statements", "to_latex"]


def to_latex(node: t.Node, style: str | Style = "plain") -> str:
    """The LaTeX of `node`.

    >>> from checked_equations.latex.tree import Inverse, Name, Product
    >>> to_latex(Product((Inverse(Name("K_y")), Name("\\\\mathbf y"))))
    'K_y^{-1} \\\\mathbf y'
    """
    return Printer(STYLES[style] if isinstance(style, str) else style).any(node)
