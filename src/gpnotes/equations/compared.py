"""Definitions held against the thing itself: what they define is bound to numbers, and compared.

Of ``x \\sim \\mathcal N(m, S)``, with `x` bound to the nodes of a distribution, mean and
covariance are compared. What mentions something that is not bound defines without a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .assemble import bind
from .binding import Bindings, backend, draws, kinds, used
from .compare import RELATIONS, Tolerance
from .definition import NORMAL, conforms, defined, normal_shape, refuse_claims
from .errors import EquationError
from .met import refuse_unmet
from .parse import parse
from .record import Record
from .routes import refuse_claims as refuse_false_claims
from .routes import route, watched
from .text import Equation
from .tree import Apply, Expectation, Name, Statement, Step, Under, Variance
from .trial import Draw, Trial
from .twofold import refuse_twofold
from .values import kind
from .verify import mutated, refuse_unused, steps
from .whole import whole

__all__ = ["Compared", "compared", "held_against", "moments"]


@dataclass(frozen=True)
class Compared:
    """The steps of a definition that numbers can judge, and the LaTeX of the others."""

    trial: Trial
    bare: tuple[str, ...]


def compared(latex: str, drawn: Sequence[Mapping[str, Any]], allowed: Tolerance) -> Compared:
    """Read the definition `latex` and see which of its statements `drawn` can judge.

    The sides of the other statements must have one shape where everything in them is bound.
    Raises `EquationError` for what cannot be read and for a symbol that does not occur.
    """
    full = {NORMAL: normal_shape, **drawn[0]}
    statement = parse(latex, kinds(full), free=True)
    refuse_claims(latex, statement)
    refuse_unused(drawn[0], latex, statement)
    numbers = [Draw(values).plain() for values in drawn]
    refuse_twofold(latex, statement, numbers)
    refuse_unmet(latex, statement, numbers)
    judged = {id(step): tuple(_judged(step, drawn[0], allowed)) for step in statement.steps}
    bare = [step for step in statement.steps if not judged[id(step)]]
    for step in (one for one in bare if used(one) <= set(full)):
        for values in drawn:
            conforms(latex, step, Draw({NORMAL: normal_shape, **values}))
    kept = Statement(tuple(step for steps in judged.values() for step in steps))
    trial = Trial(kept, tuple(Draw(values) for values in drawn), allowed)
    return Compared(trial, tuple(whole(latex, step.span) for step in bare))


def _judged(step: Step, bound: Mapping[str, Any], allowed: Tolerance) -> Iterator[Step]:
    """The relations between numbers that a step makes; none where it only defines."""
    if step.relation == r"\sim":
        yield from moments(step, bound)
        return
    tolerated = step.relation != r"\approx" or allowed.approx is not None
    if step.relation in RELATIONS and tolerated and used(step) <= set(bound):
        yield step


def moments(step: Step, bound: Mapping[str, Any]) -> Iterator[Step]:
    """The two equations, of mean and covariance, that ``x \\sim \\mathcal N(m, S)`` makes.

    None where `x` is not bound to nodes, or `m` or `S` to nothing.
    """
    left, right = step.left, step.right
    normal = isinstance(right, Apply) and right.key == NORMAL and len(right.arguments) == 2
    nodes = isinstance(left, Name) and kind(bound.get(left.key)) == "nodes"
    if normal and nodes and used(right) - {NORMAL} <= set(bound):
        mean, covariance = right.arguments
        over, body = (Under((left.key,), left.key),), bind(left, {left.key})
        average = Expectation(over, body, span=left.span)
        spread = Variance(over, body, span=left.span)
        yield replace(step, left=average, relation="=", right=mean)
        yield replace(step, left=spread, relation="=", right=covariance)


def held_against(
    record: Record,
    equation: Equation,
    bindings: Bindings | None,
    why: str,
    spare: Mapping[str, str],
) -> tuple[Record, Trial | None]:
    """The record of a definition with what was compared, and the trial if anything was.

    Raises `EquationError` for what does not hold, for a mutant that survives, and where a
    statement is left bare without a reason.
    """
    latex = equation.latex
    allowed = Tolerance(record.rtol or 0.0, record.atol or 0.0, record.approx)
    allowed.refuse_loose()
    with watched(bindings) as watch:
        seed = f"{record.chapter}:{record.label}"
        drawn = draws(bindings, seed) if bindings is not None else ()
    if not drawn:
        defined(latex)
    held = compared(latex, drawn, allowed) if drawn else None
    bare = held.bare if held else (whole(latex, (0, len(latex))),)
    if bare and not why.strip():
        raise EquationError(f"why= must say why nothing is compared with {'; '.join(bare)}", latex)
    record = replace(record, bare=bare, why=why)
    if held is None or not held.trial.statement.steps:
        return replace(record, rtol=None, atol=None, approx=None), None
    refuse_false_claims(record.oracle, bindings, drawn[0], watch)
    record = replace(
        record, steps=steps(held.trial, equation), mutants=mutated(held.trial, latex, spare),
        draws=len(drawn), backend=backend(drawn[0]),
        route=route(held.trial.statement, drawn[0], watch),
    )  # fmt: skip
    return record, held.trial.anew()
