"""The part of the benchmark that is about games: its row for the JSON and its lines to read."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
from game_contestants import PLAYERS, STRATEGIES, GameProblem, by_convolution, largest_gap
from measure import peak_bytes, times

MOST_FLOORS = 2.0  # times the floor, for the closed form
MOST_SECONDS = 4.0  # for the exact method, at the size that the command takes by default
_NAMES = ("floor", "gaussian", "exact", "one by one")


def row(profiles: int, mixtures: int, rounds: int) -> dict[str, Any]:
    """Times, memory, and how far answers lie apart; of the slow ones every fifth round."""
    measured = times("games", profiles, mixtures, rounds, seldom=5)
    problem = GameProblem(profiles, mixtures)
    seconds = {name: contestant["seconds"] for name, contestant in measured.items()}
    ratios = [a / b for a, b in zip(seconds["gaussian"], seconds["floor"], strict=True)]
    return {
        "players": PLAYERS,
        "strategies": STRATEGIES,
        "profiles": profiles,
        "mixtures": mixtures,
        "rounds": rounds,
        "seconds": seconds,
        "ratio": median(ratios),
        "target": {"ratio": MOST_FLOORS, "exact seconds": MOST_SECONDS},
        **_compared(problem, {name: contestant["answer"] for name, contestant in measured.items()}),
        "peak_bytes": {name: peak_bytes("games", name, profiles, mixtures) for name in measured},
    }


def _compared(problem: GameProblem, answers: dict[str, Any]) -> dict[str, float]:
    """Each of our methods with its own slow twin, and with one another."""
    model, mixtures = problem.data
    gaussian, exact = answers["gaussian"], answers["exact"]
    gaps = {
        "gaussian": largest_gap(model.game, gaussian, answers["one by one"]),
        "exact": largest_gap(
            model.game, [part[0] for part in exact], by_convolution(model, mixtures[0])
        ),
    }
    off = np.max(np.abs(gaussian[0] - exact[0])) / np.ptp(exact[0])
    return {"disagreement": max(gaps.values()), "gaps": gaps, "approximation": float(off)}


def shown(row: dict[str, Any]) -> str:
    """A small table and what it says."""
    players, strategies = (" + ".join(map(str, row[key])) for key in ("players", "strategies"))
    lines = [
        "",
        f"games: {row['mixtures']} mixtures of {strategies} strategies, {players} players,"
        f" {row['profiles']} profiles; payoffs and Jacobian",
        f"{'':14}{'seconds (median)':>18}{'times the floor':>18}{'peak, MB':>12}",
        *(_line(row, name) for name in _NAMES),
        f"closed form and one by one differ by at most {row['gaps']['gaussian']:.1e}, exact and"
        f" plain convolution by {row['gaps']['exact']:.1e}; the closed form is off by"
        f" {row['approximation']:.1e} of the payoffs' range",
        _verdict(row),
    ]
    return "\n".join(lines)


def _line(row: dict[str, Any], name: str) -> str:
    spent = median(row["seconds"][name])
    peak = row["peak_bytes"][name]
    held = "unknown" if peak is None else f"{peak / 1e6:.1f}"
    return f"{name:<14}{spent:18.4f}{spent / median(row['seconds']['floor']):18.2f}{held:>12}"


def _verdict(row: dict[str, Any]) -> str:
    words = ["MISSED", "reached"]
    exact = median(row["seconds"]["exact"])
    return (
        f"closed form: {row['ratio']:.2f} × the floor, target {MOST_FLOORS:g}"
        f" {words[row['ratio'] <= MOST_FLOORS]}; exact: {exact:.2f} s, target"
        f" {MOST_SECONDS:g} s {words[exact <= MOST_SECONDS]}"
    )
