"""Greedy designs, timed: ``python benchmarks/greedy_designs.py`` prints a table, may write a JSON.

Four ways to the same measurements of one random field in the plane, by information:

    lazy      old gains as bounds; candidates fetch the rows that they missed
    eager     one row for every candidate at every step
    refit     a posterior for every step, with variances at all candidates
    anew      for every candidate of every step the determinant of its own set

Seconds are those of the processor, in one thread, so that other work does not stretch them. The
picks of all are compared. `refit` is left out above `REFIT` units of n k³, `anew` above `ANEW`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy reads it
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from gpnotes import GP, Matern32, condition
from gpnotes.decide.design import greedy_design

LENGTHSCALE, NOISE = 0.1, 0.1
REFIT, ANEW = 4e9, 1.2e8
SIZES = [(n, 50) for n in (500, 2000, 8000, 32000, 64000)]
BUDGETS = [(4000, k) for k in (25, 100, 200, 400)]
Answer = tuple[list[int], int]


def field(n: int) -> tuple[GP, np.ndarray]:
    """The process and its candidates, uniform over the unit square."""
    return GP(Matern32(1.0, LENGTHSCALE), NOISE), np.random.default_rng(n).uniform(size=(n, 2))


def by_package(lazy: bool) -> Callable[[GP, np.ndarray, int], Answer]:
    """Our own, one way or the other."""

    def call(gp: GP, X: np.ndarray, budget: int) -> Answer:
        design = greedy_design(gp, X, budget, lazy=lazy)
        return design.indices.tolist(), design.evaluations

    return call


def by_refitting(gp: GP, X: np.ndarray, budget: int) -> Answer:
    """The variances of a posterior conditioned anew at every step."""
    chosen: list[int] = []
    for _ in range(budget):
        if chosen:
            variance = condition(gp, X[chosen], np.zeros(len(chosen))).variance(X)
        else:
            variance = gp.kernel.diag(X)
        chosen.append(_first(0.5 * np.log1p(variance / NOISE), chosen))
    return chosen, _evaluations(len(X), budget)


def anew(gp: GP, X: np.ndarray, budget: int) -> Answer:
    """The information of every set that is one larger, by a determinant each."""
    chosen: list[int] = []
    before = 0.0
    for t in range(budget):
        K = np.stack([gp.kernel(X[[*chosen, j]]) for j in range(len(X))])
        values = 0.5 * np.linalg.slogdet(np.eye(t + 1) + K / NOISE)[1]
        chosen.append(_first(values - before, chosen))
        before = values[chosen[-1]]
    return chosen, _evaluations(len(X), budget)


def _first(gains: np.ndarray, chosen: list[int]) -> int:
    """The first of the largest, where gains within a relative √eps are equal, as in the package."""
    ranks = np.floor(np.log(gains) / np.finfo(float).eps ** 0.5)
    ranks[chosen] = -np.inf
    return int(np.argmax(ranks))


def _evaluations(n: int, budget: int) -> int:
    return sum(n - t for t in range(budget))


WAYS = {"lazy": by_package(True), "eager": by_package(False), "refit": by_refitting, "anew": anew}


def row(n: int, budget: int, rounds: int) -> dict[str, Any]:
    """Seconds of each way, in turns, how many gains it computed, and whether picks agree."""
    gp, X = field(n)
    dear = {"refit": n * budget**3 > REFIT, "anew": n * budget**3 > ANEW}
    ways = {name: way for name, way in WAYS.items() if not dear.get(name)}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    picks, evaluations = {}, {}
    for turn in range(rounds):
        for name, way in ways.items():
            if name in ("lazy", "eager") or turn == 0:
                start = time.process_time()
                picks[name], evaluations[name] = way(gp, X, budget)
                seconds[name].append(time.process_time() - start)
    agree = all(picked == picks["eager"] for picked in picks.values())
    return {
        "n": n,
        "budget": budget,
        "seconds": seconds,
        "evaluations": evaluations,
        "agree": agree,
    }


def growth(rows: list[dict[str, Any]], what: str, name: str) -> float:
    """The exponent of time in `what`, between the two largest of these rows."""
    small, large = sorted(rows, key=lambda line: line[what])[-2:]
    spent = [median(line["seconds"][name]) for line in (small, large)]
    return math.log(spent[1] / spent[0]) / math.log(large[what] / small[what])


def shown(line: dict[str, Any]) -> str:
    """One line of the table."""
    times = "".join(
        f"{median(line['seconds'][name]):11.3f}" if name in line["seconds"] else f"{'–':>11}"
        for name in WAYS
    )
    evaluations = "".join(f"{line['evaluations'][name]:>11}" for name in ("lazy", "eager"))
    evaluations += "" if line["agree"] else "  DIFFERENT PICKS"
    return f"{line['n']:>6}{line['budget']:>8}{times}{evaluations}"


def main() -> int:
    """Measure and print; 1 if two ways picked differently."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=64000, help="the largest ground set")
    parser.add_argument("--json", type=Path)
    wanted = parser.parse_args()
    greedy_design(*field(50), 3)  # libraries load now
    heads = "".join(f"{name:>11}" for name in WAYS)
    print(f"{'':14}{'seconds (median)':^44}{'gains computed':^22}")
    print(f"{'n':>6}{'budget':>8}{heads}{'lazy':>11}{'eager':>11}")
    rows = []
    for n, budget in SIZES + BUDGETS:
        if n <= wanted.most:
            rows.append(row(n, budget, wanted.rounds))
            print(shown(rows[-1]), flush=True)
    for what, other, value in (("n", "budget", 50), ("budget", "n", 4000)):
        some = [line for line in rows if line[other] == value]
        if len(some) > 1:
            rates = ", ".join(
                f"{name} {growth(some, what, name):.2f}" for name in ("lazy", "eager")
            )
            print(f"time grows with the {what} to the power of: {rates}")
    if wanted.json:
        wanted.json.parent.mkdir(parents=True, exist_ok=True)
        wanted.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(not all(line["agree"] for line in rows))


if __name__ == "__main__":
    raise SystemExit(main())
