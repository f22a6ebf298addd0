"""A stretch of LaTeX made whole: each bracket with its partner, each command with its argument.

A node of a tree knows the stretch of text that it was read from; where brackets stand around
a part of it, one of the two may lie outside.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import attrgetter

from .tokenizer import tokens
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
        within = [[start <= a and b <= end for a, b in pair] for pair in pairs]
        cut = [pair for pair, (one, other) in zip(pairs, within, strict=True) if one != other]
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
    """Whether `latex` can be typeset alone: nothing in it is open and no argument is missing.

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
    lone = 0
    for mark in filter(attrgetter("lastgroup"), _MARK.finditer(latex)):
        group = mark.lastgroup
        kind = mark[group] if group in ("environment", "size", "word") else group
        known = [i for i, (other, _) in enumerate(stack) if kind == other != "alone"]
        if _OPENS.match(mark[0]):
            stack.append((kind, mark.span()))
        elif known:
            pairs.append((stack[known[-1]][1], mark.span()))
            lone += len(stack) - known[-1] - 1
            del stack[known[-1] :]
        else:
            lone += 1
    return tuple(pairs), lone + len(stack)
