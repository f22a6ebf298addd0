"""The tests of arrays and a few tasks on a GPU: ``python benchmarks/gpu_table.py``, or `make gpu`.

The suite runs first, in processes, then each task on NumPy's arrays, on those of the libraries that
have the device, and by hand in theirs (`gpu_rivals`), in turns; what they answer is compared. The
figures are kept as `gpu.json`, with the device and the day, and a table of them goes into
`benchmarks/README.md`, a line into the README. It takes some three minutes: a task that would begin
later is left out, and said to be. Where there is no device nothing is written, and the refusal says
what is missing.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import gpu_rivals as rivals
import numpy as np

from gpnotes import (
    GP,
    RBF,
    SVGP,
    FeatureGP,
    Gaussian,
    SparseGP,
    condition,
    fit,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.infer import svgp
from gpnotes.infer.features import draw_frequencies

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "gpu.json"
PAGE, README = ROOT / "benchmarks" / "README.md", ROOT / "README.md"
BETWEEN = re.compile(r"(?<=<!-- gpu: begin -->\n).*?(?=<!-- gpu: end -->)", re.DOTALL)
LINE = re.compile(r"^- CuPy: .*$", re.MULTILINE)
CLOSE = {"float64": 1e-6, "float32": 0.2}  # of the largest entry, from the answer in float64
D = rivals.D
POINTS, BATCH, STEPS = 500, 1024, 40
PROCESSES = 14
SECONDS = 75.0  # for the tasks, beside some 100 for the tests
EACH = 1.5  # seconds after which a call is not timed again
WITHOUT = ("book", "notebooks", "editorial")  # folders without tests of arrays

Arrays = Callable[[np.ndarray], Any]
Call = Callable[[], Any]


class Task(NamedTuple):
    """How a task is called with arrays of one kind, of n rows; and by hand in other libraries.

    A call does it `per` times. NumPy is asked for at most so many rows.
    """

    call: Callable[[Arrays, int], Call]
    sizes: tuple[int, ...]
    by_hand: Mapping[str, Callable[[int, str], Call]] = {}
    per: int = 1
    most_of_numpy: int = 100_000
    compared: bool = True


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


def of_suite() -> list[str]:
    """The command that runs the tests of arrays on the device.

    In processes, where pytest-xdist is there. Plugins that stand around are left out: a warning of
    theirs is an error here.
    """
    command = [sys.executable, "-m", "pytest", "-q", "--namespace", "cupy", "tests"]
    for plugin in ("nbval", "benchmark", "cacheprovider"):
        command += ["-p", f"no:{plugin}"]
    for folder in WITHOUT:
        command += ["--ignore", f"tests/{folder}"]
    if importlib.util.find_spec("xdist"):
        command += ["-n", str(min(PROCESSES, os.cpu_count() or 1))]
    return command


def suite() -> dict[str, int]:
    """How many tests of arrays passed, failed and were skipped on the device."""
    done = subprocess.run(of_suite(), cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
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


def _rows_of(n: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D))
    return X, np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=n), rng


def _data(arrays: Arrays, n: int) -> tuple[GP, Any, Any, np.random.Generator]:
    """A process of eight inputs and its readings, in the kind of `arrays`."""
    X, y, rng = _rows_of(n)
    gp = GP(RBF(rivals.VARIANCE, arrays(rivals.LENGTHS)), rivals.NOISE)
    return gp, arrays(X), arrays(y), rng


def evidence(arrays: Arrays, n: int) -> Call:
    gp, X, y, _ = _data(arrays, n)
    return lambda: log_evidence_and_gradient(gp, X, y)[1].kernel.lengthscale


def prediction(arrays: Arrays, n: int) -> Call:
    return _predicting(arrays, n, 5000)


def one_row(arrays: Arrays, n: int) -> Call:
    return _predicting(arrays, n, 1)


def _predicting(arrays: Arrays, n: int, m: int) -> Call:
    gp, X, y, rng = _data(arrays, n)
    posterior, Xs = condition(gp, X, y), arrays(rng.normal(size=(m, D)))
    return lambda: posterior.predict(Xs)[1]


def inducing(arrays: Arrays, n: int) -> Call:
    gp, X, y, _ = _data(arrays, n)
    model = SparseGP(gp, X[: min(POINTS, n), :])
    return lambda: log_evidence_and_gradient(model, X, y)[1].gp.kernel.lengthscale


def batches(arrays: Arrays, n: int) -> Call:
    gp, X, y, _ = _data(arrays, n)
    model = SVGP(GP(gp.kernel, 0.0), Gaussian(rivals.NOISE), X[: min(POINTS, n), :])
    how = {"minibatches": svgp.Minibatches(min(BATCH, n)), "max_steps": STEPS, "rng": 0}
    return lambda: fit(model, X, y, **how).posterior.weights


def features(arrays: Arrays, n: int) -> Call:
    gp, X, y, _ = _data(arrays, n)
    model = FeatureGP(gp, draw_frequencies(gp.kernel, X, POINTS, rng=1))
    return lambda: condition(model, X, y).mean(X[:1000, :])


def _evidence_by(make: Callable[[rivals.Data, str], Call]) -> Callable[[int, str], Call]:
    return lambda n, dtype: make(_rows_of(n)[:2], dtype)


def _predicted_by_torch(n: int, dtype: str) -> Call:
    X, y, rng = _rows_of(n)
    return rivals.torch_prediction((X, y), dtype, rng.normal(size=(5000, D)))


TASKS: dict[str, Task] = {
    "evidence and gradient": Task(
        evidence,
        (500, 2000, 5000, 10_000),
        {
            "torch by hand": _evidence_by(rivals.torch_evidence),
            "GPyTorch": _evidence_by(rivals.gpytorch_evidence),
            "jax by hand": _evidence_by(rivals.jax_evidence),
        },
        most_of_numpy=5000,
    ),
    "mean and variance at 5000 points": Task(
        prediction, (5000,), {"torch by hand": _predicted_by_torch}
    ),
    "500 inducing points: bound and gradient": Task(
        inducing,
        (100_000, 1_000_000),
        {"torch by hand": lambda n, t: rivals.torch_inducing(_rows_of(n)[:2], t, POINTS)},
    ),
    "a batch of 1024 with its step, 500 inducing points": Task(
        batches,
        (100_000,),
        {
            "GPyTorch": lambda n, t: rivals.gpytorch_batches(
                _rows_of(n)[:2], t, POINTS, BATCH, STEPS
            )
        },
        per=STEPS,
        most_of_numpy=1000,
        compared=False,
    ),
    "mean and variance at one point": Task(one_row, (200,)),
    "500 random features: weights and 1000 means": Task(features, (100_000,)),
}


def rows(
    tasks: Mapping[str, Task], rounds: int, seconds: float = SECONDS
) -> Iterator[dict[str, Any]]:
    """For each task and size the median seconds in each place, as long as there is time."""
    start = time.perf_counter()
    for name, task in tasks.items():
        for n in task.sizes:
            if time.perf_counter() - start > seconds:
                print(f"left out for want of time: {name}, {n}", flush=True)
                continue
            row = {"task": name, "n": n, "seconds": timed(name, n, rounds, task)}
            print(json.dumps(row), flush=True)
            yield row


def timed(name: str, n: int, rounds: int, task: Task) -> dict[str, float]:
    """Median seconds of a task in each place; an error where one says another thing than NumPy.

    Or than CuPy, where NumPy would take too long. A rival that fails is said to, and has no time.
    """
    makers = {place: (lambda a=a: task.call(a, n)) for place, a in _places(n, task).items()}
    calls = {place: make() for place, make in makers.items()}
    answers = {place: _answer(call) for place, call in calls.items()}  # libraries load meanwhile
    for place, make in _by_hand(task, n).items():
        try:
            calls[place] = make()
            answers[place] = _answer(calls[place])
        except Exception as problem:  # noqa: BLE001  a rival's own failure, which is told
            calls.pop(place, None)
            print(f"{name}, {n}: {place} failed: {type(problem).__name__}: {problem}", flush=True)
    if task.compared:
        _compare(f"{name} of {n}", answers)
    taken = in_turns(calls, rounds, _seconds)
    _forget()
    return {place: spent / task.per for place, spent in taken.items()}


def _answer(call: Call) -> np.ndarray | None:
    answer = call()
    return None if answer is None else np.asarray(to_numpy(answer), dtype=np.float64)


def _compare(name: str, answers: Mapping[str, np.ndarray | None]) -> None:
    """CuPy's answer in float64 is that of NumPy; another that is not near it is said to be so."""
    first, wanted = next((place, a) for place, a in answers.items() if a is not None)
    for place, answer in answers.items():
        if answer is None:
            continue
        gap = np.max(np.abs(answer - wanted)) / np.max(np.abs(wanted))
        if not gap < CLOSE["float32" if place.endswith("float32") else "float64"]:
            said = f"{name}: {place} and {first} differ by {gap:.3g}"
            if place == "CuPy":
                raise AssertionError(said)
            print(said, flush=True)


def in_turns(
    calls: Mapping[str, Call], rounds: int, seconds: Callable[[Any], float]
) -> dict[str, float]:
    """Median seconds of each call, one of each a round, so that a busy machine is so for all.

    A call that has taken more than `EACH` is not repeated.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if sum(spent[name]) <= EACH:
                spent[name].append(seconds(call))
    return {name: median(taken) for name, taken in spent.items()}


def _places(n: int, task: Task) -> dict[str, Arrays]:
    """The kinds of arrays that the package is given."""
    cupy = importlib.import_module("cupy")
    found: dict[str, Arrays] = {"NumPy": np.asarray} if n <= task.most_of_numpy else {}
    found["CuPy"] = cupy.asarray
    found["CuPy float32"] = lambda a: cupy.asarray(a, dtype=cupy.float32)
    if task.by_hand:
        if rivals.with_device("torch"):
            found["torch's arrays"] = rivals.tensor
        if rivals.with_device("jax"):
            found["jax's arrays"] = rivals.in_jax
    return found


def _by_hand(task: Task, n: int) -> dict[str, Callable[[], Call]]:
    """The calls of other libraries that have the device, in both precisions."""
    return {
        place + ("" if dtype == "float64" else " float32"): (lambda m=make, t=dtype: m(n, t))
        for place, make in task.by_hand.items()
        if rivals.with_device(place.split()[0].lower())
        for dtype in CLOSE
    }


def _wait() -> None:
    """Until the device has done what it was told; telling it takes no time."""
    importlib.import_module("cupy").cuda.Device().synchronize()
    if rivals.with_device("torch"):
        importlib.import_module("torch").cuda.synchronize()


def _forget() -> None:
    """Give back what the libraries keep of the device's memory, so that each has room."""
    importlib.import_module("cupy").get_default_memory_pool().free_all_blocks()
    if rivals.with_device("torch"):
        importlib.import_module("torch").cuda.empty_cache()


def _seconds(call: Call) -> float:
    _wait()
    start = time.perf_counter()
    answer = call()
    getattr(answer, "block_until_ready", _wait)()  # JAX's arrays have their own way to wait
    return time.perf_counter() - start


def about() -> dict[str, Any]:
    """The device, the libraries, the processor beside it, and the day."""
    cupy = importlib.import_module("cupy")
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    found = {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "cupy": cupy.__version__,
        "host": f"{os.cpu_count()} cores of {platform.processor() or platform.machine()}",
        "day": datetime.now(UTC).date().isoformat(),
    }
    for library in ("torch", "gpytorch", "jax"):
        if rivals.with_device(library):
            found[library] = importlib.import_module(library).__version__
    return found


def columns(kept: Mapping[str, Any]) -> list[str]:
    """The places of all rows, in the order in which they come."""
    return list(dict.fromkeys(place for row in kept["rows"] for place in row["seconds"]))


def table(kept: Mapping[str, Any] | None) -> str:
    """What stands between the two comments of the page."""
    if kept is None:
        return "No GPU has run this so far: there are no figures.\n"
    places = columns(kept)
    head = [f"| task | n | {' | '.join(places)} |", f"| --- | --- |{' --- |' * len(places)}"]
    lines = [
        f"| {row['task']} | {row['n']} | "
        + " | ".join(_shown(row["seconds"].get(place)) for place in places)
        + " |"
        for row in kept["rows"]
    ]
    versions = "".join(
        f", {name} {kept[library]}"
        for library, name in (("torch", "PyTorch"), ("gpytorch", "GPyTorch"), ("jax", "JAX"))
        if library in kept
    )
    where = f"{kept['device']}, CuPy {kept['cupy']}{versions}; NumPy on {kept['host']}"
    tests = ", ".join(f"{n} {kind}" for kind, n in kept["tests"].items())
    last = f"{where}; {kept['day']}. Tests of arrays, on {_tested_on(kept)}: {tests}."
    return "\n".join([*head, *lines, "", last, ""])


def _shown(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.3g} s"


def _tested_on(kept: Mapping[str, Any]) -> str:
    """Return the device of the tests: that of the times, unless another is named."""
    return kept.get("tests_on", kept["device"])


def line(kept: Mapping[str, Any] | None) -> str:
    """Return the line of the README."""
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
    """Return what was kept; None where no GPU has run it."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def main() -> int:
    """Run all of it, keep it and write it down; an exit status of 2 where there is no device."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the tasks")
    asked = parser.parse_args()
    if (said := refusal()) is not None:
        print(said, file=sys.stderr)
        return 2
    kept = {**about(), "tests": suite(), "rows": list(rows(TASKS, asked.rounds, asked.seconds))}
    KEPT.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    write(kept)
    print(table(kept))
    return int(bool(kept["tests"].get("failed", 0) + kept["tests"].get("error", 0)))


if __name__ == "__main__":
    sys.exit(main())
