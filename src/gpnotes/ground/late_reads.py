"""Numbers of a device that are read once, when all is launched, rather than each where it is asked.

A number that is read makes the host wait for all that was launched before. A computation's
questions along its way mostly have the answer that one expects: inputs are finite, distances may be
expanded, a factor got to its end. So it is tried first as if it were so. The conditions are written
down as numbers below limits, which are read at the end, with the results. If one is not, nothing of
the trial is kept: all is computed again, and each question is asked in its place, with its own
error or
its own way round. So a verb goes::

    for trial in trials(X):
        with trial:
            found = ...
    return found

Within it `number` leaves a number on the device, and `expect` writes one down; once it is over,
`float` reads it. Elsewhere, on the host above all, both read at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from threading import local
from typing import cast

from array_api_compat import is_cupy_array

from .array_types import Array

__all__ = ["Unforeseen", "expect", "number", "on_trial", "trials", "unforeseen"]


class Unforeseen(Exception):
    """The signal that ends a trial at once: the computation needs to read a number."""


class Trial:
    """A computation that asks nothing of the device before its end."""

    def __init__(self) -> None:
        self.held = False
        self.limits: list[tuple[Array | float, float]] = []

    def __enter__(self) -> Trial:
        self._before = _trial.set(self)
        return self

    def __exit__(self, kind: object, problem: BaseException | None, _: object) -> bool:
        """Read all conditions. An error in a trial whose conditions fail is dropped."""
        _trial.reset(self._before)
        if problem is not None and not isinstance(problem, Exception):
            return False
        foreseen = not isinstance(problem, Unforeseen)
        self.held = foreseen and all(abs(float(a)) < limit for a, limit in self.limits)
        return problem is not None and not self.held


_trial: ContextVar[Trial | None] = ContextVar("trial", default=None)


class _Doubt(local):
    """After trials in vain some computations are not tried: 1, 2, 4 and so on up to 64."""

    skipped = last = 0

    def tries(self) -> bool:
        self.skipped, tries = max(0, self.skipped - 1), not self.skipped
        return tries

    def learn(self, held: bool) -> None:
        self.skipped = self.last = 0 if held else min(64, max(1, 2 * self.last))


_doubt = _Doubt()


def trials(like: object) -> Iterator[AbstractContextManager[object]]:
    """Yield the contexts in which to compute, until one holds: a trial on a device, then none.

    Within another trial, and on the host, there is none. Numbers do not depend on it, time does: a
    fit to data whose trials fail would compute all twice, so that these become rare.
    """
    if not is_cupy_array(like) or on_trial() or not _doubt.tries():
        yield nullcontext()
        return
    trial = Trial()
    yield trial
    if not trial.held:
        yield nullcontext()
    _doubt.learn(trial.held)  # not where an error has come of it


def on_trial() -> bool:
    """Tell if numbers are to be read later."""
    return _trial.get() is not None


def unforeseen() -> None:
    """End a trial, if there is one: the code that follows has to read numbers."""
    if on_trial():
        raise Unforeseen


def expect(a: Callable[[], Array | float], limit: float = math.inf) -> bool:
    """Write down a number whose size must be below a limit, as no NaN is; False without a trial."""
    trial = _trial.get()
    if trial is None:
        return False
    trial.limits.append((a(), limit))
    return True


def number(a: Array | float) -> float:
    """Read an array without axes; in a trial it stays an array, and is read when that is over."""
    return cast("float", a) if on_trial() and is_cupy_array(a) else float(a)
