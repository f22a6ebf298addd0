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


class SymbolTables:
    """The tables of symbols that an author has named, and the relations that need not hold."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, frozenset[str]], Table] = {}

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
        self._tables[under, frozenset(drawn[0])] = Table(
            tuple(map(_with_roots, drawn)),
            allowed,
            f"symbols({under!r})" if under else "symbols",
            under,
            spared={normal(latex): why for latex, why in spare.items()},
            values={normal(latex): value for latex, value in values.items()},
        )

    def evaluate_values(self, place: str, formulas: Sequence[Relation]) -> tuple[InlineRecord, ...]:
        """Try the expressions whose values the author has given, each on its own table."""
        records = []
        for formula in formulas:
            spelled = _spelled(formula)
            for table in self._above(formula):
                if spelled not in table.values:
                    continue
                value = table.values[spelled]
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

    def evaluate(
        self, place: str, relations: Sequence[Relation], statements: BoundStatements
    ) -> tuple[InlineRecord, ...]:
        """What becomes of all; an error of a false one says where in the file `place` it is."""
        tables = list(self._tables.values())
        for equation, bound in statements:
            draws = bound.draws[: len(bound.draws) - bound.tight]
            drawn = tuple(_with_roots(draw.bindings) for draw in draws)
            tables.append(Table(drawn, bound.allowed, equation.label, line=equation.line))
        records = []
        for relation in relations:
            spelled = _spelled(relation)
            spared = [t.spared[spelled] for t in self._above(relation) if spelled in t.spared]
            if spared:
                record = InlineRecord(
                    relation.latex, relation.line, "listed", spared[0], spared=True
                )
            else:
                with located(place, Equation("in the text", relation.latex, relation.line)):
                    record = evaluate_relation(relation, tables)
            records.append(record)
        return tuple(records)

    def _above(self, relation: Relation) -> list[Table]:
        """The author's tables that count where the relation stands."""
        return [table for table in self._tables.values() if stands_under(table.under, relation)]

    def refuse_idle(self, place: str, formulas: Sequence[Relation]) -> None:
        """Raise `ValueError` for what the author has named and the text does not have."""
        headings = {heading for formula in formulas for heading in formula.headings}
        idle = []
        for table in self._tables.values():
            under = table.under
            if under and not any(names_heading(under, heading) for heading in headings):
                idle.append(f"no relation stands under the heading {under!r}")
            found = {_spelled(formula) for formula in formulas if stands_under(under, formula)}
            for word, named in (("spare names", table.spared), ("values gives", table.values)):
                idle += [
                    f"{word} {latex!r}, which does not stand between the equations"
                    for latex in sorted(named.keys() - found)
                ]
        if formulas and idle:
            raise ValueError(f"{place}: {'; '.join(idle)}")


def _spelled(relation: Relation) -> str:
    """The normal form of its LaTeX, or nothing where that cannot be read."""
    try:
        return normal(relation.latex)
    except EquationError:
        return ""


def _with_roots(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Where a symbol is bound as a square alone, as variances are, its root is bound with it."""
    roots = {}
    for key, value in drawn.items():
        square = _SQUARE.fullmatch(key)
        number = isinstance(value, Real) and float(value) >= 0
        if square and number and square[1] not in drawn:
            roots[square[1]] = float(value) ** 0.5
    return {**drawn, **roots}
