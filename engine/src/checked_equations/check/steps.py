"""The steps of a statement: each holds, or an error says which does not and by how much."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..errors import EquationError
from ..latex.balance import balanced
from ..latex.equation import Equation
from ..latex.tree import Step
from .outcomes import EstimateRecord, StepRecord
from .relations import ORDERS, Comparison, Misfit, excess
from .statements import BoundStatement


def check_steps(bound: BoundStatement, equation: Equation) -> tuple[StepRecord, ...]:
    """The record of every step.

    Raises `EquationError` at the first step that does not hold or says nothing.
    """
    steps, records = bound.statement.steps, []
    for place, step in enumerate(steps):
        latex = balanced(equation.latex, step.span)
        try:
            comparison, residual = bound.compare(place, step), bound.residual(place, step)
            problem = _problem(bound, place, comparison)
        except Misfit as error:
            problem = f"cannot be compared: {error}"
        if problem:
            said = f"step {place + 1} of {len(steps)}, {latex}, {problem}"
            raise EquationError(said, equation.latex, step.right.span)
        line = equation.line + step.line - 1
        records.append(StepRecord(latex, step.relation, residual, line))
    return tuple(records)


def _problem(bound: BoundStatement, place: int, comparison: Comparison) -> str:
    """What is wrong with a step, or nothing."""
    step = bound.statement.steps[place]
    if step.left == step.right:
        return "says nothing: both sides read the same"
    if bound.vacuous(step):
        return "says nothing: both sides are zero"
    if comparison.holds:
        return ""
    rtol = bound.allowed.approx if step.relation == r"\approx" else bound.allowed.rtol
    missed = f"relative residual {comparison.residual:.1e}, and {rtol:.0e} is allowed"
    if bound.errors[place][0] is not None:
        score = bound.score(place, step)
        missed = f"|z| = {score.z:.2f}, and {score.limit:.2f} is allowed"
    elif comparison.residual == 1.0 and step.relation in ("=", ":="):
        missed += " (one side is zero: give atol=)"
    return f"does not hold: {missed}{_values(bound, step)}"


_WHOLE = 4  # entries of a side that are shown all


def _values(bound: BoundStatement, step: Step) -> str:
    """Both sides on the draw that misses most: whole where they are small, else the worst entry."""
    if step.relation == r"\propto":  # no entry is wrong alone
        return ""
    gaps = [excess(step.relation, *draw.sides(step)) for draw in bound.draws]
    worst = max(range(len(gaps)), key=lambda i: float(np.max(gaps[i])))
    where = f"on draw {worst + 1} of {len(gaps)} " if len(gaps) > 1 else ""
    if step.relation in ORDERS:
        return f"; {where}the difference has the eigenvalue {-np.max(gaps[worst]):.6g}"
    left, right = np.broadcast_arrays(*bound.draws[worst].sides(step))
    if left.size > _WHOLE:
        entry = np.unravel_index(int(np.argmax(gaps[worst])), left.shape)
        index = ", ".join(str(i) for i in entry[: 1 if left.shape[1:] == (1,) else None])
        where += f"at [{index}] of {' × '.join(map(str, left.shape))} "
        left, right = left[entry], right[entry]
    scale = max(float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    apart = float(np.max(np.abs(left - right))) / scale if scale else 1.0
    digits = min(17, max(6, 3 - math.floor(math.log10(apart or 1.0))))
    shown = [_shown(np.asarray(side), digits) for side in (left, right)]
    return f"; {where}the left side is {shown[0]}, the right side {shown[1]}"


def _shown(side: np.ndarray, digits: int) -> str:
    if side.ndim == 0:
        return f"{float(side):.{digits}g}"
    column = side[:, 0] if side.shape[1:] == (1,) else side
    return "[" + ", ".join(_shown(part, digits) for part in column) + "]"


def worst_estimate(bound: BoundStatement) -> EstimateRecord | None:
    """The worst score among the steps in which an estimate takes part."""
    places = [i for i, errors in enumerate(bound.errors) if errors[0] is not None]
    if not places:
        return None
    scores = [bound.score(i, bound.statement.steps[i]) for i in places]
    worst = max(scores, key=lambda score: score.z / score.limit)
    sample = next(iter(bound.draws[0].estimates.values()))
    return replace(worst, n=sample.n or None, seed=sample.seed)
