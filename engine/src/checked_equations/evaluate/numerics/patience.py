"""How long integrals and series may take, in seconds of the processor, until they are given up."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_until: ContextVar[float] = ContextVar("until", default=math.inf)


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Within, `spend` raises once that much of the processor's time has gone by.

    >>> with allowing(60.0):
    ...     spend()
    """
    token = _until.set(time.process_time() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def spend() -> None:
    """Raise `TimeoutError`, which no rule catches, where patience is at its end."""
    if time.process_time() > _until.get():
        raise TimeoutError("an integral or a series takes too long")
