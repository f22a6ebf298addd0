"""Every single edit of an equation: what a slip of the pen could have made of it.

`edits` gives the edits of one node, a name and the node that takes its place; `mutants`
carries them out everywhere in a statement. A mutant holds the steps that its edit touches,
so that no more than those are evaluated again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

from .tree import (
    Apply,
    Bars,
    Cases,
    Elementwise,
    Expectation,
    Function,
    Index,
    Inverse,
    Name,
    Node,
    Norm,
    Number,
    Path,
    Power,
    Product,
    Quotient,
    Reduction,
    Root,
    Statement,
    Step,
    Subscript,
    Sum,
    Transpose,
    Variance,
    children,
    replace_at,
    walk,
)

__all__ = ["Edit", "Mutant", "edits", "mutants"]

Say = Callable[[Node], str]
Edit = tuple[str, Node]

_ROUND = {
    r"\le": r"\ge", r"\ge": r"\le", "<": ">", ">": "<",
    r"\succeq": r"\preceq", r"\preceq": r"\succeq",
}  # fmt: skip
_OTHER = {"sum": "prod", "prod": "sum", "min": "max", "max": "min", "det": "tr", "tr": "det"}
_WORDS = {"prod": "product", "min": "minimum", "max": "maximum", "det": "determinant"}
_WORDS |= {"tr": "trace"}


@dataclass(frozen=True)
class Mutant:
    """One edit: its name, the node before and after, and the steps as they now read.

    `places` are the positions of those steps in the statement. `before` and `after` are
    steps where the edit is to a relation. `path` leads to the edited node from the side
    `side` of the first of the steps.
    """

    edit: str
    steps: tuple[Step, ...]
    places: tuple[int, ...]
    before: Node
    after: Node
    side: str = ""
    path: Path = ()

    def probe(self, statement: Statement) -> tuple[Node, Node] | None:
        """A tree that evaluates ``before - after`` wherever `before` stands, and that difference.

        The tree has the value of the original side, so that every loop runs as it did. None
        for a relation, which has no value.
        """
        if isinstance(self.before, Step):
            return None
        gap = Sum((self.before, self.after), (1, -1))
        nothing = Sum((self.before, Product((Number(0), gap))), (1, 1))
        side = getattr(statement.steps[self.places[0]], self.side)
        return replace_at(side, self.path, nothing), gap


@dataclass(frozen=True)
class _Scope:
    """What an edit may draw on: how a node is written, the groups of names, the indices."""

    say: Say
    groups: Mapping[str, Hashable]
    indices: tuple[str, ...] = ()


def mutants(statement: Statement, groups: Mapping[str, Hashable], say: Say) -> tuple[Mutant, ...]:
    """All mutants of `statement`, each with a name of its own.

    `groups` maps the key of each bound name to what it may be swapped within (its shape,
    or that it is callable); `say` writes a node for the names of the edits.
    """
    scope = _Scope(say, groups)
    made = [*_of_relations(statement), *_of_sides(statement, scope)]
    seen: Counter[str] = Counter()
    named = []
    for mutant in made:
        seen[mutant.edit] += 1
        again = seen[mutant.edit]
        named.append(mutant if again == 1 else replace(mutant, edit=f"{mutant.edit} ({again})"))
    return tuple(named)


def _of_relations(statement: Statement) -> Iterator[Mutant]:
    for place, step in enumerate(statement.steps):
        other = _ROUND.get(step.relation)
        if other:
            turned = replace(step, relation=other)
            yield Mutant(f"{other} for {step.relation}", (turned,), (place,), step, turned)


def _of_sides(statement: Statement, scope: _Scope) -> Iterator[Mutant]:
    for place, name in _sides(statement):
        side = getattr(statement.steps[place], name)
        for path, node, inner in _visit(side, (), scope):
            for edit, new in _edits(node, inner):
                mutant = _mutant(statement, (place, name), edit, (path, node, new))
                if not (isinstance(node, Name) and _circular(statement, mutant)):
                    yield mutant


def _circular(statement: Statement, mutant: Mutant) -> bool:
    """``a = min(b, c)`` with a for b: what stands alone on one side has come to the other."""
    return any(
        _mentions_itself(step) and not _mentions_itself(statement.steps[place])
        for step, place in zip(mutant.steps, mutant.places, strict=True)
    )


def _mentions_itself(step: Step) -> bool:
    return any(
        isinstance(alone, Name) and any(part == alone for _, part in walk(other))
        for alone, other in ((step.left, step.right), (step.right, step.left))
    )


def _sides(statement: Statement) -> Iterator[tuple[int, str]]:
    """Each side once: the right side of one step is often the left side of the next."""
    for place, step in enumerate(statement.steps):
        if place == 0 or not _shared(statement.steps[place - 1], step):
            yield place, "left"
        yield place, "right"


def _shared(before: Step, step: Step) -> bool:
    return before.right is step.left or (
        before.right == step.left and before.right.span == step.left.span
    )


def _mutant(
    statement: Statement, side: tuple[int, str], edit: str, change: tuple[Path, Node, Node]
) -> Mutant:
    (place, name), (path, before, after) = side, change
    steps = statement.steps
    new = replace_at(getattr(steps[place], name), path, after)
    changed = {place: replace(steps[place], **{name: new})}
    following = place + 1
    if name == "right" and following < len(steps) and _shared(steps[place], steps[following]):
        changed[following] = replace(steps[following], left=new)
    return Mutant(edit, tuple(changed.values()), tuple(changed), before, after, name, path)


def _visit(node: Node, path: Path, scope: _Scope) -> Iterator[tuple[Path, Node, _Scope]]:
    yield path, node, scope
    if isinstance(node, Reduction):
        scope = replace(scope, indices=(*scope.indices, node.over.index))
    for place, child in children(node):
        yield from _visit(child, (*path, place), scope)


def _edits(node: Node, scope: _Scope) -> Iterator[Edit]:
    for edit, new in edits(node, scope):
        yield edit, replace(new, span=node.span) if new.span == (0, 0) else new


@singledispatch
def edits(node: Node, scope: _Scope) -> Iterator[Edit]:
    """The edits of one node: a human name and the node that takes its place."""
    yield from ()


@edits.register
def _(node: Step, scope: _Scope) -> Iterator[Edit]:
    """A condition, in cases or in an indicator."""
    other = _ROUND.get(node.relation)
    if other:
        yield f"{other} for {node.relation}", replace(node, relation=other)


@edits.register
def _(node: Sum, scope: _Scope) -> Iterator[Edit]:
    for i, term in enumerate(node.terms):
        signs = tuple(-s if j == i else s for j, s in enumerate(node.signs))
        yield f"flip the sign of {scope.say(term)}", replace(node, signs=signs)
    if len(node.terms) > 1:
        for i, term in enumerate(node.terms):
            yield (
                f"drop the term {scope.say(term)}",
                _sum(_without(node.terms, i), _without(node.signs, i)),
            )


def _sum(terms: tuple[Node, ...], signs: tuple[int, ...]) -> Node:
    return terms[0] if signs == (1,) else Sum(terms, signs)


def _without(values: tuple, i: int) -> tuple:
    return values[:i] + values[i + 1 :]


@edits.register
def _(node: Product, scope: _Scope) -> Iterator[Edit]:
    for i, factor in enumerate(node.factors):
        rest = _without(node.factors, i)
        if rest and not _reciprocal(factor):
            yield (
                f"drop the factor {scope.say(factor)}",
                rest[0] if len(rest) == 1 else Product(rest),
            )


def _reciprocal(node: Node) -> bool:
    """A fraction with numerator one: to drop its denominator is to drop it."""
    return isinstance(node, Quotient) and node.numerator == Number(1)


@edits.register
def _(node: Elementwise, scope: _Scope) -> Iterator[Edit]:
    yield "matrix product for the elementwise one", Product(node.factors)
    for i, factor in enumerate(node.factors):
        rest = _without(node.factors, i)
        yield (
            f"drop the factor {scope.say(factor)}",
            rest[0] if len(rest) == 1 else Elementwise(rest),
        )


@edits.register
def _(node: Quotient, scope: _Scope) -> Iterator[Edit]:
    half = _reciprocal(node) and node.denominator == Number(2)
    what = "factor one half" if half else f"denominator {scope.say(node.denominator)}"
    yield f"drop the {what}", node.numerator


@edits.register
def _(node: Number, scope: _Scope) -> Iterator[Edit]:
    yield f"{node.value + 1:g} for {node.value:g}", Number(node.value + 1)


@edits.register
def _(node: Inverse, scope: _Scope) -> Iterator[Edit]:
    yield f"drop the inverse of {scope.say(node.base)}", node.base


@edits.register
def _(node: Transpose, scope: _Scope) -> Iterator[Edit]:
    yield f"drop the transpose of {scope.say(node.base)}", node.base


@edits.register
def _(node: Power, scope: _Scope) -> Iterator[Edit]:
    what = "square" if node.exponent == Number(2) else "power"
    yield f"drop the {what} of {scope.say(node.base)}", node.base


@edits.register
def _(node: Root, scope: _Scope) -> Iterator[Edit]:
    yield f"drop the root of {scope.say(node.base)}", node.base


@edits.register
def _(node: Bars, scope: _Scope) -> Iterator[Edit]:
    yield f"drop the bars of {scope.say(node.base)}", node.base
    yield f"trace for determinant of {scope.say(node.base)}", Function("tr", (node.base,))


@edits.register
def _(node: Norm, scope: _Scope) -> Iterator[Edit]:
    order = "2" if node.order == "1" else "1"
    yield (
        f"{order}-norm for {node.order}-norm of {scope.say(node.base)}",
        replace(node, order=order),
    )


@edits.register
def _(node: Function, scope: _Scope) -> Iterator[Edit]:
    said = ", ".join(map(scope.say, node.arguments))
    if node.name in _OTHER:
        other = _OTHER[node.name]
        words = f"{_WORDS.get(other, other)} for {_WORDS.get(node.name, node.name)}"
        yield f"{words} of {said}", replace(node, name=other)
    if len(node.arguments) == 1:
        yield f"drop {node.name} of {said}", node.arguments[0]


@edits.register
def _(node: Reduction, scope: _Scope) -> Iterator[Edit]:
    other = _OTHER.get(node.kind)
    if other:
        words = f"{_WORDS.get(other, other)} for {_WORDS.get(node.kind, node.kind)}"
        yield f"{words} over {node.over.index}", replace(node, kind=other)
    for end, by in (("first", 1), ("last", 1), ("last", -1)):
        bound = getattr(node.over, end)
        if bound is not None and not (end == "first" and isinstance(bound, Number)):
            moved = replace(node.over, **{end: Sum((bound, Number(1)), (1, by), span=bound.span)})
            much = "one more" if by > 0 else "one less"
            yield f"{end} {node.over.index} {much}", replace(node, over=moved)


@edits.register
def _(node: Variance, scope: _Scope) -> Iterator[Edit]:
    mean = Expectation(node.variables, node.body)
    yield f"the mean for the variance of {scope.say(node.body)}", mean


@edits.register
def _(node: Cases, scope: _Scope) -> Iterator[Edit]:
    for i in range(len(node.values) - 1):
        yield f"swap cases {i + 1} and {i + 2}", replace(node, values=_swapped(node.values, i))


@edits.register
def _(node: Apply, scope: _Scope) -> Iterator[Edit]:
    for i in range(len(node.arguments) - 1):
        first, second = map(scope.say, node.arguments[i : i + 2])
        yield f"swap {first} and {second}", replace(node, arguments=_swapped(node.arguments, i))
    for other in _others(node.key, scope.groups):
        yield f"{other} for {node.key}", replace(node, key=other)


def _swapped(values: tuple, i: int) -> tuple:
    return (*values[:i], values[i + 1], values[i], *values[i + 2 :])


@edits.register
def _(node: Name, scope: _Scope) -> Iterator[Edit]:
    for other in _others(node.key, scope.groups):
        yield f"{other} for {node.key}", replace(node, key=other)


def _others(key: str, groups: Mapping[str, Hashable]) -> list[str]:
    """The other bound names of the same kind and shape."""
    return [k for k, group in groups.items() if k != key and group == groups.get(key)]


@edits.register
def _(node: Subscript, scope: _Scope) -> Iterator[Edit]:
    for i, index in enumerate(node.indices):
        if isinstance(index, Index):
            for other in scope.indices:
                if other != index.key:
                    new = (*node.indices[:i], replace(index, key=other), *node.indices[i + 1 :])
                    yield (
                        f"{other} for {index.key} in {scope.say(node)}",
                        replace(node, indices=new),
                    )
