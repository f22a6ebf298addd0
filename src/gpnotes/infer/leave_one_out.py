"""Leave-one-out predictions: of each observation from all others."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ground.showing import summary
from ..ground.xp import LOG_2PI, Vector, array_namespace

__all__ = ["LeaveOneOut", "predict_left_out"]


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Predictions of each observation from all others, [eq-fv-loo].

    Made by `ExactPosterior.leave_one_out`.

    Parameters
    ----------
    mean : Vector, shape (n,)
        The mean of yᵢ given the other observations; NaN where these cannot tell the weights of a
        vague mean apart.
    variance : Vector, shape (n,)
        Its variance, infinite there. It is that of an observation: noise is in it.
    log_density : Vector, shape (n,)
        The log density of yᵢ under that prediction.
    """

    mean: Vector
    variance: Vector
    log_density: Vector
    __repr__ = summary


def predict_left_out(y: Vector, alpha: Vector, precision: Vector) -> LeaveOneOut:
    """Predict each of y from all others, by α = K_y⁻¹ y and the diagonal (n,) of the inverse."""
    xp = array_namespace(y)
    open_ = precision <= 0.0  # all others together leave the mean there unknown
    variance = 1.0 / xp.where(open_, xp.ones_like(y), precision)
    error = alpha * variance
    # α variance is the error: α error is error² / variance without a division
    log_density = -0.5 * (error * alpha + xp.log(variance) + LOG_2PI)
    found = (y - error, math.nan), (variance, math.inf), (log_density, -math.inf)
    return LeaveOneOut(*(xp.where(open_, xp.full_like(y, no), a) for a, no in found))
