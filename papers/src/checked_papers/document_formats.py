"""The displays of a paper or a page, with the declarations that hold for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from checked_equations.book import markup
from checked_equations.book.markup import TEX
from checked_equations.book.settings import read_macros
from checked_equations.latex.macros import Macros

from .declarations import DeclarationError, Declared, declared_in
from .sources import paper as papers
from .sources.displays import Display, equations
from .sources.joined_text import Comment, Joined, Piece, Place, blank
from .sources.paper import Paper, PaperEquation, paper_of

_NOTE = re.compile(r"<!--(.*?)-->", re.DOTALL)
_PERCENT = re.compile(r"^\s*%([^\n]*)$", re.MULTILINE)
_BEHIND = re.compile(
    r"[ \t]*\((?P<label>[^()\s$]+)\)[ \t]*$|[ \t]*\{#(?P<mark>[^}\s]+)\}", re.MULTILINE
)
_NOTED = re.compile(r"\s*<!--\s*label:\s*(\S+)\s*-->")
_ROLE = re.compile(r":math:`([^`]+)`")
_LISTED = re.compile(r"[ \t]{0,3}(?:[-*+:]|\d+[.)]|\[\^|!!!|\?\?\?|===)")  # what goes on indented
_VERBATIM = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Read:
    """A text with its equations, its declarations by place, and comments that look like one."""

    paper: Paper
    declared: tuple[tuple[int, Declared], ...]
    unclear: tuple[tuple[Place, str], ...] = ()

    def known_at(self, at: int, first: Declared) -> Declared:
        """Return the declarations before the character `at`, `first` ahead of them."""
        known = first
        for place, newer in self.declared:
            if place <= at:
                known = known.and_then(newer)
        return known


def read(path: Path) -> Read:
    """The equations of a file, LaTeX or a page, labelled or not."""
    paper = papers.read(path) if path.suffix in TEX else _page(path)
    found, unclear = [], []
    for comment in sorted(paper.comments):
        try:
            if told := declared_in(" ".join(comment.text.split())):
                found.append((comment.at, told))
        except DeclarationError as wrong:
            unclear.append((paper.place(comment.at), str(wrong)))
    return Read(paper, tuple(found), tuple(unclear))


def _page(path: Path) -> Paper:
    """A page in Markdown, Quarto or reStructuredText, or the Markdown of a notebook."""
    raw = path.read_text(encoding="utf-8")
    text, lines = markup.markdown(raw, path.suffix)
    joined = _joined(path, raw, text, lines)
    bare, directives, comments = _parts(text, path.suffix)
    paper = paper_of(replace(joined, text=bare, comments=tuple(comments)))
    macros: Macros = {**papers.KNOWN, **read_macros(path.resolve().parent)}
    shown = [_with_label(one, text, macros) for one in paper.equations]
    shown += [replace(one, macros=macros) for one in directives]
    shown.sort(key=lambda one: one.at)
    inline = paper.inline or tuple(_roles(text, macros)) if path.suffix == ".rst" else paper.inline
    return Paper(replace(joined, comments=tuple(comments)), tuple(shown), inline)


def _roles(text: str, macros: Macros) -> Iterator[PaperEquation]:
    """Yield the mathematics in the sentences of reStructuredText."""
    for match in _ROLE.finditer(text):
        yield PaperEquation(match[1], match.start(1), macros)


def _joined(path: Path, raw: str, text: str, lines: Sequence[int]) -> Joined:
    """The text with the place of each line in the file."""
    if path.suffix != ".ipynb":
        return Joined(text, (Piece(0, path.resolve(), 0),), written={path.resolve(): raw})
    starts = [0, *(match.end() for match in re.finditer("\n", raw))]
    pieces, at = [], 0
    for line, number in zip(text.split("\n"), lines, strict=False):
        pieces.append(Piece(at, path.resolve(), starts[number - 1], fixed=True))
        at += len(line) + 1
    return Joined(text, tuple(pieces), written={path.resolve(): raw})


def _parts(text: str, suffix: str) -> tuple[str, list[PaperEquation], list[Comment]]:
    """The text without code and comments, the equations of its directives, and its comments."""
    if suffix == ".rst":
        notes = [
            Comment(m.start(), m[1]) for m in re.finditer(r"^\.\. +(let\s[^\n]+)$", text, re.M)
        ]
        return " " * len(text), list(_restructured(text)), notes
    notes = [Comment(m.start(1), m[1]) for m in _NOTE.finditer(text)]
    notes += [Comment(m.start(1), m[1]) for m in _PERCENT.finditer(text)]
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans: list[tuple[int, int]] = []
    shown: list[PaperEquation] = []
    for fence, body in markup.blocks(lines):
        if fence.opaque:
            end = min(fence.line + 1 + len(body), len(lines))
            spans.append((starts[fence.line - 1], starts[end] - 1))
        if "math" in (fence.directive, fence.argument if not fence.directive else ""):  # GitHub's
            first = fence.line + markup.options(body)
            label = _option(body)
            shown += _directive(text, starts[first], starts[fence.line + len(body)], label)
    spans += [(starts[i], starts[i + 1] - 1) for i in _indented(lines)]
    for form in (_NOTE, _PERCENT, _VERBATIM):
        spans += [match.span() for match in form.finditer(text)]
    spans += [match.span() for match in re.finditer(r"(`+)[^`\n]+\1", text)]
    return blank(text, _apart(spans)), shown, notes


def _indented(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of Markdown that are code since they are indented, and in no list."""
    opener = above = ""
    code = False
    for i, line in enumerate(lines):
        if line.strip():
            deep = line.startswith(("    ", "\t"))
            code = deep and (code or not above.strip()) and not _LISTED.match(opener)
            opener = opener if deep else line
            if code:
                yield i
        above = line


def _apart(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that do not lie in others."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _option(body: Sequence[str]) -> str:
    for line in body[: markup.options(list(body))]:
        name, _, value = line.strip().strip(":").partition(":")
        if name in ("label", "name") and value.strip():
            return value.strip()
    return ""


def _directive(text: str, start: int, end: int, label: str) -> Iterator[PaperEquation]:
    for one in equations(text, Display("align", start, end)):
        yield PaperEquation(one.latex, one.start, {}, one.label or label, one.tag)


def _restructured(text: str) -> Iterator[PaperEquation]:
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for i, match in markup.directives(lines):
        body = lines[i + 1 : markup.block_end(lines, i)]
        end, first = i + 1 + len(body), i + 1 + markup.options([one.strip() for one in body])
        begin = starts[i] + match.start("argument") if match["argument"] else starts[first]
        yield from _directive(text, begin, max(starts[end] - 1, begin), _option(body))


def _with_label(one: PaperEquation, text: str, macros: Macros) -> PaperEquation:
    """With the label behind the display, and the commands of the book besides its own."""
    one = replace(one, macros={**macros, **one.macros})
    close = text.find("$$", one.at)
    if one.label or close < 0:
        return one
    match = _BEHIND.match(text, close + 2) or _NOTED.match(text, close + 2)
    inside = text[one.at : close]
    if match is None or "\n\n" in inside:
        return one
    return replace(one, label=next(filter(None, match.groups())))
