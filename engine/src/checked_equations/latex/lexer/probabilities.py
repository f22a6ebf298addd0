"""``\\Pr(x > a)`` is read as the mean of a number that is one where the event happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import vocabulary as v
from ..names import DISTRIBUTIONS
from ..tokenizer import Token, split
from .brackets import matching
from .stream import Stream

_BAR = ("|",)


def settle_probabilities(s: Stream) -> None:
    """Write ``\\Pr_x(x > a, y < b \\mid c)`` as the mean of its indicators, given the same.

    A ``\\Pr`` that is bound keeps its name, and so does one where nothing that is drawn is bound.
    """
    if s.free and not any(kind in DISTRIBUTIONS for kind in s.names.kinds.values()):
        return
    for i in range(len(s.tokens) - 1, -1, -1):
        if s.at(i) != "\\Pr" or s.names.match(s.tokens, i):
            continue
        opened = s.behind_script(i + 1, "_")
        if s.at(opened) not in v.OPEN:
            continue
        shut = matching(s, opened)
        events, given = _parted(s.tokens[opened + 1 : shut])
        if not events or not all(map(_is_event, events)):
            continue
        sign = _spelled("\\mathbb E", s.tokens[i])
        inside = [token for event in events for token in _indicator(event)]
        row = [s.tokens[opened]._replace(text="["), *inside, *given]
        s.tokens[opened : shut + 1] = [*row, s.tokens[shut]._replace(text="]")]
        s.tokens[i : i + 1] = sign


def _parted(inside: Sequence[Token]) -> tuple[list[list[Token]], Sequence[Token]]:
    """Return the events between commas, and the bar with the part behind it."""
    _, bars = split(inside, _BAR)
    middle = [bar for bar in bars if bar.side == "middle"] or (bars if len(bars) == 1 else [])
    given = inside[inside.index(middle[0]) :] if middle else []
    return split(inside[: len(inside) - len(given)], (",",))[0], given


def _is_event(event: Sequence[Token]) -> bool:
    """Return whether it is one relation between two sides, as an indicator has it."""
    sides, signs = split(event, v.RELATIONS)
    return len(signs) == 1 and all(sides)


def _indicator(event: Sequence[Token]) -> Iterator[Token]:
    first, last = event[0], event[-1]
    yield from _spelled("\\mathbb 1", first._replace(end=first.start))
    yield first._replace(text="[", end=first.start, side="")
    yield from event
    yield last._replace(text="]", start=last.end, side="")


def _spelled(word: str, token: Token) -> list[Token]:
    """A letter in its font as canonical tokens, all at the place of one."""
    font, letter = word.split()
    return [token._replace(text=text) for text in (font, "{", letter, "}")]
