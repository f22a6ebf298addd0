"""Warnings that name the line of whoever called the package, however deep inside they arise."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import warnings
from pathlib import Path
from types import FrameType

__all__ = ["warn_caller"]

# this package, and the wrappers of the standard library between two of its functions
_INSIDE = (
    f"{Path(__file__).parents[1]}{os.sep}",
    functools.singledispatch.__code__.co_filename,
    contextlib.contextmanager.__code__.co_filename,
)


def warn_caller(said: str, category: type[Warning]) -> None:
    """Warn, and name the nearest line outside of the package that led here.

    Parameters
    ----------
    said : str
        The warning.
    category : type
        Its class.
    """
    frame: FrameType | None = inspect.currentframe()
    level = 1  # that frame, for `warnings.warn`
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(said, category, stacklevel=level)
