"""The sums and products that kernels and their pullbacks share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import mul

from ...ground.late_reads import number
from ...ground.xp import Array, Matrix, Numbers, array_namespace, device

__all__ = ["added", "filled", "nothing", "per_dimension", "products_of_others", "total"]


def total(a: Array) -> float:
    """Sum all entries to a Python float: a NumPy scalar would leak its dtype.

    Where numbers of a device are read later it is an array without axes.
    """
    return number(array_namespace(a).sum(a))


def per_dimension(terms: Array, value: Numbers) -> Numbers:
    """Sum terms (n, d) to the shape of a hyperparameter: to one number, or to one per dimension."""
    return total(terms) if isinstance(value, float) else array_namespace(terms).sum(terms, axis=0)


def added(terms: Iterable[Array]) -> Array:
    """Add arrays, at least one."""
    first, *rest = terms
    return sum(rest, start=first)


def products_of_others(factors: list[Array]) -> Iterator[Array]:
    """Yield for each factor the product of the others, one at a time: matrices are large.

    Of one factor alone that is ones.
    """
    for i, factor in enumerate(factors):
        others = factors[:i] + factors[i + 1 :]
        yield reduce(mul, others) if others else array_namespace(factor).ones_like(factor)


def filled(x: Matrix, z: Matrix | None, value: float) -> Array:
    """Fill a matrix of x with z, or with itself, with one number."""
    columns = (x if z is None else z).shape[0]
    xp = array_namespace(x)
    return xp.full((x.shape[0], columns), value, dtype=x.dtype, device=device(x))


def nothing(x: Matrix, z: Matrix | None) -> tuple[Array, Array | None]:
    """No derivatives by x and z."""
    xp = array_namespace(x)
    return xp.zeros_like(x), None if z is None else xp.zeros_like(z)
