"""A tree as LaTeX again; what is printed parses back to the same tree."""

from __future__ import annotations

from .. import tree as t
from . import algebra, loops, statements
from .levels import Printer, printed

__all__ = ["Printer", "algebra", "loops", "printed", "statements", "to_latex"]


def to_latex(node: t.Node) -> str:
    """The LaTeX of `node`.

    >>> from checked_equations.latex.tree import Inverse, Name, Product
    >>> to_latex(Product((Inverse(Name("K_y")), Name("\\\\mathbf y"))))
    'K_y^{-1} \\\\mathbf y'
    """
    return Printer().any(node)
