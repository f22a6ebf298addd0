"""What is told of any task beside its floor: the numbers of its row, and the lines that show them.

The tables of samples and of rollouts share it; what only one of them has stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from measure import peak_bytes, times

HEAD = f"{'':14}{'seconds (least)':>18}{'(median)':>12}{'times the floor':>18}{'peak, MB':>12}"


def measured(
    task: str, n: int, points: int, rounds: int, weighed: Iterable[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Seconds, their ratios and the memory of those `weighed`; and what each contestant answered.

    Who is slow takes part in every third round.
    """
    results = times(task, n, points, rounds, seldom=3)
    seconds = {name: result["seconds"] for name, result in results.items()}
    ratios = (a / b for a, b in zip(seconds["gpnotes"], seconds["floor"], strict=True))
    row = {
        "rounds": rounds,
        "seconds": seconds,
        "ratio": median(ratios),
        "ratio_of_minima": min(seconds["gpnotes"]) / min(seconds["floor"]),
        "peak_bytes": {name: peak_bytes(task, name, n, points) for name in weighed},
    }
    return row, {name: result["answer"] for name, result in results.items()}


def lines(row: Mapping[str, Any]) -> list[str]:
    """The head, and a line for each contestant."""
    return [HEAD, *(_line(row, name) for name in row["seconds"])]


def _line(row: Mapping[str, Any], name: str) -> str:
    spent = row["seconds"][name]
    peak = row["peak_bytes"].get(name)
    held = "unknown" if peak is None else f"{peak / 1e6:.1f}"
    ratio = min(spent) / min(row["seconds"]["floor"])
    return f"{name:<14}{min(spent):18.4f}{median(spent):12.4f}{ratio:18.2f}{held:>12}"


def ratios(row: Mapping[str, Any]) -> str:
    """How many times the floor, by the least seconds and by the median of the rounds."""
    return f"{row['ratio_of_minima']:.2f} × the floor (median {row['ratio']:.2f})"


def outcome(reached: bool) -> str:
    """The word behind a target."""
    return "reached" if reached else "MISSED"
