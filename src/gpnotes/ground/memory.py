"""Memory for a dense matrix: asked for before it is allocated, or taken a block at a time.

A matrix that does not fit ends in the operating system's hands, without a message. `require`
compares the memory that a computation will hold with that which is free, and says both. Where rows
can be worked on one after the other, `blocks` cuts them.

Memory that is freed stays with the process, up to 64 MiB at the end of its heap. The C library of
Linux gives it back otherwise, at once, and asks for it again a thousandth of a second later, page
by page: that was a fifth of a gradient of the evidence of 500 readings.
"""

from __future__ import annotations

import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from . import check as _check
from .xp import Array, array_namespace, device_memory

__all__ = [
    "ENTRIES",
    "available",
    "blocks",
    "count",
    "entries_to_keep",
    "require",
    "require_beside",
    "require_of_rows",
    "require_square",
]

_SMALL = 2**24  # bytes that are not asked for: reading what is free takes as long as 100 points
ENTRIES = 2**21  # that a computation in blocks holds at a time: 16 MiB in float64

# A device has no use for blocks of a cache's size: each costs it some thirty launches. There a
# matrix of a block takes a share of what is free, since dozens may be alive at a time.
_SHARE = 2**6
_KEPT_SHARE = 4
_MOST_ON_DEVICE = 2**26  # entries: 512 MiB in float64; larger blocks were no faster on an H100

# What glibc gives back at once are blocks of more than a limit, which rises to the largest that was
# freed, 32 MiB at most (mallopt(3), M_MMAP_THRESHOLD). So one is freed here; no page of it is made.
np.empty(2**25 - 2**16, dtype=np.uint8)

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def available(like: Array | None = None) -> int | None:
    """Return the bytes that can still be allocated where an array lives.

    Parameters
    ----------
    like : Array or None, default None
        The array; without it, the host is meant.

    Returns
    -------
    int or None
        The bytes, or None where they are unknown.

    Notes
    -----
    On a GPU it is that of the device and of CuPy's pool; on the host the kernel's
    estimate, or the rest of the limit of a container's control group, whichever is less.
    """
    on_device = None if like is None else device_memory(_check.array(like, "like"))
    if on_device is not None:
        return on_device
    known = [free for free in (_host(), _group()) if free is not None]
    return min(known, default=None)


def _host() -> int | None:
    """The estimate of Linux, else the free pages that POSIX counts, else nothing."""
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
    """The bytes left under the limit of the control group, if there is one.

    psutil reads the same line of ``/proc/meminfo``, but knows nothing of control groups.
    """
    try:
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no control group, or "max": no limit
        return None
    return max(0, limit - used + _cached())


def _cached() -> int:
    """The bytes that the group counts as used but gives back: files read and not needed now."""
    try:
        lines = (_GROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))


_OF_ROWS = (
    "Take inducing points, for which rows come a few at a time: a SparseGP, an SVGP for labels and "
    "counts, `inducing=` of an estimator; or fewer rows, or float32."
)


def require(
    rows: int,
    columns: int,
    *,
    copies: int,
    like: Array,
    what: str,
    remedy: str = "Use fewer points or float32.",
) -> None:
    """Raise `MemoryError`, with the numbers, if matrices of a shape will not fit into memory.

    Parameters
    ----------
    rows, columns : int
        The shape of a matrix.
    copies : int
        How many are held at a time.
    like : Array
        An array of their precision and device.
    what : str
        The name of the matrix in the message.
    remedy : str
        The advice in the message.

    Examples
    --------
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
    _require(rows, columns, copies, like, what, remedy)


def _require(rows: int, columns: int, copies: int, like: Array, what: str, remedy: str) -> None:
    """`require` of numbers and an array that are known to be such."""
    entries = copies * rows * columns
    if 8 * entries <= _SMALL:  # whatever the precision
        return
    needed = entries * array_namespace(like).finfo(like.dtype).bits // 8
    free = available(like) if needed > _SMALL else None
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} of shape ({rows}, {columns}) needs {_gib(needed)} in {like.dtype} "
            f"({copies} at a time); {_gib(free)} are available. {remedy}"
        )


def count(
    value: SupportsIndex, name: str, least: int = 1, *, each: int = 1, like: Array | None = None
) -> int:
    """Return `value` as an int, if it is a whole number for which there is room in memory.

    Parameters
    ----------
    value : int
        How many there are to be.
    name : str
        The name of the argument, for the errors.
    least : int, default 1
        The fewest that make sense.
    each : int, default 1
        How many numbers are held for each of them.
    like : Array or None, default None
        An array of their precision and device; without it, float64 on the host.

    Raises
    ------
    MemoryError
        If they will not fit, with the bytes that they need and those that are free.

    Examples
    --------
    >>> count(1000, "num_samples", each=50)
    1000
    >>> count(10**30, "num_samples", each=50)
    Traceback (most recent call last):
        ...
    MemoryError: num_samples must be smaller: 1000000000000000000000000000000 of them need ...
    """
    given = _check.whole(value, name, least)
    kind = np.zeros(0) if like is None else like
    needed = given * max(1, each) * array_namespace(kind).finfo(kind.dtype).bits // 8
    if needed > _SMALL:
        free = available(like)
        if needed > (sys.maxsize if free is None else free):
            there = "no array has" if free is None else f"{_gib(free)} are available"
            wanted = f"{name} must be smaller: {given} of them need {_gib(needed)} in {kind.dtype}"
            raise MemoryError(f"{wanted}; {there}")
    return given


def require_square(n: int, *, copies: int, like: Array, what: str) -> None:
    """Call `require` for matrices (n, n) over as many points.

    Parameters
    ----------
    n : int
        The number of points.
    copies : int
        How many matrices are held at a time.
    like, what
        As in `require`.
    """
    require(n, n, copies=copies, like=like, what=what)


def require_of_rows(n: int, *, copies: int, like: Array, what: str) -> None:
    """Call `require` for matrices over all rows of data, with the advice to take fewer numbers.

    Parameters
    ----------
    n : int
        The number of rows.
    copies, like, what
        As in `require_square`.
    """
    for name, value in (("n", n), ("copies", copies)):
        _check.whole(value, name)
    _check.floating(like, "like")
    _require_of_rows(n, copies=copies, like=like, what=what)


def _require_of_rows(n: int, *, copies: int, like: Array, what: str) -> None:
    _require(n, n, copies, like, what, _OF_ROWS)


def require_beside(n: int, rows: int, *, like: Array, what: str, held: int = 0) -> None:
    """Call `require` for one matrix over all rows of data and a few rows of others.

    Parameters
    ----------
    n : int
        The number of rows of data.
    rows : int
        The number of rows (of n numbers) that are held in addition to the matrix.
    like, what
        As in `require_square`.
    held : int, default 0
        1 if the matrix itself is there already.
    """
    require((1 - held) * n + rows, n, copies=1, like=like, what=what, remedy=_OF_ROWS)


def blocks(
    n: int, width: int, entries: int | None = None, *, like: Array | None = None
) -> list[slice]:
    """Cut the rows of an array into slices of at most so many numbers each.

    Parameters
    ----------
    n : int
        The number of rows.
    width : int
        The numbers in a row.
    entries : int or None, default None
        The most numbers of a slice; without it, `ENTRIES`.
    like : Array or None, default None
        An array that lives where the computation does. On a device with memory of its own slices
        are as large as a share of its free memory allows, at least of `entries`; without it, as
        on the host.

    Returns
    -------
    list of slice
        The slices. Each has at least one row, however wide that is. Where there are no rows there
        is one empty slice, so that results for slices can be joined.

    Examples
    --------
    >>> blocks(5, 10, entries=20)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    most = ENTRIES if entries is None else entries
    if like is not None and n * width > most:  # reading what is free takes as long as a launch
        most = _fitting(like, most)
    step = max(1, most // max(1, width))
    if step >= n:
        return [slice(0, n)]
    return [slice(start, min(start + step, n)) for start in range(0, max(1, n), step)]


def _fitting(like: Array, on_host: int) -> int:
    """The entries of a block where an array lives, in float64: those of the host, or more."""
    free = device_memory(like)
    return on_host if free is None else max(on_host, min(_MOST_ON_DEVICE, free // (8 * _SHARE)))


def entries_to_keep(like: Array, on_host: int) -> int:
    """Return how many numbers in float64 may be kept for later where an array lives.

    Parameters
    ----------
    like : Array
        The array. On a device with memory of its own they take up to a quarter of its free memory.
    on_host : int
        How many there may be on the host, and at least on a device.
    """
    free = device_memory(like)
    return on_host if free is None else max(on_host, free // (8 * _KEPT_SHARE))


def _gib(size: int) -> str:
    beyond = size >= 2**1000  # as a whole number may be of all floats
    return f"{Decimal(size) / 2**30 if beyond else size / 2**30:.3g} GiB"
