"""Probabilities of events and entropies of random variables that are not bound.

``H(X, Y) = H(X) + H(Y \\mid X)`` is said of any variables, and ``P(A^c) = 1 - P(A)`` of any event.
So a joint distribution is drawn, and each of these expressions becomes the number that it then is;
a display that fails for it may hold where some of them are independent.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import Token, UnclosedError, closing, split, tokens

from .expectations import Averaged, claims_order
from .joint_laws import Factor, JointLaw
from .statements import RELATIONS
from .tried import kinds
from .tried.kinds import Kind

_HEADS: Mapping[str, str] = {"P": "P", "\\Pr": "P", "H": "H", "I": "I", "h": "H"}
FONTS = frozenset(["\\mathbb", "\\mathrm", "\\mathcal", "\\mathsf", "\\operatorname", "\\text"])
_OPEN = {"(": ")", "[": "]", "\\{": "\\}"}
_BARS = frozenset(["|", "\\mid", "\\vert", "\\lvert", "\\rvert"])
_MOST, _VALUES = 4, 3
Row = Sequence[Token]
Event = Callable[[Mapping[str, bool]], bool]


class _Unread(ValueError):
    """The brackets hold no event and no list of random variables."""


def with_numbers(latex: str) -> Iterator[Averaged]:
    """Yield the display with a number for each probability and entropy of the distribution drawn.

    >>> found = next(with_numbers(r"H(X, Y) = H(X) + H(Y \\mid X)"))
    >>> found.latex, found.said
    ('b(a) = c(a) + d(a)', 'for a joint distribution of X, Y that was drawn')
    """
    try:
        row = tokens(latex)
        calls = list(_calls(row))
        letters = sorted({letter for call in calls for letter in call.letters})
    except (_Unread, UnclosedError, EquationError):
        return
    if not calls or len(letters) > _MOST or claims_order(latex):
        return
    names = ", ".join(letters)
    heads = {call.head for call in calls}
    if len(heads) > 1 and "P" in heads:
        return
    for region, factors in _laws(letters):
        space = _Space(JointLaw.drawn(letters, factors, _VALUES if heads <= {"H", "I"} else 2))
        try:
            full, known = _written(row, calls, space)
        except (_Unread, UnclosedError):
            return
        joint = f"a joint distribution of {names} that was drawn"
        said = f"for {f'probabilities of {names} that were drawn' if heads == {'P'} else joint}"
        yield Averaged(full, said, known, region, (), _leaves_open(row, calls), True)


@dataclass(frozen=True)
class _Call:
    """``H(X \\mid Y)``: its head, its arguments, and its place."""

    head: str
    inside: Row
    start: int
    end: int

    @property
    def letters(self) -> set[str]:
        """The variables or events that it is of."""
        return set(_atoms(self.inside))


def _calls(row: Row) -> Iterator[_Call]:
    """All heads with their brackets; `_Unread` where one is of something else."""
    i = 0
    while i < len(row):
        font = row[i].text in FONTS and i + 3 < len(row) and row[i + 1].text == "{"
        head = row[i + 2].text if font else row[i].text
        after = closing(row, i + 1) + 1 if font else i + 1
        if head in _HEADS and after < len(row) and row[after].text in _OPEN:
            shut = closing(row, after, (row[after].text,), (_OPEN[row[after].text],))
            call = _Call(_HEADS[head], row[after + 1 : shut], i, shut + 1)
            if not call.letters:
                raise _Unread
            yield call
            i = shut
        i += 1


_MARKS = frozenset([",", ";", *_BARS, "\\cap", "\\cup", "\\setminus", "(", ")", "{", "}", "^", "_",
                    "c", "\\complement", "\\bar", "\\overline"])  # fmt: skip


def _atoms(row: Row) -> Iterator[str]:
    """The capital letters in brackets, with the digits of their subscripts."""
    i = 0
    while i < len(row):
        text = row[i].text
        if len(text) == 1 and text in string.ascii_uppercase:
            end = closing(row, i + 2) if i + 2 < len(row) and row[i + 1].text == "_" else i
            if end > i + 2 and not all(one.text.isdigit() for one in row[i + 3 : end]):
                raise _Unread
            yield _name(row, i)
            i = end
        elif text not in _MARKS:
            raise _Unread
        i += 1


def _laws(letters: Sequence[str]) -> Iterator[tuple[str, list[Factor]]]:
    """Yield joint laws, each with the condition that holds in it, the general one first."""
    yield "", [(set(letters), set())]
    if letters[1:]:
        yield f"{', '.join(letters)} are independent", [({one}, set()) for one in letters]


def _leaves_open(row: Row, calls: Sequence[_Call]) -> bool:
    """Return whether a letter stands on one side alone, so that the text must say more of it."""
    ends = [i for i, token in enumerate(row) if token.text in RELATIONS]
    spans = pairwise([0, *ends, len(row)])
    sides = [{x for c in calls if a <= c.start < b for x in c.letters} for a, b in spans]
    return any(side != sides[0] for side in sides)


def _name(row: Row, i: int) -> str:
    subscripted = i + 2 < len(row) and row[i + 1].text == "_"
    inside = "".join(one.text for one in row[i + 3 : closing(row, i + 2)]) if subscripted else ""
    return row[i].text + (f"_{inside}" if inside else "")


@dataclass(frozen=True)
class _Space:
    """The probabilities and entropies of a joint law."""

    law: JointLaw

    def of(self, call: _Call) -> float:
        """The number that a call is."""
        return {"P": self._probability, "H": self._entropy, "I": self._information}[call.head](
            call.inside
        )

    # Entropies

    def _together(self, names: Set[str]) -> float:
        chance = self.law.of(names)
        return float(-np.sum(chance * np.log(chance)))

    def _entropy(self, row: Row) -> float:
        of, *given = _split(row, _BARS)
        passed = {",", "{", "}", "_", *_BARS}
        if len(given) > 1 or any(one.text in _MARKS and one.text not in passed for one in row):
            raise _Unread
        behind = set(_atoms(given[0])) if given else set()
        return self._together({*_atoms(of), *behind}) - self._together(behind)

    def _information(self, row: Row) -> float:
        of, *given = _split(row, _BARS)
        parts = _split(of, {";"}) if any(one.text == ";" for one in of) else _split(of, {","})
        if len(parts) != 2 or len(given) > 1:
            raise _Unread
        one, two = (set(_atoms(part)) for part in parts)
        known = set(_atoms(given[0])) if given else set()
        terms = self._together(one | known) + self._together(two | known)
        return terms - self._together(one | two | known) - self._together(known)

    # Events

    def _probability(self, row: Row) -> float:
        of, *given = _split(row, _BARS)
        if len(given) > 1:
            raise _Unread
        behind = self._event(given[0]) if given else (lambda at: True)
        event = self._event(of)
        both = sum(p for at, p in self._points() if event(at) and behind(at))
        return both / sum(p for at, p in self._points() if behind(at))

    def _points(self) -> Iterator[tuple[dict[str, bool], float]]:
        chance = self.law.chance
        for at in product(*(range(size) for size in chance.shape)):
            yield {one: bool(i) for one, i in zip(self.law.letters, at, strict=True)}, chance[at]

    def _event(self, row: Row) -> Event:
        """Return whether a point lies in an event: ``A \\cap B^c``, ``A, B``."""
        listed = _split(row, {","})
        if len(listed) > 1:
            parts = list(map(self._event, listed))
            return lambda at: all(part(at) for part in parts)
        signs = {one.text for one, out in _outside(row) if out and one.text in _SIGNS}
        if not signs:
            return self._atom(row)
        if len(signs) > 1:  # which of them comes first is not printed
            raise _Unread
        (sign,) = signs
        first, *others = map(self._event, _split(row, signs))
        if sign == "\\setminus":
            return lambda at: first(at) and not any(other(at) for other in others)
        join = any if sign == "\\cup" else all
        return lambda at: join(part(at) for part in (first, *others))

    def _atom(self, row: Row) -> Event:
        """Read a letter, a bracket, an event below a bar, or the complement of one."""
        texts = [one.text for one in row]
        if not texts:
            raise _Unread
        if texts[-4:-2] == ["^", "{"] and texts[-2] in ("c", "\\complement") and len(texts) > 4:
            inside = self._atom(row[:-4])
            return lambda at: not inside(at)
        if texts[0] in ("\\bar", "\\overline") and closing(row, 1) == len(row) - 1:
            inside = self._event(row[2:-1])
            return lambda at: not inside(at)
        if texts[0] == "(" and closing(row, 0, ("(",), (")",)) == len(row) - 1:
            return self._event(row[1:-1])
        names = list(_atoms(row))
        if len(names) != 1 or _name(row, 0) != names[0] or set(texts) & {"^", "'", "|"}:
            raise _Unread
        return lambda at: at[names[0]]


_SIGNS = frozenset(["\\cap", "\\cup", "\\setminus"])


def _outside(row: Iterable[Token]) -> Iterator[tuple[Token, bool]]:
    """Each token, and whether it stands outside all brackets and braces."""
    depth = 0
    for token in row:
        depth -= token.text in (")", "}")
        yield token, depth == 0
        depth += token.text in ("(", "{")


def _split(row: Row, marks: Set[str]) -> list[Row]:
    return list(split(row, marks, _outside)[0])


def _written(row: Row, calls: Sequence[_Call], space: _Space) -> tuple[str, dict[str, Kind]]:
    """Return LaTeX with a function for each number that calls have, and their meanings.

    ``a(b)`` is no symbol that may be defined, as a letter alone on one side is.
    """
    rest: list[str] = []
    used = {one.text for one in row}
    fresh = iter([one for one in "abcdfghklmopqrstuvwxyz" if one not in used])
    argument = next(fresh, "")
    letters: dict[str, str] = {}
    known: dict[str, Kind] = {argument: kinds.told(0.0)}
    at = 0
    for call in calls:
        rest += [one.text for one in row[at : call.start]]
        said = f"{call.head}({' '.join(one.text for one in call.inside)})"
        if said not in letters:
            letters[said] = next(fresh, "")
            if not letters[said]:
                raise _Unread
            known[letters[said]] = kinds.operation(_Always(space.of(call)))
        rest.append(f"{letters[said]}({argument})")
        at = call.end
    return " ".join([*rest, *(one.text for one in row[at:])]), known


@dataclass(frozen=True)
class _Always:
    """A function with one value."""

    value: float

    def __call__(self, argument: object) -> float:
        """Return it."""
        return self.value
