"""Candidates that hold on all draws, with a margin, evaluated with their own terms."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from checked_equations.check.relations import Tolerance
from checked_equations.check.statements import BoundStatement, Draw
from checked_equations.latex import tree as t

Holds = Callable[[t.Statement], bool]

EXACT = Tolerance()
LONGEST = 10_000  # terms of a sum whose ends an edit has moved
MARGIN = 1e-3  # a mend misses by no more than this part of what the printed form misses by


def holds_on(
    drawn: Sequence[Mapping[str, object]], allowed: Tolerance = EXACT, missed: float = np.inf
) -> Holds:
    """Return True if all steps of a statement hold on each draw; the next one shares the values.

    `missed` is the relative residual of the printed form: a mend leaves at most a thousandth of
    that, so that a form that is merely nearer is none.
    """
    return _holds_on(tuple(map(Draw, drawn)), allowed, missed)


def mends_on(
    statement: t.Statement, drawn: Sequence[Mapping[str, object]], allowed: Tolerance = EXACT
) -> Holds:
    """Return a function that tells if a candidate mends `statement`; all share its values."""
    draws = tuple(map(Draw, drawn))
    return _holds_on(draws, allowed, _missed_by(statement, draws, allowed))


def _holds_on(draws: tuple[Draw, ...], allowed: Tolerance, missed: float) -> Holds:
    for draw in draws:
        draw.evaluator.longest = LONGEST

    def holds(statement: t.Statement) -> bool:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return all(_holds(statement, draw, allowed, missed) for draw in draws)

    return holds


def _holds(statement: t.Statement, draw: Draw, allowed: Tolerance, missed: float) -> bool:
    bound, known = BoundStatement(statement, (draw,), allowed), draw.evaluator.mark()
    try:
        return all(_step_holds(bound, *one, missed) for one in enumerate(statement.steps))
    finally:
        draw.evaluator.forget(known)


def _step_holds(bound: BoundStatement, place: int, step: t.Step, missed: float) -> bool:
    compared = bound.compare(place, step)
    if not compared.holds or compared.residual > MARGIN * missed:
        return False
    draw = bound.draws[0]
    return any(map(np.any, draw.sides(step))) or draw.size(step) > 0.0  # else it says nothing


def missed_by(
    statement: t.Statement, drawn: Sequence[Mapping[str, object]], allowed: Tolerance
) -> float:
    """The relative residual of the step that fails by least; infinite where one has no value."""
    return _missed_by(statement, tuple(map(Draw, drawn)), allowed)


def _missed_by(statement: t.Statement, draws: tuple[Draw, ...], allowed: Tolerance) -> float:
    bound = BoundStatement(statement, draws, allowed)
    missed = [np.inf]
    for place, step in enumerate(statement.steps):
        try:
            compared = bound.compare(place, step)
        except Exception:  # noqa: BLE001  it has no value, whatever a bound callable says to it
            return np.inf
        if not compared.holds:
            missed.append(compared.residual)
    return min(missed)
