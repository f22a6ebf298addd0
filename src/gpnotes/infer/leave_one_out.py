"""Leave-one-out predictions: of each observation from all others."""

from __future__ import annotations

from dataclasses import dataclass

from ..ground.showing import summary
from ..ground.xp import LOG_2PI, Matrix, Vector, array_namespace, diagonal

__all__ = ["LeaveOneOut", "predict_left_out"]


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Predictions of each observation from all others, [eq-fv-loo].

    Made by `ExactPosterior.leave_one_out`.

    Parameters
    ----------
    mean : Vector, shape (n,)
        The mean of yᵢ given the other observations.
    variance : Vector, shape (n,)
        Its variance. It is that of an observation: noise is in it.
    log_density : Vector, shape (n,)
        The log density of yᵢ under that prediction.
    """

    mean: Vector
    variance: Vector
    log_density: Vector
    __repr__ = summary


def predict_left_out(y: Vector, alpha: Vector, inverse: Matrix) -> LeaveOneOut:
    """Predict each of y from all others, by α = K_y⁻¹ y and the inverse (n, n) of K_y."""
    variance = 1.0 / diagonal(inverse)
    error = alpha * variance
    log_variance = array_namespace(variance).log(variance)
    # α variance is the error: α error is error² / variance without a division
    log_density = -0.5 * (error * alpha + log_variance + LOG_2PI)
    return LeaveOneOut(y - error, variance, log_density)
