"""The tests of arrays and a few tasks on a GPU: ``python benchmarks/gpu_table.py``, or `make gpu`.

The suite runs first, then each task on NumPy's arrays and on CuPy's in both precisions, in turns;
what they answer is compared. The figures are kept as `gpu.json`, with the device and the day, and a
table of them goes into `benchmarks/README.md`, a line into the README. Where there is no device
nothing is written, and the refusal says what is missing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gpnotes import (
    GP,
    RBF,
    FeatureGP,
    SparseGP,
    condition,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.infer.features import draw_frequencies

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "gpu.json"
PAGE, README = ROOT / "benchmarks" / "README.md", ROOT / "README.md"
BETWEEN = re.compile(r"(?<=<!-- gpu: begin -->\n).*?(?=<!-- gpu: end -->)", re.DOTALL)
LINE = re.compile(r"^- CuPy: .*$", re.MULTILINE)
PLACES = ("NumPy", "CuPy", "CuPy float32")
CLOSE = 1e-6  # of the largest entry, between NumPy's answer and CuPy's in float64
D = 8

Arrays = Callable[[np.ndarray], Any]
Task = Callable[[Arrays, int], Callable[[], Any]]


def refusal() -> str | None:
    """Why nothing can be run here; None where CuPy has a device."""
    wanted = "make gpu needs CuPy with a GPU of NVIDIA's"
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        extra = ".venv/bin/python -m pip install '.[gpu-cuda12]' (or gpu-cuda13)"
        return f"{wanted}; CuPy is not installed: {extra}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as problem:  # noqa: BLE001  whatever a driver says against it is the reason
        return f"{wanted}; there is no device: {problem}"
    return None if count else f"{wanted}; there is no device"


def suite() -> dict[str, int]:
    """How many tests of arrays passed, failed and were skipped on the device."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:nbval",
        "--namespace",
        "cupy",
        "tests",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout[-3000:])
    return counts(done.stdout)


def counts(shown: str) -> dict[str, int]:
    """The numbers in the line with which pytest ends."""
    closing = next((s for s in reversed(shown.splitlines()) if re.search(r" in [\d.]+s", s)), "")
    found = {
        kind: int(n) for n, kind in re.findall(r"(\d+) (passed|failed|skipped|error)", closing)
    }
    if not found.get("passed"):
        raise SystemExit(f"the tests did not run: {shown[-2000:]}")
    return found


def _data(arrays: Arrays, n: int) -> tuple[GP, Any, Any, np.random.Generator]:
    """A process of eight inputs and its readings, in the kind of `arrays`."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D))
    y = np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=n)
    return GP(RBF(1.3, arrays(np.linspace(1.5, 3.0, D))), 0.1), arrays(X), arrays(y), rng


def evidence(arrays: Arrays, n: int) -> Callable[[], Any]:
    gp, X, y, _ = _data(arrays, n)
    return lambda: log_evidence_and_gradient(gp, X, y)[1].kernel.lengthscale


def prediction(arrays: Arrays, n: int) -> Callable[[], Any]:
    gp, X, y, rng = _data(arrays, n)
    posterior, Xs = condition(gp, X, y), arrays(rng.normal(size=(5000, D)))
    return lambda: posterior.predict(Xs)[1]


def inducing(arrays: Arrays, n: int) -> Callable[[], Any]:
    gp, X, y, _ = _data(arrays, n)
    model = SparseGP(gp, X[: min(500, n), :])
    return lambda: log_evidence_and_gradient(model, X, y)[1].gp.kernel.lengthscale


def features(arrays: Arrays, n: int) -> Callable[[], Any]:
    gp, X, y, _ = _data(arrays, n)
    model = FeatureGP(gp, draw_frequencies(gp.kernel, X, 500, rng=1))
    return lambda: condition(model, X, y).mean(X[:1000, :])


TASKS: dict[str, tuple[Task, tuple[int, ...]]] = {
    "evidence and gradient": (evidence, (1000, 2000, 5000, 10_000)),
    "mean and variance at 5000 points": (prediction, (5000,)),
    "500 inducing points: bound and gradient": (inducing, (100_000,)),
    "500 random features: weights and 1000 means": (features, (100_000,)),
}


def rows(tasks: Mapping[str, tuple[Task, tuple[int, ...]]], rounds: int) -> list[dict[str, Any]]:
    """For each task and size the median seconds in each place."""
    return [
        {"task": name, "n": n, "seconds": timed(task, n, rounds)}
        for name, (task, sizes) in tasks.items()
        for n in sizes
    ]


def timed(task: Task, n: int, rounds: int) -> dict[str, float]:
    """Median seconds of a task in each place; an error where CuPy says another thing than NumPy."""
    calls = {place: task(arrays, n) for place, arrays in _places().items()}
    answers = {place: to_numpy(call()) for place, call in calls.items()}  # libraries load meanwhile
    gap = np.max(np.abs(answers["CuPy"] - answers["NumPy"])) / np.max(np.abs(answers["NumPy"]))
    if not gap < CLOSE:
        raise AssertionError(f"{task.__name__} of {n}: CuPy and NumPy differ by {gap:.3g}")
    return in_turns(calls, rounds, _seconds)


def in_turns(
    calls: Mapping[str, Callable[[], Any]], rounds: int, seconds: Callable[[Any], float]
) -> dict[str, float]:
    """Median seconds of each call, one of each a round, so that a busy machine is so for all."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            spent[name].append(seconds(call))
    return {name: median(taken) for name, taken in spent.items()}


def _places() -> dict[str, Arrays]:
    cupy = importlib.import_module("cupy")
    return {
        "NumPy": np.asarray,
        "CuPy": cupy.asarray,
        "CuPy float32": lambda a: cupy.asarray(a, dtype=cupy.float32),
    }


def _seconds(call: Callable[[], Any]) -> float:
    """Until the device has done what it was told; telling it takes no time."""
    device = importlib.import_module("cupy").cuda.Device()
    device.synchronize()
    start = time.perf_counter()
    call()
    device.synchronize()
    return time.perf_counter() - start


def about() -> dict[str, Any]:
    """The device, the libraries, the processor beside it, and the day."""
    cupy = importlib.import_module("cupy")
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "cupy": cupy.__version__,
        "host": f"{os.cpu_count()} cores of {platform.processor() or platform.machine()}",
        "day": datetime.now(UTC).date().isoformat(),
    }


def table(kept: Mapping[str, Any] | None) -> str:
    """What stands between the two comments of the page."""
    if kept is None:
        return "No GPU has run this so far: there are no figures.\n"
    head = [f"| task | n | {' | '.join(PLACES)} |", f"| --- | --- |{' --- |' * len(PLACES)}"]
    lines = [
        f"| {row['task']} | {row['n']} | "
        + " | ".join(f"{row['seconds'][place]:.3g} s" for place in PLACES)
        + " |"
        for row in kept["rows"]
    ]
    where = f"{kept['device']}, CuPy {kept['cupy']}; NumPy on {kept['host']}"
    tests = ", ".join(f"{n} {kind}" for kind, n in kept["tests"].items())
    last = f"{where}; {kept['day']}. Tests of arrays, on {_tested_on(kept)}: {tests}."
    return "\n".join([*head, *lines, "", last, ""])


def _tested_on(kept: Mapping[str, Any]) -> str:
    """Return the device of the tests: that of the times, unless another is named."""
    return kept.get("tests_on", kept["device"])


def line(kept: Mapping[str, Any] | None) -> str:
    """What the README says of it."""
    if kept is None:
        return (
            "- CuPy: tested on a stand-in with its rules, on no GPU so far "
            "([`make gpu`](benchmarks/README.md))."
        )
    passed, failed, errors = (kept["tests"].get(kind, 0) for kind in ("passed", "failed", "error"))
    said = f"{passed} of {passed + failed + errors} tests of arrays passed on {_tested_on(kept)}"
    return f"- CuPy: {said}, CuPy {kept['cupy']}, {kept['day']} ([table](benchmarks/README.md))."


def write(kept: Mapping[str, Any] | None, page: Path = PAGE, readme: Path = README) -> None:
    """Put the table and the line where they belong."""
    for path, place, said in ((page, BETWEEN, table(kept)), (readme, LINE, line(kept))):
        text = path.read_text("utf-8")
        if not place.search(text):
            raise ValueError(f"{path.name} has no place for it: {place.pattern}")
        path.write_text(place.sub(lambda _, said=said: said, text), encoding="utf-8")


def read(path: Path = KEPT) -> dict[str, Any] | None:
    """What was kept; None where no GPU has run it."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def main() -> int:
    """Run all of it, keep it and write it down; an exit status of 2 where there is no device."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    if (said := refusal()) is not None:
        print(said, file=sys.stderr)
        return 2
    kept = {**about(), "tests": suite(), "rows": rows(TASKS, rounds)}
    KEPT.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    write(kept)
    print(table(kept))
    return int(bool(kept["tests"].get("failed", 0) + kept["tests"].get("error", 0)))


if __name__ == "__main__":
    sys.exit(main())
