"""Memory for a dense matrix: asked for before it is allocated, or taken a block at a time.

A matrix that does not fit ends in the operating system's hands, without a message. `require`
compares what a computation will hold with what is free, and says both. Where rows can be worked on
one after the other, `blocks` cuts them.
"""

from __future__ import annotations

import os
from pathlib import Path

from . import check as _check
from .xp import Array, array_namespace, device_memory

__all__ = ["ENTRIES", "available", "blocks", "require", "require_square"]

_SMALL = 2**24  # bytes that are not asked for: reading what is free takes as long as 100 points
ENTRIES = 2**21  # that a computation in blocks holds at a time: 16 MiB in float64

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def available(like: Array | None = None) -> int | None:
    """Bytes that can still be allocated where `like` lives, or None where nobody says.

    On a GPU the device is asked, and CuPy's pool for what it keeps; on the host the kernel's
    estimate, and what the control group of a container leaves of its limit, whichever is less.
    """
    on_device = None if like is None else device_memory(_check.array(like, "like"))
    if on_device is not None:
        return on_device
    known = [free for free in (_host(), _group()) if free is not None]
    return min(known, default=None)


def _host() -> int | None:
    """What Linux estimates, else the free pages that POSIX counts, else nothing."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        words = next(line for line in lines if line.startswith("MemAvailable:")).split()
        return 1024 * int(words[1])
    except (OSError, StopIteration):
        return _pages()


def _pages() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _group() -> int | None:
    """What is left under the limit of the control group, if there is one."""
    try:
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no control group, or "max": no limit
        return None
    return max(0, limit - used + _cached())


def _cached() -> int:
    """What the group counts as used but gives back when asked: files read and not needed now."""
    try:
        lines = (_GROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))


def require(
    rows: int,
    columns: int,
    *,
    copies: int,
    like: Array,
    what: str,
    remedy: str = "Use fewer points or float32.",
) -> None:
    """Raise `MemoryError` with the numbers if `copies` matrices (rows, columns) will not fit.

    `like` gives the precision and the device; `what` and `remedy` go into the message. Nothing is
    raised where the free memory is unknown, which is not asked for 16 MiB or less.

    >>> import numpy as np
    >>> require(10, 10, copies=2, like=np.ones(1), what="the matrix K", remedy="Use fewer points.")
    >>> require(10**7, 10**7, copies=2, like=np.ones(1), what="K", remedy="Use fewer points.")
    Traceback (most recent call last):
        ...
    MemoryError: K of shape (10000000, 10000000) needs ...
    """
    for name, value in (("rows", rows), ("columns", columns), ("copies", copies)):
        _check.whole(value, name)
    _check.floating(like, "like")
    needed = copies * rows * columns * array_namespace(like).finfo(like.dtype).bits // 8
    free = available(like) if needed > _SMALL else None
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} of shape ({rows}, {columns}) needs {_gib(needed)} in {like.dtype} "
            f"({copies} at a time); {_gib(free)} are available. {remedy}"
        )


def require_square(n: int, *, copies: int, like: Array, what: str) -> None:
    """`require` for matrices (n, n) over as many points."""
    require(n, n, copies=copies, like=like, what=what)


def blocks(n: int, width: int, entries: int | None = None) -> list[slice]:
    """The n rows of an array of that width in slices of at most `entries` numbers each.

    Without `entries`, at most `ENTRIES`. A slice has at least one row, however wide that is. Where
    there are no rows there is one empty slice, so that what the slices give can be joined.

    >>> blocks(5, 10, entries=20)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, (ENTRIES if entries is None else entries) // max(1, width))
    return [slice(start, min(start + step, n)) for start in range(0, max(1, n), step)]


def _gib(size: int) -> str:
    return f"{size / 2**30:.3g} GiB"
