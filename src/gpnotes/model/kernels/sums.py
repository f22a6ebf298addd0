"""The sums and products that kernels and their pullbacks share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import mul
from typing import Any

from ...ground.xp import Array, array_namespace

__all__ = ["added", "per_dimension", "products_of_others", "total"]


def total(a: Array) -> float:
    """The sum of all entries as a Python float: a NumPy scalar would leak its dtype."""
    return float(array_namespace(a).sum(a))


def per_dimension(terms: Array, value: Any) -> Any:
    """The sum of `terms` (n, d) in the shape of the hyperparameter: a float, or (d,)."""
    return total(terms) if isinstance(value, float) else array_namespace(terms).sum(terms, axis=0)


def added(terms: Iterable[Array]) -> Array:
    """The sum of at least one array."""
    first, *rest = terms
    return sum(rest, start=first)


def products_of_others(factors: list[Array]) -> Iterator[Array]:
    """For each factor the product of the others, one at a time: matrices are large.

    Of one factor alone, ones.
    """
    for i, factor in enumerate(factors):
        others = factors[:i] + factors[i + 1 :]
        yield reduce(mul, others) if others else array_namespace(factor).ones_like(factor)
