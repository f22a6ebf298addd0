"""Functions that the text defines, written out where they are called.

Of ``f(x) = x^2`` the call ``f(y + 1)`` becomes ``(y + 1)^2``, and ``f'(x)`` the derivative by x of
``x^2``. Only displays that cannot be tried otherwise are written so; only a success is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from checked_equations.latex.names import joined
from checked_equations.latex.tokenizer import FONTS, split, word_set

from .tried.token_patterns import (
    SEPARATORS,
    Pattern,
    Row,
    Span,
    behind_script,
    exchanged,
    function_head,
    is_letter,
    is_one_symbol,
    occurrences,
    row_of,
    shut_at,
    source,
    span_of,
    stretches,
    texts,
)

_MOST = 3
_NOT_BY_NAME = frozenset(["p", "q", "P", "d", "E"])  # letters of many functions, and of none
_FONTS = word_set(r"\mathbf \boldsymbol \mathcal")
_POWER = Pattern("^ { <digit:power> }")
_D = (Pattern("d"), Pattern("\\partial"), Pattern("\\mathrm { d }"))


@dataclass(frozen=True)
class Defined:
    """A function of `of` by its `name`, and the LaTeX of its `body`."""

    name: str
    of: tuple[str, ...]
    body: str


@lru_cache(maxsize=4096)
def defined(latex: str) -> Defined | None:
    """Return the function that `latex` defines; an equation to solve, ``f(x) = 0``, has none.

    >>> defined(r"f(x, y) = x^2 + y.")
    Defined(name='f', of=('x', 'y'), body='x^2 + y')
    """
    row = row_of(latex)
    head = function_head(row)
    if head is None:
        return None
    name, of, end = head
    index = name.partition("_")[2].strip("{}") or "i"
    fonts = FONTS.intersection(texts(row[:end])) - _FONTS
    if fonts or name in _NOT_BY_NAME or not index.isalnum():
        return None
    right = stretches(row[end:], ("=", "<", ">", ":="))[0]
    body = source(latex, right).strip().rstrip(".,; ")
    recursive = bool(occurrences(right, name))
    solved = body in of or not any(occurrences(right, one) for one in of)
    return None if recursive or solved else Defined(name, of, body)


def with_functions(latex: str, functions: Iterable[Defined]) -> str:
    """Return `latex` with each call and each derivative of `functions` written out.

    >>> with_functions("f(a) - f'(x)", [Defined("f", ("x",), "x^2")])
    '\\\\left({a}^2\\\\right) - \\\\left(\\\\frac{d}{d x}\\\\left(x^2\\\\right)\\\\right)'
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
    row, edits, last = row_of(latex), [], 0
    nucleus, _, below = function.name.partition("_")
    for start, end in occurrences(row, nucleus):
        if start < last:
            continue
        call = _Call.at(latex, row, (start, end), f"_{below}" if below else "")
        if call is None or not (written := call.written(function)):
            continue
        span = span_of(latex, row, written[0], call.end)
        if span:
            edits.append((span, written[1]))
            last = call.end
    return exchanged(latex, edits)


@dataclass(frozen=True)
class _Call:
    """A call of a function: place, primes, arguments, and the derivative in front of it."""

    latex: str
    row: Row
    start: int
    end: int
    primes: int
    arguments: tuple[str, ...]

    @classmethod
    def at(cls, latex: str, row: Row, place: Span, below: str) -> _Call | None:
        """The call at a place, if its subscript is `below`."""
        start, end = place
        primes = len(list(takewhile(lambda token: token.text == "'", row[end:])))
        end += primes
        shut = behind_script(row, end, "_")
        if joined(row[end:shut]) != below:
            return None
        opened = shut < len(row) and row[shut].text == "("
        close = shut_at(row, shut) if opened else -1
        if close < 0:
            return cls(latex, row, start, shut, primes, ())
        listed = split(row[shut + 1 : close], SEPARATORS)[0]
        arguments = tuple(source(latex, one).strip() for one in listed)
        return cls(latex, row, start, close + 1, primes, arguments)

    def written(self, function: Defined) -> tuple[int, str] | None:
        """Return where the expression that it stands for begins, and that; None if unclear."""
        own = self.arguments in ((), function.of)
        before, nabla, power = self._derived()
        several = len(function.of) > 1 and (self.primes or nabla)
        bare = not (self.primes or self.arguments or before < self.start)
        if bare or several or (self.arguments and len(self.arguments) != len(function.of)):
            return None
        if self.primes:
            return self.start, _slope(function, self.primes, () if own else self.arguments)
        values = dict(zip(function.of, self.arguments, strict=True)) if not own else {}
        body = _put(function.body, values) if values else function.body
        if not body or not nabla:
            return (self.start, _bracketed(body)) if body else None
        by = self.arguments[0] if self.arguments else function.of[0]
        behind = f"^{power}" if power else ""
        written = _bracketed(rf"\nabla_{{{by}}}{behind} {_bracketed(body)}")
        return (before, written) if is_one_symbol(row_of(by)) else None

    def _derived(self) -> tuple[int, bool, str]:
        """Return where the sign of a derivative begins, whether it is a nabla, and its power."""
        for before in range(max(self.start - 12, 0), self.start):
            row = self.row[: self.start]
            end, power = before, ""
            if row[before].text == "\\nabla":
                end = behind_script(row, before + 1, "_")
            elif found := next(filter(None, (one.at("", row, before) for one in _D)), None):
                end = found.end
            if end > before and (raised := _POWER.at("", row, end)):
                power, end = row[raised.parts["power"][0]].text, raised.end
            if end == self.start:
                nabla = row[before].text == "\\nabla" and self.row[before + 1].text != "_"
                return before, nabla, power
        return self.start, False, ""


def _slope(function: Defined, order: int, arguments: tuple[str, ...]) -> str:
    power = f"^{order}" if order > 1 else ""
    by = function.of[0]
    slope = rf"\frac{{d{power}}}{{d {by}{power}}}{_bracketed(function.body)}"
    there = rf"\left.{slope}\right|_{{{by} = {arguments[0]}}}" if arguments else slope
    return _bracketed(there)  # or what stands behind would be differentiated as well


def _bracketed(latex: str) -> str:
    return rf"\left({latex}\right)"


def _put(body: str, values: Mapping[str, str]) -> str:
    """Return the body at other arguments; nothing where one stands with a subscript in it."""
    row, edits = row_of(body), []
    for name, value in values.items():
        for start, end in occurrences(row, name):
            span = span_of(body, row, start, end)
            if span is None or (end < len(row) and row[end].text == "_"):
                return ""
            # what stands before an argument must not seem to be called with it
            alone = is_one_symbol(row_of(value))
            called = start > 0 and is_letter(row[start - 1].text) and not alone
            put = value if alone else _bracketed(value)
            edits.append((span, (r"\cdot " if called else "") + f"{{{put}}}"))
    return exchanged(body, edits)
