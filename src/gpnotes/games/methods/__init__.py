"""Six ways to the expected payoff of a deviator, with one signature and one kind of answer."""

from __future__ import annotations

from . import enumerated, exact_sum, neighbours, normal_approximation, point, sampled
from .expected_payoff import BumpMoments, Expectation, Method, Options, RoleProblem

__all__ = [
    "DETERMINISTIC",
    "METHODS",
    "WITH_VARIANCE",
    "BumpMoments",
    "Expectation",
    "Method",
    "Options",
    "RoleProblem",
]

METHODS = {
    "exact": Method(exact_sum.expectations, ("threads",)),
    "enumerated": Method(enumerated.expectations, ("limit",)),
    "gaussian": Method(normal_approximation.expectations),
    "point": Method(point.expectations),
    "neighbours": Method(neighbours.expectations, ("max_deviations", "limit")),
    "sampled": Method(sampled.expectations, ("num_samples", "rng")),
}

DETERMINISTIC = tuple(name for name, method in METHODS.items() if "rng" not in method.options)

WITH_VARIANCE = {
    "exact": BumpMoments(exact_sum.single_bumps, exact_sum.pairs),
    "enumerated": BumpMoments(enumerated.single_bumps, enumerated.pairs),
    "gaussian": BumpMoments(normal_approximation.single_bumps, normal_approximation.pairs),
}
