"""The parts of a display: the statement, and the conditions behind its last comma."""

from __future__ import annotations

from checked_equations.errors import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.tokenizer import outside, tokens

from .conditions import Condition, condition_of, tends
from .letter_conventions import Known
from .token_patterns import ORDERS, Pattern, Row, row_of, shut_at, source, texts
from .unbound_statement import NotRead

_RELATIONS = frozenset({"=", "<", ">", "\\le", "\\ge", "\\sim", "\\approx", ":=", "\\equiv"})
_SIMPLE = t.Name | t.Number | t.Constant | t.Bars | t.Function | t.Sum | t.Product | t.Quotient
_LISTED = Pattern("= <digit> ,")
_OF_ONE = frozenset({"Re", "Im", "arg"})


def parted(latex: str, known: Known) -> tuple[str, list[str]]:
    """The statement of a display without the conditions that end it, and these.

    >>> from .letter_conventions import known
    >>> parted(r"a = b, \\quad 0 < x < 1, y \\ne 0", known({}))
    ('a = b', ['0 < x < 1', 'y \\\\ne 0'])
    >>> parted(r"a = b \\qquad (x, y > 0)", known({}))
    ('a = b', ['x, y > 0'])
    """
    latex = _unbracketed(latex)
    try:
        row = tokens(latex)
    except EquationError as wrong:
        raise NotRead(wrong.problem) from wrong
    depths = list(outside(row))
    commas = [token.start for token, free in depths if free and token.text in (",", ";")]
    for comma in commas:
        related = any(t.text in _RELATIONS and t.start < comma for t, free in depths if free)
        stated = _conditions(latex, [c for c in commas if c >= comma], known) if related else None
        if stated:
            return latex[:comma].rstrip(), stated
    return latex, []


def _unbracketed(latex: str) -> str:
    """With a comma before conditions that end it in brackets, behind a wide space."""
    row = row_of(latex.rstrip(".,; \n"))
    i = max((i for i, token in enumerate(row) if token.text == "("), default=0)
    if not i or shut_at(row, i) != len(row) - 1:
        return latex
    gap, said = latex[row[i - 1].end : row[i].start], source(latex, row[i + 1 : -1])
    wide = row[i].wide or "\\;" in gap or "\\ " in gap or "~" in gap
    if not wide or not (_says(row[i + 1 : -1]) or tends(said)):
        return latex
    return f"{latex[: row[i - 1].end].rstrip().rstrip(',;')}, {said}"


def _says(row: Row) -> bool:
    """Return True where numbers are ordered, or those of a letter listed."""
    inside = texts(row)
    listed = _LISTED.first("", row) and "\\dots" in inside
    return bool(listed) or not _ORDERED.isdisjoint(inside)


_ORDERED = ORDERS | {"\\in"}


def _conditions(latex: str, commas: list[int], known: Known) -> list[str] | None:
    """Return the conditions behind the first of `commas`, or None for something else."""
    found: list[str] = []
    ends = [*commas[1:], len(latex)]
    i = 0
    while i < len(commas):
        for end in ends[i:]:  # a list goes on behind a comma: `n = 0, 1, 2, \dots`
            text = _bare(latex[commas[i] + 1 : end])
            condition = condition_of(text, known)
            if tends(text) or (condition is not None and _plain(condition)):
                found.append(text)
                i = ends.index(end) + 1
                break
        else:
            return None
    return found


def _bare(text: str) -> str:
    for space in ("\\qquad", "\\quad", "\\,", "\\;", "\\ ", "&"):
        text = text.replace(space, " ")
    return text.strip().rstrip(".,;").strip()


def _plain(condition: Condition) -> bool:
    """Return whether its sides are symbols, numbers, moduli, and sums and products of these."""
    parts = (part for step in condition.steps for part in t.parts(step) if part is not step)
    return all(
        isinstance(part, _SIMPLE) and (not isinstance(part, t.Function) or part.name in _OF_ONE)
        for part in parts
    )
