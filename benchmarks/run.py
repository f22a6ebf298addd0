"""What runs how fast, against what: ``python benchmarks/run.py`` prints a table, writes a JSON.

gpnotes, scikit-learn and the LAPACK floor work on the same problems in one run, in turns; what they
answer is compared. Ratios are medians over rounds of the ratio within a round. Games, rollouts,
posterior samples, paths, approximations, sums and products of kernels have tables of their own:
`games_table`, `moments_table`, `samples_table`, `paths_table`, `approximations_table`,
`sums_table`; what has no floor stands beside its peers in one, `peers_table`. Each kernel's matrix
and pullback has one that runs by itself, `kernels_table`.
With ``--speed`` the figures go into the README as well, by `speed_table`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import approximations_table
import bound_contestants
import epoch_contestants
import feature_contestants
import games_table
import moments_table
import paths_table
import peers_table
import samples_table
import speed_table
import sum_contestants
import sums_table
from contestants import POINTS, D
from game_contestants import MIXTURES, PROFILES
from measure import disagreement, peak_bytes, times
from rollout_contestants import POINTS as TRANSITIONS
from rollout_contestants import STEPS
from sample_contestants import OBSERVATIONS
from sample_contestants import POINTS as DRAWN_AT

TOLERANCE = 1e-8
# (task, n): at most so many times the floor
TARGETS = {("evidence", 2000): 1.4, ("evidence", 5000): 1.2, ("prediction", 2000): 1.3}
MOST_MATRICES = 3.0  # of n × n numbers at a time, for the evidence
_PARTS = (
    "sum", "product", "games", "moments", "samples", "paths", "features", "bound", "epoch",
)  # fmt: skip
_NAMES = ("floor", "gpnotes", "sklearn")
_HEAD = f"""
{"":20}{"seconds (median)":^33}{"times the floor":^20}{"n × n matrices":^27}
{"task":<14}{"n":>6}{"".join(f"{name:>11}" for name in _NAMES)}{"gpnotes":>9}{"target":>11}\
{"".join(f"{name:>9}" for name in _NAMES)}"""


def main() -> int:
    """Measure, print, write; 1 if answers differ, 0 otherwise, whatever the speed."""
    wanted = _arguments()
    report = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine()}
    print(_about(report["machine"]))
    sizes = [("evidence", n) for n in wanted.sizes] + [("prediction", n) for n in wanted.predict]
    print(_HEAD if sizes else "")
    report["rows"] = [_row(task, n, wanted) for task, n in sizes]
    report["growth"] = growth(report["rows"])
    print(_summary(report))
    for task in ("sum", "product") if wanted.summed else ():
        report[task] = sums_table.row(task, wanted.summed, wanted.rounds or 9)
        print(sums_table.shown(report[task]))
    if wanted.mixtures:
        report["games"] = games_table.row(wanted.profiles, wanted.mixtures, wanted.rounds or 5)
        print(games_table.shown(report["games"]))
    if wanted.steps:
        rounds = wanted.rounds or 15
        report["moments"] = moments_table.row(wanted.transitions, wanted.steps, rounds)
        print(moments_table.shown(report["moments"]))
    if wanted.drawn_at:
        rounds = wanted.rounds or 15
        report["samples"] = samples_table.row(wanted.observations, wanted.drawn_at, rounds)
        print(samples_table.shown(report["samples"]))
        report["paths"] = paths_table.row(wanted.observations, wanted.drawn_at, rounds)
        print(paths_table.shown(report["paths"]))
    for task, n, size in (
        ("features", wanted.featured, feature_contestants.FEATURES),
        ("bound", wanted.bounded, bound_contestants.INDUCING),
        ("epoch", wanted.labelled, epoch_contestants.INDUCING),
    ):
        if n:
            report[task] = approximations_table.row(task, n, size, wanted.rounds or 9)
            print(approximations_table.shown(report[task]))
    if wanted.peers:
        report["peers"] = [
            peers_table.row(task, wanted.peers, wanted.rounds or 5) for task in peers_table.TASKS
        ]
        print(peers_table.shown(report["peers"]))
    wanted.json.parent.mkdir(parents=True, exist_ok=True)
    wanted.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"written to {wanted.json}")
    if wanted.speed:
        speed_table.keep(report)
    compared = (
        report["rows"]
        + report.get("peers", [])
        + [report[part] for part in _PARTS if part in report]
    )
    return int(not all(row["disagreement"] <= TOLERANCE for row in compared))  # NaN too


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=_numbers, default=[500, 1000, 2000, 5000])
    parser.add_argument("--predict", type=_numbers, default=[2000], help="sizes for prediction")
    parser.add_argument("--points", type=int, default=POINTS, help="points to predict at")
    summed = sum_contestants.ROWS
    parser.add_argument("--summed", type=int, default=summed, help="rows; 0 for no sum of kernels")
    parser.add_argument("--mixtures", type=int, default=MIXTURES, help="of the game; 0 for none")
    parser.add_argument("--profiles", type=int, default=PROFILES, help="samples of the game")
    parser.add_argument("--steps", type=int, default=STEPS, help="of the rollout; 0 for none")
    parser.add_argument("--transitions", type=int, default=TRANSITIONS, help="known to its GPs")
    parser.add_argument(
        "--drawn-at", type=int, default=DRAWN_AT, help="points; 0 for no samples, no paths"
    )
    parser.add_argument("--observations", type=int, default=OBSERVATIONS, help="before samples")
    rows = feature_contestants.ROWS, bound_contestants.ROWS, epoch_contestants.ROWS
    parser.add_argument("--featured", type=int, default=rows[0], help="rows; 0 for no features")
    parser.add_argument("--bounded", type=int, default=rows[1], help="rows; 0 for no bound")
    parser.add_argument("--labelled", type=int, default=rows[2], help="rows; 0 for no epoch")
    parser.add_argument("--peers", type=int, default=peers_table.SIZE, help="readings; 0 for none")
    parser.add_argument("--rounds", type=int, help="rounds for every size; else fewer for large n")
    parser.add_argument("--speed", action="store_true", help="and into the table of the README")
    parser.add_argument("--json", type=Path, default=Path("build/benchmarks.json"))
    given = parser.parse_args()
    free = ("rounds", "speed", "json")
    changed = [name for name, value in vars(given).items() if value != parser.get_default(name)]
    sized = [f"--{name.replace('_', '-')}" for name in changed if name not in free]
    if given.speed and sized:
        parser.error(f"--speed is for the usual sizes; leave out {', '.join(sized)}")
    return given


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def _row(task: str, n: int, wanted: argparse.Namespace) -> dict[str, Any]:
    rounds = wanted.rounds or (15 if n <= 2000 else 5)
    results = times(task, n, wanted.points, rounds, seldom=3 if n <= 2000 else 5)
    row = {"task": task, "n": n, "d": D, "points": wanted.points, "rounds": rounds}
    row["disagreement"] = disagreement(results)
    row["seconds"] = {name: result["seconds"] for name, result in results.items()}
    row["ratio"] = _ratio(row["seconds"], "gpnotes")
    row["ratio_of_minima"] = min(row["seconds"]["gpnotes"]) / min(row["seconds"]["floor"])
    row["ratio_scikit_learn"] = _ratio(row["seconds"], "scikit-learn", step=3 if n <= 2000 else 5)
    row["target"] = TARGETS.get((task, n))
    row["peak_bytes"] = {name: peak_bytes(task, name, n, wanted.points) for name in results}
    print(_line(row), flush=True)
    return row


def _ratio(seconds: dict[str, list[float]], name: str, step: int = 1) -> float:
    pairs = zip(seconds[name], seconds["floor"][::step], strict=True)
    return median(ours / floor for ours, floor in pairs)


def _line(row: dict[str, Any]) -> str:
    medians = "".join(f"{median(s):11.4f}" for s in row["seconds"].values())
    target = "" if row["target"] is None else f"≤ {row['target']}"
    peaks = "".join(f"{_matrices(row, name):9.1f}" for name in row["peak_bytes"])
    return f"{row['task']:<14}{row['n']:>6}{medians}{row['ratio']:9.2f}{target:>11}{peaks}"


def _matrices(row: dict[str, Any], name: str) -> float:
    """Peak memory in matrices of n × n float64 numbers; NaN where it could not be seen."""
    peak = row["peak_bytes"][name]
    return math.nan if peak is None else peak / (8 * row["n"] ** 2)


def growth(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Exponents of time and memory in n for the evidence, between the two largest sizes."""
    last = sorted((row for row in rows if row["task"] == "evidence"), key=lambda row: row["n"])[-2:]
    if len(last) < 2:
        return {}
    return {name: _exponents(*last, name) for name in last[0]["seconds"]}


def _exponents(small: dict[str, Any], large: dict[str, Any], name: str) -> dict[str, float]:
    step = math.log(large["n"] / small["n"])
    spent = [median(row["seconds"][name]) for row in (small, large)]
    held = [row["peak_bytes"][name] for row in (small, large)]
    exponents = {"time": math.log(spent[1] / spent[0]) / step}
    if all(held):
        exponents["memory"] = math.log(held[1] / held[0]) / step
    return exponents


def _summary(report: dict[str, Any]) -> str:
    rows = report["rows"]
    lines = []
    if rows:
        worst = max(row["disagreement"] for row in rows)
        lines += ["", f"answers of gpnotes and scikit-learn differ by at most {worst:.1e}"]
        lines[-1] += f" (allowed {TOLERANCE})"
    lines += [_verdict(row) for row in rows if row["target"] is not None]
    for name, exponents in report["growth"].items():
        words = ", ".join(f"{what} as n^{value:.2f}" for what, value in exponents.items())
        lines.append(f"growth of {name}: {words}")
    return "\n".join(lines)


def _verdict(row: dict[str, Any]) -> str:
    word = "reached" if row["ratio"] <= row["target"] else "MISSED"
    verdict = f"{row['ratio']:.2f} × the floor (minima {row['ratio_of_minima']:.2f}), target {word}"
    if row["task"] == "evidence":
        held = _matrices(row, "gpnotes")
        verdict += f"; {held:.1f} matrices, at most {MOST_MATRICES:g} wanted"
    theirs = f"scikit-learn {row['ratio_scikit_learn']:.1f} ×"
    return f"{row['task']} at n = {row['n']}: {verdict}; {theirs}"


def machine() -> dict[str, Any]:
    """The processor, the libraries and their threads: what the seconds depend on."""
    names = ("numpy", "scipy", "scikit-learn", "jax", "gpnotes")
    return {
        "processor": _processor("model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in names},
        "blas": _blas(),
        "old_kernels": _old_kernels(),
    }


def _processor(field: str) -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith(field)), "")


def _blas() -> list[dict[str, Any]]:
    import scipy.linalg  # noqa: F401  (loaded, so that it can be asked about)
    from threadpoolctl import threadpool_info

    keys = ("internal_api", "version", "architecture", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in threadpool_info()]


def _old_kernels() -> bool:
    """Whether OpenBLAS does not know this processor, and leaves its wide registers unused."""
    wide = "avx512f" in _processor("flags").split()
    return wide and any(pool["architecture"] in ("Haswell", "Zen") for pool in _blas())


def _about(machine: dict[str, Any]) -> str:
    blas = ", ".join(
        f"{pool['internal_api']} {pool['version']} ({pool['architecture']}, "
        f"{pool['num_threads']} threads)"
        for pool in machine["blas"]
    )
    about = f"{machine['processor']}, {machine['cores']} cores, load {machine['load']}; {blas}"
    if machine["old_kernels"]:
        about += (
            "\nOpenBLAS runs kernels of an older processor; OPENBLAS_CORETYPE=SkylakeX may help"
        )
    return about


if __name__ == "__main__":
    sys.exit(main())
