"""A paper in LaTeX: its equations with their places, the commands they use, and the text around."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checked_equations.latex.macros import Macros

from .commands import Command, Macro, commands_of
from .displays import Printed, displays_of, equations
from .equation_numbers import Numbered, number_of, numbered, scheme_of
from .joined_text import Comment, Joined, Part, Place, blank, spliced
from .package_commands import USED, packages_of
from .paper_files import read_paper

# What TeX and its packages bring, and this engine spells otherwise.
KNOWN: Mapping[str, str | list[str | int]] = {
    "ensuremath": ["#1", 1], "xspace": "", "mathds": ["\\mathbb{#1}", 1],
    "mathbbm": ["\\mathbb{#1}", 1], "bold": ["\\mathbf{#1}", 1],
}  # fmt: skip


_DEEPEST = 4  # a command that opens a display by a command that opens one
_COMMAND = re.compile(r"\\[A-Za-z]+")
_OPENING = re.compile(r"\\(?:begin|end)\s*\{|\\[\[\]]|\$\$")


@dataclass(frozen=True)
class PaperEquation:
    """An equation as it is printed.

    `at` is where it begins in the text of the paper, `macros` are the commands that hold there;
    `number` is its printed number, if that is known.
    """

    latex: str
    at: int
    macros: Macros
    label: str = ""
    tag: str = ""
    fault: str = ""
    number: str = ""


@dataclass(frozen=True)
class Paper:
    """All that is read of a paper; `inline` are the formulas in its sentences.

    `uncounted` says why the numbers of its equations are not known.
    """

    joined: Joined
    equations: tuple[PaperEquation, ...]
    inline: tuple[PaperEquation, ...]
    uncounted: str = ""

    @property
    def comments(self) -> tuple[Comment, ...]:
        """The comments behind the signs ``%``."""
        return self.joined.comments

    @property
    def lacks(self) -> tuple[Comment, ...]:
        """The files that it takes in and that are not there."""
        return self.joined.lacks

    def place(self, at: int) -> Place:
        """The file, the line and the column of a character."""
        return self.joined.place(at)

    def text(self, start: int, end: int) -> str:
        """A stretch of the text."""
        return self.joined.text[max(start, 0) : end]


def read(path: Path) -> Paper:
    """The paper at `path`, with the files that it takes in."""
    return paper_of(read_paper(path))


def paper_of(joined: Joined) -> Paper:
    """The equations of a text."""
    joined, defined = _opened(joined)
    text = blank(joined.text, [(one.start, one.end) for one in defined])
    text = blank(text, _signs_of_pairs(text, defined))
    begin = text.find("\\begin{document}")
    known = _Macros(defined, packages_of(joined.text))
    shown: list[PaperEquation] = []
    inline: list[PaperEquation] = []
    found = list(displays_of(text, max(begin, 0)))
    scheme = scheme_of(joined.text, defined)
    numbers = list(numbered(text, found, defined, scheme))
    for display in found:
        macros = known.at(display.start)
        if display.opens == "$":
            latex = text[display.start : display.end]
            inline.append(PaperEquation(latex, display.start, macros))
        elif display.fault:
            shown.append(PaperEquation("", display.start, macros, fault=display.fault))
        else:
            shown += (_of(one, macros, numbers) for one in equations(text, display))
    counted = any(one.numbered for one in found)
    return Paper(joined, tuple(shown), tuple(inline), scheme.why if counted else "")


def _of(printed: Printed, macros: Macros, numbers: Sequence[Numbered]) -> PaperEquation:
    start, latex = printed.start, printed.latex
    number = number_of(start, start + len(latex), numbers)
    return PaperEquation(latex, start, macros, printed.label, printed.tag, number=number)


class _Macros:
    """The commands that hold at a place: the last of each name that is defined before."""

    def __init__(self, defined: list[Command], packages: str) -> None:
        self.first = {**KNOWN, USED: packages} if packages else KNOWN
        self.starts = [one.start for one in defined]
        self.defined = defined
        self.known: dict[int, Macros] = {}

    def at(self, place: int) -> Macros:
        count = bisect_right(self.starts, place)
        if count not in self.known:
            table: dict[str, Macro] = dict(self.first)
            for one in self.defined[:count]:
                target = one.macro[1:] if one.alias and isinstance(one.macro, str) else ""
                table[one.name] = table.get(target, one.macro)
            self.known[count] = _without_circles(table)
        return self.known[count]


def _without_circles(table: dict[str, Macro]) -> Macros:
    """Without names that stand for each other: two letters that a paper exchanges stay two."""

    def circles(name: str) -> bool:
        met: list[str] = []
        while name not in met:
            met.append(name)
            text = table.get(name)
            if not isinstance(text, str) or not _COMMAND.fullmatch(text.strip()):
                return False
            name = text.strip()[1:]
        return True

    return {name: macro for name, macro in table.items() if not circles(name)}


def _signs_of_pairs(text: str, defined: list[Command]) -> list[tuple[int, int]]:
    """The stars and sizes behind pairs of delimiters: ``\\abs*{x}``, ``\\norm[\\big]{x}``."""
    names = "|".join(re.escape(one.name) for one in defined if one.pair)
    if not names:
        return []
    return [m.span(1) for m in re.finditer(rf"\\(?:{names})(\*|\s*\[[^\]]*\])", text)]


def _opened(joined: Joined) -> tuple[Joined, list[Command]]:
    """The text with the commands that open and close displays written out, and its commands."""
    for _ in range(_DEEPEST):
        defined = sorted(commands_of(joined.text), key=lambda one: one.start)
        opening = {
            f"\\{one.name}": one.macro
            for one in defined
            if isinstance(one.macro, str) and _OPENING.search(one.macro)
        }
        words = sorted(map(re.escape, opening), key=len, reverse=True)
        ends = (f"{one}(?![A-Za-z])" if one[-1].isalpha() else one for one in words)
        bare = blank(joined.text, [(one.start, one.end) for one in defined])
        found = list(re.finditer("|".join(ends), bare)) if words else []
        if not found:
            break
        joined = spliced(joined, [Part(*match.span(), opening[match[0]]) for match in found])
    return joined, defined
