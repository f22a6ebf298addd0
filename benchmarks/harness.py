"""Time every task in the same way: in turns with its floor and rivals, comparing answers.

A `Task` says what is timed: a problem of a size, and by name the ways to its answer. A way is given
the problem and returns, outside the clock, the call that is timed. "floor" is the linear algebra
and the elementary functions that no program can do without, alone; "gpnotes" is ours; the others
are rivals, and one whose library is not installed is left out. Seconds are taken in turns, since
machines speed up and slow down: a ratio within one round is fairer than one between medians.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import hashlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

SOURCE = Path(__file__).resolve().parents[1] / "src" / "gpnotes"
Call = Callable[[], Any]
Way = Callable[[Any], Call]
_PAUSE = 0.03  # seconds in which the threads of the one before stop spinning
_LEAST, _MOST = 0.02, 1000  # seconds that a timed loop takes at least, and calls at most
_SLOW = 3.0  # seconds of a call, from which on two rounds are enough


def gap(ours: Any, theirs: Any) -> float:
    """Return the largest difference of two answers, relative to the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(ours)))


@dataclass(frozen=True)
class Task:
    """A problem of a size, and the ways to its answer.

    `said` is its row in the table, with the size as ``n``; `floor` names what the floor does.
    Answers differ by at most `close` by the measure `gap`; those in `apart` are of another kind.
    """

    said: str
    floor: str
    problem: Callable[[int], Any]
    ways: Mapping[str, Way]
    size: int
    small: int
    close: float = 1e-8
    gap: Callable[[Any, Any], float] = gap
    apart: tuple[str, ...] = ()
    front: bool = False


def measured(task: Task, n: int, rounds: int) -> dict[str, Any]:
    """Return the seconds of each way in each round, ratios to the floor, and the gap of answers."""
    problem, small = task.problem(n), task.problem(min(n, task.small))
    calls, answers, missing = {}, {}, []
    for name, way in task.ways.items():
        try:
            way(small)()  # libraries load now, and not inside the clock
            calls[name] = way(problem)
        except ImportError as problem_of_import:
            missing.append(f"{name} ({problem_of_import})")
    with _files_entered() as files:
        answers["gpnotes"] = calls["gpnotes"]()
    first = {}
    for name, call in calls.items():
        start = time.perf_counter()
        answers[name] = call()
        first[name] = time.perf_counter() - start
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            if turn < 2 or first[name] < _SLOW:
                again = task.ways[name] if name == "floor" else None
                seconds[name].append(_seconds(call, first[name], again, problem))
    compared = [answers[name] for name in calls if name not in ("floor", "gpnotes", *task.apart)]
    return {
        "n": n, "seconds": seconds, "times": _ratios(seconds), "missing": missing,
        "disagreement": max((task.gap(answers["gpnotes"], a) for a in compared), default=0.0),
        "files": files, "code": stamp(files),
    }  # fmt: skip


def _seconds(call: Call, before: float, again: Way | None, problem: Any) -> float:
    """Return the seconds of a call, as within a fit: the one before it fetches memory.

    The floor works in place, so that it is prepared anew for each call.
    """
    count = int(min(max(_LEAST / max(before, 1e-9), 1), _MOST))
    if again is not None:
        again(problem)()
        calls = [again(problem) for _ in range(count)]
    else:
        calls = [call] * count
        if before < 1.0:
            call()
    gc.collect()
    time.sleep(_PAUSE)
    start = time.perf_counter()
    for one in calls:
        one()
    return (time.perf_counter() - start) / count


def _ratios(seconds: Mapping[str, list[float]]) -> dict[str, float]:
    """Return for each way the median of its ratios to the floor, within rounds.

    Without a floor they are ratios to ours.
    """
    unit = seconds.get("floor", seconds["gpnotes"])
    return {
        name: median(a / b for a, b in zip(spent, unit, strict=False))
        for name, spent in seconds.items()
        if name != "floor"
    }


# What a figure is about: the files of the package that the timed call enters


@contextmanager
def _files_entered() -> Iterator[list[str]]:
    """Collect the files of the package whose functions are called."""
    found: list[str] = []
    seen: set[str] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name not in seen:
            seen.add(name)
            path = Path(name)
            if path.is_file() and SOURCE in path.resolve().parents:
                found.append(path.resolve().relative_to(SOURCE).as_posix())

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        found.sort()


def stamp(files: list[str]) -> str:
    """Return a hash of the code in these files; comments and docstrings do not count."""
    text = "".join(_code(SOURCE / name) for name in sorted(files))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _code(path: Path) -> str:
    if not path.is_file():
        return "gone"
    text = path.read_text("utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            last = node.end_lineno or node.lineno
            lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
    kept = (line.rstrip() for line in lines if not line.lstrip().startswith("#"))
    return "\n".join(filter(None, kept))


# Where it was measured


def machine() -> dict[str, Any]:
    """Return the kind of the processor, its cores, the threads of BLAS, and versions."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "threads": _threads(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "packages": {"python": platform.python_version(), **_versions()},
    }


def kind(machine: Mapping[str, Any]) -> str:
    """Return in words which machines have figures that can be compared."""
    return f"{machine['cores']} cores of {machine['processor']}, BLAS on {machine['threads']}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    text = info.read_text("utf-8") if info.exists() else ""
    fields = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    found = {name.strip(): value.strip() for name, value in fields.items()}
    if "model name" not in found:
        return platform.processor() or platform.machine()
    family = found.get("cpu family", "?"), found.get("model", "?")
    return f"{found['model name']} (family {family[0]}, model {family[1]})"


def _threads() -> int:
    import scipy.linalg  # noqa: F401  (loaded, so that it can be asked about)
    from threadpoolctl import threadpool_info

    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def _versions() -> dict[str, str]:
    found = {}
    names = "numpy scipy scikit-learn jax numba torch gpytorch botorch GPy gpjax tinygp"
    for name in f"{names} quantecon blackjax celerite2".split():
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


# Memory, in a process of its own

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def peak_bytes(name: str, way: str, n: int) -> int | None:
    """Return how far memory rises during one call in a fresh process; None if unknown."""
    program = [sys.executable, str(Path(__file__).resolve()), name, way, str(n)]
    shown = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    return json.loads(shown.splitlines()[-1])


def _rise(task: Task, way: str, n: int) -> int | None:
    smaller = task.problem(max(task.small, 2 * n // 5))
    task.ways[way](smaller)()  # libraries and their buffers are there from here on
    problem = task.problem(n)
    if not _STATUS.exists():
        return None
    task.ways[way](problem)  # the data are made now, so that they do not count
    _give_back()
    before = _kib("VmRSS")
    call = task.ways[way](problem)
    try:
        _CLEAR.write_text("5")  # forget the peak that making the data took
    except OSError:  # some containers forbid it
        return None
    call()
    return 1024 * (_kib("VmHWM") - before)


def _give_back() -> None:
    """Let what was freed count as free: the C library keeps some of it back."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _kib(field: str) -> int:
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


if __name__ == "__main__":
    from tasks import TASKS

    _name, _way, _n = sys.argv[1:]
    print(json.dumps(_rise(TASKS[_name], _way, int(_n))))
