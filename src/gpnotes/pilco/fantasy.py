"""Fantasy observations: what to look at next, so that an uncertain prediction becomes sharper.

The door to `gain`, what one observation is worth, `expected`, what it leaves, and `choice`, which
ones to make.
"""

from .choice import Choice, batch_reduction, best, greedy, refine
from .expected import Parts, expected_covariance, expected_parts, expected_variance
from .gain import mean_covariance, reduction, reduction_and_pullback

__all__ = [
    "Choice",
    "Parts",
    "batch_reduction",
    "best",
    "expected_covariance",
    "expected_parts",
    "expected_variance",
    "greedy",
    "mean_covariance",
    "reduction",
    "reduction_and_pullback",
    "refine",
]
