"""Which evidence belongs to which equation: the homes of cells and of prose.

A piece of evidence is a cell or a paragraph that only checks. A cell that checks an equation is at
home there; what it defines is at home with the one equation whose checks use it, and what several
use, or none, belongs to the page as a whole. Prose goes with the cell that it stands before.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Code", "Layers", "Piece", "layers_of", "names_of", "strings_of"]


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


# What a cell says of itself


def names_of(source: str) -> Code:
    """The names of a cell; of what is no Python, none.

    >>> names_of("def f(x):\\n    return x + a")
    Code(defines=('f',), uses=frozenset({'a'}))
    """
    try:
        top = symtable.symtable(source, "a cell", "exec")
    except SyntaxError:
        return Code()
    given = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    taken = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    taken |= {name for table in _inside(top) for name in _globals(table)}
    return Code(
        tuple(name for name in _in_order(source) if name in given), frozenset(taken - given)
    )


def _inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inside(child)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    return (s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced())


def _in_order(source: str) -> Iterator[str]:
    """Every name that is given somewhere, as the lines have them."""
    given: dict[str, None] = {}
    for statement in ast.parse(source).body:
        for node in ast.walk(statement):
            given.update(dict.fromkeys(_given(node)))
    return iter(given)


def _given(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).split(".")[0]]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def strings_of(source: str) -> list[str]:
    """The strings that stand in a cell, where it is Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


# Who lives where


def layers_of(pieces: Sequence[Piece]) -> Layers:
    """The homes of all pieces of a page, which stand in the order of the page."""
    takes = [_taken(pieces, i) for i in range(len(pieces))]
    homes = _with_prose(pieces, [_home(pieces, takes, i) for i in range(len(pieces))])
    return Layers(homes, _borrowed(pieces, takes, homes), _elsewhere(pieces, homes))


def _taken(pieces: Sequence[Piece], i: int) -> dict[str, int]:
    """The names that the cell `i` takes, each with the cell that gave it last."""
    code = pieces[i].code or Code()
    givers = {name: _giver(pieces, i, name) for name in sorted(code.uses)}
    return {name: j for name, j in givers.items() if j is not None}


def _giver(pieces: Sequence[Piece], i: int, name: str) -> int | None:
    places = [j for j, p in enumerate(pieces) if j != i and p.code and name in p.code.defines]
    return max((j for j in places if j < i), default=min(places, default=None))


def _users(pieces: Sequence[Piece], takes: Sequence[Mapping[str, int]], i: int) -> set[str]:
    """The equations whose checks use what the piece `i` defines, directly or through others."""
    reached: set[int] = set()
    waiting = [i]
    while waiting:
        j = waiting.pop()
        new = [k for k, taken in enumerate(takes) if j in taken.values() and k not in reached]
        reached.update(new)
        waiting += [k for k in new if not pieces[k].labels]
    return {pieces[k].labels[0] for k in reached if pieces[k].labels}


def _home(pieces: Sequence[Piece], takes: Sequence[Mapping[str, int]], i: int) -> str:
    piece = pieces[i]
    if piece.labels or piece.apart:
        return piece.labels[0] if piece.labels else ""
    users = _users(pieces, takes, i)
    if len(users) == 1:
        return users.pop()
    return "" if users else _beside(pieces, i)


def _beside(pieces: Sequence[Piece], i: int) -> str:
    """The equation that the next cell of the run checks, or else the one before."""
    run = pieces[i].run
    after = (p.labels[0] for p in pieces[i:] if p.run == run and p.labels)
    before = (p.labels[0] for p in reversed(pieces[:i]) if p.run == run and p.labels)
    return next(after, next(before, ""))


def _with_prose(pieces: Sequence[Piece], homes: Sequence[str]) -> tuple[str, ...]:
    """The homes, where prose without a label of its own has gone with a cell of its run."""
    return tuple(
        homes[_companion(pieces, i)] if piece.code is None and not piece.labels else home
        for i, (piece, home) in enumerate(zip(pieces, homes, strict=True))
    )


def _companion(pieces: Sequence[Piece], i: int) -> int:
    """The next cell of the run, else the last one before; a paragraph alone stays by itself."""
    cells = [j for j, p in enumerate(pieces) if p.run == pieces[i].run and p.code is not None]
    after = [j for j in cells if j > i]
    return after[0] if after else max(cells, default=i)


def _borrowed(
    pieces: Sequence[Piece], takes: Sequence[Mapping[str, int]], homes: Sequence[str]
) -> dict[str, dict[str, int]]:
    borrowed: dict[str, dict[str, int]] = {}
    for i, home in enumerate(homes):
        away = {name: j for name, j in takes[i].items() if homes[j] != home}
        for label in _unique([home, *pieces[i].labels]):
            borrowed.setdefault(label, {}).update(away)
    return borrowed


def _elsewhere(pieces: Sequence[Piece], homes: Sequence[str]) -> dict[str, int]:
    pairs = ((label, i) for i, piece in enumerate(pieces) for label in piece.labels)
    own = {pieces[i].labels[0] for i in range(len(pieces)) if pieces[i].labels}
    return {label: i for label, i in pairs if label != homes[i] and label not in own}


def _unique(labels: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, labels)))
