"""The one place where a chapter's data become arrays.

`asarray` puts data where the environment variable ``GPNOTES_BACKEND`` says: ``numpy`` (the
default) or ``cupy``. From there on, everything follows the data.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from ._xp import Array, to_numpy

__all__ = ["asarray", "backend", "dataset", "to_numpy"]

_DATA = Path(__file__).with_name("data")


def backend() -> str:
    """The name of the backend that ``GPNOTES_BACKEND`` asks for, checked."""
    name = os.environ.get("GPNOTES_BACKEND", "numpy")
    if name not in ("numpy", "cupy"):
        raise ValueError(f"GPNOTES_BACKEND must be numpy or cupy; got {name!r}")
    return name


def asarray(data: Any) -> Array:
    """Data from the host, a sequence or a NumPy array, as float64 of the chosen backend.

    Raises `ImportError` where that backend is not installed, and what it raises for ragged data.

    >>> asarray([1, 2]).dtype
    dtype('float64')
    """
    xp = _module(backend())
    return xp.asarray(data, dtype=xp.float64)


def dataset(name: str) -> np.ndarray:
    """A table that the book works on, (n, columns), from the copy that the package carries.

    The tables are those of ``book/data``, where a note beside each says where it comes from. So a
    notebook that is downloaded alone has its data. Raises `ValueError` for another name.

    >>> dataset("engel").shape
    (235, 2)
    """
    file = _DATA / f"{name}.csv"
    if not file.is_file():
        known = ", ".join(sorted(path.stem for path in _DATA.glob("*.csv")))
        raise ValueError(f"name must be one of {known}; got {name!r}")
    return np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.float64, ndmin=2)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ImportError(
            f"GPNOTES_BACKEND={name} needs an extra: "
            "from a clone, pip install '.[gpu-cuda12]' or '.[gpu-cuda13]'"
        ) from problem
