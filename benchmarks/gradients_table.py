"""What gradients are worth to Bayesian optimisation: Branin's and Hartmann's function, ten seeds.

``python benchmarks/gradients_table.py`` prints how far the best of the evaluations lies above the
least value, as quartiles over the seeds: of the loop that is told values, of the one that is told
gradients too, and of L-BFGS-B from the best of the same first points, which asks for value and
gradient each time. Gradients are central differences, which cost nothing here and which are not
counted. On one core it takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from race_objectives import branin, hartmann
from scipy.optimize import minimize

import gpnotes
import gpnotes.decide.bayesopt
from gpnotes.decide.bayesopt import minimise

Sloped = tuple[float, np.ndarray]
#: name, objective on the unit cube, inputs, evaluations, least value
TASKS = (
    ("Branin", branin, 2, 14, 5.0 / (4.0 * np.pi)),
    ("Hartmann", hartmann, 6, 30, -3.322368),
)
_STEP = 1e-6


def with_gradient(objective: Callable[[np.ndarray], float]) -> Callable[[np.ndarray], Sloped]:
    """The objective and its derivatives, by central differences."""

    def both(u: np.ndarray) -> Sloped:
        steps = _STEP * np.eye(u.shape[0])
        rises = [objective(u + step) - objective(u - step) for step in steps]
        return objective(u), np.asarray(rises) / (2.0 * _STEP)

    return both


def climbed(both: Callable[[np.ndarray], Sloped], first: list[np.ndarray], budget: int) -> float:
    """The least of all values that L-BFGS-B has seen, the first points included."""
    values: list[float] = []

    def counted(u: np.ndarray) -> Sloped:
        if len(values) >= budget:
            raise StopIteration
        found = both(u)
        values.append(found[0])
        return found

    starts = sorted(first, key=lambda u: counted(u)[0])
    try:
        for start in starts:  # from the next best, where a descent ends early
            minimize(counted, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(start))
    except StopIteration:
        pass
    return min(values)


def ends(task: tuple, seed: int) -> dict[str, float]:
    """How far above the least value each of the three ends."""
    _, objective, d, budget, least = task
    both, box, stream = with_gradient(objective), [(0.0, 1.0)] * d, gpnotes.stream(seed)
    values = minimise(lambda u: float(objective(u)), box, budget, rng=stream)
    told = minimise(both, box, budget, gradients=True, rng=stream)
    first = [evaluation.x for evaluation in told.evaluations[: 2 * (d + 1)]]
    found = {
        "values": values.best.y,
        "values and gradients": told.best.y,
        "L-BFGS-B": climbed(both, first, budget),
    }
    return {name: float(y) - least for name, y in found.items()}


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    wanted = parser.parse_args()
    for task in TASKS:
        print(f"\n{task[0]}, {task[3]} evaluations, {wanted.seeds} seeds: above the least value")
        print(f"{'told':<24}{'lower quartile':>16}{'median':>12}{'upper quartile':>16}")
        rows = [ends(task, seed) for seed in range(wanted.seeds)]
        for name in rows[0]:
            low, middle, high = np.quantile([row[name] for row in rows], (0.25, 0.5, 0.75))
            print(f"{name:<24}{low:16.2g}{middle:12.2g}{high:16.2g}")
        nearer = sum(row["values and gradients"] < row["values"] for row in rows)
        print(f"gradients nearer in {nearer} of {wanted.seeds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
