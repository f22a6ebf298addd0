"""Printed conditions: ``x > 0``, ``\\Re z > 0``, ``n = 0, 1, \\dots``, ``z \\neq 0``.

They decide which numbers are drawn. What stands behind the last relation of a display, set
apart by a comma, is a condition where it orders or lists its symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.operations import RELATIONS
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal

from .knowledge import Known
from .reading import NotRead, Reading, mentions, read

_BESIDE = re.compile(  # `a\;(>0)`, `b\;(\in\mathbb{C})`
    r"^(?P<key>\\?[A-Za-z]+)(?:\s|\\[,;:!]|~)*(?:\\left)?\((?P<said>\s*(?:[<>]|\\(?:in|ge|le|geq|leq|ne|neq)(?![a-z]))[^()]+?)(?:\\right)?\)$"
)
ORDERS = frozenset({"<", ">", "\\le", "\\ge", "\\ne"})
_LISTED = re.compile(
    r"^\s*(?P<key>\\?[A-Za-z]+)\s*=\s*(?P<first>-?\d+)\s*,\s*(?:-?\d+\s*,\s*)*"
    r"\\[lc]?dots\s*(?:,\s*(?P<last>.+))?$"
)
_MEMBER = re.compile(
    r"^\s*(?P<keys>\\?[A-Za-z]+(?:\s*,\s*\\?[A-Za-z]+)*)\s*\\in\s*\\mathbb\s*\{?(?P<set>[NZRC])\}?\s*$"
)
_RELATES = re.compile(r"[=<>]|\\(le|ge|ne|lt|gt|in|leq|geq|neq)(?![a-z])")
TENDS = re.compile(
    r"^\s*(?P<key>\\?[A-Za-z]+)\s*\\(?:to|rightarrow)\s*(?P<to>[+-]?\\infty|0)\s*[+-]?\s*$"
)
_EACH = re.compile(  # `a, b > 0`
    r"^\s*(?P<keys>\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\s*,\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?)+)"
    r"\s*(?P<said>(?:[<>]|\\(?:ge|le|geq|leq|ne|neq)(?![a-z])).+)$",
    re.DOTALL,
)
_SHARES = re.compile(  # `\sum_k p_k = 1`
    r"^\s*\\sum(?:\\limits)?\s*_\s*\{?\s*(?P<index>[a-z])\s*(?:=\s*[01]\s*)?\}?"
    r"\s*(?:\^\s*(?:\{\s*\w+\s*\}|\w)\s*)?(?P<key>\\?[A-Za-z]+)\s*_\s*\{?\s*(?P=index)\s*\}?\s*=\s*1\s*$"
)
_KIND = {"N": "whole", "Z": "whole", "R": "real", "C": "complex_"}


@dataclass(frozen=True)
class Condition:
    """One condition: what it says, its relations or what is listed, or the symbol it defines."""

    latex: str
    steps: tuple[t.Step, ...] = ()
    whole: str = ""
    first: int = 0
    kinds: tuple[tuple[str, str], ...] = ()
    defines: str = ""
    symbols: tuple[str, ...] = ()
    shares: str = ""  # a letter whose entries sum to one

    def value(self, bindings: Mapping[str, Any]) -> Any:
        """What the symbol that it defines is."""
        return Evaluator(bindings).value(self.steps[0].right)

    def holds(self, bindings: Mapping[str, Any]) -> bool:
        """Whether numbers meet it; those for which it has no value do not."""
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
    """Whether a condition says where a variable goes: ``x \\to \\infty``."""
    return TENDS.match(text) is not None


def conditions_of(
    texts: Iterable[str], known: Known, symbols: Sequence[str]
) -> tuple[tuple[Condition, ...], list[str]]:
    """Those of `texts` that are conditions on `symbols`, and those that cannot be read.

    What is no relation is no condition, and one on other symbols is one on another display.
    """
    found: list[Condition] = []
    unread = []
    for text in texts:
        one = condition_of(text, known)
        if one is None:
            unread += [text] * bool(_RELATES.search(text))
        elif one.defines in symbols if one.defines else set(one.symbols) <= set(symbols):
            found.append(one)
    return tuple(found), unread


def condition_of(text: str, known: Known) -> Condition | None:
    """The condition that `text` states, or nothing.

    >>> from .knowledge import known
    >>> condition_of("0 < x < 1", known({})).holds({"x": 0.5})
    True
    >>> condition_of("n = 0, 1, 2, \\\\dots", known({})).first
    0
    >>> condition_of("a, b > 0", known({})).holds({"a": 1.0, "b": -1.0})
    False
    """
    text = text.strip().strip(".,; ")
    beside = _BESIDE.match(text)
    text = f"{beside['key']} {beside['said']}" if beside else text
    if listed := _LISTED.match(text):
        key = normal(listed["key"])
        whole = ((key, "whole"),)
        return Condition(text, whole=key, first=int(listed["first"]), kinds=whole, symbols=(key,))
    if member := _MEMBER.match(text):
        keys = [normal(key) for key in member["keys"].split(",")]
        kinds = tuple((key, _KIND[member["set"]]) for key in keys)
        return Condition(text, kinds=kinds, symbols=tuple(keys))
    if shares := _SHARES.match(text):
        key = normal(shares["key"])
        return Condition(text, symbols=(key,), shares=key)
    if each := _EACH.match(text):
        every = [condition_of(f"{key} {each['said']}", known) for key in each["keys"].split(",")]
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
    if _orders(steps):
        return Condition(text, steps, symbols=_free(reading, known))
    return _definition(text, reading, known)


def _free(reading: Reading, known: Known) -> tuple[str, ...]:
    return tuple(key for key in reading.symbols if key not in known.constants)


def _definition(text: str, reading: Reading, known: Known) -> Condition | None:
    """``K = A + B``: what a symbol stands for; a bare number is a case, and no definition."""
    steps = reading.statement.steps
    if len(steps) != 1 or steps[0].relation not in ("=", ":="):
        return None
    left, right = steps[0].left, steps[0].right
    if not isinstance(left, t.Name) or mentions(right, left.key) or not _symbols(right):
        return None
    symbols = tuple(key for key in _free(reading, known) if key != left.key)
    return Condition(text, steps, defines=left.key, symbols=symbols)


def _symbols(node: t.Node) -> bool:
    return any(isinstance(part, t.Name) for _, part in t.walk(node))


def _orders(steps: Sequence[t.Step]) -> bool:
    return bool(steps) and all(step.relation in ORDERS for step in steps)
