"""How long a trial may take, in seconds of the processor, until what is left of it is given up."""

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

    What was allowed around it is kept to as well, unless it begins `anew`.

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
