"""Kernels that start at zero, and what to do where inputs lie far from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ...ground.xp import Matrix, to_numpy
from .algebra import ActiveDims, Kernel
from .arccos import ArcCosine
from .linear import Linear, Polynomial
from .wiener import IntegratedWiener, Wiener

__all__ = ["nearer_origin"]

_FAR = 1e3  # times the width of a column: from there on a line takes three digits of it
# and whether the functions of such a kernel measured from elsewhere lack a level there
_LEVEL = {Linear: True, Wiener: True, IntegratedWiener: True, Polynomial: False, ArcCosine: False}


def nearer_origin(kernel: Kernel, X: Matrix) -> str:
    """Return how to keep digits where a kernel starts at zero, far from the inputs, or nothing."""
    worst, column, level = 0.0, 0, None
    for part, columns in _within(kernel, tuple(range(X.shape[1]))):
        if type(part) in _LEVEL and columns:
            ratios = _ratios(X, columns)
            if max(ratios) > worst:
                worst, column, level = max(ratios), columns[int(np.argmax(ratios))], part
    if level is None or worst < _FAR:
        return ""
    name = type(level).__name__
    far = (
        f"{name} starts at zero, {worst:.1g} times as far from column {column} of X as that is wide"
    )
    added = ", and add Constant() for the level there" if _LEVEL[type(level)] else ""
    return f"{far}: measure it from its first row, X - X[0]{added}"


def _ratios(X: Matrix, columns: tuple[int, ...]) -> list[float]:
    """How far columns reach from zero, in units of their widths; nothing where one is constant."""
    held = np.asarray(to_numpy(X), np.float64)[:, list(columns)]
    low, high = np.min(held, axis=0), np.max(held, axis=0)
    width = np.where(high > low, high - low, np.inf)
    return (np.maximum(np.abs(low), np.abs(high)) / width).tolist()


def _within(kernel: Any, columns: tuple[int, ...]) -> Iterator[tuple[Kernel, tuple[int, ...]]]:
    """Yield a kernel and all its parts, each with the columns of X that it looks at."""
    yield kernel, columns
    if isinstance(kernel, ActiveDims):
        columns = tuple(columns[i] for i in kernel.places)
    for item in fields(kernel):
        held = getattr(kernel, item.name)
        for part in held if isinstance(held, tuple) else (held,):
            if isinstance(part, Kernel):
                yield from _within(part, columns)
