"""The edits of one node: each a human name and the node that takes its place.

In a name mathematics stands between dollars, so that a page can typeset it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, TypeVar

from ..latex import tree as t

Say = Callable[[t.Node], str]
Edit = tuple[str, t.Node]

ROUND = {
    r"\le": r"\ge", r"\ge": r"\le", "<": ">", ">": "<",
    r"\succeq": r"\preceq", r"\preceq": r"\succeq",
}  # fmt: skip
# What else a relation could have been: less was claimed than holds, or more than does.
STRICT = {r"\le": "<", r"\ge": ">", r"\succeq": r"\succ", r"\preceq": r"\prec"}
EQUAL = dict.fromkeys([*STRICT, r"\approx", r"\propto"], "=")
_PAIRS = (("sum", "prod"), ("min", "max"), ("det", "tr"), ("argmin", "argmax"))
_OTHER = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}
_WORDS = {
    "prod": "product", "min": "minimum", "max": "maximum", "det": "determinant", "tr": "trace",
}  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True)
class Scope:
    """What an edit may draw on: how a node is written, the groups of names, the indices."""

    write: Say
    groups: Mapping[str, Hashable]
    indices: tuple[str, ...] = ()

    def say(self, node: t.Node) -> str:
        """How `node` is written, between dollars."""
        return dollars(self.write(node))


def dollars(latex: str) -> str:
    """Mathematics in a name: a dollar of its own, as a text in it may hold, it cannot keep.

    >>> dollars("a^2")
    '$a^2$'
    """
    return "$" + latex.replace("$", "") + "$"


@singledispatch
def edits_of(node: t.Node, scope: Scope) -> Iterator[Edit]:
    """The edits of one node: a human name and the node that takes its place."""
    yield from ()


@edits_of.register(t.Step)
def _step(node: t.Step, scope: Scope) -> Iterator[Edit]:
    """A condition, in cases or in an indicator."""
    other = ROUND.get(node.relation)
    if other:
        yield f"{dollars(other)} for {dollars(node.relation)}", replace(node, relation=other)


@edits_of.register(t.Sum)
def _sum(node: t.Sum, scope: Scope) -> Iterator[Edit]:
    for i, term in enumerate(node.terms):
        signs = tuple(-s if j == i else s for j, s in enumerate(node.signs))
        yield f"flip the sign of {scope.say(term)}", replace(node, signs=signs)
    for i, term in enumerate(node.terms if len(node.terms) > 1 else ()):
        terms, signs = _without(node.terms, i), _without(node.signs, i)
        left = terms[0] if signs == (1,) else t.Sum(terms, signs)
        yield f"drop the term {scope.say(term)}", left


def _without(values: tuple[T, ...], i: int) -> tuple[T, ...]:
    return values[:i] + values[i + 1 :]


@edits_of.register(t.Product | t.Elementwise)
def _product(node: t.Product | t.Elementwise, scope: Scope) -> Iterator[Edit]:
    if isinstance(node, t.Elementwise):
        yield f"matrix product for the {node.called}", t.Product(node.factors)
    for i, factor in enumerate(node.factors):
        # to drop the denominator of a fraction with numerator one is to drop that
        reciprocal = isinstance(factor, t.Quotient) and factor.numerator == t.Number(1)
        if len(node.factors) > 1 and not (reciprocal and isinstance(node, t.Product)):
            rest = _without(node.factors, i)
            left = rest[0] if len(rest) == 1 else type(node)(rest)
            yield f"drop the factor {scope.say(factor)}", left


@edits_of.register(t.Infix)
def _infix(node: t.Infix, scope: Scope) -> Iterator[Edit]:
    for said, factors in _swaps(node.factors, scope):
        yield said, replace(node, factors=factors, loose=False)
    yield f"matrix product for the {node.called}", t.Product(node.factors)


@edits_of.register(t.Inner)
def _inner(node: t.Inner, scope: Scope) -> Iterator[Edit]:
    for alone, other in ((node.left, node.right), (node.right, node.left)):
        if alone != other:
            words = f"{scope.say(alone)} for {scope.say(other)} in the inner product"
            yield words, t.Inner(alone, alone)


@edits_of.register(t.Quotient)
def _quotient(node: t.Quotient, scope: Scope) -> Iterator[Edit]:
    half = node == t.Quotient(t.Number(1), t.Number(2))
    what = "factor one half" if half else f"denominator {scope.say(node.denominator)}"
    yield f"drop the {what}", node.numerator


@edits_of.register(t.Number)
def _number(node: t.Number, scope: Scope) -> Iterator[Edit]:
    yield f"${node.value + 1:g}$ for ${node.value:g}$", t.Number(node.value + 1)


@edits_of.register(t.Inverse | t.Transpose | t.Root | t.Power | t.Bars | t.Derivative | t.Gradient)
def _marked(node: Any, scope: Scope) -> Iterator[Edit]:
    square = isinstance(node, t.Power) and node.exponent == t.Number(2)
    what = "square" if square else type(node).__name__.lower()
    bare = node.body if isinstance(node, t.Slope) else node.base
    yield f"drop the {what} of {scope.say(bare)}", bare
    if isinstance(node, t.Bars):
        yield f"trace for determinant of {scope.say(bare)}", t.Function("tr", (bare,))


@edits_of.register(t.Norm)
def _norm(node: t.Norm, scope: Scope) -> Iterator[Edit]:
    order = "2" if node.order == "1" else "1"
    words = f"{dollars(order)}-norm for {dollars(node.order)}-norm of {scope.say(node.base)}"
    yield words, replace(node, order=order)


def _exchange(word: str) -> str:
    """``sum for product``."""
    return " for ".join(_WORDS.get(one, one) for one in (_OTHER[word], word))


@edits_of.register(t.Function)
def _function(node: t.Function, scope: Scope) -> Iterator[Edit]:
    said = ", ".join(map(scope.say, node.arguments))
    if node.name in _OTHER:
        yield f"{_exchange(node.name)} of {said}", replace(node, name=_OTHER[node.name])
    if len(node.arguments) == 1:
        yield f"drop {node.name} of {said}", node.arguments[0]


@edits_of.register(t.Reduction)
def _reduction(node: t.Reduction, scope: Scope) -> Iterator[Edit]:
    if node.kind in _OTHER:
        words = f"{_exchange(node.kind)} over {dollars(node.over.index)}"
        yield words, replace(node, kind=_OTHER[node.kind])
    for end, by in (("first", 1), ("last", 1), ("last", -1)):
        bound = getattr(node.over, end)
        if bound is not None and bound != t.Constant("\\infty"):
            words = f"{end} {dollars(node.over.index)} one {'more' if by > 0 else 'less'}"
            limit = t.Sum((bound, t.Number(1)), (1, by), span=bound.span)
            yield words, t.replace_at(node, (("over", -1, -1), (end, -1, -1)), limit)


@edits_of.register(t.Expectation)
def _expectation(node: t.Expectation, scope: Scope) -> Iterator[Edit]:
    """What is left where one forgets that a mean and a function do not commute."""
    body = node.body
    for path, part in t.walk(body):
        if isinstance(part, t.Index) and part.key in node.variables:
            # its mean over what it is drawn from, and over all if that is given some
            own = tuple(under for under in node.over if part.key in under.variables)
            over = node.over if own[0].given else own
            body = t.replace_at(body, path, t.Expectation(over, part))
    yield from _other_distributions(node, scope)
    of = f"the mean of {scope.say(node.body)}"
    if isinstance(node.body, t.Index):
        yield f"the variance for {of}", t.Variance(node.over, node.body)
    else:
        yield f"the value at the mean for {of}", body


@edits_of.register(t.Variance)
def _variance(node: t.Variance, scope: Scope) -> Iterator[Edit]:
    yield from _other_distributions(node, scope)
    said = f"the mean for the variance of {scope.say(node.body)}"
    yield said, t.Expectation(node.over, node.body)


@edits_of.register(t.Covariance)
def _covariance(node: t.Covariance, scope: Scope) -> Iterator[Edit]:
    yield from _other_distributions(node, scope)
    if node.left != node.right:
        said = f"{scope.say(node.left)} for {scope.say(node.right)} in the covariance"
        yield said, replace(node, right=node.left)


@edits_of.register(t.Integral)
def _integral(node: t.Integral, scope: Scope) -> Iterator[Edit]:
    """The variable of the integral forgotten as a factor, or a density as one."""
    drawn = t.Index(node.variables[0])
    # Factors of one product: in front of a bracket the variable would read as a function.
    own = node.body.factors if isinstance(node.body, t.Product) else (node.body,)
    words = f"{dollars(drawn.key)} as a factor of the integrand"
    yield words, replace(node, body=t.Product((drawn, *own)))


@edits_of.register(t.Cases)
def _cases(node: t.Cases, scope: Scope) -> Iterator[Edit]:
    for i, (_, values) in enumerate(_swaps(node.values, scope), start=1):
        yield f"swap cases {i} and {i + 1}", replace(node, values=values)


@edits_of.register(t.Apply)
def _apply(node: t.Apply, scope: Scope) -> Iterator[Edit]:
    for said, arguments in _swaps(node.arguments, scope):
        yield said, replace(node, arguments=arguments)
    yield from _other_names(node, scope)


def _other_distributions(node: t.Average, scope: Scope) -> Iterator[Edit]:
    """The average under another distribution of the same kind of variable."""
    drawn = ("distribution",)
    kinds = {k: g for k, g in scope.groups.items() if isinstance(g, tuple) and g[:1] == drawn}
    for i, under in enumerate(node.over):
        own = kinds.get(under.distribution, ())
        for other, group in kinds.items():
            if other != under.distribution and own[:-1] == group[:-1]:  # whatever their densities
                said = f"the average under {dollars(other)} for {dollars(under.distribution)}"
                moved = replace(under, distribution=other)
                yield said, t.replace_at(node, (("over", i, -1),), moved)


def _swaps(nodes: tuple[t.Node, ...], scope: Scope) -> Iterator[tuple[str, tuple[t.Node, ...]]]:
    for i, (one, other) in enumerate(itertools.pairwise(nodes)):
        said = f"swap {scope.say(one)} and {scope.say(other)}"
        yield said, (*nodes[:i], other, one, *nodes[i + 2 :])


@edits_of.register(t.Name)
def _other_names(node: t.Name | t.Apply, scope: Scope) -> Iterator[Edit]:
    """The other bound names of the same kind and shape."""
    own = scope.groups.get(node.key)
    for other, group in scope.groups.items():
        if other != node.key and group == own:
            yield f"{dollars(other)} for {dollars(node.key)}", replace(node, key=other)


@edits_of.register(t.Subscript)
def _subscript(node: t.Subscript, scope: Scope) -> Iterator[Edit]:
    for (i, index), other in itertools.product(enumerate(node.indices), scope.indices):
        if isinstance(index, t.Index) and other != index.key:
            words = f"{dollars(other)} for {dollars(index.key)} in {scope.say(node)}"
            yield words, t.replace_at(node, (("indices", i, -1),), replace(index, key=other))
