"""Six ways to the expected payoff of a deviator, with one signature and one kind of answer."""

from __future__ import annotations

from . import enumerated, exact, gaussian, neighbours, point, sampled
from .problem import Expectation, Method, Options, RoleProblem

__all__ = ["DETERMINISTIC", "METHODS", "Expectation", "Method", "Options", "RoleProblem"]

METHODS = {
    "exact": Method(exact.expectations, ("threads",)),
    "enumerated": Method(enumerated.expectations, ("limit",)),
    "gaussian": Method(gaussian.expectations),
    "point": Method(point.expectations),
    "neighbours": Method(neighbours.expectations, ("moves", "limit")),
    "sampled": Method(sampled.expectations, ("stream", "samples")),
}

DETERMINISTIC = tuple(name for name, method in METHODS.items() if "stream" not in method.options)
