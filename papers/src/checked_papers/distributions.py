"""Probabilities of relations, and conditional statements, of unbound variables.

``P(a < X \\le b) = P(X \\le b) - P(X \\le a)`` and ``E[E[X \\mid Y]] = E[X]`` hold however X and Y
are distributed. So a distribution is drawn on a few whole numbers, all of them with a probability,
and the letters that X is compared with are some of these: there ``<`` and ``\\le`` are two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, permutations, product

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.evaluate.values import Nodes
from checked_equations.latex.tokenizer import Token, UnclosedError, closing, outside, split, tokens

from .expectations import LETTERS, Averaged
from .probabilities import FONTS, Row
from .tried import kinds
from .tried.kinds import Kind

_HEADS: Mapping[str, str] = {
    "P": "P", "\\Pr": "P", "Pr": "P", "Prob": "P", "E": "E", "V": "V", "Var": "V", "var": "V",
    "Cov": "C", "cov": "C",
}  # fmt: skip
_NOT_ONE_LETTER = frozenset(["V"])  # unless in a font
_OPEN = {"(": ")", "[": "]", "\\{": "\\}", "\\lbrack": "\\rbrack"}
_RELATIONS = frozenset(["=", "<", ">", "\\le", "\\ge", "\\leq", "\\geq", "\\ne", "\\neq"])
_ORDERS = frozenset(["<", ">", "\\le", "\\ge", "\\leq", "\\geq"])
_BARS = frozenset(["|", "\\mid", "\\vert"])
_MOST, _LEVELS = 3, 3
_VALUES = tuple(range(-5, 6))  # of both signs, so that |X| is not X
_AT = {0: ((),), 1: ((1,), (4,)), 2: ((1, 4), (2, 3)), 3: ((1, 2, 4), (1, 3, 4))}
_BELOW = {1: ((-1,),), 2: ((-2, 1),), 3: ((-2, 1, 4),)}  # where not all are positive
# What may stand in a relation: else a number between the values would make `<` of `\\le`.
_PLAIN = frozenset(
    ["+", "-", "^", "_", "{", "}", "(", ")", "|", "\\{", "\\}", ",", "\\max", "\\min", "\\mid",
     "\\mathbb", "[", "]", "\\lvert", "\\rvert", "\\,", "\\;"]
)  # fmt: skip
_FRESH = "UVWTSRQZ"


class _Unread(ValueError):
    """The display does not say here whose probability or mean this is."""


def with_laws(latex: str) -> Iterator[Averaged]:
    """The display with a distribution for all that is random in it.

    >>> found = next(with_laws(r"P(X > t) = 1 - P(X \\le t)"))
    >>> found.latex
    '\\\\Pr_{s(X)}( X > t ) = 1 - \\\\Pr_{s(X)}( X \\\\le t )'
    >>> found.said
    'for a distribution of X that was drawn'
    """
    try:
        row = tokens(latex)
        if _ordered(row):
            return
        display = _Display.of(row)
        full = display.written(row, display.names)
    except (_Unread, UnclosedError, EquationError):
        return
    if not display.says_more:
        return
    names, count = ", ".join(display.names), len(display.names)
    said = f"for a{' joint' * (count > 1)} distribution of {names} that was drawn"
    said += f", with {' < '.join(display.order)}" if display.order else ""
    for apart, positive in product((False, True)[: 1 + (count > 1)], (False, True)):
        if positive and not display.levels:
            continue
        nodes = _nodes(count, apart=apart)
        every = [display.known(nodes, at) for at in display.levels_at(positive=positive)]
        regions = [f"{names} are independent"] * apart
        regions += [f"{', '.join(display.levels)} > 0"] * positive
        yield Averaged(full, said, every[0], " and ".join(regions), tuple(every[1:]))


def _nodes(count: int, *, apart: bool) -> Nodes:
    """A distribution on all tuples of a few whole numbers."""
    rng, size = np.random.default_rng(11), len(_VALUES)
    grid = np.meshgrid(*[np.array(_VALUES, dtype=float)] * count, indexing="ij")
    points = np.stack(grid, axis=-1).reshape(-1, count)
    if apart:
        each = [rng.dirichlet(np.full(size, 3.0)) for _ in range(count)]
        weights = reduce(np.multiply.outer, each).ravel()
    else:
        weights = rng.dirichlet(np.full(size**count, 2.0))
    return Nodes(points[:, 0] if count == 1 else points, weights)


def _ordered(row: Row) -> bool:
    """Return whether it orders means, which proves little where it holds for one distribution.

    A relation behind a comma is a condition.
    """
    for token, out in _outermost(row):
        if out and token.text in (",", ";"):
            return False
        if out and token.text in _ORDERS:
            return True
    return False


def _outermost(row: Iterable[Token]) -> Iterator[tuple[Token, bool]]:
    """Each token, and whether no bracket or set stands around it."""
    depth = 0
    for token, out in outside(row):
        depth -= token.text in ("\\}", "]", "\\rbrack")
        yield token, out and not depth
        depth += token.text in ("\\{", "[", "\\lbrack")


@dataclass
class _Display:
    """The random variables of a display, and the letters that they are compared with."""

    names: list[str]
    levels: list[str]
    law: str  # the letter of the distribution
    order: tuple[str, ...] = ()
    says_more: bool = False  # than what is read as means alone

    @classmethod
    def of(cls, row: Row) -> _Display:
        """Return the variables and levels in its brackets."""
        used = {token.text for token in row}
        found = cls([], [], next((one for one in LETTERS if one not in used), ""))
        for head, inside, _ in _calls(row):
            found._take(head, inside)
        if not found.law or not 0 < len(found.names) <= _MOST or len(found.levels) > _LEVELS:
            raise _Unread
        found.names.sort()
        found.levels.sort()
        return found

    def _take(self, head: str, inside: Row) -> None:
        inside = _without_words(inside)
        related = any(token.text in _RELATIONS for token in inside)
        if related and not all(map(_is_plain, inside)):
            raise _Unread
        self.says_more |= related
        texts = [token.text for token in inside]
        for i, text in enumerate(texts):
            scripted = texts[i + 1 : i + 2] in (["_"], ["'"])
            if len(text) == 1 and text.isalpha() and text.isupper() and not _is_head(inside, i):
                if scripted or text in ("E", "P"):
                    raise _Unread
                if text not in self.names:
                    self.names.append(text)
            elif related and len(text) == 1 and text.isalpha() and text not in self.levels:
                if scripted:
                    raise _Unread
                self.levels.append(text)

    def known(self, nodes: Nodes, levels: Mapping[str, int]) -> dict[str, Kind]:
        """The kinds of all that is written."""
        drawn = kinds.distributed(nodes)
        told: dict[str, Kind] = {key: kinds.told(value) for key, value in levels.items()}
        return {self.key(self.names): drawn, self.key(self.twins()): drawn, **told}

    def key(self, names: Sequence[str]) -> str:
        """Below a sign: ``s(X, Y)``."""
        return f"{self.law}({', '.join(names)})"

    def twins(self) -> list[str]:
        """Letters for another draw of the same variables."""
        free = (one for one in _FRESH if one not in self.names)
        return [next(free) for _ in self.names]

    def levels_at(self, *, positive: bool) -> Iterator[dict[str, int]]:
        """Numbers for the letters, in every order unless one is printed."""
        count = len(self.levels)
        for values in (*_AT[count], *(() if positive else _BELOW.get(count, ()))):
            if self.order:
                rest = [key for key in self.levels if key not in self.order]
                yield dict(zip([*self.order, *rest], values, strict=True))
            else:
                for keys in permutations(self.levels):
                    yield dict(zip(keys, values, strict=True))

    # What is written for a call

    def written(self, row: Row, names: Sequence[str]) -> str:
        """A row with each of its calls written for the distribution of `names`."""
        rest: list[str] = []
        at = 0
        for head, inside, (start, end) in _calls(row):
            rest += [self._named(token.text, names) for token in row[at:start]]
            rest.append(self._call(head, inside, names))
            at = end
        return " ".join([*rest, *(self._named(token.text, names) for token in row[at:])])

    def _named(self, text: str, names: Sequence[str]) -> str:
        return names[self.names.index(text)] if text in self.names else text

    def _call(self, head: str, inside: Row, names: Sequence[str]) -> str:
        of, *given = _split(inside, _BARS)
        if len(given) > 1:  # bars around something, or a slip
            of, given = inside, []
        parts = _split(given[0], {","}) if given else []
        events = [part for part in parts if any(t.text in _RELATIONS for t in part)]
        bare = [part for part in parts if part not in events]
        if any(len(part) != 1 or part[0].text not in self.names for part in bare):
            raise _Unread
        if not bare:
            said = [self.written(event, names) for event in map(list, self._events(events))]
            return self._value(head, of, said, names)
        if names != self.names:  # a mean given others inside of one
            raise _Unread
        twins = self.twins()
        said = [f"{self._named(p[0].text, twins)} = {p[0].text}" for p in bare]
        said += [self.written(event, twins) for event in self._events(events)]
        return self._value(head, of, said, twins)

    def _value(self, head: str, of: Row, given: Sequence[str], names: Sequence[str]) -> str:
        """A probability or a mean, given events."""
        if given or head == "P":
            self.says_more = True
        if head == "P":
            asked = [self.written(event, names) for event in self._events(_split(of, {","}))]
            both = self._chance([*asked, *given], names)
            return rf"\frac{{{both}}}{{{self._chance(given, names)}}}" if given else both
        if head == "E":
            return self._mean(self.written(of, names), given, names)
        pair = [self.written(part, names) for part in _split(of, {","})]
        if len(pair) != (2 if head == "C" else 1):
            raise _Unread
        one, two = pair[0], pair[-1]
        means = " ".join(self._mean(part, given, names) for part in (one, two))
        both = self._mean(rf"\left({one}\right) \left({two}\right)", given, names)
        return rf"\left({both} - {means}\right)"

    def _chance(self, events: Sequence[str], names: Sequence[str]) -> str:
        return rf"\Pr_{{{self.key(names)}}}( {' , '.join(events)} )"

    def _mean(self, of: str, given: Sequence[str], names: Sequence[str]) -> str:
        if not given:
            return rf"\mathbb E_{{{self.key(names)}}}\left[ {of} \right]"
        told = " ".join(rf"\mathbb 1[{event}]" for event in given)
        mean = rf"\mathbb E_{{{self.key(names)}}}\left[ \left({of}\right) {told} \right]"
        return rf"\frac{{{mean}}}{{{self._chance(given, names)}}}"

    def _events(self, parts: Sequence[Row]) -> Iterator[Row]:
        """Relations one by one: of ``a < X \\le b`` both."""
        for part in parts:
            signs = [
                i for i, (t, out) in enumerate(_outermost(part)) if out and t.text in _RELATIONS
            ]
            if not signs:
                raise _Unread
            cuts = [-1, *signs, len(part)]
            self._note_order(part, signs)
            for (a, _), (_, b) in pairwise(pairwise(cuts)):
                yield part[a + 1 : b]

    def _note_order(self, part: Row, signs: Sequence[int]) -> None:
        """Note that a is below b in ``a < X < b``."""
        ends = [part[0].text, part[-1].text]
        relations = {part[i].text for i in signs}
        if len(signs) != 2 or len(part) != 5 or not set(ends) <= set(self.levels):
            return
        if relations <= {"<", "\\le", "\\leq"}:
            self._order(*ends)
        elif relations <= {">", "\\ge", "\\geq"}:
            self._order(*reversed(ends))

    def _order(self, low: str, high: str) -> None:
        if self.order and self.order != (low, high):
            raise _Unread
        self.order = (low, high)


def _is_plain(token: Token) -> bool:
    """Return whether it keeps a side of a relation among the whole numbers that are drawn."""
    text = token.text
    if text.isdigit():
        return int(text) in range(_VALUES[0] + 1, _VALUES[-1])
    letter = len(text) == 1 and text.isascii() and text.isalpha() and text not in "ei"
    return letter or text in _PLAIN or text in _RELATIONS


def _without_words(row: Row) -> Row:
    """The row without ``\\operatorname{Cov}`` and its like."""
    kept, i = [], 0
    while i < len(row):
        digit = i + 1 < len(row) and row[i + 1].text == "1"  # of an indicator
        worded = row[i].text in FONTS and i + 1 < len(row) and not digit
        end = closing(row, i + 1) if worded and row[i + 1].text == "{" else i + worded
        kept += [] if worded else [row[i]]
        i = end + 1
    return kept


def _is_head(row: Row, i: int) -> bool:
    """Return whether the letter there is the sign of a mean."""
    return row[i].text in _HEADS and i + 1 < len(row) and row[i + 1].text in _OPEN


def _calls(row: Row) -> Iterator[tuple[str, Row, tuple[int, int]]]:
    """Return the outermost calls: head, arguments, start and end."""
    i = 0
    while i < len(row):
        head, after = _head(row, i)
        if head and after < len(row) and row[after].text in _OPEN:
            opened = row[after].text
            shut = closing(row, after, (opened,), (_OPEN[opened],))
            yield head, row[after + 1 : shut], (i, shut + 1)
            i = shut
        elif head and i != after - 1:  # a mean below which something stands, or without brackets
            raise _Unread
        i += 1


def _head(row: Row, i: int) -> tuple[str, int]:
    """Return the meaning of the sign at a place, and where it ends."""
    text = row[i].text
    if text in FONTS and i + 1 < len(row):
        braced = row[i + 1].text == "{"
        shut = closing(row, i + 1) if braced else i + 1
        word = "".join(t.text for t in row[i + 2 : shut]) if braced else row[i + 1].text
        return _HEADS.get(word, ""), shut + 1
    return ("" if text in _NOT_ONE_LETTER else _HEADS.get(text, "")), i + 1


def _split(row: Row, marks: frozenset[str] | set[str]) -> list[Row]:
    return list(split(row, marks, _outermost)[0])
