"""``\\cdots`` in sums and products, where the terms around it determine the pattern.

The terms before the dots are laid over one another. Where they differ they hold numbers, and
these are an arithmetic progression, or from three terms on a geometric one; a last term, if there
is one, has in all these places the forms for one value of the running variable. A pattern
left open by this is not read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .. import tree as t
from ..tree import Node, Span

DOTS = t.Name("\\dots")
_SMALL = 4  # the largest step that two terms alone determine
_LETTERS = "kjmlpqrn"
_INFINITY = t.Constant("\\infty")

Linear = dict[Node | None, float]  # coefficients of symbols, and of nothing the constant


class _Hole(Node):
    """Where the terms differ: the numbers that stand there."""

    values: tuple[float, ...]
    ratio: bool = False


def summed(terms: Sequence[Node], signs: Sequence[int], span: Span) -> Node | None:
    """Return the sum of `terms`, one being the dots; None where no pattern is determined."""
    place = list(terms).index(DOTS)
    before, after = list(terms[:place]), list(terms[place + 1 :])
    if not before or len(after) > 1 or DOTS in after:
        return None
    for start in range(len(before)):
        sequence, own = before[start:], signs[start:place]
        turns = len(own) > 1 and all(a == -b for a, b in itertools.pairwise(own))
        if not (turns or len(set(own)) == 1) or (turns and after):
            continue
        if any(sign != (-own[-1] if turns else own[-1]) for sign in signs[place:]):
            return None  # the dots, and the last term
        if after and _is_geometric(sequence):
            return None
        run = _run("sum", sequence, after, span, turns=turns, whole=len(before))
        if run is not None:
            kept = (*before[:start], run), (*signs[:start], own[0])
            return run if kept[1] == (1,) else t.Sum(*kept, span=span)
    return None


def multiplied(factors: Sequence[Node], span: Span) -> Node | None:
    """Return the product of `factors`, one being the dots; None where no pattern is determined."""
    place = list(factors).index(DOTS)
    before, after = list(factors[:place]), list(factors[place + 1 :])
    if not before or not after or DOTS in after:
        return None
    for start in range(len(before)):
        if _is_geometric(before[start:]):
            return None
        run = _run("prod", before[start:], after[:1], span, whole=len(before))
        if run is not None:
            kept = (*before[:start], run, *after[1:])
            return run if len(kept) == 1 else t.Product(kept, span=span)
    return None


def _is_geometric(sequence: Sequence[Node]) -> bool:
    """Return whether it goes on by a ratio; then its last term is not read."""
    form = _overlaid(sequence)
    return form is not None and any(hole.ratio for hole in _holes(form))


def _run(
    kind: str,
    sequence: Sequence[Node],
    after: Sequence[Node],
    span: Span,
    *,
    turns: bool = False,
    whole: int,
) -> Node | None:
    """Return the sum or product that continues `sequence`, up to the one `after` it if any."""
    if len(sequence) == 1:  # `x_1 + \cdots + x_n`
        return _from_one(kind, sequence[0], after[0], span) if after else None
    form = _overlaid(sequence)
    holes = list(_holes(form)) if form is not None else []
    small = all(not h.ratio and abs(_step(h)) <= _SMALL for h in holes)
    if form is None or not holes or not (after or whole > 2) or not (len(sequence) > 2 or small):
        return None
    key = _letter([*sequence, *after])
    base = next((h for h in holes if not h.ratio and _step(h) == 1), None)
    first = base.values[0] if base else 1.0
    last: Node | None = _INFINITY
    if after:
        last = _last(form, holes, base, first, after[0])
    if last is None:
        return None
    body = _filled(form, t.Index(key, span=sequence[-1].span), first)
    if turns:
        power = _plus(t.Index(key), -(first % 2))
        body = t.Product((t.Power(t.Sum((t.Number(1.0),), (-1,)), power), body), span=body.span)
    return t.Reduction(kind, t.Range(key, t.Number(first), last), body, span=span)


def _from_one(kind: str, one: Node, last: Node, span: Span) -> Node | None:
    """From ``x_1`` to ``x_n``: a number has become something else, wherever they differ."""
    one = _with_powers(one, last)
    numbers = [(path, node) for path, node in t.walk(one) if isinstance(node, t.Number) and path]
    changed = [(p, n, _at(last, p)) for p, n in numbers if _at(last, p) != n]
    ends = {(number.value, end) for _, number, end in changed}
    if len(ends) != 1:
        return None
    ((first, end),) = ends
    if first not in (0.0, 1.0) or end is None:
        return None
    key, body, same = _letter([one, last]), one, one
    for path, number, _ in changed:
        body = t.replace_at(body, path, t.Index(key, span=number.span))
        same = t.replace_at(same, path, end)
    over = t.Range(key, t.Number(first), end)
    return t.Reduction(kind, over, body, span=span) if same == last else None


def _with_powers(one: Node, last: Node) -> Node:
    """`one` with ``x^1`` for ``x`` where `last` has ``x^n``."""
    if isinstance(last, t.Power) and last.base == one:
        return t.Power(one, t.Number(1.0), span=one.span)
    for place, child in t.children(one):
        other = _at(last, (place,))
        if other is not None:
            one = t.replace_at(one, (place,), _with_powers(child, other))
    return one


def _at(node: Node, path: t.Path) -> Node | None:
    """Return the node at `path`, if there is one."""
    for place in path:
        found = next((child for own, child in t.children(node) if own == place), None)
        if found is None:
            return None
        node = found
    return node


def _letter(nodes: Sequence[Node]) -> str:
    """Return a letter for the running variable, which stands for nothing else."""
    used = {getattr(part, "key", "") for node in nodes for part in t.parts(node)}
    return next(letter for letter in (*_LETTERS, "k'") if letter not in used)


# Terms laid over one another


def _overlaid(nodes: Sequence[Node]) -> Node | None:
    """One tree with holes where `nodes` have different numbers; None where more differs."""
    if all(node == nodes[0] for node in nodes):
        return nodes[-1]
    if all(isinstance(node, t.Number) for node in nodes):
        return _progression([node.value for node in nodes if isinstance(node, t.Number)], nodes[-1])
    powers = [_as_power(node, nodes) for node in nodes]
    if all(isinstance(node, t.Power) for node in powers):
        nodes = powers
    alike = len({type(node) for node in nodes}) == 1
    return (_by_fields(nodes) if alike else None) or _by_constants(nodes)


def _progression(values: Sequence[float], at: Node) -> _Hole | None:
    steps = {b - a for a, b in itertools.pairwise(values)}
    if len(steps) == 1:
        return _Hole(tuple(values), span=at.span)
    ratios = {b / a for a, b in itertools.pairwise(values)} if 0.0 not in values else set()
    return _Hole(tuple(values), True, span=at.span) if len(ratios) == 1 else None


def _as_power(node: Node, nodes: Sequence[Node]) -> Node:
    """Return ``z`` next to ``z^2`` as its first power."""
    bases = {other.base for other in nodes if isinstance(other, t.Power)}
    return t.Power(node, t.Number(1.0), span=node.span) if node in bases else node


def _by_fields(nodes: Sequence[Node]) -> Node | None:
    node = nodes[-1]
    rows = [list(t.children(other)) for other in nodes]
    if len({tuple(place for place, _ in row) for row in rows}) != 1 or not rows[0]:
        return None
    for children in zip(*rows, strict=True):
        child = _overlaid([child for _, child in children])
        if child is None:
            return None
        node = t.replace_at(node, (children[0][0],), child)
    bare = {_without_children(other) for other in nodes}
    return node if len(bare) == 1 else None


def _without_children(node: Node) -> Node:
    return t.mapped(node, lambda _: t.Number(0.0))


def _by_constants(nodes: Sequence[Node]) -> Node | None:
    """``z``, ``z + 1``, ``z + 2``: sums that differ by a number."""
    forms = [_linear(node) for node in nodes]
    bare: list[Linear] = [{k: v for k, v in f.items() if k is not None} for f in forms]
    if any(form != bare[0] for form in bare) or not bare[0]:
        return None
    hole = _progression([form.get(None, 0.0) for form in forms], nodes[-1])
    return t.Sum((_from_linear(bare[0]), hole), (1, 1), span=nodes[-1].span) if hole else None


def _linear(node: Node) -> Linear:
    """Return `node` as a sum of multiples of nodes that are no sums and no multiples of numbers."""
    out: Linear = {}
    match node:
        case t.Number(value):
            return {None: value}
        case t.Sum(terms, signs):
            for term, sign in zip(terms, signs, strict=True):
                for symbol, count in _linear(term).items():
                    out[symbol] = out.get(symbol, 0.0) + sign * count
            return {symbol: count for symbol, count in out.items() if count}
        case t.Product((t.Number(value), rest)):
            return {symbol: value * count for symbol, count in _linear(rest).items()}
    return {node: 1.0}


def _from_linear(form: Linear) -> Node:
    """The sum of the multiples that a form holds."""
    terms: list[Node] = []
    for symbol, count in form.items():
        number = t.Number(abs(count))
        whole = number if symbol is None else symbol
        multiple = symbol is not None and abs(count) != 1.0
        terms.append(t.Product((number, whole)) if multiple else whole)
    signs = tuple(1 if count > 0 else -1 for count in form.values())
    if not terms:
        return t.Number(0.0)
    return terms[0] if signs == (1,) else t.Sum(tuple(terms), signs)


# The running variable


def _holes(node: Node) -> Iterator[_Hole]:
    return (part for part in t.parts(node) if isinstance(part, _Hole))


def _step(hole: _Hole) -> float:
    return hole.values[1] - hole.values[0]


def _plus(node: Node, number: float) -> Node:
    if not number:
        return node
    return t.Sum((node, t.Number(abs(number))), (1, 1 if number > 0 else -1), span=node.span)


def _times(count: float, node: Node) -> Node:
    return node if count == 1 else t.Product((t.Number(count), node), span=node.span)


def _filled(form: Node, index: t.Index, first: float) -> Node:
    """Return `form` with its holes filled for the running variable `index`."""
    if isinstance(form, _Hole):
        run = replace(index, span=form.span)
        start = form.values[0]
        if form.ratio:
            power = t.Power(t.Number(form.values[1] / start), _plus(run, -first))
            return t.Product((t.Number(start), power), span=form.span)
        step = _step(form)
        multiple = _times(abs(step), run)
        multiple = t.Sum((multiple,), (-1,), span=form.span) if step < 0 else multiple
        return _plus(multiple, start - step * first)
    return _flat(t.mapped(form, lambda part: _filled(part, index, first)))


def _flat(node: Node) -> Node:
    """``z + (k + 1)`` without its brackets."""
    match node:
        case t.Sum((base, t.Sum(terms, signs)), (1, 1)):
            return replace(node, terms=(base, *terms), signs=(1, *signs))
    return node


def _last(
    form: Node, holes: Sequence[_Hole], base: _Hole | None, first: float, last: Node
) -> Node | None:
    """The value of the running variable that makes `last` of `form`."""
    found: dict[int, Node] = {}
    if any(hole.ratio for hole in holes) or not _matches(form, last, found):
        return None
    leading = base or holes[0]
    step = _step(leading)
    start: Linear = {None: leading.values[0] - step * first}
    ahead = _combined(_linear(found[id(leading)]), start, -1.0)
    count = {symbol: number / step for symbol, number in ahead.items()}
    for hole in holes:
        own: Linear = {None: hole.values[0] - _step(hole) * first}
        wanted = _combined(own, count, _step(hole))
        if _linear(found[id(hole)]) != {k: v for k, v in wanted.items() if v}:
            return None
    return _from_linear(count)


def _combined(one: Linear, other: Linear, times: float) -> Linear:
    keys = dict.fromkeys([*one, *other])
    sums = {key: one.get(key, 0.0) + times * other.get(key, 0.0) for key in keys}
    return {key: value for key, value in sums.items() if value}


def _matches(form: Node, node: Node, found: dict[int, Node]) -> bool:
    """Return whether `node` is `form` with something in its holes, which is then `found`."""
    if isinstance(form, _Hole):
        found[id(form)] = node
        return True
    match form:
        case t.Sum((base, _Hole() as hole), (1, 1)):
            left = _combined(_linear(node), _linear(base), -1.0)
            found[id(hole)] = _from_linear(left)
            return True
    if not any(True for _ in _holes(form)):
        return form == node
    rows, others = list(t.children(form)), list(t.children(node))
    if type(form) is not type(node) or [p for p, _ in rows] != [p for p, _ in others]:
        return False
    inner = zip(rows, others, strict=True)
    return all(_matches(a, b, found) for (_, a), (_, b) in inner)


# Continued fractions


def is_dots(node: Node) -> bool:
    """Return whether `node` is dots, or dots before brackets: ``\\cdots (2n - 1)``."""
    return isinstance(node, t.Name | t.Apply) and node.key == DOTS.key


def levels(node: Node) -> Iterator[tuple[Node, tuple[tuple[int, Node], ...], int]]:
    """Yield the numerators of a continued fraction, the terms added to the next one, its sign."""
    while isinstance(node, t.Quotient):
        below = node.denominator
        if not isinstance(below, t.Sum):
            return
        deep = [i for i, term in enumerate(below.terms) if is_dots(term) or has_dots(term)]
        if len(deep) != 1:
            return
        pairs = zip(below.signs, below.terms, strict=True)
        beside = tuple(pair for i, pair in enumerate(pairs) if i != deep[0])
        yield node.numerator, beside, below.signs[deep[0]]
        node = below.terms[deep[0]]


def has_dots(node: Node) -> bool:
    """Return whether dots stand in `node`."""
    return any(is_dots(part) for part in t.parts(node))


def fractions_marked(node: Node) -> Node:
    """`node` with every continued fraction that goes on with dots marked, to have one value."""
    if isinstance(node, t.Quotient) and sum(1 for _ in levels(node)) > 1:
        return t.Dots(node, span=node.span)
    return t.mapped(node, fractions_marked)


def in_fractions(node: Node) -> frozenset[int]:
    """Return which names, by identity, are dots of a continued fraction, and need no value."""
    marked = [part for part in t.parts(node) if isinstance(part, t.Dots)]
    return frozenset(id(p) for one in marked for p in t.parts(one) if p == DOTS)
