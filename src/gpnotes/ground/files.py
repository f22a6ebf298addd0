"""Archives of arrays on the disk, whole or not at all, and the files of interrupted runs.

NumPy's archives without pickle: to open one runs none of its contents.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .xp import HostArray

__all__ = ["digest", "read", "write", "write_arrays"]

_RUN = "run"


def write_arrays(place: Path, arrays: Mapping[str, Any]) -> None:
    """Write NumPy's archive; until all is written, a file that is there stays as it was.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    beside = place.with_name(f"{place.name}.{os.urandom(4).hex()}.part")  # others may write there
    try:
        with beside.open("wb") as file:  # a name, given to NumPy, would get another ending
            np.savez(file, **arrays)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def read(path: str | os.PathLike[str], run: str) -> dict[str, HostArray]:
    """Return the arrays of a run, by name, from its file; none where there is no file.

    Raises
    ------
    ValueError
        If the file is of another run, or no file of a run at all.
    """
    from zipfile import BadZipFile  # who only imports the package need not have it

    place = _place(path)
    if not place.exists():
        return {}
    try:
        with np.load(place, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
    except (ValueError, OSError, EOFError, BadZipFile) as problem:
        raise ValueError(f"file must be one that a run wrote; {place} is not: {problem}") from None
    told = str(arrays.pop(_RUN, "nothing"))
    if told != run:
        raise ValueError(f"file must be of this run, {run}; {place} is of {told}")
    return arrays


def write(path: str | os.PathLike[str], run: str, arrays: Mapping[str, HostArray]) -> None:
    """Write the arrays of a run, by name; until all are written, the file is as it was before."""
    place = _place(path)
    write_arrays(place, {**arrays, _RUN: np.asarray(run)})


def digest(*arrays: HostArray) -> str:
    """Sixteen letters that differ, but by a miracle, where the numbers of arrays do."""
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(f"{array.dtype} {array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]


def _place(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"file must be a path; got {type(path).__name__}")
    return Path(path)
