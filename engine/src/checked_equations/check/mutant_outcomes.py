"""What becomes of the mutants of a statement, and what is refused: survivors, and no mutants."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import EquationError
from ..evaluate.evaluator import Evaluator
from ..evaluate.scales import magnitude
from ..latex.balance import balanced
from ..latex.printer import to_latex as printed
from ..latex.tree import Node
from .bindings import Tight, name_kinds, swap_groups
from .definitions import NORMAL, normal_shape
from .mutants import Mutant, all_mutants
from .outcomes import MutantRecord, Mutants
from .relations import Comparison
from .rewrites import Rewrite, rewrite
from .statements import BoundStatement
from .tightness import refuse_not_tight, survivor_hints, why_never_tight

__all__ = ["check_mutants", "run_mutants"]

SAME = 1e-10  # two values of a node are the same if they agree to this, relative to the larger
Spare = Mapping[str, str]


def check_mutants(bound: BoundStatement, latex: str, spare: Spare, tight: Tight = None) -> Mutants:
    """The mutants of the statement and their outcomes.

    Raises `EquationError` for a survivor that is not spared, for a spare that names none, and
    where no mutant is told apart from the statement.
    """
    mutants = _mutants(bound, latex)
    refuse_not_tight(bound, mutants, tight, latex)
    outcomes = run_mutants(bound, mutants)
    records = tuple(_mutant(m, *f, spare) for m, f in zip(mutants, outcomes, strict=True))
    records = tuple(
        _never(m, r, why_never_tight(tight)) for m, r in zip(mutants, records, strict=True)
    )
    _refuse_survivors(mutants, records, latex)
    idle = [key for key in spare if not any(_named(r, key) and r.why for r in records)]
    if idle:
        raise EquationError(f"spare names no survivor: {', '.join(map(repr, idle))}", latex)
    _refuse_powerless(mutants, records, latex)
    return Mutants.of(records, _writer(bound, latex, mutants, records))


def _mutants(bound: BoundStatement, latex: str) -> list[Mutant]:
    """All mutants but those that the noise of an estimate hides."""
    mutants = all_mutants(
        bound.statement, swap_groups(bound.draws[0].bindings), lambda n: balanced(latex, n.span)
    )
    return [m for m in mutants if not m.finer or bound.errors[m.places[0]][0] is None]


def _never(mutant: Mutant, record: MutantRecord, why: str) -> MutantRecord:
    """A strict inequality survives where the author says why none is ever tight."""
    if not (why and mutant.strict and record.outcome == "survived"):
        return record
    return replace(record, outcome="spared", why=why)


def _refuse_powerless(
    mutants: Sequence[Mutant], records: Sequence[MutantRecord], latex: str
) -> None:
    """No badge where no mutant could be told apart but one that only claims more."""
    told_apart = any(
        record.outcome in ("caught", "spared") and not mutant.closer
        for mutant, record in zip(mutants, records, strict=True)
    )
    if not told_apart:
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


def _writer(
    bound: BoundStatement, latex: str, mutants: Sequence[Mutant], records: Sequence[MutantRecord]
) -> Callable[[], tuple[MutantRecord, ...]]:
    """What puts the edits into the text of the equation; it holds on to no numbers."""
    kinds = name_kinds({NORMAL: normal_shape, **bound.draws[0].bindings})
    statement = bound.statement

    def write() -> tuple[MutantRecord, ...]:
        edits = (rewrite(latex, statement, mutant, kinds) for mutant in mutants)
        return tuple(map(_in_text, records, edits))

    return write


def _in_text(record: MutantRecord, edit: Rewrite | None) -> MutantRecord:
    if edit is None:
        return record
    changed = (edit.start, edit.end, edit.text)
    return replace(record, changed=changed, place=edit.place, shown=edit.shown)


def _named(record: MutantRecord, key: str) -> bool:
    return key in (record.edit, record.latex)


def _reads(mutant: Mutant) -> str:
    """The LaTeX of the edited node, or of the step whose relation is turned."""
    return printed(mutant.after)


def _refuse_survivors(
    mutants: Sequence[Mutant], records: Sequence[MutantRecord], latex: str
) -> None:
    alive = [(m, r) for m, r in zip(mutants, records, strict=True) if r.outcome == "survived"]
    if not alive:
        return
    said = "; ".join(f"{r.edit!r} (reads {r.latex})" for _, r in alive)
    span = alive[0][0].before.span
    raise EquationError(
        f"{len(alive)} of {len(records)} mutants survive: {said}. Bind numbers that tell them "
        f"apart, or say why not with spare={{name: why}}.{survivor_hints([m for m, _ in alive])}",
        latex,
        span,
    )


def run_mutants(bound: BoundStatement, mutants: Sequence[Mutant]) -> list[tuple[str, float | None]]:
    """The outcome and residual of each mutant.

    A mutant is caught when a step that it touches fails, or cannot be evaluated, on some draw.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [_fate(bound, mutant) for mutant in mutants]


def _fate(bound: BoundStatement, mutant: Mutant) -> tuple[str, float | None]:
    known = [len(draw.evaluator) for draw in bound.draws]
    try:
        comparison = _worst(bound, mutant)
        if not comparison.holds:
            return "caught", comparison.residual
        alike = mutant.claimed or (not mutant.loses and _same(bound, mutant))
        return ("indistinct" if alike else "survived"), comparison.residual
    except Exception:  # noqa: BLE001  whatever a bound callable raises on nonsense, nonsense it is
        return "caught", None
    finally:
        for draw, kept in zip(bound.draws, known, strict=True):
            draw.evaluator.forget(kept)


def _worst(bound: BoundStatement, mutant: Mutant) -> Comparison:
    """The first comparison that fails, or the last that holds."""
    comparison = Comparison(0.0, True)
    for chosen in bound.portions:
        for place, step in zip(mutant.places, mutant.steps, strict=True):
            comparison = bound.compare(place, step, chosen)
            if not comparison.holds:
                return comparison
    return comparison


def _same(bound: BoundStatement, mutant: Mutant) -> bool:
    """Whether the edited node has its old value on all draws, wherever it is evaluated."""
    probe = mutant.probe(bound.statement)
    return probe is not None and all(
        _unmoved(draw.evaluator, mutant, *probe) for draw in bound.draws
    )


def _unmoved(evaluator: Evaluator, mutant: Mutant, tree: Node, gap: Node) -> bool:
    """A node that is never evaluated, in a case that never applies, is not known to agree."""
    try:
        evaluator.value(tree)
    except EquationError:
        return False
    gaps = evaluator.observe(gap)
    size = max(_largest(evaluator.observe(mutant.before)), magnitude(mutant.before, evaluator))
    return bool(gaps) and _largest(gaps) <= SAME * size


def _largest(values: Sequence[np.ndarray]) -> float:
    return max(float(np.max(np.abs(value))) for value in values)
