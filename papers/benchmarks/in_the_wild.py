"""What the command makes of texts that others wrote: a row of counts for each folder.

    python papers/benchmarks/in_the_wild.py FOLDER ... [--jobs 2] [--most N] [--write FILE]

Each FOLDER, or file, is a source: LaTeX, Markdown, Quarto, reStructuredText or notebooks. Nothing
is bound and nothing is run; each display is tried as ``checked-equations check`` tries it. The row
has the displays, how many were tried, what became of these, and the processor's seconds; behind the
table stands each accusation with its place. `tried` counts all that was evaluated and judged;
`noted` what fails on all numbers, which accuses nobody. With ``--write`` a file has every finding
as a line of JSON with the seconds that it took, for comparing two states of the engine, and
``--list`` prints those of an outcome, such as ``"holds"`` or ``"not read"``. With ``--most`` that
many displays of each source are drawn, the same ones each time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from checked_papers.command import texts_of
from checked_papers.declarations import Declared
from checked_papers.display_trials import Task, seldom_collected, tasks, try_one
from checked_papers.document_formats import read
from checked_papers.findings import Finding

HEAD = (
    "source", "displays", "tried", "hold", "hold in a region", "hold in part",
    "agree, slips unseen", "noted", "accused", "definitions", "not read", "engine errors", "s",
)  # fmt: skip
_COLUMNS = {
    "holds": "hold", "holds if": "hold in a region", "holds in part": "hold in part",
    "agrees on all numbers drawn": "agree, slips unseen", "fails on all numbers drawn": "noted",
    "does not fit together": "noted", "does not hold": "accused",
}  # fmt: skip
Timed = tuple[Finding, float]


def tasks_in(source: Path) -> Iterator[Task]:
    """Return the displays of a source; name each text that cannot be read, and skip it."""
    for text in texts_of([source]):
        try:
            found = read(text)
        except (ValueError, OSError) as wrong:
            print(f"{text}: {wrong}")
            continue
        yield from tasks(found, Declared(), {})


def timed(task: Task) -> Timed:
    """A finding, and the processor's seconds that it took."""
    start = time.process_time()
    return try_one(task), time.process_time() - start


def findings(every: Sequence[Task], jobs: int) -> Iterator[Timed]:
    """The finding of each task, in their order."""
    if jobs < 2:
        with seldom_collected():
            yield from map(timed, every)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(timed, every, chunksize=4)


def row(name: str, found: Sequence[Timed]) -> str:
    """The row of a source in the table."""
    counts = Counter(_COLUMNS.get(one.outcome, one.verdict) for one, _ in found)
    counts["definitions"] = counts["definition"]
    counts["engine errors"] = sum("the engine failed" in one.why for one, _ in found)
    counts["displays"] = len(found)
    tried = sum(counts[name] for name in {*_COLUMNS.values()})
    share = f"{tried} ({tried / max(len(found), 1):.1%})".replace("%", " %")
    seconds = f"{sum(took for _, took in found):.0f}"
    cells = {"source": name, "tried": share, "s": seconds}
    return f"| {' | '.join(cells.get(name, str(counts[name])) for name in HEAD)} |"


def main() -> None:
    """Print the table, and the accusations behind it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=0, help="displays of a source, by chance")
    parser.add_argument("--write", type=argparse.FileType("w"), help="a file for all findings")
    parser.add_argument("--list", default="accused", help="print the displays of one column")
    given = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    every: list[Timed] = []
    for source in given.sources:
        chosen = list(tasks_in(source))
        if given.most and given.most < len(chosen):
            chosen = random.Random(3).sample(chosen, given.most)
        found = list(findings(chosen, given.jobs))
        print(row(source.name, found), flush=True)
        every += found
    print(row("all", every))
    for one, took in every:
        if given.write:
            print(json.dumps({**one.to_json(), "seconds": round(took, 3)}), file=given.write)
        if given.list in (_COLUMNS.get(one.outcome, one.verdict), one.outcome):
            print(f"\n{one.file}:{one.line}: {' '.join(one.latex.split())}\n    {one}")


if __name__ == "__main__":
    main()
