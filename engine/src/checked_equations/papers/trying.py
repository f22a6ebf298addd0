"""Displays are tried one by one, each for a limited time, several at a time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from ..latex.equation import Equation
from ..latex.macros import Macros
from ..tried import try_display
from ..tried.display import Tried
from .declarations import Declared
from .findings import Finding, finding
from .reading import Read

SECONDS = 20  # for a display: what takes longer is not read


@dataclass(frozen=True)
class Task:
    """A display to try, with all that is known of it: a value that another process can have."""

    place: tuple[str, int, int]
    latex: str
    label: str
    macros: Macros
    declared: Declared
    fault: str = ""


def tasks(read: Read, first: Declared, own: Mapping[str, Declared]) -> Iterator[Task]:
    """What is to be tried of a text; `own` are declarations by label."""
    for one in read.paper.equations:
        place = read.paper.place(one.at)
        known = read.known_at(one.at, first).and_then(own.get(one.label, Declared()))
        where = (os.path.relpath(place.file), place.line, place.column)
        yield Task(where, one.latex, one.label, one.macros, known, one.fault)


def try_all(every: Sequence[Task], jobs: int) -> Iterator[Finding]:
    """The finding of each task, in their order."""
    if jobs < 2 or len(every) < 2 * jobs:
        yield from map(try_one, every)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(try_one, every, chunksize=4)


def try_one(task: Task) -> Finding:
    """What becomes of a display; no fault of the engine ends the command."""
    if task.fault:
        return Finding(*task.place, "not read", why=task.fault)
    try:
        with _limited(SECONDS):
            tried = _tried(task)
    except _TooLong:
        tried = Tried("not read", f"it takes longer than {SECONDS} s")
    except Exception as error:  # noqa: BLE001 - one display must not end the others
        tried = Tried("not read", f"the engine failed on it: {type(error).__name__}: {error}")
    return finding(tried, task.place, task.label, task.latex)


def _tried(task: Task) -> Tried:
    known = task.declared
    return try_display(
        task.latex,
        conditions=known.conditions,
        kinds=known.kinds,
        macros=task.macros,
        rng=int(Equation(task.label, task.latex, 1).digest[:8], 16),
    )


class _TooLong(Exception):
    pass


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Stop what is inside after so long, where the system can tell a process the time."""
    alarm = getattr(signal, "SIGALRM", None)
    if alarm is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(alarm, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(alarm, before)
