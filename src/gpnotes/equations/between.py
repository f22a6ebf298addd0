"""What stands between the numbered equations of a chapter, and the tables that decide about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .compare import Tolerance
from .errors import EquationError
from .names import normal
from .passing import Table, heads, tried
from .prose import Relation
from .record import InlineRecord
from .text import Equation
from .trial import Trial

__all__ = ["Between", "counts"]

Trials = Iterable[tuple[Equation, Trial]]


class Between:
    """The tables of symbols that an author has named, and the relations that need not hold."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, tuple[str, ...]], Table] = {}
        self._spared: dict[tuple[str, str], str] = {}

    def add(
        self,
        drawn: tuple[dict[str, Any], ...],
        allowed: Tolerance,
        under: str,
        spare: Mapping[str, str],
    ) -> None:
        """Take a table and what it spares; the same symbols under the same heading replace it."""
        if drawn and drawn[0]:
            name = f"symbols({under!r})" if under else "symbols"
            self._tables[under, tuple(sorted(drawn[0]))] = Table(drawn, allowed, name, under)
        for latex, why in spare.items():
            if not why.strip():
                raise EquationError("spare must say why it need not hold", latex)
            self._spared[under, normal(latex)] = why

    def tables(self, trials: Trials) -> list[Table]:
        """The author's tables and those of the checks."""
        return [*self._tables.values(), *(_table(e, t) for e, t in trials)]

    def record(
        self, relation: Relation, tables: Sequence[Table], *, edited: bool = True
    ) -> InlineRecord:
        """What becomes of one relation; raises `EquationError` if it is false."""
        why = self._reason(relation)
        if why:
            return InlineRecord(relation.latex, relation.line, "listed", why)
        return tried(relation, tables, edited=edited)[0]

    def _reason(self, relation: Relation) -> str:
        """Why the author lets the relation be, or nothing."""
        return next(iter(self._spares(relation).values()), "")

    def _spares(self, relation: Relation) -> dict[tuple[str, str], str]:
        try:
            key = normal(relation.latex)
        except EquationError:
            return {}
        return {
            (under, latex): why
            for (under, latex), why in self._spared.items()
            if latex == key and (not under or any(heads(under, h) for h in relation.headings))
        }

    def idle(self, relations: Sequence[Relation]) -> Iterator[str]:
        """What the author has named and the text does not have."""
        headings = {heading for relation in relations for heading in relation.headings}
        for under, _ in self._tables:
            if under and not any(heads(under, heading) for heading in headings):
                yield f"no relation stands under the heading {under!r}"
        used = {key for relation in relations for key in self._spares(relation)}
        for key in self._spared.keys() - used:
            yield f"spare names {key[1]!r}, which does not stand between the equations"


def _table(equation: Equation, trial: Trial) -> Table:
    drawn = tuple(draw.bindings for draw in trial.draws)
    return Table(drawn, trial.allowed, equation.label, line=equation.line)


def counts(records: Sequence[InlineRecord]) -> dict[str, int]:
    """How many relations were evaluated in passing, and how many are only listed."""
    evaluated = sum(record.outcome == "evaluated" for record in records)
    return {"inline_evaluated": evaluated, "inline_listed": len(records) - evaluated}
