"""What stands between the numbered equations of a chapter, and the tables that decide about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
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

_VALUE = r"\mathrm{value}"  # what an expression is compared with
_SQUARE = re.compile(r"(.*)\^(?:2|\{2\})")

BoundStatements = Iterable[tuple[Equation, BoundStatement]]
_Key = tuple[str, tuple[str, ...]]  # the heading, and the names that are bound


class SymbolTables:
    """The tables of symbols that an author has named, and the relations that need not hold."""

    def __init__(self) -> None:
        self._tables: dict[_Key, Table] = {}
        self._spared: dict[_Key, dict[str, str]] = {}
        self._values: dict[_Key, dict[str, Any]] = {}

    def add(
        self,
        drawn: tuple[dict[str, Any], ...],
        allowed: Tolerance,
        under: str,
        spare: Mapping[str, str],
        values: Mapping[str, Any],
    ) -> None:
        """Take a table and what it spares; the same symbols under the same heading replace it."""
        allowed.refuse_loose()
        refuse_name_clashes("", Number(0), drawn)
        idle = [latex for latex, why in spare.items() if not why.strip()]
        if idle:
            raise EquationError("spare must say why it need not hold", idle[0])
        name = f"symbols({under!r})" if under else "symbols"
        key = (under, tuple(sorted(drawn[0])))
        self._tables[key] = Table(tuple(map(_with_roots, drawn)), allowed, name, under)
        self._spared[key] = {normal(latex): why for latex, why in spare.items()}
        self._values[key] = {normal(latex): value for latex, value in values.items()}

    def tables(self, statements: BoundStatements) -> list[Table]:
        """The author's tables and those of the checks."""
        found = list(self._tables.values())
        for equation, bound in statements:
            draws = bound.draws[: len(bound.draws) - bound.tight]
            drawn = tuple(_with_roots(draw.bindings) for draw in draws)
            found.append(Table(drawn, bound.allowed, equation.label, line=equation.line))
        return found

    def evaluate_values(self, place: str, formulas: Sequence[Relation]) -> tuple[InlineRecord, ...]:
        """Try the expressions whose values the author has given, each on its own table."""
        records = []
        for formula in formulas:
            for key in self._naming(formula, self._values):
                value = self._values[key][normal(formula.latex)]
                table = self._tables[key]
                draws = tuple(
                    {**d, _VALUE: value(d) if callable(value) else value} for d in table.draws
                )
                says = replace(formula, latex=rf"{formula.latex} = {_VALUE}")
                with located(place, Equation("in the text", says.latex, formula.line)):
                    record = evaluate_relation(says, [replace(table, draws=draws, under="")])
                    if record.outcome != "evaluated":
                        raise EquationError(f"values cannot be compared: {record.why}", says.latex)
                records.append(replace(record, latex=formula.latex))
        return tuple(records)

    def _record(self, relation: Relation, tables: Sequence[Table]) -> InlineRecord:
        """What becomes of one relation; raises `EquationError` if it is false."""
        keys = self._naming(relation, self._spared)
        if keys:
            why = self._spared[keys[0]][normal(relation.latex)]
            return InlineRecord(relation.latex, relation.line, "listed", why, spared=True)
        return evaluate_relation(relation, tables)

    def evaluate(
        self, place: str, relations: Sequence[Relation], statements: BoundStatements
    ) -> tuple[InlineRecord, ...]:
        """What becomes of all; an error of a false one says where in the file `place` it is."""
        tables = self.tables(statements)
        records = []
        for relation in relations:
            with located(place, Equation("in the text", relation.latex, relation.line)):
                records.append(self._record(relation, tables))
        return tuple(records)

    def _naming(self, relation: Relation, named: Mapping[_Key, Mapping[str, Any]]) -> list[_Key]:
        """The tables that spare the relation, or give its value."""
        try:
            latex = normal(relation.latex)
        except EquationError:
            return []
        return [
            (under, names)
            for (under, names), spelled in named.items()
            if latex in spelled and stands_under(under, relation)
        ]

    def refuse_idle(self, place: str, formulas: Sequence[Relation]) -> None:
        """Raise `ValueError` for what the author has named and the text does not have."""
        headings = {heading for formula in formulas for heading in formula.headings}
        idle = [
            f"no relation stands under the heading {under!r}"
            for under, _ in self._tables
            if under and not any(names_heading(under, heading) for heading in headings)
        ]
        for word, named in (("spare names", self._spared), ("values gives", self._values)):
            used = {(k, normal(f.latex)) for f in formulas for k in self._naming(f, named)}
            every = {(key, latex) for key, spelled in named.items() for latex in spelled}
            idle += [
                f"{word} {latex!r}, which does not stand between the equations"
                for _, latex in sorted(every - used)
            ]
        if formulas and idle:
            raise ValueError(f"{place}: {'; '.join(idle)}")


def _with_roots(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Where a symbol is bound as a square alone, as variances are, its root is bound with it."""
    roots = {}
    for key, value in drawn.items():
        square = _SQUARE.fullmatch(key)
        number = isinstance(value, Real) and float(value) >= 0
        if square and number and square[1] not in drawn:
            roots[square[1]] = float(value) ** 0.5
    return {**drawn, **roots}
