"""Ranges of indices that are not printed: in ``\\sum_{i \\ne j}``, ``\\sum_i a_i \\sum_j a_j``."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import reduce

from checked_equations.latex import tree as t
from checked_equations.latex.builder.expressions import below, bind

_ONE = t.Number(1.0)


@dataclass(frozen=True)
class Alike:
    """Indices that run over the entries of one row, and so equally far.

    `ends` are the last indices that are printed for one of them; `places` name their arrays.
    """

    indices: frozenset[str]
    ends: frozenset[str]
    places: frozenset[tuple[str, str]]

    def joined(self, other: Alike) -> Alike:
        """The two as one."""
        return Alike(
            self.indices | other.indices, self.ends | other.ends, self.places | other.places
        )


def paired(statement: t.Statement) -> t.Statement:
    """`statement` where ``\\sum_{i \\ne j}`` runs over j too, if that stands nowhere else.

    So does ``\\sum_{i < j}``.

    >>> from checked_equations.latex.parser import parse_free
    >>> from checked_equations.latex.printer import to_latex
    >>> to_latex(paired(parse_free(r"\\sum_{i \\ne j} x_{ij} = s")))
    '\\\\sum_{j} \\\\sum_{i \\\\ne j} x_{i,j} = s'
    """
    own: dict[str, list[t.Reduction]] = {}
    for part in t.parts(statement):
        if isinstance(part, t.Reduction) and (key := _second(part)):
            own.setdefault(key, []).append(part)
    inside = {key: sum(_count(part, key) for part in parts) for key, parts in own.items()}
    both = {
        id(p): key for key, ps in own.items() for p in ps if _count(statement, key) == inside[key]
    }

    def doubled(part: t.Node) -> t.Node:
        key = both.get(id(part))
        part = t.mapped(part, doubled)
        if key is None or not isinstance(part, t.Reduction):
            return part
        outer = t.Range(key, members=t.Name(key), span=part.over.span)
        return t.Reduction(part.kind, outer, bind(part, {key}), span=part.span)

    made = doubled(statement) if both else statement
    return made if isinstance(made, t.Statement) else statement


def _second(part: t.Reduction) -> str:
    """The j of ``i \\ne j`` and ``i < j`` that stands in the terms next to the i, or nothing."""
    over = part.over
    last = over.last.terms[0] if isinstance(over.last, t.Sum) else over.last
    end = last if over.first == _ONE else over.without
    twice = over.first is not None and over.without is not None
    if twice or not isinstance(end, t.Name):
        return ""
    counted = t.Index(over.index) in _indices(part.body) and end in _indices(part.body)
    shifted = isinstance(over.last, t.Sum) and over.last != below(end, "LT")
    return "" if shifted or not counted else end.key


def _indices(body: t.Node) -> list[t.Node]:
    return [p for q in t.parts(body) if isinstance(q, t.Subscript) for p in q.indices]


def _count(node: t.Node, key: str) -> int:
    """Count how often a symbol stands in `node` where nothing runs that is called like it."""
    if isinstance(node, t.Reduction) and node.over.index == key:
        return 0
    own = node == t.Name(key)
    return own + sum(_count(child, key) for _, child in t.children(node))


def alike(statement: t.Statement) -> list[Alike]:
    """The indices of a statement that run equally far, in groups.

    >>> from checked_equations.latex.parser import parse_free
    >>> found = alike(parse_free(r"\\sum_i a_i \\sum_j a_j = \\sum_{k=1}^n a_k"))
    >>> [(sorted(one.indices), sorted(one.ends)) for one in found]
    [(['i', 'j', 'k'], ['n'])]
    """
    groups: list[Alike] = []
    for run in _runs(statement):
        near = [group for group in groups if not group.places.isdisjoint(run.places)]
        groups = [group for group in groups if group not in near]
        groups.append(reduce(Alike.joined, near, run))
    return groups


def _runs(statement: t.Statement) -> Iterator[Alike]:
    """Each sum from 1 to a symbol, or to an end that is not stated, by itself."""
    for part in t.parts(statement):
        if not isinstance(part, t.Reduction):
            continue
        over, index = part.over, part.over.index
        end = over.last.key if over.first == _ONE and isinstance(over.last, t.Name) else ""
        if not end and over.members != t.Name(index):
            continue
        places = {("", index)} | (
            {("", over.without.key)} if isinstance(over.without, t.Index) else set()
        )
        for entry in t.parts(part.body):
            if isinstance(entry, t.Subscript) and isinstance(entry.base, t.Name):
                where = (i for i, own in enumerate(entry.indices) if own == t.Index(index))
                places |= {(f"{entry.base.key}{i}", "") for i in where}
        yield Alike(frozenset({index}), frozenset({end} - {""}), frozenset(places))


def between(statement: t.Statement, lengths: Set[str]) -> Iterator[tuple[t.Step, t.Step]]:
    """Read ``j \\ne i`` with an i that does not run: it lies in the range of the j.

    The index of a sum without a range is bound to how far it runs if it is one of `lengths`.
    """
    for part in t.parts(statement):
        if not isinstance(part, t.Reduction) or not isinstance(part.over.without, t.Name):
            continue
        over, own = part.over, part.over.without
        first, last = over.first, over.last
        if over.members == t.Name(over.index) and over.index in lengths:
            first, last = _ONE, over.members
        if first and last and not any(isinstance(p, t.Index) for p in (first, last)):
            yield t.Step(first, "\\le", own), t.Step(own, "\\le", last)
