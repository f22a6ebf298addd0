"""Pieces of several symbols that a slip may have lost: they are tried where no single one mends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from checked_equations.check.mutants import Edit
from checked_equations.latex import tree as t

from .supply import ONE, Supply


def pieces_in(node: t.Node, parent: t.Node | None, supply: Supply) -> Iterator[Edit]:
    """`node` with such a piece as a factor or a denominator."""
    if isinstance(parent, t.Product | t.Subscript) or not isinstance(
        node, t.Name | t.Subscript | t.Apply | t.Sum | t.Product | t.Quotient | t.Power | t.Function
    ):
        return
    own = node.factors if isinstance(node, t.Product) else (node,)
    for piece in _of_numbers(supply):
        yield "a factor added", t.Product((piece, *own))
        yield "a denominator added", t.Quotient(node, piece)
    for piece in _of_arrays(supply):
        for place in range(len(own) + 1):
            yield "a factor added", t.Product((*own[:place], piece, *own[place:]))


def _of_numbers(supply: Supply) -> Iterator[t.Node]:
    """Products of two numbers, and one less such a product."""
    numbers = [atom for atom in supply.here() if supply.shape(atom) == ()]
    for pair in itertools.combinations(numbers, 2):
        yield t.Product(pair)
        yield t.Sum((ONE, t.Product(pair)), (1, -1))


def _of_arrays(supply: Supply) -> Iterator[t.Node]:
    """A transpose, and a product of an array with its transpose."""
    for atom in supply.here():
        if supply.shape(atom) not in ((), None):
            yield t.Transpose(atom)
            yield t.Product((t.Transpose(atom), atom))
            yield t.Product((atom, t.Transpose(atom)))
