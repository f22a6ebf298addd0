"""Continued fractions that go on with dots: each row of numbers goes on as it began.

The numerators, and the terms added to the next fraction, follow polynomials of degree two at
most, one for all places or one each for odd and even ones, behind up to two places of their own.
"""

from __future__ import annotations

import cmath
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import OperationError
from ..latex import tree as t
from ..latex.builder.dots import has_dots, levels
from .evaluator import Evaluator, Scope
from .values import Array, scalar

_NEAR = 1e-9
_OPEN = OperationError("the dots have no pattern that the printed terms determine")


def fraction_value(node: t.Quotient, ev: Evaluator, scope: Scope) -> Array:
    """Return the value of a continued fraction whose last printed level holds dots."""
    found = _fraction(node, ev, scope)
    if not cmath.isfinite(found):
        raise _OPEN
    return scalar(found if found.imag else found.real)


def _fraction(node: t.Node, ev: Evaluator, scope: Scope) -> complex:
    above: list[complex] = []
    below: list[complex] = []
    turn, signs = 1, list[int]()
    for numerator, beside, sign in levels(node):
        above.append(turn * complex(ev.of(numerator, scope)))
        below.append(complex(sum(s * complex(ev.of(part, scope)) for s, part in beside)))
        turn = sign
        signs.append(sign)
    deep = sum(isinstance(part, t.Quotient) and has_dots(part) for part in t.parts(node))
    if len(above) < max(3, deep) or (signs[-1] != signs[-2] and signs[-1] != signs[-3]):
        raise _OPEN
    # what no printed level confirms may be guessed in what is tried, and not in what is checked
    spares = (1,) if ev.beyond is None else (1, 0)
    tops, bottoms = _continued(above, spares), _continued(below, spares)
    one, other = (_convergent(tops, bottoms, size) for size in (400, 600))
    if abs(one - other) > _NEAR * max(abs(one), abs(other)):
        raise OperationError("the continued fraction does not settle")
    return other


def _convergent(
    tops: Callable[[int], complex], bottoms: Callable[[int], complex], size: int
) -> complex:
    total = 0j
    for k in range(size, 0, -1):
        below = bottoms(k) + total
        if below == 0:
            raise OperationError("the continued fraction does not settle")
        total = tops(k) / below
    return total


def _continued(values: Sequence[complex], spares: Sequence[int]) -> Callable[[int], complex]:
    """A sequence that goes on as it began: by a polynomial, or by one each for odd and even."""
    size = max(map(abs, values)) or 1.0
    for spare, period, kept in itertools.product(spares, (1, 2), (0, 1, 2)):
        degrees = [_degree(values[kept + part :: period], size, spare) for part in range(period)]
        if all(degree is not None for degree in degrees):
            return _polynomials(values, kept, period, [degree or 0 for degree in degrees])
    raise _OPEN


def _degree(values: Sequence[complex], size: float, spare: int) -> int | None:
    """The degree of the polynomial that the values follow, with `spare` of them to confirm it."""
    for degree in range(3):
        if len(values) < degree + 1 + spare:
            return None
        left = np.diff(np.array(values), n=degree + 1)
        if left.size == 0 and degree == 0:
            return None
        if np.all(np.abs(left) <= _NEAR * size):
            return degree
    return None


def _polynomials(
    values: Sequence[complex], kept: int, period: int, degrees: Sequence[int]
) -> Callable[[int], complex]:
    fits = []
    for part, degree in enumerate(degrees):
        own = values[kept + part :: period]
        fits.append(np.polyfit(np.arange(len(own)), np.array(own), degree))

    def at(k: int) -> complex:
        if k <= len(values):
            return values[k - 1]
        place, part = divmod(k - 1 - kept, period)
        return complex(np.polyval(fits[part], place))

    return at
