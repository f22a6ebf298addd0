"""The numbers of the equations of a paper, counted as LaTeX's counters count them.

Nothing is typeset: classes, environments and commands are followed where it is known how they
count. Where a paper uses others, no equation gets a number, and it is said why; a number that an
author has written (``\\tag``, ``\\eqno``) is printed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase

from .commands import Command
from .displays import ROWS_WITH_NUMBERS, Display, rows_of

_OWN_APPENDIX = frozenset(
    ["IEEEtran", "revtex4", "revtex4-1", "revtex4-2", "elsarticle", "acmart", "llncs"]
)
_PLAIN = _OWN_APPENDIX | {
    "article", "extarticle", "scrartcl", "amsart", "beamer", "standalone", "minimal",
}  # fmt: skip
_BY_CHAPTER = frozenset(["report", "book", "extreport", "extbook", "scrreprt", "scrbook", "memoir"])
_LEVELS = ("chapter", "section", "subsection", "subsubsection")
_CLASS = re.compile(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{\s*([^{}]*?)\s*\}")
_WITHIN = re.compile(
    r"\\(?:numberwithin|counterwithin)\s*\{equation\}\s*\{(\w+)\}|\\@addtoreset\s*\{equation\}\s*\{(\w+)\}"
)
_UNKNOWN = {
    "the package autonum": re.compile(r"\\usepackage\s*(?:\[[^\]]*\])?\s*\{[^{}]*\bautonum\b"),
    "showonlyrefs": re.compile(r"\bshowonlyrefs\b(?!\s*=\s*false)"),
    "theorems counted with the equations": re.compile(
        r"\\newtheorem\s*\{\w+\*?\}\s*\[equation\]|\\declaretheorem[^\n]*=\s*equation\b"
    ),
    "environments that are not followed": re.compile(
        r"\\begin\s*\{(?:IEEEeqnarray|empheq|numcases|subnumcases|dgroup|darray|tcboxmath)\}"
    ),
    "a counter that is computed": re.compile(
        r"\\(?:setcounter|addtocounter)\s*\{equation\}\s*\{(?!\s*-?\d+\s*\})"
    ),
}
_EVENT = re.compile(
    r"\\(?P<level>chapter|section|subsection|subsubsection)\s*(?=[\[{])"
    r"|\\(?P<appendix>appendix)(?![A-Za-z])|\\(?P<begin>begin|end)\s*\{subequations\}"
    r"|\\(?P<set>set|addto)counter\s*\{(?P<counter>\w+)\}\s*\{\s*(?P<to>-?\d+)\s*\}"
    r"|\\(?:ref)?step(?P<step>counter)\s*\{equation\}"
)
_HAND = re.compile(r"\\(?:tag\*?(?![A-Za-z])|l?eqno(?![A-Za-z]))")
_WRITTEN = re.compile(r"\s*(?:\{\s*\$?([^{}$]*)\$?\s*\}|\(([^()$\\{}]*)\))")
_NO_NUMBER = r"\\(?:nonumber|notag)(?![A-Za-z])"
_NUMBERED = ROWS_WITH_NUMBERS | {"equation", "multline", "dmath"}
_ARABIC = r"\{?\\(?:the|arabic\{?)(?P<level>\w+?)\}?\}?\s*[.-]\s*\{?\\arabic\s*\{equation\}\}?"


@dataclass(frozen=True)
class Scheme:
    """The count of a paper: all equations through, or `within` a level; or `why` that is unknown.

    `chapters` says whether the class has them, which then stand before the number of a section. A
    text without a class is a part of a paper, which counts nothing.
    """

    within: str = ""
    chapters: bool = False
    counts: bool = True
    why: str = ""


def _unknown(why: str = "") -> Scheme:
    return Scheme(counts=False, why=why)


def scheme_of(text: str, defined: Sequence[Command]) -> Scheme:
    """Read the numbering from the class, its packages and the commands of a paper."""
    told = _CLASS.search(text)
    kind = told[1] if told else ""
    if kind not in _PLAIN | _BY_CHAPTER:
        return _unknown(f"the class {kind} is not known" if kind else "")
    if kind in _OWN_APPENDIX and re.search(r"\\appendix(?![A-Za-z])", text):
        return _unknown(f"an appendix in the class {kind}")
    for said, form in _UNKNOWN.items():
        if form.search(text):
            return _unknown(said)
    levels = [level for found in _WITHIN.finditer(text) for level in found.groups() if level]
    own = [one.macro for one in defined if one.name == "theequation"]
    prefix = [re.fullmatch(_ARABIC, str(macro).strip()) for macro in own]
    if not all(found and found["level"] in levels for found in prefix):
        return _unknown("its own \\theequation")
    first = "chapter" if kind in _BY_CHAPTER else ""
    within = levels[-1] if levels else first
    if within and (within not in _LEVELS or any(one.name == f"the{within}" for one in defined)):
        return _unknown(f"its own numbers of {within}s")
    return Scheme(within, kind in _BY_CHAPTER)


@dataclass
class _Counters:
    """The counters on the way through a paper."""

    scheme: Scheme
    values: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_LEVELS, 0))
    equation: int = 0
    part: int | None = None  # of a group of subequations
    appendix: bool = False

    def meet(self, event: re.Match[str]) -> None:
        """A heading, an appendix, a group, or a counter that is set."""
        if event["level"]:
            self._head(event["level"])
        elif event["appendix"]:
            self.appendix = True
            self.values = dict.fromkeys(_LEVELS, 0)
            self.equation = self.equation if not self.scheme.within else 0
        elif event["begin"]:
            self.equation += event["begin"] == "begin"
            self.part = 0 if event["begin"] == "begin" else None
        elif event["set"]:
            self._set(event["counter"], int(event["to"]), event["set"] == "addto")
        else:
            self.next()

    def _head(self, level: str) -> None:
        self.values[level] += 1
        below = _LEVELS[_LEVELS.index(level) + 1 :]
        self.values |= dict.fromkeys(below, 0)
        if self.scheme.within in (level, *below):
            self.equation = 0

    def _set(self, counter: str, to: int, add: bool) -> None:
        if counter == "equation":
            self.equation = to + add * self.equation
        elif counter in self.values:
            self.values[counter] = to + add * self.values[counter]

    def next(self) -> str:
        """The number of one more equation."""
        if self.part is None:
            self.equation += 1
            return self._before() + str(self.equation)
        self.part += 1
        return self._before() + str(self.equation) + _letter(self.part, ascii_lowercase)

    def _before(self) -> str:
        within = self.scheme.within
        first = "chapter" if self.scheme.chapters else "section"
        if not within or (within == "chapter" and not (self.values[within] or self.appendix)):
            return ""
        levels = _LEVELS[_LEVELS.index(first) : _LEVELS.index(within) + 1]
        numbers = [str(self.values[level]) for level in levels]
        if self.appendix:
            numbers[0] = _letter(self.values[levels[0]], ascii_uppercase)
        return ".".join(numbers) + "."


def _letter(number: int, letters: str) -> str:
    return letters[number - 1] if 0 < number <= len(letters) else str(number)


@dataclass(frozen=True)
class Numbered:
    """A stretch of the text and its number."""

    start: int
    end: int
    number: str


def numbered(
    text: str, displays: Sequence[Display], defined: Sequence[Command], scheme: Scheme
) -> Iterator[Numbered]:
    """The rows of displays that have a number; where the scheme is unknown, those by hand."""
    counters = _Counters(scheme)
    silent = _silent(defined)
    events = list(_EVENT.finditer(text))
    for display in displays:
        while events and events[0].start() < display.start:
            counters.meet(events.pop(0))
        for start, end in rows_of(text, display):
            row = text[start:end]
            if hand := _HAND.search(row):
                if written := _WRITTEN.match(row, hand.end()):
                    yield Numbered(start, end, (written[1] or written[2] or "").strip())
            elif display.numbered and display.opens in _NUMBERED and not silent.search(row):
                number = counters.next()
                if scheme.counts:
                    yield Numbered(start, end, number)


def _silent(defined: Sequence[Command]) -> re.Pattern[str]:
    """Return the pattern that takes the number of a row away, commands of the paper included."""
    own = [one.name for one in defined if re.search(_NO_NUMBER, str(one.macro))]
    return re.compile("|".join([_NO_NUMBER, *(rf"\\{re.escape(n)}(?![A-Za-z])" for n in own)]))


def number_of(start: int, end: int, every: Sequence[Numbered]) -> str:
    """The number of an equation, or the first and the last of its numbers.

    >>> number_of(2, 9, [Numbered(0, 4, "1"), Numbered(5, 9, "2"), Numbered(10, 12, "3")])
    '1–2'
    """
    own = [one.number for one in every if one.start < end and start < one.end]
    return "–".join(dict.fromkeys([own[0], own[-1]])) if own else ""
