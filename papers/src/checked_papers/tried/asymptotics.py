"""Statements that hold in the limit: ``f(x) \\sim g(x)``, and sums whose dots leave the rest open.

Of ``f \\sim a + b + \\dots`` the difference of f and a, over b, must tend to one: so every printed
term counts. The way to the limit is halved or doubled, and the ratio's distance from one falls by a
power, which is fitted; where it does not, as with a logarithm of the variable, there is no verdict.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checked_equations.check.mutants import Mutant
from checked_equations.check.statements import BoundStatement
from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex import tree as t
from checked_equations.latex.builder.dots import is_dots
from checked_equations.latex.names import normal

from ..numerics import unbound
from .conditions import goal_of
from .drawing import Sample
from .entries import entries_in
from .expansions import by_rank
from .sample_fates import Fate, Trial, bound_on, told_apart
from .unbound_statement import Reading, mentions

_CLOSE = 2e-3  # of one, for the limit of a ratio
_LOST = 1e-7  # of a side: a difference below has no digits
_FEW = 4  # ratios on the way


@dataclass(frozen=True)
class Way:
    """A variable and its limit."""

    key: str
    to_zero: bool = False
    sign: int = 1

    def __str__(self) -> str:
        """Describe the limit for a reader."""
        return f"as {self.key} goes to {'0' if self.to_zero else 'infinity'}"

    def places(self, start: complex) -> Iterator[complex]:
        """On the way, in the direction of a number that was drawn."""
        turn = start / abs(start) if start else 1.0
        for k in range(2, 13):
            place = self.sign * turn * (2.0**-k if self.to_zero else 2.0**k)
            yield place if complex(place).imag else float(complex(place).real)


def ways_of(body: Reading, conditions: Iterable[str], *, by_custom: bool) -> list[Way]:
    """Where the statement may be meant to hold: as the text says, or else far out, `by_custom`."""
    if not any(step.relation == "\\sim" for step in body.statement.steps):
        return []
    numbers = [key for key in body.symbols if key not in entries_in(body.statement).axes]
    for letter, goal in filter(None, map(goal_of, conditions)):
        key = normal(letter)
        if key in numbers:
            return [Way(key, goal == "0", -1 if goal[0] == "-" else 1)]
    if not by_custom:
        return []
    steps = [step for step in body.statement.steps if step.relation == "\\sim"]
    keys = [key for key in numbers if all(mentions(step, key) for step in steps)]
    return [Way(key) for key in sorted(keys, key=by_rank)]


@dataclass(frozen=True)
class LimitTrial(Trial):
    """A statement that holds where a variable goes `way`."""

    way: Way | None = None

    def _fate_of(self, sample: Sample) -> Fate:
        try:
            residual = max(self._miss(step, sample.bindings) for step in self.statement.steps)
        except TimeoutError as late:
            return Fate(sample, None, False, str(late))
        except (EquationError, OperationError, ArithmeticError, ValueError) as wrong:
            return Fate(sample, None, False, str(getattr(wrong, "problem", wrong)))
        return Fate(sample, residual, residual < _CLOSE)

    def _bound(self) -> BoundStatement:
        return bound_on(self.statement, [fate.sample.bindings for fate in self.held], self.far)

    def _fate_of_mutant(self, bound: BoundStatement, mutant: Mutant) -> tuple[str, float | None]:
        worst = 0.0
        for draw in bound.draws:
            try:
                worst = max(self._miss(step, draw.bindings) for step in mutant.steps)
            except TimeoutError:
                return "undecided", None
            except (EquationError, OperationError, ArithmeticError, ValueError):
                return "caught", None
            if worst >= _CLOSE:
                return "caught", worst
        if mutant.claimed or mutant.harmless or _says_less(mutant):
            return "indistinct", worst
        return told_apart(bound, mutant, "survived"), worst

    def _miss(self, step: t.Step, bindings: Mapping[str, Any]) -> float:
        """Return the distance from one at which the ratio of a step ends."""
        assert self.way is not None, "given by who makes it"
        if step.relation != "\\sim":
            raise OperationError("an equality beside what holds in the limit")
        whole, before = _cut(step.right, last=True), _cut(step.right, last=False)
        ratios: list[complex] = []
        for place in self.way.places(complex(bindings[self.way.key])):
            ratio = _ratio(step.left, whole, before, {**bindings, self.way.key: place})
            if ratio is None and len(ratios) >= _FEW:
                break
            ratios += [ratio] if ratio is not None else []
        return abs(_end(ratios) - 1.0)


def _says_less(mutant: Mutant) -> bool:
    """Return whether it leaves more to the dots, which is as true: the last term, or their sign."""
    before, said = mutant.before, mutant.said
    open_end = isinstance(before, t.Sum) and any(map(is_dots, before.terms))
    return open_end and (said.startswith("drop the term") or said == "flip the sign of $\\dots$")


def _cut(node: t.Node, *, last: bool) -> t.Node | None:
    """A side without its dots, and without the `last` term before them; nothing of one term."""
    found = False

    def cut(part: t.Node) -> t.Node:
        nonlocal found
        if isinstance(part, t.Dots) and isinstance(part.body, t.Sum):
            body = part.body
            dots = (i for i, term in enumerate(body.terms) if is_dots(term))
            end = next(dots, len(body.terms))
            kept = end if last else end - 1
            if kept < 1:
                return t.Number(0.0)
            found = True
            return t.Sum(body.terms[:kept], body.signs[:kept], span=part.span)
        return t.mapped(part, cut)

    made = cut(node)
    return made if last or found else None


def _ratio(
    left: t.Node, whole: t.Node | None, before: t.Node | None, bindings: Mapping[str, Any]
) -> complex | None:
    ev = Evaluator(bindings, beyond=unbound)
    try:
        value = complex(ev.value(left))
        all_of = complex(ev.value(whole)) if whole is not None else 0j
        known = complex(ev.value(before)) if before is not None else 0j
    except (EquationError, OperationError, ArithmeticError, ValueError):
        return None
    below = all_of - known
    if below == 0 or abs(below) < _LOST * abs(value):
        return None
    return (value - known) / below


def _end(ratios: Sequence[complex]) -> complex:
    """Where ratios go that change by one factor from step to step."""
    if len(ratios) < _FEW:
        raise OperationError("too few values on the way to the limit")
    steps = [abs(b - a) for a, b in itertools.pairwise(ratios)]
    if max(steps[-2:]) < 1e-6:
        return ratios[-1]
    ends = [_extrapolated(*ratios[i : i + 3]) for i in (len(ratios) - 4, len(ratios) - 3)]
    falls = steps[-1] < 0.9 * steps[-2] and steps[-2] < 0.9 * steps[-3]
    if not falls or abs(ends[1] - ends[0]) > _CLOSE:
        raise OperationError("the ratio of both sides does not settle on the way to the limit")
    return ends[1]


def _extrapolated(one: complex, two: complex, three: complex) -> complex:
    """Return the limit of three values whose distance from it falls by one factor."""
    below = (three - two) - (two - one)
    return three - (three - two) ** 2 / below if below else three
