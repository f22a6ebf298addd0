"""Slips in printed displays that hold: how many are said to be wrong, or to fail on all numbers.

``python papers/benchmarks/slips.py [PATHS]`` tries the displays of papers, pages and folders (by
default those of first courses that the tests keep), puts slips into the text of each that holds,
and prints what is said of these: a sign turned, a digit changed, a power or a mark lost, a
fraction turned upside down, two sides of a chain exchanged. Some slips make another true display,
so the lines of ``--show holds`` want a reader.
"""

from __future__ import annotations

import argparse
import random
import runpy
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checked_papers.command import texts_of
from checked_papers.declarations import Declared
from checked_papers.display_trials import Task, tasks, try_one
from checked_papers.document_formats import read
from checked_papers.findings import Finding
from checked_papers.tried.token_patterns import Row, exchanged, pieces_of, shut_at

OWN = Path(__file__).parents[2] / "engine" / "tests" / "data" / "textbook_displays.py"
_SIGNS = {"+": "-", "-": "+"}


@dataclass(frozen=True)
class Slip:
    """A display with one slip, and the kind of slip it is."""

    kind: str
    latex: str


def slips(latex: str) -> list[Slip]:
    """The displays that differ from `latex` by one slip.

    >>> [slip.latex for slip in slips("a + 2 b^2 = c")]
    ['a - 2 b^2 = c', 'a + 3 b^2 = c', 'a + 2 b^3 = c', 'a + 2 b = c']
    """
    row = pieces_of(latex)
    found = [*_signs(latex, row), *_digits(latex, row), *_lost(latex, row), *_turned(latex, row)]
    return [slip for slip in found if slip.latex != latex]


def _signs(latex: str, row: Row) -> Iterator[Slip]:
    for token in row:
        if token.text in _SIGNS:
            yield Slip("sign", exchanged(latex, [((token.start, token.end), _SIGNS[token.text])]))


def _digits(latex: str, row: Row) -> Iterator[Slip]:
    for token in row:
        if token.text.isdigit():
            other = str((int(token.text) + 1) % 10)
            yield Slip("digit", exchanged(latex, [((token.start, token.end), other)]))


def _lost(latex: str, row: Row) -> Iterator[Slip]:
    for i, token in enumerate(row[:-1]):
        if token.text == "^":
            end = shut_at(row, i + 1) if row[i + 1].text == "{" else i + 1
            if end > i and not _is_limit(row, i):
                yield Slip("power", exchanged(latex, [((token.start, row[end].end), "")]))


def _is_limit(row: Row, i: int) -> bool:
    """Return whether what stands above is the end of a sum or an integral."""
    before = [token.text for token in row[max(i - 12, 0) : i]]
    return any(text in ("\\sum", "\\int", "\\prod") for text in before)


def _turned(latex: str, row: Row) -> Iterator[Slip]:
    for i, token in enumerate(row):
        if token.text != "\\frac" or i + 1 >= len(row) or row[i + 1].text != "{":
            continue
        shut = shut_at(row, i + 1)
        over = shut_at(row, shut + 1) if 0 < shut < len(row) - 1 else -1
        if over > 0 and row[shut + 1].text == "{":
            one = latex[row[i + 1].start : row[shut].end]
            two = latex[row[shut + 1].start : row[over].end]
            span = (row[i + 1].start, row[over].end)
            yield Slip("fraction", exchanged(latex, [(span, two + one)]))


def printed(paths: Sequence[Path]) -> list[Task]:
    """The displays of `paths`; without any those of first courses that hold."""
    if not paths:
        own = runpy.run_path(str(OWN))["HOLD"]
        return [Task(("displays", i, 1), latex, "", {}, Declared()) for i, latex in enumerate(own)]
    return [task for text in texts_of(paths) for task in tasks(read(text), Declared(), {})]


def said(found: Finding) -> str:
    """The class of a finding: accused, noted, silent, or the word of the verdict."""
    if found.fails:
        return "accused"
    if found.outcome == "fails on all numbers drawn":
        return "noted"
    return found.outcome or "silent"


def main() -> None:
    """Try, spoil, try again, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="*")
    parser.add_argument("--each", type=int, default=2, help="slips that are put into a display")
    parser.add_argument("--most", type=int, default=10_000, help="displays, drawn by chance")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--show", default="", help="print the displays of one class")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    every = printed(given.paths)
    start = time.process_time()
    chosen = chance.sample(every, min(given.most, len(every)))
    sound = [task for task in chosen if try_one(task).outcome == "holds"]
    print(f"{len(chosen)} displays, {len(sound)} hold, {time.process_time() - start:.0f} s")
    counts: dict[str, Counter[str]] = {}
    for task in sound:
        found = slips(task.latex)
        for slip in chance.sample(found, min(given.each, len(found))):
            one = try_one(replace(task, latex=slip.latex))
            counts.setdefault(slip.kind, Counter())[said(one)] += 1
            if said(one) == given.show:
                print(f"{slip.kind}: {slip.latex}\n    was {task.latex}\n    {one}")
    total = sum(counts.values(), Counter())
    for kind, own in [*sorted(counts.items()), ("all", total)]:
        parts = ", ".join(f"{n} {name}" for name, n in own.most_common())
        print(f"{kind}: {own.total()} slips, {parts}")
    told = total["accused"] + total["noted"]
    print(f"accused or noted: {told} of {total.total()} ({told / max(total.total(), 1):.0%})")
    print(f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
