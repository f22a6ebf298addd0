"""Evaluations as a model is told them: inputs in the unit cube, values standardised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ground.xp import HostMatrix, HostVector, to_numpy
from ...model.kernels import gradients_at, values_at
from .history import Evaluation

__all__ = ["rows_and_values"]


def rows_and_values(
    places: HostMatrix,
    evaluations: Sequence[Evaluation],
    sign: float,
    widths: HostVector,
    gradients: bool,
) -> tuple[HostMatrix, HostVector]:
    """Rows and values, the larger the better, of evaluations at `places` (n, d) of the unit cube.

    With `gradients` the rows end in a label; first come the values, then the gradients of those
    that have one, by the inputs of the cube, whose sides stand for the `widths` (d,) of the box.
    """
    y, scale = _standardised(sign * np.asarray([evaluation.y for evaluation in evaluations]))
    if not gradients:
        return places, y
    X = to_numpy(values_at(places))
    known = [(i, e.gradient) for i, e in enumerate(evaluations) if e.gradient is not None]
    if not known:
        return X, y
    slopes = np.concatenate([sign * widths * gradient for _, gradient in known])
    if scale == 0.0:  # of values that are all the same: the gradients' own size is the unit
        scale = max(float(np.max(np.abs(slopes))), np.finfo(np.float64).tiny)
    rows = to_numpy(gradients_at(places[[i for i, _ in known]]))
    return np.concatenate([X, rows]), np.concatenate([y, slopes / scale])


def _standardised(y: HostVector) -> tuple[HostVector, float]:
    """Values of mean zero and deviation one, and what one stands for: zero if all are the same.

    The worst of them stands where one is missing.
    """
    y = np.where(np.isnan(y), np.nanmin(y), y)
    size = max(float(np.max(np.abs(y))), np.finfo(np.float64).tiny)  # so that no square overflows
    y = y / size
    y = y - np.mean(y)
    deviation = float(np.std(y))
    if deviation <= 1e-12:
        return np.zeros_like(y), 0.0
    return y / deviation, deviation * size
