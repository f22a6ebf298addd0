"""An unbound display: its statement, and the symbols that stand in it freely."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from string import ascii_letters, digits

from checked_equations.errors import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.names import joined
from checked_equations.latex.parser import parse
from checked_equations.latex.tokenizer import closing, tokens
from checked_equations.latex.vocabulary import DIFFERENTIALS, IDENTITIES, TRANSPOSES

from ..numerics.ellipsis import DOTS
from .entries import entries_in, linked
from .index_ranges import paired
from .letter_conventions import Known

_END = ".,; \n"
_INDEX = frozenset(ascii_letters + digits + "{}+-,")


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
    """The statement of `latex`, whose letters are not bound. Raises `NotRead`."""
    latex = re.sub(r"\\$", "", latex.rstrip(_END)).rstrip(_END)  # of `\ .`
    try:
        # a first look says what is called, what runs, what has an index
        first = _parsed(latex, frozenset(known.kinds.items()))
        found = dict.fromkeys(_letters(first, latex, known), "value")
        kinds = frozenset({**known.kinds, **found}.items())
        second = first if _is_settled(first, found.keys()) else _parsed(latex, kinds)
    except EquationError as wrong:
        raise NotRead(str(wrong.problem)) from wrong
    _refuse_unread(second, known)
    statement = linked(_settled(second, frozenset(found) | runs_in(second)))
    found_in = entries_in(statement)
    if both := sorted(found_in.unranged & found_in.letters):
        raise NotRead(f"`{both[0]}` runs, and stands free as well: write its range")
    parts = t.parts(statement)
    free = [p.key for p in parts if isinstance(p, t.Name) and p.key not in {*known.kinds, DOTS}]
    called = [p.key for p in parts if isinstance(p, t.Apply) and p.key not in {*known.kinds, DOTS}]
    return Reading(latex, statement, tuple(dict.fromkeys(free)), tuple(dict.fromkeys(called)))


RATIONAL = frozenset(
    {t.Statement, t.Step, t.Name, t.Number, t.Sum, t.Product, t.Quotient, t.Inverse, t.Transpose,
     t.Block}
)  # fmt: skip
_SETTLED = RATIONAL | {t.Constant, t.Power, t.Root, t.Function}
_OTHERWISE = TRANSPOSES | DIFFERENTIALS | IDENTITIES  # as long as these are not known


def _is_settled(first: t.Statement, symbols: Set[str]) -> bool:
    """Return whether a first look, in which nothing runs or is called, has its `symbols` whole."""
    parts = t.parts(first)
    plain = not first.conditions and _SETTLED.issuperset(map(type, parts))
    names = {part.key for part in parts if isinstance(part, t.Name)} - _OTHERWISE
    return plain and symbols <= names and not any("'" in key or "^" in key for key in symbols)


def _parsed(latex: str, kinds: frozenset[tuple[str, str]]) -> t.Statement:
    found = _parsed_or_why(latex, kinds)
    if isinstance(found, str):
        raise NotRead(found)
    return found


@lru_cache(maxsize=1024)
def _parsed_or_why(latex: str, kinds: frozenset[tuple[str, str]]) -> t.Statement | str:
    """Return the statement, or why it is none: either is asked for more than once."""
    try:
        return paired(parse(latex, dict(kinds), free=True))
    except EquationError as wrong:
        return str(wrong.problem)


def _refuse_unread(statement: t.Statement, known: Known) -> None:
    """Raise `NotRead` for an unknown word, and for a side of a cut: ``x + \\mathrm i 0``."""
    for part in t.parts(statement):
        word = _key(part).partition("_")[0]
        roman = word.startswith("\\mathrm{") and len(word) > len("\\mathrm{d}")
        if isinstance(part, t.Name) and roman and part.key not in known.kinds:
            raise NotRead(f"the function `{part.key}` is not known")
        factors = part.factors if isinstance(part, t.Product) else ()
        if t.Number(0.0) in factors and any(_key(f) in ("i", "\\mathrm i") for f in factors):
            raise NotRead("a side of a branch cut is not read")


def mentioned(node: t.Node) -> frozenset[str]:
    """The symbols, functions and running variables that occur in `node`."""
    told = ("key", "name", "distribution")
    return frozenset(getattr(part, one, "") for part in t.parts(node) for one in told)


def mentions(node: t.Node, key: str) -> bool:
    """Return whether a symbol, a function or a running variable called `key` occurs in `node`."""
    return key in mentioned(node)


def runs_in(node: t.Node) -> frozenset[str]:
    """The variables of sums and integrals."""
    return frozenset(key for part in t.parts(node) for key in _runs(part))


def _runs(part: t.Node) -> tuple[str, ...]:
    if isinstance(part, t.Reduction):
        return (part.over.index,)
    if isinstance(part, t.Integral) and part.first is not None:
        return part.variables
    return ()


def _letters(statement: t.Statement, latex: str, known: Known) -> Iterator[str]:
    """The free symbols of a first reading: a subscript that does not run is part of its symbol."""
    running = runs_in(statement)
    rows = _with_entries(statement, running)
    whole: set[int] = set()
    for part in t.parts(statement):
        if isinstance(part, t.Subscript) and isinstance(part.base, t.Name):
            runs = any(_key(p) in running for p in _indices(part))
            counts = part.base.key in rows and all(map(_may_count, _indices(part)))
            if not (runs or counts):
                whole.add(id(part.base))
                yield _written(latex, part.span)
    functions = _called_by_a_letter(statement)
    for part in t.parts(statement):
        named = isinstance(part, t.Name) and id(part) not in whole and part.key not in known.kinds
        called = isinstance(part, t.Apply) and known.is_number(part.key)
        base, _, index = _key(part).partition("_") if named else ("", "", "")
        if base in rows and set(index) <= _INDEX:  # `x_{n + 1}` where a sum runs over `x_k`
            yield from (base, *filter(str.isalpha, index))
        elif (named or called) and _key(part) not in {*running, *functions, DOTS}:
            yield _key(part)


def _called_by_a_letter(statement: t.Statement) -> frozenset[str]:
    """Return the symbols before brackets with one letter: ``f(x)``, where no one writes a factor.

    So it is a function everywhere, in ``V(a x) + V(x)`` and in ``(f + g)(x) = f(x) + g(x)``.
    """
    parts = t.parts(statement)
    calls = (part for part in parts if isinstance(part, t.Apply) and len(part.arguments) == 1)
    return frozenset(call.key for call in calls if isinstance(call.arguments[0], t.Name))


def _with_entries(statement: t.Statement, running: frozenset[str]) -> frozenset[str]:
    """The symbols that a running index takes an entry of: in ``x_1 - \\sum_i x_i / n`` the x."""
    parts = (part for part in t.parts(statement) if isinstance(part, t.Subscript))
    named = (part for part in parts if isinstance(part.base, t.Name))
    return frozenset(
        _key(part.base) for part in named if any(_key(p) in running for p in _indices(part))
    )


def _indices(part: t.Subscript) -> list[t.Node]:
    """All that stands in a subscript."""
    return [inner for index in part.indices for inner in t.parts(index)]


def _may_count(part: t.Node) -> bool:
    """Return whether it may be a part of an index, as in ``x_{n - 1}``: no word, no mark."""
    return len(_key(part)) < 2 and not isinstance(part, t.Apply | t.Subscript)


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
