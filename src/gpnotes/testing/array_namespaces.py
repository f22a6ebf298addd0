"""Places where arrays live: namespaces, dtypes and devices that the package is tested in.

`LISTED` is the one list of them, and says which run of the tests takes each.
"""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.xp import Array, array_namespace, device

__all__ = ["ArraySpace", "array_spaces"]


@dataclass(frozen=True)
class ArraySpace:
    """A place where arrays live: a namespace, a dtype and a device.

    Parameters
    ----------
    name : str
        The name of the place.
    xp : namespace
        The array namespace.
    dtype : dtype
        The dtype of its arrays.
    device : device
        Their device.
    reason : str or None
        Why the place cannot be used here; None where it can.
    """

    name: str
    xp: Any
    dtype: Hashable
    device: Hashable
    reason: str | None = None

    def asarray(self, data: object) -> Array:
        """An array of this space from data on the host.

        Parameters
        ----------
        data : array-like
            Nested sequences or a NumPy array.

        Returns
        -------
        Array
            The data, in the namespace, dtype and device of this space.
        """
        made = np.array if self.name.startswith("torch") else np.asarray  # it takes few views
        host = made(data, dtype=np.float64 if self.double else np.float32)
        return self.xp.asarray(host, dtype=self.dtype, device=self.device)

    @property
    def double(self) -> bool:
        """True where numbers here are float64."""
        return self.dtype == self.xp.float64

    def holds(self, a: Array) -> bool:
        """True if `a` is an array of this namespace, dtype and device."""
        same = array_namespace(a) == self.xp and a.dtype == self.dtype
        return same and device(a) == self.device

    @contextmanager
    def active(self) -> Iterator[None]:
        """Within it the library makes arrays of this precision: JAX has a switch for that.

        JAX gives float32, with a warning, where float64 is asked for and ``jax_enable_x64`` is off.
        """
        if not self.name.startswith("jax"):
            yield
            return
        config = importlib.import_module("jax").config
        before = config.jax_enable_x64
        config.update("jax_enable_x64", self.double)
        try:
            yield
        finally:
            config.update("jax_enable_x64", before)


@dataclass(frozen=True)
class ListedSpace:
    """A row of the list: the maker of a space, and the run of the tests that takes it.

    Runs are ``"day"``, with every change; ``"night"``, `make namespaces`; ``"own"``, by night too
    and with every change in a job of its own, `make arrays NAMESPACE=...`; and ``"gpu"``, by hand.
    """

    name: str
    library: str
    dtype: str
    place: str
    run: str

    @property
    def names(self) -> tuple[str, str, str]:
        """The names that ask for this space: its own, that of its namespace, its run."""
        return self.name, self.name.partition("-")[0], self.run

    def opened(self) -> ArraySpace:
        """Return the space; where its library is missing, with the library's reason."""
        try:
            library = importlib.import_module(self.library)
            xp = array_namespace(_namespace_of(library).zeros(1))
            here = _DEVICES.get(self.library, lambda library, place: place)(library, self.place)
            xp.zeros(1, dtype=xp.float32, device=here)  # a driver without a device says so
        except ImportError:
            return ArraySpace(self.name, None, None, None, f"{self.library} is not installed")
        except Exception as problem:  # noqa: BLE001  a missing driver or device: each is a reason
            said = f"no {self.library} with the device {self.place}: {problem}"
            return ArraySpace(self.name, None, None, None, said)
        return ArraySpace(self.name, xp, getattr(xp, self.dtype), here)


def _namespace_of(library: ModuleType) -> ModuleType:
    return library.numpy if library.__name__ == "jax" else library


_DEVICES = {
    "array_api_strict": lambda library, place: library.Device(place),
    "cupy": lambda library, place: library.cuda.Device(int(place)),
    "jax": lambda library, place: library.devices(place)[0],
    "torch": lambda library, place: library.device(place),
}

LISTED = (
    ListedSpace("numpy-float64", "numpy", "float64", "cpu", "day"),
    ListedSpace("numpy-float32", "numpy", "float32", "cpu", "day"),
    ListedSpace("strict-device1", "array_api_strict", "float64", "device1", "day"),
    ListedSpace("strict-CPU_DEVICE", "array_api_strict", "float64", "CPU_DEVICE", "night"),
    ListedSpace("strict-no_float64", "array_api_strict", "float32", "no_float64", "night"),
    ListedSpace("torch-float64", "torch", "float64", "cpu", "own"),
    ListedSpace("torch-float32", "torch", "float32", "cpu", "own"),
    ListedSpace("jax-float64", "jax", "float64", "cpu", "own"),
    ListedSpace("jax-float32", "jax", "float32", "cpu", "own"),
    ListedSpace("cupy-float64", "cupy", "float64", "0", "gpu"),
    ListedSpace("cupy-float32", "cupy", "float32", "0", "gpu"),
)


def array_spaces(*names: str) -> list[ArraySpace]:
    """List the spaces that the package is tested in.

    Parameters
    ----------
    *names : str
        Namespaces (``"jax"``), or single spaces of them (``"jax-float32"``); all if there is none.
        The libraries of others are not imported.

    Returns
    -------
    list of ArraySpace
        The spaces; those that are missing here have a reason.

    Examples
    --------
    >>> [space.name for space in array_spaces("numpy")]
    ['numpy-float64', 'numpy-float32']
    """
    known = {name for row in LISTED for name in row.names[:2]}
    for name in names:
        _check.choice(name, "names", sorted(known))
    return [row.opened() for row in LISTED if not names or {*names} & {*row.names[:2]}]
