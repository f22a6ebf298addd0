"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def peak(call: Callable[[], object]) -> int:
    """The most memory that a call holds at a time, in bytes; NumPy tells tracemalloc."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
