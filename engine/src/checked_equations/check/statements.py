"""A statement bound to numbers: its tolerance, and the residual of every step."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import EquationError
from ..evaluate.evaluator import Beyond, Evaluator, magnitude
from ..evaluate.values import Distribution, Estimate, Nodes, conform
from ..latex import tree as t
from ..latex.balance import balanced
from ..latex.equation import Equation
from ..latex.parser import parse
from . import relations
from .bindings import name_kinds, names_in
from .mutants import STRICT
from .name_clashes import refuse_name_clashes, refuse_unmet_conditions
from .outcomes import EstimateRecord, StepRecord
from .relations import Comparison, Misfit, Tolerance, compare_conformed, conform_sides, score, worst


@dataclass(frozen=True)
class Draw:
    """One set of numbers for the symbols."""

    bindings: Mapping[str, Any]
    beyond: Beyond | None = None

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The symbols that are bound to estimates."""
        return {k: v for k, v in self.bindings.items() if isinstance(v, Estimate)}

    @cached_property
    def evaluator(self) -> Evaluator:
        """The values of all nodes on these numbers, as far as they were asked for."""
        return Evaluator(self.bindings, beyond=self.beyond)

    def sides(self, step: t.Step) -> tuple[np.ndarray, np.ndarray]:
        """The values of both sides of `step`, in one shape."""
        return conform_sides(*self.evaluator.sides(step))

    def size(self, step: t.Step) -> float:
        """Return the size that both sides would have if nothing in them cancelled."""
        self.evaluator.sides(step)
        return max(magnitude(side, self.evaluator) for side in (step.left, step.right))

    def standard_error(self, step: t.Step) -> np.ndarray | None:
        """The standard error of ``left - right``, or none if no estimate takes part."""
        keys = names_in(step) & set(self.estimates) if self.estimates else set()
        variances = [self._variance(step, key, self.estimates[key]) for key in keys]
        return np.sqrt(sum(variances, np.zeros(()))) if keys else None

    def _variance(self, step: t.Step, key: str, estimate: Estimate) -> np.ndarray:
        """Return the variance that an estimate adds to ``left - right``."""
        if estimate.n < 2:
            raise Misfit(f"the estimate `{key}` must state its sample size, n=")
        error = np.asarray(estimate.standard_error, dtype=np.float64)
        if t.Name(key) in (step.left, step.right):
            return conform(error) ** 2
        left, right = self.sides(step)
        value = np.asarray(estimate.value, dtype=np.float64)
        error = np.broadcast_to(error, value.shape)
        total = np.zeros(())
        for place in np.ndindex(value.shape):  # each entry moves by its standard error
            moved = value.copy()
            moved[place] += error[place]
            there = Evaluator({**self.bindings, key: moved})
            total = total + (there.value(step.left) - there.value(step.right) - (left - right)) ** 2
        return total


@dataclass(frozen=True)
class BoundStatement:
    """A parsed statement, the draws it is evaluated on, and its tolerance.

    The last `tight` draws are those on which an inequality is an equality.
    """

    statement: t.Statement
    draws: tuple[Draw, ...]
    allowed: Tolerance
    tight: int = 0

    def anew(self) -> BoundStatement:
        """The same with nothing remembered."""
        return replace(self, draws=tuple(replace(draw) for draw in self.draws))

    @cached_property
    def errors(self) -> tuple[tuple[np.ndarray | None, ...], ...]:
        """For each step and draw the standard error, where an estimate takes part."""
        return tuple(
            tuple(draw.standard_error(step) for draw in self.draws) for step in self.statement.steps
        )

    def compare(self, place: int, step: t.Step, chosen: slice = slice(None)) -> Comparison:
        """Compare the sides of `step`, which stands at `place` (or a mutant of it)."""
        if self.errors[place][0] is not None:
            score = self.score(place, step)
            return Comparison(self.residual(place, step), score.z < score.limit)
        drawn = range(len(self.draws))[chosen]
        if not self.tight:
            return self._compare(place, step, drawn)
        # A mutant of the relation stays what it says. Of any other, where the inequality is tight,
        # what is merely weaker, such as a bound that has moved, is told from it.
        turned = step.relation != self.statement.steps[place].relation
        tight = [not turned and (place, i) in self._attained for i in drawn]
        return worst(self._touch(place, step, *one) for one in zip(drawn, tight, strict=True))

    def _compare(self, place: int, step: t.Step, drawn: Sequence[int], **other: Any) -> Comparison:
        """Compare on the draws `drawn`; the step as printed is the measure of its mutants."""
        pairs = [self.draws[i].sides(step) for i in drawn]
        sizes = [self._size(place, i) for i in drawn]
        allowed = replace(self.allowed, **other) if other else self.allowed
        if (rounding := self.rounding(place)) > allowed.atol:
            allowed = replace(allowed, atol=rounding)
        rounded = step.relation == r"\approx" and allowed.approx is None and allowed.decimals
        if rounded and _half_a_unit(self.statement.steps[place]):  # so near is what is printed
            allowed = replace(allowed, approx=allowed.rtol)
        return compare_conformed(step.relation, pairs, allowed, sizes)

    def rounding(self, place: int) -> float:
        """Half a unit of the last digit of a decimal that holds to its digits, and no closer."""
        step = self.statement.steps[place]
        half = _half_a_unit(step) if self.allowed.decimals else 0.0
        if step.relation == r"\approx" and self.allowed.approx is not None:  # which says how near
            return 0.0
        if half and place not in self._exact:
            pairs = [draw.sides(step) for draw in self.draws]
            sizes = [self._size(place, i) for i in range(len(pairs))]
            exact = compare_conformed("=", pairs, self.allowed, sizes)
            self._exact[place] = exact.holds
        return half if half and not self._exact[place] else 0.0

    @cached_property
    def _exact(self) -> dict[int, bool]:
        return {}

    def _size(self, place: int, draw: int) -> float:
        """Return the size of the terms of a step on a draw; another may have no value."""
        if (place, draw) not in self._known_sizes:
            size = self.draws[draw].size(self.statement.steps[place])
            self._known_sizes[place, draw] = size
        return self._known_sizes[place, draw]

    @cached_property
    def _known_sizes(self) -> dict[tuple[int, int], float]:
        return {}

    def _touch(self, place: int, step: t.Step, draw: int, tight: bool) -> Comparison:
        """Return the residual of an order that must be `tight`: the difference of its sides."""
        weak = self._compare(place, step, [draw])
        if not (tight and weak.holds) or self._is_tight(place, step, draw):
            return weak
        return replace(self._compare(place, replace(step, relation="="), [draw]), holds=False)

    @cached_property
    def _attained(self) -> frozenset[tuple[int, int]]:
        """The steps and their tight draws on which they would fail if they were strict."""
        drawn = range(len(self.draws))[-self.tight :]
        pairs = itertools.product(enumerate(self.statement.steps), drawn)
        return frozenset((p, i) for (p, step), i in pairs if self._is_tight(p, step, i))

    def _is_tight(self, place: int, step: t.Step, draw: int) -> bool:
        """Return whether it is a weak inequality that holds there, and a strict one does not."""
        if step.relation not in STRICT or not self._compare(place, step, [draw]).holds:
            return False
        strict = replace(step, relation=STRICT[step.relation])
        return not self._compare(place, strict, [draw]).holds

    def score(self, place: int, step: t.Step) -> EstimateRecord:
        """The worst z-score of `step` in units of the standard error of the original."""
        pairs = zip([draw.sides(step) for draw in self.draws], self.errors[place], strict=True)
        return score(step.relation, [(*pair, error) for pair, error in pairs if error is not None])

    def residual(self, place: int, step: t.Step) -> float:
        """The relative residual, whatever is allowed."""
        approx = self.allowed.approx or 0.0
        return self._compare(place, step, range(len(self.draws)), approx=approx).residual

    @cached_property
    def portions(self) -> tuple[slice, ...]:
        """The draws one after another, or all at once where only together they say something."""
        together = any(step.relation == r"\propto" for step in self.statement.steps)
        if together or any(error[0] is not None for error in self.errors):
            return (slice(None),)
        return tuple(slice(i, i + 1) for i in range(len(self.draws)))


_DIGITS = 2  # significant ones that a decimal must have to be one that was rounded


def _half_a_unit(step: t.Step) -> float:
    """Half a unit of the last digit of the side that is a printed decimal; 0 where none is."""
    sides = map(_unsigned, (step.left, step.right))
    numbers = [side for side in sides if isinstance(side, t.Number)]
    decimals = [side for side in numbers if side.places]
    if step.relation == r"\approx" and numbers:
        return 0.5000001 * 10.0 ** -numbers[-1].places if _is_rounded(numbers[-1]) else 0.0
    if step.relation != "=" or len(decimals) != 1 or decimals[0].digits < _DIGITS:
        return 0.0
    return 0.5000001 * 10.0 ** -decimals[0].places


def _is_rounded(number: t.Number) -> bool:
    """Return whether its last digit says how near it is: not of ``300``."""
    return bool(number.places or number.value % 10)


def _unsigned(side: t.Node) -> t.Node:
    return side.terms[0] if isinstance(side, t.Sum) and side.signs == (-1,) else side


def bind_statement(
    latex: str, drawn: Sequence[Mapping[str, object]], allowed: Tolerance, *, tight: int = 0
) -> BoundStatement:
    """Parse `latex` with the names that are bound.

    Raises `EquationError` for syntax unknown to the grammar, for a symbol that is not bound
    and for a relation that cannot be checked.
    """
    statement = parse(latex, name_kinds(drawn[0]))
    if any(set(other) != set(drawn[0]) for other in drawn):
        raise ValueError("the draws bind different symbols")
    bound = BoundStatement(statement, tuple(Draw(values) for values in drawn), allowed, tight)
    refuse_unfit(latex, statement, bound.draws)
    for step in statement.steps:
        if step.relation not in relations.CHECKED:
            problem = f"{step.relation} is no relation that can be checked; use define"
            raise EquationError(problem, latex, step.right.span)
        estimated = names_in(step) & set(bound.draws[0].estimates)
        if step.relation == r"\approx" and allowed.approx is None and not estimated:
            problem = r"\approx needs a tolerance of its own: give approx="
            raise EquationError(problem, latex, step.right.span)
    return bound


def refuse_unfit(latex: str, statement: t.Statement, draws: Sequence[Draw]) -> None:
    """Raise `EquationError` for a name with a second meaning, and a condition that is not met."""
    numbers = [draw.evaluator.bindings for draw in draws]
    refuse_name_clashes(latex, statement, numbers)
    refuse_unmet_conditions(latex, statement, numbers)


def refuse_unused(drawn: Mapping[str, object], latex: str, *statements: t.Node) -> None:
    """Raise `EquationError` for a symbol that is bound and occurs in none of `statements`."""
    never = set(drawn).difference(*map(names_in, statements))
    if never:
        said = ", ".join(f"`{key}`" for key in sorted(never))
        raise EquationError(f"bound and never used: {said}", latex)


def kind_of_statement(bound: BoundStatement) -> str:
    """``estimate``, ``inequality`` or ``identity``."""
    if any(errors[0] is not None for errors in bound.errors):
        return "estimate"
    signs = {step.relation for step in bound.statement.steps}
    return "identity" if signs <= {"=", ":=", r"\approx", r"\propto"} else "inequality"


def route_of(statement: t.Statement, bound: Mapping[str, object]) -> tuple[str, ...]:
    """Return the routes by which the numbers come, as far as the types of the bindings show.

    Averages run over nodes, of a rule ("quadrature") or, where they are whole numbers, of a list
    ("enumeration"); slopes are "differences", and estimates come from a "simulation".
    """
    parts = t.parts(statement)
    averaged = {part.distribution for part in parts if isinstance(part, t.Under)}
    averaged.update(*(part.variables for part in parts if isinstance(part, t.Integral)))
    values = [bound.get(key) for key in averaged]
    nodes = [value.nodes if isinstance(value, Distribution) else value for value in values]
    listed = [isinstance(own, Nodes) and own.listed for own in nodes]
    routes = {
        "quadrature": not all(listed),
        "enumeration": any(listed),
        "differences": any(isinstance(part, t.Derivative | t.Gradient) for part in parts),
        "simulation": any(isinstance(bound.get(key), Estimate) for key in names_in(statement)),
    }
    return tuple(route for route, taken in routes.items() if taken)


# Each step holds, or an error says which does not and by how much


def check_steps(bound: BoundStatement, equation: Equation) -> tuple[StepRecord, ...]:
    """The record of every step; raises `EquationError` at one that fails or says nothing."""
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
        records.append(StepRecord(latex, step.relation, residual, equation.line + step.line - 1))
    return tuple(records)


def _problem(bound: BoundStatement, place: int, comparison: Comparison) -> str:
    """Return the fault of a step, or an empty string."""
    step = bound.statement.steps[place]
    if step.left == step.right:
        return "says nothing: both sides read the same"
    zero = (not any(map(np.any, draw.sides(step))) for draw in bound.draws)
    if all(zero) and all(draw.size(step) == 0.0 for draw in bound.draws):  # nothing cancels in them
        return "says nothing: both sides are zero"
    if comparison.holds:
        return ""
    if step.relation == r"\ne":
        return "does not hold: both sides are equal"
    if bound.errors[place][0] is not None:
        score = bound.score(place, step)
        missed = f"|z| = {score.z:.2f}, and {score.limit:.2f} is allowed"
    else:
        rtol = bound.allowed.approx if step.relation == r"\approx" else bound.allowed.rtol
        missed = f"relative residual {comparison.residual:.1e}, and {rtol:.0e} is allowed"
        if comparison.residual == 1.0 and step.relation in ("=", ":="):
            missed += " (one side is zero: give atol=)"
    return f"does not hold: {missed}{_values(bound, step)}{_at_a_jump(step)}"


def _at_a_jump(step: t.Step) -> str:
    """Return the likely reason where nodes stand on both sides of a jump."""
    sums = (node for node in t.parts(step) if isinstance(node, t.Average | t.Integral))
    inside = (part for node in sums for part in t.parts(node))
    jumps = any(isinstance(part, t.Function) and part.name == "indicator" for part in inside)
    said = "a quadrature misses a jump: let a rule end there, or bind finitely many values"
    return f" ({said})" if jumps else ""


_WHOLE = 4  # entries of a side that are shown all


def _values(bound: BoundStatement, step: t.Step) -> str:
    """Both sides on the draw that misses most: whole where they are small, else the worst entry."""
    if step.relation == r"\propto":  # no entry is wrong alone
        return ""
    gaps = [relations.excess(step.relation, *draw.sides(step)) for draw in bound.draws]
    worst = max(range(len(gaps)), key=lambda i: float(np.max(gaps[i])))
    where = f"on draw {worst + 1} of {len(gaps)} " if len(gaps) > 1 else ""
    if step.relation in relations.ORDERS:
        return f"; {where}the difference has the eigenvalue {-np.max(gaps[worst]):.6g}"
    left, right = np.broadcast_arrays(*bound.draws[worst].sides(step))
    if left.size > _WHOLE:
        entry = np.unravel_index(int(np.argmax(gaps[worst])), left.shape)
        index = ", ".join(str(i) for i in entry[: 1 if left.shape[1:] == (1,) else None])
        where += f"at [{index}] of {' × '.join(map(str, left.shape))} "
        left, right = left[entry], right[entry]
    scale = float(np.max(np.abs(left)))
    apart = float(np.max(np.abs(left - right))) / scale if scale else 1.0
    digits = min(17, max(6, 3 - math.floor(math.log10(apart or 1.0))))
    shown = [_shown(np.asarray(side), digits) for side in (left, right)]
    return f"; {where}the left side is {shown[0]}, the right side {shown[1]}"


def _shown(side: np.ndarray, digits: int) -> str:
    if side.ndim == 0:
        return f"{side.item():.{digits}g}"
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
