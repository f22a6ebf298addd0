"""Probabilities of events, densities and entropies of random variables, that are not bound.

``H(X, Y) = H(X) + H(Y \\mid X)`` is said of any variables, ``P(A^c) = 1 - P(A)`` of any event, and
``p(x \\mid y) p(y) = p(y \\mid x) p(x)`` of the densities of any variables at any point. So a joint
distribution is drawn, and each of these expressions becomes the number that it then is; a display
that fails for it may hold where some of them are independent.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.latex.names import joined
from checked_equations.latex.tokenizer import Token, UnclosedError, closing, split, tokens

from .expectations import Averaged, claims_order
from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import is_symbol

_HEADS: Mapping[str, str] = {"P": "P", "\\Pr": "P", "H": "H", "I": "I", "h": "H", "p": "p"}
LETTER_FONTS = frozenset(["\\mathbf", "\\boldsymbol", "\\bm", "\\mathcal", "\\vec"])
FONTS = frozenset(["\\mathbb", "\\mathrm", "\\mathcal", "\\mathsf", "\\operatorname", "\\text"])
_OPEN = {"(": ")", "[": "]", "\\{": "\\}"}
_BARS = frozenset(["|", "\\mid", "\\vert", "\\lvert", "\\rvert"])
_MOST, _VALUES = 4, 3
Row = Sequence[Token]
Event = Callable[[Mapping[str, bool]], bool]
Chance = np.ndarray  # of each point of the space; one axis for each letter


class _Unread(ValueError):
    """That something in brackets is no event and no list of random variables."""


def with_numbers(latex: str) -> Iterator[Averaged]:
    """Yield the display with a number for each probability and entropy of the distribution drawn.

    >>> found = next(with_numbers(r"H(X, Y) = H(X) + H(Y \\mid X)"))
    >>> found.latex, found.said
    ('a = b + c', 'for a joint distribution of X, Y that was drawn')
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
    if (len(heads) > 1 and heads & {"P", "p"}) or (heads == {"p"} and _says_more(row, calls)):
        return
    for region, factors in _laws(letters, calls if heads == {"p"} else ()):
        space = _Space.drawn(letters, factors, _VALUES if heads <= {"H", "I"} else 2)
        try:
            full, known = _written(row, calls, space)
        except (_Unread, UnclosedError):
            return
        joint = f"a joint distribution of {names} that was drawn"
        said = f"for {f'probabilities of {names} that were drawn' if heads == {'P'} else joint}"
        yield Averaged(full, said, known, region)


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
        return set().union(*self.sides) if self.head == "p" else set(_atoms(self.inside))

    @property
    def sides(self) -> tuple[set[str], set[str]]:
        """The variables of a density, and those that are given."""
        of, *given = _split(self.inside, _BARS)
        if len(given) > 1:
            raise _Unread
        return set(_variables(of)), set(_variables(given[0])) if given else set()


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


def _variables(row: Row) -> Iterator[str]:
    """The letters between commas, in any alphabet and font, with the digits of their subscripts."""
    for part in _split(row, {","}):
        font = len(part) > 3 and part[0].text in LETTER_FONTS and part[1].text == "{"
        bare = [part[2], *part[4:]] if font and part[3].text == "}" else part
        texts = [one.text for one in bare]
        index = texts[3:-1] if texts[1:3] == ["_", "{"] and texts[-1] == "}" else texts[2:]
        subscripted = len(texts) == 1 or (texts[1:2] == ["_"] and all(map(str.isdigit, index)))
        if not texts or not is_symbol(texts[0]) or not subscripted or len(texts) == 2:
            raise _Unread
        yield joined(part)


def _says_more(row: Row, calls: Sequence[_Call]) -> bool:
    """Return True if a display says more of densities than rules for the same variables do.

    There are other symbols in it, as in the formula of one density, or all its densities are of
    the same variables, as those of a symmetric polynomial are.
    """
    inside = {i for call in calls for i in range(call.start, call.end)}
    rest = [one.text for i, one in enumerate(row) if i not in inside]
    return len({frozenset(call.letters) for call in calls}) == 1 or any(
        is_symbol(text) and text not in _OPERATIONS for text in rest
    )


_OPERATIONS = frozenset(["\\frac", "\\dfrac", "\\tfrac", "\\cdot", "\\times", "\\log", "\\ln"])
Factor = tuple[Set[str], Set[str]]  # variables, and those on which their distribution depends
Law = tuple[str, list[Factor]]  # the condition that holds in it, and its factors


def _laws(letters: Sequence[str], densities: Sequence[_Call]) -> Iterator[Law]:
    """Yield joint distributions, each with the condition that holds in it.

    The general one comes first. That all are independent is hardly the condition of a statement
    about densities of many variables some of which are given.
    """
    every = set(letters)
    yield "", [(every, set())]
    if found := _inputs(every, densities):
        yield found
    if len(letters) == 2 or (letters[1:] and not any(call.sides[1] for call in densities)):
        yield f"{', '.join(letters)} are independent", [({one}, set()) for one in letters]


def _inputs(every: Set[str], densities: Sequence[_Call]) -> Law | None:
    """Return the distribution in which densities do not depend on the variables they leave out.

    Some variables are given and never drawn, such as the inputs X of a regression, and some
    densities leave one of them out, as a prior of the weights w does: w is independent of X.
    """
    given = set(every).difference(*(call.sides[0] for call in densities))
    short = [call.sides for call in densities if given - call.sides[1]]
    left = {frozenset(given - behind) for _, behind in short}
    if not given or len(left) != 1 or any(behind - given for _, behind in short):
        return None
    (without,) = left
    drawn = set().union(*(of for of, _ in short))
    kept = given - without
    verb = "is" if len(drawn) == 1 else "are"
    said = f"{_listed(drawn)} {verb} independent of {_listed(without)}"
    said += f" given {_listed(kept)}" if kept else ""
    return said, [(given, set()), (drawn, kept), (set(every) - given - drawn, given | drawn)]


def _listed(letters: Set[str]) -> str:
    return ", ".join(sorted(letters))


def _name(row: Row, i: int) -> str:
    subscripted = i + 2 < len(row) and row[i + 1].text == "_"
    inside = "".join(one.text for one in row[i + 3 : closing(row, i + 2)]) if subscripted else ""
    return row[i].text + (f"_{inside}" if inside else "")


@dataclass(frozen=True)
class _Space:
    """A finite space: the chance of each point, with one axis for each letter."""

    letters: Sequence[str]
    chance: Chance
    values: dict[str, float] = field(default_factory=dict)

    @classmethod
    def drawn(cls, letters: Sequence[str], factors: Iterable[Factor], values: int) -> _Space:
        """One whose chance is the product of a chance for each of the `factors`."""
        rng = np.random.default_rng(7)
        chance = np.ones([values] * len(letters))
        for of, given in factors:
            sizes = [values if one in of | given else 1 for one in letters]
            weights = rng.gamma(2.0, size=sizes)
            axes = tuple(i for i, one in enumerate(letters) if one in of)
            chance = chance * (weights / weights.sum(axis=axes, keepdims=True))
        return cls(letters, chance)

    def of(self, call: _Call) -> float:
        """The number that a call is."""
        if call.head == "p":
            of, given = call.sides
            return self._at(of | given) / self._at(given)
        return {"P": self._probability, "H": self._entropy, "I": self._information}[call.head](
            call.inside
        )

    def _at(self, names: Set[str]) -> float:
        """The chance that these letters have their first values."""
        return float(
            self.chance[tuple(0 if one in names else slice(None) for one in self.letters)].sum()
        )

    # Entropies

    def _together(self, names: Set[str]) -> float:
        away = tuple(i for i, one in enumerate(self.letters) if one not in names)
        chance = self.chance.sum(axis=away)
        return float(-np.sum(chance * np.log(chance)))

    def _entropy(self, row: Row) -> float:
        of, *given = _split(row, _BARS)
        if len(given) > 1 or any(one.text not in (",",) for one in row if _is_mark(one)):
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
        for at in product(*(range(size) for size in self.chance.shape)):
            yield {one: bool(i) for one, i in zip(self.letters, at, strict=True)}, self.chance[at]

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


def _is_mark(token: Token) -> bool:
    return token.text in _MARKS and token.text not in ("{", "}", "_", *_BARS)


def _split(row: Row, marks: Set[str]) -> list[Row]:
    return list(split(row, marks, _outside)[0])


def _written(row: Row, calls: Sequence[_Call], space: _Space) -> tuple[str, dict[str, Kind]]:
    """Return LaTeX with a letter for each number that calls have, and the letters' values."""
    rest: list[str] = []
    used = {one.text for one in row}
    fresh = (one for one in "abcdfghklmopqrstuvwxyz" if one not in used)
    letters: dict[str, str] = {}
    known: dict[str, Kind] = {}
    at = 0
    for call in calls:
        rest += [one.text for one in row[at : call.start]]
        said = f"{call.head}({' '.join(one.text for one in call.inside)})"
        if said not in letters:
            letters[said] = next(fresh, "")
            if not letters[said]:
                raise _Unread
            known[letters[said]] = kinds.told(space.of(call))
        rest.append(letters[said])
        at = call.end
    return " ".join([*rest, *(one.text for one in row[at:])]), known
