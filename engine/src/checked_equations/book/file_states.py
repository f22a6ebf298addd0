"""Files that are read again when they have changed, and not before."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def once_a_state(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """What `read` makes of a file, made once for each state of the file."""
    known = lru_cache(maxsize=16)(lambda file, changed: read(file))

    @wraps(read)
    def current(file: Path) -> T:
        return known(file, file.stat().st_mtime_ns)

    return current
