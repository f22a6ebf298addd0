"""A limit on processor time, for code that does not count its effort."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLong(BaseException):
    """The signal that code takes more seconds than it was given.

    It is no `Exception`: an evaluator that turns those of a library into its own would go on.
    """


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop the code inside after so much processor time, where the system measures that.

    That ends code that does not count its effort, such as a loop of a library. It is no
    way to reach a verdict, which would then depend on the machine.

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
