"""A sum and a product of two kernels beside one of them alone, and beside the floor.

``python benchmarks/sums_table.py`` prints a table for each, and ends in an error where answers
differ. The target is a multiple of the time of one kernel.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from typing import Any

import numpy as np
import sum_contestants
from floor_rows import lines, measured, outcome, ratios

TOLERANCE = 1e-8
TARGET = 1.5  # times one kernel, of two exponentials where it has one
MOST_MATRICES = 4.0  # of n × n numbers at a time
_WEIGHED = ("floor", "alone", "gpnotes", "general")


def row(task: str, n: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far the answers lie apart, relative to the largest entry."""
    compared, answers = measured(task, n, 2, rounds, weighed=_WEIGHED)
    ours, theirs = answers["gpnotes"], answers["scikit-learn"]
    gap = float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    pairs = zip(*(compared["seconds"][name] for name in ("gpnotes", "alone")), strict=True)
    least = (min(compared["seconds"][name]) for name in ("gpnotes", "alone"))
    return {
        "task": task,
        "n": n,
        **compared,
        "ratio_alone": median(ours / one for ours, one in pairs),
        "ratio_alone_of_minima": next(least) / next(least),
        "target": TARGET,
        "disagreement": gap,
    }


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    reached = outcome(row["ratio_alone_of_minima"] <= row["target"])
    peak = row["peak_bytes"]["gpnotes"]
    held = "unknown" if peak is None else f"{peak / (8 * row['n'] ** 2):.1f}"
    text = [
        "",
        f"{row['task']}: the evidence of {row['n']} rows with its gradient by all parameters",
        *lines(row),
        f"answers differ by at most {row['disagreement']:.1e}",
        f"{ratios(row)}; {row['ratio_alone_of_minima']:.2f} × one kernel alone"
        f" (median {row['ratio_alone']:.2f}), target {row['target']:g} {reached}",
        f"{held} n × n matrices, at most {MOST_MATRICES:g} wanted",
    ]
    return "\n".join(text)


def main() -> int:
    """Measure and print; 1 if answers differ, 0 otherwise, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=sum_contestants.ROWS)
    wanted = parser.parse_args()
    rows = [row(task, wanted.rows, wanted.rounds) for task in ("sum", "product")]
    print("\n".join(map(shown, rows)))
    return int(not all(one["disagreement"] <= TOLERANCE for one in rows))


if __name__ == "__main__":
    sys.exit(main())
