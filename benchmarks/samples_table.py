"""The part of the benchmark that is about posterior samples: its row for the JSON, its lines."""

from __future__ import annotations

from typing import Any

from floor_rows import lines, measured, outcome, ratios
from sample_contestants import DRAWS, OBSERVATIONS, POINTS, D, largest_gap

MOST_FLOORS = 1.5  # times the floor
_NAMES = ("floor", "gpnotes", "plain NumPy")


def row(n: int, points: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far the draws lie apart."""
    compared, answers = measured("samples", n, points, rounds, weighed=_NAMES)
    return {
        "d": D,
        "observations": n,
        "points": points,
        "draws": DRAWS,
        **compared,
        "target": MOST_FLOORS,
        "disagreement": largest_gap(answers["gpnotes"], answers["plain NumPy"]),
    }


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    text = [
        "",
        f"samples: {row['draws']} draws of f at {row['points']} points in {row['d']} dimensions,"
        f" {row['observations']} observations",
        *lines(row),
        f"draws of gpnotes and plain NumPy differ by at most {row['disagreement']:.1e}",
        f"{ratios(row)}, target {row['target']:g}"
        f" {outcome(row['ratio_of_minima'] <= row['target'])}",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    print(shown(row(OBSERVATIONS, POINTS, rounds=15)))
