"""Averages over a normal f by Gauss-Hermite, with derivatives that are those of the sum itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ...ground.quadrature import gauss_hermite
from ...ground.xp import Array, array_namespace, as_array, epsilon

__all__ = ["NODES", "Expected", "ValueAndSlope", "by_quadrature", "points"]

NODES = 20  # of a rule, unless a caller says otherwise

ValueAndSlope: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]
Function: TypeAlias = Callable[[Array, Array], Array]


class Expected(NamedTuple):
    """The average ``E log p(y | f)`` for ``f ~ N(mean, variance)``, and its derivatives, by entry.

    Parameters
    ----------
    value : Array
        The averages.
    by_mean : Array
        Their derivatives by the means.
    by_variance : Array
        Their derivatives by the variances.
    """

    value: Array
    by_mean: Array
    by_variance: Array


def points(mean: Array, variance: Array, nodes: int) -> tuple[Array, Array, Array]:
    """Place 1 to 350 Gauss-Hermite nodes for ``N(mean, variance)`` on a new last axis.

    Those of f, their weights (nodes,), of sum one, and the nodes (nodes,) of N(0, 1).
    """
    t, weights = (as_array(a, mean) for a in gauss_hermite(nodes))
    sd = array_namespace(mean).sqrt(variance)
    return mean[..., None] + sd[..., None] * t, weights, t


def by_quadrature(
    value_and_slope: ValueAndSlope,
    curvature: Function,
    y: Array,
    mean: Array,
    variance: Array,
    nodes: int,
    unit: float = 1.0,
) -> Expected:
    """Average a log density over a normal f by Gauss-Hermite, and differentiate that very sum.

    The log density with its first derivative by f, and its second, are functions of y and f; it
    changes over a distance of a `unit` in f. All is entry by entry.

    With nodes ``f = m + s t``, ``s = √v``, the sum ``Σ w ℓ(f)`` has the derivatives ``Σ w ℓ'(f)``
    by m and ``Σ w ℓ'(f) t / 2s`` by v. The second is half the average `curvature`, by parts, but
    for the error of the rule: with it an ascent would follow another function than it measures.
    Nodes lie in pairs ±t, so that it is not positive where ℓ' falls. Where s is down to the
    rounding of m and of `unit`, half the curvature at m stands in.
    """
    xp = array_namespace(mean)
    f, weights, t = points(mean, variance, nodes)
    value, slope = value_and_slope(y[..., None], f)
    weighted = slope * weights
    narrow = variance <= epsilon(mean) * (unit + xp.abs(mean)) ** 2
    sd = xp.sqrt(xp.where(narrow, xp.ones_like(variance), variance))
    by_variance = 0.5 * xp.sum(weighted * t, axis=-1) / sd
    if bool(xp.any(narrow)):
        by_variance = xp.where(narrow, 0.5 * curvature(y, mean), by_variance)
    return Expected(xp.sum(value * weights, axis=-1), xp.sum(weighted, axis=-1), by_variance)
