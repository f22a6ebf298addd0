"""The pendulum's rollout and its gradient, ours and jax's: seconds of one thread, taken in turns.

``python benchmarks/pendulum_table.py`` measures 70, 200 and 400 transitions. It counts the seconds
that the processor spends on this process, and takes the least of many: other work on the machine
shows in neither as much as in seconds of a clock.
"""

from __future__ import annotations

import argparse
from typing import Any

import processor_time  # isort: skip  (it sets the threads)
import numpy as np
from pendulum_contestants import BUMPS, STEPS, PendulumProblem, by_jax, ours

SIZES, ROUNDS = (70, 200, 400), 30
MOST = {70: 3.0, 200: 1.0, 400: 1.0}  # times jax's seconds


def row(n: int, horizon: int = STEPS, bumps: int = BUMPS, rounds: int = ROUNDS) -> dict[str, Any]:
    """The least seconds of each, and how far the answers lie apart."""
    problem = PendulumProblem(n, horizon, bumps)
    calls = {"gpnotes": ours(problem), "jax": by_jax(problem)}
    seconds = {name: min(times) for name, times in processor_time.in_turns(calls, rounds).items()}
    answers = {name: call() for name, call in calls.items()}
    gap = np.abs(answers["gpnotes"] - answers["jax"])[1:]
    return {
        "n": n,
        "seconds": seconds,
        "ratio": seconds["gpnotes"] / seconds["jax"],
        "disagreement": float(np.max(gap) / np.max(np.abs(answers["jax"][1:]))),
    }


def shown(rows: list[dict[str, Any]]) -> str:
    """A line for each size."""
    lines = [
        f"a rollout of {STEPS} steps with sines and {BUMPS} bumps, and its gradient: least seconds"
        " of the processor, one thread",
        f"{'transitions':>12}{'gpnotes':>12}{'jax':>12}{'ratio':>8}{'gap':>10}",
    ]
    for row in rows:
        least, most = row["seconds"], MOST.get(row["n"])
        verdict = "" if most is None else f"  at most {most:g} wanted"
        lines.append(
            f"{row['n']:>12}{least['gpnotes']:12.4f}{least['jax']:12.4f}{row['ratio']:8.2f}"
            f"{row['disagreement']:10.1e}{verdict}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    wanted = parser.parse_args()
    print(shown([row(n, rounds=wanted.rounds) for n in wanted.sizes]))


if __name__ == "__main__":
    main()
