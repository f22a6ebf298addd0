"""The tree of a printed form in which a letter neither runs nor is bound."""

from __future__ import annotations

import re
from collections.abc import Mapping

from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse

_ENTRY = re.compile(r"(.+)_(?:\{([^{}]*)\}|([A-Za-z]))")
_LETTER = re.compile(r"\\[A-Za-z]+|[A-Za-z]")


def read_loosely(latex: str, kinds: Mapping[str, str]) -> t.Statement | None:
    """Return the statement with free letters as indices of bound symbols; None if it is not read.

    ``f_{ij}`` is one symbol to the grammar where neither letter runs. Here it is an entry of a
    bound `f`, so that a sum over one of the letters can be tried.
    """
    try:
        statement = parse(latex, kinds, free=True)
    except ValueError:
        return None
    entered = _entries(statement, kinds, ())
    assert isinstance(entered, t.Statement)
    return entered


def _entries(node: t.Node, kinds: Mapping[str, str], running: tuple[str, ...]) -> t.Node:
    if isinstance(node, t.Reduction):
        running = (*running, node.over.index)
    if isinstance(node, t.Name) and node.key not in kinds:
        match = _ENTRY.fullmatch(node.key)
        if match and match[1].strip() in kinds:
            letters = _LETTER.findall(match[2] or match[3])
            known = (t.Index(key) if key in running else t.Name(key) for key in letters)
            return t.Subscript(t.Name(match[1].strip()), tuple(known), span=node.span)
    return t.mapped(node, lambda child: _entries(child, kinds, running))
