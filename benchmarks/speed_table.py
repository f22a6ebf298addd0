"""Write the table of speed from `speed.json`: ``python benchmarks/speed_table.py``.

`speed.json` keeps, for each task, how many times its floor gpnotes and its best rival take, and on
which machine either was measured. ``python benchmarks/run.py --speed`` measures and puts its own
figures there; what a run does not measure, such as a rival that is not installed, keeps its figure
and its machine, and the table says which is which. The table goes into the README and into
`benchmarks/README.md`, between two comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "speed.json"
PAGES = (ROOT / "README.md", ROOT / "benchmarks" / "README.md")
BETWEEN = re.compile(r"(?<=<!-- speed: begin -->\n).*?(?=<!-- speed: end -->)", re.DOTALL)
# Of what `run.py` measures, the tasks that the table shows.
PARTS = ("features", "bound", "samples", "paths")


def main() -> None:
    """Write the table into both pages."""
    write(json.loads(KEPT.read_text("utf-8")))


def write(speed: Mapping[str, Any], pages: tuple[Path, ...] = PAGES) -> None:
    """Put the table between the two comments of each page."""
    for page in pages:
        text = page.read_text("utf-8")
        if not BETWEEN.search(text):
            raise ValueError(f"{page.name} has no place for the table: <!-- speed: begin --> …")
        page.write_text(BETWEEN.sub(lambda _: table(speed), text), encoding="utf-8")


def table(speed: Mapping[str, Any]) -> str:
    """The rows, and a line for each machine on which a figure of theirs was measured."""
    alone = len(speed["machines"]) == 1
    lines = ["| task | here | best rival | the floor |", "| --- | --- | --- | --- |"]
    for row in speed["rows"]:
        name, *rival = row["rival"]
        here, there = (_figure(*figure, alone) for figure in (row["here"], rival))
        lines.append(f"| {row['task']} | **{here}** | {there}, {name} | {row['floor']} |")
    named = speed["machines"].items()
    about = [said if alone else f"<sup>{letter}</sup>{said}" for letter, said in named]
    return "\n".join([*lines, "", f"Measured on {'; '.join(about)}.", ""])


def _figure(times: float, machine: str, alone: bool) -> str:
    return f"{times:.3g}×" if alone else f"{times:.3g}×<sup>{machine}</sup>"


def measured(report: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Of a report of `run.py`: the task, who did it, and how many times the floor that took."""
    for row in report["rows"]:
        key = f"{row['task']} {row['n']}"
        yield key, "gpnotes", row["ratio"]
        yield key, "scikit-learn", row["ratio_scikit_learn"]
    for part in PARTS:
        for name, spent in report.get(part, {"seconds": {}})["seconds"].items():
            if name != "floor":
                yield part, name, median(spent) / median(report[part]["seconds"]["floor"])


def updated(speed: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """The figures, with those of a report for older ones; a machine that nobody names goes."""
    letter = chr(ord(max(speed["machines"])) + 1)
    found = {(key, name): times for key, name, times in measured(report)}
    rows = [_updated(row, found, letter) for row in speed["rows"]]
    machines = {**speed["machines"], letter: _about(report)}
    used = {figure[-1] for row in rows for figure in (row["here"], row["rival"])}
    return {"machines": {k: v for k, v in machines.items() if k in used}, "rows": rows}


def _updated(row: Mapping[str, Any], found: Mapping[Any, float], letter: str) -> dict[str, Any]:
    rival = row["rival"][0]
    ours, theirs = (found.get((row["key"], name)) for name in ("gpnotes", rival))
    here = row["here"] if ours is None else [round(ours, 2), letter]
    there = row["rival"] if theirs is None else [rival, round(theirs, 2), letter]
    return {**row, "here": here, "rival": there}


def _about(report: Mapping[str, Any]) -> str:
    machine = report["machine"]
    threads = max((pool["num_threads"] for pool in machine["blas"]), default=1)
    day = report["when"].split("T")[0]
    return f"{machine['cores']} cores of {machine['processor']}, BLAS on {threads}, {day}"


def keep(report: Mapping[str, Any]) -> None:
    """Put what was measured into `speed.json`, and the table into both pages."""
    speed = updated(json.loads(KEPT.read_text("utf-8")), report)
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in speed["rows"])
    machines = json.dumps(speed["machines"], ensure_ascii=False, indent=2).replace("\n}", "\n }")
    KEPT.write_text(f'{{\n "machines": {machines},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    write(speed)


if __name__ == "__main__":
    main()
