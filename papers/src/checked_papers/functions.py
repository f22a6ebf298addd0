"""What a function is that the text defines, written where it is called.

Of ``f(x) = x^2`` the call ``f(y + 1)`` becomes ``(y + 1)^2``, and ``f'(x)`` the derivative by x of
``x^2``. Only what cannot be tried otherwise is written so, and only what then holds is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .sources.commands import group

_MOST = 3
_PIECE = re.compile(r"\\[A-Za-z]+\s*|\\.|\s+|.", re.DOTALL)
_FONT = (
    r"\\(?:mathbf|boldsymbol|bm|mathcal)\s*"
    r"(?:\{\s*(?:[A-Za-z]|\\[A-Za-z]+)\s*\}|[A-Za-z](?![A-Za-z]))"
)
_SYMBOL = rf"(?:{_FONT}|\\[A-Za-z]+|[A-Za-z])"
_DEFINITION = re.compile(
    rf"\s*(?P<name>{_SYMBOL}(?:_(?:\w|\{{\w+\}}))?)\s*(?:\\left)?\(\s*"
    rf"(?P<of>{_SYMBOL}(?:\s*,\s*{_SYMBOL})*)\s*(?:\\right)?\)\s*:?=(?P<body>[^=<>]+)"
)
_NOT_BY_NAME = frozenset(["p", "q", "P", "d", "E"])  # letters of many functions, and of none
_TEXTS = frozenset([r"\text", r"\mathrm", r"\operatorname", r"\mbox", r"\begin", r"\end"])
_PRIMES = re.compile(r"\s*(?:(?P<plain>'+)|\^\s*(?:\\prime|\{\s*(?P<many>(?:\\prime\s*)+)\}))")
_OPENS = re.compile(r"\s*(?:\\left\s*)?\(")
_POWER = r"\^\s*(?:\d|\{\s*\d\s*\})"
_ORDERED = re.compile(rf"(?:\\partial|\\mathrm\s*\{{\s*d\s*\}}|\\mathrm\s+d|d)\s*(?:{_POWER})?\s*$")
_NABLA = re.compile(rf"\\nabla\s*(?P<power>{_POWER})?\s*$")
_NABLA_BY = re.compile(rf"\\nabla\s*_\s*(?:\{{[^{{}}]*(?:\{{\w+\}})?\s*\}}|\w)\s*(?:{_POWER})?\s*$")


@dataclass(frozen=True)
class Defined:
    """A function of `of` by its `name`, and the LaTeX of its `body`."""

    name: str
    of: tuple[str, ...]
    body: str


@lru_cache(maxsize=4096)
def defined(latex: str) -> Defined | None:
    """The function that `latex` defines; what is solved or held, as ``f(x) = 0``, defines none.

    >>> defined(r"f(x, y) = x^2 + y.")
    Defined(name='f', of=('x', 'y'), body='x^2 + y')
    """
    match = _DEFINITION.match(latex)
    if match is None or match["name"].strip() in _NOT_BY_NAME:
        return None
    name, body = match["name"].strip(), match["body"].strip().rstrip(".,; ")
    of = tuple(one.strip() for one in match["of"].split(","))
    starts = _starts(body)
    recursive = any(_at(body, i, name) for i in starts)
    solved = body in of or not any(_at(body, i, one) for i in starts for one in of)
    return None if recursive or solved else Defined(name, of, body)


def with_functions(latex: str, functions: Iterable[Defined]) -> str:
    """`latex` with each call of `functions`, and each derivative, by what the function is.

    >>> with_functions("f(a) - f'(x)", [Defined("f", ("x",), "x^2")])
    '\\\\left({a}^2\\\\right) - \\\\frac{d}{d x}\\\\left(x^2\\\\right)'
    """
    ours = list(functions)
    for _ in range(_MOST):  # of one another, and of calls within calls
        before = latex
        for one in ours:
            latex = _with(latex, one)
        if latex == before:
            break
    return latex


def _with(latex: str, function: Defined) -> str:
    done, last = "", 0
    for start in _starts(latex):
        end = _at(latex, start, function.name) if start >= last else 0
        if not end or _goes_on(latex, end):
            continue
        before = done + latex[last:start]
        written = _written(before, latex, end, function)
        if written:
            kept, put, last = written
            done = kept + put
        else:
            done, last = before + latex[start:end], end
    return done + latex[last:]


def _written(before: str, latex: str, end: int, function: Defined) -> tuple[str, str, int] | None:
    """What stands before it, what it is, and where what is behind begins."""
    primes, end = _primes(latex, end)
    arguments, end = _arguments(latex, end)
    own = arguments in ((), function.of)
    nabla = _NABLA.search(before)
    derived = nabla or _NABLA_BY.search(before) or _ORDERED.search(before)
    bare = not (primes or arguments or derived)
    several = len(function.of) > 1 and (primes or nabla)
    if bare or several or (arguments and len(arguments) != len(function.of)):
        return None
    if primes:
        return before, _slope(function, primes, () if own else arguments), end
    put = dict(zip(function.of, arguments, strict=True)) if not own else {}
    body = _put(function.body, put) if put else function.body
    if nabla:
        by = arguments[0] if arguments else function.of[0]
        before = f"{before[: nabla.start()]}\\nabla_{{{by}}}{nabla['power'] or ''} "
        body = body if re.fullmatch(_SYMBOL, by) else ""
    return (before, _bracketed(body), end) if body else None


def _slope(function: Defined, order: int, arguments: tuple[str, ...]) -> str:
    power = f"^{order}" if order > 1 else ""
    by = function.of[0]
    slope = rf"\frac{{d{power}}}{{d {by}{power}}}{_bracketed(function.body)}"
    return rf"\left.{slope}\right|_{{{by} = {arguments[0]}}}" if arguments else slope


def _bracketed(latex: str) -> str:
    return rf"\left({latex}\right)"


def _put(body: str, values: dict[str, str]) -> str:
    """The body at other arguments; nothing where an argument stands with a subscript in it."""
    out, last = "", 0
    for start in _starts(body):
        for name, value in values.items():
            end = _at(body, start, name) if start >= last else 0
            if end and _goes_on(body, end):
                return ""
            if end:
                out, last = f"{out}{body[last:start]}", end
                out += _argument(out, value)
    return out + body[last:]


def _argument(before: str, value: str) -> str:
    """An argument behind what stands `before` it, which must not seem to be called with it."""
    if re.fullmatch(_SYMBOL, value):
        return f"{{{value}}}"
    called = before.rstrip()[-1:].isalpha() and not re.search(r"\\[A-Za-z]+\s*$", before)
    return (r"\cdot " if called else "") + f"{{{_bracketed(value)}}}"


def _starts(latex: str) -> list[int]:
    """Where a symbol may begin: no letter of a command's or a function's name."""
    found, shut = [], 0
    for match in _PIECE.finditer(latex):
        if match.start() < shut:
            continue
        found.append(match.start())
        if match[0].strip() in _TEXTS:
            inside = group(latex, match.end())
            shut = inside[1] if inside else match.end()
    return found


def _at(latex: str, start: int, name: str) -> int:
    """Where `name` ends that begins at `start`; 0 if another does."""
    i = start
    for match in _PIECE.finditer(name):
        piece = match[0].strip()
        if not piece:
            continue
        while i < len(latex) and latex[i].isspace() and i > start:
            i += 1
        here = _PIECE.match(latex, i)
        if here is None or here[0].strip() != piece:
            return 0
        i += len(here[0].rstrip())
    return i


def _goes_on(latex: str, end: int) -> bool:
    """Whether a subscript makes another symbol of what ends there."""
    return latex[end:].lstrip().startswith("_")


def _primes(latex: str, at: int) -> tuple[int, int]:
    match = _PRIMES.match(latex, at)
    if match is None:
        return 0, at
    return len(match["plain"] or "") or (match["many"] or r"\prime").count(r"\prime"), match.end()


def _arguments(latex: str, at: int) -> tuple[tuple[str, ...], int]:
    """What a function is called with, and where the call ends."""
    opened = _OPENS.match(latex, at)
    parts, depth = [""], 0
    for match in _PIECE.finditer(latex, opened.end()) if opened else ():
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(match[0], 0)
        if depth < 0:
            parts[-1] = re.sub(r"\\right\s*$", "", parts[-1])
            return tuple(one.strip() for one in parts), match.end()
        if match[0] == "," and not depth:
            parts.append("")
        else:
            parts[-1] += match[0]
    return (), at
