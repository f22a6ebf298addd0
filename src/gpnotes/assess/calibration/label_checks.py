"""Checks of labels, 1 or −1, and of probabilities, from 0 to 1."""

from __future__ import annotations

from ...ground import check as _check
from ...ground.xp import Array, Vector, how_many, in_double

__all__ = ["beside", "is_one", "labels", "probabilities"]


def labels(y: Vector) -> Vector:
    """Return y (n,) if every label is 1 or −1, and there is one."""
    n = _check.vector(y, "y").shape[0]
    if n == 0:
        raise ValueError("y must have at least one label; got (0,)")
    return _all((y == 1.0) | (y == -1.0), y, "y must hold labels, 1 or -1")


def probabilities(p: Vector, y: Vector | None = None) -> Vector:
    """Return p (n,) in float64, if its entries are probabilities, one for each label y (n,)."""
    name = "probability"
    _check.vector(p, name) if y is None else beside(p, name, y)
    if p.shape[0] == 0:
        raise ValueError(f"{name} must have at least one entry; got (0,)")
    return in_double(_all((p >= 0.0) & (p <= 1.0), p, f"{name} must lie from 0 to 1"))


def beside(a: Vector, name: str, y: Vector) -> Vector:
    """Return `a` if it has a number for each of y, of their kind."""
    return _check.alike(_check.vector(a, name, size=y.shape[0]), name, y, "y")


def is_one(y: Vector) -> Vector:
    """One where the label is 1, zero where it is −1, in float64."""
    return 0.5 * (in_double(y) + 1.0)


def _all(right: Array, a: Vector, wanted: str) -> Vector:
    count, row = how_many(~right)
    if count:
        raise ValueError(
            f"{wanted}; {count} of its entries are not, the first in row {row}: {float(a[row])}"
        )
    return a
