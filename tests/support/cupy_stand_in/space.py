"""The stand-in as a space of the tests: a device is the current one while a test runs there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gpnotes.ground.xp import array_namespace
from gpnotes.testing import ArraySpace
from gpnotes.testing.array_namespaces import ListedSpace

from . import installed

__all__ = ["StandInRow", "StandInSpace"]


class StandInSpace(ArraySpace):
    """A precision and one of the two devices."""

    @contextmanager
    def active(self) -> Iterator[None]:
        with installed(), self.device:
            yield


@dataclass(frozen=True)
class StandInRow(ListedSpace):
    """A row of the list of namespaces, for who tests this package."""

    def opened(self) -> ArraySpace:
        with installed() as cupy, cupy.cuda.Device(int(self.place)) as here:
            xp = array_namespace(cupy.zeros(1))
        return StandInSpace(self.name, xp, getattr(xp, self.dtype), here)
