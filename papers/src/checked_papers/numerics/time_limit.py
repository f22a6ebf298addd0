"""A limit on a trial's processor time, after which the rest of it is given up."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
