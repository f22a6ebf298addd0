"""The records of checks: an equation on its numbers, a definition beside what it defines."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..check.bindings import Bindings, Tight, backend, draw_bindings, draw_tight_bindings
from ..check.definitions import compare_definition, refuse_second_claim
from ..check.fields import Fields
from ..check.mutant_outcomes import check_mutants
from ..check.relations import Tolerance
from ..check.statements import (
    BoundStatement,
    bind_statement,
    kind_of_statement,
    refuse_unused,
    route_of,
)  # fmt: skip
from ..check.steps import check_steps, worst_estimate
from ..errors import EquationError
from ..latex.balance import balanced
from ..latex.equation import Equation
from ..latex.parser import parse_free
from .records import Record


@dataclass(frozen=True)
class Terms:
    """On what terms an equation is checked.

    The tolerance `allowed`, the mutants to `spare` and why, the numbers on which an inequality
    is `tight`, and the `oracle` by which the numbers come.
    `chapter` is the place of the equation, and with the label the seed of its draws; `fields` are
    those that the book's notation gives to symbols.
    """

    allowed: Tolerance
    oracle: str = ""
    spare: Mapping[str, str] = field(default_factory=dict)
    tight: Tight = None
    chapter: str = ""
    fields: Fields = field(default_factory=Fields)

    def record(self, equation: Equation, kind: str, allowed: Tolerance | None) -> Record:
        """A record of `equation` on these terms, with nothing found yet."""
        return Record(
            equation.label, self.chapter, kind, equation.line, self.oracle,
            rtol=allowed.rtol if allowed else None,
            atol=allowed.atol if allowed else None,
            approx=allowed.approx if allowed else None,
        )  # fmt: skip

    def drawn(self, bindings: Bindings, equation: Equation) -> tuple[dict[str, Any], ...]:
        """The numbers of `equation`, one set a draw; place and label decide what is drawn."""
        seed = f"{self.chapter}:{equation.label}"
        return draw_bindings(bindings, seed, self.fields.naming(equation.latex))

    def attained(self, equation: Equation) -> tuple[dict[str, Any], ...]:
        """Those on which its inequality is tight."""
        seed = f"{self.chapter}:{equation.label}"
        return draw_tight_bindings(self.tight, seed, self.fields.naming(equation.latex))


def equation_record(
    equation: Equation, bindings: Bindings, terms: Terms
) -> tuple[Record, BoundStatement]:
    """Check `equation` on numbers: its record, and the statement bound to them.

    Raises `EquationError` for a step that does not hold, a mutant that survives, a statement
    that says nothing, and all bad input.
    """
    latex = equation.latex
    terms.allowed.refuse_loose()
    drawn = terms.drawn(bindings, equation)
    attained = terms.attained(equation)
    bound = bind_statement(latex, (*drawn, *attained), terms.allowed, tight=len(attained))
    refuse_unused(drawn[0], latex, bound.statement)
    record = replace(
        terms.record(equation, kind_of_statement(bound), terms.allowed),
        steps=check_steps(bound, equation),
        draws=len(drawn),
        mutants=check_mutants(bound, latex, terms.spare, terms.tight),
        tight=len(attained),
        estimate=worst_estimate(bound),
        backend=backend(drawn[0]),
        route=route_of(bound.statement, drawn[0]),
    )
    return record, bound.anew()


def definition_record(
    equation: Equation, bindings: Bindings | None, why: str, terms: Terms
) -> tuple[Record, BoundStatement | None]:
    """Hold a definition against what it defines: its record, and what was compared, if anything.

    Raises `EquationError` for what does not hold, for a mutant that survives, and where a
    statement is left bare without a reason.
    """
    latex = equation.latex
    terms.allowed.refuse_loose()
    drawn = terms.drawn(bindings, equation) if bindings is not None else ()
    bound: BoundStatement | None = None
    bare: tuple[str, ...] = (balanced(latex, (0, len(latex))),)
    if drawn:
        bound, bare = compare_definition(latex, drawn, terms.allowed)
    else:
        refuse_second_claim(latex, parse_free(latex))
    if bare and not why.strip():
        raise EquationError(f"why= must say why nothing is compared with {'; '.join(bare)}", latex)
    if bound is None or not bound.statement.steps:
        return replace(terms.record(equation, "definition", None), bare=bare, why=why), None
    record = replace(
        terms.record(equation, "definition", terms.allowed),
        bare=bare,
        why=why,
        steps=check_steps(bound, equation),
        mutants=check_mutants(bound, latex, terms.spare),
        draws=len(drawn),
        backend=backend(drawn[0]),
        route=route_of(bound.statement, drawn[0]),
    )
    return record, bound.anew()


def finished(record: Record, equation: Equation, start: float) -> Record:
    """`record` with its worst residual, what was read, and the time since `start`."""
    return replace(
        record,
        residual=max((step.residual or 0.0 for step in record.steps), default=None),
        milliseconds=round(1e3 * (time.perf_counter() - start), 3),
        digest=equation.digest,
        latex=equation.latex,
    )
