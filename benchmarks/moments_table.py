"""The part of the benchmark that is about rollouts: its row for the JSON and its lines to read."""

from __future__ import annotations

from typing import Any

from floor_rows import lines, measured, outcome, ratios
from rollout_contestants import CONTROLS, POINTS, STATES, STEPS, largest_gap

MOST_FLOORS = 1.7  # times the floor


def row(n: int, steps: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far answers lie apart; of jax, which compiles, no memory."""
    compared, answers = measured("moments", n, steps, rounds, weighed=("floor", "gpnotes"))
    seconds = compared["seconds"]
    return {
        "states": STATES,
        "controls": CONTROLS,
        "points": n,
        "steps": steps,
        **compared,
        "ratio_jax": min(seconds["jax"]) / min(seconds["gpnotes"]),
        "target": {"ratio": MOST_FLOORS, "jax": 1.0},
        "disagreement": largest_gap(answers["gpnotes"], answers["jax"]),
    }


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    text = [
        "",
        f"moments: a rollout of {row['steps']} steps and its gradient, {row['states']} outputs,"
        f" {row['states'] + row['controls']} inputs, {row['points']} points",
        *lines(row),
        f"cost and derivatives of gpnotes and jax differ by at most {row['disagreement']:.1e}",
        f"{ratios(row)}, target {MOST_FLOORS:g} {outcome(row['ratio_of_minima'] <= MOST_FLOORS)};"
        f" jax takes {row['ratio_jax']:.2f} × our time, target 1 {outcome(row['ratio_jax'] >= 1)}",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    print(shown(row(POINTS, STEPS, rounds=15)))
