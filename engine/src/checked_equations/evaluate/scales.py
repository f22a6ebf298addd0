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

from functools import singledispatch

import numpy as np

from ..latex import tree as t
from .evaluator import Evaluator
from .values import kind

__all__ = ["magnitude"]


def magnitude(evaluator: Evaluator, node: t.Node) -> float:
    """The size that `node` would have if nothing in it cancelled: no more than that.

    >>> a, b = t.Name("a"), t.Name("b")
    >>> ev = Evaluator({"a": 3.0, "b": 3.0 + 1e-12})
    >>> gap = t.Sum((a, b), (1, -1))
    >>> _ = ev.value(gap)
    >>> round(magnitude(ev, gap), 9)
    3.0
    """
    return size(node, evaluator)


def _observed(evaluator: Evaluator, node: t.Node) -> float:
    """The largest entry that `node` has had, over the loops in which it stands."""
    return max((float(np.max(np.abs(v))) for v in evaluator.observe(node)), default=0.0)


@singledispatch
def size(node: t.Node, evaluator: Evaluator) -> float:
    """How large `node` would be if nothing in it cancelled; of most kinds, how large it is."""
    return _observed(evaluator, node)


@size.register(t.Sum)
def _largest(node: t.Sum, evaluator: Evaluator) -> float:
    return max(magnitude(evaluator, term) for term in node.terms)


@size.register(t.Product | t.Elementwise)
def _product(node: t.Product | t.Elementwise, evaluator: Evaluator) -> float:
    return float(np.prod([magnitude(evaluator, factor) for factor in node.factors]))


@size.register(t.Quotient)
def _quotient(node: t.Quotient, evaluator: Evaluator) -> float:
    below = _observed(evaluator, node.denominator)
    return magnitude(evaluator, node.numerator) / below if below else 0.0


@size.register(t.Power)
def _power(node: t.Power, evaluator: Evaluator) -> float:
    if isinstance(node.exponent, t.Number) and node.exponent.value >= 1:
        return magnitude(evaluator, node.base) ** node.exponent.value
    return _observed(evaluator, node)


@size.register(t.Function)
def _function(node: t.Function, evaluator: Evaluator) -> float:
    """A trace and a diagonal are as large as what they are of."""
    if node.name in ("tr", "diag"):
        return magnitude(evaluator, node.arguments[0])
    return _observed(evaluator, node)


@size.register(t.Reduction)
def _reduction(node: t.Reduction, evaluator: Evaluator) -> float:
    return magnitude(evaluator, node.body) if node.kind == "sum" else _observed(evaluator, node)


@size.register(t.Covariance)
def _covariance(node: t.Covariance, evaluator: Evaluator) -> float:
    return magnitude(evaluator, node.left) * magnitude(evaluator, node.right)


@size.register(t.Derivative | t.Gradient)
def _slope(node: t.Slope, evaluator: Evaluator) -> float:
    """A function over its argument: what a slope is that comes of differences."""
    symbol = node.symbol
    bound = isinstance(symbol, t.Name) and kind(evaluator.bindings.get(symbol.key)) == "value"
    run = float(np.max(np.abs(evaluator.bound(symbol.key)))) if bound else 0.0
    return magnitude(evaluator, node.body) / run if run else 0.0


@size.register(t.Block)
def _block(node: t.Block, evaluator: Evaluator) -> float:
    return max(magnitude(evaluator, entry) for row in node.rows for entry in row)


@size.register(t.Transpose)
def _transpose(node: t.Transpose, evaluator: Evaluator) -> float:
    return magnitude(evaluator, node.base)


@size.register(t.Expectation)
def _expectation(node: t.Expectation, evaluator: Evaluator) -> float:
    return magnitude(evaluator, node.body)
