"""The evaluation of divergent series far out, cut where their terms are smallest.

There an expansion in Poincaré's sense is a number, up to a remainder of about the smallest term.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from checked_equations.errors import OperationError
from checked_equations.evaluate.evaluator import Beyond, Evaluator, Scope
from checked_equations.evaluate.values import Array
from checked_equations.latex import tree as t

from . import unbound

_SMALL = 1e-10  # the smallest term, relative to the sum
_MOST = 80


def cut(term: Callable[[int], complex], first: int) -> complex:
    """The sum of ``term(k)`` from `first` on, up to its smallest term.

    >>> round(cut(lambda k: (-1) ** k * math.factorial(k) / 40.0**k, 0).real, 9)  # x e^x E_1(x)
    0.976164603
    """
    total, least = 0j, math.inf
    for k in range(first, first + _MOST):
        value = complex(term(k))
        if abs(value) > least and k > first + 2:
            break
        total += value
        least = abs(value) or least
        if least <= 1e-16 * abs(total):
            break
    if least > _SMALL * abs(total):
        raise OperationError("the terms of the expansion do not become small")
    return total


class _Far:
    """As `unbound`, but for series."""

    integral = staticmethod(unbound.integral)
    dots = staticmethod(unbound.dots)
    slope = staticmethod(unbound.slope)

    @staticmethod
    def endless(node: t.Reduction, ev: Evaluator, scope: Scope) -> Array:
        """A series, cut where its terms are smallest, or a product."""
        return unbound.endless(node, ev, scope, cut)


FAR: Beyond = _Far()
