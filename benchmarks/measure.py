"""Time in turns, and memory each in a process of its own, so that they can be compared."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from contestants import TASKS, Contestant, Problem, problem_of

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
_PAUSE = 0.03  # seconds in which the threads of the one before stop spinning


def times(task: str, n: int, points: int, rounds: int, seldom: int) -> dict[str, dict[str, Any]]:
    """Seconds of each contestant in each round, taken in turns, and what it answered.

    Machines speed up and slow down; a ratio within one round is fairer than one between medians.
    Who is slow takes part in every `seldom`-th round only.
    """
    problem, small = problem_of(task, n, points), problem_of(task, min(n, 50), min(points, 50))
    for contestant in TASKS[task]:
        contestant.prepare(small)()  # libraries load now, not inside the first round
    results = {contestant.name: {"seconds": [], "answer": None} for contestant in TASKS[task]}
    for turn in range(rounds):
        for contestant in TASKS[task]:
            if not contestant.slow or turn % seldom == 0:
                seconds, answer = _once(contestant, problem)
                results[contestant.name]["seconds"].append(seconds)
                results[contestant.name]["answer"] = answer
    return results


def _once(contestant: Contestant, problem: Problem) -> tuple[float, Any]:
    """The second of two calls, as within a fit: the first fetches memory from the system.

    What that costs says more about the machine than about the program: on a virtual one, pages
    that the host has taken back can cost as much as all else.
    """
    contestant.prepare(problem)()
    return once(contestant.prepare(problem))


def once(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and its answer."""
    gc.collect()
    time.sleep(_PAUSE)
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def disagreement(results: dict[str, dict[str, Any]]) -> float:
    """The largest difference between our answer and theirs, relative to the largest entry."""
    ours, theirs = results["gpnotes"]["answer"], results["scikit-learn"]["answer"]
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))


def peak_bytes(task: str, name: str, n: int, points: int) -> int | None:
    """How far memory rises during one call, in a fresh process; None where it cannot be seen."""
    program = [sys.executable, str(Path(__file__).resolve()), task, name, str(n), str(points)]
    shown = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    return json.loads(shown.splitlines()[-1])


def _rise(contestant: Contestant, problem: Problem) -> int | None:
    """The rise over what was there before the matrices: the floor's own counts as one of them."""
    small = dataclasses.replace(problem, n=600, points=50)
    contestant.prepare(small)()  # libraries and their buffers are there from here on
    problem.data  # noqa: B018  (made now, so that it does not count)
    if not _STATUS.exists():
        return None
    _give_back()
    before = _kib("VmRSS")
    call = contestant.prepare(problem)
    problem.__dict__.pop("Ky", None)  # the floor works on a copy
    _give_back()
    try:
        _CLEAR.write_text("5")  # forget the peak that filling the floor's matrix took
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
    _task, _name, _n, _points = sys.argv[1:]
    _contestant = next(contestant for contestant in TASKS[_task] if contestant.name == _name)
    print(json.dumps(_rise(_contestant, problem_of(_task, int(_n), int(_points)))))
