"""A book's own commands, put in place before an equation is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import EquationError
from .tree import Node, mapped

Macros = Mapping[str, str | Sequence[Any]]
Span = tuple[int, int]

_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
_MOST = 1000  # replacements in an equation: what needs more never ends


@dataclass(frozen=True)
class _Letter:
    """A character and the stretch of the written text that it stands for."""

    text: str
    span: Span


Row = list[_Letter]


@dataclass(frozen=True)
class Expanded:
    """`latex` without macros, and for each of its characters where it was `written`."""

    latex: str
    written: tuple[Span, ...]

    def place(self, span: Span) -> Span:
        """The stretch of the written text that `span` of `latex` comes from."""
        inside = self.written[slice(*span)]
        if not inside:
            end = self.written[-1][1] if self.written else 0
            return end, end
        return min(start for start, _ in inside), max(end for _, end in inside)


def expand(latex: str, macros: Macros) -> Expanded:
    """`latex` with the commands in `macros` replaced, as MathJax is given them.

    A macro is a name, with or without its backslash, and its LaTeX with ``#1``, ``#2`` for the
    arguments; or that LaTeX and their number. Raises `EquationError` for an argument that is
    missing and for macros that go round in a circle, TypeError for one that is no LaTeX.

    >>> expand(r"\\vec{x} + \\R", {"R": r"\\mathbb R", "vec": [r"\\mathbf{#1}", 1]}).latex
    '\\\\mathbf{x} + \\\\mathbb R'
    """
    known = {f"\\{name.lstrip(chr(92))}": _text(name, macro) for name, macro in macros.items()}
    row = [_Letter(letter, (i, i + 1)) for i, letter in enumerate(latex)]
    place = 0
    left = _MOST
    while place < len(row):
        command = _command(row, place)
        if command in known:
            left -= 1
            if left < 0:
                problem = f"the macros go round in a circle at `{command}`"
                raise EquationError(problem, latex, row[place].span)
            new, end = _replacement(latex, row, place, known[command])
            written = (row[place].span[0], row[end - 1].span[1])
            row[place:] = _joined(new, row[end:], written) if new else row[end:]
        else:
            place += max(len(command), 1)
    return Expanded("".join(it.text for it in row), tuple(it.span for it in row))


def _text(name: str, macro: str | Sequence[Any]) -> str:
    text = macro[0] if isinstance(macro, list | tuple) and macro else macro
    if not isinstance(text, str):
        raise TypeError(f"the macro {name} must be LaTeX, or LaTeX and a number; got {macro!r}")
    return text


def _command(row: Row, place: int) -> str:
    if row[place].text != "\\":
        return ""
    match = _COMMAND.match("".join(letter.text for letter in row[place : place + 40]))
    return match[0] if match else ""


def _replacement(latex: str, row: Row, place: int, text: str) -> tuple[Row, int]:
    """What stands for a command and its arguments, and where those end."""
    command = _command(row, place)
    end = place + len(command)
    arguments: list[Row] = []
    for _ in range(max(map(int, _PARAMETER.findall(text)), default=0)):
        argument, end = _argument(latex, row, end, command)
        arguments.append(argument)
    written = (row[place].span[0], row[end - 1].span[1])
    expanded: Row = []
    for i, piece in enumerate(_PARAMETER.split(text)):
        new = arguments[int(piece) - 1] if i % 2 else [_Letter(letter, written) for letter in piece]
        expanded = _joined(expanded, new, written)
    return expanded, end


def _joined(left: Row, right: Row, span: Span) -> Row:
    """The two rows, apart where a command would swallow the letter behind it."""
    ends_in_command = re.search(r"\\[A-Za-z]+$", "".join(letter.text for letter in left[-40:]))
    apart = ends_in_command and right and right[0].text.isalpha()
    return [*left, _Letter(" ", span), *right] if apart else [*left, *right]


def _argument(latex: str, row: Row, place: int, command: str) -> tuple[Row, int]:
    """A group without its braces, or one command, or one letter; and where it ends."""
    while place < len(row) and row[place].text.isspace():
        place += 1
    if place == len(row):
        raise EquationError(f"`{command}` lacks an argument", latex, row[place - 1].span)
    if row[place].text != "{":
        end = place + max(len(_command(row, place)), 1)
        return row[place:end], end
    depth = 1
    end = place + 1
    while depth and end < len(row):
        depth += {"{": 1, "}": -1}.get(row[end].text, 0)
        end += max(len(_command(row, end)), 1)
    if depth:
        raise EquationError("this brace is never closed", latex, row[place].span)
    return row[place + 1 : end - 1], end


def relocated(node: Node, place: Callable[[Span], Span]) -> Node:
    """`node` with the span of each node put through `place`; what was one object stays one."""
    made: dict[int, Node] = {}

    def moved(part: Node) -> Node:
        if id(part) not in made:
            made[id(part)] = replace(mapped(part, moved), span=place(part.span))
        return made[id(part)]

    return moved(node)
