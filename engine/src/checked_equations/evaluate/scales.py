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
from typing import Any

import numpy as np

from ..latex import tree as t
from ..latex.register import Register
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
    return size.of(node)(evaluator, node)


def _observed(evaluator: Evaluator, node: t.Node) -> float:
    """The largest entry that `node` has had, over the loops in which it stands."""
    return max((float(np.max(np.abs(v))) for v in evaluator.observe(node)), default=0.0)


size: Register[Callable[[Evaluator, Any], float]] = Register("size", _observed)


@size(t.Sum)
def _largest(evaluator: Evaluator, node: t.Sum) -> float:
    return max(magnitude(evaluator, term) for term in node.terms)


@size(t.Product, t.Elementwise)
def _product(evaluator: Evaluator, node: t.Product | t.Elementwise) -> float:
    return float(np.prod([magnitude(evaluator, factor) for factor in node.factors]))


@size(t.Quotient)
def _quotient(evaluator: Evaluator, node: t.Quotient) -> float:
    below = _observed(evaluator, node.denominator)
    return magnitude(evaluator, node.numerator) / below if below else 0.0


@size(t.Power)
def _power(evaluator: Evaluator, node: t.Power) -> float:
    if isinstance(node.exponent, t.Number) and node.exponent.value >= 1:
        return magnitude(evaluator, node.base) ** node.exponent.value
    return _observed(evaluator, node)


@size(t.Function)
def _function(evaluator: Evaluator, node: t.Function) -> float:
    """A trace and a diagonal are as large as what they are of."""
    if node.name in ("tr", "diag"):
        return magnitude(evaluator, node.arguments[0])
    return _observed(evaluator, node)


@size(t.Reduction)
def _reduction(evaluator: Evaluator, node: t.Reduction) -> float:
    return magnitude(evaluator, node.body) if node.kind == "sum" else _observed(evaluator, node)


@size(t.Covariance)
def _covariance(evaluator: Evaluator, node: t.Covariance) -> float:
    return magnitude(evaluator, node.left) * magnitude(evaluator, node.right)


@size(t.Derivative, t.Gradient)
def _slope(evaluator: Evaluator, node: t.Slope) -> float:
    """A function over its argument: what a slope is that comes of differences."""
    symbol = node.symbol
    bound = isinstance(symbol, t.Name) and kind(evaluator.bindings.get(symbol.key)) == "value"
    run = float(np.max(np.abs(evaluator.bound(symbol.key)))) if bound else 0.0
    return magnitude(evaluator, node.body) / run if run else 0.0


@size(t.Block)
def _block(evaluator: Evaluator, node: t.Block) -> float:
    return max(magnitude(evaluator, entry) for row in node.rows for entry in row)


@size(t.Transpose)
def _transpose(evaluator: Evaluator, node: t.Transpose) -> float:
    return magnitude(evaluator, node.base)


@size(t.Expectation)
def _expectation(evaluator: Evaluator, node: t.Expectation) -> float:
    return magnitude(evaluator, node.body)
