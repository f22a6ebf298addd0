"""The ratios that are kept in `speed.json`: compared with a run, and written into the tables.

A figure is a ratio to the floor and the day on which it was measured, on one kind of processor. A
task has as well, for each kind, a hash of the code that its call enters: where that code is another
now, the table marks the figure with a dagger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import kind, stamp
from tasks import TASKS

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "speed.json"
PAGES = {"speed": ROOT / "README.md", "tasks": ROOT / "benchmarks" / "README.md"}
OLDER = "†"
Kept = dict[str, Any]  # kind of machine: {task: {"n", "code", "files", "times": {way: [x, day]}}}


def read(path: Path = KEPT) -> Kept:
    """Return the stored record."""
    return json.loads(path.read_text("utf-8"))


def keep(report: Mapping[str, Any], path: Path = KEPT) -> None:
    """Put the ratios of a run in the place of older ones, and write the tables."""
    kept = updated(read(path), report)
    parts = []
    for name, rows in kept.items():
        lines = ",\n".join(
            f"  {json.dumps(task)}: {json.dumps(row, ensure_ascii=False)}"
            for task, row in rows.items()
        )
        parts.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    write(kept)


def updated(kept: Kept, report: Mapping[str, Any]) -> Kept:
    """Return the figures with those of a run; a rival that it did not have keeps its own."""
    here, day = kind(report["machine"]), report["when"]
    rows = dict(kept.get(here, {}))
    for name, row in report["rows"].items():
        now = {way: [float(f"{x:.3g}"), day] for way, x in row["times"].items()}
        before = rows.get(name, {}).get("times", {})
        rows[name] = {**{key: row[key] for key in ("n", "code", "files")},
                      "times": {**before, **now}}  # fmt: skip
    others = {place: found for place, found in kept.items() if place != here}
    return {**others, here: rows}  # last, as `figures` takes it of one day


def slower(report: Mapping[str, Any], kept: Kept, grown: float) -> tuple[list[str], int]:
    """Return which ratios of ours grew, and how many were kept for this kind of machine."""
    rows = kept.get(kind(report["machine"]), {})
    found, compared = [], 0
    for name, row in report["rows"].items():
        before = rows.get(name, {"n": None})
        if before["n"] != row["n"] or "floor" not in row["seconds"]:
            continue
        compared += 1
        was, now = before["times"]["gpnotes"][0], row["times"]["gpnotes"]
        if now > grown * was:
            found.append(f"{name}: {now:.3g} times the floor, where {was:.3g} are kept")
    return found, compared


def is_older(row: Mapping[str, Any]) -> bool:
    """Return whether the code that the figure is about is another now."""
    return row["code"] is None or stamp(row["files"]) != row["code"]


def figures(kept: Kept) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield each task with the kind of machine where it was measured last, and its row there."""
    for name in TASKS:
        having = [(rows[name]["times"]["gpnotes"][1], kind, rows[name])
                  for kind, rows in kept.items() if name in rows]  # fmt: skip
        if having:
            # of one day that which was kept last
            _, place, row = max(reversed(having), key=lambda one: one[0])
            yield name, place, row


def _ours_and_rivals(row: Mapping[str, Any]) -> tuple[float, list[tuple[float, str]]]:
    """Return our ratio without the extra `compiled`, and those of rivals."""
    times = {way: figure[0] for way, figure in row["times"].items()}
    rivals = [(x, way) for way, x in times.items() if not way.startswith("gpnotes")]
    return times["gpnotes"], sorted(rivals)


def table(kept: Kept, front: bool) -> str:
    """Return the rows of the tasks: of those on the front page, or of all."""
    head = ["task", "here", "best rival"] + ([] if front else ["others"]) + ["the floor"]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    places: set[str] = set()
    days: set[str] = set()
    for name, place, row in figures(kept):
        task = TASKS[name]
        if front and not task.front:
            continue
        places.add(place)
        days.add(row["times"]["gpnotes"][1])
        ours, rivals = _ours_and_rivals(row)
        shown = [f"{x:.3g}×, {way}" for x, way in rivals] or ["none"]
        best = f"**{shown[0]}**" if rivals and rivals[0][0] < ours else shown[0]
        here = f"{ours:.3g}×{OLDER if is_older(row) else ''}"
        here = here if rivals and rivals[0][0] < ours else f"**{here}**"
        if compiled := row["times"].get("gpnotes, compiled"):
            here += f", compiled {compiled[0]:.3g}×"
        others = [] if front else ["; ".join(shown[1:])]
        lines.append(
            f"| {' | '.join([task.said.format(n=row['n']), here, best, *others, task.floor])} |"
        )
    where = [place.partition(" (")[0] for place in sorted(places)] if front else sorted(places)
    said = f"{', '.join(sorted(days))}; {'; '.join(where)}."
    if any(OLDER in line for line in lines):
        said += f" {OLDER} Its code is newer."
    return "\n".join([*lines, "", said, ""])


def ahead(kept: Kept) -> list[str]:
    """Return in a line each which programs are ahead of us, and by how much."""
    found = []
    for name, _, row in figures(kept):
        ours, rivals = _ours_and_rivals(row)
        quicker = [f"{way} ({ours / x:.3g}×)" for x, way in rivals if x < ours]
        if quicker:
            found.append(f"- {TASKS[name].said.format(n=row['n'])}: {', '.join(quicker)}")
    return found


def write(kept: Kept, pages: Mapping[str, Path] = PAGES) -> None:
    """Put each table between the two comments of its page."""
    for mark, page in pages.items():
        text = page.read_text("utf-8")
        if not between(mark).search(text):
            raise ValueError(f"{page.name} has no place for the table: <!-- {mark}: begin --> …")
        page.write_text(between(mark).sub(lambda _, m=mark: said(kept, m), text), encoding="utf-8")


def between(mark: str) -> re.Pattern[str]:
    """Return a pattern for what stands between two comments."""
    return re.compile(rf"(?<=<!-- {mark}: begin -->\n).*?(?=<!-- {mark}: end -->)", re.DOTALL)


def said(kept: Kept, mark: str) -> str:
    """Return what a page says."""
    if mark == "speed":
        return table(kept, front=True)
    lines = ahead(kept)
    return "\n".join([table(kept, front=False), "Ahead of us:", "", *lines, ""])
