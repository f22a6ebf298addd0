"""A limit on a trial's processor time, after which the rest of it is given up."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_until: ContextVar[float] = ContextVar("until", default=math.inf)


@contextmanager
def allowing(seconds: float, *, anew: bool = False) -> Iterator[None]:
    """Within, `spend` raises once that much of the processor's time has gone by.

    An outer limit holds as well, unless this one begins `anew`.

    >>> with allowing(60.0):
    ...     spend()
    """
    until = time.process_time() + seconds
    token = _until.set(until if anew else min(until, _until.get()))
    try:
        yield
    finally:
        _until.reset(token)


def spend() -> None:
    """Raise `TimeoutError`, which no rule catches, where patience is at its end."""
    until = _until.get()
    if until < math.inf and time.process_time() > until:
        raise TimeoutError("an integral or a series takes too long")


class TooLong(BaseException):
    """What runs takes more than the seconds that it was given.

    It is no `Exception`: an evaluator that turns those of a library into its own would go on.
    """


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop the code inside after so much processor time, where the system measures that.

    That ends what never asks whether its time is up, as a library's loop does.

    >>> with limited(60.0):
    ...     2 + 2
    4
    """
    alarm = getattr(signal, "SIGVTALRM", None)
    if alarm is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(alarm, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(alarm, before)
