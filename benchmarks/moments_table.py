"""The part of the benchmark that is about rollouts: its row for the JSON and its lines to read."""

from __future__ import annotations

from statistics import median
from typing import Any

from measure import peak_bytes, times
from rollout_contestants import CONTROLS, POINTS, STATES, STEPS, largest_gap

MOST_FLOORS = 1.7  # times the floor
_NAMES = ("floor", "gpnotes", "jax")


def row(n: int, steps: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far answers lie apart; jax takes part in every third round."""
    results = times("moments", n, steps, rounds, seldom=3)
    seconds = {name: result["seconds"] for name, result in results.items()}
    answers = {name: result["answer"] for name, result in results.items()}
    least = {name: min(spent) for name, spent in seconds.items()}
    return {
        "states": STATES,
        "controls": CONTROLS,
        "points": n,
        "steps": steps,
        "rounds": rounds,
        "seconds": seconds,
        "ratio": median(a / b for a, b in zip(seconds["gpnotes"], seconds["floor"], strict=True)),
        "ratio_of_minima": least["gpnotes"] / least["floor"],
        "ratio_jax": least["jax"] / least["gpnotes"],
        "target": {"ratio": MOST_FLOORS, "jax": 1.0},
        "disagreement": largest_gap(answers["gpnotes"], answers["jax"]),
        "peak_bytes": {name: peak_bytes("moments", name, n, steps) for name in _NAMES[:2]},
    }


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    lines = [
        "",
        f"moments: a rollout of {row['steps']} steps and its gradient, {row['states']} outputs,"
        f" {row['states'] + row['controls']} inputs, {row['points']} points",
        f"{'':14}{'seconds (least)':>18}{'(median)':>12}{'times the floor':>18}{'peak, MB':>12}",
        *(_line(row, name) for name in _NAMES),
        f"cost and derivatives of gpnotes and jax differ by at most {row['disagreement']:.1e}",
        _verdict(row),
    ]
    return "\n".join(lines)


def _line(row: dict[str, Any], name: str) -> str:
    spent = row["seconds"][name]
    peak = row["peak_bytes"].get(name)
    held = "unknown" if peak is None else f"{peak / 1e6:.1f}"
    ratio = min(spent) / min(row["seconds"]["floor"])
    return f"{name:<14}{min(spent):18.4f}{median(spent):12.4f}{ratio:18.2f}{held:>12}"


def _verdict(row: dict[str, Any]) -> str:
    words = ["MISSED", "reached"]
    return (
        f"{row['ratio_of_minima']:.2f} × the floor (median {row['ratio']:.2f}), target"
        f" {MOST_FLOORS:g} {words[row['ratio_of_minima'] <= MOST_FLOORS]}; jax takes"
        f" {row['ratio_jax']:.2f} × our time, target 1 {words[row['ratio_jax'] >= 1.0]}"
    )


if __name__ == "__main__":
    print(shown(row(POINTS, STEPS, rounds=15)))
