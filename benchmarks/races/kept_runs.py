"""Runs of a long script, kept line by line, so that one that is stopped goes on where it was."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def kept(path: Path) -> list[Row]:
    """The runs that ended; a line that was cut short is none."""
    rows = []
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for line in filter(None, lines):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"not a run: {line[:40]}", file=sys.stderr)
    return rows


def keep(path: Path, row: Row) -> None:
    """Write down a run that ended, in a line of its own, after one that was cut short too."""
    cut = path.exists() and path.read_text("utf-8")[-1:] not in ("", "\n")
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * cut + json.dumps(row) + "\n")


# Races, where each method starts from each seed on each problem

STANDINGS = (
    "| problem | method | starts | after half | after all | we were ahead | seconds |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)


def race_parser(
    doc: str, methods: Iterable[str], problems: Iterable[str], seeds: int, budget: int, runs: str
) -> argparse.ArgumentParser:
    """What a race is asked for, with what it does unless it is asked for less."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--methods", nargs="*", choices=methods, default=list(methods))
    parser.add_argument("--problems", nargs="*", choices=problems, default=list(problems))
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--budget", type=int, default=budget)
    parser.add_argument("--runs", type=Path, default=Path(runs))
    return parser


def race(chosen: argparse.Namespace, run: Callable[[str, str, int, int], Row]) -> list[Row]:
    """Run what is not kept yet, seed by seed so that all have as many; return all that is kept."""
    have = {(row["problem"], row["method"], row["seed"]) for row in kept(chosen.runs)}
    for seed in range(chosen.seeds):
        for problem in chosen.problems:
            for method in chosen.methods:
                if (problem, method, seed) not in have:
                    keep(chosen.runs, run(problem, method, seed, chosen.budget))
    return kept(chosen.runs)
