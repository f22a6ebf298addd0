"""The forms of the language, and how some of them read.

`readings.json` has the readings of a few, which were chosen from all of them so that together they
take each step from line to line of `latex/` twice, if all of them do. Run as a program this writes
their readings anew.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

from printed_displays import RIGHT
from textbook_displays import HOLD, UNREAD

from checked_equations import EquationError
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.check.definitions import NORMAL, normal_shape
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex
from language_by_example.definitions import DEFINITIONS
from language_by_example.sections import READ, REFUSED, SPELLED

READINGS = Path(__file__).with_name("readings.json")
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


def reading_of(latex):
    """Return the reading of an example of the language, or of a printed display."""
    example = next((one for one in EXAMPLES if one.latex == latex), None)
    return (
        reading(latex, example.bindings or {}, example.options) if example else reading(latex, {})
    )


def stored(path):
    """What a file holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, rows):
    """Write a file, a row to a line."""
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(READINGS, {latex: reading_of(latex) for latex in stored(READINGS)})
