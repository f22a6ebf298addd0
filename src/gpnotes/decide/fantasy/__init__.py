"""Fantasy observations: the choice of observations that sharpen an uncertain prediction.

`reductions` has the worth of one more observation, `expected_variances` the variance left after
it, `choice` the selection of observations, `lookahead` the effect of one on a rollout.
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
