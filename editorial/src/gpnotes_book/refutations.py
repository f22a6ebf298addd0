"""Residuals of a printed formula where the equation of the book holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checked_equations.check.relations import Comparison, ShapeMisfit, Tolerance
from checked_equations.check.statements import (
    BoundStatement,
    bind_statement,
    check_steps,
    refuse_unused,
)
from checked_equations.errors import EquationError, ShapeError
from checked_equations.latex.equation import Equation, located

__all__ = ["refutation_residuals"]

CLEARLY = 1e3  # a printed formula is refuted when it is off by this many tolerances


def refutation_residuals(
    place: str,
    printed: Equation,
    corrected: Equation,
    drawn: Sequence[Mapping[str, Any]],
    allowed: Tolerance,
) -> tuple[float | None, float]:
    """Return by how much a printed formula and the equation of the book are missed.

    Parameters
    ----------
    place : str
        The chapter or its file, with which an error begins.
    printed : Equation
        The formula of a source.
    corrected : Equation
        The equation of the book, which must hold.
    drawn : sequence of mappings
        Values by symbol, for each draw.
    allowed : Tolerance
        The tolerance of the equation; the formula must be off by a thousand times as much.

    Returns
    -------
    missed : float or None
        The residual of the formula; None where its shapes do not conform.
    held : float
        The residual of the equation.

    Raises
    ------
    EquationError
        If `printed` holds or `corrected` does not, or one of them cannot be evaluated.
    """
    with located(place, printed):
        wrong = bind_statement(printed.latex, drawn, allowed.times(CLEARLY))
        missed = _missed(wrong, printed.latex)
    with located(place, corrected):
        right = bind_statement(corrected.latex, drawn, allowed)
        refuse_unused(drawn[0], corrected.latex, wrong.statement, right.statement)
        steps = check_steps(right, corrected)
    return missed, max(step.residual or 0.0 for step in steps)


def _missed(bound: BoundStatement, latex: str) -> float | None:
    """By how much a printed formula is missed, on the draw that is kindest to it.

    `None` where it cannot be evaluated because its operands do not fit. Raises
    `EquationError` if it holds on some draw; whatever else goes wrong, such as a bound
    function that fails, is the fault of the bindings and refutes nothing: it raises as well.
    """
    try:
        comparisons = [_worst(bound, chosen) for chosen in bound.portions]
    except ShapeMisfit:
        return None
    except EquationError as error:
        if isinstance(error.__cause__, ShapeError):
            return None
        raise
    if any(comparison.holds for comparison in comparisons):
        closest = min(comparison.residual for comparison in comparisons)
        raise EquationError(f"holds as printed: it is off by no more than {closest:.1e}", latex)
    return min(comparison.residual for comparison in comparisons)


def _worst(bound: BoundStatement, chosen: slice) -> Comparison:
    comparisons = [bound.compare(i, step, chosen) for i, step in enumerate(bound.statement.steps)]
    return max(comparisons, key=lambda comparison: (not comparison.holds, comparison.residual))
