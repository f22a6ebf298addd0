"""Parts of the package in one file without pickle: a description in JSON, and its arrays beside it.

What is read back is made by the constructors of the classes named here, and of no others: to open
a file runs none of its contents. Floats are written so that they come back to the last bit.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

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
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
T = TypeVar("T")


def write(path: str | os.PathLike[str], values: Mapping[str, Any], form: str) -> None:
    """Write named values to a file, without pickle.

    Parameters
    ----------
    path : str or path
        The file.
    values : mapping of str
        None, numbers, strings, NumPy arrays, tuples, and kernels, means, processes, runs and
        posteriors of the package, with parts of these kinds.
    form : str
        The name of the form of these values, which `read` asks for.

    Raises
    ------
    TypeError
        If `path` is no string and no path, or a value is of another kind; it is named, and no file
        is opened.
    OSError
        If the file cannot be opened.
    """
    place = _place(path)
    arrays: dict[str, Any] = {}
    told = {name: _told(value, name, arrays) for name, value in values.items()}
    arrays[_TEXT] = np.asarray(json.dumps({"form": form, "values": told}))
    with place.open("wb") as file:  # a name, given to NumPy, would get another ending
        np.savez(file, **arrays)


def read(path: str | os.PathLike[str], form: str, made: Callable[[dict[str, Any]], T]) -> T:
    """Read the values that `write` put into a file, and make something of them.

    Parameters
    ----------
    path : str or path
        The file.
    form : str
        The name that the form of the values must have.
    made : callable
        A function of the values by their names.

    Returns
    -------
    object
        The result of `made`.

    Raises
    ------
    TypeError
        If `path` is no string and no path.
    ValueError
        If the file is not of this form, and if anything at all stands in the way of reading it or
        of making what is to be made: whoever wrote it, it was not `write`.
    OSError, MemoryError
        If the file cannot be opened, or its values have no room.
    """
    place = _place(path)
    with place.open("rb") as opened:
        try:
            with zipfile.ZipFile(opened) as archive:
                description = json.loads(str(_array(archive, _TEXT)))
                if description["form"] != form:
                    raise ValueError(f"its form is {description['form']!r}, not {form!r}")
                told = description["values"]
                return made({name: _made(value, archive) for name, value in told.items()})
        except MemoryError:
            raise
        except Exception as wrong:
            wanted = "path must be of a file that `save` wrote"
            got = f"{place} ({type(wrong).__name__}: {wrong})"
            raise ValueError(f"{wanted}; got {got}") from wrong


def _place(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):  # `open` would take a number, and write somewhere
        raise TypeError(f"path must be a string or a path; got {_check.kind_of(path)}")
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
        raise TypeError(f"{name} must be {wanted} to be saved; got {_check.kind_of(value)}")
    parts = {item.name: getattr(value, item.name) for item in fields(value)}
    told = {part: _told(inner, f"{name}.{part}", arrays) for part, inner in parts.items()}
    return {"class": type(value).__name__, "fields": told}


def _array(archive: zipfile.ZipFile, name: str) -> HostArray:
    """An array of numbers or text that is as long in the file as it says to be.

    One that only says so would have room made for it first.
    """
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed")
    content = io.BytesIO(archive.read(info))
    header = _HEADERS[np.lib.format.read_magic(content)]
    shape, _, dtype = header(content)
    length = content.getbuffer().nbytes - content.tell()
    if dtype.kind not in "fiubU" or math.prod(shape) * dtype.itemsize != length:
        raise ValueError(f"{name} of shape {shape} and {dtype} is not what {length} bytes hold")
    content.seek(0)
    return np.lib.format.read_array(content, allow_pickle=False)


def _made(told: Any, archive: zipfile.ZipFile) -> Any:
    """The value that `_told` told; an object is made by its constructor, of all its fields."""
    if told is None or isinstance(told, bool | int | float | str):
        return told
    if told.keys() == {"tuple"}:
        return tuple(_made(one, archive) for one in told["tuple"])
    if told.keys() == {"array"}:
        return _array(archive, told["array"])
    kind = _CLASSES[told["class"]]
    parts = {name: _made(inner, archive) for name, inner in told["fields"].items()}
    if parts.keys() != {item.name for item in fields(kind)}:
        raise ValueError(f"{kind.__name__} has other fields than {sorted(parts)}")
    return kind(**parts)
