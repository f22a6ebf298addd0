"""The evidence of any kernel for NumPy arrays, a tile of its matrix at a time.

A sum or a product of kernels needs no matrix but K_y itself, which its factor and then its
inverse overwrite. All else, the values of the summands and factors above all, is there for
one tile, some rows of the inputs by some others, and made again when the gradient needs it:
exponentials cost n², the inverse n³. The formulas are those of `exact` and of the kernels, which
stay the reference: a test holds both to each other.

Only lower triangles count. They are seen through the transpose, ``K.T[rows, columns]``, where the
rows are never behind the columns, and contiguous along them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np

from .. import ground
from ..ground.memory import blocks
from ..ground.params import Parameters, added
from ..ground.xp import (
    HostMatrix,
    Matrix,
    Numbers,
    Vector,
)
from .factors import Evidence, Solved, solved

__all__ = ["Tile", "TiledKernel", "evidence_and_gradient", "supports", "tiles_of"]


_SIDE = 256  # rows of a tile: 512 KiB in float64, so that a few at work fit a core's cache


class Tile(NamedTuple):
    """Some rows of the inputs, and the same or later ones."""

    rows: slice
    columns: slice

    @property
    def on_diagonal(self) -> bool:
        """True for a tile of points with themselves."""
        return self.rows == self.columns


class TiledKernel(Protocol):
    """A kernel at work on the tiles of its matrix of some inputs with themselves.

    It may keep its values for the tile it was last asked about.
    """

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile, not to be written to."""

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """Carry derivatives by the values on the tile back, and add them to those before."""

    def kernel_bar(self) -> Parameters:
        """All that was carried back, in the shape of the kernel."""


def supports(X: Matrix) -> TypeGuard[HostMatrix]:
    """Return True for inputs that this module takes: arrays of NumPy, and not empty for BLAS."""
    return X.shape[0] > 0 and isinstance(X, np.ndarray)


def evidence_and_gradient(
    kernels: Sequence[TiledKernel],
    noise_var: Numbers,
    X: HostMatrix,
    residual: Vector,
    share: Numbers = 1.0,
) -> Evidence | None:
    """The evidence and its derivatives, or None where K_y needs jitter; O(n³), one n × n buffer.

    Several objects of one kernel go through tiles of their own, so that threads may share them.
    """
    n = X.shape[0]
    K = np.empty((n, n), X.dtype, order="F")
    tiles, numbers = list(tiles_of(n, _SIDE)), range(len(kernels))

    def fill(i: int) -> None:
        for tile in tiles[i :: len(kernels)]:
            K.T[tile] = kernels[i].values(tile)

    def pull(i: int) -> None:
        assert found is not None
        for tile in tiles[i :: len(kernels)]:
            kernels[i].pull(tile, _bar(found, tile))

    with ground.tiled_cholesky.sharing(X) as threads:
        ground.task_queue.for_each(numbers, fill, threads)
        found = solved(K, noise_var, residual, share, threads)
        if found is None:
            return None
        ground.task_queue.for_each(numbers, pull, threads)
    first, *others = kernels
    bar = first.kernel_bar()
    for kernel in others:
        bar = added(bar, kernel.kernel_bar())
    precision = found.inverse.diagonal().copy()
    return Evidence(found.value, bar, found.noise_var_bar, found.alpha, precision)


def tiles_of(n: int, side: int) -> Iterator[Tile]:
    """Tiles of so many rows that cover the triangle."""
    cuts = blocks(n, 1, side)
    if len(cuts) == 1:
        return iter([Tile(cuts[0], cuts[0])])
    return (Tile(rows, columns) for i, rows in enumerate(cuts) for columns in cuts[i:])


def _bar(found: Solved, tile: Tile) -> HostMatrix:
    """``α αᵀ − K_y⁻¹``, which counts twice off the diagonal, for both triangles.

    A tile on the diagonal has both sides: the other one is zero, and the diagonal is halved.
    """
    bar = found.alpha[tile.rows, None] * found.alpha[None, tile.columns]
    bar -= found.inverse.T[tile]
    if tile.on_diagonal:
        bar *= _counted(bar.shape[0], bar.dtype)
    return bar


@cache
def _counted(size: int, dtype: np.dtype) -> HostMatrix:
    """One above the diagonal, a half on it, zero below; kept, since there are few sizes."""
    return np.triu(np.ones((size, size), dtype)) - 0.5 * np.eye(size, dtype=dtype)
