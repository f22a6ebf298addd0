"""Fantasy observations: what to look at next, so that an uncertain prediction becomes sharper.

`reductions` has the worth of one more observation, `expected` what it leaves, `choice` which
observations to make, `ahead` what one would change in a rollout.
"""

from .choice import Choice, batch_variance_reduction, best, greedy, refine
from .expected_variances import (
    VarianceParts,
    expected_covariance,
    expected_variance,
    expected_variance_parts,
)
from .lookahead import LookAhead, look_ahead
from .reductions import mean_covariance, variance_reduction, variance_reduction_and_pullback

__all__ = [
    "Choice",
    "LookAhead",
    "VarianceParts",
    "batch_variance_reduction",
    "best",
    "expected_covariance",
    "expected_variance",
    "expected_variance_parts",
    "greedy",
    "look_ahead",
    "mean_covariance",
    "refine",
    "variance_reduction",
    "variance_reduction_and_pullback",
]
