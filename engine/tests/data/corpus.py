"""What becomes of the forms of the language: how they read, how they are edited and mended.

Run as a program it writes `readings.json` and `edits.json` anew, which tests compare.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from printed_displays import RIGHT
from textbook_displays import HOLD, UNREAD

from checked_equations import EquationError, Nodes
from checked_equations.check.bindings import draw_bindings, name_kinds, names_in
from checked_equations.check.definitions import NORMAL, normal_shape
from checked_equations.check.mends.insertions import insertions_of
from checked_equations.check.mends.pairs import everywhere, twice
from checked_equations.check.mends.pieces import pieces_in
from checked_equations.check.mends.reading import read_loosely
from checked_equations.check.mends.supply import Supply
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex
from language_by_example.definitions import DEFINITIONS
from language_by_example.sections import READ, REFUSED, SPELLED

READINGS, EDITS = (Path(__file__).with_name(name) for name in ("readings.json", "edits.json"))
CONSTRUCTS = [one for one in itertools.chain(*READ.values()) if one not in DEFINITIONS]
REWRITTEN = CONSTRUCTS[:48]
_DEFINED = [SimpleNamespace(latex=d.latex, bindings=d.bindings, options={}) for d in DEFINITIONS]
EXAMPLES = [*CONSTRUCTS, *itertools.chain(*SPELLED.values()), *_DEFINED]
EXAMPLES += itertools.chain(*REFUSED.values())
EXAMPLES = list({one.latex: one for one in EXAMPLES}.values())


def displays():
    """The displays from books and papers, with no values bound to their symbols."""
    rows = [row if isinstance(row, str) else row[0] for row in (*RIGHT, *HOLD, *UNREAD)]
    return list(dict.fromkeys(rows))


def reading(latex, bindings, options=None):
    """The canonical form, or the words of the error and where it points."""
    kinds = {}
    if bindings:
        kinds = name_kinds({NORMAL: normal_shape, **draw_bindings(bindings, "corpus")[0]})
    try:
        macros = (options or {}).get("macros")
        statement = parse(latex, kinds, free=not bindings, macros=macros)
    except EquationError as error:
        return f"{error.problem} [{error.span[0]}:{error.span[1]}]"
    said = "; ".join(to_latex(step) for step in statement.steps)
    return said + "".join(f" | {condition}" for condition in statement.conditions)


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


def mutants_made(example):
    """The mutants of an example and what became of each."""
    return [f"{m.edit}: {m.latex} ({m.outcome})" for m in example.record().mutants.list]


def rewritten(example):
    """The text of an example with each of its mutants in it, and what a page then points at."""
    rows = [m for m in example.record().mutants.write() if m.changed]
    return [f"{m.changed[:2]} {m.changed[2]} {m.place} {m.shown}" for m in rows]


def stored(path):
    """What a file holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, rows):
    """Write a file, a row to a line."""
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    found = {one.latex: reading(one.latex, one.bindings or {}, one.options) for one in EXAMPLES}
    write(READINGS, found | {latex: reading(latex, {}) for latex in displays()})
    made = {one.latex: mutants_made(one) for one in CONSTRUCTS}
    texts = {one.latex: rewritten(one) for one in REWRITTEN}
    tried = {latex: mends_tried(latex) for latex in TO_MEND}
    write(EDITS, {"mutants": made, "rewritten": texts, "mends": tried})
