"""Equations that go on from those before: ``P = (a + b)^2``, and below ``P = a^2 + 2 a b + b^2``.

Two values of one thing are equal, a term moves to the other side, and a value that was found
solves the equation that it was found from. So what a display claims by itself of symbols that only
the text knows, it claims together with the displays before it of all numbers. Only a success is
reported: a letter may have another meaning by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from math import isclose

from checked_equations.latex.names import joined
from checked_equations.latex.tokenizer import word_set

from .statements import EQUAL, Statement, stated_in
from .substitution import substituted
from .tried.token_patterns import (
    Found,
    Pattern,
    behind_script,
    behind_symbol,
    exchanged,
    is_letter,
    occurrences,
    row_of,
    texts,
)

_FACTORS = {"": 1.0, "-": -1.0, "2": 2.0, "-2": -2.0, r"\frac{1}{2}": 0.5, r"-\frac{1}{2}": -0.5}
_NEAR = 6  # displays that one may go on from; definitions may stand farther above
_LAYOUT = frozenset("&{}.,;")


@dataclass(frozen=True)
class Followed:
    """A claim of a display together with one before it, and how it follows in words."""

    latex: str
    said: str
    meant: str  # the claim with the definitions before it
    factor: float = 1.0  # of the display before it, which is rearranged

    def fits(self, residual: float | None) -> bool:
        """Return whether it may hold, where the same claim without its factor has a residual."""
        off = abs(1.0 - self.factor) / max(1.0, abs(self.factor))
        return not off or (residual is not None and isclose(residual, off, rel_tol=1e-4))


def followed_from(latex: str, before: Sequence[str]) -> Iterator[Followed]:
    """Yield the claims that follow from a display and those `before` it, which are in their order.

    >>> [one.latex for one in followed_from("P = a b + a c", ["P = a (b + c)"])]
    ['a (b + c) = a b + a c']
    >>> next(followed_from("x = a / 2", ["2 x = a"])).said
    'it solves 2 x = a, which stands before it'
    """
    own = _single(latex)
    if own is None:
        return
    earlier = [one for one in map(_single, reversed(before)) if one]
    meanings = [one for one in earlier if one.defines and not _same(one.sides[0], own.sides[0])]
    meant = [f"{one.sides[0]} = {one.sides[-1]}" for one in meanings]
    put, used = _with_meanings(latex, meant)
    if put != latex and says_something(put):
        yield Followed(put, f"with {', '.join(used)}, as stands before it", put)
    for one in earlier[:_NEAR]:
        said = f"{one.latex.strip(' .,;&')}, which stands before it"
        for claim, how, factor in _claims(own, one, nearest=one is earlier[0]):
            if says_something(claim):
                full = claim if how == "it rearranges" else _with_meanings(claim, meant)[0]
                yield Followed(claim, f"{how} {said}", full, factor)


def _with_meanings(claim: str, meant: Sequence[str]) -> tuple[str, list[str]]:
    """Return a claim with the meanings of symbols that stand on one side of it, and those put."""
    put: dict[str, str] = {}
    for definition in meant:
        name, _, said = definition.partition("=")
        sides = own.sides if (own := _single(claim)) else ()
        on = [bool(occurrences(row_of(side), name)) for side in sides]
        again = any(occurrences(row_of(said), one) for one in put)
        if any(on) and not all(on) and not again and name not in put:
            claim = substituted(claim, [definition])
            put[name] = definition
    return claim, [*put.values()]


def _single(latex: str) -> Statement | None:
    """Return the equality that a display is; nothing where it is more, or another relation."""
    found = stated_in(latex)
    alone = len(found) == 1 and not found[0].depends
    return found[0] if alone and all(sign in EQUAL for sign in found[0].signs) else None


def _claims(own: Statement, one: Statement, *, nearest: bool) -> Iterator[tuple[str, str, float]]:
    inside = occurrences(row_of(one.sides[-1]), own.sides[0]) if own.defines else []
    if (nearest and not own.sides[0]) or (_same(own.sides[0], one.sides[0]) and not inside):
        rest = own.part(1, len(own.sides))
        yield f"{one.sides[-1]} {own.signs[0]} {rest}{own.tail}", "it goes on from", 1.0
    elif own.defines and occurrences(row_of(one.latex), own.sides[0]):
        yield substituted(one.latex, [own.part(0, 2)]), "it solves", 1.0
    elif len(own.signs) == 1 == len(one.signs) and _symbols(own.latex) == _symbols(one.latex):
        for latex, factor in _FACTORS.items():
            claim = f"{_moved(own)} = {latex} \\left({_moved(one)}\\right)"
            yield claim, "it rearranges", factor


def _moved(one: Statement) -> str:
    return rf"{one.sides[0]} - \left({one.sides[1]}\right)"


def _symbols(latex: str) -> set[str]:
    """Return the commands and symbols of a display, with their indices, and no ``\\mathbf 0``."""
    row, found, i = row_of(latex), set[str](), 0
    while i < len(row):
        bare = behind_symbol(row, i)
        end = behind_script(row, bare, "_")
        if bare > i and not any(text.isdigit() for text in texts(row[i:bare])):
            found.add("".join(texts(row[i:end])))
        i = max(end, i + 1)
    return found


def _same(one: str, other: str) -> bool:
    return _bare(one) == _bare(other) != []


def _bare(latex: str) -> list[str]:
    return [text for text in texts(row_of(latex)) if text not in _LAYOUT]


def says_something(latex: str) -> bool:
    """Return whether the sides of a claim differ in more than layout and brackets around them."""
    own = _single(latex)
    sides = [_bare(side) for side in own.sides] if own else []
    inner = [side[1:-1] if side[:1] == ["("] and side[-1:] == [")"] else side for side in sides]
    return all(inner.count(side) == 1 for side in inner)


def have_nothing_in_common(latex: str) -> bool:
    """Return whether both sides of an equality have letters, and none of the other's.

    Such an equality cannot hold for all numbers: one side can vary while the other stays fixed.

    >>> have_nothing_in_common(r"\\frac{a}{2} = \\frac{b}{c}"), have_nothing_in_common("a = b + a")
    (True, False)
    """
    own, related = _single(latex), _BINDERS | _BARS
    if own is None or len(own.sides) != 2 or not related.isdisjoint(texts(row_of(latex))):
        return False
    left, right = (_symbols(side) - _NO_LETTERS for side in own.sides)
    lettered = all(any(is_letter(one[0]) or "{" in one for one in side) for side in (left, right))
    return lettered and left.isdisjoint(right)


_NO_LETTERS = word_set(r"\frac \sqrt \left \right \cdot \quad \sin \cos \top \pi e i j")
_BINDERS = word_set(r"\int \iint \sum \prod \lim \partial \nabla \max \min d")
_BARS = word_set(r"\bar \overline")  # which relate two letters: to a conjugate, to a mean
_NO_NAMES = word_set(r"\log \ln \exp \sin \cos \tan \det \sqrt \frac \mathrm e i")
_CALLED = Pattern("<atom:name> ?_ ?<group:below> <round:of>")
_RATE = Pattern("\\frac { d <atom:of> } { d t }")


def with_values(latex: str, before: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Replace each rate, and each function that has one argument throughout, by a symbol.

    What holds of all numbers holds of these values. Displays that sum, integrate or differentiate,
    or that call a function with another argument, are left out; nothing if this is the display.

    >>> with_values("x(t) = -K u(t)", ["u(t) = a", "u(s) = b"])
    ('x  = -K u ', ('u  = a',))
    """
    every, counts = zip(*map(_with_rates, (latex, *before)), strict=True)
    called: dict[str, str] = {}
    names = {name for own in counts for name in own}
    bare = {
        name
        for name in names
        for one, own in zip(every, counts, strict=True)
        if len(occurrences(row_of(one), name)) != own[name]
    }
    put = [_put(one, called, bare) for one in (every[0], *reversed(every[1:]))]
    if put[0] is None or (put[0] == latex and put[1:] == [*reversed(before)]):
        return None
    return put[0], tuple(one for one in reversed(put[1:]) if one is not None)


@lru_cache(maxsize=256)
def _with_rates(latex: str) -> tuple[str, Counter[str]]:
    """Return a display with each rate as a symbol, and how often a name is called in it."""
    put = _RATE.put(latex, lambda rate: rf"\dot{{{rate['of']}}}")
    return put, Counter(name for name, _ in _calls(put))


@lru_cache(maxsize=256)
def _calls(latex: str) -> tuple[tuple[str, Found], ...]:
    """Return all calls with the names of their functions, those within others as well."""
    row = row_of(latex)
    starts = (i for i, token in enumerate(row) if token.text not in _NO_NAMES)
    every = filter(None, (_CALLED.at(latex, row, i) for i in starts))
    return tuple((joined(row[one.start : one.parts["of"][0] - 1]), one) for one in every)


def _outer_calls(latex: str, products: Set[str]) -> Iterator[tuple[str, Found]]:
    """Yield the calls of functions, which `products` are not, that stand within no other."""
    end = 0
    for name, found in _calls(latex):
        if found.start >= end and name not in products:
            end = found.end
            yield name, found


def _put(latex: str, called: dict[str, str], products: Set[str]) -> str | None:
    if not _BINDERS.isdisjoint(texts(row_of(latex))):
        return None
    edits = []
    for name, found in _outer_calls(latex, products):
        said = joined(found.row[slice(*found.parts["of"])])
        if called.setdefault(name, said) != said or found.span is None:
            return None
        edits.append((found.span, f"{name} "))
    return exchanged(latex, edits)
