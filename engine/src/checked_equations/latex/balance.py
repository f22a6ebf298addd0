"""A stretch of LaTeX made whole: each bracket with its partner, each command with its argument.

A node of a tree knows the stretch of text that it was read from; where brackets stand around
a part of it, one of the two may lie outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .tokenizer import tokens

_MARK = re.compile(
    r"\\begin\s*\{(?P<begin>[A-Za-z]+\*?)\}|\\end\s*\{(?P<end>[A-Za-z]+\*?)\}"
    r"|\\(?P<size>left|right|[bB]igg?[lr])(?![A-Za-z])\s*(?P<sized>\\[A-Za-z]+|\\.|[^\\{}\s])?"
    r"|\\(?:l|r)(?P<word>vert|Vert|brace|brack|angle|floor|ceil)(?![A-Za-z])"
    r"|\\(?P<brace>[{}])|(?P<plain>[{}()\[\]])|\\[A-Za-z]+|\\.",
    re.DOTALL,
)
_PLAIN = {"{": "{", "}": "{", "(": "(", ")": "(", "[": "(", "]": "("}  # [a, b) is a pair
_BREAK = re.compile(r"(?:(?:\\\\(?:\*?\s*\[[^\]]*\])?|&)\s*)+(?:\\q?quad(?![A-Za-z])\s*)*")
_GROUPING = re.compile(r"(?:\\(?:left|[bB]igg?l)\s*)?(?:[(\[]|\\\{)")
_GRID = re.compile(r"(\\begin\{([A-Za-z]+\*?)\}.*?\\end\{\2\})", re.DOTALL)


def balanced(latex: str, span: tuple[int, int]) -> str:
    """The stretch `span` of `latex` on one line, with the partner of every bracket in it.

    >>> balanced(r"a \\left( b + c \\right)", (0, 14))
    'a \\\\left( b + c \\\\right)'
    """
    pieces = _GRID.split(latex[slice(*balanced_span(latex, span))])
    # breaks and tabs of the layout go; those of a matrix or of cases remain
    kept = (_BREAK.sub(" ", piece) if i % 3 == 0 else piece for i, piece in enumerate(pieces))
    return " ".join("".join(piece for i, piece in enumerate(kept) if i % 3 != 2).split())


def balanced_span(latex: str, span: tuple[int, int]) -> tuple[int, int]:
    """The least stretch around `span` that holds the partner of every bracket in it.

    >>> balanced_span("(a + b) c", (1, 9))
    (0, 9)
    """
    start, end = span
    pairs, _ = _paired(latex)
    while True:
        within = [[start <= a and b <= end for a, b in pair] for pair in pairs]
        cut = [pair for pair, (one, other) in zip(pairs, within, strict=True) if one != other]
        if not cut:
            return start, end
        start = min(start, *(opened[0] for opened, _ in cut))
        end = max(end, *(shut[1] for _, shut in cut))


def bracketed_span(
    latex: str, span: tuple[int, int], within: tuple[int, int] | None = None
) -> tuple[int, int]:
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
    """Whether `latex` can be typeset alone: nothing in it is open and no argument is missing.

    >>> is_balanced(r"\\mathbf x_{ij}"), is_balanced(r"\\left( a"), is_balanced(r"\\mathbf")
    (True, False, False)
    """
    try:
        tokens(latex)
    except ValueError:
        return False
    return not _paired(latex)[1]


Mark = tuple[int, int]


@lru_cache(maxsize=1024)
def _paired(latex: str) -> tuple[tuple[tuple[Mark, Mark], ...], int]:
    """The pairs of brackets, where each begins and ends, and how many have no partner."""
    pairs: list[tuple[Mark, Mark]] = []
    stack: list[tuple[str, Mark]] = []
    lone = 0
    for kind, opens, mark in _marks(latex):
        known = [i for i, (other, _) in enumerate(stack) if kind and other == kind]
        if opens:
            stack.append((kind, mark))
        elif known:
            pairs.append((stack[known[-1]][1], mark))
            lone += len(stack) - known[-1] - 1
            del stack[known[-1] :]
        else:
            lone += 1
    return tuple(pairs), lone + len(stack)


def _marks(latex: str) -> Iterator[tuple[str, bool, Mark]]:
    """Every bracket: its kind (none where a size has no bracket), whether it opens, its place."""
    for mark in _MARK.finditer(latex):
        text = mark[0]
        size = mark["size"]
        if mark["begin"] or mark["end"]:
            yield mark["begin"] or mark["end"], bool(mark["begin"]), mark.span()
        elif size:
            kind = "left" if size in ("left", "right") else size[:-1]
            yield kind if mark["sized"] else "", size == "left" or size[-1] == "l", mark.span()
        elif mark["word"]:
            yield mark["word"], text[1] == "l", mark.span()
        elif mark["brace"]:
            yield "\\{", text[1] == "{", mark.span()
        elif mark["plain"]:
            yield _PLAIN[text], text in "{([", mark.span()
