"""Optimisers on Branin's and Hartmann's functions, and tuning a model, from twenty starts each.

It runs in an environment of its own, with the peers:

    python -m venv apart
    apart/bin/python -m pip install botorch==0.18.1 optuna==5.0.0 greenlet scikit-learn==1.9.1
    apart/bin/python -m pip install .
    OMP_NUM_THREADS=1 apart/bin/python benchmarks/races/optimisation_races.py

Every run is kept in ``optimisation-races.jsonl`` as soon as it ends, so that a script that is
killed goes on where it was; from these runs it writes `src/gpnotes/data/optimisation-races.csv.gz`.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from kept_runs import Row, keep, kept
from race_contestants import CONTESTANTS, Race
from race_objectives import PROBLEMS, Problem

_DATA = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data"
TARGET = _DATA / "optimisation-races.csv.gz"
SEEDS, PARTS = 20, 10
HEAD = ("problem", "method", "seed", "least", "held_out", "seconds")
NAMES = [problem.name for problem in PROBLEMS]


def run(problem: Problem, method: str, seed: int) -> Row:
    """All values in their order, the best point, and the seconds that it took to choose points."""
    race = Race(problem, seed)
    began = time.process_time()
    CONTESTANTS[method](race)
    seconds = time.process_time() - began - race.seconds
    best = race.points[int(np.argmin(race.values))]
    held_out = problem.held_out(seed, best) if problem.held_out else None
    return {
        "problem": problem.name, "method": method, "seed": seed, "values": race.values,
        "best": best.tolist(), "held_out": held_out, "seconds": seconds,
        "objective_seconds": race.seconds,
    }  # fmt: skip


def key(row: Row) -> tuple[str, str, int]:
    """Return what tells a run from others."""
    return row["problem"], row["method"], row["seed"]


def ended(path: Path, row: Row) -> None:
    """Keep a run, and say so."""
    keep(path, row)
    print(*key(row), min(row["values"]), round(row["seconds"], 2), flush=True)


def race_all(path: Path, problems: list[str], methods: list[str], seeds: int) -> None:
    """Run the missing races seed by seed, so that every method has equally many."""
    have = {key(row) for row in kept(path)}
    for seed in range(seeds):
        for problem in PROBLEMS:
            for method in methods:
                if problem.name in problems and (problem.name, method, seed) not in have:
                    ended(path, run(problem, method, seed))


def least(problem: Problem, rows: list[Row], seed: int) -> float:
    """The minimum; where nobody knows it, what a simplex finds from the best point of all runs."""
    from scipy.optimize import minimize

    if problem.least is not None:
        return problem.least
    ours = [row for row in rows if row["problem"] == problem.name and row["seed"] == seed]
    best = min(ours, key=lambda row: min(row["values"]))
    sides = [(0.0, 1.0)] * problem.dimensions
    options = {"maxfev": 100, "xatol": 1e-4, "fatol": 1e-5}
    found = minimize(problem.objective(seed), best["best"], method="Nelder-Mead", bounds=sides,
                     options=options)  # fmt: skip
    return min(float(found.fun), min(best["values"]))


def numbers(row: Row) -> tuple[int, int, int]:
    """Problem, method and seed, as the table has them."""
    return NAMES.index(row["problem"]), list(CONTESTANTS).index(row["method"]), row["seed"]


def table(rows: list[Row]) -> Iterator[list[str]]:
    """A line for each run: regrets after each tenth of the budget, with three digits."""
    floors: dict[tuple[str, int], float] = {}
    rows = list({key(row): row for row in rows}.values())
    rows.sort(key=numbers)
    for row in rows:
        problem = PROBLEMS[numbers(row)[0]]
        mark = row["problem"], row["seed"]
        if mark not in floors:
            floors[mark] = least(problem, rows, row["seed"])
        best = np.minimum.accumulate(row["values"])
        counts = [problem.budget * part // PARTS for part in range(1, PARTS + 1)]
        regrets = [max(float(best[count - 1]) - floors[mark], 0.0) for count in counts]
        held_out = "" if row["held_out"] is None else f"{row['held_out']:.3f}"
        yield [
            *map(str, numbers(row)),
            f"{floors[mark]:.7g}", held_out, f"{row['seconds']:.3g}",
            *(f"{regret:.3g}" for regret in regrets),
        ]  # fmt: skip


def main() -> int:
    """Race, then write the table of all runs that are kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--problems", nargs="*", choices=NAMES, default=NAMES)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--runs", type=Path, default=Path("optimisation-races.jsonl"))
    parser.add_argument("--to", type=Path, default=TARGET)
    chosen = parser.parse_args()
    race_all(chosen.runs, chosen.problems, chosen.methods, chosen.seeds)
    head = [*HEAD, *(f"regret_{part}" for part in range(1, PARTS + 1))]
    lines = "".join(f"{','.join(row)}\n" for row in (head, *table(kept(chosen.runs))))
    packed = chosen.to.suffix == ".gz"
    chosen.to.write_bytes(gzip.compress(lines.encode(), mtime=0) if packed else lines.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
