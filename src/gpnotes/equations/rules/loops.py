"""Sums and products over an index, averages and integrals over nodes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from .. import operations as op
from .. import tree as t
from ..errors import OperationError
from ..values import Nodes, conform, kind
from .algebra import whole
from .registry import Array, Calculator, Item, Scope, rule


def _members(ev: Calculator, over: t.Range, scope: Scope) -> list:
    if over.members is None:
        first, last = (whole(ev.of(limit, scope)) for limit in (over.first, over.last))
        found = list(range(first, last + 1))
    else:
        found = elements(ev, over.members, scope)
    if over.without is not None:
        skipped = ev.of(over.without, scope)
        found = [member for member in found if member != skipped]
    if not found and not any(ev.depends(over, key) for key in scope):
        raise OperationError(f"nothing to run over: the range of `{over.index}` is empty")
    return found


def elements(ev: Calculator, node: t.Node, scope: Scope) -> list:
    bound = ev.bindings.get(node.key) if isinstance(node, t.Name) else None
    if kind(bound) == "set":
        return sorted(bound) if isinstance(bound, set | frozenset) else list(bound)
    values = ev.of(node, scope)
    if values.ndim == 0:
        return list(range(1, whole(values) + 1))
    return list(values.ravel()) if 1 in values.shape else list(values)


def _token(member: Any) -> Hashable:
    return member.tobytes() if isinstance(member, np.ndarray) else member


_STEPS = {"sum": op.add, "prod": op.multiply, "min": np.minimum, "max": np.maximum}


@rule(t.Reduction)
def _reduction(ev: Calculator, node: t.Reduction, scope: Scope) -> Array:
    members = _members(ev, node.over, scope)
    items = (Item(_token(member), member) for member in members)
    values = [ev.of(node.body, {**scope, node.over.index: item}) for item in items]
    if not values:
        return _nothing(node)
    if node.kind in _CHOICES:
        return conform(members[_choice(_CHOICES[node.kind], values)])
    return functools.reduce(_STEPS[node.kind], values)


def _nothing(node: t.Reduction) -> Array:
    """The empty sum at the edge of an outer one, as in ``\\sum_i \\sum_{j < i}`` for i = 1."""
    if node.kind not in ("sum", "prod"):
        raise OperationError(f"the {node.kind} of nothing is not defined")
    return np.float64(node.kind == "prod")


_CHOICES = {"argmin": np.argmin, "argmax": np.argmax}


def _choice(choose: Callable, values: list[Array]) -> int:
    if any(value.ndim for value in values):
        raise OperationError(f"only scalars have a largest and a smallest, not {values[0].shape}")
    return int(choose(values))


def _weighted(ev: Calculator, variables: tuple[str, ...], scope: Scope) -> Iterator:
    """The joint points of independent variables: their scope, and the product of weights."""
    nodes = [_nodes(ev, key) for key in variables]
    for places in itertools.product(*(range(len(n.weights)) for n in nodes)):
        inner, weight = dict(scope), 1.0
        for key, one, place in zip(variables, nodes, places, strict=True):
            inner[key] = Item(("point", place), one.points[place])
            weight *= one.weights[place]
        yield weight, inner


def _nodes(ev: Calculator, key: str) -> Nodes:
    found = ev.bindings.get(key)
    if not isinstance(found, Nodes):
        raise OperationError(f"`{key}` must be bound to Nodes(points, weights)")
    return found


def _mean(ev: Calculator, variables: tuple[str, ...], body: Callable, scope: Scope) -> Array:
    total = None
    for weight, inner in _weighted(ev, variables, scope):
        value = weight * body(inner)
        total = value if total is None else op.add(total, value)
    return total


def _probability(ev: Calculator, variables: tuple[str, ...]) -> None:
    for key in variables:
        mass = _nodes(ev, key).weights.sum()
        if abs(mass - 1.0) > 1e-9:
            raise OperationError(f"the weights of `{key}` sum to {mass:.6g}, not to one")


@rule(t.Expectation)
def _expectation(ev: Calculator, node: t.Expectation, scope: Scope) -> Array:
    _probability(ev, node.variables)
    return _mean(ev, node.variables, lambda inner: ev.of(node.body, inner), scope)


@rule(t.Variance)
def _variance(ev: Calculator, node: t.Variance, scope: Scope) -> Array:
    _probability(ev, node.variables)
    return _cross(ev, node.variables, node.body, node.body, scope)


@rule(t.Covariance)
def _covariance(ev: Calculator, node: t.Covariance, scope: Scope) -> Array:
    _probability(ev, node.variables)
    return _cross(ev, node.variables, node.left, node.right, scope)


def _cross(ev: Calculator, over: tuple[str, ...], a: t.Node, b: t.Node, scope: Scope) -> Array:
    # centred first: E[ab'] - E[a]E[b'] cancels
    mean_a = _mean(ev, over, lambda inner: ev.of(a, inner), scope)
    mean_b = _mean(ev, over, lambda inner: ev.of(b, inner), scope)

    def product(inner: Scope) -> Array:
        return op.multiply(ev.of(a, inner) - mean_a, np.transpose(ev.of(b, inner) - mean_b))

    return _mean(ev, over, product, scope)


@rule(t.Integral)
def _integral(ev: Calculator, node: t.Integral, scope: Scope) -> Array:
    if node.first is not None:
        _inside_limits(ev, node, scope)
    return _mean(ev, node.variables, lambda inner: ev.of(node.body, inner), scope)


def _inside_limits(ev: Calculator, node: t.Integral, scope: Scope) -> None:
    low, high = (_limit(ev, limit, scope) for limit in (node.first, node.last))
    for key in node.variables:
        points, length = _nodes(ev, key).points, _nodes(ev, key).weights.sum()
        if points.min() < low or points.max() > high:
            raise OperationError(f"the nodes of `{key}` leave the limits {low:.6g} to {high:.6g}")
        if np.isfinite(high - low) and abs(length - (high - low)) > 1e-9 * (high - low):
            said = f"the weights of `{key}` sum to {length:.6g}"
            raise OperationError(
                f"{said}, the limits {low:.6g} and {high:.6g} differ by {high - low:.6g}"
            )
        if np.isinf(low) != np.isinf(high):
            _begins_at(ev, key, low if np.isinf(high) else high)
        for limit in (low, high):
            if np.isinf(limit):
                _ends_before(ev, node, scope, (key, limit))


def _begins_at(ev: Calculator, key: str, limit: float) -> None:
    """The node nearest to a finite limit stands for a stretch, its weight, that reaches it.

    Where both limits are finite the sum of the weights says it.
    """
    nodes = _nodes(ev, key)
    if nodes.points.ndim > 1:
        return
    gaps = np.abs(nodes.points - limit)
    nearest = int(gaps.argmin())
    if gaps[nearest] > abs(nodes.weights[nearest]):
        begin = nodes.points[nearest]
        raise OperationError(
            f"the nodes of `{key}` begin at {begin:.3g}, far from the limit {limit:.6g}"
        )


_GONE = 1e-3  # what may be left of an integrand at the last nodes, relative to its largest value


def _ends_before(ev: Calculator, node: t.Integral, scope: Scope, at: tuple[str, float]) -> None:
    """Towards an infinite limit the integrand must have died away where the nodes end."""
    key, limit = at
    inside = [inner for _, inner in _weighted(ev, node.variables, scope)]
    reached = np.sign(limit) * np.array([np.ravel(inner[key].value) for inner in inside])
    sizes = np.array([np.max(np.abs(ev.of(node.body, inner))) for inner in inside])
    last = np.any(reached == reached.max(axis=0), axis=1)
    left = sizes[last].max() / max(sizes.max(), np.finfo(np.float64).tiny)
    if left > _GONE:
        raise OperationError(
            f"at the last nodes of `{key}` before the limit {limit:.6g} the integrand is "
            f"{left:.1g} of its largest value"
        )


def _limit(ev: Calculator, node: t.Node, scope: Scope) -> float:
    """An infinite limit is no value that one may compute with, so it is read here."""
    if isinstance(node, t.Constant) and node.name == "\\infty":
        return np.inf
    if isinstance(node, t.Sum) and node.terms == (t.Constant("\\infty"),):
        return node.signs[0] * np.inf
    return float(ev.of(node, scope))
