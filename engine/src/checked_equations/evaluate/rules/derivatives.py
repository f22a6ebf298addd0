"""Derivatives by central differences, extrapolated after Richardson."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from ...errors import OperationError
from ...latex import tree as t
from ..evaluator import Evaluator, Item, Scope, rule
from ..values import Array, host, kind, shaped
from .algebra import argument, call, inside, whole_number


@rule.register(t.Derivative | t.Gradient)
def _derivative(node: t.Slope, ev: Evaluator, scope: Scope) -> Array:
    if ev.beyond is not None and isinstance(node, t.Derivative):
        value = ev.beyond.slope(node, ev, scope)
        if value is not None:
            return value
    if isinstance(node, t.Derivative) and node.order is not None:
        raise OperationError("an order of a derivative that is no digit is not read here")
    key = node.symbol.key
    # a bare function name is applied to the moved point
    name = node.body.key if isinstance(node.body, t.Name) else ""
    function = ev.bindings.get(name) if kind(ev.bindings.get(name)) == "callable" else None
    if function is None and not ev.depends(node.body, key):
        raise OperationError(f"`{key}` does not occur in what is differentiated")
    if key not in scope:
        ev.bound(key)  # it must be bound, and to numbers
    # in the shape in which it was bound
    old, value = scope[key] if key in scope else Item(None, ev.bindings[key])
    point = host(value)

    def at(place: tuple[int, ...], shift: float) -> Array:  # where the entry there is moved
        moved = point.copy()
        moved[place] += shift
        if function is not None:
            return call(name, function, [moved])
        return ev.of(node.body, {**scope, key: Item((old, place, shift), moved)})

    if isinstance(node.variable, t.Subscript):
        place = inside([whole_number(ev.of(i, scope)) for i in node.variable.indices], point.shape)
        return _slope(at, place, point)
    return _assemble(at, point, whole_jacobian=isinstance(node, t.Derivative))


_MOST = 4  # primes: each takes ten values of what has one less


@rule.register(t.Primed)
def _primed(node: t.Primed, ev: Evaluator, scope: Scope) -> Array:
    function, order = ev.bindings.get(node.key), whole_number(ev.of(node.order, scope))
    if not callable(function):
        raise OperationError(f"`{node.key}` is not bound to a function")
    if not 0 <= order <= _MOST:
        raise OperationError(f"from none to {_MOST} primes are taken by differences, not {order}")
    point = host(argument(ev, node.arguments[0], scope))
    if point.ndim:
        raise OperationError(f"primes are of functions of a number, not of one of {point.shape}")

    def slope(times: int, x: Array) -> Array:
        if not times:
            return call(node.key, function, [x])
        return _slope(lambda _, shift: slope(times - 1, x + shift), (), x)

    return slope(order, point)


@rule.register(t.At)
def _at(node: t.At, ev: Evaluator, scope: Scope) -> Array:
    point = argument(ev, node.point, scope)
    return ev.of(node.body, {**scope, node.key: Item(("point", host(point).tobytes()), point)})


def _assemble(at: Callable[..., Array], point: Array, *, whole_jacobian: bool) -> Array:
    slopes = [_slope(at, place, point) for place in np.ndindex(point.shape)]
    if point.ndim == 0:
        return slopes[0]
    if all(s.ndim == 0 for s in slopes):
        return shaped(np.array(slopes).reshape(point.shape))
    if point.ndim == 1 and all(s.ndim == 2 and s.shape[1] == 1 for s in slopes):
        if not whole_jacobian:
            hint = "write \\frac{\\partial ...}{\\partial ...} for the Jacobian"
            raise OperationError(f"a gradient is that of a scalar; {hint}")
        return np.hstack(slopes)
    raise OperationError(f"a derivative of shape {slopes[0].shape} by shape {point.shape}")


def _slope(at: Callable[..., Array], place: tuple[int, ...], point: Array) -> Array:
    """Central differences at halving steps, their error terms h^2, h^4, ... removed."""
    scale = max(abs(point[place]), 0.1 * float(np.max(np.abs(point)))) or 1.0
    steps = [scale * 2.0**-power for power in range(4, 9)]
    table = [(at(place, h) - at(place, -h)) / (2.0 * h) for h in steps]
    for order in range(1, len(steps)):
        previous = table[-1]
        factor = 4.0**order
        table = [(factor * b - a) / (factor - 1.0) for a, b in itertools.pairwise(table)]
    if np.max(np.abs(table[0] - previous)) > 1e-6 * max(np.max(np.abs(table[0])), 1e-3):
        raise OperationError("the differences do not settle; is the function smooth here?")
    return table[0]
