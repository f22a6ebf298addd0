"""The displays of a text in LaTeX, and the equations that each of them prints.

Rows of `align` and its like are equations of their own unless they go on with the row above, and
columns are, too. Labels and numbers by hand, which are no mathematics, become spaces, so that the
LaTeX of an equation is a stretch of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .joined_text import blank

ROWS_WITH_NUMBERS = frozenset(["align", "alignat", "flalign", "gather", "eqnarray"])
ROWS = ROWS_WITH_NUMBERS | {"aligned", "alignedat", "gathered", "split"}
WHOLE = frozenset(["equation", "multline", "displaymath", "math", "dmath"])
# MathJax takes whole environments between dollars, too.
_INNER = r"aligned|alignedat|gathered|split|multlined|(?:align|alignat|flalign|gather|eqnarray)\*?"
_COLUMNS = frozenset(["align", "alignat", "flalign", "aligned", "alignedat"])
_OPENS = re.compile(
    r"\\begin\s*\{\s*(?P<name>[A-Za-z]+)\*?\s*\}|(?P<bracket>\\\[)|(?P<inline>\\\()"
    r"|(?P<dollars>\$\$)|(?P<dollar>\$)|\\.",
    re.DOTALL,
)
_COLUMN = re.compile(r">\s*\{\s*$")  # before a column of a table, which is no display
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{(\$?[^{}$]*\$?)\}")
_LAYOUT = re.compile(
    r"\\(?:nonumber|notag|displaybreak|allowdisplaybreaks|pagebreak|nopagebreak|noalign)(?![A-Za-z])"
    r"(?:\s*\[\d\])?|\\l?eqno(?![A-Za-z])[^$]*|\\(?:raise|lower)?tag\*?\s*\{[^{}]*\}"
    r"|\\qedhere(?![A-Za-z])|\\(?:index|ensuretag|phantomsection)\s*\{[^{}]*\}"
)
_INNER_WHOLE = re.compile(
    rf"\s*(?P<begin>\\begin\s*\{{(?P<name>{_INNER})\}}(?:\s*\[[tbc]\])?(?:\s*\{{\d+\}})?)"
    rf".*(?P<end>\\end\s*\{{(?P=name)\}})(?P<rest>[\s.,;]*)",
    re.DOTALL,
)
_BREAK = re.compile(
    r"(?P<break>\\\\\*?(?:\s*\[[^\]]*\])?|\\(?:cr|newline)(?![A-Za-z]))"
    r"|(?P<words>\\(?:short)?intertext\s*\{)|(?P<begin>\\begin\s*\{)|(?P<end>\\end\s*\{)"
    r"|(?P<and>&)|\\.|[{}]",
    re.DOTALL,
)
_RELATION = re.compile(
    r"[=<>]|\\(?:approx|le|ge|leq|geq|leqslant|geqslant|lt|gt|ne|neq|equiv|propto|sim|simeq"
    r"|coloneqq|eqqcolon|triangleq|succeq|preceq|succ|prec|to|in|cong|doteq|ll|gg|subset"
    r"|subseteq|mapsto|iff|implies|Rightarrow|Leftrightarrow)(?![A-Za-z])"
)
_SPACE = r"(?:[\s&{}~]|\\[,;:!> ]|\\(?:q?quad|mathrel|h?phantom\{[^{}]*\})(?![A-Za-z]))*"
_BLANK = re.compile(_SPACE)
_HEADING = re.compile(  # words between equations that are no condition: `Update step`
    _SPACE
    + r"\\(?:text|mbox)\s*\{(?!If|For|Wh|With|Assum|Suppos|Let|Since|Giv|Provid|Otherw|Unless)"
    + r"[A-Z][^{}$]*\}"
    + _SPACE
)
_GOES_ON = re.compile(
    _SPACE
    + r"(?:"
    + _RELATION.pattern
    + r"|[+\-,)\]*/|]|\\(?:times|cdot|pm|mp|wedge|right|Bigr|bigr"
    r"|biggr|left|bigl|Bigl|biggl|Biggl|text|mbox|dots|ldots|cdots|otimes|oplus|odot)(?![A-Za-z])|$)"
)


_OWN_SIDE = re.compile(
    r"\s*\\(?:left|[bB]igg?l|text|mbox)(?![A-Za-z])[^&]*&" + _SPACE + f"(?:{_RELATION.pattern})"
)


@dataclass(frozen=True)
class Display:
    """Displayed mathematics: its content lies from `start` to before `end`, behind its opening.

    `opens` is the environment, or ``[`` or ``$$``, which is `numbered` if it is one without a star;
    `fault` says why it could not be read. One with ``$`` is not displayed: it stands in a sentence.
    """

    opens: str
    start: int
    end: int
    fault: str = ""
    numbered: bool = False


class Printed(NamedTuple):
    """An equation of a display: the stretch that it takes, its LaTeX, its label and its number."""

    start: int
    latex: str
    label: str = ""
    tag: str = ""


def displays_of(text: str, start: int = 0) -> Iterator[Display]:
    """All mathematics in `text` behind `start`, in reading order, also that in sentences.

    >>> [(one.opens, text[one.start : one.end]) for text in [r"so $a$, \\[b\\]"]
    ...     for one in displays_of(text)]
    [('$', 'a'), ('[', 'b')]
    """
    at = start
    while match := _OPENS.search(text, at):
        at = match.end()
        name = match["name"]
        of_column = _COLUMN.search(text, max(match.start() - 8, 0), match.start())
        if name and (name not in ROWS | WHOLE or of_column):
            continue
        if not name and match.lastgroup is None:
            continue
        opens = (
            name
            or {"bracket": "[", "inline": "$", "dollars": "$$", "dollar": "$"}[str(match.lastgroup)]
        )
        end, behind = _closing(text, match, opens)
        if end < 0:
            if opens != "$":
                yield Display(opens, at, at, f"the display that `{match[0]}` opens is never closed")
            continue
        starts = _past_columns(text, at, opens)
        yield Display(opens, starts, end, numbered=bool(name) and "*" not in match[0])
        at = behind


def _closing(text: str, match: re.Match[str], opens: str) -> tuple[int, int]:
    """Where the display ends, and where the text goes on; minus one where it never ends."""
    if match["name"]:
        star = r"\*" if "*" in match[0] else ""
        ends = re.compile(rf"\\end\s*\{{\s*{opens}{star}\s*\}}")
    elif match["bracket"] or match["inline"]:
        ends = re.compile(r"(?<!\\)" + (r"\\\]" if match["bracket"] else r"\\\)"))
    else:
        ends = re.compile(r"(?<!\\)" + re.escape(match[0]))
    found = ends.search(text, match.end())
    if not found:
        return -1, -1
    inside = text[match.end() : found.start()]
    if opens == "$" and "\n\n" in inside:  # a dollar that is no mathematics
        return -1, -1
    return found.start(), found.end()


def _past_columns(text: str, at: int, opens: str) -> int:
    """Behind the number of columns of ``alignat``."""
    columns = re.compile(r"\s*\{\s*\d+\s*\}").match(text, at) if opens == "alignat" else None
    return columns.end() if columns else at


def equations(text: str, display: Display) -> Iterator[Printed]:
    """The equations that a display prints: as many as there are rows with a left side.

    >>> text = r"a &= b \\\\ &= c \\\\ d &= e \\label{eq-d}"
    >>> [(one.latex.strip(), one.label) for one in equations(text, Display("align", 0, len(text)))]
    [('a &= b \\\\\\\\ &= c', ''), ('d &= e', 'eq-d')]
    """
    latex = text[display.start : display.end]
    opens, latex = _unwrapped(display.opens, latex)
    every = [one.group(1) for one in _LABEL.finditer(latex)]
    shared = every[0] if len(every) == 1 and display.opens not in ROWS else ""
    for start, end in _stretches(latex, opens):
        part = latex[start:end]
        label = next((match[1] for match in _LABEL.finditer(part)), shared)
        tag = next((match[1] for match in _TAG.finditer(part)), "")
        bare = mathematics(part)
        if bare.strip(" \n\t&\\.,;{}"):
            skipped = len(bare) - len(bare.lstrip())
            yield Printed(display.start + start + skipped, bare.strip(), label, tag)


def rows_of(text: str, display: Display) -> list[tuple[int, int]]:
    """The stretches of a display that may have a number each: its rows, or the whole.

    >>> text = r"a &= b & c &= d \\\\ e &= f"
    >>> [text[start:end] for start, end in rows_of(text, Display("align", 0, len(text)))]
    ['a &= b & c &= d \\\\\\\\', ' e &= f']
    """
    if display.opens not in ROWS_WITH_NUMBERS:
        return [(display.start, display.end)]
    rows = _rows(text[display.start : display.end], display.opens)
    starts = [display.start + begin for begin, _, parted in rows if not parted]
    return list(zip(starts, [*starts[1:], display.end], strict=True))


def mathematics(latex: str) -> str:
    """Return the LaTeX with spaces for labels, numbers by hand and page breaks.

    >>> mathematics(r"a = b \\label{eq-a}").strip()
    'a = b'
    """
    return blank(latex, [m.span() for form in (_LABEL, _LAYOUT) for m in form.finditer(latex)])


def _unwrapped(opens: str, latex: str) -> tuple[str, str]:
    """The environment that is the whole of a display, and the LaTeX with spaces for its marks."""
    whole = _INNER_WHOLE.fullmatch(mathematics(latex))
    if whole is None or whole["begin"] in latex[whole.end("begin") :]:
        return opens, latex
    return whole["name"].rstrip("*"), blank(latex, [whole.span("begin"), whole.span("end")])


def _stretches(latex: str, opens: str) -> Iterator[tuple[int, int]]:
    """The stretches of `latex` that are equations."""
    if opens not in ROWS:
        yield 0, len(latex)
        return
    rows, closes = list(_rows(latex, opens)), not _is_open(latex)
    start = rows[0][0]
    for (_, end, _), (begin, after, parted) in zip(
        rows, [*rows[1:], (len(latex), 0, True)], strict=True
    ):
        going, own = latex[begin:after] if after else "", latex[start:end]
        joins = _goes_on(going) or not _RELATION.search(own) or (closes and _is_open(own))
        if _HEADING.fullmatch(own):
            start = begin
        elif parted or not joins or _HEADING.fullmatch(going):
            yield start, end
            start = begin


def _is_open(latex: str) -> bool:
    """Return whether a bracket is closed in a row below; ``\\right.`` closes any."""
    bare = re.sub(r"\\(?:left|right)\s*\.|\\[{}]", "", latex)
    return sum((sign in "([") - (sign in ")]") for sign in bare) > 0


def _goes_on(row: str) -> bool:
    """Return whether a row belongs to the one above; a bracket may begin its own left side, too."""
    return _GOES_ON.match(row) is not None and _OWN_SIDE.match(row) is None


def _rows(latex: str, opens: str) -> Iterator[tuple[int, int, bool]]:
    """Rows, and in columns their cells: begin, end, and whether words or a column stand before."""
    depth, ands, at, parted = 0, 0, 0, False
    search = 0
    while match := _BREAK.search(latex, search):
        search = match.end()
        word = match.lastgroup or match[0]
        depth += {"begin": 1, "{": 1, "words": 1, "end": -1, "}": -1}.get(word, 0)
        if word in ("begin", "end"):  # the brace of its name is part of the match
            search = latex.find("}", search) + 1 or len(latex)
        if word == "words" and depth == 1:
            yield at, match.start(), parted
            end = _closed(latex, match.end())
            depth, at, search, parted, ands = 0, end, end, True, 0
        elif depth == 0 and word == "break":
            yield at, match.start(), parted
            at, parted, ands = match.end(), False, 0
        elif depth == 0 and word == "and" and opens in _COLUMNS:
            ands += 1
            if ands % 2 == 0 and _is_column(latex, match.end()):
                yield at, match.start(), parted
                at, parted = match.end(), True
    yield at, len(latex), parted


def _closed(latex: str, at: int) -> int:
    """Behind the brace that closes the one before `at`."""
    depth = 1
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(latex, at):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(latex)


def _is_column(latex: str, at: int) -> bool:
    """Return whether an equation of its own begins there, and no remark on the one before."""
    cell = re.split(r"\\\\", latex[at:], maxsplit=1)[0]
    left, sign, right = cell.partition("&")
    return bool(sign and not _BLANK.fullmatch(left) and _RELATION.match(right.lstrip()))
