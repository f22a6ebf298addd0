"""Ctrl-C in a fit, a search, a chain: what was found until then is kept, with a warning.

Whoever interrupts a long run wants it to end, rarely to lose it. Within a run that has another
inside, such as a search that fits its model before each evaluation, it is the outer one that ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["INTERRUPTED", "InterruptWarning", "kept_interrupts", "raised_interrupts", "warn_of"]

INTERRUPTED = "interrupted"
"""What the message of an interrupted run says."""

_KEPT = ContextVar("kept", default=True)


class InterruptWarning(UserWarning):
    """The warning that Ctrl-C has ended something early, which has kept what it had found.

    Made an error, by ``warnings.simplefilter("error", InterruptWarning)``, it ends a loop of your
    own as well.
    """


def kept_interrupts() -> tuple[type[BaseException], ...]:
    """Return what an ``except`` has to name: the interrupt, or nothing where it is to be raised."""
    return (KeyboardInterrupt,) if _KEPT.get() else ()


@contextmanager
def raised_interrupts() -> Iterator[None]:
    """Let an interrupt go through whatever is inside, to be kept or raised further out."""
    before = _KEPT.set(False)
    try:
        yield
    finally:
        _KEPT.reset(before)


def warn_of(what: str, *, stacklevel: int = 2) -> None:
    """Warn that something was interrupted: what it was, and what is kept."""
    warnings.warn(f"interrupted: {what}", InterruptWarning, stacklevel=stacklevel + 1)
