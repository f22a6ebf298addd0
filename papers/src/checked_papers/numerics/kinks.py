"""The kinks of an integrand, at the zeros of an expression between bars, or of a difference.

``|x - 1|`` has one at 1, ``\\max(x, x^2)`` where both are equal, and a rule for smooth functions
does not settle across it. A kink that no two places tell apart stays, and the integral unsettled.
At the zero of a difference that is squared a peak may be, narrower than nodes are apart, and where
an exponent with a square turns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from checked_equations.errors import EquationError, OperationError
from checked_equations.latex import tree as t

from .quadrature import integrate

_PLACES = 240  # at which signs are compared
_HALVES = 80  # of a stretch, so that an end between two floats is found
_MOST = 40  # kinks, and so many pieces
_STEP = 1e-6  # between two values that tell whether an exponent rises
_FOLDED = ("max", "min")
_AT_ZERO = ("sign", "cosh", "sech")
Real = Callable[[float], float]


def folds_in(body: t.Node, key: str) -> Iterator[t.Node]:
    """Yield the parts that have another form on either side of their zeros, by the variable `key`.

    >>> from checked_equations.latex.parser import parse_expression
    >>> names = {"x": "value"}
    >>> list(folds_in(parse_expression("|x| + x^2", names), "x"))
    [Name(key='x')]
    """
    for part in t.parts(body):
        if isinstance(part, t.Bars):
            yield part.base
        elif isinstance(part, t.Power) and part.exponent == t.Number(2.0):
            yield from [part.base] * any(isinstance(one, t.Sum) for one in t.parts(part.base))
        elif (exponent := _exponent_that_turns(part, key)) is not None:
            yield t.Sum((_moved(exponent, key), exponent), (1, -1))
        elif isinstance(part, t.Function) and part.name in _AT_ZERO:
            yield part.arguments[0]
        elif isinstance(part, t.Function) and part.name in _FOLDED:
            for one, other in itertools.combinations(part.arguments, 2):
                yield t.Sum((one, other), (1, -1))


def _exponent_that_turns(part: t.Node, key: str) -> t.Node | None:
    """Return the exponent of a power, or of ``\\exp``, with a sum as ``x^2 - 14 x + 49`` in it."""
    exponent: t.Node = getattr(part, "exponent", t.Number(1.0))
    if isinstance(part, t.Function) and part.name == "exp":
        exponent = part.arguments[0]
    sums = (one for one in t.parts(exponent) if isinstance(one, t.Sum))
    twice = (one for one in sums if sum(key in t.symbols(term) for term in one.terms) > 1)
    parts = (inner for one in twice for inner in t.parts(one) if isinstance(inner, t.Power))
    return exponent if any(inner.exponent == t.Number(2.0) for inner in parts) else None


def _moved(node: t.Node, key: str) -> t.Node:
    """Return `node` a small step aside of the variable `key`."""
    if isinstance(node, t.Name | t.Index) and node.key == key:
        return t.Sum((node, t.Number(_STEP)), (1, 1))
    return t.mapped(node, lambda part: _moved(part, key))


def from_kink_to_kink(
    f: Callable[[float], complex],
    folds: Sequence[Callable[[float], complex]],
    first: float,
    last: float,
) -> complex:
    """Return the integral of `f`, whose kinks are at the zeros of the `folds`."""
    if not folds:
        return integrate(f, first, last)
    low, high = min(first, last), max(first, last)
    inside = {place for one in folds for place in cuts(one, low, high)} - {low, high}
    total = sum(integrate(f, *pair) for pair in itertools.pairwise([low, *sorted(inside), high]))
    return total if first <= last else -total


def cuts(g: Callable[[float], complex], low: float, high: float) -> list[float]:
    """Return the zeros of `g` between two ends where it changes its sign.

    >>> cuts(lambda x: x * x - 2.0, 0.0, 3.0)
    [1.414213562373095]
    """
    real, places = (
        _real(g),
        [_place(u, low, high) for u in np.linspace(0.0, 1.0, _PLACES + 2)[1:-1]],
    )
    values = [real(place) for place in places]
    found = []
    for (a, at_a), (b, at_b) in itertools.pairwise(zip(places, values, strict=True)):
        if at_a == 0.0:
            found.append(a)
        elif at_a * at_b < 0.0:
            found.append(_zero(real, a, b, at_a))
    return found if len(found) <= _MOST else []


def _place(u: float, low: float, high: float) -> float:
    """Return a place between two ends, finite or infinite."""
    if math.isfinite(low) and math.isfinite(high):
        return float(low + u * (high - low))
    if math.isfinite(low):
        return float(low + u / (1.0 - u))
    if math.isfinite(high):
        return float(high - (1.0 - u) / u)
    return float((2.0 * u - 1.0) / (u * (1.0 - u)))


def _real(g: Callable[[float], complex]) -> Real:
    def of(place: float) -> float:
        try:
            value = complex(g(place))
        except (EquationError, OperationError, ArithmeticError, ValueError):
            return math.nan
        return value.real if abs(value.imag) <= 1e-12 * abs(value) else math.nan

    return of


def _zero(g: Real, low: float, high: float, at_low: float) -> float:
    for _ in range(_HALVES):
        middle = 0.5 * (low + high)
        value = g(middle)
        if value == 0.0 or middle in (low, high):
            return middle
        if value * at_low > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
