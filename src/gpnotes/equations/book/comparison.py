"""The record of a definition: held against the thing that it defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..check.bindings import Bindings, backend, draws
from ..check.definitions import compared, defined
from ..check.relations import Tolerance
from ..check.routes import refuse_claims, route, watched
from ..check.statements import Trial
from ..check.verification import mutated, steps
from ..errors import EquationError
from ..latex.balance import whole
from ..latex.equation import Equation
from .records import Record

__all__ = ["held_against"]


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
    refuse_claims(record.oracle, bindings, drawn[0], watch)
    record = replace(
        record, steps=steps(held.trial, equation), mutants=mutated(held.trial, latex, spare),
        draws=len(drawn), backend=backend(drawn[0]),
        route=route(held.trial.statement, drawn[0], watch),
    )  # fmt: skip
    return record, held.trial.anew()
