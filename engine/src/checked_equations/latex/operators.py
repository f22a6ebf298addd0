"""Binary operators with a sign of their own: to declare one here is to add it to the language."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from .node import Node


class Infix(Node):
    """Factors with a sign of their own between them: what all binary operators are.

    A new one is a class with its `spellings` in LaTeX (as it is printed, first) and its `called`,
    a row of `INFIX`, and the rule that gives its value. `loose` says that a product without
    brackets stood beside the sign; where it `takes_products` that is one factor.
    """

    spellings: ClassVar[tuple[str, ...]] = ()
    called: ClassVar[str] = ""
    takes_products: ClassVar[bool] = False

    factors: tuple[Node, ...]
    loose: bool = field(default=False, compare=False, repr=False)


class Elementwise(Infix):
    """``a \\odot b``."""

    spellings = ("\\odot", "\\circ")
    called = "elementwise one"
    takes_products = True


class Kronecker(Infix):
    """``A \\otimes B``."""

    spellings = ("\\otimes",)
    called = "Kronecker product"


INFIX: dict[str, type[Infix]] = {
    spelling: operator for operator in (Elementwise, Kronecker) for spelling in operator.spellings
}
