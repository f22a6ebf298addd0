"""The search beside Optuna's samplers and BoTorch where inputs are mixed and corners are far off.

It runs in the environment of `optimisation_races.py`, whose torch two of them need. Every
run is kept in ``tuning-races.jsonl`` as soon as it ends, and what is kept is printed as a table:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/tuning_races.py --problems svr --seeds 12

All begin with ten points of their own, and are given the same budget. Seconds are those of
choosing points.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import botorch_mixed
import numpy as np
from kept_runs import STANDINGS, Row, race, race_parser
from tuning_objectives import TUNING

from gpnotes import stream
from gpnotes.decide.bayesopt import Categorical, Fixed, Integer, Optimiser, Space

Objective = Callable[[dict[str, Any]], float]
FIRST = 10


def ours(space: Space, objective: Objective, budget: int, seed: int) -> list[float]:
    """`Optimiser` with nothing said but the number of first points."""
    optimiser = Optimiser(space, num_initial=FIRST, rng=stream(seed))
    for _ in range(budget):
        point = optimiser.ask()
        optimiser.tell(point, objective(point))
    return [one.y for one in optimiser.evaluations]


def by_chance(space: Space, objective: Objective, budget: int, seed: int) -> list[float]:
    """Uniform points of the cube."""
    units = np.random.default_rng([seed, 1]).random((budget, space.columns))
    return [objective(point) for point in space.from_units(units)]


def by_optuna(name: str) -> Callable[[Space, Objective, int, int], list[float]]:
    """A sampler of Optuna with its defaults."""

    def run(space: Space, objective: Objective, budget: int, seed: int) -> list[float]:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a sampler is called experimental
            sampler = getattr(optuna.samplers, name)(seed=seed, n_startup_trials=FIRST)
            study = optuna.create_study(sampler=sampler)
            study.optimize(lambda trial: objective(_drawn(trial, space)), n_trials=budget)
        return [trial.value for trial in study.trials]

    return run


def _drawn(trial: Any, space: Space) -> dict[str, Any]:
    point: dict[str, Any] = {}
    for name, dim in space.dimensions.items():
        if isinstance(dim, Fixed):
            point[name] = dim.value
        elif isinstance(dim, Categorical):
            point[name] = trial.suggest_categorical(name, dim.choices)
        else:
            draw = trial.suggest_int if isinstance(dim, Integer) else trial.suggest_float
            point[name] = draw(name, dim.lower, dim.upper, log=dim.log)
    return point


def by_botorch(space: Space, objective: Objective, budget: int, seed: int) -> list[float]:
    """`botorch_mixed.search`, which imports torch."""
    return botorch_mixed.search(space, objective, budget, seed, FIRST)


CONTESTANTS = {
    "gpnotes": ours,
    "tpe": by_optuna("TPESampler"),
    "optuna_gp": by_optuna("GPSampler"),
    "botorch": by_botorch,
    "random": by_chance,
}


def run(problem: str, method: str, seed: int, budget: int) -> Row:
    """All values in their order, and the seconds that it took to choose points."""
    space, objective = TUNING[problem]
    spent = 0.0

    def timed(point: dict[str, Any]) -> float:
        nonlocal spent
        began = time.process_time()
        value = objective(point)
        spent += time.process_time() - began
        return value

    began = time.process_time()
    values = CONTESTANTS[method](space, timed, budget, seed)
    seconds = time.process_time() - began - spent
    return {
        "problem": problem, "method": method, "seed": seed, "values": values, "seconds": seconds,
    }  # fmt: skip


def table(rows: list[Row], budget: int) -> list[str]:
    """Medians after half the budget and after all of it, and how often the search was ahead."""
    best = {
        (row["problem"], row["method"], row["seed"]): row["values"]
        for row in rows if len(row["values"]) == budget
    }  # fmt: skip
    lines = [*STANDINGS]
    for problem, method in dict.fromkeys((p, m) for p, m, _ in best):
        seeds = [s for p, m, s in best if (p, m) == (problem, method)]
        halves = [min(best[problem, method, s][: budget // 2]) for s in seeds]
        ends = [min(best[problem, method, s]) for s in seeds]
        pairs = [
            (min(best[problem, "gpnotes", s]), min(best[problem, method, s]))
            for s in seeds if (problem, "gpnotes", s) in best
        ]  # fmt: skip
        ahead = "" if method == "gpnotes" else f"{sum(a < b for a, b in pairs)} of {len(pairs)}"
        spent = [r["seconds"] for r in rows if (r["problem"], r["method"]) == (problem, method)]
        cells = problem, method, f"{len(seeds)}", f"{np.median(halves):.4g}"
        lines.append(
            f"| {' | '.join(cells)} | {np.median(ends):.4g} | {ahead} | {np.median(spent):.1f} |"
        )
    return lines


def main() -> int:
    """Race, then print the table of all runs that are kept."""
    parser = race_parser(__doc__, CONTESTANTS, TUNING, 12, 40, "tuning-races.jsonl")
    chosen = parser.parse_args()
    print("\n".join(table(race(chosen, run), chosen.budget)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
