"""A display that nobody bound: its statement, and the symbols that stand in it freely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..errors import EquationError
from ..evaluate.ellipsis import DOTS
from ..latex import tree as t
from ..latex.names import joined
from ..latex.parser import parse
from ..latex.tokenizer import closing, tokens
from .knowledge import Known

_END = ".,; \n"


class NotRead(ValueError):
    """Why a display is not read."""


@dataclass(frozen=True)
class Reading:
    """A statement, the symbols that numbers are drawn for, and the functions that are not known."""

    latex: str
    statement: t.Statement
    symbols: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    far: str = ""  # the symbol that is large, of an asymptotic expansion


def read(latex: str, known: Known) -> Reading:
    """The statement of `latex`, whose letters nobody bound. Raises `NotRead`."""
    latex = latex.rstrip(_END)
    try:
        # a first look says what is called, what runs, what has an index
        first = parse(latex, known.kinds, free=True)
        found = dict.fromkeys(_letters(first, latex, known), "value")
        second = parse(latex, {**known.kinds, **found}, free=True)
    except EquationError as wrong:
        raise NotRead(str(wrong.problem)) from wrong
    _refuse_unread(second, known)
    statement = _settled(second, frozenset(found) | _running(second))
    parts = [part for _, part in t.walk(statement)]
    free = [p.key for p in parts if isinstance(p, t.Name) and p.key not in {*known.kinds, DOTS}]
    called = [p.key for p in parts if isinstance(p, t.Apply) and p.key not in {*known.kinds, DOTS}]
    return Reading(latex, statement, tuple(dict.fromkeys(free)), tuple(dict.fromkeys(called)))


def _refuse_unread(statement: t.Statement, known: Known) -> None:
    """Raise `NotRead` for an unknown word, and for a side of a cut: ``x + \\mathrm i 0``."""
    for _, part in t.walk(statement):
        word = _key(part).partition("_")[0]
        roman = word.startswith("\\mathrm{") and len(word) > len("\\mathrm{d}")
        if isinstance(part, t.Name) and roman and part.key not in known.kinds:
            raise NotRead(f"the function `{part.key}` is not known")
        factors = part.factors if isinstance(part, t.Product) else ()
        if t.Number(0.0) in factors and any(_key(f) in ("i", "\\mathrm i") for f in factors):
            raise NotRead("a side of a branch cut is not read")


def mentioned(node: t.Node) -> frozenset[str]:
    """The symbols, functions and running variables that occur in `node`."""
    parts = (part for _, part in t.walk(node))
    return frozenset(name for part in parts for name in (_key(part), getattr(part, "name", "")))


def mentions(node: t.Node, key: str) -> bool:
    """Whether a symbol, a function or a running variable called `key` occurs in `node`."""
    return key in mentioned(node)


def _running(node: t.Node) -> frozenset[str]:
    """The variables of sums and integrals."""
    return frozenset(key for _, part in t.walk(node) for key in _runs(part))


def _runs(part: t.Node) -> tuple[str, ...]:
    if isinstance(part, t.Reduction):
        return (part.over.index,)
    if isinstance(part, t.Integral) and part.first is not None:
        return part.variables
    return ()


def _letters(statement: t.Statement, latex: str, known: Known) -> Iterator[str]:
    """The free symbols of a first reading: a subscript that does not run is part of its symbol."""
    running = _running(statement)
    whole: set[int] = set()
    for _, part in t.walk(statement):
        if isinstance(part, t.Subscript) and isinstance(part.base, t.Name):
            inner = [p for index in part.indices for _, p in t.walk(index)]
            if not any(getattr(p, "key", "") in running for p in inner):
                whole.add(id(part.base))
                yield _written(latex, part.span)
    for _, part in t.walk(statement):
        named = isinstance(part, t.Name) and id(part) not in whole and part.key not in known.kinds
        called = isinstance(part, t.Apply) and known.is_number(part.key)
        if (named or called) and _key(part) not in {*running, DOTS}:
            yield _key(part)


def _key(part: t.Node) -> str:
    key: str = getattr(part, "key", "")
    return key


def _written(latex: str, span: t.Span) -> str:
    """The normal form of the symbol with its subscript that begins there."""
    row = tokens(latex[slice(*span)])
    ends = (closing(row, i + 1) + 1 for i, token in enumerate(row) if token.text == "_")
    return joined(row[: next(ends, len(row))])


def _settled(statement: t.Statement, numbers: frozenset[str]) -> t.Statement:
    """`statement` where a number before brackets is a factor: ``t(1 - t)^2``."""

    def factor(call: t.Apply, rest: t.Node) -> t.Node:
        return t.Product((t.Index(call.key, span=call.span), rest), span=call.span)

    def of(part: t.Node) -> t.Node:
        if isinstance(part, t.Apply) and part.key in numbers and len(part.arguments) == 1:
            return factor(part, of(part.arguments[0]))
        if isinstance(part, t.Power) and isinstance(part.base, t.Apply):
            call = part.base
            if call.key in numbers and len(call.arguments) == 1:
                power = t.Power(of(call.arguments[0]), of(part.exponent), span=part.span)
                return factor(call, power)
        return t.mapped(part, of)

    steps = tuple(replace(s, left=of(s.left), right=of(s.right)) for s in statement.steps)
    return replace(statement, steps=steps)
