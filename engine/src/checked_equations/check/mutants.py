"""Every single edit of an equation: the slips of a pen that could have spoilt it.

`edits_of` gives the edits of one node, each a human name, in which mathematics stands between
dollars, so that a page can typeset it, and the node that takes its place. `all_mutants` carries
them out everywhere in a statement. A mutant holds the steps that its edit touches, so that no
more than those are evaluated again.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..latex import tree as t

Say = Callable[[t.Node], str]
Edit = tuple[str, t.Node]
Steps = tuple[t.Step, ...]
T = TypeVar("T")

_ROUND = {
    r"\le": r"\ge", r"\ge": r"\le", "<": ">", ">": "<",
    r"\succeq": r"\preceq", r"\preceq": r"\succeq",
}  # fmt: skip
# What else a relation could have been: less was claimed than holds, or more than does.
STRICT = {r"\le": "<", r"\ge": ">", r"\succeq": r"\succ", r"\preceq": r"\prec"}
_EQUAL = dict.fromkeys([*STRICT, r"\approx", r"\propto"], "=")
UNEQUAL = r"\ne"  # which says so little that most edits of its sides leave it true
CLOSER = STRICT.items() | _EQUAL.items()  # these only claim more of the same sides
_WORDS = {
    "prod": "product", "min": "minimum", "max": "maximum", "det": "determinant", "tr": "trace",
    "ceil": "ceiling", "inf": "infimum", "sup": "supremum",
}  # fmt: skip
_OTHER = {  # and how it is said: "product for sum"
    one: (other, " for ".join(_WORDS.get(word, word) for word in (other, one)))
    for pair in (
        ("sum", "prod"),
        ("min", "max"),
        ("inf", "sup"),
        ("det", "tr"),
        ("argmin", "argmax"),
        ("floor", "ceil"),
    )
    for one, other in (pair, pair[::-1])
}


@dataclass(frozen=True)
class Scope:
    """The surroundings that an edit may draw on: names of nodes, groups of names, indices."""

    say: Say
    groups: Mapping[str, Hashable]
    indices: tuple[str, ...] = ()


def dollars(latex: str) -> str:
    """Mathematics in a name: a dollar of its own, as a text in it may hold, it cannot keep.

    >>> dollars("a^2")
    '$a^2$'
    """
    return "$" + latex.replace("$", "") + "$"


def _instead(new: str, old: str) -> str:
    """The name of an edit that puts one sign or symbol in the place of another."""
    return f"{dollars(new)} for {dollars(old)}"


def edits_of(node: t.Node, scope: Scope) -> Iterator[Edit]:  # noqa: C901 - a case for each kind of node
    """The edits of one node: a human name and the node that takes its place."""
    say = scope.say
    match node:
        case t.Step(relation=sign) if sign in _ROUND:  # a condition, in cases or in an indicator
            yield _instead(_ROUND[sign], sign), replace(node, relation=_ROUND[sign])
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
                yield f"{say(alone)} for {say(other)} in the inner product", t.Inner(alone, alone)
        case t.Quotient(above, below):
            half = node == t.Quotient(t.Number(1), t.Number(2))
            yield f"drop the {'factor one half' if half else f'denominator {say(below)}'}", above
        case t.Number(value):
            yield f"${value + 1:g}$ for ${value:g}$", t.Number(value + 1)
        case t.Norm(base, order):
            new = "2" if order == "1" else "1"
            words = f"{dollars(new)}-norm for {dollars(order or '2')}-norm of {say(base)}"
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


def _of_words(node: t.Node, scope: Scope) -> Iterator[Edit]:  # noqa: C901 - a case for each kind of node
    """Yield the edits of functions, of signs with a range, and of symbols."""
    say = scope.say
    if isinstance(node, t.Average):
        yield from _other_distributions(node, scope)
    match node:
        case t.Function(name, arguments):
            said = ", ".join(map(say, arguments))
            if name in _OTHER:
                yield f"{_OTHER[name][1]} of {said}", replace(node, name=_OTHER[name][0])
            if len(arguments) == 1:
                yield f"drop {name} of {said}", arguments[0]
        case t.Reduction(kind, over):
            if kind in _OTHER:
                words = f"{_OTHER[kind][1]} over {dollars(over.index)}"
                yield words, replace(node, kind=_OTHER[kind][0])
            for end, by in (("first", 1), ("last", 1), ("last", -1)):
                bound = getattr(over, end)
                if bound is not None and bound != t.Constant("\\infty"):
                    words = f"{end} {dollars(over.index)} one {'more' if by > 0 else 'less'}"
                    limit = t.Sum((bound, t.Number(1)), (1, by), span=bound.span)
                    yield words, t.replace_at(node, (("over", -1, -1), (end, -1, -1)), limit)
        case t.Limit(side=side) if side:
            other = "-" if side == "+" else "+"
            yield "the limit from the other side", replace(node, side=other)
        case t.Expectation(over, body):
            if isinstance(body, t.Index):
                yield f"the variance for the mean of {say(body)}", t.Variance(over, body)
            else:
                yield f"the value at the mean for the mean of {say(body)}", _at_the_mean(node)
        case t.Variance(over, body):
            yield f"the mean for the variance of {say(body)}", t.Expectation(over, body)
        case t.Covariance(left=left, right=right):
            if left != right:
                yield f"{say(left)} for {say(right)} in the covariance", replace(node, right=left)
        case t.Integral(variables, body):  # the variable as a factor, or a density as one
            drawn = t.Index(variables[0])
            # Factors of one product: before a bracket the variable would read as a function.
            own = body.factors if isinstance(body, t.Product) else (body,)
            words = f"{dollars(drawn.key)} as a factor of the integrand"
            yield words, replace(node, body=t.Product((drawn, *own)))
        case t.Primed(order=t.Number(order)) if order > 1:
            yield f"drop a prime of {say(node)}", replace(node, order=t.Number(order - 1))
            yield from _other_names(node, scope)
        case t.Primed(key, arguments, separators):
            yield f"drop the prime of {say(node)}", t.Apply(key, arguments, separators)
            yield from _other_names(node, scope)
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
                    words = f"{_instead(other, index.key)} in {say(node)}"
                    yield words, t.replace_at(node, place, renamed)


def _dropped(node: t.Product | t.Elementwise, i: int, scope: Scope) -> Iterator[Edit]:
    """Without one of several factors."""
    rest = _without(node.factors, i)
    if rest:
        left = rest[0] if len(rest) == 1 else type(node)(rest)
        yield f"drop the factor {scope.say(node.factors[i])}", left


def _without(values: tuple[T, ...], i: int) -> tuple[T, ...]:
    return values[:i] + values[i + 1 :]


def _at_the_mean(node: t.Expectation) -> t.Node:
    """Yield the edits of one who forgets that a mean and a function do not commute."""
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
                said = f"the average under {_instead(other, under.distribution)}"
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
            yield _instead(other, node.key), replace(node, key=other)


# The mutants of a statement


@dataclass(frozen=True)
class Mutant:
    """One edit: its name, the node before and after, and the steps as they now read.

    In `said`, the name as a page shows it, mathematics stands between dollars. `places` are the
    positions of those steps in the statement, and `path` leads to the edited node from the `side`
    of the first of them. `before` and `after` are steps where the edit is to a relation. It is
    `harmless` where everyone sees that it leaves the statement as it was: the sign under a square,
    a zero as a term, a factor of a zero, a function that then stands for itself.
    """

    said: str
    steps: tuple[t.Step, ...]
    places: tuple[int, ...]
    before: t.Node
    after: t.Node
    side: str = ""
    path: t.Path = ()
    harmless: bool = False

    @property
    def edit(self) -> str:
        """The name without its dollars: that by which a chapter may spare the mutant."""
        return self.said.replace("$", "")

    @property
    def relations(self) -> tuple[str, str]:
        """The relation before and after, where the edit is to one."""
        return getattr(self.before, "relation", ""), getattr(self.after, "relation", "")

    @property
    def strict(self) -> bool:
        """The edit makes an inequality strict: only numbers that make it tight can tell."""
        return self.relations in STRICT.items()

    @property
    def finer(self) -> bool:
        """Return whether it says no more than the noise of an estimate hides."""
        return self.strict or self.relations[0] == r"\approx"

    @property
    def claimed(self) -> bool:
        """The edit leaves the meaning of the statement: ``A = A`` of ``A = A^\\top``."""
        return any(s.left == s.right and s.relation in ("=", ":=") for s in self.steps)

    @property
    def loses(self) -> bool:
        """The edit drops something or flips a sign, which a one, a zero, an identity hides.

        Transposes, swaps and other words may leave a value as it is for better reasons, and so
        may function words: the trace of a scalar.
        """
        kept = t.Transpose | t.Function | t.Slope | t.Step
        return self.said.startswith(("drop ", "flip ")) and not isinstance(self.before, kept)


def all_mutants(
    statement: t.Statement, groups: Mapping[str, Hashable], say: Say
) -> tuple[Mutant, ...]:
    """All mutants of `statement`, each with a name of its own.

    `groups` maps the key of each bound name to the group in which it may be swapped (its shape,
    or that it is callable); `say` writes a node for the names of the edits.
    """
    named, times, steps = [], Counter[str](), statement.steps
    scope = Scope(lambda node: dollars(say(node)), groups)
    for mutant in (*_of_relations(steps), *_of_sides(steps, scope)):
        times[mutant.edit] += 1
        again = times[mutant.edit]
        named.append(mutant if again == 1 else replace(mutant, said=f"{mutant.said} ({again})"))
    return tuple(named)


def _of_relations(steps: Steps) -> Iterator[Mutant]:
    for place, step in enumerate(steps):
        for table in (_ROUND, STRICT, _EQUAL):
            if step.relation in table:
                turned = replace(step, relation=table[step.relation])
                said = _instead(turned.relation, step.relation)
                yield Mutant(said, (turned,), (place,), step, turned)
        if step.relation == UNEQUAL:
            turned = replace(step, relation="=")
            yield Mutant(_instead("=", UNEQUAL), (turned,), (place,), step, turned)


def _of_sides(steps: Steps, scope: Scope) -> Iterator[Mutant]:
    """Of each side once: the right side of one step is often the left side of the next."""
    for place, name in itertools.product(range(len(steps)), ("left", "right")):
        shared = name == "left" and place and shares_a_side(steps[place - 1], steps[place])
        if shared or steps[place].relation == UNEQUAL:
            continue
        side = getattr(steps[place], name)
        for path, node, inner in _visit(side, (), scope):
            nothing = _multiplied_by_zero(side, path) or _under_an_even_power(side, path)
            for edit, new in edits_of(node, inner):
                after = replace(new, span=node.span) if new.span == (0, 0) else new
                mutant = mutated(steps, place, Mutant(edit, (), (), node, after, name, path))
                if isinstance(node, t.Name | t.Apply) and says_nothing_new(steps, mutant):
                    continue
                turned = edit.startswith("flip ") and _above_minus_one(side, path)
                if nothing or turned or _of_zero(node, after) or _says_itself(steps, mutant):
                    mutant = replace(mutant, harmless=True)
                yield mutant
                if mutant.claimed and not path:
                    said = f"flip the sign of {scope.say(side)}"
                    opposite = t.Sum((side,), (-1,), span=side.span)
                    yield mutated(steps, place, Mutant(said, (), (), node, opposite, name))


def says_nothing_new(steps: Steps, mutant: Mutant) -> bool:
    """A swap that leaves nothing to catch: ``a = a``, or ``a = min(a, c)`` for ``min(b, c)``."""
    return any(
        step.left == step.right or (_mentions_itself(step) and not _mentions_itself(steps[place]))
        for step, place in zip(mutant.steps, mutant.places, strict=True)
    )


def _is_zero(node: t.Node) -> bool:
    """Return whether it reads as zero: ``0``, ``0 a``, ``\\frac{0}{a}``."""
    match node:
        case t.Product(factors):
            return any(map(_is_zero, factors))
        case t.Quotient(above):
            return _is_zero(above)
    return node == t.Number(0.0)


def _multiplied_by_zero(side: t.Node, path: t.Path) -> bool:
    """Return whether it multiplies a printed zero, or stands within one: `a` of ``0 a``."""
    for depth in range(len(path)):
        node = _at(side, path[:depth])
        beside = node.factors if isinstance(node, t.Product) else ()
        if any(_is_zero(f) for i, f in enumerate(beside) if i != path[depth][1]):
            return True
    return False


def _under_an_even_power(side: t.Node, path: t.Path) -> bool:
    """Return whether an even power, or bars, take away a lone sign: ``(-b)^2``, ``|-b|``."""
    node = _at(side, path)
    lone = isinstance(node, t.Sum) and len(_without_zeros(node)) == 1
    match _at(side, path[:-1]) if lone and path else None:
        case t.Power(exponent=t.Number(power)):
            return path[-1][0] == "base" and power % 2 == 0
        case t.Bars() | t.Norm():
            return True
    return False


def _above_minus_one(side: t.Node, path: t.Path) -> bool:
    """Return whether it is in an exponent of minus one: ``(-1)^{k - 1}`` is ``(-1)^{k + 1}``."""
    minus_one = t.Sum((t.Number(1.0),), (-1,))
    above = ((_at(side, path[:i]), path[i][0]) for i in range(len(path)))
    return any(
        isinstance(node, t.Power) and node.base == minus_one and name == "exponent"
        for node, name in above
    )


def _at(side: t.Node, path: t.Path) -> t.Node:
    """The node to which `path` leads."""
    for name, *places in path:
        value: Any = getattr(side, name)
        for i in (i for i in places if i >= 0):
            value = value[i]
        side = value
    return side


def _of_zero(before: t.Node, after: t.Node) -> bool:
    """Return whether the edit drops a printed zero, flips its sign, or leaves it one."""
    if not isinstance(before, t.Sum):
        return _is_zero(before) and _is_zero(after)
    kept = after if isinstance(after, t.Sum) else t.Sum((after,), (1,))
    return _without_zeros(before) == _without_zeros(kept)


def _without_zeros(node: t.Sum) -> list[tuple[t.Node, int]]:
    pairs = zip(node.terms, node.signs, strict=True)
    return [pair for pair in pairs if not _is_zero(pair[0])]


def _says_itself(steps: Steps, mutant: Mutant) -> bool:
    """Return whether it then says something of a function by itself: ``v(w) = \\max(v(w), c)``."""
    if not isinstance(mutant.before, t.Apply):
        return False
    return any(
        _called_by_itself(step) and not _called_by_itself(steps[place])
        for step, place in zip(mutant.steps, mutant.places, strict=True)
    )


def _called_by_itself(step: t.Step) -> bool:
    return _occurs_again(step, t.Apply)


def _mentions_itself(step: t.Step) -> bool:
    return _occurs_again(step, t.Name)


def _occurs_again(step: t.Step, kind: type[t.Name] | type[t.Apply]) -> bool:
    """Return whether one side, of this `kind`, stands in the other as well."""
    sides = ((step.left, step.right), (step.right, step.left))
    return any(
        type(part) is type(alone) and alone == part
        for alone, other in sides
        if isinstance(alone, kind) and alone.key in t.symbols(other)
        for part in t.parts(other)
    )


def shares_a_side(before: t.Step, step: t.Step) -> bool:
    """Return whether a step goes on from the right side of the one before, not from a copy."""
    return before.right == step.left and before.right.span == step.left.span


def mutated(steps: Steps, place: int, edit: Mutant) -> Mutant:
    """The edit of a side at `place` with the steps that it touches."""
    step, following = steps[place], steps[place + 1 : place + 2]
    after: Any = t.replace_at(getattr(step, edit.side), edit.path, edit.after)
    changed = {place: replace(step, **{edit.side: after})}
    if edit.side == "right" and following and shares_a_side(step, following[0]):
        changed[place + 1] = replace(following[0], left=after)
    return replace(edit, steps=tuple(changed.values()), places=tuple(changed))


def _visit(node: t.Node, path: t.Path, scope: Scope) -> Iterator[tuple[t.Path, t.Node, Scope]]:
    """Yield every node with its scope; the limits of a sum are edited with the sum."""
    yield path, node, scope
    if isinstance(node, t.Reduction):
        scope = replace(scope, indices=(*scope.indices, node.over.index))
    for place, child in t.children(node):
        if not (isinstance(node, t.Range) and isinstance(child, t.Number)):
            yield from _visit(child, (*path, place), scope)
