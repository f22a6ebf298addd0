"""What stands between the numbered equations of a chapter, and the tables that decide about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..check.name_clashes import refuse_name_clashes
from ..check.relations import Tolerance
from ..check.statements import BoundStatement
from ..errors import EquationError
from ..latex.equation import Equation, located
from ..latex.names import normal
from ..latex.tree import Number
from .inline_relations import Table, evaluate_relation, names_heading, stands_under
from .prose import Relation
from .records import InlineRecord

__all__ = ["SymbolTables"]

BoundStatements = Iterable[tuple[Equation, BoundStatement]]
_Key = tuple[str, tuple[str, ...]]  # the heading, and the names that are bound


class SymbolTables:
    """The tables of symbols that an author has named, and the relations that need not hold."""

    def __init__(self) -> None:
        self._tables: dict[_Key, Table] = {}
        self._spared: dict[_Key, dict[str, str]] = {}

    def add(
        self,
        drawn: tuple[dict[str, Any], ...],
        allowed: Tolerance,
        under: str,
        spare: Mapping[str, str],
    ) -> None:
        """Take a table and what it spares; the same symbols under the same heading replace it."""
        allowed.refuse_loose()
        refuse_name_clashes("", Number(0), drawn)
        idle = [latex for latex, why in spare.items() if not why.strip()]
        if idle:
            raise EquationError("spare must say why it need not hold", idle[0])
        name = f"symbols({under!r})" if under else "symbols"
        key = (under, tuple(sorted(drawn[0])))
        self._tables[key] = Table(drawn, allowed, name, under)
        self._spared[key] = {normal(latex): why for latex, why in spare.items()}

    def tables(self, statements: BoundStatements) -> list[Table]:
        """The author's tables and those of the checks."""
        found = list(self._tables.values())
        for equation, bound in statements:
            draws = bound.draws[: len(bound.draws) - bound.tight]
            drawn = tuple(draw.bindings for draw in draws)
            found.append(Table(drawn, bound.allowed, equation.label, line=equation.line))
        return found

    def record(
        self, relation: Relation, tables: Sequence[Table], *, edited: bool = True
    ) -> InlineRecord:
        """What becomes of one relation; raises `EquationError` if it is false."""
        keys = self._spares(relation)
        if keys:
            why = self._spared[keys[0]][normal(relation.latex)]
            return InlineRecord(relation.latex, relation.line, "listed", why)
        return evaluate_relation(relation, tables, edited=edited)[0]

    def evaluate(
        self,
        place: str,
        relations: Sequence[Relation],
        statements: BoundStatements,
        *,
        edited: bool,
    ) -> tuple[InlineRecord, ...]:
        """What becomes of all; an error of a false one says where in the file `place` it is."""
        tables = self.tables(statements)
        records = []
        for relation in relations:
            with located(place, Equation("in the text", relation.latex, relation.line)):
                records.append(self.record(relation, tables, edited=edited))
        return tuple(records)

    def _spares(self, relation: Relation) -> list[_Key]:
        """The tables that spare the relation."""
        try:
            latex = normal(relation.latex)
        except EquationError:
            return []
        return [
            (under, names)
            for (under, names), spared in self._spared.items()
            if latex in spared and stands_under(under, relation)
        ]

    def refuse_idle(self, place: str, relations: Sequence[Relation]) -> None:
        """Raise `ValueError` for what the author has named and the text does not have."""
        headings = {heading for relation in relations for heading in relation.headings}
        used = {(k, normal(r.latex)) for r in relations for k in self._spares(r)}
        named = {(key, latex) for key, spared in self._spared.items() for latex in spared}
        idle = [
            f"no relation stands under the heading {under!r}"
            for under, _ in self._tables
            if under and not any(names_heading(under, heading) for heading in headings)
        ]
        idle += [
            f"spare names {latex!r}, which does not stand between the equations"
            for _, latex in named - used
        ]
        if relations and idle:
            raise ValueError(f"{place}: {'; '.join(idle)}")
