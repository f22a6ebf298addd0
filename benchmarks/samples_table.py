"""The part of the benchmark that is about posterior samples: its row for the JSON, its lines."""

from __future__ import annotations

from statistics import median
from typing import Any

from measure import peak_bytes, times
from sample_contestants import DRAWS, OBSERVATIONS, POINTS, D, largest_gap

MOST_FLOORS = 1.5  # times the floor
_NAMES = ("floor", "gpnotes", "plain NumPy")


def row(n: int, points: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far the draws lie apart."""
    measured = times("samples", n, points, rounds, seldom=3)
    seconds = {name: result["seconds"] for name, result in measured.items()}
    answers = {name: result["answer"] for name, result in measured.items()}
    least = {name: min(spent) for name, spent in seconds.items()}
    return {
        "d": D,
        "observations": n,
        "points": points,
        "draws": DRAWS,
        "rounds": rounds,
        "seconds": seconds,
        "ratio": median(a / b for a, b in zip(seconds["gpnotes"], seconds["floor"], strict=True)),
        "ratio_of_minima": least["gpnotes"] / least["floor"],
        "target": MOST_FLOORS,
        "disagreement": largest_gap(answers["gpnotes"], answers["plain NumPy"]),
        "peak_bytes": {name: peak_bytes("samples", name, n, points) for name in _NAMES},
    }


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    lines = [
        "",
        f"samples: {row['draws']} draws of f at {row['points']} points in {row['d']} dimensions,"
        f" {row['observations']} observations",
        f"{'':14}{'seconds (least)':>18}{'(median)':>12}{'times the floor':>18}{'peak, MB':>12}",
        *(_line(row, name) for name in _NAMES),
        f"draws of gpnotes and plain NumPy differ by at most {row['disagreement']:.1e}",
        _verdict(row),
    ]
    return "\n".join(lines)


def _line(row: dict[str, Any], name: str) -> str:
    spent, peak = row["seconds"][name], row["peak_bytes"][name]
    held = "unknown" if peak is None else f"{peak / 1e6:.1f}"
    ratio = min(spent) / min(row["seconds"]["floor"])
    return f"{name:<14}{min(spent):18.4f}{median(spent):12.4f}{ratio:18.2f}{held:>12}"


def _verdict(row: dict[str, Any]) -> str:
    word = "reached" if row["ratio_of_minima"] <= row["target"] else "MISSED"
    ratios = f"{row['ratio_of_minima']:.2f} × the floor (median {row['ratio']:.2f})"
    return f"{ratios}, target {row['target']:g} {word}"


if __name__ == "__main__":
    print(shown(row(OBSERVATIONS, POINTS, rounds=15)))
