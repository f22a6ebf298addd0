"""The edits that might mend a small statement.

Run as a program it writes `edits_tried.json` anew, which a test compares: of each kind of edit how
many there are, the first and the last, and a checksum of all of them.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import numpy as np

from checked_equations import Nodes
from checked_equations.check.bindings import name_kinds, names_in
from checked_equations.latex import tree as t
from checked_equations.latex.printer import to_latex
from checked_papers.mends.insertions import insertions_of
from checked_papers.mends.loose_reading import read_loosely
from checked_papers.mends.pairs import everywhere, twice
from checked_papers.mends.pieces import pieces_in
from checked_papers.mends.supply import Supply

EDITS = Path(__file__).with_name("edits_tried.json")
A, B = np.random.default_rng(3).normal(size=(2, 3, 3))
x, y = np.random.default_rng(4).normal(size=(2, 3))
_NUMBERS = {"a": 1.1, "b": 0.7, "c": 2.3, "d": 0.4}
_SUMMED = {"d": 1.0, "x": x, "N": 3}
TO_MEND = {
    "a = 2 b": _NUMBERS,
    "a = b - c": _NUMBERS,
    "a = b^2": _NUMBERS,
    r"a = -\frac{b}{3}": _NUMBERS,
    r"a = \sqrt{b}": _NUMBERS,
    r"a = \sin(b)": _NUMBERS,
    r"a = \min(b, c)": _NUMBERS,
    "a = b_1": {"a": 1.1, "b": x},
    r"d = \sum_{i=1}^N x_i": _SUMMED,
    r"d = \sum_{i=1}^N x_i + N": _SUMMED,
    r"d = x_i A_{ij}": {"d": 1.0, "x": x, "A": A},
    r"\nu_j = \sum_{j=1}^N A_{ij}": {r"\nu": x, "A": A, "j": 2, "N": 3},
    "X = A B": {"X": A @ B, "A": A, "B": B},
    "v = x A": {"v": 1.0, "x": x, "A": A},
    "a = u(a, b)": {"a": 1.1, "b": 0.7, "u": lambda p, q: p - q * q},
    "a = u(b) + u(a)": {"a": 1.1, "b": 0.7, "u": lambda p: p * p},
    r"a = |A|": {"a": 1.0, "A": A},
    r"a = \|x\|": {"a": 1.0, "x": x},
    r"a = b \sin(c) d": _NUMBERS,
    r"a = b - \sin(c) - d + b": _NUMBERS,
    r"a = \frac{b \sin(c)}{d} + \sqrt{b} c": _NUMBERS,
    r"d = \sum_{i=2}^N x_{i-1} x_i": _SUMMED,
    r"a = \phi_t": {"a": 1.1, r"\phi": 0.3, "t": 3},
    "b = 120 b": {"b": 0.7},
    "b = (b + 3) b": {"b": 0.7},
    "b = b (b + 3)": {"b": 0.7},
    "b = 3 + 4 b": {"b": 0.7},
    "b = 5 - (b - 4)": {"b": 0.7},
    "b = (3 b)^4": {"b": 0.7},
    "b = 3 b^4": {"b": 0.7},
    "A = A A^{-1}": {"A": A},
    r"A = A A^\top": {"A": A},
    "m = x_{m+3}": {"x": x, "m": 2},
    r"N = \sum_{i=1}^N \sum_{j \ne i} A_{ij}": {"A": A, "N": 3},
    r"N = \sum_{i=1}^N \sum_{j=1}^N A_{ij}": {"A": A, "N": 3},
    r"b = b \mathbb E_s[s^2]": {"b": 0.7, "s": Nodes([1.0, 2.5], [0.4, 0.6])},
}


def mends_tried(latex):
    """Each edit that is tried on the right side, as the side then reads."""
    bound = TO_MEND[latex]
    statement = read_loosely(latex, name_kinds(bound))
    named = names_in(statement)
    supply = Supply.of(statement, {k: v for k, v in bound.items() if k in named}, to_latex)
    side = statement.steps[0].right
    rows = []

    def visit(node, parent, path, inner):
        for kind in (insertions_of, pieces_in):
            for said, new in kind(node, parent, inner):
                rows.append(f"{said}: {to_latex(t.replace_at(side, path, new))}")
        for place, child in t.children(node):
            visit(child, node, (*path, place), inner.inside(node))

    visit(side, None, (), supply)
    pairs = (*everywhere(side, supply), *twice(side, supply))
    return rows + [f"{said}: {to_latex(new)}" for said, new in pairs]


def by_kind(rows):
    """Return how many of each kind there are, the first, the last and a checksum of all.

    A kind is its words without the symbols.
    """
    kinds = {}
    for row in rows:
        kinds.setdefault(re.sub(r"\$[^$]*\$", "$", row.partition(": ")[0]), []).append(row)
    return [
        [len(own), zlib.crc32("\n".join(own).encode()), *dict.fromkeys([own[0], own[-1]])]
        for own in kinds.values()
    ]


if __name__ == "__main__":
    tried = {latex: by_kind(mends_tried(latex)) for latex in TO_MEND}
    rows = (
        f"{json.dumps(latex, ensure_ascii=False)}: [\n"
        + ",\n".join(json.dumps(row, ensure_ascii=False) for row in kinds)
        + "\n]"
        for latex, kinds in tried.items()
    )
    EDITS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
