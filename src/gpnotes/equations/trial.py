"""A statement on its draws: the residual of every step, and the fate of every mutant."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .binding import used
from .compare import Comparison, Misfit, Tolerance, compare_all, conform, scale
from .errors import EquationError
from .estimate import Score, score
from .evaluate import Evaluator
from .mutants import Mutant
from .tree import Name, Node, Statement, Step
from .values import Estimate
from .values import conform as conform_value

__all__ = ["Draw", "Trial", "fates"]

SAME = 1e-10  # two values of a node are the same if they agree to this, relative to the larger


@dataclass(frozen=True)
class Draw:
    """One set of numbers for the symbols."""

    bindings: Mapping[str, Any]

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        return {k: v for k, v in self.bindings.items() if isinstance(v, Estimate)}

    @cached_property
    def evaluator(self) -> Evaluator:
        return Evaluator(self.plain())

    def plain(self) -> dict[str, Any]:
        """The bindings with the value of each estimate in its place."""
        return {**self.bindings, **{k: e.value for k, e in self.estimates.items()}}

    def sides(self, step: Step) -> tuple[np.ndarray, np.ndarray]:
        return conform(self.evaluator.value(step.left), self.evaluator.value(step.right))

    def standard_error(self, step: Step) -> np.ndarray | None:
        """The standard error of ``left - right``, or none if no estimate takes part."""
        keys = used(step) & set(self.estimates)
        if not keys:
            return None
        return np.sqrt(sum(self._variance(step, key) for key in keys))

    def _variance(self, step: Step, key: str) -> np.ndarray:
        """What the estimate `key` adds to the variance of ``left - right``."""
        if self.estimates[key].n < 2:
            raise Misfit(f"the estimate `{key}` must state its sample size, n=")
        error = np.asarray(self.estimates[key].standard_error, dtype=np.float64)
        if Name(key) in (step.left, step.right):
            return conform_value(error) ** 2
        return sum(shift**2 for shift in self._shifts(step, key))

    def _shifts(self, step: Step, key: str) -> Iterator[np.ndarray]:
        """How ``left - right`` moves when one entry moves by its standard error."""
        left, right = self.sides(step)
        value = np.asarray(self.estimates[key].value, dtype=np.float64)
        error = np.broadcast_to(self.estimates[key].standard_error, value.shape)
        for place in np.ndindex(value.shape):
            moved = value.copy()
            moved[place] += error[place]
            evaluator = Evaluator({**self.plain(), key: moved})
            yield (evaluator.value(step.left) - evaluator.value(step.right)) - (left - right)


@dataclass(frozen=True)
class Trial:
    """A parsed statement, the draws it is evaluated on, and what it is allowed."""

    statement: Statement
    draws: tuple[Draw, ...]
    allowed: Tolerance

    def anew(self) -> Trial:
        """The same with nothing remembered."""
        return replace(self, draws=tuple(Draw(draw.bindings) for draw in self.draws))

    @cached_property
    def errors(self) -> tuple[tuple[np.ndarray | None, ...], ...]:
        """For each step and draw the standard error, where an estimate takes part."""
        return tuple(
            tuple(draw.standard_error(step) for draw in self.draws) for step in self.statement.steps
        )

    def compare(self, place: int, step: Step, chosen: slice = slice(None)) -> Comparison:
        """Compare the sides of `step`, which stands at `place` (or a mutant of it)."""
        if self.errors[place][0] is None:
            pairs = [draw.sides(step) for draw in self.draws[chosen]]
            return compare_all(step.relation, pairs, self.allowed)
        holds = self.score(place, step).holds
        return Comparison(self.residual(step), holds)

    def score(self, place: int, step: Step) -> Score:
        """The worst z-score of `step` in units of the standard error of the original."""
        sides = [draw.sides(step) for draw in self.draws]
        errors = self.errors[place]
        return score(step.relation, [(*pair, e) for pair, e in zip(sides, errors, strict=True)])

    def residual(self, step: Step) -> float:
        """The relative residual, whatever is allowed."""
        pairs = [draw.sides(step) for draw in self.draws]
        allowed = replace(self.allowed, approx=self.allowed.approx or 0.0)
        return compare_all(step.relation, pairs, allowed).residual

    def vacuous(self, step: Step) -> bool:
        """Both sides are zero on every draw: the step says nothing."""
        return all(scale(*draw.sides(step)) == 0.0 for draw in self.draws)

    @cached_property
    def portions(self) -> tuple[slice, ...]:
        """The draws one after another, or all at once where only together they say something."""
        together = any(step.relation == r"\propto" for step in self.statement.steps)
        if together or any(error[0] is not None for error in self.errors):
            return (slice(None),)
        return tuple(slice(i, i + 1) for i in range(len(self.draws)))


def fates(trial: Trial, mutants: Sequence[Mutant]) -> list[tuple[str, float | None]]:
    """The outcome and residual of each mutant.

    A mutant is caught when a step that it touches fails, or cannot be evaluated, on some draw.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [_fate(trial, mutant) for mutant in mutants]


def _fate(trial: Trial, mutant: Mutant) -> tuple[str, float | None]:
    known = [len(draw.evaluator) for draw in trial.draws]
    try:
        found = _worst(trial, mutant)
        if not found.holds:
            return "caught", found.residual
        return ("indistinct" if _same(trial, mutant) else "survived"), found.residual
    except Exception:  # whatever a bound callable raises on nonsense, nonsense it is
        return "caught", None
    finally:
        for draw, kept in zip(trial.draws, known, strict=True):
            draw.evaluator.forget(kept)


def _worst(trial: Trial, mutant: Mutant) -> Comparison:
    """The first comparison that fails, or the last that holds."""
    found = Comparison(0.0, True)
    for chosen in trial.portions:
        for place, step in zip(mutant.places, mutant.steps, strict=True):
            found = trial.compare(place, step, chosen)
            if not found.holds:
                return found
    return found


def _same(trial: Trial, mutant: Mutant) -> bool:
    """Whether the edited node has its old value on all draws, wherever it is evaluated."""
    probe = mutant.probe(trial.statement)
    return probe is not None and all(
        _unmoved(draw.evaluator, mutant, *probe) for draw in trial.draws
    )


def _unmoved(evaluator: Evaluator, mutant: Mutant, tree: Node, gap: Node) -> bool:
    """A node that is never evaluated, in a case that never applies, is not known to agree."""
    try:
        evaluator.value(tree)
    except EquationError:
        return False
    gaps, values = (evaluator.observe(node) for node in (gap, mutant.before))
    return bool(gaps) and _largest(gaps) <= SAME * _largest(values)


def _largest(values: Sequence[np.ndarray]) -> float:
    return max(float(np.max(np.abs(value))) for value in values)
