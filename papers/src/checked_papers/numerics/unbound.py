"""The evaluator's operations without bindings: integrals without nodes, slow series, slopes.

A check binds the nodes of its integrals. Without bindings integrals are adaptive, series are
accelerated, and derivatives are those of analytic functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from checked_equations.errors import OperationError
from checked_equations.evaluate.effort import spend
from checked_equations.evaluate.evaluator import Evaluator, Item, Scope
from checked_equations.evaluate.rules.algebra import whole_number
from checked_equations.evaluate.values import Array, scalar
from checked_equations.latex import tree as t

from . import ellipsis
from .cauchy_derivatives import derivative
from .compiled_functions import function_of
from .extrapolation import product, series
from .kinks import folds_in, from_kink_to_kink
from .quadrature import integrate

_INFINITY = t.Constant("\\infty")


def integral(node: t.Integral, ev: Evaluator, scope: Scope) -> Array:
    """The integral over an unbound variable, along a straight line between its limits."""
    if len(node.variables) > 1 or node.first is None or node.dimension is not None:
        raise OperationError("an integral over one variable between limits can be tried")
    (key,) = node.variables
    (low, down), (high, up) = (_limit(limit, ev, scope) for limit in node.limits)

    of = function_of(node.body, key, ev, scope, "at")

    def along(start: complex, by: complex) -> Any:
        def at(u: float) -> complex:
            place = start + u * by
            return of(place if np.imag(by) or np.imag(start) else float(np.real(place))) * by

        return at

    folds = [
        function_of(one, key, ev, scope, "fold")
        for one in folds_in(node.body, key)
        if ev.depends(one, key)
    ]
    pieces = partial(from_kink_to_kink, along(0.0, 1.0), folds)
    if not down and not up:
        if np.isreal(low) and np.isreal(high):
            return _real(pieces(float(np.real(low)), float(np.real(high))))
        return _real(integrate(along(low, high - low), 0.0, 1.0))
    if down and up:
        return _real(_along_a_line((low, down), (high, up), along, pieces))
    start, by, sign = (low, up, 1.0) if up else (high, down, -1.0)
    if np.isreal(start) and np.isreal(by) and np.real(by) > 0:
        return _real(sign * pieces(float(np.real(start)), np.inf))
    return _real(sign * integrate(along(start, by), 0.0, np.inf))


End = tuple[complex, complex]  # a place, and the direction in which it is infinitely far


def _along_a_line(
    first: End,
    last: End,
    along: Callable[[complex, complex], Callable[[float], complex]],
    pieces: Callable[[float, float], complex],
) -> complex:
    """Return an integral whose ends are both infinite."""
    (low, down), (high, up) = first, last
    if abs(down + up) > 1e-9 or abs(low - high) > 1e-9:
        raise OperationError("the ends of this integral do not lie on one line")
    if np.isreal(low) and np.isreal(up) and np.real(up) > 0:
        return pieces(-np.inf, np.inf)
    return integrate(along(low, up), -np.inf, np.inf)


def _real(value: complex) -> Array:
    value = complex(value)
    return scalar(value if value.imag else value.real)


def _limit(node: t.Node, ev: Evaluator, scope: Scope) -> tuple[complex, complex]:
    """A limit as a place and a direction, which is zero where it is finite."""
    if not any(part == _INFINITY for part in t.parts(node)):
        return complex(ev.of(node, scope)), 0.0
    one, two = (complex(ev.of(_put(node, t.Number(size)), scope)) for size in (1.0, 2.0))
    by = two - one
    return one - by, by / abs(by)


def _put(node: t.Node, number: t.Node) -> t.Node:
    """Return `node` with a number in the place of infinity."""
    return number if node == _INFINITY else t.mapped(node, lambda part: _put(part, number))


Adding = Callable[[Callable[[int], complex], int], complex]


def endless(node: t.Reduction, ev: Evaluator, scope: Scope, add: Adding = series) -> Array:
    """Return a sum or product without end, on either side; `add` sums a series."""
    if node.kind not in ("sum", "prod"):
        raise OperationError(f"the {node.kind} over a range without end is not tried")
    first, _ = node.over.limits

    def term(k: int) -> complex:
        spend()
        return complex(ev.of(node.body, {**scope, node.over.index: Item(k, k)}))

    total = add if node.kind == "sum" else product
    if first == t.Sum((_INFINITY,), (-1,)):
        if node.kind == "sum":
            return _real(term(0) + add(lambda k: term(k) + term(-k), 1))
        return _real(term(0) * product(lambda k: term(k) * term(-k), 1))
    start = ev.of(first, scope)
    return _real(total(term, int(np.real(start))))


def dots(node: t.Dots, ev: Evaluator, scope: Scope) -> Array:
    """Return the value of a sum or product that goes on with dots."""
    return ellipsis.value_of(node, ev, scope)


def _order(node: t.Derivative, ev: Evaluator, scope: Scope) -> int:
    return 1 if node.order is None else whole_number(ev.of(node.order, scope))


def slope(node: t.Derivative, ev: Evaluator, scope: Scope) -> Array | None:
    """A derivative of any order by a number, where it is that of an analytic function.

    Others have differences along the real line, and no derivative by a complex number.
    """
    order, body = _order(node, ev, scope), node.body
    while isinstance(body, t.Derivative) and body.variable == node.variable:
        order, body = order + _order(body, ev, scope), body.body
    if isinstance(node.variable, t.Subscript):
        return None
    key = node.symbol.key
    point: Any = scope[key].value if key in scope else ev.bindings.get(key, np.zeros(2))
    if np.ndim(point) or not ev.depends(body, key):
        return None

    value = derivative(function_of(body, key, ev, scope, "circle"), complex(point), order)
    if value is None and np.isreal(point):
        return None
    if value is None:
        raise OperationError(f"no analytic function of {key} is differentiated here")
    real = np.isreal(point) and abs(value.imag) <= 1e-9 * abs(value)
    return scalar(value.real if real else value)
