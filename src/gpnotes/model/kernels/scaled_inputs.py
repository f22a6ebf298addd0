"""Inputs in units of the lengthscales, about one centre, with their squared distances.

On a device a number that is read makes the host wait until all before it is done. So the inputs are
put about their mean at once, and one number is read, from which the rest follows: whether the mean
drowns some of them, whether squares overflow, and whether distances may be expanded. NumPy's arrays
take the way of `ground.distances`, to the bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...ground.distances import (
    _centroid,
    _squared_distances,
    _squared_distances_pullback,
    as_they_are,
    as_they_are_pullback,
    sizes_if_near,
)
from ...ground.xp import Array, Matrix, Numbers, Vector, array_namespace, is_numpy_namespace

__all__ = ["ScaledInputs", "about_centre", "distances", "scaled"]


class ScaledInputs(NamedTuple):
    """The rows of u and v, or of u alone, in units of the lengthscale."""

    u: Matrix
    v: Matrix | None
    sizes: tuple[Vector, Vector] | None  # |u|² and |v|², if nothing more need be asked of them

    def distances(self) -> Matrix:
        """Find the squared distances (n, m), as the function of that name does."""
        if self.sizes is not None:
            return as_they_are(self.u, self.v, self.sizes)
        return distances(self.u, self.v)

    def pullback(self, q_bar: Matrix) -> tuple[Matrix, Matrix | None]:
        """Carry derivatives (n, m) by the distances back to u and v."""
        if self.sizes is not None:
            return as_they_are_pullback(self.u, self.v, q_bar)
        return _squared_distances_pullback(self.u, self.v, q_bar)


def scaled(x: Matrix, z: Matrix | None, lengths: Numbers) -> ScaledInputs:
    """Put the rows of x (n, d) and z (m, d) about one centre: only differences matter."""
    if is_numpy_namespace(array_namespace(x)) or not (x.shape[0] and (z is None or z.shape[0])):
        return ScaledInputs(*about_centre(x, z, lengths), None)
    centre = array_namespace(x).mean(x, axis=0)
    u = (x - centre) / lengths
    v = None if z is None else (z - centre) / lengths
    if (sizes := sizes_if_near(u, v)) is not None:
        return ScaledInputs(u, v, sizes)
    return ScaledInputs(*about_centre(x, z, lengths), None)


def about_centre(x: Matrix, z: Matrix | None, lengths: Numbers) -> tuple[Matrix, Matrix | None]:
    """Put them about a centre that drowns none of them."""
    centre = _centroid(x, lengths)
    return (x - centre) / lengths, None if z is None else (z - centre) / lengths


def distances(u: Array, v: Array | None) -> Array:
    """Find the squared distances (n, m) of rows of u and v, or among those of u.

    In units of the lengthscale, and at most a hundredth of what the dtype can hold: finite where
    they overflow, since infinity times zero is NaN.
    """
    xp = array_namespace(u)
    q = _squared_distances(u, v)
    top = float(xp.finfo(u.dtype).max)
    if max(map(_widest, (u, u if v is None else v))) > 1e-3 * math.sqrt(top):
        return xp.clip(q, None, 1e-2 * top)
    return q


def _widest(u: Array) -> float:
    return float(array_namespace(u).max(array_namespace(u).abs(u))) if u.shape[0] else 0.0
