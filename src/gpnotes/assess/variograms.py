"""Variograms: half the mean square of differences by distance, of readings and as a model has it.

A look at spatial data before a fit, and at the fit afterwards: where readings that are near each
other are alike, the curve starts low, at the *nugget*, and rises to the variance, the *sill*.
Results are NumPy's, whatever the data are in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.showing import summary
from ..ground.xp import (
    Array,
    HostMatrix,
    HostVector,
    Matrix,
    MatrixLike,
    Vector,
    VectorLike,
    to_numpy,
)

__all__ = ["Variogram", "expected_variogram", "variogram"]

Distances = Callable[[HostMatrix, HostMatrix], Array]


@dataclass(frozen=True, eq=False)
class Variogram:
    """A variogram by distance, made by `variogram` and `expected_variogram`.

    Parameters
    ----------
    distance : HostVector, shape (b,)
        The mean distance of the pairs in each bin that has some.
    semivariance : HostVector, shape (b,)
        Half the mean square of the differences of these pairs, in the unit of y².
    count : HostVector, shape (b,)
        How many pairs there are. They share readings, so that they are not independent.
    """

    distance: HostVector
    semivariance: HostVector
    count: HostVector

    __repr__ = summary


class Process(Protocol):
    """A process that `expected_variogram` takes."""

    @property
    def kernel(self) -> Covariance:
        """The kernel."""

    @property
    def noise_var(self) -> float:
        """The variance of the noise."""


class Covariance(Protocol):
    """A kernel of such a process."""

    def __call__(self, x: Matrix, z: Matrix | None = None) -> Matrix:
        """The covariances."""

    def diag(self, x: Matrix) -> Vector:
        """The variances."""


@takes("X", "y")
def variogram(
    X: MatrixLike,
    y: VectorLike,
    bins: int = 15,
    *,
    reach: float | None = None,
    robust: bool = False,
    distances: Distances | None = None,
) -> Variogram:
    """Estimate the variogram of readings, ``γ(h) = Σ (yᵢ − yⱼ)² / 2N`` over the N pairs near h.

    Parameters
    ----------
    X : Matrix, shape (n, d)
        Where the readings were made.
    y : Vector, shape (n,)
        The readings, less their known mean: a trend in them would look like distance.
    bins : int, default 15
        How many bins, of one width, there are from zero to `reach`. One without pairs is left out.
    reach : float, optional
        The largest distance; without it half of the largest that there is, beyond which few pairs
        from two ends of the region say all.
    robust : bool, default False
        Take Cressie and Hawkins's estimator, ``(Σ |yᵢ − yⱼ|^½ / N)⁴ / (2 (0.457 + 0.494/N))``,
        which heeds outliers less and is for normal differences otherwise.
    distances : callable, optional
        A function of X (n, d) and Z (m, d) that gives distances (n, m), such as
        `gpnotes.model.kernels.great_circle_distances`; without it they are straight.

    Returns
    -------
    Variogram
        Distances, semivariances and counts of the bins.

    Notes
    -----
    O(n²), a few rows at a time. Source: Matheron (1963); Cressie & Hawkins (1980); both in Cressie
    (1993), section 2.4.

    Examples
    --------
    >>> found = variogram([[0.0], [1.0], [2.0]], [0.0, 2.0, 1.0], bins=1, reach=1.5)
    >>> found.distance, found.semivariance, found.count
    (array([1.]), array([1.25]), array([2.]))
    """
    X = _check.matrix(X, "X")
    _check.alike(_check.vector(y, "y", rows=X), "y", X, "X")
    robust = _check.flag(robust, "robust")
    values: HostVector = np.asarray(to_numpy(y), dtype=np.float64)
    _check.squarable(values, "y")

    def differences(rows: slice) -> HostMatrix:
        gap = np.abs(values[rows, None] - values[None, :])
        return np.sqrt(gap) if robust else 0.5 * gap**2

    found = _binned(X, differences, bins, reach, distances)
    if not robust:
        return found
    bias = 0.457 + 0.494 / found.count
    return Variogram(found.distance, 0.5 * found.semivariance**4 / bias, found.count)


@takes("X")
def expected_variogram(
    gp: Process,
    X: MatrixLike,
    bins: int = 15,
    *,
    reach: float | None = None,
    distances: Distances | None = None,
) -> Variogram:
    """Compute the expectation of `variogram` for readings of a process, at the same pairs.

    ``(k(xᵢ, xᵢ) + k(xⱼ, xⱼ))/2 − k(xᵢ, xⱼ) + σ²``, whose mean over the pairs of each bin is
    compared with that of the readings. Where a fit is good, they lie near each other, though not
    within a band that this says: pairs are not independent.

    Parameters
    ----------
    gp : GP
        The process, such as ``found.model``; its mean is left out.
    X, bins, reach, distances
        As in `variogram`.

    Returns
    -------
    Variogram
        Distances, semivariances and counts of the bins.

    Notes
    -----
    O(n²). Source: Cressie (1993), chapter 2.

    Examples
    --------
    >>> from gpnotes import GP, RBF
    >>> found = expected_variogram(GP(RBF(2.0), 0.5), [[0.0], [1.0], [2.0]], bins=1, reach=1.5)
    >>> found.semivariance.round(4)  # 2 − 2 exp(−½) + 0.5
    array([1.2869])
    """
    X = _check.matrix(X, "X")
    if isinstance(gp, type) or not (hasattr(gp, "kernel") and hasattr(gp, "noise_var")):
        raise TypeError(f"gp must have a kernel and a noise_var; got {_check.kind_of(gp)}")
    variances = to_numpy(gp.kernel.diag(X))

    def differences(rows: slice) -> HostMatrix:
        means = 0.5 * (variances[rows, None] + variances[None, :])
        return np.asarray(means - to_numpy(gp.kernel(X[rows, :], X)) + gp.noise_var)

    return _binned(X, differences, bins, reach, distances)


def _binned(
    X: Matrix,
    differences: Callable[[slice], HostMatrix],
    bins: int,
    reach: float | None,
    distances: Distances | None,
) -> Variogram:
    """Average `differences` of some rows with all over the pairs of each bin."""
    bins = memory.count(bins, "bins", each=3)
    host = np.asarray(to_numpy(X), dtype=np.float64)
    if host.shape[0] < 2:
        raise ValueError(f"X must have at least two rows; got {host.shape}")
    far = _reach(host, reach, distances)
    sums = np.zeros((3, bins))
    for rows, d in _pairs(host, distances):
        first = np.arange(host.shape[0])[rows, None] < np.arange(host.shape[0])[None, :]
        inside = first & (d <= far)
        at = np.minimum((d[inside] * (bins / far)).astype(int), bins - 1)
        for k, weight in enumerate((np.ones(at.size), d[inside], differences(rows)[inside])):
            sums[k] += np.bincount(at, weight, minlength=bins)
    some = sums[0] > 0
    count, distance, semivariance = sums[:, some]
    return Variogram(distance / count, semivariance / count, count)


def _reach(X: HostMatrix, reach: float | None, distances: Distances | None) -> float:
    if reach is not None:
        return float(_check.positive(_check.number(reach, "reach"), "reach"))
    far = 0.5 * max(float(d.max()) for _, d in _pairs(X, distances))
    if not far > 0.0:
        raise ValueError("X must have two rows that differ; got one place")
    return far


def _pairs(X: HostMatrix, distances: Distances | None) -> Iterator[tuple[slice, HostMatrix]]:
    """Some rows at a time, and their distances from all."""
    for rows in memory.blocks(X.shape[0], X.shape[0] * X.shape[1]):
        yield rows, _straight(X[rows], X) if distances is None else _measured(distances, X, rows)


def _straight(X: HostMatrix, Z: HostMatrix) -> HostMatrix:
    # in this unit squares do not overflow, and by a power of two nothing is rounded
    unit = 2.0 ** (math.frexp(np.max(np.abs(Z), initial=0.0))[1] - 1)
    gaps = X[:, None, :] / unit - Z[None, :, :] / unit
    return np.asarray(unit * np.sqrt(np.sum(gaps * gaps, axis=2)))


def _measured(distances: Distances, X: HostMatrix, rows: slice) -> HostMatrix:
    d = np.asarray(to_numpy(distances(X[rows], X)))
    wanted = X[rows].shape[0], X.shape[0]
    if d.shape != wanted or not np.all((d >= 0.0) & (d < np.inf)):
        raise ValueError(f"distances must give {wanted} numbers from 0; got shape {d.shape}")
    return d
