"""Archives of arrays on the disk, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["write_arrays"]


def write_arrays(place: Path, arrays: Mapping[str, Any]) -> None:
    """Write NumPy's archive; until all is written, a file that is there stays what it was.

    Parameters
    ----------
    place : Path
        The file.
    arrays : mapping of HostArray
        The arrays by name.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    beside = place.with_name(f"{place.name}.part")
    with beside.open("wb") as file:  # a name, given to NumPy, would get another ending
        np.savez(file, **arrays)
    os.replace(beside, place)
