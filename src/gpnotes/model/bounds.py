"""Bounds of a fit: some given by name, and others taken from the spread of the data.

Far outside of the data's own units a parameter changes nothing that the data could show: two
points at 1e-5 of their distance as lengthscale are independent, and noise below the rounding of y
is no noise. There an optimiser would only wander until its numbers overflow.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.naming import given_by_entry, path_of, without
from ..ground.params import Leaf, Parameters, free_leaves, names, vector_of
from ..ground.showing import summary
from ..ground.xp import HostMatrix, HostVector, Matrix, Vector, epsilon, to_numpy

__all__ = ["Spread", "ends", "lengths_of", "limits", "spread", "strides", "touched", "units"]

_FAR = math.log(1e5)  # lengthscales, in units of the range of the inputs
_WIDE = math.log(1e10)  # what has no unit, in units of its start
_NONE = (-math.inf, math.inf)
_FAR_OFF = 30.0  # times the deviation of the middle half: a column's own is due to a few rows
_QUARTILES = 1.349  # deviations of a normal variable from its lower to its upper quartile
_RANGE = 100.0  # deviations, more than those of a column without rows far off
_ENOUGH = 8  # rows of which quartiles tell something
_LARGE = 1e150  # beyond it squares overflow in float64


def lengths_of(X: HostMatrix) -> HostVector:
    """The deviation times √d of each column of X, as of `Spread`; 1 for one that is constant."""
    top = _tops(X)
    widths = top * _deviations(X / top) * math.sqrt(X.shape[1])
    varies = np.ptp(X, axis=0) > 0.0
    lost = np.flatnonzero(varies & (widths == 0.0))
    if lost.size:
        wanted = "vary by more than 1e-160 where it varies: squares underflow"
        raise ValueError(f"X must {wanted}; got {np.ptp(X[:, lost[0]]):.3g} in column {lost[0]}")
    return np.where(varies, widths, 1.0)


def _tops(rows: HostMatrix) -> HostVector:
    """For each column its size if that has no square, else 1: in this unit deviations are taken."""
    size = np.max(np.abs(rows), axis=0)
    return np.where(size > _LARGE, size, 1.0)


def _deviations(X: HostMatrix) -> HostVector:
    """The standard deviation of each column, or that of its middle half where some lie far off."""
    deviation = np.std(X, axis=0)
    if X.shape[0] < _ENOUGH:
        return deviation
    low, high = np.quantile(X, (0.25, 0.75), axis=0, method="lower")
    middle = (high - low) / _QUARTILES
    return np.where((middle > 0.0) & (deviation > _FAR_OFF * middle), middle, deviation)


def limits(
    obj: Parameters,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    *,
    fixed: Collection[str] = (),
    tied: Mapping[str, str] | None = None,
) -> HostMatrix:
    """Find the lower and upper ends of the entries of `params.flatten`, as the caller gives them.

    Parameters
    ----------
    obj : Parameters
        The object whose parameters are fitted.
    bounds : mapping from str to tuple, optional
        ``(low, high)`` for parameters or entries by name, in their own units; None for an end that
        is open.
    fixed : collection of str, default ()
        The names of parameters and entries that stay out.
    tied : mapping from str to str, or None
        For entries that follow another, that one; they are in `fixed`, and bounds of one are those
        of the other.

    Returns
    -------
    HostMatrix, shape (n, 2)
        The ends, of logarithms for positive parameters; infinite where none is given.
    """
    given = _read(bounds, free_leaves(obj, without(fixed, tied)), tied)
    return _pairs([given.get(name, _NONE) for name in names(obj, fixed=fixed)])


@dataclass(frozen=True, eq=False)
class Spread:
    """The spread of rows of data, made by `spread`; the spreads of two sets of rows add.

    The arrays, (d + 1,), are of each column of X, and then of y.

    Parameters
    ----------
    count : int
        How many rows there are.
    low, high : HostVector, shape (d + 1,)
        The ends.
    mean : HostVector, shape (d + 1,)
        The means.
    deviation : HostVector, shape (d + 1,)
        The standard deviations. Of a column of X that rows lie far off, as a -9999 for a gap does,
        it is what the middle half of its values says.
    rounding : float
        The epsilon of the dtype of the rows.
    latent : bool, default False
        True if f has not the unit of y, as for labels and counts.
    """

    count: int
    low: HostVector
    high: HostVector
    mean: HostVector
    deviation: HostVector
    rounding: float
    latent: bool = False

    __repr__ = summary

    def __add__(self, other: Spread) -> Spread:
        count = self.count + other.count
        share = other.count / count
        apart = other.mean - self.mean
        within = (1.0 - share) * self.deviation**2 + share * other.deviation**2
        return replace(
            self,
            count=count,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            mean=self.mean + share * apart,
            deviation=np.sqrt(within + share * (1.0 - share) * apart**2),
        )

    @property
    def columns(self) -> HostVector:
        """The standard deviation of each column of X, (d,), and 1 where it is zero."""
        of_X = self.deviation[:-1]
        return np.where(of_X > 0.0, of_X, 1.0)

    @property
    def constant(self) -> bool:
        """True if y is one number several times."""
        return bool(self.count > 1 and self.low[-1] == self.high[-1])

    @property
    def unit(self) -> float:
        """The standard deviation of y about its mean, as the unit of y.

        The size of y where it is constant, and 1 where that is zero, or where f is latent.
        """
        top = float(max(abs(self.low[-1]), abs(self.high[-1])))
        if self.latent or top == 0.0:
            return 1.0
        deviation = float(self.deviation[-1])
        return top if deviation <= 4.0 * self.rounding * top else deviation


def spread(X: Matrix, y: Vector) -> Spread:
    """Measure where rows of data lie.

    Examples
    --------
    >>> spread(np.asarray([[0.0], [2.0]]), np.asarray([3.0, 5.0])).deviation
    array([1., 1.])
    """
    _check.vector(y, "y", rows=_check.matrix(X, "X"))
    return _spread(X, y)


def _spread(X: Matrix, y: Vector) -> Spread:
    rows = np.column_stack([to_numpy(X), to_numpy(y)]).astype(np.float64)
    low, high, top = np.min(rows, axis=0), np.max(rows, axis=0), _tops(rows)
    top[-1] = max(-low[-1], high[-1], np.finfo(np.float64).tiny)  # squares of y may underflow, too
    small = rows / top
    deviation = top * np.std(small, axis=0)
    deviation[:-1] = top[:-1] * _deviations(small[:, :-1])
    return Spread(rows.shape[0], low, high, np.mean(rows, axis=0), deviation, epsilon(y))


def ends(obj: Parameters, of: Spread, *, fixed: Collection[str] = ()) -> HostMatrix:
    """Find how far a fit to data of some spread goes with parameters that are given no bounds.

    Parameters
    ----------
    obj, fixed
        As in `limits`.
    of : Spread
        The spread of the data.

    Returns
    -------
    HostMatrix, shape (n, 2)
        The lower and upper ends of the entries of `params.flatten`, as of `limits`.

    Notes
    -----
    A positive parameter stays

    - as a length of the inputs between 1e-5 of the narrowest column of X and 1e5 of the widest;
    - as a variance of y above ``eps · var y``; above, the evidence falls by itself;
    - as any other within a factor of 1e10 of its start,

    and the start is always within. Parameters of any sign have no ends.
    """
    kinds = {leaf.path: leaf for leaf in free_leaves(obj, fixed)}
    logs = _log_units(of)
    start = vector_of(obj, fixed=fixed)
    entries = zip(_paths(obj, fixed), start.tolist(), strict=True)
    return _pairs([_end(kinds[path], here, logs) for path, here in entries])


def units(obj: Parameters, of: Spread, *, fixed: Collection[str] = ()) -> HostVector:
    """Find for each entry of `params.flatten` the unit in which a fit moves it.

    Parameters
    ----------
    obj, fixed
        As in `limits`.
    of : Spread
        The spread of the data.

    Returns
    -------
    HostVector, shape (n,)
        `Spread.unit` for a mean of y; for a frequency that is not zero its size; and 1 for all
        else: logarithms have no unit.
    """
    kinds = {leaf.path: leaf for leaf in free_leaves(obj, fixed)}
    start = vector_of(obj, fixed=fixed)
    entries = zip(_paths(obj, fixed), start.tolist(), strict=True)
    return np.asarray([_unit(kinds[path], here, of) for path, here in entries], dtype=np.float64)


def strides(obj: Parameters, of: Spread, *, fixed: Collection[str] = ()) -> HostVector:
    """Find for each entry of `params.flatten` how far away another value is another statement.

    Parameters
    ----------
    obj, fixed
        As in `limits`.
    of : Spread
        The spread of the data.

    Returns
    -------
    HostVector, shape (n,)
        1 for a logarithm, a factor of e; for a mean of y, `Spread.unit`; for a frequency its size;
        for others the size of the value, and at least 1.
    """
    kinds = {leaf.path: leaf for leaf in free_leaves(obj, fixed)}
    others = [
        kinds[p].constraint == "real" and kinds[p].unit not in ("y", "1/x")
        for p in _paths(obj, fixed)
    ]
    end = vector_of(obj, fixed=fixed)
    sizes = np.where(np.asarray(others, dtype=bool), np.maximum(1.0, np.abs(end)), 1.0)
    return sizes * units(obj, of, fixed=fixed)


def _unit(leaf: Leaf, start: float, of: Spread) -> float:
    if leaf.constraint != "real":
        return 1.0
    return of.unit if leaf.unit == "y" else abs(start) or 1.0 if leaf.unit == "1/x" else 1.0


def _paths(obj: Parameters, fixed: Collection[str]) -> list[str]:
    """For each entry of the flat vector the parameter that it belongs to."""
    return [path_of(name) for name in names(obj, fixed=fixed)]


def _pairs(pairs: list[tuple[float, float]]) -> HostMatrix:
    return np.asarray(pairs, dtype=np.float64).reshape(-1, 2)


def touched(
    obj: Parameters, vector: HostVector, box: HostMatrix, *, fixed: Collection[str] = ()
) -> tuple[str, ...]:
    """Name the entries of a flat vector that lie on a side of a box.

    Parameters
    ----------
    obj, fixed
        As in `limits`.
    vector : HostVector, shape (n,)
        The entries, as of `params.flatten`.
    box : HostMatrix, shape (n, 2)
        The lower and upper ends, as of `limits`.

    Returns
    -------
    tuple of str
        The names of those entries; an entry whose two ends are equal is none.
    """
    low, high = box[:, 0], box[:, 1]
    there = (low < high) & ((vector <= low) | (vector >= high))
    return tuple(np.asarray(names(obj, fixed=fixed), dtype=object)[there])


def _read(
    bounds: Mapping[str, tuple[float | None, float | None]] | None,
    free: Sequence[Leaf],
    tied: Mapping[str, str] | None,
) -> dict[str, tuple[float, float]]:
    """The bounds given, by entry, as in the flat vector: logarithms for positive parameters."""
    if not isinstance(bounds, Mapping | None):
        wanted = "a mapping from names to (low, high)"
        raise TypeError(f"bounds must be {wanted}; got {type(bounds).__name__}")
    there = {leaf.path: leaf.entries for leaf in free}
    keys = given_by_entry("bounds", bounds or {}, there, tied)
    kinds = {entry: leaf.constraint for leaf in free for entry in there[leaf.path]}
    pairs = bounds or {}
    return {entry: _interval(key, pairs[key], kinds[entry]) for entry, key in keys.items()}


def _interval(key: str, pair: object, constraint: str) -> tuple[float, float]:
    name = f"bounds[{key!r}]"
    positive = constraint != "real"
    wanted = f"must be {'0 < ' if positive else ''}low <= high, with None for an end that is open"
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray):
        raise TypeError(f"{name} {wanted}; got {pair!r}")
    given = [end for end in pair if end is not None]
    if len(pair) != 2 or not all(_is_finite(end, f"an end of {name}") for end in given):
        raise ValueError(f"{name} {wanted}; got {pair}")
    if positive and any(end <= 0.0 for end in given):
        raise ValueError(f"{name} {wanted}; got {pair}")
    low, high = (
        open_end if end is None else math.log(end) if positive else float(end)
        for end, open_end in zip(pair, _NONE, strict=True)
    )
    if low > high:
        raise ValueError(f"{name} {wanted}; got {pair}")
    return low, high


def _is_finite(end: Any, name: str) -> bool:
    try:
        _check.number(end, name)
    except ValueError:
        return False
    return True


def _end(leaf: Leaf, start: float, units: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """For an entry of the flat vector that starts at `start`."""
    if leaf.constraint == "real":
        return _NONE
    low, high = units.get(leaf.unit, (start - _WIDE, start + _WIDE))
    return min(low, start), max(high, start)


def _log_units(of: Spread) -> dict[str, tuple[float, float]]:
    """The logarithms of the ends of lengths of X and of variances of y."""
    widths = (of.high - of.low)[:-1]
    varies = widths > 0.0
    logs = np.log(widths[varies])
    narrow = np.minimum(logs, np.log(_RANGE * of.columns[varies]))  # but for a row far off
    x = (float(narrow.min()) - _FAR, float(logs.max()) + _FAR) if logs.size else _NONE
    return {"x": x, "y²": (2.0 * math.log(of.unit) + math.log(of.rounding), math.inf)}
