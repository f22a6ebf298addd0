"""Edits at several places of a side: a symbol everywhere, two edits of one kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from checked_equations.check.mutants import Edit, dollars
from checked_equations.latex import tree as t

from .insertions import marks_of
from .supply import Supply

_MOST = 12  # symbols of a side of which any two are edited, so that these are 66 pairs


def everywhere(side: t.Node, supply: Supply) -> Iterator[Edit]:
    """Another symbol wherever one stands, the same mark wherever it stands."""
    parts = t.parts(side)
    for old in dict.fromkeys(part for part in parts if isinstance(part, t.Name | t.Subscript)):
        if parts.count(old) < 2:
            continue
        said = dollars(supply.say(old))
        for other in supply.atoms:
            if other != old:
                yield f"{dollars(supply.say(other))} for each {said}", _put(side, old, other)
        for words, new in marks_of(old):
            yield f"{words} at each {said}", _put(side, old, new)
    for key in dict.fromkeys(part.key for part in parts if isinstance(part, t.Apply)):
        yield from _one_argument(side, key, parts)


def _put(side: t.Node, old: t.Node, new: t.Node) -> t.Node:
    if side == old:
        return new
    return t.mapped(side, lambda child: _put(child, old, new))


def _one_argument(side: t.Node, key: str, parts: tuple[t.Node, ...]) -> Iterator[Edit]:
    """The same argument in each call of a function."""
    calls = [part for part in parts if isinstance(part, t.Apply) and part.key == key]
    for one in dict.fromkeys(part.arguments for part in calls) if len(calls) > 1 else ():
        new = side
        for call in calls:
            new = _put(new, call, replace(call, arguments=one))
        yield f"one argument in each {dollars(key)}", new


def twice(side: t.Node, supply: Supply) -> Iterator[Edit]:
    """One kind of edit at two places: marks at two symbols, two signs, a factor in two terms."""
    paths = [path for path, part in t.walk(side) if _is_symbol(part)][:_MOST]
    nodes = dict(t.walk(side))
    for one, other in itertools.combinations(paths, 2):
        marks = zip(marks_of(nodes[one]), marks_of(nodes[other]), strict=False)
        for (words, first), (again, second) in marks:
            if words == again and not _below(one, other):
                yield f"{words}, twice", t.replace_at(t.replace_at(side, one, first), other, second)
    sums = [(path, part) for path, part in nodes.items() if isinstance(part, t.Sum)]
    for path, part in sums:
        for changed in _two_terms(part, supply):
            yield changed[0], t.replace_at(side, path, changed[1])


def _is_symbol(node: t.Node) -> bool:
    return isinstance(node, t.Name | t.Subscript | t.Apply)


def _below(one: t.Path, other: t.Path) -> bool:
    return one == other[: len(one)] or other == one[: len(other)]


def _two_terms(node: t.Sum, supply: Supply) -> Iterator[Edit]:
    """Two signs of a sum, and a symbol as a factor of two of its terms."""
    for i, j in itertools.combinations(range(len(node.terms)), 2):
        turned = tuple(-s if k in (i, j) else s for k, s in enumerate(node.signs))
        yield "two signs", replace(node, signs=turned)
        for new in supply.here():
            for before in (True, False):
                terms = tuple(
                    t.Product((new, term) if before else (term, new)) if k in (i, j) else term
                    for k, term in enumerate(node.terms)
                )
                said = f"the factor {dollars(supply.say(new))} added, twice"
                yield said, replace(node, terms=terms)
