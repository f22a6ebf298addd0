"""Fantasy observations: what to look at next, so that an uncertain prediction becomes sharper.

The door to `gain`, what one observation is worth, and `choice`, which ones to make.
"""

from .choice import Choice, batch_reduction, best, greedy, refine
from .gain import mean_covariance, reduction, reduction_and_pullback

__all__ = [
    "Choice",
    "batch_reduction",
    "best",
    "greedy",
    "mean_covariance",
    "reduction",
    "reduction_and_pullback",
    "refine",
]
