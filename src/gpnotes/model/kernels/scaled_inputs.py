"""Inputs in units of the lengthscales, about one centre, with their squared distances.

On a device a number that is read makes the host wait until all before it is done. So the inputs are
put about their mean at once, and one number is read, from which the rest follows: whether the mean
drowns some of them, whether squares overflow, and whether distances may be expanded. NumPy's arrays
take the way of `ground.distances`, to the bit. Where the library fuses elementwise work,
a function of the distances is one launch with these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, cast

from ...ground.distances import (
    _centroid,
    _squared_distances,
    _squared_distances_pullback,
    as_they_are,
    as_they_are_pullback,
    rounding,
    sizes_if_near,
)
from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    fused,
    in_double,
    is_cupy_array,
    is_numpy_namespace,
    zero_where,
)

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

    @property
    def expanded(self) -> bool:
        """True if `through` has all it needs, near rows on a device in its own precision."""
        return self.sizes is not None and is_cupy_array(self.u) and in_double(self.u) is self.u

    def products(self) -> Matrix:
        """Multiply all rows of u with all of v, (n, m)."""
        return self.u @ array_namespace(self.u).matrix_transpose(self._others)

    def through(
        self, products: Matrix, function: Callable[..., Array], *arguments: object
    ) -> Array:
        """Evaluate a function ``(q, *arguments)`` of the squared distances q, where `expanded`."""
        own, other = cast("tuple[Vector, Vector]", self.sizes)
        sizes = own[:, None], other[None, :]
        return _of_products(function)(products, *sizes, rounding(self.u), *arguments)

    def carried(self, W: Matrix, lengths: Numbers) -> tuple[Matrix, Matrix | None, Vector]:
        """Carry weights W (n, m), by the squared distances, back to x, z and the lengths (d,).

        Within u they are symmetric, and hold both sides' share.
        """
        u, xp = self.u, array_namespace(self.u)
        x_bar = _one_side(u, xp.sum(W, axis=1)[:, None], W @ self._others, lengths)
        by_lengths = _by_lengths(u, x_bar)
        if self.v is None:
            return x_bar, None, by_lengths
        turned = xp.matrix_transpose(W)
        z_bar = _one_side(self.v, xp.sum(W, axis=0)[:, None], turned @ u, lengths)
        return x_bar, z_bar, by_lengths + _by_lengths(self.v, z_bar)

    @property
    def _others(self) -> Matrix:
        return self.u if self.v is None else self.v

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
    u = _in_units(x, centre, lengths)
    v = None if z is None else _in_units(z, centre, lengths)
    if (sizes := sizes_if_near(u, v)) is not None:
        return ScaledInputs(u, v, sizes)
    return ScaledInputs(*about_centre(x, z, lengths), None)


@fused
def _in_units(x: Matrix, centre: Vector, lengths: Numbers) -> Matrix:
    return (x - centre) / lengths


@fused
def _one_side(u: Matrix, weights: Matrix, moved: Matrix, lengths: Numbers) -> Matrix:
    return 2.0 * (u * weights - moved) / lengths


@fused
def _by_lengths(u: Matrix, x_bar: Matrix) -> Vector:
    return array_namespace(u).sum(-x_bar * u, axis=0)


@cache
def _of_products(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of squared distances as one of products of rows and of the sizes of these."""

    def whole(products: Matrix, own: Matrix, other: Matrix, share: float, *others: object) -> Array:
        size = own + other
        q = size - 2.0 * products
        return function(zero_where(q <= share * size, q), *others)

    return fused(whole)


def about_centre(x: Matrix, z: Matrix | None, lengths: Numbers) -> tuple[Matrix, Matrix | None]:
    """Put them about a centre that drowns none of them."""
    centre = _centroid(x, lengths)
    return (x - centre) / lengths, None if z is None else (z - centre) / lengths


def distances(u: Array, v: Array | None) -> Array:
    """Find the squared distances (n, m) of rows of u and v, or among those of u.

    In units of the lengthscale, and at most a hundredth of the dtype's largest number: finite where
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
