"""A book's own commands, put in place before an equation is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import EquationError
from .equation import Equation
from .tree import Node, Span, mapped

Macros = Mapping[str, str | Sequence[object]]

Piece = tuple[str, Span]  # a command or a character, and where it was written

_PIECE = re.compile(r"\\(?:[A-Za-z]+|.)|.", re.DOTALL)
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


def expand(latex: str, macros: Macros) -> Expanded:
    """`latex` with the commands in `macros` replaced, as MathJax is given them.

    A macro is a name, with or without its backslash, and its LaTeX with ``#1``, ``#2`` for the
    arguments; or that LaTeX and their number; or these and the first argument where no brackets
    give it, ``["#2^{#1}", 2, "2"]``. Raises `EquationError` for an argument that is missing and
    for macros that go round in a circle, TypeError for one that is no LaTeX.

    >>> expand(r"\\vec{x} + \\R", {"R": r"\\mathbb R", "vec": [r"\\mathbf{#1}", 1]}).latex
    '\\\\mathbf{x} + \\\\mathbb R'
    """
    for name, said in macros.items():
        _text(name, said)
    waiting = _pieces(latex)[::-1]
    out = before = ""
    places: list[Span] = []
    left = _MOST
    while waiting:
        command, span = waiting.pop()
        if (macro := _known(command, macros) if command[1:] else None) is not None:
            left -= 1
            if left < 0:
                raise EquationError(f"the macros go round in a circle at `{command}`", latex, span)
            arguments = []
            whole = span
            text = _text(command, macro)
            count = max(map(int, _PARAMETER.findall(text)), default=0)
            if (default := _default(macro)) is not None:
                arguments.append(_option(waiting, default, span))
            for _ in range(count - len(arguments)):
                argument = _argument(latex, waiting, command, span)
                whole = (span[0], argument[-1][1][1])
                arguments.append(argument[1:-1] if argument[0][0] == "{" else argument)
            for i, part in reversed(list(enumerate(_PARAMETER.split(text)))):
                own = [(piece, whole) for piece, _ in _pieces(part)]
                waiting += reversed(arguments[int(part) - 1] if i % 2 else own)
        else:  # a command would swallow the letter behind it
            apart = " " if before[1:] and command.isalpha() and before[1:].isalpha() else ""
            before = command
            out += apart + command
            places += [span] * len(apart + command)
    return Expanded(out, tuple(places))


def _pieces(latex: str) -> list[Piece]:
    return [(piece[0], piece.span()) for piece in _PIECE.finditer(latex)]


def _known(command: str, macros: Macros) -> str | Sequence[object] | None:
    """Return the macro of a command, whose name may lack the backslash."""
    bare = command[1:]
    return macros.get(command, macros.get(bare)) if bare else None


def _text(name: str, macro: str | Sequence[object]) -> str:
    if isinstance(macro, str):
        return macro
    text = macro[0] if isinstance(macro, list | tuple) and macro else macro
    if not isinstance(text, str):
        raise TypeError(f"the macro {name} must be LaTeX, or LaTeX and a number; got {macro!r}")
    return text


def _default(macro: str | Sequence[object]) -> str | None:
    return str(macro[2]) if isinstance(macro, list | tuple) and len(macro) > 2 else None


def _option(waiting: list[Piece], default: str, span: Span) -> list[Piece]:
    """Return the part in brackets next, if any; else the default."""
    depth = 0
    for i, (piece, _) in enumerate(reversed(waiting)):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if i == 0 and piece != "[":
            break
        if depth == 0 and piece == "]":
            taken = [waiting.pop() for _ in range(i + 1)]
            return taken[1:-1]
    return [(piece, span) for piece, _ in _pieces(default)]


def _argument(latex: str, waiting: list[Piece], command: str, span: Span) -> list[Piece]:
    """A group with its braces, or one command, or one letter."""
    while waiting and waiting[-1][0].isspace():
        waiting.pop()
    if not waiting:
        raise EquationError(f"`{command}` lacks an argument", latex, span)
    taken = [waiting.pop()]
    depth = int(taken[0][0] == "{")
    while depth:
        if not waiting:
            raise EquationError("this brace is never closed", latex, taken[0][1])
        taken.append(waiting.pop())
        depth += {"{": 1, "}": -1}.get(taken[-1][0], 0)
    return taken


def relocated(node: Node, place: Callable[[Span], Span]) -> Node:
    """Return `node` with the span of each node put through `place`; equal objects stay one."""
    made: dict[int, Node] = {}

    def moved(part: Node) -> Node:
        if id(part) not in made:
            made[id(part)] = replace(mapped(part, moved), span=place(part.span))
        return made[id(part)]

    return moved(node)


def expand_equation(equation: Equation, macros: Macros) -> Equation:
    """Expand the macros of an equation; its digest stays that of the text as written."""
    if not macros:
        return equation
    return replace(equation, latex=expand(equation.latex, macros).latex, written=equation.latex)
