"""The files of a paper: one that is named, and those that it takes in.

``\\input``, ``\\include``, ``\\subfile`` and ``\\import`` are followed, and classes and packages
where they lie in the paper's folder. Comments, ``\\verb``, listings and ``\\iffalse`` are left out.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from .joined_text import Comment, Joined, Part, Piece, blank, spliced

_UNREAD = "comment verbatim Verbatim lstlisting minted filecontents alltt tikzpicture"
_NAMES = "|".join(_UNREAD.split())
_PASSED = re.compile(
    r"(?P<comment>(?<!\\)%[^\n]*)"
    r"|(?P<verb>\\(?:verb|lstinline)\*?(?P<mark>[^A-Za-z\s*{\[])[^\n]*?(?P=mark))"
    rf"|(?P<unread>\\begin\s*\{{(?P<name>(?:{_NAMES})\*?)\}}.*?\\end\s*\{{(?P=name)\}})"
    r"|(?P<false>\\iffalse(?![A-Za-z]).*?\\(?:fi|else)(?![A-Za-z]))"
    r"|(?P<end>(?:\\endinput(?![A-Za-z])|\\end\s*\{document\}).*)"
    r"|\\.",
    re.DOTALL,
)
_TAKEN_IN = re.compile(
    r"\\(?:input|include|subfile)(?![A-Za-z])\s*(?:\{(?P<braced>[^{}]+)\}|(?P<bare>[^\s{}\\]+))"
    r"|\\(?:sub)?import\*?\s*\{(?P<folder>[^{}]*)\}\s*\{(?P<imported>[^{}]+)\}"
    r"|\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{(?P<package>[^{}]+)\}"
    r"|\\documentclass\s*(?:\[[^\]]*\])?\s*\{(?P<kind>[^{}]+)\}"
)
_NAMED = re.compile(  # a command for a part of a path: `\\renewcommand*{\\part}{folder/part}`
    r"\\(?:(?:re)?newcommand|providecommand|def)\*?\s*\{?(?P<key>\\[A-Za-z]+)\}?\s*\{(?P<says>[^{}]*)\}"
)
_EITHER = re.compile(f"{_NAMED.pattern}|{_TAKEN_IN.pattern}")
_COMMAND = re.compile(r"\\[A-Za-z]+")


def read_paper(path: Path) -> Joined:
    """The text of the paper at `path`, with all that it takes in."""
    return _read(path.resolve(), path.resolve().parent, frozenset(), {})


def _read(file: Path, root: Path, above: frozenset[Path], commands: dict[str, str]) -> Joined:
    """Read a file, with the `commands` that stand for parts of paths, to which it may add some."""
    own = _alone(file)
    parts, lacks = [], list(own.lacks)
    for either in _EITHER.finditer(own.text):
        if either["key"]:
            commands[either["key"]] = _written_out(either["says"], commands)
            continue
        match = _TAKEN_IN.match(_written_out(either[0], commands))
        for name, candidates in _candidates(match, root, file.parent) if match else ():
            found = next((one for one in candidates if one.is_file()), None)
            if found is None and name:
                lacks.append(Comment(either.start(), name))
            elif found and found.resolve() not in {*above, file}:
                put = _read(found.resolve(), root, above | {file}, commands)
                parts.append(Part(either.end(), either.end(), put))
    whole = Joined(own.text, own.pieces, own.comments, tuple(lacks), own.written)
    return spliced(whole, parts) if parts else whole


def _written_out(text: str, commands: Mapping[str, str]) -> str:
    """Return a path, or what takes it in, with the texts of commands in their place."""
    return _COMMAND.sub(lambda one: commands.get(one[0], one[0]), text)


def text_of(file: Path) -> str:
    """Return the text of a file: UTF-8, or UTF-16 if it begins so; other bytes are replaced."""
    with file.open("rb") as bits:
        begins = bits.read(2)
    known = "utf-16" if begins in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    return file.read_text(encoding=known, errors="replace")


def _alone(file: Path) -> Joined:
    """Return one file, with spaces for the parts that are not read."""
    raw = text_of(file)
    comments, spans = [], []
    for match in _PASSED.finditer(raw):
        if match["comment"]:
            comments.append(Comment(match.start(), match["comment"][1:]))
        if match.lastgroup:
            spans.append(match.span())
    text = blank(raw, spans)
    return Joined(text, (Piece(0, file, 0),), tuple(comments), (), {file: raw})


def _candidates(match: re.Match[str], root: Path, here: Path) -> Iterator[tuple[str, list[Path]]]:
    """For each file that is taken in, its name (none where it may be missing), and its places."""
    if match["package"] or match["kind"]:
        suffix = ".sty" if match["package"] else ".cls"
        for name in (match["package"] or match["kind"]).split(","):
            yield "", [folder / (name.strip() + suffix) for folder in (root, here)]
        return
    name = match["braced"] or match["bare"] or match["imported"]
    name = name.strip().strip('"')
    inner = (match["folder"] or "").strip()
    places = [folder / inner / name for folder in (root, here)]
    yield name, [one for place in places for one in (Path(f"{place}.tex"), place)]
