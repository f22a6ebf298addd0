"""From LaTeX and bindings to what a record holds, or to the error that says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import EquationError, ShapeError
from ..latex.balance import whole
from ..latex.equation import Equation
from ..latex.parser import parse
from ..latex.printer import latex as printed
from ..latex.tree import (
    Covariance,
    Derivative,
    Expectation,
    Gradient,
    Integral,
    Node,
    Step,
    Variance,
    walk,
)
from .bindings import Tight, groups, kinds, used
from .conditions import refuse_unmet
from .mutants import Mutant, mutants
from .name_clashes import refuse_twofold
from .outcomes import EstimateRecord, MutantRecord, Mutants, StepRecord
from .relations import RELATIONS, Comparison, Misfit, ShapeMisfit, Tolerance
from .statements import Draw, Trial, fates
from .tightness import never, refuse_not_tight, survivors_want

__all__ = ["estimated", "kind", "missed_by", "mutated", "prepare", "refuse_unused", "steps"]

Spare = Mapping[str, str]
_COMPUTED = Derivative | Gradient | Expectation | Variance | Covariance | Integral


def prepare(
    latex: str, drawn: Sequence[Mapping[str, Any]], allowed: Tolerance, *, tight: int = 0
) -> Trial:
    """Parse `latex` with the names that are bound.

    Raises `EquationError` for what the grammar does not know, for a symbol that is not bound
    and for a relation that cannot be checked.
    """
    statement = parse(latex, kinds(drawn[0]))
    if any(set(other) != set(drawn[0]) for other in drawn):
        raise ValueError("the draws bind different symbols")
    trial = Trial(statement, tuple(Draw(values) for values in drawn), allowed, tight)
    numbers = [draw.plain() for draw in trial.draws]
    refuse_twofold(latex, statement, numbers)
    refuse_unmet(latex, statement, numbers)
    for step in statement.steps:
        problem = _not_checkable(trial, step)
        if problem:
            raise EquationError(problem, latex, step.right.span)
    return trial


def _not_checkable(trial: Trial, step: Step) -> str:
    if step.relation not in RELATIONS:
        return f"{step.relation} is no relation that can be checked; use define"
    estimated = used(step) & set(trial.draws[0].estimates)
    if step.relation == r"\approx" and trial.allowed.approx is None and not estimated:
        return r"\approx needs a tolerance of its own: give approx="
    return ""


def refuse_unused(drawn: Mapping[str, Any], latex: str, *statements: Node) -> None:
    """Raise `EquationError` for a symbol that is bound and occurs in none of `statements`."""
    never = set(drawn).difference(*map(used, statements))
    if never:
        said = ", ".join(f"`{key}`" for key in sorted(never))
        raise EquationError(f"bound and never used: {said}", latex)


def steps(trial: Trial, equation: Equation) -> tuple[StepRecord, ...]:
    """The record of every step.

    Raises `EquationError` at the first step that does not hold or says nothing.
    """
    return tuple(
        _step(trial, place, step, equation) for place, step in enumerate(trial.statement.steps)
    )


def _step(trial: Trial, place: int, step: Step, equation: Equation) -> StepRecord:
    try:
        found = trial.compare(place, step)
        residual = trial.residual(place, step)
    except Misfit as error:
        raise _at_step(trial, place, equation, f"cannot be compared: {error}") from error
    if step.left == step.right:
        raise _at_step(trial, place, equation, "says nothing: both sides read the same")
    if trial.vacuous(step):
        raise _at_step(trial, place, equation, "says nothing: both sides are zero")
    if not found.holds:
        raise _at_step(trial, place, equation, "does not hold: " + _missed(trial, place, found))
    line = equation.line + step.line - 1
    return StepRecord(whole(equation.latex, step.span), step.relation, residual, line)


def _missed(trial: Trial, place: int, found: Comparison) -> str:
    step, allowed = trial.statement.steps[place], trial.allowed
    if trial.errors[place][0] is not None:
        score = trial.score(place, step)
        return f"|z| = {score.z:.2f}, and {score.limit:.2f} is allowed"
    rtol = allowed.approx if step.relation == r"\approx" else allowed.rtol
    against = ""
    if found.residual == 1.0 and step.relation in ("=", ":="):
        against = " (one side is zero: give atol=)"
    return f"relative residual {found.residual:.1e}, and {rtol:.0e} is allowed{against}"


def _at_step(trial: Trial, place: int, equation: Equation, problem: str) -> EquationError:
    step = trial.statement.steps[place]
    said = f"step {place + 1} of {len(trial.statement.steps)}, {whole(equation.latex, step.span)}"
    return EquationError(f"{said}, {problem}", equation.latex, step.right.span)


def mutated(trial: Trial, latex: str, spare: Spare, tight: Tight = None) -> Mutants:
    """The mutants of the statement and what became of them.

    Raises `EquationError` for a survivor that is not spared, for a spare that names none, and
    where no mutant is told apart from the statement.
    """
    made = _mutants(trial, latex)
    refuse_not_tight(trial, made, tight, latex)
    fate = fates(trial, made)
    records = tuple(_mutant(m, *f, spare) for m, f in zip(made, fate, strict=True))
    records = tuple(_never(m, r, never(tight)) for m, r in zip(made, records, strict=True))
    _refuse_survivors(made, records, latex)
    idle = [key for key in spare if not any(_named(r, key) and r.why for r in records)]
    if idle:
        raise EquationError(f"spare names no survivor: {', '.join(map(repr, idle))}", latex)
    computed = any(isinstance(node, _COMPUTED) for _, node in walk(trial.statement))
    _refuse_powerless(made, records, latex, computed=computed)
    return Mutants.of(records)


def _mutants(trial: Trial, latex: str) -> list[Mutant]:
    """All mutants but those that the noise of an estimate hides."""
    made = mutants(trial.statement, groups(trial.draws[0].bindings), lambda n: whole(latex, n.span))
    return [m for m in made if not m.finer or trial.errors[m.places[0]][0] is None]


def _never(mutant: Mutant, record: MutantRecord, why: str) -> MutantRecord:
    """A strict inequality survives where the author says why none is ever tight."""
    if not (why and mutant.strict and record.outcome == "survived"):
        return record
    return replace(record, outcome="spared", why=why)


def _refuse_powerless(
    made: Sequence[Mutant], records: Sequence[MutantRecord], latex: str, *, computed: bool
) -> None:
    """A derivative or an average is computed all the same, and so is ``K = K^\\top``.

    The one mutant of the latter, ``K = K``, is what it claims.
    """
    told_apart = any(
        record.outcome in ("caught", "spared") and not mutant.closer
        for mutant, record in zip(made, records, strict=True)
    )
    claimed = any(step.left == step.right for mutant in made for step in mutant.steps)
    if not (told_apart or claimed or computed):
        problem = (
            "shows nothing: it has no mutant that could be told from it. Print what is computed, "
            "and bind numbers that are neither zero nor one"
        )
        raise EquationError(problem, latex)


def _mutant(mutant: Mutant, outcome: str, residual: float | None, spare: Spare) -> MutantRecord:
    record = MutantRecord(mutant.edit, _reads(mutant), outcome, residual, said=mutant.said)
    if outcome != "survived":
        return record
    why = next((why for key, why in spare.items() if _named(record, key)), "")
    outcome = "spared" if why else "survived"
    return replace(record, outcome=outcome, why=why)


def _named(record: MutantRecord, key: str) -> bool:
    return key in (record.edit, record.latex)


def _reads(mutant: Mutant) -> str:
    """The LaTeX of the edited node, or of the step whose relation is turned."""
    return printed(mutant.after)


def _refuse_survivors(made: Sequence[Mutant], records: Sequence[MutantRecord], latex: str) -> None:
    alive = [(m, r) for m, r in zip(made, records, strict=True) if r.outcome == "survived"]
    if not alive:
        return
    said = "; ".join(f"{r.edit!r} (reads {r.latex})" for _, r in alive)
    span = alive[0][0].before.span
    raise EquationError(
        f"{len(alive)} of {len(records)} mutants survive: {said}. Bind numbers that tell them "
        f"apart, or say why not with spare={{name: why}}.{survivors_want([m for m, _ in alive])}",
        latex,
        span,
    )


def estimated(trial: Trial) -> EstimateRecord | None:
    """The worst score among the steps in which an estimate takes part."""
    places = [i for i, errors in enumerate(trial.errors) if errors[0] is not None]
    if not places:
        return None
    scores = [trial.score(i, trial.statement.steps[i]) for i in places]
    worst = max(scores, key=lambda found: found.z / found.limit)
    sample = next(iter(trial.draws[0].estimates.values()))
    return EstimateRecord(
        worst.z, worst.limit, worst.standard_error, worst.entries, sample.n or None, sample.seed,
        worst.slip,
    )  # fmt: skip


def kind(trial: Trial) -> str:
    """``estimate``, ``inequality`` or ``identity``."""
    if any(errors[0] is not None for errors in trial.errors):
        return "estimate"
    equal = {"=", ":=", r"\approx", r"\propto"}
    if any(step.relation not in equal for step in trial.statement.steps):
        return "inequality"
    return "identity"


def missed_by(trial: Trial, latex: str) -> float | None:
    """By how much a printed formula is missed, on the draw that is kindest to it.

    `None` where it cannot be evaluated because its operands do not fit. Raises
    `EquationError` if it holds on some draw; whatever else goes wrong, such as a bound
    function that fails, is the fault of the bindings and refutes nothing: it raises as well.
    """
    try:
        found = [_worst(trial, chosen) for chosen in trial.portions]
    except ShapeMisfit:
        return None
    except EquationError as error:
        if isinstance(error.__cause__, ShapeError):
            return None
        raise
    if any(comparison.holds for comparison in found):
        closest = min(comparison.residual for comparison in found)
        raise EquationError(f"holds as printed: it is off by no more than {closest:.1e}", latex)
    return min(comparison.residual for comparison in found)


def _worst(trial: Trial, chosen: slice) -> Comparison:
    found = [trial.compare(i, step, chosen) for i, step in enumerate(trial.statement.steps)]
    return max(found, key=lambda comparison: (not comparison.holds, comparison.residual))
