"""Logs of running chains, for their files and for results after an interrupt.

On this process it is kept in memory. A chain of another process writes it into a file, since an
interrupt may end that process before it can say anything.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from ..ground import files
from ..ground.xp import HostArray, to_numpy
from .states import Step

__all__ = ["BLOCK", "ROWS", "ChainLog", "MemoryLog", "Parts", "TrailLog", "parts_of", "rows_of"]

BLOCK = 100  # draws between two looks at the file; each block has a stream of its own
ROWS = ("draws", "log_density", "acceptance", "diverged", "evaluations")
"""The parts with an entry for each draw."""

_GROWTH = 1.1  # how much longer a chain is when it is written anew: so all writes are eleven chains

Parts: TypeAlias = dict[str, HostArray]
"""What there is of a chain, by name."""


class ChainLog(Protocol):
    """The log that a running chain writes to."""

    def tick(self) -> None:
        """Hear that a step was taken."""
        ...

    def warm(self, number: int, done: int, parts: Callable[[], Parts]) -> None:
        """Record the state of a warm-up after `done` steps."""
        ...

    def save(self, number: int, parts: Parts) -> None:
        """Hear that a block of draws was made."""
        ...

    def keep(self, number: int, parts: Parts) -> None:
        """Record the state at an interrupt, or at the end of a warm-up."""
        ...


class MemoryLog:
    """The log of a chain on this process.

    Parameters
    ----------
    stored : dict of HostArray
        Where the parts of all chains are.
    saved : callable
        It is given the number and the draws of a chain after each block.
    tick : callable
        It is called after each step.
    """

    def __init__(
        self, stored: Parts, saved: Callable[[int, int], object], tick: Callable[[], None]
    ) -> None:
        self.stored, self.saved, self.tick = stored, saved, tick

    def warm(self, number: int, done: int, parts: Callable[[], Parts]) -> None:
        """Wait for `keep`."""

    def save(self, number: int, parts: Parts) -> None:
        """Keep the parts, and say so."""
        self.keep(number, parts)
        self.saved(number, parts["draws"].shape[0])

    def keep(self, number: int, parts: Parts) -> None:
        """Keep the parts."""
        self.stored.update({f"{number}.{name}": part for name, part in parts.items()})


class TrailLog:
    """The log of a chain on another process: a file that it writes anew as the chain grows.

    Where the folder is out of reach, as on another machine, there is none.

    Parameters
    ----------
    folder : str
        Where the file is.
    run : str
        The name of the run.
    """

    def __init__(self, folder: str, run: str) -> None:
        self.folder, self.run, self.written = Path(folder), run, 0

    def tick(self) -> None:
        """Do nothing: no progress bar is shown."""

    def warm(self, number: int, done: int, parts: Callable[[], Parts]) -> None:
        """Write a warm-up after a hundred steps, and again as it grows."""
        if done % BLOCK == 0 and done >= _GROWTH * self.written:
            self.keep(number, parts())

    def save(self, number: int, parts: Parts) -> None:
        """Write a chain after the first block, and again as it grows."""
        done = parts["draws"].shape[0]
        if done == BLOCK or done >= _GROWTH * self.written:
            self.keep(number, parts)

    def keep(self, number: int, parts: Parts) -> None:
        """Write the parts."""
        self.written = parts["draws"].shape[0]
        with suppress(OSError):
            files.write(self._place(number), self.run, parts)

    def left(self, number: int) -> Parts:
        """Return the stored arrays of a chain by name; none for one that has not begun."""
        return files.read(self._place(number), self.run)

    def _place(self, number: int) -> Path:
        return self.folder / f"{number}.npz"


def parts_of(stored: Parts, number: int) -> Parts:
    """The parts of one chain, of those of all."""
    prefix = f"{number}."
    return {
        name.removeprefix(prefix): part for name, part in stored.items() if name.startswith(prefix)
    }


def rows_of(steps: list[Step], d: int) -> Parts:
    """The parts of some steps, one entry for each."""
    positions = [to_numpy(step.state.position) for step in steps]
    return {
        "draws": np.asarray(positions, dtype=np.float64).reshape(-1, d),
        "log_density": np.asarray([step.state.log_density for step in steps], dtype=np.float64),
        "acceptance": np.asarray([step.acceptance for step in steps], dtype=np.float64),
        "diverged": np.asarray([step.diverged for step in steps], dtype=bool),
        "evaluations": np.asarray([step.evaluations for step in steps], dtype=np.int64),
    }
