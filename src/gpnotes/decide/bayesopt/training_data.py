"""Evaluations as training data of a model: inputs in the unit cube, values standardised."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ...ground.xp import HostMatrix, HostVector, to_numpy
from ...model.kernels import gradients_at, values_at
from .history import Evaluation
from .search_region import Place

__all__ = [
    "TrainingData", "are_penalties", "compress_tail", "rank_tail", "rows_and_values",
    "standardised", "unwarped",
]  # fmt: skip


_GAP = 1e9  # of the distances from the best before a penalty and at it
_LARGER = 1e6  # than any value before it


class TrainingData(NamedTuple):
    """The training data of a model, and the values that its zero and its one stand for."""

    rows: HostMatrix
    values: HostVector
    centre: float
    unit: float


def rows_and_values(
    places: HostMatrix,
    evaluations: Sequence[Evaluation[Place]],
    sign: float,
    widths: HostVector,
    gradients: bool,
) -> TrainingData:
    """Rows and values, the larger the better, of evaluations at `places` (n, d) of the unit cube.

    With `gradients` the rows end in a label; first come the values, then the gradients of those
    that have one, by the inputs of the cube, whose sides stand for the `widths` (d,) of the box.
    """
    signed = sign * np.asarray([evaluation.y for evaluation in evaluations])
    y, centre, scale = standardised(np.where(are_penalties(signed), np.nan, signed))
    if not gradients:
        return TrainingData(places, y, centre, scale)
    X = to_numpy(values_at(places))
    known = [(i, e.gradient) for i, e in enumerate(evaluations) if e.gradient is not None]
    if not known:
        return TrainingData(X, y, centre, scale)
    slopes = np.concatenate([sign * widths * gradient for _, gradient in known])
    if scale == 0.0:  # of values that are all the same: the gradients' own size is the unit
        scale = max(float(np.max(np.abs(slopes))), np.finfo(np.float64).tiny)
    rows = to_numpy(gradients_at(places[[i for i, _ in known]]))
    return TrainingData(
        np.concatenate([X, rows]), np.concatenate([y, slopes / scale]), centre, scale
    )


def standardised(y: HostVector) -> tuple[HostVector, float, float]:
    """Return values of mean zero and deviation one, with the former mean and deviation.

    If all are the same they are all zero, and one stands for zero. The worst of them stands where
    one is missing.
    """
    y = np.where(np.isnan(y), np.nanmin(y), y)
    size = max(float(np.max(np.abs(y))), np.finfo(np.float64).tiny)  # so that no square overflows
    y = y / size
    centre = float(np.mean(y))
    y = y - centre
    deviation = float(np.std(y))
    if deviation <= 1e-12:
        return np.zeros_like(y), centre * size, 0.0
    return y / deviation, centre * size, deviation * size


def are_penalties(y: HostVector) -> HostVector:
    """Tell which values (n,), the larger the better, are so bad that the others are lost in them.

    They are those beyond a gap: 1e9 times as far from the best as the value before the gap, and
    1e6 times as large as any before it, two at least, and a quarter of all. So a
    constant that stands for a failure, as 1e300, sets no scale, and the model of the others
    does not depend on which constant it is. NaN is none.
    """
    valued = np.flatnonzero(~np.isnan(y))
    order = valued[np.argsort(-y[valued], kind="stable")]
    ordered = 0.5 * y[order]  # so that no difference overflows
    short, size = ordered[:1] - ordered, np.maximum.accumulate(np.abs(ordered))
    with np.errstate(over="ignore"):
        is_gap = (short[:-1] > 0.0) & (short[1:] >= _GAP * short[:-1])
        is_gap &= np.abs(ordered[1:]) >= _LARGER * size[:-1]
    is_gap[: max(2, len(order) // 4) - 1] = False
    mask = np.zeros(len(y), dtype=bool)
    if np.any(is_gap):
        mask[order[1 + int(np.argmax(is_gap)) :]] = True
    return mask


def compress_tail(y: HostVector) -> HostVector:
    """Compress values, the larger the better, below the median by a logarithm.

    With the median m and u from there to the best, ``m − u log(1 + (m − y) / u)`` stands for a y
    below m, at the same slope; then all are of mean zero and deviation one. Order stays, and so do
    ratios of the differences above the median, such as improvements, unless the best that
    meets measured constraints is itself below it. Without it a valley in a plain of values a
    thousand times as large is lost in their rounding.

    Where more than half of the values are the best, u is zero, and all are returned as they are.
    """
    middle = float(np.median(y))
    unit = float(np.max(y)) - middle
    if unit <= 1e-12:
        return y
    short = np.clip(middle - y, 0.0, None)
    return standardised(np.where(short > 0.0, middle - unit * np.log1p(short / unit), y))[0]


def rank_tail(y: HostVector) -> HostVector:
    """Replace values, the larger the better, below the median by scores of their ranks.

    With the median m and s the root mean square of the values above it, ``m + s Φ⁻¹((r − ½) / n)``
    stands for the value of rank r of n, below m; then all are of mean zero and deviation one. The
    good half stays as it is, and the bad one is the lower half of a normal distribution as wide as
    the good one, however far it reaches: a corner a thousand times as bad sets no scale.

    Where more than half of the values are the best, all are returned as they are.

    Open Source Vizier, whose algorithm Song et al. (2024) describe, ranks its bad half too.
    """
    middle = float(np.median(y))
    good = y[y >= middle]
    width = float(np.sqrt(np.mean((good - middle) ** 2)))
    if width <= 1e-12:
        return y
    _, which, counts = np.unique(y, return_inverse=True, return_counts=True)
    shares = (np.cumsum(counts) - 0.5 * counts) / y.size  # (r − ½) / n, of equal ones the mean
    scores = np.asarray([NormalDist().inv_cdf(share) for share in shares])[which]
    return standardised(np.where(y < middle, middle + width * np.minimum(scores, 0.0), y))[0]


def unwarped(data: TrainingData, warped: HostVector) -> TrainingData:
    """Return the data in units of warped values, for those better than the median.

    `compress_tail` and `rank_tail` leave that half as it is but for one scale and one shift, which
    two of its values say.
    """
    y = data.values
    best = int(np.argmax(y))
    middle = int(np.argmin(np.where(y >= np.median(y), y, np.inf)))
    if not warped[best] > warped[middle]:
        return data
    slope = float((y[best] - y[middle]) / (warped[best] - warped[middle]))
    shift = float(y[best]) - slope * float(warped[best])
    return data._replace(centre=data.centre + data.unit * shift, unit=data.unit * slope)
