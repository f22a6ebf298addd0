"""Ctrl-C in a fit, a search, a chain, a run: results until then are kept, with a warning.

Whoever interrupts a long run wants it to end, rarely to lose it. Within a run that has another
inside, such as a search that fits its model before each evaluation, it is the outer one that ends.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

from .caller_warnings import warn_caller

__all__ = [
    "INTERRUPTED", "InterruptWarning", "deferred_interrupts", "kept_interrupts",
    "raised_interrupts", "warn_of",
]  # fmt: skip

INTERRUPTED = "interrupted"
"""The message of an interrupted run."""

_KEPT = ContextVar("kept", default=True)


class InterruptWarning(UserWarning):
    """The warning that Ctrl-C has ended something early, with the results until then.

    Made an error, by ``warnings.simplefilter("error", InterruptWarning)``, it ends a loop of your
    own as well.
    """


def kept_interrupts() -> tuple[type[BaseException], ...]:
    """Return the classes for an ``except``: the interrupt, or none where it is to be raised."""
    return (KeyboardInterrupt,) if _KEPT.get() else ()


@contextmanager
def raised_interrupts() -> Iterator[None]:
    """Let an interrupt go through whatever is inside, to be kept or raised further out."""
    before = _KEPT.set(False)
    try:
        yield
    finally:
        _KEPT.reset(before)


@contextmanager
def deferred_interrupts() -> Iterator[list[int]]:
    """Collect the first Ctrl-C in a list, for steps that are not to be broken in the middle.

    The list is empty until then, and whoever steps looks at it between two steps. A second Ctrl-C
    is raised as ever. So is the first where it cannot be put off: outside the main thread, where
    none arrives, and where a program has a handler of its own.
    """
    pressed: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if is_main else None
    if handler is not signal.default_int_handler:
        yield pressed
        return

    def press(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        pressed.append(number)

    signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def warn_of(what: str) -> None:
    """Warn that something was interrupted; `what` names it, and the results that are kept."""
    warn_caller(f"interrupted: {what}", InterruptWarning)
