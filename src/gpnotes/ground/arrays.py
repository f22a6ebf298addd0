"""The one place where a chapter's data become arrays.

`asarray` puts data where the environment variable ``GPNOTES_BACKEND`` says: ``numpy`` (the
default) or ``cupy``. From there on, everything follows the data.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from .conversion import on_host
from .xp import Array, HostArray, HostVector, Namespace, array_namespace, to_numpy

__all__ = ["asarray", "backend", "to_numpy"]


def backend() -> str:
    """Return the name of the backend that ``GPNOTES_BACKEND`` asks for.

    Returns
    -------
    str
        ``"numpy"``, the default, or ``"cupy"``.
    """
    name = os.environ.get("GPNOTES_BACKEND", "numpy")
    if name not in ("numpy", "cupy"):
        raise ValueError(f"GPNOTES_BACKEND must be numpy or cupy; got {name!r}")
    return name


def asarray(data: object) -> Array:
    """Put data from the host where ``GPNOTES_BACKEND`` says, as float64.

    Parameters
    ----------
    data : array_like
        A sequence of real numbers, or a NumPy array.

    Raises
    ------
    ImportError
        If that backend is not installed.

    Examples
    --------
    >>> asarray([1, 2]).dtype
    dtype('float64')
    """
    xp = _module(backend())
    return xp.asarray(_numbers(data), dtype=xp.float64)


def _numbers(data: object) -> object:
    """`data`, if it is made of real numbers; an array of another backend knows its own dtype."""
    if hasattr(data, "dtype") and not isinstance(data, np.ndarray | np.generic):
        return data
    host = on_host(data, "data")
    if host.size and host.dtype.kind not in "biuf":
        got = type(data).__name__ if host.ndim == 0 else f"an array of {host.dtype}"
        raise TypeError(f"data must be real numbers; got {got}")
    return host


def host_columns(**named: object) -> list[HostVector]:
    """Return the arguments as NumPy vectors (n,) of one length.

    Parameters
    ----------
    **named : array_like
        Sequences, or arrays of any backend, by the names that errors give them.

    Returns
    -------
    list of HostVector
        The vectors, in the order of the arguments.

    Examples
    --------
    >>> host_columns(x=[1, 2], y=range(2))
    [array([1, 2]), array([0, 1])]
    """
    columns = {name: _on_host(a, name) for name, a in named.items()}
    size = next(iter(columns.values())).shape
    for name, a in columns.items():
        if a.ndim != 1 or a.shape != size:
            first = next(iter(columns))
            like = f" like {first}, {size}" if len(size) == 1 and name != first else ""
            remedy = f": give {name}[:, 0]" if a.ndim == 2 else ""
            raise ValueError(f"{name} must have shape (n,){like}; got {tuple(a.shape)}{remedy}")
    return list(columns.values())


def _on_host(a: Any, name: str) -> HostArray:
    try:
        array_namespace(a)
    except TypeError:  # a list, a range, a column of a table
        host = on_host(a, name)
    else:
        host = to_numpy(a)
    if host.size and host.dtype.kind not in "biuf":
        got = type(a).__name__ if host.ndim == 0 else f"entries of type {host.dtype}"
        raise TypeError(f"{name} must hold real numbers; got {got}")
    return host


def _module(name: str) -> Namespace:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ImportError(
            f"GPNOTES_BACKEND={name} needs an extra: "
            "from a clone, pip install '.[gpu-cuda12]' or '.[gpu-cuda13]'"
        ) from problem
