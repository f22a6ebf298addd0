"""The value of a tree on bound numbers.

Values are remembered by node and by the running variables that the node contains. A mutant
shares all but the path to its edit with the tree it came from, so that only this path is
computed again.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Hashable, Mapping
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import EquationError, OperationError
from ..latex import tree as t
from ..latex.names import DISTRIBUTIONS, nearest, normal
from . import effort
from .values import Array, Estimate, conform, kind, scalar, size_of


class Item(NamedTuple):
    """The present value of a running variable, and a token that keeps its values apart."""

    token: Hashable
    value: Any


Scope = Mapping[str, Item]
Points = list[tuple[float, dict[str, Item]]]
Key = tuple[Hashable, ...]  # the tokens under which a value is remembered


@singledispatch
def rule(node: t.Node, ev: Evaluator, scope: Scope) -> Array:
    """The value of `node`, by the rule of its kind, which `rules` registers."""
    raise TypeError(f"a {type(node).__name__} has no value")


class Beyond(Protocol):
    """Rules for integrals without nodes, sums without end, dots and derivatives."""

    def integral(self, node: t.Integral, ev: Evaluator, scope: Scope) -> Array:
        """The integral over a variable that is not bound."""

    def endless(self, node: t.Reduction, ev: Evaluator, scope: Scope) -> Array:
        """A sum or a product without end."""

    def dots(self, node: t.Dots, ev: Evaluator, scope: Scope) -> Array:
        """A sum, a product or a continued fraction that goes on with dots."""

    def slope(self, node: t.Derivative, ev: Evaluator, scope: Scope) -> Array | None:
        """A derivative, or nothing where differences are to be taken."""


NO_NUMBER = "is bound to what is no number"


# A node, which lives as long as it is remembered, its rule, and its values.
_Memo = tuple[t.Node, Callable[[t.Node, "Evaluator", Scope], Array], dict[Key, Array]]


class Evaluator:
    """Values of nodes on one set of bindings, LaTeX name to value.

    Raises `EquationError` at the node that cannot be computed. With `latex`, the text that
    the tree was parsed from, the error shows the place.

    >>> from checked_equations.latex.parser import parse_expression
    >>> node = parse_expression("a b^2", {"a": "value", "b": "value"})
    >>> float(Evaluator({"a": 2.0, "b": 3.0}).value(node))
    18.0
    """

    def __init__(
        self, bindings: Mapping[str, Any], latex: str = "", *, beyond: Beyond | None = None
    ) -> None:
        self.bindings = {
            normal(key): value.value if isinstance(value, Estimate) else value
            for key, value in bindings.items()
        }
        self.latex = latex
        self.beyond = beyond  # how to integrate and sum what is not bound
        self.terms = 0  # of all sums so far
        self.effort = effort.current()
        self.series: dict[int, int] = {}  # those of each sum without end, with those inside it
        self.mutants_follow = False  # whether the statement itself has been evaluated
        self.longest = math.inf  # the terms of a sum with both ends, before it is refused
        self.points: dict[tuple[str, tuple[str, ...]], Points] = {}  # of nodes, and who is drawn
        self._memo: dict[int, _Memo] = {}
        self._since: list[tuple[dict[Key, Array], Key]] | None = None
        self._bound: dict[str, Array] = {}

    def value(self, node: t.Node, scope: Scope | None = None) -> Array:
        """The value of `node`: a scalar (), a column (n, 1), a row (1, n) or a matrix."""
        with np.errstate(all="ignore"):
            return self.of(node, scope or {})

    def sides(self, step: t.Step) -> tuple[Array, Array]:
        """The values of both sides of `step`."""
        with np.errstate(all="ignore"):
            return self.of(step.left, {}), self.of(step.right, {})

    def observe(self, node: t.Node) -> list[Array]:
        """All values that `node` has taken so far, over the loops that it stands in."""
        memo = self._memo.get(id(node))
        return list(memo[2].values()) if memo else []

    def note(self, node: t.Node, key: Key, value: complex) -> None:
        """Remember a value that was computed elsewhere, to be observed."""
        _, _, values = self._memo.get(id(node)) or self._remember(node)
        values[key] = scalar(value)
        if self._since is not None:
            self._since.append((values, key))

    def __len__(self) -> int:
        """Return the number of nodes remembered."""
        return len(self._memo)

    @property
    def cost(self) -> int:
        """Return the number of values computed so far, over all loops."""
        return sum(len(values) for _, _, values in self._memo.values())

    def mark(self) -> int:
        """Return the number of nodes remembered, before a mutant that is to be forgotten."""
        self._since = []
        return len(self)

    def forget(self, kept: int) -> None:
        """Remember only the first `kept` nodes, with the values they had at the last `mark`.

        Those of a mutant are not needed again, nor those that it had of the nodes it shares where
        its sums ran on: what is said of one mutant does not depend on others.
        """
        while len(self._memo) > kept:
            gone, _ = self._memo.popitem()
            self.series.pop(gone, None)
        for values, key in self._since or ():
            values.pop(key, None)
        self._since = None
        self.mutants_follow = True

    def of(self, node: t.Node, scope: Scope) -> Array:
        """The value of `node` where the running variables are those of `scope`, remembered."""
        _, value_of, values = self._memo.get(id(node)) or self._remember(node)
        own = t.symbols(node) if scope else ()
        key = tuple([scope[k].token if k in scope else None for k in own])
        known = values.get(key)
        if known is not None:
            return known
        self.effort.spend(1)
        try:
            value = value_of(node, self, scope)
            # millions of values are one number; of others their squares say it in one call
            whole = np.vdot(value, value) if value.ndim else value
            if not (cmath.isfinite(whole) or (value.ndim and np.isfinite(value).all())):
                said = "not a number" if np.isnan(value).any() else "infinite"
                of = f" of `{node.key}`" if isinstance(node, t.Apply) else ""
                raise OperationError(f"the value{of} is {said}")
        except OperationError as wrong:
            raise self.fault(node, str(wrong)) from wrong
        values[key] = value
        if key and self._since is not None:
            self._since.append((values, key))
        return value

    def _remember(self, node: t.Node) -> _Memo:
        known = rule.registry.get(type(node)) or rule.dispatch(type(node))
        self._memo[id(node)] = (node, known, {})
        return self._memo[id(node)]

    def depends(self, node: t.Node, key: str) -> bool:
        """Return whether the symbol `key` occurs in `node`."""
        return key in t.symbols(node)

    def fault(self, node: t.Node, problem: str) -> EquationError:
        """An error that says `problem` and points at `node`."""
        return EquationError(problem, self.latex, node.span)

    def bound(self, key: str) -> Array:
        """The bound value of a name, conformed once."""
        if key not in self._bound:
            if key not in self.bindings:
                raise OperationError(f"unbound symbol `{key}`{nearest(key, list(self.bindings))}")
            value = self.bindings[key]
            what = kind(value)
            if what == "nodes":
                raise OperationError(f"`{key}` is bound to Nodes and stands outside its average")
            if what == "entries":
                raise OperationError(f"`{key}` stands without an index, and elsewhere with one")
            if what != "value":
                said = "distribution" if what in DISTRIBUTIONS else what
                raise OperationError(f"`{key}` is bound to a {said}; it has no value of its own")
            try:
                self._bound[key] = conform(value)
            except OperationError as wrong:
                raise OperationError(f"`{key}` {NO_NUMBER}: {wrong}") from wrong
        return self._bound[key]


def magnitude(node: t.Node, ev: Evaluator) -> float:
    """The size that `node` would have if nothing in it cancelled; of most kinds, its own size.

    A residual is relative to the larger of the two sides. Where one side is nothing but zero, the
    other is all residual, and only the terms that cancel in it give the scale: in ``A x - b =
    0`` the larger of ``A x`` and ``b``. The same where both sides are less than 1e-12 of their
    terms, that is, rounding and nothing else. Sides that are more than that keep their own size as
    their scale, so that no check of a small difference is loosened: below 1e-12 of the terms,
    rounding alone would be 1e-4 of the sides, and no check would have passed. The value of a symbol
    has no terms. A sine counts as being as large as its argument, up to one: in floats
    ``\\sin \\pi`` is not zero.

    >>> a, b = t.Name("a"), t.Name("b")
    >>> ev = Evaluator({"a": 3.0, "b": 3.0 + 1e-12})
    >>> gap = t.Sum((a, b), (1, -1))
    >>> _ = ev.value(gap)
    >>> round(magnitude(gap, ev), 9)
    3.0
    """
    match node:
        case t.Sum() | t.Block():
            return max(magnitude(part, ev) for _, part in t.children(node))
        case t.Product(factors) | t.Elementwise(factors):
            return math.prod(magnitude(factor, ev) for factor in factors)
        case t.Covariance(left=left, right=right):
            return magnitude(left, ev) * magnitude(right, ev)
        case t.Power(base, t.Number(exponent)) if exponent >= 1:
            return magnitude(base, ev) ** exponent
        case t.Quotient(above, below):
            return magnitude(above, ev) / (largest(below, ev) or math.inf)
        case t.Function(name, (inner,)) if name in _STEEPEST:
            return max(largest(node, ev), min(_STEEPEST[name], magnitude(inner, ev)))
        case t.Derivative() | t.Gradient():
            return _of_differences(node, ev)
        case (
            t.Reduction(kind="sum", body=inner) | t.Expectation(body=inner) | t.Transpose(inner)
            | t.Function("tr" | "diag", (inner,))
        ):  # fmt: skip
            # of a series the factors of a term may have any size
            return largest(inner, ev) if _endless(node) else magnitude(inner, ev)
    if not isinstance(node, t.Integral):
        return largest(node, ev)
    # without nodes that are bound, an integrand is seen as near to a singular end as numbers go
    return max(largest(node, ev), (usual if ev.beyond else largest)(node.body, ev))


def _of_differences(node: t.Derivative | t.Gradient, ev: Evaluator) -> float:
    """Return the size of a function over its argument: what differences give."""
    key, named = node.symbol.key, isinstance(node.symbol, t.Name)
    bound = named and kind(ev.bindings.get(key)) == "value"
    run = size_of(ev.bound(key)) if bound else 0.0
    return magnitude(node.body, ev) / run if run else 0.0


# Functions whose value at a zero is off by the rounding of their argument, up to these sizes.
_STEEPEST = {
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "tanh", "arcsin", "arctan", "log"), 1.0),
    "Re": math.inf, "Im": math.inf,
}  # fmt: skip


def _endless(node: t.Node) -> bool:
    return isinstance(node, t.Reduction) and node.over.last == t.Constant("\\infty")


def largest(node: t.Node, ev: Evaluator) -> float:
    """The largest entry that `node` has had, over the loops in which it stands."""
    return max(map(size_of, ev.observe(node)), default=0.0)


def usual(node: t.Node, ev: Evaluator) -> float:
    """The median of the sizes that `node` has had, over the loops in which it stands."""
    sizes = list(map(size_of, ev.observe(node)))
    return float(np.median(sizes)) if sizes else 0.0
