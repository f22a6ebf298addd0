"""Parts of the package in one file without pickle: a description in JSON, and its arrays beside it.

What is read back is made by the constructors of the classes named here, and of no others: to open
a file runs none of its contents. Floats are written so that they come back to the last bit.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.linalg import Cholesky
from ..ground.xp import HostArray
from ..infer.exact import Posterior
from ..infer.fitting import Run
from ..model import kernels, means
from ..model.basis import Trend
from ..model.gaussian import Normal
from ..model.process import GP

__all__ = ["read", "write"]

_PUBLIC = (getattr(kernels, name) for name in kernels.__all__)
_KERNELS = (kind for kind in _PUBLIC if isinstance(kind, type))
_MEANS = (getattr(means, name) for name in means.__all__)
_PARTS: tuple[Any, ...] = (*_KERNELS, *_MEANS, GP, Run, Cholesky, Posterior, Trend, Normal)
_CLASSES = {kind.__name__: kind for kind in _PARTS}
_TEXT = "description"


def write(path: str | os.PathLike[str], values: Mapping[str, Any], form: str) -> None:
    """Put `values` into the file at `path`, under the name of their `form`.

    They may be None, numbers, strings, NumPy arrays, tuples, and kernels, means, processes, runs
    and posteriors of the package, with parts of these kinds. What is not is a `TypeError` that
    names it, before the file is opened.
    """
    place = _place(path)
    arrays: dict[str, Any] = {}
    told = {name: _told(value, name, arrays) for name, value in values.items()}
    arrays[_TEXT] = np.asarray(json.dumps({"form": form, "values": told}))
    with place.open("wb") as file:  # a name, given to NumPy, would get another ending
        np.savez(file, **arrays)


def read(path: str | os.PathLike[str], form: str) -> dict[str, Any]:
    """What `write` put into the file at `path`; a `ValueError` where that is not of this `form`."""
    place = _place(path)
    try:
        with place.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            description = json.loads(str(file[_TEXT]))
            if description["form"] != form:
                raise ValueError(f"its form is {description['form']!r}, not {form!r}")
            told = description["values"]
            return {name: _made(value, file) for name, value in told.items()}
    except (AttributeError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as wrong:
        wanted = "path must be of a file that `save` wrote"
        raise ValueError(f"{wanted}; got {place} ({type(wrong).__name__}: {wrong})") from wrong


def _place(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):  # `open` would take a number, and write somewhere
        raise TypeError(f"path must be a string or a path; got {_check._kind(path)}")
    return Path(path)


def _told(value: Any, name: str, arrays: dict[str, HostArray]) -> Any:
    """`value` in the terms of JSON; its arrays go into `arrays`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_told(one, f"{name}.{i}", arrays) for i, one in enumerate(value)]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        key = f"array{len(arrays)}"
        arrays[key] = np.asarray(value)
        return {"array": key}
    if _CLASSES.get(type(value).__name__) is not type(value):
        wanted = "None, a number, a string or a part of gpnotes"
        raise TypeError(f"{name} must be {wanted} to be saved; got {_check._kind(value)}")
    parts = {item.name: getattr(value, item.name) for item in fields(value)}
    told = {part: _told(inner, f"{name}.{part}", arrays) for part, inner in parts.items()}
    return {"class": type(value).__name__, "fields": told}


def _made(told: Any, arrays: Mapping[str, HostArray]) -> Any:
    """What `_told` told; an object is made by its constructor."""
    if not isinstance(told, dict):
        return told
    if "tuple" in told:
        return tuple(_made(one, arrays) for one in told["tuple"])
    if "array" in told:
        return arrays[told["array"]]
    parts = {name: _made(inner, arrays) for name, inner in told["fields"].items()}
    return _CLASSES[told["class"]](**parts)
