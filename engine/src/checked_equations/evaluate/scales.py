"""How large the terms of a side are: the scale of what they leave where they cancel.

A residual is relative to the larger of the two sides. Where one side is nothing but zero, the
other is all residual, and only the terms that cancel in it say what is small: in ``A x - b = 0``
the larger of ``A x`` and ``b``. The same where both sides are less than 1e-12 of their terms, that
is, rounding and nothing else. Sides that are more than that keep their own size as their scale, so
that no check of a small difference is loosened: below 1e-12 of the terms, rounding alone would be
1e-4 of the sides, and no check would have passed. What a bound symbol or a function leaves has no
terms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from ..latex import tree as t
from .evaluator import Evaluator
from .values import kind


@singledispatch
def magnitude(node: t.Node, evaluator: Evaluator) -> float:
    """The size that `node` would have if nothing in it cancelled; of most kinds, its own size.

    >>> a, b = t.Name("a"), t.Name("b")
    >>> ev = Evaluator({"a": 3.0, "b": 3.0 + 1e-12})
    >>> gap = t.Sum((a, b), (1, -1))
    >>> _ = ev.value(gap)
    >>> round(magnitude(gap, ev), 9)
    3.0
    """
    return _observed(node, evaluator)


def _observed(node: t.Node, evaluator: Evaluator) -> float:
    """The largest entry that `node` has had, over the loops in which it stands."""
    return max((float(np.max(np.abs(v))) for v in evaluator.observe(node)), default=0.0)


@magnitude.register(t.Quotient)
def _quotient(node: t.Quotient, evaluator: Evaluator) -> float:
    below = _observed(node.denominator, evaluator)
    return magnitude(node.numerator, evaluator) / below if below else 0.0


@magnitude.register(t.Power)
def _power(node: t.Power, evaluator: Evaluator) -> float:
    if isinstance(node.exponent, t.Number) and node.exponent.value >= 1:
        return magnitude(node.base, evaluator) ** node.exponent.value
    return _observed(node, evaluator)


@magnitude.register(t.Function)
def _function(node: t.Function, evaluator: Evaluator) -> float:
    """A trace and a diagonal are as large as what they are of."""
    if node.name in ("tr", "diag"):
        return magnitude(node.arguments[0], evaluator)
    return _observed(node, evaluator)


@magnitude.register(t.Derivative | t.Gradient)
def _slope(node: t.Slope, evaluator: Evaluator) -> float:
    """A function over its argument: what a slope is that comes of differences."""
    symbol = node.symbol
    bound = isinstance(symbol, t.Name) and kind(evaluator.bindings.get(symbol.key)) == "value"
    run = float(np.max(np.abs(evaluator.bound(symbol.key)))) if bound else 0.0
    return magnitude(node.body, evaluator) / run if run else 0.0


_PLAIN: dict[type[t.Node], Callable[[Any, Evaluator], float]] = {
    t.Sum: lambda node, ev: max(magnitude(term, ev) for term in node.terms),
    t.Product: lambda node, ev: float(np.prod([magnitude(f, ev) for f in node.factors])),
    t.Elementwise: lambda node, ev: float(np.prod([magnitude(f, ev) for f in node.factors])),
    t.Reduction: lambda node, ev: (
        magnitude(node.body, ev) if node.kind == "sum" else _observed(node, ev)
    ),
    t.Covariance: lambda node, ev: magnitude(node.left, ev) * magnitude(node.right, ev),
    t.Block: lambda node, ev: max(magnitude(entry, ev) for row in node.rows for entry in row),
    t.Transpose: lambda node, ev: magnitude(node.base, ev),
    t.Expectation: lambda node, ev: magnitude(node.body, ev),
}
for _type, _size in _PLAIN.items():
    magnitude.register(_type, _size)
