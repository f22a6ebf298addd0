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

import math

import numpy as np

from ..latex import tree as t
from .evaluator import Evaluator
from .values import kind


def magnitude(node: t.Node, ev: Evaluator) -> float:
    """The size that `node` would have if nothing in it cancelled; of most kinds, its own size.

    >>> a, b = t.Name("a"), t.Name("b")
    >>> ev = Evaluator({"a": 3.0, "b": 3.0 + 1e-12})
    >>> gap = t.Sum((a, b), (1, -1))
    >>> _ = ev.value(gap)
    >>> round(magnitude(gap, ev), 9)
    3.0
    """
    match node:
        case t.Sum(terms):
            return max(magnitude(term, ev) for term in terms)
        case t.Product(factors) | t.Elementwise(factors):
            return math.prod(magnitude(factor, ev) for factor in factors)
        case t.Block(rows):
            return max(magnitude(entry, ev) for row in rows for entry in row)
        case t.Covariance(left=left, right=right):
            return magnitude(left, ev) * magnitude(right, ev)
        case t.Power(base, t.Number(exponent)) if exponent >= 1:
            return magnitude(base, ev) ** exponent
        case t.Quotient(above, below):
            size = largest(below, ev)
            return magnitude(above, ev) / size if size else 0.0
        case t.Derivative() | t.Gradient():  # a function over its argument: what differences give
            key, named = node.symbol.key, isinstance(node.symbol, t.Name)
            bound = named and kind(ev.bindings.get(key)) == "value"
            run = float(np.max(np.abs(ev.bound(key)))) if bound else 0.0
            return magnitude(node.body, ev) / run if run else 0.0
        case (
            t.Reduction(kind="sum", body=inner) | t.Expectation(body=inner) | t.Transpose(inner)
            | t.Function("tr" | "diag", (inner,))
        ):  # fmt: skip
            return magnitude(inner, ev)
    return largest(node, ev)


def largest(node: t.Node, ev: Evaluator) -> float:
    """The largest entry that `node` has had, over the loops in which it stands."""
    return max((float(np.max(np.abs(v))) for v in ev.observe(node)), default=0.0)
