"""A stretch of LaTeX made whole: each bracket with its partner, each command with its argument.

A node of a tree knows the stretch of text that it was read from; where brackets stand around
a part of it, one of the two may lie outside. A page can mark whole units, or the inside of a
group, without a change of the rest: a letter, a sign, a command with its arguments or the
contents of braces, with its scripts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from .tokenizer import ARGUMENTS, SHELLS, tokens
from .tree import Span

_MARK = re.compile(  # a bracket's last group is its kind, with a word where one kind has several
    r"\\(?:begin|end)\s*\{(?P<environment>[A-Za-z]+\*?)\}"
    r"|\\(?:(?P<sized>left|right)|(?P<size>[bB]igg?)[lr])(?![A-Za-z])\s*(?:\\[A-Za-z]+|\\.|[^\\{}\s])"
    r"|\\(?P<alone>left|right|[bB]igg?[lr])(?![A-Za-z])"
    r"|\\[lr](?P<word>vert|Vert|brace|brack|angle|floor|ceil)(?![A-Za-z])"
    r"|\\(?P<visible>[{}])|(?P<brace>[{}])|(?P<plain>[()\[\]])|\\[A-Za-z]+|\\.",  # [a, b) is a pair
    re.DOTALL,
)
_OPENS = re.compile(r"\\(?:begin|l|[bB]igg?l)|\\?\{|[(\[]")
_LAYOUT = re.compile(
    r"(?P<grid>\\begin\{([A-Za-z]+\*?)\}.*?\\end\{\2\})"
    r"|(?:(?:\\\\(?:\*?\s*\[[^\]]*\])?|&)\s*)+(?:\\q?quad(?![A-Za-z])\s*)*",
    re.DOTALL,
)
_GROUPING = re.compile(r"(?:\\(?:left|[bB]igg?l)\s*)?(?:[(\[]|\\\{)")


def balanced(latex: str, span: Span) -> str:
    """The stretch `span` of `latex` on one line, with the partner of every bracket in it.

    >>> balanced(r"a \\left( b + c \\right)", (0, 14))
    'a \\\\left( b + c \\\\right)'
    """
    # breaks and tabs of the layout go; those of a matrix or of cases remain
    kept = _LAYOUT.sub(lambda part: part["grid"] or " ", latex[slice(*balanced_span(latex, span))])
    return " ".join(kept.split())


def balanced_span(latex: str, span: Span) -> Span:
    """The least stretch around `span` that holds the partner of every bracket in it.

    >>> balanced_span("(a + b) c", (1, 9))
    (0, 9)
    """
    start, end = span
    pairs, _ = _paired(latex)
    while True:
        # of a pair that is cut, one bracket lies within
        cut = [pair for pair in pairs if sum(start <= a and b <= end for a, b in pair) == 1]
        if not cut:
            return start, end
        start = min(start, *(opened[0] for opened, _ in cut))
        end = max(end, *(shut[1] for _, shut in cut))


def bracketed_span(latex: str, span: Span, within: Span | None = None) -> Span:
    """`span` with the round and square brackets that stand right around it, `within` a stretch.

    >>> bracketed_span("2 ( a + b )", (4, 9)), bracketed_span("k(x)", (2, 3), (2, 3))
    ((2, 11), (2, 3))
    """
    start, end = balanced_span(latex, span)
    low, high = within or (0, len(latex))
    for (opens, inside), (shuts, outside) in reversed(_paired(latex)[0]):
        around = not latex[inside:start].strip() and not latex[end:shuts].strip()
        held = inside <= start and end <= shuts and low <= opens and outside <= high
        if around and held and _GROUPING.fullmatch(latex[opens:inside]):
            start, end = opens, outside
    return start, end


def is_balanced(latex: str) -> bool:
    """Return whether `latex` can be typeset alone: nothing is open, no argument is missing.

    >>> is_balanced(r"\\mathbf x_{ij}"), is_balanced(r"\\left( a"), is_balanced(r"\\mathbf")
    (True, False, False)
    """
    try:
        tokens(latex)
    except ValueError:
        return False
    return not _paired(latex)[1]


@lru_cache(maxsize=1024)
def _paired(latex: str) -> tuple[tuple[tuple[Span, Span], ...], int]:
    """The pairs of brackets, where each begins and ends, and how many have no partner."""
    pairs: list[tuple[Span, Span]] = []
    stack: list[tuple[str | None, Span]] = []
    marks = list(filter(attrgetter("lastgroup"), _MARK.finditer(latex)))
    for mark in marks:
        group = mark.lastgroup
        kind = mark[group] if group in ("environment", "size", "word") else group
        if _OPENS.match(mark[0]):
            stack.append((kind, mark.span()))
        elif known := [i for i, (other, _) in enumerate(stack) if kind == other != "alone"]:
            pairs.append((stack[known[-1]][1], mark.span()))
            del stack[known[-1] :]
    return tuple(pairs), len(marks) - 2 * len(pairs)


# Units, as they are typeset

_PIECE = re.compile(
    r"\\(?:begin|end)\s*\{[A-Za-z]+\*?\}"
    r"|\\(?:left|right|[bB]igg?[lrm]?)(?![A-Za-z])\s*(?:\\[A-Za-z]+|\\.|[^\\{}\s])"
    r"|\\[A-Za-z]+\*?|\\.|\s+|\d+(?:\.\d+)?|.",
    re.DOTALL,
)
_GAP = re.compile(r"\s+|~|\\[,;:!> ]|\\q?quad|\\displaystyle|\\limits|\\nolimits|\\(?:no)?tag")
_COMMA = re.compile("[,;.]")
_WORD = re.compile(r"(?:[_^]|\\[A-Za-z]+\*?)$")
_BREAK = ("&", "\\\\")
_TAKES = {
    **ARGUMENTS, **dict.fromkeys(SHELLS, 1),
    **dict.fromkeys((r"\dfrac", r"\tfrac", r"\overset", r"\stackrel", r"\underset"), 2),
    **dict.fromkeys((r"\operatorname", r"\operatorname*", r"\text", r"\mbox", r"\phantom"), 1),
}  # fmt: skip
_WORDS = (r"\operatorname", r"\operatorname*", r"\text", r"\mbox")  # no formula inside


@dataclass(frozen=True)
class Group:
    """A row of units, from `span[0]` to `span[1]`, and where lines and columns of it break."""

    span: Span
    units: tuple[Unit, ...]
    breaks: tuple[int, ...]


@dataclass(frozen=True)
class Unit:
    """One unit: its nucleus, the groups inside that, and its scripts."""

    nucleus: Span
    inside: tuple[Group, ...]
    scripts: tuple[Group, ...]
    end: int

    @property
    def span(self) -> Span:
        """From its nucleus to the end of its scripts."""
        return self.nucleus[0], self.end

    @property
    def groups(self) -> tuple[Group, ...]:
        """The parts inside it, and its scripts."""
        return (*self.inside, *self.scripts)


def pieces(latex: str) -> list[Span]:
    """The smallest pieces of `latex`: commands, signs, numbers, spaces.

    >>> [r"\\mathbf y + 12"[slice(*span)] for span in pieces(r"\\mathbf y + 12")]
    ['\\\\mathbf', ' ', 'y', ' ', '+', ' ', '12']
    """
    return [match.span() for match in _PIECE.finditer(latex)]


def is_argument(latex: str, at: int) -> bool:
    """Return whether a script or an argument without braces stands there.

    >>> is_argument("x^n", 2), is_argument(r"\\frac ab", 6), is_argument(r"\\log n", 5)
    (True, True, False)
    """
    before = _WORD.search(latex[:at].rstrip())
    return before is not None and (before[0] in "_^" or before[0] in _TAKES)


@lru_cache(maxsize=512)
def read_units(latex: str) -> Group:
    """All of `latex` as one group.

    >>> latex = r"K_y^{-1} \\mathbf y"
    >>> [latex[slice(*unit.span)] for unit in read_units(latex).units]
    ['K_y^{-1}', '\\\\mathbf y']
    """
    return _Reader(latex).group()


class _Reader:
    """Reads units from the pieces, one after the other."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.at = 0

    def text(self) -> str:
        """The piece that is next, or nothing at the end."""
        piece = _PIECE.match(self.latex, self.at)
        return piece[0] if piece else ""

    def group(self, *stops: str) -> Group:
        """The units up to a piece that begins with one of `stops`, which is left."""
        start = self.at
        found: list[Unit] = []
        breaks: list[int] = []
        while (text := self.text()) and not text.startswith(stops):
            if text in _BREAK:
                breaks.append(self.at)
            if text in _BREAK or _GAP.fullmatch(text):
                self.at += len(text)
            else:
                found.append(self.unit())
        return Group((start, self.at), tuple(found), tuple(breaks))

    def unit(self) -> Unit:
        """A nucleus with its scripts."""
        start = self.at
        inside = () if self.text() in ("_", "^") else self._nucleus()
        nucleus = (start, self.at)
        scripts = []
        end = self.at
        while (mark := self._visible()) in ("_", "^", "'"):
            self.at += 1
            prime = Group((self.at - 1, self.at), (), ())
            scripts.append(prime if mark == "'" else self._one())
            end = self.at
        self.at = end  # the spaces behind it are not part of it
        return Unit(nucleus, inside, tuple(scripts), end)

    def _visible(self) -> str:
        """The next piece that is no space; those are passed."""
        while _GAP.fullmatch(text := self.text()):
            self.at += len(text)
        return text

    def _nucleus(self) -> tuple[Group, ...]:
        text = self.text()
        self.at += len(text)
        if text == "{":
            return (self._until("}"),)
        if text.startswith(r"\left") and not text[5:6].isalpha():
            return (self._until(r"\right"),)
        if text.startswith(r"\begin"):
            return (self._until(r"\end"),)
        if text == r"\sqrt" and self.text() == "[":
            self._until("]")
        read = tuple(self._one() for _ in range(_TAKES.get(text, 0)))
        return () if text in _WORDS else read

    def _until(self, stop: str) -> Group:
        """Return the inside of a group that ends with `stop`, and the place past that."""
        inside = self.group(stop)
        self.at += len(self.text())
        return inside

    def _one(self) -> Group:
        """Return an argument: the group in braces, or the next thing."""
        text = self._visible()
        start = self.at
        if text == "{":
            self.at += 1
            return self._until("}")
        digit = text[:1].isdigit()  # one digit is an argument
        self.at += digit
        inside = () if digit else self._nucleus()
        span = (start, self.at)
        return Group(span, (Unit(span, inside, (), self.at),) if text else (), ())


def cover(latex: str, start: int, end: int) -> Span | None:
    """Return the least stretch that holds all visible parts from `start` to `end`, to be wrapped.

    None where nothing visible stands there. A stretch broken over lines is held as far as the
    first break.

    >>> cover(r"K_y^{-1} b", 3, 8), cover("a - b c", 2, 5), cover("a   b", 1, 3)
    ((0, 8), (2, 5), None)
    """
    return _cover(read_units(latex), start, end)


def _cover(group: Group, start: int, end: int) -> Span | None:
    hit = [unit for unit in group.units if unit.nucleus[0] < end and start < unit.end]
    if not hit:
        return None
    if len(hit) == 1:
        within = [g for g in hit[0].groups if g.span[0] <= start and end <= g.span[1]]
        if within:
            return _cover(within[0], start, end) or hit[0].span
        return hit[0].nucleus if end <= hit[0].nucleus[1] else hit[0].span
    first, last = hit[0].span[0], hit[-1].end
    if any(first < at < last for at in group.breaks):
        last = max(u.end for u in hit if not any(first < at < u.end for at in group.breaks))
    return first, last


def anchor(latex: str, start: int, end: int) -> Span | None:
    """Return the stretch to point at for an edit from `start` to `end`: the first thing it touches.

    Of an edit of a script that is the script, of a letter with scripts the letter alone; where
    something is put in, the thing that follows.

    >>> anchor(r"K_y^{-1} b", 3, 8), anchor(r"K_y^{-1} b", 0, 10), anchor("a - b", 0, 0)
    ((5, 7), (0, 1), (0, 1))
    """
    commas = frozenset(match.start() for match in _COMMA.finditer(latex))
    return _anchor(read_units(latex), start, end, commas)


def _anchor(group: Group, start: int, end: int, commas: frozenset[int]) -> Span | None:
    seen = [unit for unit in group.units if unit.nucleus[0] not in commas]
    after = [unit for unit in seen if unit.end > start]
    if not after:
        return seen[-1].nucleus if seen else None
    unit = after[0]
    inner = [g for g in unit.groups if g.span[0] <= start and max(end, start + 1) <= g.span[1]]
    found = next(filter(None, (_anchor(part, start, end, commas) for part in inner)), None)
    if found:
        return found
    if start >= unit.nucleus[1]:
        scripts = [g for g in unit.scripts if g.span[1] > start and g.span[0] < g.span[1]]
        return scripts[0].span if scripts else unit.nucleus
    return unit.nucleus
