"""The commands that a paper defines, in the order of their definitions.

A command is a macro as MathJax takes it: its LaTeX, or that and the number of its arguments, or
these and the default of the first argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Macro = str | Sequence[Any]

_DEFINES = re.compile(
    r"\\(?:(?P<new>(?:newcommand|renewcommand|providecommand|DeclareRobustCommand|newrobustcmd)\*?)"
    r"|(?P<operator>DeclareMathOperator\*?)|(?P<text>[gex]?def)|(?P<let>let)"
    r"|(?P<pair>DeclarePairedDelimiter(?:XPP|X)?)|(?P<environment>(?:re)?newenvironment)"
    r"|(?P<document>(?:New|Renew|Provide|Declare)DocumentCommand))(?![A-Za-z])"
)
_NAME = re.compile(r"\s*(?:\{\s*)?(\\(?:[A-Za-z@]+|.))(?:\s*\})?")
_PARAMETERS = re.compile(r"\s*((?:#[1-9])*)\s*(?=\{)")
_COUNT = re.compile(r"\s*\[\s*([1-9])\s*\]")
_LET = re.compile(r"\s*(\\[A-Za-z@]+)\s*=?\s*(\\(?:[A-Za-z@]+|.)|\S)")
_DELIMITER = re.compile(r"\s*(\\(?:[A-Za-z]+|.)|[^\s{}\\])")
_ARGUMENTS = re.compile(r"\s*(?:O\s*\{(?P<default>[^{}]*)\})?\s*(?P<rest>(?:m\s*)*)$")


@dataclass(frozen=True)
class Command:
    """A definition: the stretch of the text that it takes, the `name` and its `macro`.

    A `pair` of delimiters may have a star or a size behind its name; an `alias` has the meaning
    that its other name has there.
    """

    start: int
    end: int
    name: str
    macro: Macro
    pair: bool = False
    alias: bool = False


def commands_of(text: str) -> Iterator[Command]:
    """Return the definitions in `text`, without those that cannot be read.

    >>> [(one.name, one.macro) for one in commands_of(r"\\newcommand{\\v}[1]{\\mathbf{#1}}")]
    [('v', ['\\\\mathbf{#1}', 1])]
    """
    at = 0
    while match := _DEFINES.search(text, at):
        at = match.end()
        for command in _READ[str(match.lastgroup)](text, match):
            yield command
            at = max(at, command.end)


def group(text: str, at: int, braces: str = "{}") -> tuple[str, int] | None:
    """The content of the group that begins at `at`, behind spaces, and where it ends, if any.

    >>> group(" {a{b}}c", 0)
    ('a{b}', 7)
    """
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text) or text[at] != braces[0]:
        return None
    depth, here = 0, at
    while here < len(text):
        if text[here] == "\\":
            here += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[here], 0)
        closes = depth == 0 and text[here] == braces[1] and (here > at or braces == "{}")
        if closes:
            return text[at + 1 : here], here + 1
        here += 1
    return None


def _new(text: str, match: re.Match[str]) -> Iterator[Command]:
    name = _NAME.match(text, match.end())
    if name is None:
        return
    at, count, default = name.end(), 0, None
    if told := _COUNT.match(text, at):
        at, count = told.end(), int(told[1])
        if option := group(text, at, "[]"):
            default, at = option
    body = group(text, at)
    if body:
        written = _bold(body[0], count)
        macro: list[object] = [written, count] + ([] if default is None else [default])
        yield Command(match.start(), body[1], name[1][1:], macro if count else written)


def _operator(text: str, match: re.Match[str]) -> Iterator[Command]:
    name = _NAME.match(text, match.end())
    body = group(text, name.end()) if name else None
    if name and body:
        star = "*" if match[0].endswith("*") else ""
        macro = f"\\operatorname{star}{{{body[0]}}}"
        yield Command(match.start(), body[1], name[1][1:], macro)


def _def(text: str, match: re.Match[str]) -> Iterator[Command]:
    """``\\def\\name#1{…}``; one with text between its arguments is passed over."""
    name = re.compile(r"\s*(\\(?:[A-Za-z@]+|.))").match(text, match.end())
    parameters = _PARAMETERS.match(text, name.end()) if name else None
    body = group(text, parameters.end()) if parameters else None
    if name and parameters and body:
        count = len(parameters[1]) // 2
        written = _bold(body[0], count)
        yield Command(match.start(), body[1], name[1][1:], [written, count] if count else written)


def _bold(body: str, count: int) -> str:
    """Return the body of a command, that of ``\\vec`` in Springer's classes as bold symbols."""
    return r"\boldsymbol{#1}" if count == 1 and "\\boldmath" in body else body


def _let(text: str, match: re.Match[str]) -> Iterator[Command]:
    told = _LET.match(text, match.end())
    if told and told[1] != told[2]:
        yield Command(match.start(), told.end(), told[1][1:], told[2], alias=True)


def _pair(text: str, match: re.Match[str]) -> Iterator[Command]:
    """A pair of delimiters; with ``X`` a body behind it, with ``XPP`` more before and behind."""
    name = _NAME.match(text, match.end())
    if name is None:
        return
    count = _COUNT.match(text, name.end())
    at, parts = (count or name).end(), list[str]()
    while len(parts) < {"X": 3, "P": 5}.get(match["pair"][-1], 2):
        sign = _DELIMITER.match(text, at)
        part = group(text, at) or (sign and (sign[1], sign.end()))
        if not part:
            return
        at = part[1]
        parts.append(part[0])
    body = parts.pop().replace("\\delimsize", "\\middle") if len(parts) > 2 else "#1"
    before, left, right, behind = parts if len(parts) == 4 else ("", *parts, "")
    macro = [f"{before}\\left{left} {body} \\right{right}{behind}", int(count[1]) if count else 1]
    yield Command(match.start(), at, name[1][1:], macro, pair=True)


def _environment(text: str, match: re.Match[str]) -> Iterator[Command]:
    """An environment without arguments: two commands, ``begin{name}`` and ``end{name}``."""
    name = group(text, match.end())
    first = group(text, name[1]) if name else None
    last = group(text, first[1]) if first else None
    if name and first and last:
        yield Command(match.start(), last[1], f"begin{{{name[0]}}}", first[0])
        yield Command(match.start(), last[1], f"end{{{name[0]}}}", last[0])


def _document(text: str, match: re.Match[str]) -> Iterator[Command]:
    """``\\NewDocumentCommand\\name{O{default} m m}{…}``."""
    name = _NAME.match(text, match.end())
    told = group(text, name.end()) if name else None
    arguments = _ARGUMENTS.match(told[0]) if told else None
    body = group(text, told[1]) if told else None
    if name and arguments and body:
        default = [] if arguments["default"] is None else [arguments["default"]]
        count = len(default) + arguments["rest"].count("m")
        macro = [body[0], count, *default] if count else body[0]
        yield Command(match.start(), body[1], name[1][1:], macro)


_READ = {
    "new": _new, "operator": _operator, "text": _def, "let": _let, "pair": _pair,
    "environment": _environment, "document": _document,
}  # fmt: skip
