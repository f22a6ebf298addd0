"""Suggestions in words: the edit, and the equation after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from checked_equations.check.bindings import name_kinds
from checked_equations.check.relations import Tolerance
from checked_equations.check.rewrites import rewrite
from checked_equations.errors import is_of_library
from checked_equations.latex import tree as t
from checked_equations.latex.balance import balanced, is_balanced
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex

from .loose_reading import read_loosely
from .numbers import EXACT, holds_on, mends_on
from .search import MOST_EFFORT, Mend, Mends, mends_of

_SHOWN = 4  # of several


def holds_as_read(
    latex: str, drawn: Sequence[Mapping[str, object]], allowed: Tolerance = EXACT
) -> bool:
    """Return whether `latex` holds on the numbers; `EquationError` if it is not read at all."""
    kinds = name_kinds(drawn[0])
    statement = read_loosely(latex, kinds) or parse(latex, kinds)
    try:
        return holds_on(drawn, allowed)(statement)
    except Exception as wrong:
        if is_of_library(wrong):  # whether it holds is not known
            raise
        return False  # it has no value, whatever a bound callable says to it


def mends_of_equation(
    latex: str,
    drawn: Sequence[Mapping[str, object]],
    allowed: Tolerance = EXACT,
    *,
    effort: float = MOST_EFFORT,
) -> Mends:
    """Return the mends of `latex` on the numbers `drawn`; none where it is not read at all."""
    statement = read_loosely(latex, name_kinds(drawn[0]))
    if statement is None:
        return Mends()

    def say(node: t.Node) -> str:
        return balanced(latex, node.span) or to_latex(node)  # a symbol that no place is known of

    holds = mends_on(statement, drawn, allowed)
    return mends_of(statement, holds, drawn, say=say, effort=effort)


def in_words(mends: Mends, latex: str, kinds: Mapping[str, str]) -> str:
    """Return the mends for a message: one suggestion, several, or an empty text."""
    if not mends.found or not mends.whole:
        return ""
    said = [": ".join(told(mend, latex, kinds)) for mend in mends.found[:_SHOWN]]
    if mends.only:
        return f"it does {said[0]}"
    more = len(mends.found) - len(said)
    rest = f"; and {more} more" if more else ""
    return f"{len(mends.found)} single edits would mend it, {'; '.join(said)}{rest}"


def told(mend: Mend, latex: str, kinds: Mapping[str, str]) -> tuple[str, str]:
    """``with `-` for `+```, and how the step then reads: in the letters of the page if possible."""
    inside = mend.edit.path or mend.own
    edit = rewrite(latex, _printed(mend), mend.edit, kinds) if inside else None
    if edit is None or not is_balanced(edit.text):
        return f"with {mend.said.replace('$', '`')}", mend.step
    old, new = (_bare(text) for text in (latex[edit.start : edit.end], edit.text))
    change = f"with `{new}` for `{old}`" if old and new else f"without `{old}`"
    alone = len(mend.statement.steps) == 1 and not mend.statement.conditions
    reads = " ".join(edit(latex).split()) if alone else mend.step
    return f"with `{new}` inserted" if not old else change, reads


def _bare(latex: str) -> str:
    """Without the braces that are there for a script alone: ``i`` for ``{i}``."""
    latex = latex.strip()
    braced = latex[:1] == "{" and latex[-1:] == "}" and "{" not in latex[1:]
    return latex[1:-1].strip() if braced else latex


def _printed(mend: Mend) -> t.Statement:
    """The statement before the edit, from that after it."""
    edit, steps = mend.edit, list(mend.statement.steps)
    for place in edit.places:
        step = steps[place]
        side = edit.side if place == edit.places[0] else "left"
        old: Any = t.replace_at(getattr(step, side), edit.path, edit.before)
        steps[place] = replace(step, **{side: old})
    return replace(mend.statement, steps=tuple(steps))


def suggestion(latex: str, drawn: Sequence[Mapping[str, object]], allowed: Tolerance) -> str:
    """Return in words the mends, if any, of `latex`, which fails on the numbers `drawn`."""
    mends = mends_of_equation(latex, drawn, allowed)
    return in_words(mends, latex, name_kinds(drawn[0]))
