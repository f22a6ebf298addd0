"""An expression as a function of one running number, for integrands, which are asked often.

The operations are those of the evaluator, on numbers alone. Where they fail or give no finite
value, the evaluator takes over and reports the problem.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from functools import singledispatch
from typing import Any

from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate import operations as op
from checked_equations.evaluate.effort import spend
from checked_equations.evaluate.evaluator import Evaluator, Item, Scope
from checked_equations.evaluate.values import Array, Word, conform, scalar
from checked_equations.latex import tree as t

Of = Callable[[Any], Any]
_WRONG = (EquationError, OperationError, ArithmeticError, ValueError, TypeError)


def function_of(node: t.Node, key: str, ev: Evaluator, scope: Scope, mark: str) -> Of:
    """The value of `node`, a number, where the running variable `key` is the argument.

    `mark` tells its values in the evaluator's memory from those of other loops.
    """
    own = _Of(key, ev, scope, mark)
    quick = own.of(node)
    cost = 1 + len(t.parts(node)) // 32  # compiled, a node is quick

    def of(place: Any) -> complex:
        spend(cost)
        try:
            value = complex(quick(scalar(place)))
        except _WRONG:
            return complex(own.slowly(node, place))
        if not cmath.isfinite(value):
            return complex(own.slowly(node, place))
        ev.note(node, (mark, place), value)
        return value

    return of


class _Of:
    """Functions of the running variable `key`, with the others of `scope` as they are."""

    def __init__(self, key: str, ev: Evaluator, scope: Scope, mark: str) -> None:
        self.key, self.ev, self.scope, self.mark = key, ev, scope, mark

    def of(self, node: t.Node) -> Of:
        """The function that `node` is; one that does not depend on the variable is its value."""
        if isinstance(node, t.Name | t.Index) and node.key == self.key:
            return lambda x: x
        if not self.ev.depends(node, self.key):
            return self._constant(node)
        return _made(node, self)

    def slowly(self, node: t.Node, place: Any) -> Array:
        """The value by the evaluator."""
        item = Item((self.mark, complex(place)), place)
        return self.ev.of(node, {**self.scope, self.key: item})

    def _constant(self, node: t.Node) -> Of:
        known: list[Array] = []

        def of(x: object) -> object:
            if not known:
                known.append(self.ev.of(node, self.scope))
            return known[0]

        return of


@singledispatch
def _made(node: t.Node, own: _Of) -> Of:
    return lambda x: own.slowly(node, x)


@_made.register
def _sum(node: t.Sum, own: _Of) -> Of:
    parts = [(own.of(part), sign) for part, sign in zip(node.terms, node.signs, strict=True)]
    (first, sign), rest = parts[0], parts[1:]

    def of(x: object) -> object:
        total = first(x) if sign > 0 else -first(x)
        for part, turn in rest:
            total = total + part(x) if turn > 0 else total - part(x)
        return total

    return of


@_made.register
def _product(node: t.Product, own: _Of) -> Of:
    first, *rest = map(own.of, node.factors)

    def of(x: object) -> object:
        total = first(x)
        for part in rest:
            total = total * part(x)
        return total

    return of


@_made.register
def _quotient(node: t.Quotient, own: _Of) -> Of:
    above, below = own.of(node.numerator), own.of(node.denominator)
    return lambda x: op.divide(above(x), below(x))


@_made.register
def _power(node: t.Power, own: _Of) -> Of:
    base, exponent = own.of(node.base), own.of(node.exponent)
    return lambda x: op.power(base(x), exponent(x))


@_made.register
def _root(node: t.Root, own: _Of) -> Of:
    base = own.of(node.base)
    degree = own.of(node.degree or t.Number(2.0))
    return lambda x: op.root(base(x), degree(x))


@_made.register
def _inverse(node: t.Inverse, own: _Of) -> Of:
    base = own.of(node.base)
    return lambda x: op.inverse(base(x))


@_made.register
def _function(node: t.Function, own: _Of) -> Of:
    bound = own.ev.bindings.get(node.name)
    if isinstance(bound, Word):
        return _called(bound.function, node.arguments, own)
    if node.name not in op.FUNCTIONS:
        return lambda x: own.slowly(node, x)
    function, parts = op.FUNCTIONS[node.name], [own.of(part) for part in node.arguments]
    return lambda x: function(*(part(x) for part in parts))


@_made.register
def _apply(node: t.Apply, own: _Of) -> Of:
    function = own.ev.bindings.get(node.key)
    if isinstance(node, t.Primed) or not callable(function):
        return lambda x: own.slowly(node, x)
    return _called(function, node.arguments, own)


def _called(function: Callable[..., object], arguments: tuple[t.Node, ...], own: _Of) -> Of:
    parts = [own.of(part) for part in arguments]
    return lambda x: conform(function(*(part(x) for part in parts)))
