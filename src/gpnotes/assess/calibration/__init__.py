"""Calibration: do probabilities, and intervals, hold as often as they say?

`reliability` compares predictions with outcomes; `fit_temperature`, `fit_platt` and
`fit_isotonic` mend probabilities on labels that were held out; `probability_integral_transform`
and `split_conformal` are their counterparts for numbers.
"""

from .conformal import (
    ConformalCoverage,
    SplitConformal,
    conformal_coverage,
    conformal_quantile,
    probability_integral_transform,
    split_conformal,
)
from .diagram import Reliability, consistency_resampling, reliability, reliability_of_groups
from .recalibrate import (
    Isotonic,
    PlattScaling,
    TemperatureScaling,
    fit_isotonic,
    fit_platt,
    fit_temperature,
    logit,
)

__all__ = [
    "ConformalCoverage",
    "Isotonic",
    "PlattScaling",
    "Reliability",
    "SplitConformal",
    "TemperatureScaling",
    "conformal_coverage",
    "conformal_quantile",
    "consistency_resampling",
    "fit_isotonic",
    "fit_platt",
    "fit_temperature",
    "logit",
    "probability_integral_transform",
    "reliability",
    "reliability_of_groups",
    "split_conformal",
]
