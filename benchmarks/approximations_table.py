"""Random features, inducing points and a variational process for labels, each beside its floor.

``python benchmarks/approximations_table.py`` prints a table for each, and ends in an error where
answers differ.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import bound_contestants
import epoch_contestants
import feature_contestants
import numpy as np
from floor_rows import lines, measured, outcome, ratios

TOLERANCE = 1e-8
# task: at most so many times the floor, and who answers beside us
_TARGETS = {"features": (1.4, "scikit-learn"), "bound": (1.35, "jax"), "epoch": (1.4, "jax")}
_SAID = {
    "features": "{size} random features of {n} rows: the weights",
    "bound": "VFE of {n} rows, {size} inducing points, with its gradient by all and by Z",
    "epoch": "an epoch of {n} labels, {size} inducing points, batches of 1000, all parameters",
}


def row(task: str, n: int, size: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far the answers lie apart, relative to the largest entry."""
    target, other = _TARGETS[task]
    compared, answers = measured(task, n, size, rounds, weighed=("floor", "gpnotes"))
    ours, theirs = answers["gpnotes"], answers[other]
    gap = float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    return {"task": task, "n": n, "size": size, **compared, "target": target, "disagreement": gap}


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    reached = outcome(row["ratio_of_minima"] <= row["target"])
    text = [
        "",
        f"{row['task']}: {_SAID[row['task']].format(**row)}",
        *lines(row),
        f"answers differ by at most {row['disagreement']:.1e}",
        f"{ratios(row)}, target {row['target']:g} {reached}",
    ]
    return "\n".join(text)


def main() -> int:
    """Measure and print; 1 if answers differ, 0 otherwise, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, nargs=3, help="of features, the bound and the epoch")
    wanted = parser.parse_args()
    usual = (feature_contestants.ROWS, bound_contestants.ROWS, epoch_contestants.ROWS)
    features, bound, epoch = wanted.rows or usual
    rows = [
        row("features", features, feature_contestants.FEATURES, wanted.rounds),
        row("bound", bound, bound_contestants.INDUCING, wanted.rounds),
        row("epoch", epoch, epoch_contestants.INDUCING, wanted.rounds),
    ]
    print("\n".join(map(shown, rows)))
    return int(not all(one["disagreement"] <= TOLERANCE for one in rows))


if __name__ == "__main__":
    sys.exit(main())
