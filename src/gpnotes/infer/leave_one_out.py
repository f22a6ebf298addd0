"""What is said of each observation from all others."""

from __future__ import annotations

from dataclasses import dataclass

from ..ground.showing import summary
from ..ground.xp import Vector

__all__ = ["LeaveOneOut"]


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
