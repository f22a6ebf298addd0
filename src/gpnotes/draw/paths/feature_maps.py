"""Features of a kernel: of each kernel that it is a sum of, side by side.

RBF, Matérn and rational quadratic kernels have random cosines, a linear and a constant kernel exact
features, and so has one of several outputs. A multiple and a choice of columns are a factor and a
choice of columns of the features, a product of kernels has all products of their features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, cast

from ...ground.distances import _centroid
from ...ground.random import Stream
from ...ground.xp import Matrix, Vector, array_namespace, as_index, eye
from ...infer.features import Frequencies, draw_frequencies
from ...model.kernels import (
    RBF,
    ActiveDims,
    Constant,
    Coregion,
    Kernel,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Product,
    RationalQuadratic,
    Scaled,
    Stationary,
    Sum,
)
from ...model.kernels.summands import summands_of

__all__ = ["FeatureMap", "draw_feature_map"]

_STATIONARY = (RBF, Matern12, Matern32, Matern52, RationalQuadratic)
_EXACT = (Linear, Constant, Coregion)
_KNOWN = ", ".join(kind.__name__ for kind in (*_STATIONARY, *_EXACT))


def draw_feature_map(kernel: Kernel, X: Matrix, size: int, stream: Stream) -> FeatureMap:
    """Return the features of a kernel for inputs like X (n, d).

    Parameters
    ----------
    kernel : Kernel
        RBF, Matérn, rational quadratic, linear and constant kernels and `Coregion`, and sums,
        multiples, choices of columns and products of them; of the factors of a product one alone
        may have cosines.
    X : Matrix, shape (n, d)
        Inputs, validated.
    size : int
        How many random cosines each part that is stationary has.
    stream : Stream
        The source of random numbers.
    """
    parts = tuple(summands_of(kernel, tuple(range(X.shape[1]))))
    for part, _, _ in parts:
        if type(part) not in (*_STATIONARY, *_EXACT, Product):
            raise _no_features(part)
    return FeatureMap(tuple(_draw_summand(*part, X, size, stream) for part in parts))


class _Summand(Protocol):
    """Features of one summand of a kernel: ``E ψ(x)·ψ(z) = k(x, z)``."""

    @property
    def size(self) -> int: ...

    def rows(self, X: Matrix) -> Matrix:
        """The features, (n, size), of X (n, d)."""

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        """The derivatives by X (n, d), of those by the features, (n, size)."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The features of a kernel, those of its summands side by side, ``E φ(x)·φ(z) = k(x, z)``.

    Parameters
    ----------
    parts : tuple
        The features of each summand.
    """

    parts: tuple[_Summand, ...]

    @property
    def size(self) -> int:
        """The number of features, R."""
        return sum(part.size for part in self.parts)

    def rows(self, X: Matrix) -> Matrix:
        """Return the features of inputs.

        Returns
        -------
        Matrix, shape (n, R)
            The features Φ, a row an input.
        """
        rows = [part.rows(X) for part in self.parts]
        return rows[0] if len(rows) == 1 else array_namespace(X).concat(rows, axis=1)

    def pull(self, X: Matrix, Phi_bar: Matrix) -> Matrix:
        """Carry derivatives by the features back to those by the inputs.

        Parameters
        ----------
        Phi_bar : Matrix, shape (n, R)
            The derivatives by Φ.
        """
        X_bar, start = array_namespace(X).zeros_like(X), 0
        for part in self.parts:
            X_bar = X_bar + part.pull(X, Phi_bar[:, start : start + part.size])
            start += part.size
        return X_bar


@dataclass(frozen=True, eq=False)
class _RandomCosines:
    """Cosines of a stationary kernel, about the centre of the data: only differences matter."""

    kernel: Stationary
    frequencies: Frequencies
    centre: Vector

    @property
    def size(self) -> int:
        return self.frequencies.size

    def rows(self, X: Matrix) -> Matrix:
        return self.frequencies._features(self.kernel, X - self.centre)

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        phase_bar = self.frequencies.phase_bar(self.kernel, X - self.centre, bar)
        return phase_bar @ (self.frequencies.unit / self.kernel.lengthscale)


@dataclass(frozen=True, eq=False)
class _LinearFeatures:
    """The features of a linear kernel: the inputs times the deviations of their slopes, (d,)."""

    deviations: Vector

    @property
    def size(self) -> int:
        return self.deviations.shape[0]

    def rows(self, X: Matrix) -> Matrix:
        return X * self.deviations

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        return bar * self.deviations


@dataclass(frozen=True, eq=False)
class _ConstantFeature:
    """One feature that is the same everywhere."""

    deviation: float

    @property
    def size(self) -> int:
        return 1

    def rows(self, X: Matrix) -> Matrix:
        return array_namespace(X).full_like(X[:, :1], self.deviation)

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        return array_namespace(X).zeros_like(X)


@dataclass(frozen=True, eq=False)
class _CoregionFeatures:
    """The features of several outputs: a row of ``[W, diag √κ]`` for each, (p, r + p)."""

    table: Matrix

    @property
    def size(self) -> int:
        return self.table.shape[1]

    def rows(self, X: Matrix) -> Matrix:
        xp = array_namespace(X)
        return xp.take(self.table, as_index(X[:, 0], X), axis=0)

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        return array_namespace(X).zeros_like(X)


@dataclass(frozen=True, eq=False)
class _ProductFeatures:
    """All products of a feature of one factor and a feature of another."""

    left: _Summand
    right: _Summand

    @property
    def size(self) -> int:
        return self.left.size * self.right.size

    def rows(self, X: Matrix) -> Matrix:
        products = self.left.rows(X)[:, :, None] * self.right.rows(X)[:, None, :]
        return array_namespace(X).reshape(products, (X.shape[0], self.size))

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        xp = array_namespace(X)
        bar = xp.reshape(bar, (X.shape[0], self.left.size, self.right.size))
        left_bar = xp.sum(bar * self.right.rows(X)[:, None, :], axis=2)
        right_bar = xp.sum(bar * self.left.rows(X)[:, :, None], axis=1)
        return self.left.pull(X, left_bar) + self.right.pull(X, right_bar)


@dataclass(frozen=True, eq=False)
class _ScaledFeatures:
    """Features of some columns of the inputs, times a factor."""

    part: _Summand
    dims: tuple[int, ...]
    factor: float

    @property
    def size(self) -> int:
        return self.part.size

    def rows(self, X: Matrix) -> Matrix:
        return self.factor * self.part.rows(_take_columns(X, self.dims))

    def pull(self, X: Matrix, bar: Matrix) -> Matrix:
        xp = array_namespace(X)
        inner = self.part.pull(_take_columns(X, self.dims), self.factor * bar)
        zeros = xp.zeros_like(X[:, 0])
        place = {k: i for i, k in enumerate(self.dims)}
        columns = range(X.shape[1])
        return xp.stack([inner[:, place[k]] if k in place else zeros for k in columns], axis=1)


def _take_columns(X: Matrix, dims: tuple[int, ...]) -> Matrix:
    return array_namespace(X).stack([X[:, k] for k in dims], axis=1)


def _no_features(kernel: Kernel) -> TypeError:
    wanted = f"{_KNOWN}, or sums, multiples, columns and products of them"
    wanted += ", of products with cosines in at most one factor"
    return TypeError(f"posterior.gp.kernel must be made of {wanted}; got {kernel!r}")


def _has_cosines(kernel: Kernel) -> bool:
    if isinstance(kernel, Sum | Product):
        return any(map(_has_cosines, kernel.parts))
    if isinstance(kernel, Scaled | ActiveDims):
        return _has_cosines(kernel.kernel)
    return isinstance(kernel, Stationary)


def _draw_summand(
    kernel: Kernel, dims: tuple[int, ...], scale: float, X: Matrix, size: int, stream: Stream
) -> _Summand:
    """The features of one of the summands, for inputs like X (n, d)."""
    inputs = _take_columns(X, dims)
    part = _draw_unscaled(kernel, inputs, size, stream)
    all_columns = dims == tuple(range(X.shape[1]))
    return part if all_columns and scale == 1.0 else _ScaledFeatures(part, dims, math.sqrt(scale))


def _draw_unscaled(kernel: Kernel, inputs: Matrix, size: int, stream: Stream) -> _Summand:
    if isinstance(kernel, Product):
        if sum(map(_has_cosines, kernel.parts)) > 1:
            raise _no_features(kernel)  # as many as the product of their numbers
        first, *others = (draw_feature_map(part, inputs, size, stream) for part in kernel.parts)
        return reduce(_ProductFeatures, others, cast(_Summand, first))
    if isinstance(kernel, Coregion):
        xp = array_namespace(kernel.weights)
        own = xp.sqrt(kernel.own)[:, None] * eye(kernel.own.shape[0], kernel.weights)
        return _CoregionFeatures(xp.concat([kernel.weights, own], axis=1))
    if isinstance(kernel, Linear):
        ones = array_namespace(inputs).ones_like(inputs[0, :])
        return _LinearFeatures(ones * kernel.variance**0.5)
    if isinstance(kernel, Constant):
        return _ConstantFeature(math.sqrt(kernel.variance))
    assert isinstance(kernel, Stationary)
    drawn = draw_frequencies(kernel, inputs, size, rng=stream)
    return _RandomCosines(kernel, drawn, _centroid(inputs, kernel.lengthscale))
