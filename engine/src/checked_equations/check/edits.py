"""The edits of one node: each a human name and the node that takes its place.

In a name mathematics stands between dollars, so that a page can typeset it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

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


def instead(new: str, old: str) -> str:
    """The name of an edit that puts one sign or symbol in the place of another."""
    return f"{dollars(new)} for {dollars(old)}"


def edits_of(node: t.Node, scope: Scope) -> Iterator[Edit]:
    """The edits of one node: a human name and the node that takes its place."""
    say = scope.say
    match node:
        case t.Step(relation=sign) if sign in ROUND:  # a condition, in cases or in an indicator
            yield instead(ROUND[sign], sign), replace(node, relation=ROUND[sign])
        case t.Sum(terms, signs):
            for i, term in enumerate(terms):
                flipped = tuple(-s if j == i else s for j, s in enumerate(signs))
                yield f"flip the sign of {say(term)}", replace(node, signs=flipped)
            for i, term in enumerate(terms if len(terms) > 1 else ()):
                rest, left = _without(terms, i), _without(signs, i)
                yield f"drop the term {say(term)}", rest[0] if left == (1,) else t.Sum(rest, left)
        case t.Product(factors):
            for i, factor in enumerate(factors):
                # to drop the denominator of a fraction with numerator one is to drop that
                if not (isinstance(factor, t.Quotient) and factor.numerator == t.Number(1)):
                    yield from _dropped(node, i, scope)
        case t.Elementwise(factors):
            yield f"matrix product for the {node.called}", t.Product(factors)
            for i in range(len(factors)):
                yield from _dropped(node, i, scope)
        case t.Infix(factors):
            for said, swapped in _swaps(factors, scope):
                yield said, replace(node, factors=swapped, loose=False)
            yield f"matrix product for the {node.called}", t.Product(factors)
        case t.Inner(left, right) if left != right:
            for alone, other in ((left, right), (right, left)):
                words = f"{say(alone)} for {say(other)} in the inner product"
                yield words, t.Inner(alone, alone)
        case t.Quotient(above, below):
            half = node == t.Quotient(t.Number(1), t.Number(2))
            yield f"drop the {'factor one half' if half else f'denominator {say(below)}'}", above
        case t.Number(value):
            yield f"${value + 1:g}$ for ${value:g}$", t.Number(value + 1)
        case t.Norm(base, order):
            new = "2" if order == "1" else "1"
            words = f"{dollars(new)}-norm for {dollars(order)}-norm of {say(base)}"
            yield words, replace(node, order=new)
        case t.Power(bare, t.Number(2)):
            yield f"drop the square of {say(bare)}", bare
        case (
            t.Inverse(bare) | t.Transpose(bare) | t.Root(bare) | t.Power(bare) | t.Bars(bare)
            | t.Derivative(bare) | t.Gradient(bare)
        ):  # fmt: skip
            yield f"drop the {type(node).__name__.lower()} of {say(bare)}", bare
            if isinstance(node, t.Bars):
                yield f"trace for determinant of {say(bare)}", t.Function("tr", (bare,))
        case t.Cases(values):
            for i, (_, swapped) in enumerate(_swaps(values, scope), start=1):
                yield f"swap cases {i} and {i + 1}", replace(node, values=swapped)
        case _:
            yield from _of_words(node, scope)


def _of_words(node: t.Node, scope: Scope) -> Iterator[Edit]:
    """The edits of functions, of what runs over something, and of symbols."""
    say = scope.say
    match node:
        case t.Function(name, arguments):
            said = ", ".join(map(say, arguments))
            if name in _OTHER:
                yield f"{_exchange(name)} of {said}", replace(node, name=_OTHER[name])
            if len(arguments) == 1:
                yield f"drop {name} of {said}", arguments[0]
        case t.Reduction(kind, over):
            if kind in _OTHER:
                words = f"{_exchange(kind)} over {dollars(over.index)}"
                yield words, replace(node, kind=_OTHER[kind])
            for end, by in (("first", 1), ("last", 1), ("last", -1)):
                bound = getattr(over, end)
                if bound is not None and bound != t.Constant("\\infty"):
                    words = f"{end} {dollars(over.index)} one {'more' if by > 0 else 'less'}"
                    limit = t.Sum((bound, t.Number(1)), (1, by), span=bound.span)
                    yield words, t.replace_at(node, (("over", -1, -1), (end, -1, -1)), limit)
        case t.Expectation(over, body):
            yield from _other_distributions(node, scope)
            if isinstance(body, t.Index):
                yield f"the variance for the mean of {say(body)}", t.Variance(over, body)
            else:
                yield f"the value at the mean for the mean of {say(body)}", _at_the_mean(node)
        case t.Variance(over, body):
            yield from _other_distributions(node, scope)
            yield f"the mean for the variance of {say(body)}", t.Expectation(over, body)
        case t.Covariance(left=left, right=right):
            yield from _other_distributions(node, scope)
            if left != right:
                words = f"{say(left)} for {say(right)} in the covariance"
                yield words, replace(node, right=left)
        case t.Integral(variables, body):  # the variable as a factor, or a density as one
            drawn = t.Index(variables[0])
            # Factors of one product: before a bracket the variable would read as a function.
            own = body.factors if isinstance(body, t.Product) else (body,)
            words = f"{dollars(drawn.key)} as a factor of the integrand"
            yield words, replace(node, body=t.Product((drawn, *own)))
        case t.Apply(arguments=arguments):
            for said, swapped in _swaps(arguments, scope):
                yield said, replace(node, arguments=swapped)
            yield from _other_names(node, scope)
        case t.Name():
            yield from _other_names(node, scope)
        case t.Subscript(_, indices):
            for (i, index), other in itertools.product(enumerate(indices), scope.indices):
                if isinstance(index, t.Index) and other != index.key:
                    place, renamed = (("indices", i, -1),), replace(index, key=other)
                    words = f"{instead(other, index.key)} in {say(node)}"
                    yield words, t.replace_at(node, place, renamed)


def _dropped(node: t.Product | t.Elementwise, i: int, scope: Scope) -> Iterator[Edit]:
    """Without one of several factors."""
    rest = _without(node.factors, i)
    if rest:
        left = rest[0] if len(rest) == 1 else type(node)(rest)
        yield f"drop the factor {scope.say(node.factors[i])}", left


def _without(values: tuple[T, ...], i: int) -> tuple[T, ...]:
    return values[:i] + values[i + 1 :]


def _exchange(word: str) -> str:
    """``sum for product``."""
    return " for ".join(_WORDS.get(one, one) for one in (_OTHER[word], word))


def _at_the_mean(node: t.Expectation) -> t.Node:
    """What is left where one forgets that a mean and a function do not commute."""
    body = node.body
    for path, part in t.walk(body):
        if isinstance(part, t.Index) and part.key in node.variables:
            # its mean over what it is drawn from, and over all if that is given some
            own = tuple(under for under in node.over if part.key in under.variables)
            over = node.over if own[0].given else own
            body = t.replace_at(body, path, t.Expectation(over, part))
    return body


def _other_distributions(node: t.Average, scope: Scope) -> Iterator[Edit]:
    """The average under another distribution of the same kind of variable."""
    drawn = ("distribution",)
    kinds = {k: g for k, g in scope.groups.items() if isinstance(g, tuple) and g[:1] == drawn}
    for i, under in enumerate(node.over):
        own = kinds.get(under.distribution, ())
        for other, group in kinds.items():
            if other != under.distribution and own[:-1] == group[:-1]:  # whatever their densities
                said = f"the average under {instead(other, under.distribution)}"
                moved = replace(under, distribution=other)
                yield said, t.replace_at(node, (("over", i, -1),), moved)


def _swaps(nodes: tuple[t.Node, ...], scope: Scope) -> Iterator[tuple[str, tuple[t.Node, ...]]]:
    for i, (one, other) in enumerate(itertools.pairwise(nodes)):
        said = f"swap {scope.say(one)} and {scope.say(other)}"
        yield said, (*nodes[:i], other, one, *nodes[i + 2 :])


def _other_names(node: t.Name | t.Apply, scope: Scope) -> Iterator[Edit]:
    """The other bound names of the same kind and shape."""
    own = scope.groups.get(node.key)
    for other, group in scope.groups.items():
        if other != node.key and group == own:
            yield instead(other, node.key), replace(node, key=other)
