"""Places where arrays live: namespaces, dtypes and devices that the package is tested in."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    dtype: Any
    device: Any
    reason: str | None = None

    def asarray(self, data: Any) -> Array:
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
        host = np.asarray(data, dtype=np.float64 if self.double else np.float32)
        return self.xp.asarray(host, dtype=self.dtype, device=self.device)

    @property
    def double(self) -> bool:
        """True where numbers here are float64."""
        return self.dtype == self.xp.float64

    def holds(self, a: Any) -> bool:
        """True if `a` is an array of this namespace, dtype and device."""
        same = array_namespace(a) == self.xp and a.dtype == self.dtype
        return same and device(a) == self.device


def array_spaces() -> list[ArraySpace]:
    """List every space that the package is tested in.

    Returns
    -------
    list of ArraySpace
        The spaces; those that are missing here have a reason.

    Examples
    --------
    >>> [space.name for space in array_spaces()][:2]
    ['numpy-float64', 'numpy-float32']
    """
    xp = array_namespace(np.zeros(1))
    numpy = [ArraySpace(f"numpy-{t}", xp, getattr(xp, t), "cpu") for t in ("float64", "float32")]
    return numpy + _strict() + _cupy()


def _strict() -> list[ArraySpace]:
    places = (("float64", "CPU_DEVICE"), ("float64", "device1"), ("float32", "no_float64"))
    try:
        xp = importlib.import_module("array_api_strict")
    except ImportError:
        reason = "array-api-strict is not installed"
        return [ArraySpace(f"strict-{place}", None, None, None, reason) for _, place in places]
    return [
        ArraySpace(f"strict-{place}", xp, getattr(xp, dtype), xp.Device(place))
        for dtype, place in places
    ]


def _cupy() -> list[ArraySpace]:
    try:
        cupy = importlib.import_module("cupy")
        here = cupy.cuda.Device(0)
        xp = array_namespace(cupy.zeros(1))
    except Exception as problem:  # noqa: BLE001  a missing module, driver or device: each is a reason
        return [ArraySpace("cupy-float64", None, None, None, f"no CuPy with a device: {problem}")]
    return [ArraySpace(f"cupy-{t}", xp, getattr(xp, t), here) for t in ("float64", "float32")]
