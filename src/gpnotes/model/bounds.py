"""How far a fit may go: bounds given by name, and others taken from the range of the data.

Far outside of the data's own units a parameter changes nothing that the data could show: two
points at 1e-5 of their distance as lengthscale are independent, and noise below the rounding of y
is no noise. There an optimiser would only wander until its numbers overflow.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.params import Leaf, Parameters, flatten, free_leaves, names
from ..ground.xp import HostMatrix, HostVector, Matrix, Vector, epsilon, to_numpy

__all__ = ["ends", "limits", "strides", "touched"]

_FAR = math.log(1e5)  # lengthscales, in units of the range of the inputs
_WIDE = math.log(1e10)  # what has no unit, in units of its start
_NONE = (-math.inf, math.inf)


def limits(
    obj: Parameters,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    *,
    fixed: Collection[str] = (),
) -> HostMatrix:
    """Lower and upper ends (n, 2) of the entries of `params.flatten`: infinite where none is given.

    `bounds` limit parameters by name, in their own units. Raises `ValueError` for names that are
    not there, and `TypeError` or `ValueError` for bounds that are no intervals of finite numbers,
    positive ones where the parameter is.
    """
    given = _read(bounds, {leaf.path: leaf for leaf in free_leaves(obj, fixed)})
    return _pairs(given.get(path, _NONE) for path in _paths(obj, fixed))


def ends(obj: Parameters, X: Matrix, y: Vector, *, fixed: Collection[str] = ()) -> HostMatrix:
    """As `limits`, how far a fit goes with parameters that are given no bounds.

    A positive parameter stays

    - as a length of the inputs between 1e-5 of the narrowest column of X and 1e5 of the widest;
    - as a variance of y above ``eps · var y``; above, the evidence falls by itself;
    - as any other within a factor of 1e10 of its start,

    and the start is always within. Parameters of any sign have no ends.
    """
    kinds = {leaf.path: leaf for leaf in free_leaves(obj, fixed)}
    units = _log_units(X, y)
    start, _ = flatten(obj, fixed=fixed)
    entries = zip(_paths(obj, fixed), start.tolist(), strict=True)
    return _pairs(_end(kinds[path], here, units) for path, here in entries)


def strides(obj: Parameters, y: Vector, *, fixed: Collection[str] = ()) -> HostVector:
    """For each entry of `params.flatten`, how far away another value is another statement.

    1 for a logarithm, a factor of e; for a mean of y, the standard deviation of y; for others the
    size of the value, and at least 1.
    """
    kinds = {leaf.path: leaf for leaf in free_leaves(obj, fixed)}
    end, _ = flatten(obj, fixed=fixed)
    scale = math.exp(0.5 * _log_variance(y))
    entries = zip(_paths(obj, fixed), end.tolist(), strict=True)
    sizes = [_distance(kinds[path], value, scale) for path, value in entries]
    return np.asarray(sizes, dtype=np.float64)


def _distance(leaf: Leaf, value: float, scale: float) -> float:
    if leaf.constraint != "real":
        return 1.0
    return scale if leaf.unit == "y" else max(1.0, abs(value))


def _paths(obj: Parameters, fixed: Collection[str]) -> list[str]:
    """For each entry of the flat vector the parameter that it belongs to."""
    return [name.partition("[")[0] for name in names(obj, fixed=fixed)]


def _pairs(pairs: Iterable[tuple[float, float]]) -> HostMatrix:
    return np.asarray(list(pairs), dtype=np.float64).reshape(-1, 2)


def touched(
    obj: Parameters, vector: HostVector, box: HostMatrix, *, fixed: Collection[str] = ()
) -> tuple[str, ...]:
    """The names of the entries of `vector` that lie on a side of `box` (n, 2)."""
    low, high = box[:, 0], box[:, 1]
    there = (low < high) & ((vector <= low) | (vector >= high))
    return tuple(np.asarray(names(obj, fixed=fixed), dtype=object)[there])


def _read(
    bounds: Mapping[str, tuple[float, float]] | None, kinds: Mapping[str, Leaf]
) -> dict[str, tuple[float, float]]:
    """The bounds given, as entries of the flat vector: logarithms for positive parameters."""
    if not isinstance(bounds, Mapping | None):
        wanted = "a mapping from names to (low, high)"
        raise TypeError(f"bounds must be {wanted}; got {type(bounds).__name__}")
    unknown = sorted(set(bounds or {}) - set(kinds), key=str)
    if unknown:
        raise ValueError(f"bounds name {unknown}; the parameters are {sorted(kinds)}")
    return {name: _interval(kinds[name], pair) for name, pair in (bounds or {}).items()}


def _interval(leaf: Leaf, pair: Any) -> tuple[float, float]:
    name = f"bounds[{leaf.path!r}]"
    positive = leaf.constraint != "real"
    wanted = f"must be {'0 < ' if positive else ''}low <= high, both finite"
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray):
        raise TypeError(f"{name} {wanted}; got {pair!r}")
    if len(pair) != 2 or not all(_is_finite(end, f"an end of {name}") for end in pair):
        raise ValueError(f"{name} {wanted}; got {pair}")
    low, high = (float(end) for end in pair)
    if low > high or (positive and low <= 0.0):
        raise ValueError(f"{name} {wanted}; got {pair}")
    return (math.log(low), math.log(high)) if positive else (low, high)


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


def _log_units(X: Matrix, y: Vector) -> dict[str, tuple[float, float]]:
    """The logarithms of the ends of lengths of X and of variances of y."""
    widths = np.ptp(np.asarray(to_numpy(X), dtype=np.float64), axis=0)
    logs = np.log(widths[widths > 0.0])
    x = (float(logs.min()) - _FAR, float(logs.max()) + _FAR) if logs.size else _NONE
    return {"x": x, "y²": (_log_variance(y) + math.log(epsilon(y)), math.inf)}


def _log_variance(y: Vector) -> float:
    """Of y about its mean, of y about zero where it is constant, and 0 where it is zero.

    In units of the largest entry, whose square might overflow.
    """
    host = np.asarray(to_numpy(y), dtype=np.float64)
    top = float(np.max(np.abs(host)))
    if top == 0.0:
        return 0.0
    variance = float(np.var(host / top))
    constant = variance <= (4.0 * epsilon(y)) ** 2
    return 2.0 * math.log(top) + math.log(1.0 if constant else variance)
