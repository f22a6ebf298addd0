"""Which acquisition a search under noise takes, by the places that it reports at its end.

Ten functions of one, two and six inputs, on which no default was chosen; noise of 0, 0.1, 0.3 and
0.5 of the deviation of each; twenty starts. What counts is what is truly missing at the reported
place, in deviations of the function. Ours report `Optimiser.recommend`, BoTorch the place of the
highest posterior mean, Optuna its best trial.

    OMP_NUM_THREADS=1 .venv/bin/python benchmarks/noisy_searches.py --methods improvement thompson

Every run is kept in ``noisy-searches.jsonl`` as soon as it ends, so that a script that is killed
goes on where it was. It prints, for each noise and number of inputs, the mean of what is missing,
and by how much it is less than for the first method, in the mean over the runs that both have, with
its standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from kept_runs import Row, keep, kept
from noisy_contestants import CONTESTANTS
from noisy_objectives import FUNCTIONS, LEVELS, problems
from race_contestants import Race


def key(row: Row) -> tuple[str, float, str, int]:
    """Which run it is."""
    return row["problem"], row["noise"], row["method"], row["seed"]


def run(problem: str, noise: float, method: str, seed: int) -> Row:
    """What is truly missing at the reported place, and at the luckiest reading."""
    race = Race(next(one for one in problems(noise) if one.name == problem), seed)
    began = time.process_time()
    reported = CONTESTANTS[method](race)
    seconds = time.process_time() - began
    places = {tuple(point) for point in race.points}
    return {
        "problem": problem, "noise": noise, "method": method, "seed": seed,
        "inputs": race.problem.dimensions, "missing": race.problem.objective(seed)(reported),
        "lucky": race.values[int(np.argmin(race.readings))], "least": min(race.values),
        "places": len(places), "seconds": round(seconds, 2),
    }  # fmt: skip


def race_all(chosen: argparse.Namespace) -> list[Row]:
    """Run the missing races seed by seed, so that every method has equally many."""
    have = {key(row) for row in kept(chosen.runs)}
    wanted = [
        (function.name, noise, method, seed)
        for seed in range(chosen.seeds)
        for noise in chosen.noise
        for function in FUNCTIONS
        if len(function.ends) in chosen.inputs
        for method in chosen.methods
    ]
    for one in wanted:
        if one not in have:
            keep(chosen.runs, run(*one))
    return [row for row in kept(chosen.runs) if key(row) in set(wanted)]


def standings(rows: list[Row], methods: list[str]) -> list[str]:
    """A line for each noise, number of inputs and method."""
    lines = [
        "| noise | inputs | method | starts | missing | less than the first |",
        "|" + " --- |" * 6,
    ]
    found = {key(row): row["missing"] for row in rows}
    fields = sorted({(row["noise"], row["inputs"]) for row in rows})
    fields += [(noise, 0) for noise in sorted({row["noise"] for row in rows})]  # all together
    for noise, inputs in fields:
        names = sorted({r["problem"] for r in rows if inputs in (0, r["inputs"])})
        for method in methods:
            both = [
                (name, found[name, noise, methods[0], seed], found[name, noise, method, seed])
                for name in names
                for seed in range(1 + max(row["seed"] for row in rows))
                if {(name, noise, methods[0], seed), (name, noise, method, seed)} <= found.keys()
            ]
            if both:
                lines.append(_line(noise, inputs, method, both))
    return lines


def _line(noise: float, inputs: int, method: str, both: list[tuple[str, float, float]]) -> str:
    ahead = np.asarray([first - ours for _, first, ours in both])
    mean = np.mean([ours for _, _, ours in both])
    error = np.std(ahead, ddof=1) / np.sqrt(len(ahead)) if len(ahead) > 1 else np.nan
    cells = noise, inputs or "all", method, len(both), f"{mean:.3f}"
    return f"| {' | '.join(map(str, cells))} | {np.mean(ahead):+.3f} ± {error:.3f} |"


def main() -> int:
    """Race, then print the standings of the runs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--noise", nargs="*", type=float, choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--inputs", nargs="*", type=int, choices=(1, 2, 6), default=[1, 2, 6])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=Path, default=Path("noisy-searches.jsonl"))
    chosen = parser.parse_args()
    print("\n".join(standings(race_all(chosen), chosen.methods)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
