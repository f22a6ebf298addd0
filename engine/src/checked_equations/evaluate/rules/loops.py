"""Sums and products over an index, averages and integrals over nodes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import OperationError
from ...latex import tree as t
from ...latex.printer import to_latex
from .. import operations as op
from ..continued_fractions import fraction_value
from ..evaluator import Evaluator, Item, Points, Scope, rule
from ..values import Array, Distribution, Nodes, conform, scalar
from .algebra import argument, failure, members_of, whole_number

_LONGEST = 10_000_000


def _members(ev: Evaluator, node: t.Reduction, scope: Scope) -> list[Any]:
    over = node.over
    if over.members == t.Name(over.index) and over.index not in ev.bindings:
        members = list(range(1, _entries(ev, node, scope) + 1))
    elif over.members is None:
        first, last = (whole_number(ev.of(limit, scope)) for limit in over.limits)
        if last - first > _LONGEST:
            raise OperationError(f"a range of {last - first + 1} is too long to go through")
        if last - first > ev.longest:
            raise OperationError(f"more than {ev.longest:g} terms, by an edit of its ends")
        members = list(range(first, last + 1))
    else:
        own = over.members == t.Name(over.index)  # not what an outer sum runs over, called alike
        members = elements(ev, over.members, _without(scope, over.index) if own else scope)
    if over.without is not None:
        skipped = ev.of(over.without, scope)
        members = [member for member in members if member != skipped]
    if not members and not any(ev.depends(over, key) for key in scope):
        raise OperationError(f"nothing to run over: the range of `{over.index}` is empty")
    return members


def _without(scope: Scope, own: str) -> Scope:
    return {key: item for key, item in scope.items() if key != own}


def _entries(ev: Evaluator, node: t.Reduction, scope: Scope) -> int:
    """Return the end of the unbound index of ``\\sum_i``: as far as the entries along it go."""
    found: dict[int, str] = {}
    for entry, place in t.entries_along(node):
        shape = ev.of(entry.base, scope).shape
        if len(shape) == 2 and 1 in shape and len(entry.indices) == 1:  # a row as a column
            shape = (max(shape),)
        if place < len(shape):
            found.setdefault(shape[place], to_latex(entry))
    if len(found) == 1:
        return next(iter(found))
    told = " and ".join(f"{length} of `{said}`" for length, said in found.items()) or "nothing"
    raise OperationError(f"`{node.over.index}` runs over {told}: write its range, or bind it")


def elements(ev: Evaluator, node: t.Node, scope: Scope) -> list[Any]:
    """Return the range of `node`: a bound set, 1 to a bound number, the entries of a vector."""
    bound = members_of(node, ev, scope)
    if bound is not None:
        return sorted(bound) if isinstance(bound, set | frozenset) else list(bound)
    values = ev.of(node, scope)
    if values.ndim == 0:
        return list(range(1, whole_number(values) + 1))
    return list(values.ravel()) if 1 in values.shape else list(values)


_STEPS: dict[str, Callable[[Array, Array], Array]] = {
    "sum": op.add, "prod": op.multiply, "min": np.minimum, "max": np.maximum,
    "inf": np.minimum, "sup": np.maximum,
}  # fmt: skip


@rule.register(t.Reduction)
def _reduction(node: t.Reduction, ev: Evaluator, scope: Scope) -> Array:
    if node.over.last == _INFINITY:
        if ev.beyond is not None:
            return ev.beyond.endless(node, ev, scope)
        return _series(node, ev, scope)
    members = _members(ev, node, scope)
    ev.terms += len(members)
    items = (Item(m.tobytes() if isinstance(m, np.ndarray) else m, m) for m in members)
    values = [ev.of(node.body, {**scope, node.over.index: item}) for item in items]
    if not values:  # at the edge of an outer one, as in `\sum_i \sum_{j < i}` for i = 1
        if node.kind not in ("sum", "prod"):
            raise OperationError(f"the {node.kind} of nothing is not defined")
        return scalar(node.kind == "prod")
    if node.kind in _STEPS:
        return functools.reduce(_STEPS[node.kind], values)
    if any(value.ndim for value in values):
        raise OperationError(f"only scalars have a largest and a smallest, not {values[0].shape}")
    choose = np.argmin if node.kind == "argmin" else np.argmax
    return conform(members[int(choose(values))])


@rule.register(t.Dots)
def _dots(node: t.Dots, ev: Evaluator, scope: Scope) -> Array:
    if isinstance(node.body, t.Quotient):
        return fraction_value(node.body, ev, scope)
    if ev.beyond is None:
        raise OperationError("dots are not read here: write the sum with \\sum, or every term")
    return ev.beyond.dots(node, ev, scope)


_INFINITY = t.Constant("\\infty")
_MOST = 20_000  # terms of a series without end
_DEAD = 8  # so many terms in a row add nothing
_PATIENCE = 1_000_000  # terms, with those of sums inside, before a series must be dying away
_COST = 10 * _PATIENCE  # and before it is given up even so: a mutant, four times what is known


def _series(node: t.Reduction, ev: Evaluator, scope: Scope) -> Array:
    """A sum without end, until its terms no longer add anything."""
    if node.kind != "sum":
        raise OperationError(f"a {node.kind} without end is not read: write a large number")
    first, _ = node.over.limits
    known = max(ev.series.values(), default=0) if ev.mutants_follow else 0
    begun, patience, most = ev.terms, known or _PATIENCE, 4 * known + _MOST if known else _COST
    total, idle, sizes = scalar(0.0), 0, list[float]()
    for member in itertools.count(whole_number(ev.of(first, scope))):
        term = ev.of(node.body, {**scope, node.over.index: Item(member, member)})
        ev.terms += 1
        total = op.add(total, term) if total.shape == term.shape else term
        size = np.max(np.abs(total))
        sizes.append(float(np.max(np.abs(term))))
        idle = idle + 1 if size > 0 and sizes[-1] < 1e-18 * size else 0
        cost = ev.terms - begun
        if idle == _DEAD:
            ev.series[id(node)] = max(cost, ev.series.get(id(node), 0))
            return total
        if member > _MOST or cost > most:
            break
        if cost > patience:
            late = sizes[len(sizes) // 2 :]  # a term that stays hides behind those that died first
            half = len(late) // 2
            if half and max(late[half:]) >= max(late[:half]):  # it is not dying away
                break
            patience *= 2
    raise OperationError("the terms do not die away: write a large number in place of `\\infty`")


def _weighted(
    ev: Evaluator, over: Sequence[t.Under], scope: Scope, *, chances: bool = True
) -> Iterator[tuple[float, Scope]]:
    """Return the joint points of all drawn variables; nodes may depend on earlier ones."""
    if not over:
        yield 1.0, scope
        return
    first, *rest = over
    nodes = _nodes(ev, first, scope)
    mass = nodes.weights.sum()
    if chances and abs(mass - 1.0) > 1e-9:
        raise OperationError(f"the weights of `{first.distribution}` sum to {mass:.6g}, not to one")
    for weight, items in _points(ev, first, nodes):
        if not rest:
            yield weight, {**scope, **items}
            continue
        for others, inner in _weighted(ev, rest, {**scope, **items}, chances=chances):
            yield weight * others, inner


def _points(ev: Evaluator, under: t.Under, nodes: Nodes) -> Points:
    """Yield each weight, and the value of each variable; values equal in all scopes are made once.

    A value is its own token, so that the same variable may be drawn from two distributions.
    """
    key, bound = (under.distribution, under.variables), ev.bindings[under.distribution]
    lasting = nodes is bound or nodes is bound.nodes
    if lasting and key in ev.points:
        return ev.points[key]
    points = []
    for place, weight in enumerate(nodes.weights):
        values = nodes.values(place, len(under.variables), under.distribution)
        pairs = zip(under.variables, values, strict=True)
        items = {key: Item(("point", np.asarray(v).tobytes()), v) for key, v in pairs}
        points.append((weight, items))
    if lasting:
        ev.points[key] = points
    return points


def _nodes(ev: Evaluator, under: t.Under, scope: Scope) -> Nodes:
    key = under.distribution
    bound = ev.bindings.get(key)
    nodes: Any = bound.nodes if isinstance(bound, Distribution) else bound
    if isinstance(bound, Distribution) and not isinstance(nodes, Nodes):
        arguments = [argument(ev, node, scope) for node in under.given]
        try:
            nodes = nodes(*arguments)
        except Exception as wrong:
            raise failure(f"the nodes of `{key}`", wrong) from wrong
    if not isinstance(nodes, Nodes):
        raise OperationError(f"`{key}` must be bound to Nodes(points, weights)")
    return nodes


def _total(weighted: Iterable[tuple[float, Scope]], body: Callable[[Scope], Array]) -> Array:
    return functools.reduce(op.add, (weight * body(inner) for weight, inner in weighted))


@rule.register(t.Expectation)
def _mean(node: t.Expectation, ev: Evaluator, scope: Scope) -> Array:
    return _total(_weighted(ev, node.over, scope), lambda inner: ev.of(node.body, inner))


@rule.register(t.Variance | t.Covariance)
def _cross(node: t.Variance | t.Covariance, ev: Evaluator, scope: Scope) -> Array:
    a, b = (node.body,) * 2 if isinstance(node, t.Variance) else (node.left, node.right)
    # centred first: E[ab'] - E[a]E[b'] cancels
    mean_a, mean_b = (_mean(t.Expectation(node.over, part), ev, scope) for part in (a, b))

    def product(inner: Scope) -> Array:
        return op.multiply(ev.of(a, inner) - mean_a, np.transpose(ev.of(b, inner) - mean_b))

    return _total(_weighted(ev, node.over, scope), product)


@rule.register(t.Integral)
def _integral(node: t.Integral, ev: Evaluator, scope: Scope) -> Array:
    if ev.beyond is not None and not set(node.variables) <= ev.bindings.keys():
        return ev.beyond.integral(node, ev, scope)
    over = tuple(t.Under((key,), key) for key in node.variables)
    nodes = {under.distribution: _nodes(ev, under, scope) for under in over}
    weighted = list(_weighted(ev, over, scope, chances=False))
    if node.first is not None:
        low, high = (_limit(ev, limit, scope) for limit in node.limits)
        axes = None if node.dimension is None else whole_number(ev.of(node.dimension, scope))
        for key, own in nodes.items():
            _inside_limits(key, own, (low, high), axes)
        infinite = [limit for limit in (low, high) if np.isinf(limit)]
        if infinite:
            _ends_before(ev, node, [inner for _, inner in weighted], infinite)
    for key, own in nodes.items():
        _refuse_no_lengths(key, own)
    return _total(weighted, lambda inner: ev.of(node.body, inner))


def _inside_limits(key: str, nodes: Nodes, limits: tuple[float, float], axes: int | None) -> None:
    """Nodes fill their limits; a domain of several `axes` has nodes of as many coordinates."""
    held = nodes.points.shape[1] if nodes.points.ndim > 1 else 1
    if axes not in (None, held):
        coordinates = f"{held} coordinate{'' if held == 1 else 's'}"
        raise OperationError(f"the nodes of `{key}` have {coordinates}, the domain has {axes}")
    low, high = limits
    length = nodes.weights.sum()
    size = (high - low) ** (axes or 1)
    if nodes.points.min() < low or nodes.points.max() > high:
        raise OperationError(f"the nodes of `{key}` leave the limits {low:.6g} to {high:.6g}")
    if np.isfinite(size):
        if abs(length - size) > 1e-9 * size:
            apart = f"the limits {low:.6g} and {high:.6g} differ by {high - low:.6g}"
            raise OperationError(f"the weights of `{key}` sum to {length:.6g}, {apart}")
        # The nodes of a density on the same interval have weights of the same sum. A rule for what
        # is periodic has its nodes at the left ends of its cells.
        middle = nodes.weights @ nodes.points / length
        cell = (high - low) * np.max(np.abs(nodes.weights)) / length
        if np.max(np.abs(middle - 0.5 * (low + high))) > 0.51 * cell:
            said = f"by them the middle of {low:.6g} to {high:.6g} is {np.max(middle):.6g}"
            raise OperationError(f"the weights of `{key}` are no lengths: {said}; {_DENSITY}")
    if np.isinf(low) != np.isinf(high) and nodes.points.ndim == 1:
        # the nearest node to a finite limit stands for a stretch, its weight, that reaches it
        limit = low if np.isinf(high) else high
        gaps = np.abs(nodes.points - limit)
        nearest = int(gaps.argmin())
        if gaps[nearest] > abs(nodes.weights[nearest]):
            said = f"begin at {nodes.points[nearest]:.3g}, far from the limit {limit:.6g}"
            raise OperationError(f"the nodes of `{key}` {said}")


_DENSITY = "the nodes of a distribution belong under \\mathbb E, or its density into the integral"


def _refuse_no_lengths(key: str, nodes: Nodes) -> None:
    """The weights of nodes under an integral are the stretches of the line that they stand for."""
    span = np.ptp(nodes.points, axis=0)
    total = nodes.weights.sum()
    if np.ndim(span):  # in several dimensions: what weights that sum to one have wrong
        wrong = abs(total - 1.0) < 1e-9 and np.prod(span) > 2.0 ** len(span)
    else:
        wrong = len(nodes.points) > 2 and _out_of_place(nodes.points, nodes.weights)
    if wrong:
        said = f"they sum to {total:.6g}, the nodes stretch over {np.max(span):.6g}"
        raise OperationError(f"the weights of `{key}` are no lengths: {said}; {_DENSITY}")


def _out_of_place(points: Array, weights: Array) -> bool:
    """Return whether weights are far, on the whole, from half the way between their neighbours.

    Those of Simpson's rule are 4/3 and 2/3 of it; where two rules join, a weight may be anything.
    """
    order = np.argsort(points)
    stretches = 0.5 * (points[order][2:] - points[order][:-2])
    ratios = weights[order][1:-1] / np.maximum(stretches, np.finfo(np.float64).tiny)
    logs = np.log(np.clip(ratios, 0.2, 5.0))
    few = 1.2 / len(ratios)
    return bool(abs(np.mean(logs)) > 0.1 + few or np.mean(np.abs(logs)) > 0.45 + few)


_GONE = 1e-3  # what may be left of an integrand at the last nodes, relative to its largest value


def _ends_before(
    ev: Evaluator, node: t.Integral, inside: Sequence[Scope], infinite: Sequence[float]
) -> None:
    """Towards an infinite limit the integrand must have died away where the nodes end."""
    values = (ev.of(node.body, inner) for inner in inside)
    sizes = np.array([np.abs(value).max() if value.ndim else abs(value) for value in values])
    for key, limit in itertools.product(node.variables, infinite):
        reached = np.sign(limit) * np.array([np.ravel(inner[key].value) for inner in inside])
        last = np.any(reached == reached.max(axis=0), axis=1)
        left = sizes[last].max() / max(sizes.max(), np.finfo(np.float64).tiny)
        if left > _GONE:
            said = f"the integrand is {left:.1g} of its largest value"
            place = f"at the last nodes of `{key}` before the limit {limit:.6g}"
            raise OperationError(f"{place} {said}")


def infinity(node: t.Node) -> float | None:
    """Return the sign of an infinite limit; None for a number."""
    signs, terms = (node.signs, node.terms) if isinstance(node, t.Sum) else ((1,), (node,))
    return signs[0] * math.inf if terms == (_INFINITY,) else None


def _limit(ev: Evaluator, node: t.Node, scope: Scope) -> float:
    """An infinite limit is no value that one may compute with, so it is read here."""
    infinite = infinity(node)
    return float(ev.of(node, scope)) if infinite is None else infinite
