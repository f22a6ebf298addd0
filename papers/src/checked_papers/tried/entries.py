"""Entries of unbound symbols: ``x_i`` in a sum over i, and the letters that count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from checked_equations.latex import tree as t


@dataclass(frozen=True)
class EntriesIn:
    """The symbols that have entries and stand nowhere else, and the letters of their indices.

    `axes` says how many indices each has; `alone` is one with an entry that no index runs over,
    such as ``x_n = \\sum_{i < n} x_i``, which may define x; `arrays` stand whole, too.
    """

    statement: t.Statement
    axes: Mapping[str, int]
    letters: frozenset[str]
    alone: str = ""
    arrays: Mapping[str, int] = field(default_factory=dict)

    def ends(self, key: str, mean: str) -> tuple[int, str] | tuple[()]:
        """From where to where an index runs through the entries of `key`, if always the same.

        None if a side is their `mean` alone: that defines the mean.
        """
        sides = (side for step in self.statement.steps for side in (step.left, step.right))
        if t.Name(mean) in sides:
            return ()
        found = set[tuple[int, str]]()
        for part in t.parts(self.statement):
            if isinstance(part, t.Reduction) and _takes(part, key):
                first, last = part.over.first, part.over.last
                if part.over.members == t.Name(part.over.index):
                    found.add((1, part.over.index))
                elif isinstance(first, t.Number) and isinstance(last, t.Name):
                    found.add((int(first.value), last.key))
                else:
                    found |= {(0, ""), (1, "")}
        return found.pop() if len(found) == 1 else ()

    @property
    def unranged(self) -> frozenset[str]:
        """The running indices whose range is not stated."""
        return frozenset(part.over.index for part in self._unranged())

    def _unranged(self) -> Iterator[t.Reduction]:
        for part in t.parts(self.statement):
            if isinstance(part, t.Reduction) and part.over.members == t.Name(part.over.index):
                yield part

    def counted(self, rows: Mapping[str, int]) -> list[str]:
        """The indices whose range is not printed, that take entries of `rows` and of no array."""
        found: dict[str, bool] = {}
        for part in self._unranged():
            bases = [getattr(one.base, "key", "") for one, _ in t.entries_along(part)]
            right = bool(bases) and all(base in rows for base in bases)
            found[part.over.index] = found.get(part.over.index, True) and right
        return [letter for letter, right in found.items() if right]


def entries_in(statement: t.Statement) -> EntriesIn:
    """Find the symbols with an index in `statement`.

    >>> from checked_equations.latex.parser import parse
    >>> entries_in(parse(r"\\sum_{i=1}^n x_i = a", {"x": "value"}, free=True)).axes
    {'x': 1}
    """
    bases, letters, axes, alone = set[int](), set[str](), dict[str, set[int]](), ""
    for part in _subscripts(statement):
        free = [p.key for index in part.indices for p in t.parts(index) if isinstance(p, t.Name)]
        letters.update(free)
        if isinstance(part.base, t.Name):
            bases.add(id(part.base))
            axes.setdefault(part.base.key, set()).add(len(part.indices))
            runs = any(isinstance(p, t.Index) for index in part.indices for p in t.parts(index))
            alone = alone if runs else part.base.key
    runs_not = [p.without for p in t.parts(statement) if isinstance(p, t.Range)]
    letters.update(one.key for one in runs_not if isinstance(one, t.Name))
    names = [part for part in t.parts(statement) if isinstance(part, t.Name)]
    whole = {name.key for name in names if id(name) not in bases}
    only = {key: min(own) for key, own in axes.items() if len(own) == 1 and key not in whole}
    arrays = {key: min(own) for key, own in axes.items() if len(own) == 1 and key in whole}
    return EntriesIn(statement, only, frozenset(letters), alone, arrays)


_ARRAYS = ("\\mathbf", "\\boldsymbol", "\\bm", "\\vec")


def linked(statement: t.Statement) -> t.Statement:
    """`statement` where ``x_i`` is an entry of the ``\\mathbf x`` near it, ``a_{ij}`` one of A."""
    found = entries_in(statement)
    others = {part.key for part in t.parts(statement) if isinstance(part, t.Name)} - {*found.axes}
    of = {key: _whole(key, axes, others) for key, axes in found.axes.items()}

    def renamed(part: t.Node) -> t.Node:
        base = part.base if isinstance(part, t.Subscript) else None
        if isinstance(part, t.Subscript) and isinstance(base, t.Name) and of.get(base.key):
            part = t.Subscript(t.Name(of[base.key], span=base.span), part.indices, span=part.span)
        return t.mapped(part, renamed)

    made = renamed(statement) if any(of.values()) else statement
    return made if isinstance(made, t.Statement) else statement


def _whole(key: str, axes: int, others: Set[str]) -> str:
    """Return the one symbol of `others` that `key` with an index is by custom an entry of."""
    letters = [key, key.upper()] if axes == 2 and len(key) == 1 else [key]
    arrays = [f"{bold} {letter}" for bold in _ARRAYS for letter in letters]
    fit = [one for one in (*letters[1:], *arrays) if one in others]
    return fit[0] if len(fit) == 1 else ""


def _takes(reduction: t.Reduction, key: str) -> bool:
    """Return whether the index of a sum stands alone at an entry of `key` in it."""
    entry = t.Subscript(t.Name(key), (t.Index(reduction.over.index),))
    return any(part == entry for part in t.parts(reduction.body))


def _subscripts(statement: t.Statement) -> Iterator[t.Subscript]:
    for part in t.parts(statement):
        if isinstance(part, t.Subscript):
            yield part
