"""A book's own commands, put in place before an equation is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import EquationError
from .tree import Node, Span, mapped

Macros = Mapping[str, str | Sequence[Any]]

_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
_MOST = 1000  # replacements in an equation: what needs more never ends


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

    def part(self, start: int, end: int | None = None) -> Expanded:
        """What stands from `start` to `end`."""
        return Expanded(self.latex[start:end], self.written[start:end])

    def joined(self, other: Expanded, span: Span) -> Expanded:
        """Both, apart where a command would swallow the letter behind it."""
        ends_in_command = re.search(r"\\[A-Za-z]+$", self.latex[-40:])
        apart = " " if ends_in_command and other.latex[:1].isalpha() else ""
        written = (*self.written, *[span] * len(apart), *other.written)
        return Expanded(self.latex + apart + other.latex, written)


def expand(latex: str, macros: Macros) -> Expanded:
    """`latex` with the commands in `macros` replaced, as MathJax is given them.

    A macro is a name, with or without its backslash, and its LaTeX with ``#1``, ``#2`` for the
    arguments; or that LaTeX and their number. Raises `EquationError` for an argument that is
    missing and for macros that go round in a circle, TypeError for one that is no LaTeX.

    >>> expand(r"\\vec{x} + \\R", {"R": r"\\mathbb R", "vec": [r"\\mathbf{#1}", 1]}).latex
    '\\\\mathbf{x} + \\\\mathbb R'
    """
    known = {f"\\{name.lstrip(chr(92))}": _text(name, macro) for name, macro in macros.items()}
    row = Expanded(latex, tuple((i, i + 1) for i in range(len(latex))))
    place = 0
    left = _MOST
    while place < len(row.latex):
        command = _command(row, place)
        if command in known:
            left -= 1
            if left < 0:
                problem = f"the macros go round in a circle at `{command}`"
                raise EquationError(problem, latex, row.written[place])
            new, end, written = _replacement(latex, row, place, known[command])
            row = row.part(0, place).joined(new, written).joined(row.part(end), written)
        else:
            place += len(command)
    return row


def _text(name: str, macro: str | Sequence[Any]) -> str:
    text = macro[0] if isinstance(macro, list | tuple) and macro else macro
    if not isinstance(text, str):
        raise TypeError(f"the macro {name} must be LaTeX, or LaTeX and a number; got {macro!r}")
    return text


def _command(row: Expanded, place: int) -> str:
    """The command that begins there, or the character."""
    match = _COMMAND.match(row.latex, place)
    return match[0] if match else row.latex[place]


def _replacement(latex: str, row: Expanded, place: int, text: str) -> tuple[Expanded, int, Span]:
    """What stands for a command and its arguments, where those end, and where they were written."""
    command = _command(row, place)
    end = place + len(command)
    arguments: list[Expanded] = []
    for _ in range(max(map(int, _PARAMETER.findall(text)), default=0)):
        argument, end = _argument(latex, row, end, command)
        arguments.append(argument)
    written = (row.written[place][0], row.written[end - 1][1])
    expanded = Expanded("", ())
    for i, piece in enumerate(_PARAMETER.split(text)):
        own = Expanded(piece, (written,) * len(piece))
        expanded = expanded.joined(arguments[int(piece) - 1] if i % 2 else own, written)
    return expanded, end, written


def _argument(latex: str, row: Expanded, place: int, command: str) -> tuple[Expanded, int]:
    """A group without its braces, or one command, or one letter; and where it ends."""
    while row.latex[place : place + 1].isspace():
        place += 1
    if place == len(row.latex):
        raise EquationError(f"`{command}` lacks an argument", latex, row.written[place - 1])
    end = place + len(_command(row, place))
    if row.latex[place] != "{":
        return row.part(place, end), end
    depth = 1
    while depth and end < len(row.latex):
        depth += {"{": 1, "}": -1}.get(row.latex[end], 0)
        end += len(_command(row, end))
    if depth:
        raise EquationError("this brace is never closed", latex, row.written[place])
    return row.part(place + 1, end - 1), end


def relocated(node: Node, place: Callable[[Span], Span]) -> Node:
    """`node` with the span of each node put through `place`; what was one object stays one."""
    made: dict[int, Node] = {}

    def moved(part: Node) -> Node:
        if id(part) not in made:
            made[id(part)] = replace(mapped(part, moved), span=place(part.span))
        return made[id(part)]

    return moved(node)
