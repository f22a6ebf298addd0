"""Outcomes of the mutants of a statement; survivors, and statements without any, are refused."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from ..errors import EquationError
from ..evaluate.evaluator import largest, magnitude
from ..latex import tree as t
from ..latex.balance import balanced
from ..latex.printer import to_latex as printed
from .bindings import Tight, name_kinds, swap_groups
from .definitions import NORMAL, normal_shape
from .mutants import CLOSER, Mutant, all_mutants
from .outcomes import MutantRecord, Mutants
from .relations import SIGNED
from .rewrites import rewrite
from .statements import BoundStatement

SAME = 1e-10  # two values of a node are the same if they agree to this, relative to the larger


class Survivors(EquationError):
    """Mutants survive; of an inequality, further draws might catch them."""

    of_inequality = False


Spare = Mapping[str, str]
NEVER = "never: "


def check_mutants(bound: BoundStatement, latex: str, spare: Spare, tight: Tight = None) -> Mutants:
    """The mutants of the statement and their outcomes.

    Raises `EquationError` for a survivor that is not spared, for a spare that names none, and
    where no mutant differs from the statement.
    """
    groups = swap_groups(bound.draws[0].bindings)
    every = all_mutants(bound.statement, groups, lambda n: balanced(latex, n.span))
    # some are hidden by the noise of an estimate
    mutants = [m for m in every if not m.finer or bound.errors[m.places[0]][0] is None]
    _refuse_not_tight(bound, mutants, tight, latex)
    never = _why_never_tight(tight)
    fates = run_mutants(bound, mutants)
    records = tuple(_record(m, *f, spare, never) for m, f in zip(mutants, fates, strict=True))
    told = list(zip(mutants, records, strict=True))
    _refuse_survivors(told, latex)
    idle = [key for key in spare if not any(key in (r.edit, r.latex) and r.why for r in records)]
    if idle:
        raise EquationError(f"spare names no survivor: {', '.join(map(repr, idle))}", latex)
    # no badge where no mutant could be told apart but one that only claims more
    if not any(r.outcome in ("caught", "spared") and m.relations not in CLOSER for m, r in told):
        problem = "shows nothing: it has no mutant that could be told from it. Print what is "
        problem += "computed, and bind numbers that are neither zero nor one"
        raise EquationError(problem, latex)
    kinds = name_kinds({NORMAL: normal_shape, **bound.draws[0].bindings})
    statement = bound.statement  # what `write` keeps holds on to no numbers

    @cache
    def write() -> tuple[MutantRecord, ...]:
        edits = ((r, rewrite(latex, statement, m, kinds)) for m, r in told)
        return tuple(
            replace(r, changed=(e.start, e.end, e.text), place=e.place, shown=e.shown) if e else r
            for r, e in edits
        )

    return Mutants.of(records, write)


def _record(
    mutant: Mutant, outcome: str, residual: float | None, spare: Spare, never: str
) -> MutantRecord:
    """The record of a mutant; `never` says why no numbers tell a strict inequality apart."""
    record = MutantRecord(mutant.edit, printed(mutant.after), outcome, residual, said=mutant.said)
    if outcome != "survived" and not (outcome == "indistinct" and mutant.harmless):
        return record
    named = (why for key, why in spare.items() if key in (record.edit, record.latex))
    why = next(named, "") or (never if mutant.strict else "")
    return replace(record, outcome="spared", why=why) if why else record


def _refuse_survivors(told: Sequence[tuple[Mutant, MutantRecord]], latex: str) -> None:
    alive = [(m, r) for m, r in told if r.outcome == "survived"]
    if not alive:
        return
    said = "; ".join(f"{r.edit!r} (reads {r.latex})" for _, r in alive)
    hint = "Bind numbers that tell them apart, or say why not with spare={name: why}."
    if any(m.strict for m, _ in alive):
        hint += " An inequality that is never seen tight could be strict: give tight= numbers on "
        hint += f"which both sides are equal, or say why there are none, tight='{NEVER}why'."
    if any(m.finer and not m.strict for m, _ in alive):
        hint += " Where both sides are equal to rtol=, write = instead of \\approx."
    problem = f"{len(alive)} of {len(told)} mutants survive: {said}. {hint}"
    wrong = Survivors(problem, latex, alive[0][0].before.span)
    wrong.of_inequality = any(step.relation in SIGNED for m, _ in told for step in m.steps)
    raise wrong


def run_mutants(bound: BoundStatement, mutants: Sequence[Mutant]) -> list[tuple[str, float | None]]:
    """Return the outcome and residual of each; a mutant that fails on some draw is caught.

    One that takes longer than is allowed, if it is, is undecided.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [_fate(bound, mutant) for mutant in mutants]


def _fate(bound: BoundStatement, mutant: Mutant) -> tuple[str, float | None]:
    known = [draw.evaluator.mark() for draw in bound.draws]
    try:
        for chosen in bound.portions:
            for place, step in zip(mutant.places, mutant.steps, strict=True):
                comparison = bound.compare(place, step, chosen)
                if not comparison.holds:
                    return "caught", comparison.residual
        alike = mutant.claimed or mutant.harmless or (not mutant.loses and _same(bound, mutant))
        return ("indistinct" if alike else "survived"), comparison.residual
    except TimeoutError:  # where only so much time is allowed
        return "undecided", None
    except Exception:  # noqa: BLE001  whatever a bound callable raises on nonsense, nonsense it is
        return "caught", None
    finally:
        for draw, kept in zip(bound.draws, known, strict=True):
            draw.evaluator.forget(kept)


def _same(bound: BoundStatement, mutant: Mutant) -> bool:
    """Return whether the edited node has its old value on all draws, wherever it is evaluated.

    A node that is never evaluated is not known to agree, and a relation has no value.
    """
    before, after = mutant.before, mutant.after
    if isinstance(before, t.Step):
        return False
    # the original side, so that every loop runs as it did, and in it wherever the node stands
    gap = t.Sum((before, after), (1, -1))
    nothing = t.Sum((before, t.Product((t.Number(0), gap))), (1, 1))
    side = getattr(bound.statement.steps[mutant.places[0]], mutant.side)
    probe = t.replace_at(side, mutant.path, nothing)
    for evaluator in (draw.evaluator for draw in bound.draws):
        try:
            evaluator.value(probe)
        except EquationError:
            return False
        size = max(largest(before, evaluator), magnitude(before, evaluator))
        if not evaluator.observe(gap) or largest(gap, evaluator) > SAME * size:
            return False
    return True


# Inequalities are judged where they are tight: there, a strict one is another statement.


def _why_never_tight(tight: Tight) -> str:
    """Why no numbers make the inequality an equality, where the author says so."""
    if not isinstance(tight, str):
        return ""
    if not tight.startswith(NEVER) or not tight.removeprefix(NEVER).strip():
        raise ValueError(f"tight= in words must begin with {NEVER!r} and say why; got {tight!r}")
    return tight


def _refuse_not_tight(
    bound: BoundStatement, mutants: Sequence[Mutant], tight: Tight, latex: str
) -> None:
    """Raise `EquationError` where `tight` contradicts the numbers."""
    if tight is None:
        return
    strict = [mutant for mutant in mutants if mutant.strict]
    if not strict:
        raise EquationError("tight=: no relation of this equation can be tight", latex)
    # whether some inequality would fail on a draw if it were strict
    attained = [
        any(not bound.compare(m.places[0], m.steps[0], slice(i, i + 1)).holds for m in strict)
        for i in range(len(bound.draws))
    ]
    if _why_never_tight(tight) and any(attained):
        raise EquationError("tight= says never, but both sides are equal on a draw", latex)
    if bound.tight and not any(attained[-bound.tight :]):
        raise EquationError("tight=: on none of the tight draws are both sides equal", latex)
