"""Kernels at work on tiles: by their hooks, by distances in place, and combined.

Each is the counterpart for tiles of a class of `kernels`; that class makes it, in its hook
``_on_tiles``. A kernel that brings none goes by its other hooks, which are asked for a tile as for
any matrix: so one of your own needs no more memory than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import Any, Protocol

import numpy as np

from ..ground import memory
from ..ground.params import Parameters, added, cotangent
from ..ground.threads import in_one_pool
from ..ground.xp import HostMatrix, Matrix, Numbers, Vector, as_host
from .factors import Evidence
from .stationary_evidence import HostPairs, InPlaceKernel, scaled, values_and_slopes
from .tiles import Tile, TiledKernel, evidence_and_gradient, supports

__all__ = [
    "ByHooks", "Multiplied", "OfDistances", "Raised", "Scaled", "Summed", "Wrapped",
    "evidence_in_place", "tiled",
]  # fmt: skip

_SHARES = 4  # objects of a kernel of distances, each with some tiles of the others
_SMALL = 512  # points up to which all tiles of a kernel are kept: few enough to cost no memory


class Hooks(Parameters, Protocol):
    """The parts of a kernel that this module uses."""

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix: ...

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Any, Matrix, Matrix | None]: ...

    def _on_tiles(self, x: Matrix) -> TiledKernel: ...


def tiled(kernel: Hooks, x: Matrix) -> TiledKernel:
    """The kernel at work on the tiles of its matrix of x with itself.

    A class speaks for itself, not for its subclasses: one that brings another ``_gram`` or
    ``_pullback``, and no ``_on_tiles``, goes by these.
    """
    hooks = {"_gram", "_pullback", "_on_tiles"}
    for kind in type(kernel).__mro__:
        if own := hooks & vars(kind).keys():
            break
    return kernel._on_tiles(x) if "_on_tiles" in own else ByHooks(kernel, x)


def evidence_in_place(
    kernel: Hooks, noise_var: Numbers, X: Matrix, residual: Vector, share: Numbers = 1.0
) -> Evidence | None:
    """The evidence of any kernel; None for other namespaces, and where K_y needs jitter.

    `residual` (n,) is the observations less the mean.
    """
    if not supports(X):
        return None
    memory._require_of_rows(X.shape[0], like=X, copies=1, what="the Gram matrix")
    at_work = tiled(kernel, X)
    if isinstance(at_work, OfDistances):
        shares = [at_work] if X.shape[0] <= _SMALL else [at_work.alone() for _ in range(_SHARES)]
        return evidence_and_gradient(shares, noise_var, X, residual, share)
    return _in_one_pool(at_work, noise_var, X, residual, share)


@in_one_pool
def _in_one_pool(
    kernel: TiledKernel, noise_var: Numbers, X: HostMatrix, residual: Vector, share: Numbers = 1.0
) -> Evidence | None:
    """The same for kernels that may multiply with NumPy."""
    return evidence_and_gradient([kernel], noise_var, X, residual, share)


class ByHooks:
    """Any kernel: a tile on the diagonal is the matrix of its points with themselves."""

    def __init__(self, kernel: Hooks, x: Matrix) -> None:
        self._kernel = kernel
        self._x = x
        self._bar: Parameters | None = None

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return as_host(self._kernel._gram(*self._points(tile)))

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """Add the tile's terms to the derivatives."""
        kernel_bar, _, _ = self._kernel._pullback(*self._points(tile), bar)
        self._bar = kernel_bar if self._bar is None else added(self._bar, kernel_bar)

    def kernel_bar(self) -> Parameters:
        """The derivatives; none where there was no tile."""
        assert self._bar is not None
        return self._bar

    def _points(self, tile: Tile) -> tuple[Matrix, Matrix | None]:
        rows = self._x[tile.rows]
        return rows, None if tile.on_diagonal else self._x[tile.columns]


class OfDistances:
    """A stationary kernel with a profile in place.

    Values and slopes of one tile are kept, those of all where there are few. The evidence asks for
    all tiles twice, before K_y is factored and after: those made for the first time are forgotten
    but for the last tile, since values and slopes of all would be as many numbers as K_y.
    """

    def __init__(self, kernel: InPlaceKernel, x: Matrix, *, alone: bool = False) -> None:
        self._kernel, self._x, self._alone = kernel, x, alone
        u = scaled(kernel, x)
        self._pairs = HostPairs(u, u)
        self._keeps_all = x.shape[0] <= _SMALL
        self._made: dict[tuple[int, int], tuple[HostMatrix, HostMatrix]] = {}
        self._variance_bar = 0.0
        self._squares = np.zeros(x.shape[1])

    def alone(self) -> OfDistances:
        """Another that is part of no sum or product, and keeps no tile: none is asked for twice."""
        return OfDistances(self._kernel, self._x, alone=True)

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return self._values_and_slopes(tile)[0]

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """Add ``Σᵢⱼ barᵢⱼ kᵢⱼ``, and ``Σᵢⱼ Wᵢⱼ (uᵢ − uⱼ)²`` with ``W = bar ∘ dk/dq``."""
        k, slope = self._values_and_slopes(tile)
        self._variance_bar += float(np.vdot(bar, k))
        squares: Any = self._pairs.pull(bar * slope, *tile)[1]
        self._squares += squares

    def _values_and_slopes(self, tile: Tile) -> tuple[HostMatrix, HostMatrix]:
        if self._alone:
            return values_and_slopes(self._kernel, self._pairs, *tile)
        key = tile.rows.start, tile.columns.start
        if key not in self._made:
            if not self._keeps_all:
                self._made.clear()
            self._made[key] = values_and_slopes(self._kernel, self._pairs, *tile)
        return self._made[key]

    def kernel_bar(self) -> Parameters:
        """The derivatives by variance and lengthscale, ``Σ bar k / σ_f²`` and ``−2 Σ W … / ℓ``."""
        # q = Σ_d (u_id − u_jd)² with u = x/ℓ, so ∂q/∂ℓ_d = −2 (u_id − u_jd)² / ℓ_d
        lengths = self._kernel.lengthscale
        lengths_bar = -2.0 * self._squares.astype(self._pairs.dtype) / lengths
        return cotangent(
            self._kernel,
            variance=self._variance_bar / self._kernel.variance,
            lengthscale=_total(lengths_bar) if isinstance(lengths, float) else lengths_bar,
        )


def _total(a: HostMatrix) -> float:
    return float(np.sum(a))


class Summed:
    """A sum of kernels, for its object and its parts at work."""

    def __init__(self, kernel: Parameters, parts: Sequence[TiledKernel]) -> None:
        self._kernel = kernel
        self._parts = parts

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return reduce(add, (part.values(tile) for part in self._parts))

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """To each part the same."""
        for part in self._parts:
            part.pull(tile, bar)

    def kernel_bar(self) -> Parameters:
        """The derivatives by all parts."""
        return cotangent(self._kernel, parts=tuple(part.kernel_bar() for part in self._parts))


class Multiplied(Summed):
    """A product of kernels likewise."""

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return reduce(mul, (part.values(tile) for part in self._parts))

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """Pass to each factor the derivatives times all other factors."""
        # the product of the others, not that of all over this one: a factor may be zero
        values = [part.values(tile) for part in self._parts]
        for i, part in enumerate(self._parts):
            part.pull(tile, reduce(mul, values[:i] + values[i + 1 :], bar))


class Wrapped:
    """A kernel that hands another's values on, those of chosen columns, say."""

    def __init__(self, kernel: Parameters, inner: TiledKernel) -> None:
        self._kernel = kernel
        self._inner = inner

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return self._inner.values(tile)

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """To the inner kernel as it is."""
        self._inner.pull(tile, bar)

    def kernel_bar(self) -> Parameters:
        """The derivatives by the inner kernel."""
        return cotangent(self._kernel, kernel=self._inner.kernel_bar())


class Scaled(Wrapped):
    """A kernel times a scale, whose derivative is ``Σᵢⱼ barᵢⱼ k₁ᵢⱼ``."""

    def __init__(self, kernel: Parameters, scale: float, inner: TiledKernel) -> None:
        super().__init__(kernel, inner)
        self._scale = scale
        self._scale_bar = 0.0

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return self._scale * self._inner.values(tile)

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """To the inner kernel by its scale."""
        self._scale_bar += _total(bar * self._inner.values(tile))
        self._inner.pull(tile, self._scale * bar)

    def kernel_bar(self) -> Parameters:
        """The derivatives by the scale and by the inner kernel."""
        return cotangent(self._kernel, scale=self._scale_bar, kernel=self._inner.kernel_bar())


class Raised(Wrapped):
    """A power of a kernel, whose derivative by it is ``p k₁ᵖ⁻¹``."""

    def __init__(self, kernel: Parameters, exponent: int, inner: TiledKernel) -> None:
        super().__init__(kernel, inner)
        self._exponent = exponent

    def values(self, tile: Tile) -> HostMatrix:
        """k on the tile."""
        return as_host(self._inner.values(tile) ** self._exponent)

    def pull(self, tile: Tile, bar: HostMatrix) -> None:
        """To the inner kernel by the slope of the power."""
        slope = self._exponent * self._inner.values(tile) ** (self._exponent - 1)
        self._inner.pull(tile, bar * slope)
