"""The sums and products that kernels and their pullbacks share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import mul
from typing import Any

from ...ground.xp import Array, array_namespace

__all__ = ["added", "per_dimension", "products_of_others", "total"]


def total(a: Array) -> float:
    """Sum all entries to a Python float: a NumPy scalar would leak its dtype."""
    return float(array_namespace(a).sum(a))


def per_dimension(terms: Array, value: Any) -> Any:
    """Sum terms to the shape of a hyperparameter that is one, or one per dimension.

    Parameters
    ----------
    terms : Array, shape (n, d)
        The terms.
    value : float or Vector, shape (d,)
        The hyperparameter.

    Returns
    -------
    float or Vector, shape (d,)
        The sum of all terms for a float, of each column for an array.
    """
    return total(terms) if isinstance(value, float) else array_namespace(terms).sum(terms, axis=0)


def added(terms: Iterable[Array]) -> Array:
    """Add arrays.

    Parameters
    ----------
    terms : iterable of Array
        At least one array.
    """
    first, *rest = terms
    return sum(rest, start=first)


def products_of_others(factors: list[Array]) -> Iterator[Array]:
    """Yield for each factor the product of the others, one at a time: matrices are large.

    Parameters
    ----------
    factors : list of Array
        The factors, of one shape.

    Yields
    ------
    Array
        The product of the others; of one factor alone, ones.
    """
    for i, factor in enumerate(factors):
        others = factors[:i] + factors[i + 1 :]
        yield reduce(mul, others) if others else array_namespace(factor).ones_like(factor)
