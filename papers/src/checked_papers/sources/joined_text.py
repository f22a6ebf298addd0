"""A text that is joined of files, whose characters know where they were written.

Comments and verbatim text, which are not read, are replaced by spaces, so that every character
keeps its place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_NO_BREAK = re.compile(r"[^\n]")


class Place(NamedTuple):
    """A file, a line and a column, both counted from one."""

    file: Path
    line: int
    column: int


@dataclass(frozen=True)
class Piece:
    """The stretch of a joined text that begins at `start`, written at `offset` of a `file`.

    A piece that is `fixed` is put in the place of something else, at which all of it was written.
    """

    start: int
    file: Path
    offset: int
    fixed: bool = False


class Comment(NamedTuple):
    """A comment behind a ``%``, and its offset in the joined text."""

    at: int
    text: str


@dataclass(frozen=True)
class Joined:
    """The `text` of a paper, its `comments`, and the names that it `lacks` with their offsets."""

    text: str
    pieces: tuple[Piece, ...]
    comments: tuple[Comment, ...] = ()
    lacks: tuple[Comment, ...] = ()
    written: Mapping[Path, str] = field(default_factory=dict)

    def place(self, at: int) -> Place:
        """Where the character `at` of the text was written.

        >>> file = Path("a.tex")
        >>> joined = Joined("a\\nbc", (Piece(0, file, 0),), written={file: "a\\nbc"})
        >>> joined.place(3)[1:]
        (2, 2)
        """
        written = _origin(self, at)
        before = self.written[written.file][: written.offset]
        return Place(written.file, before.count("\n") + 1, written.offset - before.rfind("\n"))


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` with spaces in the place of `spans`; line breaks stay.

    >>> blank("ab\\ncd", [(1, 4)])
    'a \\n d'
    """
    out, at = [], 0
    for start, end in sorted(spans):
        out += [text[at:start], _NO_BREAK.sub(" ", text[max(start, at) : end])]
        at = max(at, end)
    return "".join([*out, text[at:]])


class Part(NamedTuple):
    """The replacement of the stretch from `start` to `end`: a text of its own, or a string."""

    start: int
    end: int
    put: Joined | str


def spliced(whole: Joined, parts: Sequence[Part]) -> Joined:
    """`whole` with each of the `parts`, in order, in the place of its stretch."""
    out, pieces = "", []
    comments: list[Comment] = []
    lacks: list[Comment] = []
    written = dict(whole.written)
    at = 0
    for part in [*parts, Part(len(whole.text), len(whole.text), "")]:
        pieces += _moved(whole, at, part.start, len(out))
        comments += _within(whole.comments, at, part.start, len(out))
        lacks += _within(whole.lacks, at, part.start, len(out))
        out += whole.text[at : part.start]
        if isinstance(part.put, str):
            place = _origin(whole, part.start)
            pieces.append(Piece(len(out), place.file, place.offset, fixed=True))
            out += part.put
        else:
            own = part.put
            pieces += _moved(own, 0, len(own.text), len(out))
            comments += _within(own.comments, 0, len(own.text) + 1, len(out))
            lacks += _within(own.lacks, 0, len(own.text) + 1, len(out))
            written |= own.written
            out += own.text
        at = part.end
    return Joined(out, tuple(pieces), tuple(comments), tuple(lacks), written)


def _origin(whole: Joined, at: int) -> Piece:
    """The piece that begins at the character `at`."""
    piece = whole.pieces[max(bisect_right(whole.pieces, at, key=lambda one: one.start) - 1, 0)]
    offset = piece.offset + (0 if piece.fixed else at - piece.start)
    return Piece(at, piece.file, offset, piece.fixed)


def _moved(whole: Joined, start: int, end: int, to: int) -> list[Piece]:
    """The pieces of a stretch of `whole`, where that begins at `to`."""
    if start >= end:
        return []
    first = _origin(whole, start)
    inside = [piece for piece in whole.pieces if start < piece.start < end]
    return [
        Piece(piece.start - start + to, piece.file, piece.offset, piece.fixed)
        for piece in (first, *inside)
    ]


def _within(told: Iterable[Comment], start: int, end: int, to: int) -> list[Comment]:
    return [Comment(one.at - start + to, one.text) for one in told if start <= one.at < end]
