"""Two devices, of which each thread has a current one; what is on the other cannot be reached."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

__all__ = ["COUNT", "Device", "current", "runtime"]

COUNT = 2
_here = threading.local()
runtime = SimpleNamespace(getDeviceCount=lambda: COUNT)


def current() -> int:
    """The number of the current device of this thread."""
    return getattr(_here, "device", 0)


class Device:
    """A device by its number, as a context the current one; without a number, the current one."""

    mem_info = (2**33, 2**34)  # bytes that are free, and all

    def __init__(self, device: Any = None) -> None:
        self.id = current() if device is None else int(device)
        self._before: list[int] = []

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> Device:
        self._before.append(current())
        return self.use()

    def __exit__(self, *_: object) -> None:
        _here.device = self._before.pop()

    def use(self) -> Device:
        if not 0 <= self.id < COUNT:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        _here.device = self.id
        return self

    def synchronize(self) -> None:
        """Nothing is under way here."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"
