"""Several objectives at once: fronts, the volume that they dominate, and its expected growth.

All objectives are minimised. One vector dominates another if it is no larger in any entry, and
smaller in one; those that none dominates are the Pareto front. The volume above the front and below
a reference point is its hypervolume, and the expected growth of that is the acquisition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.conversion import floats, takes
from ...ground.showing import summary
from ...ground.xp import (
    LOG_2PI,
    HostMatrix,
    HostVector,
    Matrix,
    MatrixLike,
    Vector,
    VectorLike,
    array_namespace,
    as_array,
    log_normal_cdf,
    to_numpy,
)

__all__ = ["ExpectedHypervolumeImprovement", "hypervolume", "pareto_front"]

_MOST_BOXES = 40_000


@takes("Y")
def pareto_front(Y: MatrixLike) -> HostVector:
    """Tell which vectors of values no other dominates; all values are better the smaller they are.

    Parameters
    ----------
    Y : Matrix, shape (n, m)
        Vectors of m values.

    Returns
    -------
    HostVector, shape (n,)
        True for those of the front; of equal ones all, or none.

    Notes
    -----
    ``y`` dominates ``z`` if ``yⱼ ≤ zⱼ`` for all j and ``y ≠ z``; O(n² m).

    Examples
    --------
    >>> pareto_front([[1.0, 3.0], [2.0, 2.0], [3.0, 3.0]])
    array([ True,  True, False])
    """
    values = to_numpy(_check.finite(_check.matrix(Y, "Y"), "Y"))
    below = np.all(values[:, None, :] <= values[None, :, :], axis=2)
    smaller = np.any(values[:, None, :] < values[None, :, :], axis=2)
    front: HostVector = ~np.any(below & smaller, axis=0)
    return front


@takes("Y", "reference")
def hypervolume(Y: MatrixLike, reference: VectorLike) -> float:
    """Measure the volume that vectors dominate below a reference point.

    Parameters
    ----------
    Y : Matrix, shape (n, m)
        Vectors of m values, in any order; vectors not below the reference add nothing.
    reference : Vector, shape (m,)
        The reference point r.

    Returns
    -------
    float
        The volume of ``{s ≤ r : y ≤ s for a y of Y}``.

    Examples
    --------
    >>> hypervolume([[1.0, 3.0], [2.0, 2.0]], [4.0, 4.0])
    5.0
    """
    values = to_numpy(_check.finite(_check.matrix(Y, "Y"), "Y")).astype(np.float64)
    ends = _reference(reference, values.shape[1])
    boxes = _boxes(values, ends)
    bounded = np.all(np.isfinite(boxes.lower), axis=1)
    sides = np.prod((boxes.upper - boxes.lower)[bounded], axis=1)
    return float(np.sum(sides * (ends[-1] - boxes.height[bounded])))


@dataclass(frozen=True, eq=False)
class ExpectedHypervolumeImprovement:
    """Expected growth of the hypervolume, by an evaluation of several objectives.

    Parameters
    ----------
    front : Matrix, shape (n, m)
        Vectors of values that are known, the smaller the better; those that are dominated, or not
        below the reference, count for nothing.
    reference : Vector, shape (m,)
        The reference point r: values beyond it are worth nothing.

    Notes
    -----
    Below r the part that the front does not dominate is cut into boxes ``Π (lⱼ, uⱼ]``. A new vector
    y adds those of its points s with ``y ≤ s``, so that with independent beliefs

        E Δ = Σ_boxes Π_j [ψⱼ(uⱼ) − ψⱼ(lⱼ)],   ψⱼ(c) = ∫_{−∞}^c P(yⱼ ≤ s) ds = E max(c − yⱼ, 0),

    a sum of products of expected improvements: ``ψⱼ(c) = σⱼ φ(z) + (c − μⱼ) Φ(z)`` with
    ``z = (c − μⱼ) / σⱼ``. Its derivatives are ``−Φ(z)`` by the mean and ``φ(z) / 2σⱼ`` by the
    variance. For two objectives the boxes are the n + 1 strips between neighbours of the front;
    for m there are at most ``(n + 1)^(m − 1)``.

    Source: Yang, Emmerich, Deutz & Bäck (2019), for the boxes.

    Examples
    --------
    >>> worth = ExpectedHypervolumeImprovement([[1.0, 3.0], [2.0, 2.0]], [4.0, 4.0])
    >>> sure = np.full((2, 2), 1e-12)  # all but certain: the growth is a rectangle
    >>> worth(np.asarray([[1.0, 1.0], [3.0, 3.0]]), sure).round(6)
    array([4., 0.])
    """

    front: MatrixLike
    reference: VectorLike

    __repr__ = summary

    def __post_init__(self) -> None:
        front = _check.matrix(floats(self.front, "front"), "front")
        known = to_numpy(_check.finite(front, "front")).astype(np.float64)
        ends = _reference(floats(self.reference, "reference"), known.shape[1])
        object.__setattr__(self, "front", known)
        object.__setattr__(self, "reference", ends)
        object.__setattr__(self, "_cells", _boxes(known, ends))

    def __call__(self, mean: Matrix, variance: Matrix) -> Vector:
        """Return the expected growth, (n,), for means and variances of the objectives, (n, m) each.

        Where a variance is zero the value is known, and ψ is ``max(c − μ, 0)``.
        """
        lengths = self._sides(*self._validated(mean, variance)).lengths
        xp = array_namespace(lengths)
        columns = [lengths[:, :, j] for j in range(lengths.shape[2])]
        return xp.sum(math.prod(columns[1:], start=columns[0]), axis=1)

    def derivatives(self, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix]:
        """Return the derivatives by means and by variances, (n, m) each."""
        return self._with_derivatives(*self._validated(mean, variance))[1]

    def _validated(self, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix]:
        columns = len(to_numpy(self.reference))
        _check.matrix(mean, "mean", columns=columns)
        _check.matrix(variance, "variance", columns=columns)
        _check.alike(variance, "variance", mean, "the means")
        if mean.shape != variance.shape:
            shape = tuple(mean.shape)
            raise ValueError(f"variance must have shape {shape}; got {tuple(variance.shape)}")
        if bool(array_namespace(variance).any(variance < 0.0)):
            raise ValueError("variance must not be negative")
        return mean, variance

    def _with_derivatives(
        self, mean: Matrix, variance: Matrix
    ) -> tuple[Vector, tuple[Matrix, Matrix]]:
        xp = array_namespace(mean)
        sides = self._sides(mean, variance)
        columns = [sides.lengths[:, :, j] for j in range(sides.lengths.shape[2])]
        value = xp.sum(math.prod(columns[1:], start=columns[0]), axis=1)
        by_mean, by_variance = [], []
        for j in range(len(columns)):
            # the product of the other sides, without a quotient: a side may be zero
            first, *more = columns[:j] + columns[j + 1 :]
            others = math.prod(more, start=first)
            by_mean.append(xp.sum(others * sides.by_mean[:, :, j], axis=1))
            by_variance.append(xp.sum(others * sides.by_variance[:, :, j], axis=1))
        return value, (xp.stack(by_mean, axis=1), xp.stack(by_variance, axis=1))

    def _sides(self, mean: Matrix, variance: Matrix) -> _Sides:
        """``ψ(u) − ψ(l)`` of every place, box and objective, (n, boxes, m), with derivatives."""
        cells: _Boxes = self.__dict__["_cells"]
        upper = np.column_stack([cells.upper, cells.height])
        lower = np.column_stack([cells.lower, np.full(len(upper), -math.inf)])
        high, low = (_partial(mean, variance, ends) for ends in (upper, lower))
        return _Sides(*(a - b for a, b in zip(high, low, strict=True)))


class _Sides(NamedTuple):
    """Expected lengths, (n, boxes, m), and their derivatives by mean and variance."""

    lengths: Matrix
    by_mean: Matrix
    by_variance: Matrix


class _Boxes(NamedTuple):
    """The region not dominated: ``lower < s ≤ upper`` in all objectives but the last, ≤ height."""

    lower: HostMatrix
    upper: HostMatrix
    height: HostVector


def _partial(mean: Matrix, variance: Matrix, ends: HostMatrix) -> tuple[Matrix, Matrix, Matrix]:
    """``ψ(c)`` at ends c (boxes, m), zero where c is minus infinity, and its derivatives."""
    xp = array_namespace(mean)
    bounded = as_array(np.isfinite(ends).astype(np.float64), mean)[None, :, :]
    c = as_array(np.where(np.isfinite(ends), ends, 0.0), mean)[None, :, :]
    uncertain = variance >= float(xp.finfo(mean.dtype).smallest_normal)
    sd = xp.sqrt(xp.where(uncertain, variance, xp.ones_like(variance)))[:, None, :]
    gap = c - mean[:, None, :]
    open_ = xp.broadcast_to(uncertain[:, None, :], gap.shape)
    widest = float(xp.finfo(mean.dtype).max) ** 0.4  # the square of z is finite
    z = xp.clip(gap / sd, -widest, widest)
    cdf, pdf = xp.exp(log_normal_cdf(z)), xp.exp(-0.5 * (z * z + LOG_2PI))
    zero = xp.zeros_like(gap)
    step = xp.astype(gap > 0.0, gap.dtype)
    value = xp.where(open_, xp.clip(sd * pdf + gap * cdf, 0.0, None), xp.clip(gap, 0.0, None))
    by_variance = xp.where(open_, 0.5 * pdf / sd, zero)
    return bounded * value, -bounded * xp.where(open_, cdf, step), bounded * by_variance


def _reference(reference: VectorLike, size: int) -> HostVector:
    ends = _check.finite(_check.vector(reference, "reference", size=size), "reference")
    if size < 2:
        raise ValueError(f"reference must have at least two entries; got {size}")
    return to_numpy(ends).astype(np.float64)


def _boxes(values: HostMatrix, reference: HostVector) -> _Boxes:
    """The boxes below the reference that no vector of values dominates.

    Over the grid of all objectives but the last, a cell is free up to the least last value of the
    vectors that are no larger than its lower end.
    """
    inside = values[np.all(values < reference, axis=1)]
    known = inside[pareto_front(inside)] if len(inside) else inside
    grids = [np.unique(known[:, j]) for j in range(len(reference) - 1)]
    count = math.prod(len(grid) + 1 for grid in grids)
    if count > _MOST_BOXES:
        wanted = f"a front that leaves at most {_MOST_BOXES} boxes"
        raise ValueError(f"front must be {wanted}; {len(known)} vectors leave {count}")
    low = np.meshgrid(*(np.concatenate([[-math.inf], grid]) for grid in grids), indexing="ij")
    tops = zip(grids, reference[:-1], strict=True)
    high = np.meshgrid(*(np.concatenate([grid, [end]]) for grid, end in tops), indexing="ij")
    lower = np.stack([axis.ravel() for axis in low], axis=1)
    upper = np.stack([axis.ravel() for axis in high], axis=1)
    reach = np.all(known[None, :, :-1] <= lower[:, None, :], axis=2)
    heights = np.where(reach, known[None, :, -1], reference[-1])
    height = np.min(heights, axis=1, initial=float(reference[-1]))
    return _Boxes(lower, upper, height)
