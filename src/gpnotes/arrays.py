"""The one place where a chapter's data become arrays.

`asarray` puts data where the environment variable ``GPNOTES_BACKEND`` says: ``numpy`` (the
default) or ``cupy``. From there on, everything follows the data.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from ._xp import Array, to_numpy

__all__ = ["asarray", "backend", "to_numpy"]


def backend() -> str:
    """The name of the backend that ``GPNOTES_BACKEND`` asks for, checked."""
    name = os.environ.get("GPNOTES_BACKEND", "numpy")
    if name not in ("numpy", "cupy"):
        raise ValueError(f"GPNOTES_BACKEND must be numpy or cupy; got {name!r}")
    return name


def asarray(data: Any) -> Array:
    """Data from the host, a sequence or a NumPy array, as float64 of the chosen backend.

    >>> asarray([1, 2]).dtype
    dtype('float64')
    """
    xp = _module(backend())
    return xp.asarray(data, dtype=xp.float64)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ImportError(
            f"GPNOTES_BACKEND={name} needs an extra: "
            "pip install 'gpnotes[gpu-cuda12]' or 'gpnotes[gpu-cuda13]'"
        ) from problem
