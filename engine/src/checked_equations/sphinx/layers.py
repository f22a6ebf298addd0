"""Which evidence belongs to which equation: the homes of cells and of prose.

A piece of evidence is a cell or a paragraph that only checks. A cell that checks an equation is at
home there; what it defines is at home with the one equation whose checks use it, and what several
use, or none, belongs to the page as a whole. Prose goes with the cell that it stands before.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """The names that a cell leaves for others, in the order of the cell, and those it takes."""

    defines: tuple[str, ...] = ()
    uses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Piece:
    """A cell or a paragraph of the evidence.

    `run` counts the stretches of evidence with nothing of the lecture between; `labels` are the
    equations that it is about, if it says so; `code` is that of a cell, and prose has none; what
    is `apart` belongs to no equation, whatever stands beside it.
    """

    run: int
    labels: tuple[str, ...] = ()
    code: Code | None = None
    apart: bool = False


@dataclass(frozen=True)
class Layers:
    """The home of each piece (a label, or nothing), and what each equation takes from elsewhere.

    `borrowed` has for a label the names that its cells take from pieces with another home, each
    with the position of that piece; `elsewhere` has the position of a cell that checks the
    equation in the badge of another.
    """

    homes: tuple[str, ...]
    borrowed: Mapping[str, Mapping[str, int]]
    elsewhere: Mapping[str, int]


def names_of(source: str) -> Code:
    """The names of a cell; of what is no Python, none.

    >>> names_of("def f(x):\\n    return x + a")
    Code(defines=('f',), uses=frozenset({'a'}))
    """
    try:
        table = symtable.symtable(source, "a cell", "exec")
    except SyntaxError:
        return Code()
    top = table.get_symbols()
    given = [s.get_name() for s in top if s.is_assigned() or s.is_imported()]
    deeper = (s for inner in _inside(table) for s in inner.get_symbols() if s.is_global())
    taken = {s.get_name() for s in (*top, *deeper) if s.is_referenced()}
    return Code(tuple(given), frozenset(taken.difference(given)))


def _inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inside(child)


def strings_of(source: str) -> list[str]:
    """The strings that stand in a cell, where it is Python."""
    try:
        found = ast.walk(ast.parse(source))
    except SyntaxError:
        return []
    return [n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def layers_of(pieces: Sequence[Piece]) -> Layers:
    """The homes of all pieces of a page, which stand in the order of the page."""
    takes = [_taken(pieces, i) for i in range(len(pieces))]
    homes = tuple(_home(pieces, takes, i) for i in range(len(pieces)))
    borrowed: dict[str, dict[str, int]] = {}
    for home, piece, taken in zip(homes, pieces, takes, strict=True):
        away = {name: j for name, j in taken.items() if homes[j] != home}
        for label in filter(None, [home, *piece.labels]):
            borrowed.setdefault(label, {}).update(away)
    own = {piece.labels[0] for piece in pieces if piece.labels}
    pairs = ((label, i) for i, piece in enumerate(pieces) for label in piece.labels)
    return Layers(homes, borrowed, {label: i for label, i in pairs if label not in own})


def _taken(pieces: Sequence[Piece], i: int) -> dict[str, int]:
    """The names that the cell `i` takes, each with the cell that gave it last."""
    taken = {}
    for name in sorted((pieces[i].code or Code()).uses):
        givers = [j for j, p in enumerate(pieces) if j != i and p.code and name in p.code.defines]
        if givers:
            taken[name] = max((j for j in givers if j < i), default=givers[0])
    return taken


def _home(pieces: Sequence[Piece], takes: Sequence[Mapping[str, int]], i: int) -> str:
    """Where the piece `i` is at home, or nothing where that is the page as a whole."""
    piece = pieces[i]
    if piece.labels or piece.apart:
        return piece.labels[0] if piece.labels else ""
    cells = [j for j, p in enumerate(pieces) if p.run == piece.run and p.code is not None]
    if piece.code is None and cells:  # prose goes with the cell below it, else with the last
        return _home(pieces, takes, next((j for j in cells if j > i), cells[-1]))
    reached, waiting = set[int](), [i]  # by those who use what it defines, and by their users
    while waiting:
        j = waiting.pop()
        new = {k for k, taken in enumerate(takes) if j in taken.values()} - reached
        reached |= new
        waiting += [k for k in new if not pieces[k].labels]
    users = {pieces[k].labels[0] for k in reached if pieces[k].labels}
    if users:
        return users.pop() if len(users) == 1 else ""
    # the equation that the next cell of the run checks, or else the one before
    beside = (p for p in (*pieces[i:], *reversed(pieces[:i])) if p.run == piece.run and p.labels)
    return next((p.labels[0] for p in beside), "")
