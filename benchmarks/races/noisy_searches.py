"""Which acquisition a search under noise takes, by the places that it reports at its end.

Eight functions each of one, two, three and six inputs; noise of 0, 0.1, 0.3 and 0.5 of the
deviation of each; twenty starts. What counts is what is truly missing at the reported place, in
deviations of the function. Ours report `Optimiser.recommend`, Optuna its best trial. All have the
same noise from the same start.

    .venv/bin/python benchmarks/races/noisy_searches.py --methods improvement thompson

Every run is kept in ``noisy-searches.jsonl`` as soon as it ends, so that a script that is killed
goes on where it was; the one beside it has the runs of `benchmarks/quality.md`, which ``--kept``
prints without running any, with all starts of a race in one line, as ``--join`` writes them. It
prints, for each noise and number of inputs, the mean of what is
missing and by how much it is less than for the first method, over the runs that both have, with the
standard error of a mean over functions. Those called light have one model and the same candidates,
and take a tenth of the time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from kept_runs import Row, keep, kept
from noisy_contestants import CONTESTANTS
from noisy_objectives import FUNCTIONS, LEVELS, problems
from race_contestants import Race


def key(row: Row) -> tuple[str, float, str, int]:
    """Return what tells a run from others."""
    return row["problem"], row["noise"], row["method"], row["seed"]


def run(problem: str, noise: float, method: str, seed: int) -> Row:
    """What is truly missing at the reported place, and at the luckiest reading."""
    race = Race(next(one for one in problems(noise) if one.name == problem), seed)
    began = time.process_time()
    reported = CONTESTANTS[method](race)
    seconds = time.process_time() - began
    missing = float(f"{race.problem.objective(seed)(reported):.5g}")
    places = {tuple(point) for point in race.points}
    return {
        "problem": problem, "noise": noise, "method": method, "seed": seed,
        "inputs": race.problem.dimensions, "missing": missing,
        "lucky": race.values[int(np.argmin(race.readings))], "least": min(race.values),
        "places": len(places), "seconds": round(seconds, 2),
    }  # fmt: skip


def runs_of(path: Path) -> list[Row]:
    """The runs that are kept, each by itself."""
    return [
        row | {"seed": seed, "missing": missing}
        for row in kept(path)
        for seed, missing in _starts(row)
    ]


def _starts(row: Row) -> list[tuple[int, float]]:
    found = row["missing"]
    return list(enumerate(found)) if isinstance(found, list) else [(row["seed"], found)]


def join(rows: list[Row], path: Path) -> None:
    """Write the runs in which a method met the same problem as one line, in order of the seeds."""
    lines: dict[str, dict[int, float]] = {}
    for row in rows:
        race = {name: row[name] for name in ("method", "inputs", "problem", "noise")}
        lines.setdefault(json.dumps(race), {})[row["seed"]] = row["missing"]
    joined = []
    for race in sorted(lines):
        runs = lines[race]
        missing = [runs[seed] for seed in range(len(runs))]
        joined.append(json.dumps(json.loads(race) | {"missing": missing}))
    path.write_text("\n".join(joined) + "\n", encoding="utf-8")


def race_all(chosen: argparse.Namespace) -> list[Row]:
    """Run the missing races seed by seed, so that all methods have equally many."""
    have = {key(row) for row in runs_of(chosen.runs)}
    wanted = [
        (function.name, noise, method, seed)
        for seed in range(chosen.seeds)
        for noise in chosen.noise
        for function in FUNCTIONS
        if len(function.ends) in chosen.inputs and function.name in chosen.functions
        for method in chosen.methods
    ]
    for one in wanted:
        if one not in have and not chosen.kept:
            keep(chosen.runs, run(*one))
    asked = set(wanted)
    return [row for row in runs_of(chosen.runs) if key(row) in asked]


def standings(rows: list[Row], methods: list[str]) -> list[str]:
    """A line for each noise, number of inputs and method; the unit is the function."""
    lines = [
        "| noise | inputs | method | functions | starts | missing | less than first | ahead in |",
        "|" + " --- |" * 8,
    ]
    levels, sizes = ({row[name] for row in rows} for name in ("noise", "inputs"))
    fields = [(noise, inputs) for noise in sorted(levels) for inputs in [*sorted(sizes), 0]]
    fields += [(None, inputs) for inputs in [*sorted(sizes), 0]]  # all noise together
    for noise, inputs in fields:
        chosen = [r for r in rows if r["inputs"] == inputs or not inputs]
        chosen = [r for r in chosen if r["noise"] == noise or (noise is None and r["noise"] > 0)]
        first = {_start(row): row["missing"] for row in chosen if row["method"] == methods[0]}
        for method in methods:
            both = [row for row in chosen if row["method"] == method and _start(row) in first]
            if both:
                lines.append(_line(noise, inputs, method, both, first))
    return lines


Start = tuple[str, float, int]


def _start(row: Row) -> Start:
    return row["problem"], row["noise"], row["seed"]


def _line(
    noise: float | None, inputs: int, method: str, both: list[Row], first: dict[Start, float]
) -> str:
    """Means over the functions of what they are in the mean over noise and starts."""
    names = sorted({row["problem"] for row in both})
    ahead = np.asarray([
        np.mean([first[_start(row)] - row["missing"] for row in both if row["problem"] == name])
        for name in names
    ])  # fmt: skip
    missing = np.mean([
        np.mean([row["missing"] for row in both if row["problem"] == name]) for name in names
    ])  # fmt: skip
    error = np.std(ahead, ddof=1) / np.sqrt(len(ahead)) if len(ahead) > 1 else np.nan
    cells = [
        "> 0" if noise is None else noise, inputs or "all", method, len(names), len(both),
        f"{missing:.3f}", f"{np.mean(ahead):+.3f} ± {error:.3f}",
        f"{np.sum(ahead > 0)} of {np.sum(ahead != 0)}",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Race, then print the standings of the runs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--noise", nargs="*", type=float, choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--inputs", nargs="*", type=int, choices=(1, 2, 3, 6), default=[1, 2, 3, 6])
    names = [function.name for function in FUNCTIONS]
    parser.add_argument("--functions", nargs="*", choices=names, default=names)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=Path, default=Path("noisy-searches.jsonl"))
    parser.add_argument("--kept", action="store_true", help="run nothing, print what is kept")
    parser.add_argument("--join", type=Path, help="write the runs there, a race in each line")
    chosen = parser.parse_args()
    if chosen.join:
        join(runs_of(chosen.runs), chosen.join)
    print("\n".join(standings(race_all(chosen), chosen.methods)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
