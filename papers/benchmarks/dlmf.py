"""How much of NIST's Digital Library of Mathematical Functions is verified, and nothing accused.

    python papers/benchmarks/dlmf.py FOLDER [--list VERDICT] [--only 4.21] [--write FILE]

FOLDER holds the pages in Markdown, one folder a chapter (``4/4.1.md``), as the public repository
Novum-Mathematicum/DLMF-markdown has them. Each display is tried as it stands, with the conditions
that the text around it prints; nothing is bound by hand. A display is *verified* if it holds
wherever it has a value and the conditions allow it, and every mutant of it is caught; *in part* if
it holds in one region and not in another; *wrong* if it holds nowhere; *undecided* if some mutants
need more than the time that they are given; *too long* if the display takes more than ``--seconds``
and *error* if the engine fails on it. Seconds are the processor's: the median, what 95 % need at
most, and the most. With ``--write`` a file has a line for each
display, its verdict, seconds and reason, for comparing two states of the engine.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checked_papers.numerics.time_limit import TooLong, limited
from checked_papers.tried import Tried
from checked_papers.tried.display import try_display
from checked_papers.tried.nist import NIST

_DISPLAY = re.compile(r"\$\$\n(?P<latex>.*?)\n\$\$", re.DOTALL)
_TAG = re.compile(r"\\tag\{(?P<tag>[^}]*)\}")
_INLINE = re.compile(r"\$([^$]+)\$")
_BEHIND = re.compile(r"^\s*(where|when|provided|for|if|and|valid|in which|here)\b")


COLUMNS = (
    "verified", "survivors", "undecided", "in part", "wrong", "definition", "not read", "too long",
    "error",
)  # fmt: skip
Outcome = tuple[str, Tried, float]  # its word, the verdict and the seconds of processor


@dataclass(frozen=True)
class Display:
    """One display of a page, and the conditions that stand around it."""

    page: str
    tag: str
    latex: str
    conditions: tuple[str, ...]
    before: tuple[str, ...] = ()  # the displays of the page before this one


def displays(page: Path) -> Iterator[Display]:
    """All displays of a page."""
    text = re.sub(r":::\{note\}.*?:::", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = list(_DISPLAY.finditer(text))
    for i, match in enumerate(found):
        tags = _TAG.findall(match["latex"])
        end = found[i + 1].start() if i + 1 < len(found) else len(text)
        after = text[match.end() : end].strip().split("\n\n")[0]
        start = found[i - 1].end() if i else 0
        said = text[start : match.start()].strip().split("\n\n")
        sentences = [after if _BEHIND.match(after) else "", _introduction(said)]
        conditions = [one for said in sentences for one in _INLINE.findall(said)]
        latex = _TAG.sub("", match["latex"]).strip()
        before = tuple(_TAG.sub("", one["latex"]).strip() for one in found[:i])
        yield Display(page.stem, tags[0] if tags else "", latex, tuple(conditions), before)


def _introduction(before: list[str]) -> str:
    """The last sentence before a display."""
    said = [part for part in before if part.strip() and not part.startswith("<a id")]
    return said[-1].split(". ")[-1] if said and not said[-1].startswith("#") else ""


def tried(display: Display, seconds: float) -> Outcome:
    """What becomes of a display within so many seconds; no fault of the engine ends the run."""
    begun = time.process_time()
    told = {"conditions": display.conditions, "definitions": display.before}
    try:
        with limited(seconds):
            found = try_display(display.latex, **told, notation=NIST)
        word = sort_of(found)
    except TooLong:
        word, found = "too long", Tried("not read", f"it takes longer than {seconds:g} s")
    except Exception as error:  # noqa: BLE001 - one display must not end the others
        word, found = "error", Tried("not read", f"{type(error).__name__}: {error}")
    return word, found, time.process_time() - begun


def sort_of(found: Tried) -> str:
    """The word for a verdict."""
    if found.verdict == "holds":
        mutants = found.mutants
        if mutants is None or not mutants.caught or mutants.survived:
            return "survivors"
        return "undecided" if mutants.undecided else "verified"
    words = {"holds if": "in part", "does not hold": "wrong", "not read": "not read"}
    return words.get(found.verdict, found.verdict)


def told(display: Display, outcome: Outcome) -> str:
    """A display and what became of it, for the list."""
    latex = display.latex.replace("\n", " ")
    word, found, took = outcome
    lines = [f"{word} {display.tag} [{took:.1f} s] {latex}"]
    lines.append(f"      {found} {found.residual} {display.conditions}")
    if word == "survivors" and found.mutants is not None:
        alive = [record.edit for record in found.mutants.list if record.outcome == "survived"]
        lines.append(f"      {alive}")
    return "\n".join(lines)


def line(display: Display, outcome: Outcome) -> str:
    """A display and what became of it, for the file: a row with tabs."""
    word, found, took = outcome
    alive = [f"{m.outcome}: {m.edit}" for m in found.mutants.list] if found.mutants else []
    alive = [said for said in alive if said.startswith(("survived", "undecided"))]
    why = found.why or found.region or "; ".join(alive)
    cells = [display.tag or display.page, word, f"{took:.1f}", why, display.latex]
    return "\t".join(" ".join(cell.split()) for cell in cells)


def row(chapter: Path, given: argparse.Namespace) -> str:
    """The row of a chapter in the table."""
    pages, listed, file = given.only, given.list.split(","), given.write
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    for page in sorted(chapter.glob("*.md"), key=lambda p: [int(n) for n in p.stem.split(".")]):
        for display in displays(page) if page.stem.startswith(pages) else ():
            outcome = tried(display, given.seconds)
            counts[outcome[0]] += 1
            seconds.append(outcome[2])
            if outcome[0] in listed:
                print(told(display, outcome), flush=True)
            if file:
                print(line(display, outcome), file=file, flush=True)
    total = len(seconds)
    cells = [f"{counts[name]} ({100 * counts[name] / max(total, 1):.0f} %)" for name in COLUMNS]
    return " | ".join([f"| {chapter.name}", str(total), *cells, f"{_spread(seconds)} |"])


def _spread(seconds: list[float]) -> str:
    """The median, the 95 % point and the most."""
    ordered = sorted(seconds) or [0.0]
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered):.2f}, {late:.1f}, {ordered[-1]:.1f}"


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--list", default="", help="print the displays with these verdicts")
    options.add_argument("--only", default="", help="pages that begin so")
    options.add_argument("--write", type=argparse.FileType("w"), help="a file for all verdicts")
    options.add_argument("--seconds", type=float, default=10.0, help="of processor a display")
    given = options.parse_args()
    print("| chapter | displays |", " | ".join(COLUMNS), "| seconds: median, 95 %, most |")
    for chapter in sorted((p for p in given.folder.iterdir() if p.is_dir()), key=lambda p: p.name):
        if given.only.startswith(chapter.name) or not given.only:
            print(row(chapter, given), flush=True)


if __name__ == "__main__":
    main()
