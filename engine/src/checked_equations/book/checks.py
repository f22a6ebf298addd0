"""The records of checks: an equation on its numbers, a definition beside what it defines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..check.bindings import Bindings, Fields, Tight, backend, draw_bindings, draw_tight_bindings
from ..check.definitions import compare_definition, refuse_second_claim
from ..check.mutant_outcomes import check_mutants
from ..check.relations import Tolerance
from ..check.statements import (
    BoundStatement,
    bind_statement,
    check_steps,
    kind_of_statement,
    refuse_unused,
    route_of,
    worst_estimate,
)  # fmt: skip
from ..errors import EquationError
from ..latex.balance import balanced
from ..latex.equation import Equation
from ..latex.parser import parse_free
from .records import Record


@dataclass(frozen=True)
class Terms:
    """On what terms an equation is checked.

    The tolerance `allowed`, the mutants to `spare` and why, the numbers on which an inequality
    is `tight`, and the `oracle` by which the numbers come. `chapter` is the place of the equation,
    and with the label the seed of its draws; `fields` are those of the book's notation.
    """

    allowed: Tolerance
    oracle: str = ""
    spare: Mapping[str, str] = field(default_factory=dict)
    tight: Tight = None
    chapter: str = ""
    fields: Fields = field(default_factory=Fields)

    def place(self, equation: Equation) -> tuple[str, Callable[[Any], dict[str, Any]]]:
        """The seed of the draws of `equation`, and the fields that stand for its symbols."""
        return f"{self.chapter}:{equation.label}", self.fields.naming(equation.latex)


def equation_record(
    equation: Equation, bindings: Bindings, terms: Terms
) -> tuple[Record, BoundStatement]:
    """Check `equation` on numbers: its record, and the statement bound to them."""
    terms.allowed.refuse_loose()
    drawn = draw_bindings(bindings, *terms.place(equation))
    attained = draw_tight_bindings(terms.tight, *terms.place(equation))
    every = (*drawn, *attained)
    bound = bind_statement(equation.latex, every, terms.allowed, tight=len(attained))
    refuse_unused(drawn[0], equation.latex, bound.statement)
    record = _compared(kind_of_statement(bound), bound, drawn, equation, terms)
    return replace(record, tight=len(attained), estimate=worst_estimate(bound)), bound.anew()


def _compared(
    kind: str,
    bound: BoundStatement,
    drawn: Sequence[Mapping[str, Any]],
    equation: Equation,
    terms: Terms,
) -> Record:
    """The record of a statement that was evaluated."""
    allowed = terms.allowed
    return Record(
        equation.label, terms.chapter, kind, equation.line, terms.oracle,
        allowed.rtol, allowed.atol, allowed.approx,
        steps=check_steps(bound, equation),
        mutants=check_mutants(bound, equation.latex, terms.spare, terms.tight),
        draws=len(drawn),
        backend=backend(drawn[0]),
        route=route_of(bound.statement, drawn[0]),
    )  # fmt: skip


def definition_record(
    equation: Equation, bindings: Bindings | None, why: str, terms: Terms
) -> tuple[Record, BoundStatement | None]:
    """Hold a definition against what it defines: its record, and what was compared, if anything."""
    latex, bound = equation.latex, None
    terms.allowed.refuse_loose()
    drawn = () if bindings is None else draw_bindings(bindings, *terms.place(equation))
    bare: tuple[str, ...] = (balanced(latex, (0, len(latex))),)
    if drawn:
        bound, bare = compare_definition(latex, drawn, terms.allowed)
    else:
        refuse_second_claim(latex, parse_free(latex))
    if bare and not why.strip():
        raise EquationError(f"why= must say why nothing is compared with {'; '.join(bare)}", latex)
    if bound is None or not bound.statement.steps:
        place = (equation.label, terms.chapter, "definition", equation.line, terms.oracle)
        return Record(*place, bare=bare, why=why), None
    record = _compared("definition", bound, drawn, equation, terms)
    return replace(record, bare=bare, why=why), bound.anew()


def finished(record: Record, equation: Equation, start: float) -> Record:
    """`record` with its worst residual, what was read, and the time since `start`."""
    return replace(
        record,
        residual=max((step.residual or 0.0 for step in record.steps), default=None),
        milliseconds=round(1e3 * (time.perf_counter() - start), 3),
        digest=equation.digest,
        latex=equation.latex,
    )
