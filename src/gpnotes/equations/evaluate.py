"""The value of a tree on bound numbers: one small function a node.

Values are remembered by node and by the running variables that the node contains. A mutant
shares all but the path to its edit with the tree it came from, so that only this path is
computed again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import operations as op
from . import tree as t
from .errors import EquationError, OperationError
from .names import nearest, normal
from .values import Estimate, Nodes, conform, host, kind, shaped

__all__ = ["Evaluator", "Item"]

Array = np.ndarray


class Item(NamedTuple):
    """What a running variable stands for: a token that tells its values apart, the value."""

    token: Any
    value: Any


Scope = Mapping[str, Item]


@dataclass(slots=True)
class _Memo:
    node: t.Node
    keys: frozenset[str]
    values: dict[tuple, Any]


class Evaluator:
    """Values of nodes on one set of bindings, LaTeX name to value.

    Raises `EquationError` at the node that cannot be computed. With `latex`, the text that
    the tree was parsed from, the error shows the place.

    >>> from gpnotes.equations.parse import parse_expression
    >>> node = parse_expression("a b^2", {"a": "value", "b": "value"})
    >>> float(Evaluator({"a": 2.0, "b": 3.0}).value(node))
    18.0
    """

    def __init__(self, bindings: Mapping[str, Any], latex: str = "", *, cache: bool = True) -> None:
        self.bindings = {normal(key): value for key, value in bindings.items()}
        self.latex, self.cache = latex, cache
        self._memo: dict[int, _Memo] = {}
        self._bound: dict[str, Array] = {}

    def value(self, node: t.Node, scope: Scope | None = None) -> Array:
        """The value of `node`: a scalar (), a column (n, 1), a row (1, n) or a matrix."""
        with np.errstate(all="ignore"):
            return self.of(node, scope or {})

    def observe(self, node: t.Node) -> list[Array]:
        """All values that `node` has taken so far, over the loops that it stands in."""
        memo = self._memo.get(id(node))
        return list(memo.values.values()) if memo else []

    def of(self, node: t.Node, scope: Scope) -> Array:
        memo = self._memo.get(id(node)) or self._remember(node)
        key = tuple(scope[k].token for k in scope if k in memo.keys) if scope else ()
        known = memo.values.get(key)
        if known is None or not self.cache:
            known = memo.values[key] = self._compute(node, scope)
        return known

    def _remember(self, node: t.Node) -> _Memo:
        memo = self._memo[id(node)] = _Memo(node, frozenset(self._mentioned(node)), {})
        return memo

    def _mentioned(self, node: t.Node) -> Iterator[str]:
        if isinstance(node, t.Name | t.Index | t.Apply):
            yield node.key
        for _, child in t.children(node):
            yield from (self._memo.get(id(child)) or self._remember(child)).keys

    def _compute(self, node: t.Node, scope: Scope) -> Array:
        try:
            value = _RULES[type(node)](self, node, scope)
            if not np.isfinite(value).all():
                raise OperationError(f"the value is {_what_is_wrong(value)}")
        except OperationError as wrong:
            raise self.fault(node, str(wrong)) from wrong.__cause__
        return value

    def fault(self, node: t.Node, problem: str) -> EquationError:
        return EquationError(problem, self.latex, node.span)

    def bound(self, key: str) -> Array:
        """The bound value of a name, conformed once."""
        if key not in self._bound:
            if key not in self.bindings:
                known = nearest(key, list(self.bindings))
                raise OperationError(f"unbound symbol `{key}`{known}")
            value = self.bindings[key]
            self._refuse_unusable(key, value)
            self._bound[key] = conform(value.value if isinstance(value, Estimate) else value)
        return self._bound[key]

    def _refuse_unusable(self, key: str, value: Any) -> None:
        what = kind(value)
        if what == "nodes":
            raise OperationError(f"`{key}` is bound to Nodes and stands outside its average")
        if what != "value":
            raise OperationError(f"`{key}` is bound to a {what}; it has no value of its own")


def _what_is_wrong(value: Array) -> str:
    return "not a number" if np.isnan(value).any() else "infinite"


_RULES: dict[type, Callable[[Evaluator, Any, Scope], Array]] = {}


def _rule(kind_of_node: type) -> Callable:
    def register(function: Callable) -> Callable:
        _RULES[kind_of_node] = function
        return function

    return register


# -- leaves -----------------------------------------------------------------------------


@_rule(t.Number)
def _number(ev: Evaluator, node: t.Number, scope: Scope) -> Array:
    return np.float64(node.value)


_CONSTANTS = {"\\pi": np.pi, "e": np.e, "\\infty": np.inf}


@_rule(t.Constant)
def _constant(ev: Evaluator, node: t.Constant, scope: Scope) -> Array:
    return np.float64(_CONSTANTS[node.name])


@_rule(t.Name)
def _name(ev: Evaluator, node: t.Name, scope: Scope) -> Array:
    return conform(scope[node.key].value) if node.key in scope else ev.bound(node.key)


@_rule(t.Index)
def _index(ev: Evaluator, node: t.Index, scope: Scope) -> Array:
    if node.key not in scope:
        raise OperationError(f"`{node.key}` runs over nothing here")
    return conform(scope[node.key].value)


@_rule(t.Subscript)
def _subscript(ev: Evaluator, node: t.Subscript, scope: Scope) -> Array:
    base = ev.of(node.base, scope)
    indices = [_whole(ev.of(index, scope)) for index in node.indices]
    if base.ndim == 0 and indices == [1]:
        return base
    if base.ndim == 2 and 1 in base.shape and len(indices) == 1:
        base = base.ravel()
    return shaped(base[_inside(indices, base.shape)])


def _whole(value: Array) -> int:
    if np.ndim(value) or value != int(value):
        raise OperationError(f"an index must be a whole number, not {value}")
    return int(value)


def _inside(indices: list[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """One-based indices as zero-based ones; out of range is an error, not the other end."""
    if len(indices) > len(shape):
        raise OperationError(f"{len(indices)} indices for the shape {shape}")
    for index, size in zip(indices, shape, strict=False):
        if not 1 <= index <= size:
            raise OperationError(f"the index {index} is outside 1 to {size}, shape {shape}")
    return tuple(index - 1 for index in indices)


# -- arithmetic -------------------------------------------------------------------------


@_rule(t.Sum)
def _sum(ev: Evaluator, node: t.Sum, scope: Scope) -> Array:
    total = None
    for term, sign in zip(node.terms, node.signs, strict=True):
        value = ev.of(term, scope)
        signed = value if sign > 0 else -value
        total = signed if total is None else op.add(total, signed)
    return total


@_rule(t.Product)
def _product(ev: Evaluator, node: t.Product, scope: Scope) -> Array:
    value = ev.of(node.factors[0], scope)
    for factor in node.factors[1:]:
        value = op.multiply(value, ev.of(factor, scope))
    return value


@_rule(t.Elementwise)
def _elementwise(ev: Evaluator, node: t.Elementwise, scope: Scope) -> Array:
    value = ev.of(node.factors[0], scope)
    for factor in node.factors[1:]:
        value = op.elementwise(value, ev.of(factor, scope))
    return value


@_rule(t.Quotient)
def _quotient(ev: Evaluator, node: t.Quotient, scope: Scope) -> Array:
    return op.divide(ev.of(node.numerator, scope), ev.of(node.denominator, scope))


@_rule(t.Power)
def _power(ev: Evaluator, node: t.Power, scope: Scope) -> Array:
    return op.power(ev.of(node.base, scope), ev.of(node.exponent, scope))


@_rule(t.Inverse)
def _inverse(ev: Evaluator, node: t.Inverse, scope: Scope) -> Array:
    return op.inverse(ev.of(node.base, scope))


@_rule(t.Transpose)
def _transpose(ev: Evaluator, node: t.Transpose, scope: Scope) -> Array:
    return op.transpose(ev.of(node.base, scope))


@_rule(t.Root)
def _root(ev: Evaluator, node: t.Root, scope: Scope) -> Array:
    degree = np.float64(2.0) if node.degree is None else ev.of(node.degree, scope)
    return op.root(ev.of(node.base, scope), degree)


@_rule(t.Bars)
def _bars(ev: Evaluator, node: t.Bars, scope: Scope) -> Array:
    if isinstance(node.base, t.Name) and kind(ev.bindings.get(node.base.key)) == "set":
        return np.float64(len(ev.bindings[node.base.key]))
    return op.bars(ev.of(node.base, scope))


@_rule(t.Norm)
def _norm(ev: Evaluator, node: t.Norm, scope: Scope) -> Array:
    return op.norm(ev.of(node.base, scope), node.order)


@_rule(t.Function)
def _function(ev: Evaluator, node: t.Function, scope: Scope) -> Array:
    if node.name == "indicator":
        return np.float64(_holds(ev, node.arguments[0], scope))
    return op.FUNCTIONS[node.name](*(ev.of(a, scope) for a in node.arguments))


def _holds(ev: Evaluator, step: t.Step, scope: Scope) -> bool:
    if step.relation not in op.RELATIONS:
        raise OperationError(f"`{step.relation}` is no condition")
    return op.RELATIONS[step.relation](ev.of(step.left, scope), ev.of(step.right, scope))


# -- bound functions --------------------------------------------------------------------


@_rule(t.Apply)
def _apply(ev: Evaluator, node: t.Apply, scope: Scope) -> Array:
    function = ev.bindings.get(node.key)
    if not callable(function):
        raise OperationError(f"`{node.key}` is not bound to a function")
    arguments = [_argument(ev, a, scope) for a in node.arguments]
    try:
        return conform(function(*arguments))
    except OperationError:
        raise
    except Exception as wrong:
        raise OperationError(f"`{node.key}` failed: {wrong}") from wrong


def _argument(ev: Evaluator, node: t.Node, scope: Scope) -> Any:
    """A bound symbol goes in as it was bound; a computed vector goes in with one axis."""
    if isinstance(node, t.Name) and node.key not in scope:
        return ev.bindings[node.key]
    if isinstance(node, t.Name | t.Index) and node.key in scope:
        return scope[node.key].value
    value = ev.of(node, scope)
    return value[:, 0] if value.ndim == 2 and value.shape[1] == 1 else value


# -- loops ------------------------------------------------------------------------------


def _members(ev: Evaluator, over: t.Range, scope: Scope) -> list:
    if over.members is None:
        first, last = (_whole(ev.of(limit, scope)) for limit in (over.first, over.last))
        found = list(range(first, last + 1))
    else:
        found = _elements(ev, over.members, scope)
    if over.without is not None:
        skipped = ev.of(over.without, scope)
        found = [member for member in found if member != skipped]
    if not found:
        raise OperationError(f"nothing to run over: the range of `{over.index}` is empty")
    return found


def _elements(ev: Evaluator, node: t.Node, scope: Scope) -> list:
    bound = ev.bindings.get(node.key) if isinstance(node, t.Name) else None
    if kind(bound) == "set":
        return sorted(bound) if isinstance(bound, set | frozenset) else list(bound)
    values = ev.of(node, scope)
    if values.ndim == 0:
        return list(range(1, _whole(values) + 1))
    return list(values[:, 0]) if values.shape[1] == 1 else list(values)


_STEPS = {"sum": op.add, "prod": op.multiply, "min": np.minimum, "max": np.maximum}


@_rule(t.Reduction)
def _reduction(ev: Evaluator, node: t.Reduction, scope: Scope) -> Array:
    step, total = _STEPS[node.kind], None
    for place, member in enumerate(_members(ev, node.over, scope)):
        token = member if isinstance(member, int) else (place,)
        value = ev.of(node.body, {**scope, node.over.index: Item(token, member)})
        total = value if total is None else step(total, value)
    return total


def _weighted(ev: Evaluator, variables: tuple[str, ...], scope: Scope) -> Iterator:
    """The joint points of independent variables: their scope, and the product of weights."""
    nodes = [_nodes(ev, key) for key in variables]
    for places in itertools.product(*(range(len(n.weights)) for n in nodes)):
        inner, weight = dict(scope), 1.0
        for key, rule, place in zip(variables, nodes, places, strict=True):
            inner[key] = Item(("point", place), rule.points[place])
            weight *= rule.weights[place]
        yield weight, inner


def _nodes(ev: Evaluator, key: str) -> Nodes:
    found = ev.bindings.get(key)
    if not isinstance(found, Nodes):
        raise OperationError(f"`{key}` must be bound to Nodes(points, weights)")
    return found


def _mean(ev: Evaluator, variables: tuple[str, ...], body: Callable, scope: Scope) -> Array:
    total = None
    for weight, inner in _weighted(ev, variables, scope):
        value = weight * body(inner)
        total = value if total is None else op.add(total, value)
    return total


def _probability(ev: Evaluator, variables: tuple[str, ...]) -> None:
    for key in variables:
        mass = _nodes(ev, key).weights.sum()
        if abs(mass - 1.0) > 1e-9:
            raise OperationError(f"the weights of `{key}` sum to {mass:.6g}, not to one")


@_rule(t.Expectation)
def _expectation(ev: Evaluator, node: t.Expectation, scope: Scope) -> Array:
    _probability(ev, node.variables)
    return _mean(ev, node.variables, lambda inner: ev.of(node.body, inner), scope)


@_rule(t.Variance)
def _variance(ev: Evaluator, node: t.Variance, scope: Scope) -> Array:
    _probability(ev, node.variables)
    return _cross(ev, node.variables, node.body, node.body, scope)


@_rule(t.Covariance)
def _covariance(ev: Evaluator, node: t.Covariance, scope: Scope) -> Array:
    _probability(ev, node.variables)
    return _cross(ev, node.variables, node.left, node.right, scope)


def _cross(ev: Evaluator, over: tuple[str, ...], a: t.Node, b: t.Node, scope: Scope) -> Array:
    # centred first: E[ab'] - E[a]E[b'] cancels
    mean_a = _mean(ev, over, lambda inner: ev.of(a, inner), scope)
    mean_b = _mean(ev, over, lambda inner: ev.of(b, inner), scope)

    def product(inner: Scope) -> Array:
        return op.multiply(ev.of(a, inner) - mean_a, np.transpose(ev.of(b, inner) - mean_b))

    return _mean(ev, over, product, scope)


@_rule(t.Integral)
def _integral(ev: Evaluator, node: t.Integral, scope: Scope) -> Array:
    if node.first is not None:
        _inside_limits(ev, node, scope)
    return _mean(ev, node.variables, lambda inner: ev.of(node.body, inner), scope)


def _inside_limits(ev: Evaluator, node: t.Integral, scope: Scope) -> None:
    low, high = (_limit(ev, limit, scope) for limit in (node.first, node.last))
    for key in node.variables:
        points = _nodes(ev, key).points
        if points.min() < low or points.max() > high:
            raise OperationError(f"the nodes of `{key}` leave the limits {low:.6g} to {high:.6g}")


def _limit(ev: Evaluator, node: t.Node, scope: Scope) -> float:
    """An infinite limit is no value that one may compute with, so it is read here."""
    if isinstance(node, t.Constant) and node.name == "\\infty":
        return np.inf
    if isinstance(node, t.Sum) and node.terms == (t.Constant("\\infty"),):
        return node.signs[0] * np.inf
    return float(ev.of(node, scope))


# -- derivatives ------------------------------------------------------------------------


@_rule(t.Derivative)
@_rule(t.Gradient)
def _derivative(ev: Evaluator, node: t.Derivative | t.Gradient, scope: Scope) -> Array:
    variable, entry = node.variable, None
    if isinstance(variable, t.Subscript):
        entry = [_whole(ev.of(index, scope)) for index in variable.indices]
        variable = variable.base
    point = scope[variable.key].value if variable.key in scope else ev.bindings[variable.key]
    old = scope[variable.key].token if variable.key in scope else None
    point = host(point)

    def at(place: tuple[int, ...], shift: float) -> Array:
        moved = point.copy()
        moved[place] += shift
        item = Item((old, place, shift), moved)
        return _body(ev, node.body, {**scope, variable.key: item}, moved)

    if entry is not None:
        place = _inside(entry, point.shape)
        return _slope(at, place, _scale(point, place))
    return _assemble(at, point)


def _body(ev: Evaluator, body: t.Node, scope: Scope, moved: Array) -> Array:
    """The function at the moved point; a bare function name is applied to it."""
    if isinstance(body, t.Name) and kind(ev.bindings.get(body.key)) == "callable":
        return conform(ev.bindings[body.key](moved))
    return ev.of(body, scope)


def _assemble(at: Callable, point: Array) -> Array:
    slopes = [_slope(at, place, _scale(point, place)) for place in np.ndindex(point.shape)]
    if point.ndim == 0:
        return slopes[0]
    if all(s.ndim == 0 for s in slopes):
        return shaped(np.array(slopes).reshape(point.shape))
    if point.ndim == 1 and all(s.ndim == 2 and s.shape[1] == 1 for s in slopes):
        return np.hstack(slopes)
    raise OperationError(f"a derivative of shape {slopes[0].shape} by shape {point.shape}")


def _scale(point: Array, place: tuple[int, ...]) -> float:
    size = max(abs(float(point[place])), 0.1 * float(np.max(np.abs(point))))
    return size or 1.0


def _slope(at: Callable, place: tuple[int, ...], scale: float) -> Array:
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


# -- blocks and cases -------------------------------------------------------------------


@_rule(t.Block)
def _block(ev: Evaluator, node: t.Block, scope: Scope) -> Array:
    rows = [[ev.of(entry, scope) for entry in row] for row in node.rows]
    heights = [max(np.atleast_2d(v).shape[0] for v in row) for row in rows]
    widths = [max(np.atleast_2d(v).shape[1] for v in column) for column in zip(*rows, strict=True)]
    filled = [
        [_fill(v, (h, w)) for v, w in zip(row, widths, strict=True)]
        for row, h in zip(rows, heights, strict=True)
    ]
    return shaped(np.block(filled))


def _fill(value: Array, shape: tuple[int, int]) -> Array:
    """A block of the wanted shape; a plain 0 is a block of zeros."""
    if value.ndim == 0 and value == 0:
        return np.zeros(shape)
    if np.atleast_2d(value).shape != shape:
        raise OperationError(f"a block of shape {value.shape} stands where {shape} is needed")
    return np.atleast_2d(value)


@_rule(t.Cases)
def _cases(ev: Evaluator, node: t.Cases, scope: Scope) -> Array:
    for value, condition in zip(node.values, node.conditions, strict=True):
        if condition is None or _holds(ev, condition, scope):
            return ev.of(value, scope)
    raise OperationError("no case applies")
