"""The settings of PILCO and of two planners that race with it on the cart, chosen from grids.

    OMP_NUM_THREADS=1 python benchmarks/races/cartpole_tuning.py

One entry after the other takes the value of its grid with the lowest cost, the others held; the
seeds are none of the race's. What counts is the mean cost of a step in the last three of six
trials. A planner may take no more seconds than PILCO did before its own settings were searched.
Runs are kept in a file, and made once.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from cartpole_races import SEARCHES, SETTINGS, Search, World, with_plans, with_policies
from cartpole_rivals import Setting
from kept_runs import keep, kept

SEEDS = range(100, 103)
SECONDS = 14.0  # a run of PILCO took this long, where these were chosen
GRIDS = {
    "ensemble": (
        ("horizon", (5, 8, 12, 20)),
        ("plans", (80, 200)),
        ("rounds", (3, 5)),
        ("steps", (400, 800, 2000)),
        ("members", (3, 5)),
        ("plans", (200, 500)),  # this and the next two had ended at an edge
        ("steps", (2000, 4000)),
        ("members", (5, 8)),
    ),
    "shooting": (
        ("horizon", (5, 8, 12, 20)),
        ("plans", (300, 1200, 4000)),
        ("steps", (400, 800, 2000)),
        ("plans", (4000, 12000)),  # as above
    ),
    "pilco": (
        ("later", (False, True)),
        ("proposals", (0, 1, 3)),
        ("bumps", (10, 20, 50)),
        ("iterations", (20, 40, 80)),
    ),
}


def judged(setting: Setting | Search, path: Path) -> tuple[float, float]:
    """Mean cost of a step in the last three trials, and seconds of a run; kept."""
    have = {run["seed"]: run["rows"] for run in kept(path) if run["setting"] == asdict(setting)}
    for seed in SEEDS:
        if seed not in have:
            go = with_policies if isinstance(setting, Search) else with_plans
            have[seed], _ = go(World(seed), setting)
            keep(path, {"setting": asdict(setting), "seed": seed, "rows": have[seed]})
    rows = np.asarray([have[seed] for seed in SEEDS])
    return float(rows[:, -3:, 3].mean()), float(rows[:, -1, 1].mean())


def chosen(method: str, path: Path) -> Iterator[Setting | Search]:
    """The setting after each entry of the grid."""
    best = SEARCHES.get(method) or SETTINGS[f"{method} untuned"]
    for name, values in GRIDS[method]:
        tried = [replace(best, **{name: value}) for value in values]
        found = {setting: judged(setting, path) for setting in tried}
        most = SECONDS if isinstance(best, Setting) else math.inf
        within = [setting for setting in tried if found[setting][1] <= most]
        best = min(within, key=lambda setting: found[setting][0])
        yield best


def main() -> None:
    """Choose for both, and print the best settings that were tried."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=Path("cartpole-tuning.jsonl"))
    path = parser.parse_args().runs
    for method in GRIDS:
        for best in chosen(method, path):
            print(method, best, *judged(best, path), flush=True)
    tried = {Setting(**run["setting"]) for run in kept(path)}
    for cost, seconds, setting in sorted((*judged(s, path), repr(s)) for s in tried):
        print(f"{cost:.4f}  {seconds:5.2f} s  {setting}")


if __name__ == "__main__":
    main()
