"""Derivatives by central differences, extrapolated after Richardson."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import TypeAlias

import numpy as np

from ...errors import OperationError
from ...latex import tree as t
from ..values import host, kind, shaped
from .algebra import argument, call, inside, whole_number
from .registry import Array, Calculator, Item, Scope, rule

# The value where the entry at a place is moved by so much.
Moved: TypeAlias = Callable[[tuple[int, ...], float], Array]


@rule.register(t.Derivative | t.Gradient)
def _derivative(node: t.Slope, ev: Calculator, scope: Scope) -> Array:
    variable = node.symbol
    if not _is_function(ev, node.body) and not ev.depends(node.body, variable.key):
        raise OperationError(f"`{variable.key}` does not occur in what is differentiated")
    point, old = _point(ev, variable.key, scope)

    def at(place: tuple[int, ...], shift: float) -> Array:
        moved = point.copy()
        moved[place] += shift
        item = Item((old, place, shift), moved)
        return _body(ev, node.body, {**scope, variable.key: item}, moved)

    if isinstance(node.variable, t.Subscript):
        place = inside([whole_number(ev.of(i, scope)) for i in node.variable.indices], point.shape)
        return _slope(at, place, _scale(point, place))
    return _assemble(at, point, whole_jacobian=isinstance(node, t.Derivative))


@rule.register(t.At)
def _at(node: t.At, ev: Calculator, scope: Scope) -> Array:
    point = argument(ev, node.point, scope)
    item = Item(("point", host(point).tobytes()), point)
    return ev.of(node.body, {**scope, node.key: item})


def _point(ev: Calculator, key: str, scope: Scope) -> tuple[Array, Hashable]:
    """Where the derivative is taken, in the shape in which it was bound, and its token."""
    if key in scope:
        return host(scope[key].value), scope[key].token
    ev.bound(key)
    return host(ev.bindings[key]), None


def _is_function(ev: Calculator, body: t.Node) -> bool:
    return isinstance(body, t.Name) and kind(ev.bindings.get(body.key)) == "callable"


def _body(ev: Calculator, body: t.Node, scope: Scope, moved: Array) -> Array:
    """The function at the moved point; a bare function name is applied to it."""
    if isinstance(body, t.Name) and _is_function(ev, body):
        return call(body.key, ev.bindings[body.key], [moved])
    return ev.of(body, scope)


def _assemble(at: Moved, point: Array, *, whole_jacobian: bool) -> Array:
    slopes = [_slope(at, place, _scale(point, place)) for place in np.ndindex(point.shape)]
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


def _scale(point: Array, place: tuple[int, ...]) -> float:
    size = max(abs(float(point[place])), 0.1 * float(np.max(np.abs(point))))
    return size or 1.0


def _slope(at: Moved, place: tuple[int, ...], scale: float) -> Array:
    """Central differences at halving steps, their error terms h^2, h^4, ... removed."""
    steps = [scale * 2.0**-power for power in range(4, 9)]
    table = [(at(place, h) - at(place, -h)) / (2.0 * h) for h in steps]
    for order in range(1, len(steps)):
        previous = table[-1]
        factor = 4.0**order
        table = [(factor * b - a) / (factor - 1.0) for a, b in itertools.pairwise(table)]
    if np.max(np.abs(table[0] - previous)) > 1e-6 * max(np.max(np.abs(table[0])), 1e-3):
        raise OperationError("the differences do not settle; is the function smooth here?")
    return table[0]
