"""The part of the benchmark that is about paths: its row for the JSON, its lines."""

from __future__ import annotations

from typing import Any

from floor_rows import lines, measured, outcome, ratios
from path_contestants import FEATURES
from sample_contestants import DRAWS, OBSERVATIONS, POINTS, D, largest_gap

MOST_JOINT_FLOORS = 2.3  # times what a joint draw at the same points takes at least
_NAMES = ("floor", "gpnotes", "plain NumPy", "joint floor")


def row(n: int, points: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far the paths lie apart."""
    compared, answers = measured("paths", n, points, rounds, weighed=_NAMES)
    seconds = compared["seconds"]
    return {
        "d": D,
        "observations": n,
        "points": points,
        "draws": DRAWS,
        "features": FEATURES,
        **compared,
        "ratio_to_joint": min(seconds["gpnotes"]) / min(seconds["joint floor"]),
        "target": MOST_JOINT_FLOORS,
        "disagreement": largest_gap(answers["gpnotes"], answers["plain NumPy"]),
    }


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    text = [
        "",
        f"paths: {row['draws']} functions of {row['features']} features, drawn and asked for values"
        f" at {row['points']} points in {row['d']} dimensions, {row['observations']} observations",
        *lines(row),
        f"paths of gpnotes and plain NumPy differ by at most {row['disagreement']:.1e}",
        f"{ratios(row)}; {row['ratio_to_joint']:.2f} × the floor of joint draws,"
        f" target {row['target']:g} {outcome(row['ratio_to_joint'] <= row['target'])}",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    print(shown(row(OBSERVATIONS, POINTS, rounds=15)))
