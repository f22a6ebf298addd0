"""Equations that go on from those before: ``P = (a + b)^2``, and below ``P = a^2 + 2 a b + b^2``.

Two values of one thing are equal, a term moves to the other side, and a value that was found
solves the equation that it was found from. So what a display claims by itself of symbols that only
the text knows, it claims together with the displays before it of all numbers. Only a success is
reported: a letter may have another meaning by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .statements import EQUAL, Statement, stated_in
from .substitution import substituted
from .tried.token_patterns import is_symbol, occurrences, row_of, texts

_FACTORS = ("", "-", "2", "-2", r"\frac{1}{2}", r"-\frac{1}{2}")
_LAYOUT = frozenset("&{}.,;")


@dataclass(frozen=True)
class Followed:
    """A claim of a display together with one before it, and how it follows in words.

    `meant` is the claim with the definitions before it.
    """

    latex: str
    said: str
    meant: str


def followed_from(latex: str, before: Sequence[str]) -> Iterator[Followed]:
    """Yield what a display claims together with those `before` it, the nearest of which comes last.

    >>> [one.latex for one in followed_from("P = a b + a c", ["P = a (b + c)"])]
    ['a (b + c) = a b + a c']
    >>> next(followed_from("x = a / 2", ["2 x = a"])).said
    'it solves 2 x = a, which stands before it'
    """
    own = _single(latex)
    if own is None:
        return
    earlier = [one for one in map(_single, reversed(before)) if one]
    meant = [f"{one.sides[0]} = {one.sides[-1]}" for one in reversed(earlier) if one.defines]
    put = substituted(latex, [one for one in meant if not _is_of(own, one)])
    if put != latex and _says_something(put):
        yield Followed(put, "by what stands before it", put)
    for one in earlier:
        said = f"{one.latex.strip(' .,;&')}, which stands before it"
        for claim, how in _claims(own, one, nearest=one is earlier[0]):
            if _says_something(claim):
                full = claim if how == "it rearranges" else substituted(claim, meant)
                yield Followed(claim, f"{how} {said}", full)


def _single(latex: str) -> Statement | None:
    """Return the equality that a display is; nothing where it is more, or another relation."""
    found = stated_in(latex)
    alone = len(found) == 1 and not found[0].depends
    return found[0] if alone and all(sign in EQUAL for sign in found[0].signs) else None


def _claims(own: Statement, one: Statement, *, nearest: bool) -> Iterator[tuple[str, str]]:
    goes_on = nearest and not own.sides[0]
    if goes_on or _same(own.sides[0], one.sides[0]):
        rest = own.part(1, len(own.sides))
        yield f"{one.sides[-1]} {own.signs[0]} {rest}{own.tail}", "it goes on from"
    elif own.defines and occurrences(row_of(one.latex), own.sides[0]):
        yield substituted(one.latex, [own.part(0, 2)]), "it solves"
    elif len(own.signs) == 1 == len(one.signs) and _symbols(own.latex) == _symbols(one.latex):
        for factor in _FACTORS:
            yield f"{_moved(own)} = {factor} \\left({_moved(one)}\\right)", "it rearranges"


def _moved(one: Statement) -> str:
    return rf"{one.sides[0]} - \left({one.sides[1]}\right)"


def _symbols(latex: str) -> set[str]:
    return {text for text in texts(row_of(latex)) if is_symbol(text)}


def _is_of(own: Statement, definition: str) -> bool:
    return _same(own.sides[0], definition.partition("=")[0])


def _same(one: str, other: str) -> bool:
    return _bare(one) == _bare(other) != []


def _bare(latex: str) -> list[str]:
    return [text for text in texts(row_of(latex)) if text not in _LAYOUT]


def _says_something(latex: str) -> bool:
    """Return whether the sides of a claim differ in more than layout and brackets around them."""
    own = _single(latex)
    sides = [_bare(side) for side in own.sides] if own else []
    inner = [side[1:-1] if side[:1] == ["("] and side[-1:] == [")"] else side for side in sides]
    return all(inner.count(side) == 1 for side in inner)
