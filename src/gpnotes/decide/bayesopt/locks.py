"""A lock that the system opens when its holder ends, however it ends.

SQLite has taken files for one process at a time for decades, on every system: an exclusive
transaction on an empty database is such a lock, and nothing is ever written to it. Python brings it
along, so that no package of locks is needed.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Lock"]

_FOREVER = 1e6  # seconds; SQLite counts milliseconds in 32 bits


class Lock:
    """A lock on a file, made where it is not there.

    Parameters
    ----------
    path : str or path
        The file, which must be no other's.
    patience : float
        How many seconds to wait for whoever has it.
    """

    def __init__(self, path: str | os.PathLike[str], patience: float = _FOREVER) -> None:
        self.path = Path(path)
        try:
            self._database = sqlite3.connect(
                self.path, timeout=patience, isolation_level=None, check_same_thread=False
            )
        except sqlite3.OperationalError:
            self.path.open("ab").close()  # which says as an `OSError` what is in the way
            raise
        weakref.finalize(self, self._database.close)

    def take(self) -> bool:
        """True if it is ours now; False if another has it still, for all our patience."""
        try:
            self._database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def close(self) -> None:
        """Let go of it, for good."""
        self._database.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for it, and let go of it at the end of the block."""
        if not self.take():
            raise TimeoutError(f"{self.path} was held by another for {_FOREVER:g} seconds")
        try:
            yield
        finally:
            self._database.execute("ROLLBACK")
