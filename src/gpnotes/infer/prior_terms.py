"""What priors on parameters add to the log evidence, and to its derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ..ground.params import Parameters, cotangent, leaves, replaced
from ..model.contracts import Prior

__all__ = ["prior_density", "with_priors"]

M = TypeVar("M", bound=Parameters)


def prior_density(model: Parameters, priors: Mapping[str, Prior]) -> float:
    """Return the log density of the priors on the parameters of a model."""
    held = {leaf.path: leaf.value for leaf in leaves(model)} if priors else {}
    return sum((prior.log_density(held[name]) for name, prior in priors.items()), 0.0)


def with_priors(bar: M, model: M, priors: Mapping[str, Prior]) -> M:
    """Return the derivatives of the evidence, and those of the log densities of the priors."""
    if not priors:
        return bar
    held: dict[str, Any] = {leaf.path: leaf.value for leaf in leaves(model)}
    slopes = {leaf.path: leaf.value for leaf in leaves(bar)}
    more = {name: slopes[name] + prior.gradient(held[name]) for name, prior in priors.items()}
    return replaced(bar, more, make=cotangent)
