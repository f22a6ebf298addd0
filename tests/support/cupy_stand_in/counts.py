"""What a device would be asked to do: operations that it launches, and reads that wait for it.

A view costs nothing, nor does memory that is not filled. An operation of the library counts as one
launch, whatever it launches itself. A crossing is a number, or an array, that comes to the host:
all that was launched before has to be done by then, and a second read right after the first waits
for nothing. An index by truths is a crossing too, since their count is read, and so is a
factorisation that is asked whether it got to its end.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

__all__ = ["Bytes", "Counts", "allocated", "counted", "counting", "crossing", "launch", "measuring"]


@dataclass
class Counts:
    """How many of either there were."""

    launches: int = 0
    crossings: int = 0
    under_way: bool = False


_open: list[Counts] = []


@contextmanager
def counting() -> Iterator[Counts]:
    """Within it the counts rise."""
    counts = Counts()
    _open.append(counts)
    try:
        yield counts
    finally:
        _open.remove(counts)


def launch() -> None:
    """An operation is launched."""
    for counts in _open:
        counts.launches += 1
        counts.under_way = True


def crossing() -> None:
    """The host waits for the device."""
    for counts in _open:
        counts.crossings += counts.under_way
        counts.under_way = False


@dataclass
class Bytes:
    """How many are held by arrays that were made meanwhile, and how many were at most."""

    held: int = 0
    most: int = 0


_measured: list[Bytes] = []
_roots: set[int] = set()


@contextmanager
def measuring() -> Iterator[Bytes]:
    """Within it memory is counted that arrays of the device take, and give back."""
    found = Bytes()
    _measured.append(found)
    try:
        yield found
    finally:
        _measured.remove(found)


def allocated(a: np.ndarray) -> None:
    """An array is on the device: its memory is, unless it is a view of what is there."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    if id(a) in _roots:
        return
    _roots.add(id(a))
    for found in _measured:
        found.held += a.nbytes
        found.most = max(found.most, found.held)
    weakref.finalize(a, _given_back, id(a), a.nbytes, tuple(_measured))


def _given_back(root: int, size: int, measured: tuple[Bytes, ...]) -> None:
    _roots.discard(root)
    for found in measured:
        found.held -= size


def counted(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's arrays that is a launch, unless it gives a view of one of them."""

    @wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        made = plain(*args, **kwargs)
        if _open and not any(_is_view(made, a) for a in args):
            launch()
        return made

    return function


def _is_view(made: Any, a: Any) -> bool:
    arrays = isinstance(made, np.ndarray) and isinstance(a, np.ndarray)
    return arrays and np.may_share_memory(made, a)
