"""Limits of sequences: Levin's u-transformation for series, Wynn's epsilon for partial integrals.

Weniger (1989), *Nonlinear sequence transformations*, sections 4.2 and 7.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from checked_equations.errors import OperationError
from checked_equations.evaluate.epsilon_table import even_columns

_ENOUGH = 5e-9
_FALLS = 400  # terms of a series that dies away by itself
_LONG = 20
_DEAD = 8  # so many in a row that add nothing


def series(term: Callable[[int], complex], first: int) -> complex:
    """The sum of ``term(k)`` from `first` on. Raises `OperationError` where it does not settle.

    >>> round(series(lambda k: 1 / k**2, 1).real, 9) == round(math.pi**2 / 6, 9)
    True
    """
    terms: list[complex] = []
    total, dead = 0j, 0
    for k in range(first, first + _FALLS):
        terms.append(complex(term(k)))
        total += terms[-1]
        dead = dead + 1 if abs(terms[-1]) <= 1e-17 * abs(total) and total else 0
        if dead == _DEAD:
            _refuse_torn(terms)
            return total
        if k - first == 59 and _slow(terms):
            return levin(terms)
    if abs(terms[-1]) > 1e3 * abs(terms[0]) + 1e6:
        raise OperationError("the terms do not die away")
    return levin(terms)


def _refuse_torn(terms: Sequence[complex]) -> None:
    """Raise where terms that grew for long are zero of a sudden: they have lost all digits."""
    sizes = [abs(value) for value in terms if value]
    if len(sizes) > _LONG and sizes[-1] > 1e-3 * max(sizes):
        raise OperationError("the terms do not die away")


def _slow(terms: Sequence[complex]) -> bool:
    """Return True if sixty terms show that the next hundreds add as much."""
    late, middle = max(map(abs, terms[-10:])), max(map(abs, terms[20:30]))
    return late > 1e-2 * middle


def levin(terms: Sequence[complex]) -> complex:
    """The limit of the partial sums of `terms` by Levin's u-transformation.

    Where a lone term is zero, as of a series of odd powers, the zeros are left out.
    """
    kept = [value for value in terms if value != 0][:60]
    if len(kept) < 24 or max(map(abs, kept[-10:])) >= max(map(abs, kept[10:20])):
        raise OperationError("the terms do not die away")
    best, error = 0j, math.inf
    before: complex | None = None
    for order in range(4, min(len(kept) - 1, 34)):
        value = _levin(kept, order)
        if before is not None and value is not None:
            apart = abs(value - before) / max(abs(value), 1e-300)
            if apart < error:
                best, error = value, apart
        before = value
    if error > _ENOUGH:
        raise OperationError("the terms do not die away")
    return best


def _levin(terms: Sequence[complex], order: int) -> complex | None:
    above = below = 0j
    total = 0j
    for j in range(order + 1):
        total += terms[j]
        weight = (-1) ** j * math.comb(order, j) * ((j + 1) / (order + 1)) ** (order - 1)
        remainder = (j + 1) * terms[j]
        above += weight * total / remainder
        below += weight / remainder
    return above / below if below else None


def wynn(partial: Sequence[complex]) -> complex:
    """The limit of a sequence by the epsilon algorithm, from its last entries.

    Raises `OperationError` where no even column comes to rest.
    """
    even = [column for column in even_columns(partial) if len(column) > 2]
    pairs = [(_spread(column[-3:]), column[-1]) for column in even]
    error, best = min(pairs, key=lambda pair: pair[0], default=(math.inf, 0j))
    if error > 1e-9:
        raise OperationError("the integral does not settle")
    return best


def _spread(values: Sequence[complex]) -> float:
    """Return the distance of the values from the last, relative to it."""
    return max(abs(value - values[-1]) for value in values) / max(abs(values[-1]), 1e-300)


def product(factor: Callable[[int], complex], first: int) -> complex:
    """The product of ``factor(k)`` from `first` on, by the differences of partial products."""
    whole, steps = 1 + 0j, list[complex]()
    for k in range(first, first + 60):
        more = complex(factor(k))
        steps.append(whole * (more - 1))
        whole *= more
        if whole == 0:
            return whole
    if all(abs(step) <= 1e-16 * abs(whole) for step in steps[-_DEAD:]):
        return whole
    return 1 + levin(steps)
