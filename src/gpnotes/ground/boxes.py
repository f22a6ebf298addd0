"""A box of inputs: an interval for each of their columns, within which one searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from .xp import HostMatrix

__all__ = ["FLOATS", "Pairs", "intervals"]

FLOATS = 100  # fewer between the ends of an interval would soon come again in a search
Pairs: TypeAlias = Sequence[tuple[float, float]] | HostMatrix


def intervals(pairs: Pairs, name: str, size: int | None = None) -> HostMatrix:
    """Return pairs (lower, upper) as an array (d, 2) on the host, if they are finite intervals.

    Parameters
    ----------
    pairs : sequence of pairs of float, or HostMatrix, shape (d, 2)
        The intervals. Their widths are finite too, so that a place between the ends can be
        computed.
    name : str
        The name of the argument in errors.
    size : int or None, default None
        How many they must be.

    Returns
    -------
    HostMatrix, shape (d, 2)
        The lower and upper ends, in float64.

    Examples
    --------
    >>> intervals([(0.0, 1.0), (-2, 3)], "box")
    array([[ 0.,  1.],
           [-2.,  3.]])
    """
    try:
        ends = np.array(pairs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # ragged, or no numbers
        ends = np.empty(())
    fits = ends.ndim == 2 and ends.shape[1] == 2 and size in (None, ends.shape[0])
    if not fits or not _are_intervals(ends):
        apart = f"with lower < upper, finite, {FLOATS} floats apart"
        wanted = f"{size or 'd'} pairs (lower, upper) {apart}"
        raise ValueError(f"{name} must be {wanted}; got {pairs}")
    return ends


def _are_intervals(ends: HostMatrix) -> bool:
    """Tell if there are any, all finite and with enough floats between their ends."""
    with np.errstate(over="ignore", invalid="ignore"):
        widths = ends[:, 1] - ends[:, 0]
        least = FLOATS * np.max(np.spacing(np.abs(ends)), axis=1)
    wide = np.isfinite(widths) & (widths >= least)
    return bool(ends.size and np.all(wide))
