"""Printed conditions: ``x > 0``, ``\\Re z > 0``, ``n = 0, 1, \\dots``, ``z \\neq 0``.

They decide which numbers are drawn. A part behind the last relation of a display, set apart by a
comma, is a condition where it orders or lists its symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.operations import RELATIONS
from checked_equations.latex import tree as t
from checked_equations.latex.names import joined, normal

from .letter_conventions import Known
from .token_patterns import (
    ORDERS,
    Pattern,
    behind_script,
    behind_symbol,
    is_symbol,
    pieces_of,
    row_of,
    stretches,
    texts,
)
from .unbound_statement import NotRead, Reading, mentions, read

_BESIDE = Pattern("<symbol:key> <round:said>")  # `a\;(>0)`, `b\;(\in\mathbb{C})`
_SAYS = ORDERS | {"\\in"}
_RELATES = _SAYS | {"="}
_LISTED = Pattern("<symbol:key> =")
_MEMBER = Pattern("\\in \\mathbb { <set:set> }", set="NZRC")
_TENDS = Pattern("<symbol:key> \\to ?<sign> <goal:goal> ?<sign>", sign="+-", goal=["\\infty", "0"])
_SHARES = (  # `\sum_k p_k = 1`
    Pattern("\\sum _ <group:runs> <symbol:key> _ { <small:index> } = 1"),
    Pattern("\\sum _ <group:runs> ^ <group> <symbol:key> _ { <small:index> } = 1"),
)
_KIND = {"N": "natural", "Z": "whole", "R": "real", "C": "complex_"}


@dataclass(frozen=True)
class Condition:
    """A condition: its text, its relations or its list, or the symbol that it defines."""

    latex: str
    steps: tuple[t.Step, ...] = ()
    whole: str = ""
    first: int = 0
    kinds: tuple[tuple[str, str], ...] = ()
    defines: str = ""
    symbols: tuple[str, ...] = ()
    shares: str = ""  # a letter whose entries sum to one
    solved: bool = False  # whether that is not how it is printed

    def value(self, bindings: Mapping[str, Any]) -> Any:
        """Return the value of the symbol that it defines."""
        return Evaluator(bindings).value(self.steps[0].right)

    def holds(self, bindings: Mapping[str, Any]) -> bool:
        """Return whether numbers meet it; those for which it has no value do not."""
        if self.defines or self.shares:
            return True
        if self.whole:
            value = bindings.get(self.whole, self.first)
            return bool(np.isreal(value) and value == int(value.real) and value.real >= self.first)
        evaluator = Evaluator(bindings)
        try:
            return all(_meets(step, evaluator) for step in self.steps)
        except (EquationError, OperationError):
            return False


def _meets(step: t.Step, evaluator: Evaluator) -> bool:
    left, right = evaluator.value(step.left), evaluator.value(step.right)
    if step.relation == "\\ne":
        return bool(np.abs(left - right) > 1e-6)
    if np.max(np.abs(np.imag(left))) + np.max(np.abs(np.imag(right))) > 1e-12:
        return False
    return RELATIONS[step.relation](np.real(left), np.real(right))


def tends(text: str) -> bool:
    """Return whether a condition says where a variable goes: ``x \\to \\infty``."""
    return goal_of(text) is not None


def goal_of(text: str) -> tuple[str, str] | None:
    """Return the variable of ``x \\to \\infty``, and where it goes."""
    found = _TENDS.whole(text)
    if found is None:
        return None
    signs = texts(found.row[2:])
    return found["key"], signs[0] + signs[1] if signs[0] in "+-" else signs[0]


def conditions_of(
    texts: Iterable[str], known: Known, symbols: Sequence[str]
) -> tuple[tuple[Condition, ...], list[str]]:
    """Those of `texts` that are conditions on `symbols`, and those that cannot be read.

    Only a relation is a condition, and one on other symbols belongs to another display.
    """
    found: list[Condition] = []
    unread = []
    for text in texts:
        one = condition_of(text, known)
        if one is None:
            unread += [text] * _relates(text)
        elif one.defines in symbols if one.defines else set(one.symbols) <= set(symbols):
            found.append(one)
        elif one.solved:
            unread.append(text)
    return tuple(found), unread


def _relates(text: str) -> bool:
    return not _RELATES.isdisjoint(texts(pieces_of(text)))


def condition_of(text: str, known: Known) -> Condition | None:
    """The condition that `text` states, or nothing.

    >>> from .letter_conventions import known
    >>> condition_of("0 < x < 1", known({})).holds({"x": 0.5})
    True
    >>> condition_of("n = 0, 1, 2, \\\\dots", known({})).first
    0
    >>> condition_of("a, b > 0", known({})).holds({"a": 1.0, "b": -1.0})
    False
    """
    text = text.strip().strip(".,; ")
    beside = _BESIDE.whole(text)
    if beside and beside.row[2].text in _SAYS:
        text = f"{beside['key']} {beside['said']}"
    for form in (_listed, _member, _sharing):
        if found := form(text):
            return found
    keys, said = _each(text)
    if keys:
        every = [condition_of(f"{key} {said}", known) for key in keys]
        told = [one for one in every if one is not None and one.steps and not one.defines]
        if len(told) < len(every):
            return None
        symbols = dict.fromkeys(key for one in told for key in one.symbols)
        return Condition(text, tuple(s for one in told for s in one.steps), symbols=tuple(symbols))
    try:
        reading = read(text, known)
    except NotRead:
        return None
    steps = reading.statement.steps
    if reading.unknown:
        return None
    if steps and all(step.relation in ORDERS for step in steps):
        return Condition(text, steps, symbols=_free(reading, known))
    return _definition(text, reading, known)


def _listed(text: str) -> Condition | None:
    """``n = 0, 1, \\dots``: the whole numbers from the first on."""
    row = row_of(text)
    head = _LISTED.at(text, row, 0)
    parts = ["".join(texts(part)) for part in stretches(row[head.end :], ",")] if head else []
    if head is None or "\\dots" not in parts[1:]:
        return None
    listed = parts[: parts.index("\\dots")]
    if not all(one.removeprefix("-").isdigit() for one in listed):
        return None
    key = normal(head["key"])
    whole = ((key, "whole"),)
    return Condition(text, whole=key, first=int(listed[0]), kinds=whole, symbols=(key,))


def _member(text: str) -> Condition | None:
    """``a, b \\in \\mathbb{R}``."""
    row = row_of(text)
    at = next((i for i, token in enumerate(row) if token.text == "\\in"), 0)
    keys = ["".join(texts(part)) for part in stretches(row[:at], ",")]
    member = _MEMBER.at(text, row, at)
    if member is None or member.end < len(row) or not all(map(is_symbol, keys)):
        return None
    kinds = tuple((key, _KIND[member["set"]]) for key in keys)
    return Condition(text, kinds=kinds, symbols=tuple(keys))


def _sharing(text: str) -> Condition | None:
    """``\\sum_k p_k = 1``."""
    found = next(filter(None, (pattern.whole(text) for pattern in _SHARES)), None)
    runs = texts(found.row[slice(*found.parts["runs"])]) if found else []
    if found is None or runs not in ([found["index"]], *([found["index"], "=", n] for n in "01")):
        return None
    key = normal(found["key"])
    return Condition(text, symbols=(key,), shares=key)


def _each(text: str) -> tuple[list[str], str]:
    """The symbols of ``a, b > 0``, with the condition on each of them."""
    row = row_of(text)
    at = next((i for i, token in enumerate(row) if token.text in ORDERS), 0)
    listed = stretches(row[:at], ",")
    ends = (behind_script(one, behind_symbol(one, 0), "_") for one in listed)
    if len(listed) < 2 or not all(
        end == len(one) > 0 for end, one in zip(ends, listed, strict=True)
    ):
        return [], ""
    return [joined(one) for one in listed], text[row[at].start :]


def _free(reading: Reading, known: Known) -> tuple[str, ...]:
    return tuple(key for key in reading.symbols if key not in known.constants)


def _definition(text: str, reading: Reading, known: Known) -> Condition | None:
    """``K = A + B``: the meaning of a symbol; a bare number is a case, and no definition."""
    steps = reading.statement.steps
    if len(steps) != 1 or steps[0].relation not in ("=", ":="):
        return None
    step = _solved(steps[0]) or steps[0]
    left, right = step.left, step.right
    if not isinstance(left, t.Name) or mentions(right, left.key) or not has_symbols(right):
        return None
    symbols = tuple(key for key in _free(reading, known) if key != left.key)
    solved = step is not steps[0]
    return Condition(text, (step,), defines=left.key, symbols=symbols, solved=solved)


def _solved(step: t.Step) -> t.Step | None:
    """``p + q = 1`` and ``1/p + 1/q = 1``, solved for the last of their symbols."""
    left = step.left
    if not isinstance(left, t.Sum):
        return None
    below = [_reciprocal(one) for one in left.terms]
    terms = [one for one in (below if all(below) else left.terms) if isinstance(one, t.Name)]
    alike = len({one.key for one in terms}) < len(left.terms)
    if alike or any(mentions(step.right, one.key) for one in terms):
        return None
    *others, sign = left.signs
    rest = t.Sum((step.right, *left.terms[:-1]), (sign, *(-sign * one for one in others)))
    return t.Step(terms[-1], "=", t.Quotient(t.Number(1.0), rest) if all(below) else rest)


def _reciprocal(term: t.Node) -> t.Node | None:
    """Return what stands below one."""
    if isinstance(term, t.Quotient) and term.numerator == t.Number(1.0):
        return term.denominator
    return None


def has_symbols(node: t.Node) -> bool:
    """Return whether symbols stand in it."""
    return any(isinstance(part, t.Name) for part in t.parts(node))
