"""Identities of sets and of statements, such as De Morgan's laws, and implications.

A point lies in some of the sets A, B, C and not in the others, in ``2^n`` ways, and only which of
these ways occur decides what holds of the sets. So all of them are tried, one after another: a
statement that holds is proved, and of one that fails it is known where. Letters that are joined by
``\\land`` and ``\\neg`` are true or not, in as many ways.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from checked_equations.check.outcomes import MutantRecord, Mutants
from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import UnclosedError, tokens, word_set

from .tried import Tried
from .tried.token_patterns import texts
from .tried.verdicts import FAILS

_CAPITALS = frozenset(string.ascii_uppercase)
_SMALL = frozenset(string.ascii_lowercase) - {"c"}
_BARS = word_set(r"\bar \overline")
_COMPLEMENTS = (("c", "}"), ("\\complement", "}"))
_NEGATIONS = word_set(r"\neg \lnot")
_SAME = {
    "\\wedge": "\\land", "\\vee": "\\lor", "\\varnothing": "\\emptyset",
    "\\implies": "\\Rightarrow", "\\Longrightarrow": "\\Rightarrow",
    "\\iff": "\\Leftrightarrow", "\\Longleftrightarrow": "\\Leftrightarrow",
    "\\equiv": "\\Leftrightarrow", "\\subset": "\\subseteq", "\\supset": "\\supseteq",
    "\\triangle": "\\bigtriangleup", "\\backslash": "\\setminus",
}  # fmt: skip
Points = frozenset[int]  # ways in which a point may lie


@dataclass(frozen=True)
class _World:
    """The ways that occur, the ways in which each letter has a point, and where each element is."""

    occurs: Points
    letters: Mapping[str, Points]
    elements: Mapping[str, int]


Term = Callable[[_World], Points]
Claim = Callable[[_World], bool]
_OF_SETS: Mapping[str, Callable[[Points, Points], Points]] = {
    "\\cup": frozenset.union, "\\cap": frozenset.intersection, "\\setminus": frozenset.difference,
    "\\bigtriangleup": frozenset.symmetric_difference,
    "\\lor": frozenset.union, "\\land": frozenset.intersection,
}  # fmt: skip
_RELATIONS: Mapping[str, Callable[[Points, Points], bool]] = {
    "=": lambda a, b: a == b, "\\ne": lambda a, b: a != b,
    "\\subseteq": lambda a, b: a <= b, "\\supseteq": lambda a, b: a >= b,
}  # fmt: skip
_ARROWS: Mapping[str, Callable[[bool, bool], bool]] = {
    "\\Rightarrow": lambda a, b: b or not a, "\\Leftrightarrow": lambda a, b: a == b,
}  # fmt: skip
_SLIPS = {"\\cup": "\\cap", "\\cap": "\\cup", "\\setminus": "\\cap", "\\bigtriangleup": "\\cup",
          "\\lor": "\\land", "\\land": "\\lor", "\\subseteq": "\\supseteq",
          "\\supseteq": "\\subseteq", "\\in": "\\notin", "\\notin": "\\in"}  # fmt: skip
_LOGICAL = word_set(r"\land \lor \neg \lnot")
_MOST = 3  # sets: of four, 65536 choices of the ways that occur
_STATED = 5  # letters that are true or not


class _Unread(ValueError):
    """The text is no statement about sets."""


def of_sets(latex: str) -> Tried | None:
    """Return the verdict on a statement about sets; nothing where it is none, or leaves more open.

    >>> of_sets(r"(A \\cup B)^c = A^c \\cap B^c").verdict
    'holds'
    >>> of_sets(r"(A \\cup B)^c = A^c \\cup B^c").verdict
    'fails on all numbers drawn'
    """
    try:
        row = [_SAME.get(text, text) for text in texts(tokens(latex))]
        while row and row[-1] in (".", ",", ";"):
            row.pop()
        statement = _Statement(tuple(row))
        holds, records = statement.holds(), tuple(statement.slips())
    except (_Unread, UnclosedError, EquationError):
        return None
    names = ", ".join(statement.letters)
    said = f"for {names}" + (", true or false" if statement.logical else ", however they lie")
    if holds:
        caught = any(one.outcome == "caught" for one in records)
        return Tried("holds", said, None, 0.0, lambda: Mutants.of(records)) if caught else None
    if statement.leaves_open:
        return None
    mends = [one.edit for one in records if one.outcome != "caught"]
    mended = f"; it would with {mends[0]}" if mends else ""
    return Tried(FAILS, f"not {said}{mended}", residual=1.0)


@dataclass(frozen=True)
class _Statement:
    """A row of texts that says something of sets, or of statements that are true or false."""

    row: tuple[str, ...]

    @property
    def logical(self) -> bool:
        """Return whether its letters are true or false."""
        return not _LOGICAL.isdisjoint(self.row) and "\\in" not in self.row

    @cached_property
    def letters(self) -> list[str]:
        """The letters of sets, or of statements."""
        return sorted({name for name, _ in _names(self.row)})

    @property
    def leaves_open(self) -> bool:
        """Return whether its sides speak of different letters, so that the text must say more.

        A bar may be that of a closure.
        """
        arrows = {*_ARROWS}.intersection(self.row)
        sides = map(_names, _split(self.row, arrows or _RELATIONS)[0])
        own = [{name for name, _ in side} for side in sides]
        if arrows == {"\\Rightarrow"}:
            return not own[1] <= own[0]
        return any(one != own[0] for one in own) or not _BARS.isdisjoint(self.row)

    def holds(self) -> bool:
        """Return whether it is true however the sets lie."""
        if self.logical:
            term = _Reader(self.row).stated()
            return all(term(world) == world.occurs for world in self._worlds())
        claim = _Reader(self.row).claim()
        return all(claim(world) for world in self._worlds())

    def _worlds(self) -> Iterator[_World]:
        count = len(self.letters)
        if not 0 < count <= (_STATED if self.logical else _MOST) or not self._says_enough():
            raise _Unread
        ways = range(2**count)
        known = {
            name: frozenset(way for way in ways if way >> i & 1)
            for i, name in enumerate(self.letters)
        }
        elements = sorted({text for text in self.row if text in _SMALL})
        if len(elements) > 1:
            raise _Unread
        several = [ways] if self.logical else map(_chosen(ways), range(1, 2 ** len(ways)))
        for occurs in map(frozenset, several):
            own = {name: where & occurs for name, where in known.items()}
            for place in occurs if elements else (0,):
                yield _World(occurs, own, dict.fromkeys(elements, place))

    def _says_enough(self) -> bool:
        """Return whether a sign that only sets or statements have stands in it."""
        follows = not {*_ARROWS}.isdisjoint(self.row) and "\\subseteq" in self.row
        return follows or not {*_OF_SETS, *_LOGICAL}.isdisjoint(self.row)

    def slips(self) -> Iterator[MutantRecord]:
        """Yield the fate of each slip of a sign, a complement or a letter."""
        for said, row in self._spoilt():
            try:
                fate = "indistinct" if _Statement(row).holds() else "caught"
            except _Unread:
                continue
            plain = said.replace("$", "")
            yield MutantRecord(plain, " ".join(row), fate, None, said=said)

    def _spoilt(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        row = self.row
        for i, text in enumerate(row):
            if text in _SLIPS:
                yield f"${_SLIPS[text]}$ for ${text}$", (*row[:i], _SLIPS[text], *row[i + 1 :])
            if text in _NEGATIONS:
                yield "a negation less", (*row[:i], *row[i + 1 :])
            if _is_complement(row, i):
                yield "a complement less", (*row[:i], *row[i + 4 :])
        for (name, i), other in itertools.product(_names(row), self.letters):
            if name != other and len(name) == len(other) == 1:
                yield f"${other}$ for ${name}$", (*row[:i], other, *row[i + 1 :])


def _chosen(ways: range) -> Callable[[int], list[int]]:
    return lambda choice: [way for way in ways if choice >> way & 1]


def _is_complement(row: Sequence[str], i: int) -> bool:
    return row[i : i + 2] == ("^", "{") and row[i + 2 : i + 4] in _COMPLEMENTS


def _names(row: Sequence[str]) -> list[tuple[str, int]]:
    """Return the letters of sets, with their subscripts, and where they stand."""
    found = []
    for i, text in enumerate(row):
        if text in _CAPITALS:
            below = row[i + 3] if tuple(row[i + 1 : i + 3]) == ("_", "{") else ""
            found.append((text + (f"_{below}" if below else ""), i))
    return found


def _split(row: Sequence[str], signs: Iterable[str]) -> tuple[list[Sequence[str]], list[str]]:
    """Return the parts of a row between signs outside all brackets, and those signs."""
    parts, between, depth, begin = [], [], 0, 0
    for i, text in enumerate(row):
        depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
        if not depth and text in signs:
            parts.append(row[begin:i])
            between.append(text)
            begin = i + 1
    return [*parts, row[begin:]], between


class _Reader:
    """Reads a row of texts as a claim about sets, or as a term of them."""

    def __init__(self, row: Sequence[str]) -> None:
        self.row = row

    def claim(self) -> Claim:
        """Return its claim: a relation of sets, or an implication."""
        sides, arrows = _split(self.row, _ARROWS)
        if len(arrows) > 1:
            raise _Unread
        parts = [_Reader(side)._relations() for side in sides]
        if not arrows:
            return parts[0]
        first, last = parts
        return lambda world: _ARROWS[arrows[0]](first(world), last(world))

    def _relations(self) -> Claim:
        """Read relations between commas, which must all hold."""
        every = [_Reader(part)._relation() for part in _split(self.row, {","})[0]]
        return lambda world: all(one(world) for one in every)

    def _relation(self) -> Claim:
        for sign in ("\\in", "\\notin"):
            sides, between = _split(self.row, {sign})
            if len(between) == 1 and len(sides[0]) == 1 and sides[0][0] in _SMALL:
                term, key, inside = _Reader(sides[1]).term(), sides[0][0], sign == "\\in"
                return lambda world: (world.elements[key] in term(world)) == inside
        sides, signs = _split(self.row, _RELATIONS)
        if not signs:
            raise _Unread
        terms = [_Reader(side).term() for side in sides]
        return lambda world: all(
            _RELATIONS[sign](one(world), other(world))
            for sign, one, other in zip(signs, terms, terms[1:], strict=False)
        )

    def stated(self) -> Term:
        """Read letters that are true or not: the ways in which all of it is true."""
        sides, arrows = _split(self.row, _ARROWS)
        if len(arrows) > 1:
            raise _Unread
        parts = [_Reader(side).term(_Reader.stated) for side in sides]
        if not arrows:
            return parts[0]
        first, last = parts
        if arrows[0] == "\\Rightarrow":
            return lambda world: world.occurs - first(world) | last(world)
        return lambda world: world.occurs - (first(world) ^ last(world))

    def term(self, inside: Callable[[_Reader], Term] | None = None) -> Term:
        """Read a union, an intersection, a difference: of one kind, since brackets are asked for.

        `inside` reads an expression in brackets.
        """
        parts, signs = _split(self.row, _OF_SETS)
        if len({*signs}) > 1 or (len(signs) > 1 and signs[0] == "\\setminus"):
            raise _Unread
        terms = [_Reader(part)._one(inside or _Reader.term) for part in parts]
        if not signs:
            return terms[0]
        join = _OF_SETS[signs[0]]
        return lambda world: reduce(join, (term(world) for term in terms))

    def _one(self, inside: Callable[[_Reader], Term]) -> Term:
        """Read a letter, something in brackets, or the complement of one."""
        row = tuple(self.row)
        if not row:
            raise _Unread
        if row[0] in _NEGATIONS:
            return _complement(_Reader(row[1:])._one(inside))
        if len(row) > 4 and _is_complement(row, len(row) - 4):
            return _complement(_Reader(row[:-4])._one(inside))
        if row[0] in _BARS and row[1] == "{" and _shut(row, 1) == len(row) - 1:
            return _complement(inside(_Reader(row[2:-1])))
        if row[0] == "(" and _shut(row, 0) == len(row) - 1:
            return inside(_Reader(row[1:-1]))
        if row == ("\\emptyset",):
            return lambda world: frozenset()
        if row == ("\\Omega",):
            return lambda world: world.occurs
        names = _names(row)
        plain = row[1:3] == ("_", "{") and len(row) == 5
        if len(names) != 1 or names[0][1] or not (len(row) == 1 or plain):
            raise _Unread
        key = names[0][0]
        return lambda world: world.letters[key]


def _complement(term: Term) -> Term:
    return lambda world: world.occurs - term(world)


def _shut(row: Sequence[str], i: int) -> int:
    """Return the place of the bracket that closes the one at `i`."""
    depth = 0
    for place in range(i, len(row)):
        depth += (row[place] in ("(", "{")) - (row[place] in (")", "}"))
        if not depth:
            return place
    raise _Unread
