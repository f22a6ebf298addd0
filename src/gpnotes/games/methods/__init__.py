"""Six ways to the expected payoff of a deviator, with one signature and one kind of answer."""

from __future__ import annotations

from . import enumerated, exact_sum, neighbours, normal_approximation, point, sampled
from .expected_payoff import BumpMoments, Expectation, Options, PayoffMethod, RoleProblem

__all__ = [
    "DETERMINISTIC",
    "METHODS",
    "WITH_VARIANCE",
    "BumpMoments",
    "Expectation",
    "Options",
    "PayoffMethod",
    "RoleProblem",
]

METHODS = {
    "exact": PayoffMethod(exact_sum.expectations, ("threads",)),
    "enumerated": PayoffMethod(enumerated.expectations, ("limit",)),
    "gaussian": PayoffMethod(normal_approximation.expectations),
    "point": PayoffMethod(point.expectations),
    "neighbours": PayoffMethod(neighbours.expectations, ("max_deviations", "limit")),
    "sampled": PayoffMethod(sampled.expectations, ("num_samples", "rng")),
}

DETERMINISTIC = tuple(name for name, method in METHODS.items() if "rng" not in method.options)

WITH_VARIANCE = {
    "exact": BumpMoments(exact_sum.single_bumps, exact_sum.pairs),
    "enumerated": BumpMoments(enumerated.single_bumps, enumerated.pairs),
    "gaussian": BumpMoments(normal_approximation.single_bumps, normal_approximation.pairs),
}
