"""Displays spoilt at random are read, or refused with their place: no other error, and no hang.

By night, and after a change of the grammar, `python tests/latex/test_fuzz.py 20000 FOLDER` does the
same with more of them, `docs` on the path, and with the displays of the Markdown pages in a folder.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.evaluate.values import kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex

PIECE = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
EXTRA = [*"{}()[]|^_&'.,;:=<>+-*/!", "^{", "_{", r"\left(", r"\right.", r"\frac", r"\int", r"\sum",
         r"\lim", r"\dots", r"\pm", r"\nabla", r"\partial", r"\mathrm d", r"\mathop{", r"\genfrac",
         r"\begin{cases}", r"\end{cases}", r"\text{if }", r"\mathbb E", r"\quad", r"\lfloor",
         r"\rceil", r"\sup_", r"\text{(by hand)}", r"\cfrac", r"\cdots"]  # fmt: skip
MOST_CALLS = 1_000_000  # of functions, for one display; these displays take at most eleven thousand


def pieces_of(texts: Sequence[str]) -> list[list[str]]:
    """Each text cut into commands, spaces and characters."""
    return [PIECE.findall(text) for text in texts]


def spoilt(displays: Sequence[Sequence[str]], count: int, seed: int) -> Iterator[str]:
    """`count` displays with one to six edits: a piece lost, doubled, moved, or put in."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        row = list(displays[rng.integers(len(displays))])
        for _ in range(rng.integers(1, 7)):
            i, j = (int(n) for n in rng.integers(max(len(row), 1), size=2))
            edit = rng.integers(4)
            if edit == 0 and row:
                del row[i]
            elif edit == 1 and row:
                row.insert(j, row[i])
            elif edit == 2 and row:
                row[i], row[j] = row[j], row[i]
            else:
                row.insert(i, EXTRA[rng.integers(len(EXTRA))])
        yield "".join(row)


@contextmanager
def at_most_calls(most: int) -> Iterator[None]:
    """Raise `TimeoutError` in the block once it has called `most` functions of Python."""
    calls = itertools.count()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and next(calls) >= most:
            sys.setprofile(None)
            raise TimeoutError(f"more than {most} calls")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def faults(latex: str, kinds: dict[str, str]) -> Iterator[str]:
    """What goes wrong in reading `latex`, with nothing bound and with names, but refusals."""
    parse("1 = 1", {})  # which builds the tables of the grammar where none has: they do not count
    for names, free in (({}, True), (kinds, True), (kinds, False)):
        try:
            with at_most_calls(MOST_CALLS):
                to_latex(parse(latex, names, free=free))
        except EquationError:
            pass
        except Exception as wrong:  # noqa: BLE001 - any other is a fault of ours
            yield f"{type(wrong).__name__}: {wrong} in {latex!r}"


def examples() -> tuple[list[str], dict[str, str]]:
    """The displays of the page about the language, and the names that they bind."""
    from language_by_example.sections import READ, SPELLED

    rows = [*itertools.chain(*READ.values()), *itertools.chain(*SPELLED.values())]
    kinds: dict[str, str] = {}
    for row in rows:
        for key, value in (row.bindings or {}).items():
            kinds.setdefault(normal(key), kind(value))
    return [row.latex for row in rows], kinds


def test_spoilt_displays_are_read_or_refused():
    texts, kinds = examples()
    found = [f for text in spoilt(pieces_of(texts), 400, seed=39) for f in faults(text, kinds)]
    assert found == []


def test_a_bracket_that_is_an_argument_begins_no_call():
    latex = r"a = \mathbb E_{s \frac(x, z)}[x z^2]"
    assert list(faults(latex, {})) == []


def test_a_bar_within_the_group_of_a_name_parts_nothing():
    latex = r"a = \mathbbyE_{q()x)) \mathbbp(y \mid x)}[x \mathbb Ey]"
    assert list(faults(latex, {})) == []


def main(count: int, folder: str) -> None:
    """Try `count` spoilt displays, those of the Markdown pages in `folder` among them."""
    texts, kinds = examples()
    pages = (page.read_text(encoding="utf-8") for page in sorted(Path(folder).rglob("*.md")))
    texts += [match for page in pages for match in re.findall(r"\$\$(.+?)\$\$", page, re.DOTALL)]
    seen: set[str] = set()
    for text in spoilt(pieces_of(texts), count, seed=1):
        for fault in faults(text, kinds):
            if fault.partition(" in ")[0] not in seen:
                seen.add(fault.partition(" in ")[0])
                print(fault, flush=True)
    print(f"{count} displays, {len(seen)} kinds of faults")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
