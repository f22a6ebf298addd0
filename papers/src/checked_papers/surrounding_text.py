"""Definitions and conditions in the text around a display: ``where $K_y = K + \\sigma^2 I$``.

Only the text between the display before and the display behind counts, and only behind a word that
announces a definition. That of a function, ``f(x) = x^2``, may stand anywhere before, in a display
too. A definition may let an equation be tried that was not, and never accuses one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .defined_functions import defined
from .laws import Law, is_density
from .sources.paper import Paper, PaperEquation
from .tried.token_patterns import ORDERS, pieces_of, texts

_DEFINES = re.compile(
    r"\b(?:where|let|with|defin\w+|denot\w+|set|put|writ\w+|introduc\w+|here|and|recall)\b[\w\s,]{0,25}\$?$",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:for|where|when|if|with|whenever|provided|assum\w+|suppos\w+|and)\b[\w\s,]{0,25}\$?$",
    re.IGNORECASE,
)
_ORDERS = ORDERS | {"\\in"}
_SENTENCE = re.compile(r"\.(?:\s|$)|\n\s*\n|\\(?:begin|end|item|section|subsection|paragraph)\b")
_FAR = 60  # characters in which the word stands


@dataclass(frozen=True)
class Around:
    """The definitions of symbols, and the conditions in the sentence of the display."""

    stands_for: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    law: Law | None = None
    own: Law | None = None  # the display itself, where it gives a density
    before: tuple[str, ...] = ()  # the displays before it in its section


def told_around(paper: Paper) -> Iterator[Around]:
    """Yield the statements of the text around each equation of `paper`, in their order."""
    inline = (one for one in paper.inline if _defines(paper, one))
    every = sorted([*paper.equations, *inline], key=lambda one: one.at)
    functions = [
        (one.at, found.name, one.latex.strip().rstrip(".,; "))
        for one in every
        if (found := defined(one.latex))
    ]
    return (_around(paper, place, functions) for place in range(len(paper.equations)))


def _around(paper: Paper, place: int, functions: Sequence[tuple[int, str, str]]) -> Around:
    """Return what the text says around an equation.

    The `functions` are all that it defines, by place: their names and definitions. The last
    definition of each counts.
    """
    own = paper.equations[place]
    before = [one for one in paper.equations[:place] if one.at < own.at]
    start = before[-1].at + len(before[-1].latex) if before else 0
    behind = [one.at for one in paper.equations[place + 1 :] if one.at > own.at]
    end = behind[0] if behind else own.at + len(own.latex) + 2000
    near = [one for one in paper.inline if start <= one.at < end]
    sentence = _sentence(paper, own, end)
    return Around(
        tuple(one.latex for one in near if _defines(paper, one)),
        tuple(one.latex for one in near if own.at < one.at < sentence and _states(paper, one)),
        tuple({name: said for at, name, said in functions if own.at != at < end}.values()),
        _law_before(paper, before),
        _law_of(paper, own, before, end) if is_density(own.latex) else None,
        _displays_before(paper, own, before),
    )


_SHOWN = 14  # displays whose symbols have the same meaning
_HEADING = re.compile(r"^\s*(?:#|\\(?:sub)*section|\\chapter|\\paragraph)|^(?:=|-|~){4,}\s*$", re.M)


def _displays_before(
    paper: Paper, own: PaperEquation, before: Sequence[PaperEquation]
) -> tuple[str, ...]:
    """Return the last displays before one in its section."""
    found: list[str] = []
    end = own.at
    for one in reversed(before[-_SHOWN:]):
        if _HEADING.search(paper.text(one.at + len(one.latex), end)):
            break
        found.append(one.latex)
        end = one.at
    return tuple(reversed(found))


_OF_LAWS = re.compile(r"densit|distribut|\bpdf|probabilit|mass function|kernel", re.IGNORECASE)
_AROUND, _BEHIND = 1500, 400  # characters in which the values of a variable are printed


def _law_before(paper: Paper, before: Sequence[PaperEquation]) -> Law | None:
    """Return the law whose density was printed last, with all that was printed of it since."""
    at = next((i for i in range(len(before) - 1, -1, -1) if is_density(before[i].latex)), -1)
    if at < 0:
        return None
    end = before[at + 1].at if at + 1 < len(before) else before[at].at + _AROUND
    law = _law_of(paper, before[at], before[:at], end)
    return law and replace(law, others=tuple(one.latex for one in before[at + 1 :][:_PIECES]))


_PIECES = 20  # displays behind a density that may be of it


def _law_of(
    paper: Paper, own: PaperEquation, before: Sequence[PaperEquation], end: int
) -> Law | None:
    """Return the law that a display gives by its density, if the text speaks of laws."""
    begin = max(own.at - _AROUND, before[-1].at if before else 0)
    shut = min(end, own.at + len(own.latex) + _BEHIND)
    said = paper.text(own.at - _AROUND, own.at + len(own.latex) + _BEHIND)
    if not _OF_LAWS.search(said):
        return None
    near = [one.latex for one in paper.inline if begin <= one.at < shut]
    return Law(own.latex, (), tuple(near))


def _sentence(paper: Paper, own: PaperEquation, end: int) -> int:
    """Where the sentence ends that the display stands in."""
    at = own.at + len(own.latex)
    if own.latex.rstrip().endswith("."):
        return at
    closing = re.match(r"\s*(?:\\\]|\$\$|\\end\s*\{[^}]*\}\s*)+", paper.text(at, end))
    at += closing.end() if closing else 0
    stop = _SENTENCE.search(paper.text(at, end))
    return at + stop.start() if stop else end


def _defines(paper: Paper, one: PaperEquation) -> bool:
    said = _DEFINES.search(paper.text(one.at - _FAR, one.at))
    return said is not None and _is_equality(one.latex)


def _is_equality(latex: str) -> bool:
    relations = [token for token in pieces_of(latex) if token.text in ("=", ":=", "<", ">")]
    return len(relations) == 1 and relations[0].text in ("=", ":=") and relations[0].start > 0


def _states(paper: Paper, one: PaperEquation) -> bool:
    said = _STATES.search(paper.text(one.at - _FAR, one.at))
    return said is not None and not _ORDERS.isdisjoint(texts(pieces_of(one.latex)))
