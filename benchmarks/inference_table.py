"""Ellipses, no U-turns, a network and a deep process: four lines, each beside a floor or a rival.

``python benchmarks/inference_table.py`` counts the processor's seconds of one thread, and takes the
least of some rounds; contestants take turns, and answers are compared with those of plain NumPy or
of jax, where it is installed. It ends in an error where they differ. ``--only ellipse no-u-turn
network deep`` chooses, ``--chain`` says how many draws the chain has whose effective draws are
counted, 0 for none: it takes a minute.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import processor_time  # isort: skip  (it sets the threads)
import chain_contestants as chains
import deep_contestants
import network_contestants
import numpy as np

TOLERANCE = 1e-7
CHAIN = 300  # draws, after a third as many steps of warm-up
LINES = ("ellipse", "no-u-turn", "network", "deep")


def row(name: str, rounds: int, chain: int = CHAIN, **size: int) -> dict[str, Any]:
    """The least seconds of each, what is wanted, and how far the answers lie apart."""
    found = _ROWS[name](rounds, **size)
    if name == "no-u-turn" and chain:
        found["chain"] = _chain(chains.HyperProblem(**size), chain)
    return {"name": name, **found}


def _timed(calls: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], Any]:
    seconds = processor_time.in_turns(calls, rounds)
    return {name: min(spent) for name, spent in seconds.items()}, {n: c() for n, c in calls.items()}


def _ellipse(rounds: int, **size: int) -> dict[str, Any]:
    problem = chains.LabelProblem(**size)
    calls = {"gpnotes": chains.our_ellipses(problem), "plain NumPy": chains.plain_ellipses(problem)}
    seconds, answers = _timed(calls, rounds)
    (ours, error), (theirs, other) = answers.values()
    return {
        "said": f"elliptical slice, {problem.n} labels, factor given: draws a second",
        "figures": {name: problem.draws / spent for name, spent in seconds.items()},
        "least": 5000.0,
        "off": abs(ours - theirs) / float(np.hypot(error, other)),
    }


def _no_u_turn(rounds: int, **size: int) -> dict[str, Any]:
    problem = chains.HyperProblem(**size)
    calls = {
        "floor": chains.floor_of_gradient(problem), "gpnotes": chains.our_gradient(problem),
        "plain NumPy": chains.plain_gradient(problem),
    }  # fmt: skip
    if find_spec("jax"):
        calls["jax"] = chains.gradient_by_jax(problem)
    seconds, answers = _timed(calls, rounds)
    return {
        "said": f"no U-turn, ten hyperparameters of {problem.n} readings: gradients a second",
        "figures": {name: 1.0 / spent for name, spent in seconds.items()}, "least": 220.0,
        "disagreement": _gap(answers),
    }  # fmt: skip


def _network(rounds: int, **size: int) -> dict[str, Any]:
    problem = network_contestants.NetworkProblem(**size)
    said = f"2 × {problem.width} neurons, {problem.n} rows, {problem.steps} steps of Adam"
    return _beside_floor(network_contestants, problem, rounds, said, 1.5)


def _deep(rounds: int, **size: int) -> dict[str, Any]:
    problem = deep_contestants.DeepProblem(**size)
    said = f"deep bound and gradient, two layers, {problem.n} rows, {problem.points} points a unit"
    return _beside_floor(deep_contestants, problem, rounds, said, 1.7)


def _beside_floor(who: Any, problem: Any, rounds: int, said: str, most: float) -> dict[str, Any]:
    calls = {"floor": who.floor(problem), "gpnotes": who.ours(problem)}
    if find_spec("jax"):
        calls["jax"] = who.by_jax(problem)
    seconds, answers = _timed(calls, rounds)
    times = {name: spent / seconds["floor"] for name, spent in seconds.items()}
    return {
        "said": f"{said}: times the floor of {seconds['floor']:.4f} s", "figures": times,
        "most": most, "disagreement": _gap(answers),
    }  # fmt: skip


_ROWS = {"ellipse": _ellipse, "no-u-turn": _no_u_turn, "network": _network, "deep": _deep}


def _gap(answers: dict[str, Any]) -> float:
    """Relative to the largest entry; zero where there is nobody to differ from."""
    ours = answers["gpnotes"]
    others = [answers[name] for name in ("jax", "plain NumPy") if name in answers] or [ours]
    return max(float(np.max(np.abs(ours - a)) / np.max(np.abs(a))) for a in others)


def _chain(problem: chains.HyperProblem, draws: int) -> dict[str, float]:
    before = time.process_time()
    effective, gradients = chains.our_chain(problem, draws)
    spent = time.process_time() - before
    return {"effective": effective / spent, "gradients": gradients / spent, "seconds": spent}


def shown(row: dict[str, Any]) -> str:
    """The figures, what is wanted, and how far answers lie apart."""
    figures = ", ".join(f"{name} {value:.4g}" for name, value in row["figures"].items())
    ours = row["figures"]["gpnotes"]
    if "least" in row:
        wanted, reached = f"at least {row['least']:g}", ours >= row["least"]
    else:
        wanted, reached = f"at most {row['most']:g}", ours <= row["most"]
    lines = [f"{row['said']}: {figures}; {wanted} {'reached' if reached else 'MISSED'}"]
    if chain := row.get("chain"):
        lines.append(
            f"  a chain with its warm-up, {chain['seconds']:.0f} s: {chain['effective']:.3g} "
            f"effective draws and {chain['gradients']:.4g} gradients a second; at least 5 and 220"
        )
    apart = f"{row['off']:.1f} standard errors" if "off" in row else f"{row['disagreement']:.1e}"
    return "\n".join([*lines, f"  answers differ by {apart}"])


def agreed(row: dict[str, Any]) -> bool:
    """Whether the answers are the same, to rounding or to what chains can tell."""
    return row["off"] < 5.0 if "off" in row else row["disagreement"] <= TOLERANCE


def main() -> int:
    """Measure and print; 1 if answers differ, 0 otherwise, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=LINES, default=LINES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--chain", type=int, default=CHAIN)
    wanted = parser.parse_args()
    rows = []
    for name in wanted.only:
        rows.append(row(name, wanted.rounds, wanted.chain))
        print(shown(rows[-1]), flush=True)
    return int(not all(map(agreed, rows)))


if __name__ == "__main__":
    sys.exit(main())
