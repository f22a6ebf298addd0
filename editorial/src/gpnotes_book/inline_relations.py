"""Relations in passing: those of the sentences, tried on the symbol tables of their chapter.

A table is named by the author with `Chapter.symbols`, or is the bindings of a check. The first
one that binds every symbol of a relation decides: under its heading before the whole chapter,
and the author's before those of the checks, the nearest of these first.

``relations-listed.toml``, at the root of a book, has for each chapter the LaTeX of its relations
that no numbers judge, and may only shrink. Where the file is, a relation that leaves the evaluated
ones (a slip such as a lost square leaves a symbol that nothing binds) is an error. Its table
``evaluated`` says how many relations and expressions are: of one that stands twice, an edit of one
leaves the other.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from checked_equations.book.prose import Relation, relates
from checked_equations.book.records import InlineRecord
from checked_equations.book.settings import Settings
from checked_equations.check.bindings import name_kinds, names_in, swap_groups
from checked_equations.check.definitions import NORMAL, moment_steps, normal_shape
from checked_equations.check.mutant_outcomes import run_mutants
from checked_equations.check.mutants import all_mutants
from checked_equations.check.name_clashes import refuse_name_clashes
from checked_equations.check.relations import RELATIONS, Comparison, Misfit, Tolerance
from checked_equations.check.statements import BoundStatement, Draw, refuse_unfit
from checked_equations.errors import EquationError
from checked_equations.latex.balance import balanced
from checked_equations.latex.equation import Equation, located
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_free, symbols
from checked_equations.latex.tree import Apply, Name, Number, Statement, Subscript, parts

LISTED = "relations-listed.toml"
_SIM = r"\sim"
_NO_NODES = rf"{_SIM} is compared where its left side is bound to Nodes"
_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.?\s+")
_DECIMAL = re.compile(r"-?\s*\d+(?:\.(\d+))?")


@dataclass(frozen=True)
class Table:
    """Values of symbols: numbers for one or several draws, and how exactly they are meant.

    `under` is the heading below which the table counts, `line` that of a check's equation, or 0; by
    their normal form it has the relations `spared`, with reasons, and the `values` of expressions.
    """

    draws: tuple[Mapping[str, Any], ...]
    allowed: Tolerance
    name: str = "symbols"
    under: str = ""
    line: int = 0
    spared: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


_VALUE = r"\mathrm{value}"  # what an expression is compared with
_SQUARE = re.compile(r"(.*)\^(?:2|\{2\})")
_STRAIGHT = str.maketrans(
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}",
    "''\"\"",
)
_NOTHING = Table(({},), Tolerance(), "arithmetic")  # for numbers alone


@lru_cache(maxsize=4096)
def names_heading(under: str, heading: str) -> bool:
    """Return whether `under` names the heading: by its words, or by its number alone.

    Typesetting bends apostrophes and quotation marks, which makes no other heading of it.

    >>> names_heading("Exercises", "2.8 Exercises"), names_heading("2.8", "2.8 Exercises")
    (True, True)
    """
    named = re.compile(rf"{re.escape(under.translate(_STRAIGHT))}(?![\w.])")
    straight = heading.translate(_STRAIGHT)
    return any(map(named.match, (straight, _NUMBER.sub("", straight))))


def stands_under(under: str, relation: Relation) -> bool:
    """Return whether `under` names a heading above the relation, or none at all."""
    return not under or any(names_heading(under, heading) for heading in relation.headings)


def _distance(table: Table, relation: Relation) -> tuple[int, int]:
    """Return the distance of a table from a relation that it may decide about."""
    if table.line:
        return 1, abs(table.line - relation.line)
    under = table.under
    deep = [i for i, h in enumerate(relation.headings) if under and names_heading(under, h)]
    return 0, -max(deep, default=-1)


def evaluate_relation(relation: Relation, tables: Sequence[Table]) -> InlineRecord:
    """The outcome of `relation`, or `EquationError` if it is false on the table that decides."""
    unread, reasons = "", []
    try:
        statement = parse_free(relation.latex)
    except EquationError as error:
        unread = f"cannot be read: {error.problem}"
    else:
        known = {*RELATIONS, _SIM}
        others = [step.relation for step in statement.steps if step.relation not in known]
        if others:
            unread = f"`{others[0]}` is no relation between numbers"
        elif _gives_value(statement):
            tables = [table for table in tables if not table.line]  # a check draws its numbers
    near = [table for table in tables if stands_under(table.under, relation)]
    for table in [*sorted(near, key=lambda table: _distance(table, relation)), _NOTHING]:
        try:
            bound = _on(relation.latex, table)
            compared = [bound.compare(i, step) for i, step in enumerate(bound.statement.steps)]
        except (EquationError, Misfit) as error:
            reasons.append(getattr(error, "problem", str(error)))
        else:
            return _judged(relation, table, bound, compared)
    why = unread or _why(relation.latex, tables, reasons)
    return InlineRecord(relation.latex, relation.line, "listed", why)


def _gives_value(statement: Statement) -> bool:
    """Return whether it only gives a symbol its number."""
    sides = {side for step in statement.steps for side in (step.left, step.right)}
    alone = [isinstance(side, Name | Subscript) for side in sides]
    literal = [not any(isinstance(n, Name | Apply) for n in parts(side)) for side in sides]
    return any(literal) and all(a or b for a, b in zip(alone, literal, strict=True))


def _on(latex: str, table: Table) -> BoundStatement:
    """The relation on the numbers of `table`, or `EquationError` or `Misfit`."""
    bindings = table.draws[0]
    statement = parse(
        latex, name_kinds({NORMAL: normal_shape, **bindings} if _SIM in latex else bindings)
    )
    if _SIM in latex:
        pairs = [tuple(moment_steps(step, bindings)) for step in statement.steps]
        if not all(pairs):
            raise EquationError(_NO_NODES, latex)
        statement = replace(statement, steps=tuple(itertools.chain(*pairs)))
    elif any(step.relation not in RELATIONS for step in statement.steps):
        raise EquationError("no relation between numbers", latex)
    if any(step.left == step.right for step in statement.steps):
        raise EquationError("says nothing: both sides read the same", latex)
    names = names_in(statement)
    drawn = tuple(Draw({k: draw[k] for k in names & set(draw)}) for draw in table.draws)
    refuse_unfit(latex, statement, drawn)
    return BoundStatement(statement, drawn, _allowed(table.allowed, statement, latex))


def _allowed(allowed: Tolerance, statement: Statement, latex: str) -> Tolerance:
    """A printed decimal says by its digits how near ``\\approx`` is: half a unit of the last."""
    if _SIM in latex:
        allowed = replace(allowed, atol=max(allowed.atol, allowed.rtol))  # a mean may be zero
    atol = allowed.atol
    for step in statement.steps:
        sides = (latex[slice(*side.span)].strip() for side in (step.right, step.left))
        decimal = next(filter(None, map(_DECIMAL.fullmatch, sides)), None)
        if step.relation != r"\approx" or decimal is None:
            return allowed
        atol = max(atol, 0.5 * 10.0 ** -len(decimal[1] or "") * (1 + 1e-9))
    return replace(allowed, approx=0.0, atol=atol)


def _judged(
    relation: Relation, table: Table, bound: BoundStatement, compared: Sequence[Comparison]
) -> InlineRecord:
    latex = relation.latex
    for step, comparison in zip(bound.statement.steps, compared, strict=True):
        if not comparison.holds:
            problem = (
                f"this sentence is false on the numbers of {table.name}: "
                f"{balanced(latex, step.span)} is off by {comparison.residual:.1e}. "
                "Mend it, give its symbols the values that are meant here with "
                "chapter.symbols(..., under=heading), or say why it need not hold with "
                "spare={latex: why}"
            )
            raise EquationError(problem, latex, step.span)
    named = swap_groups(bound.draws[0].bindings)
    made = all_mutants(bound.statement, named, lambda node: balanced(latex, node.span))
    outcomes = [outcome for outcome, _ in run_mutants(bound, made)]
    return InlineRecord(
        latex, relation.line, "evaluated", by=table.name,
        residual=max(comparison.residual for comparison in compared),
        caught=outcomes.count("caught"),
        mutants=len(outcomes) - outcomes.count("indistinct"),  # that can be told from it
    )  # fmt: skip


def _why(latex: str, tables: Sequence[Table], reasons: Sequence[str]) -> str:
    """Return the symbols missing in the table that lacks the fewest, or the reason of a failure."""
    wanted = dict.fromkeys(normal(symbol) for symbol in symbols(latex))
    lacking = [[w for w in wanted if w not in table.draws[0]] for table in tables]
    fewest = min(lacking, key=len, default=list(wanted))
    if fewest:
        return "not bound together: " + ", ".join(f"`{symbol}`" for symbol in fewest)
    return _NO_NODES if _NO_NODES in reasons else reasons[0]


class SymbolTables:
    """The tables of symbols that an author has named, and the relations that need not hold."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, frozenset[str]], Table] = {}

    def add(self, table: Table) -> None:
        """Take a table and the relations it spares; equal symbols under one heading replace it."""
        table.allowed.refuse_loose()
        refuse_name_clashes("", Number(0), table.draws)
        if idle := [latex for latex, why in table.spared.items() if not why.strip()]:
            raise EquationError("spare must say why it need not hold", idle[0])
        self._tables[table.under, frozenset(table.draws[0])] = replace(
            table,
            draws=tuple(map(_with_roots, table.draws)),
            name=f"symbols({table.under!r})" if table.under else "symbols",
            spared={normal(latex): why for latex, why in table.spared.items()},
            values={normal(latex): value for latex, value in table.values.items()},
        )

    def evaluate(
        self,
        place: str,
        formulas: Sequence[Relation],
        statements: Iterable[tuple[Equation, BoundStatement]],
    ) -> tuple[InlineRecord, ...]:
        """Return the outcomes of the relations of the file `place`, and of valued expressions."""
        tables = list(self._tables.values())
        for equation, bound in statements:
            draws = bound.draws[: len(bound.draws) - bound.tight]
            drawn = tuple(_with_roots(draw.bindings) for draw in draws)
            tables.append(Table(drawn, bound.allowed, equation.label, line=equation.line))
        records, valued = [], []
        for formula in formulas:
            latex, spelled = formula.latex, _spelled(formula)
            above = [t for t in self._tables.values() if stands_under(t.under, formula)]
            spared = [table.spared[spelled] for table in above if spelled in table.spared]
            with located(place, Equation("in the text", latex, formula.line)):
                if relates(latex) and spared:
                    why = spared[0]
                    records.append(InlineRecord(latex, formula.line, "listed", why, spared=True))
                elif relates(latex):
                    records.append(evaluate_relation(formula, tables))
            valued += [_on_value(place, formula, t) for t in above if spelled in t.values]
        return (*records, *valued)

    def refuse_idle(self, place: str, formulas: Sequence[Relation]) -> None:
        """Raise `ValueError` for names of the author that the text does not have."""
        headings = {heading for formula in formulas for heading in formula.headings}
        idle = []
        for table in self._tables.values():
            under = table.under
            if under and not any(names_heading(under, heading) for heading in headings):
                idle.append(f"no relation stands under the heading {under!r}")
            found = {_spelled(formula) for formula in formulas if stands_under(under, formula)}
            named = {"spare names": table.spared, "values gives": table.values}
            strange = [(w, x) for w, known in named.items() for x in sorted(known.keys() - found)]
            idle += (f"{w} {x!r}, which does not stand between the equations" for w, x in strange)
        if formulas and idle:
            raise ValueError(f"{place}: {'; '.join(idle)}")


def _on_value(place: str, formula: Relation, table: Table) -> InlineRecord:
    """The expression against the value that its author has given in the table."""
    value = table.values[_spelled(formula)]
    draws = tuple({**d, _VALUE: value(d) if callable(value) else value} for d in table.draws)
    says = replace(formula, latex=rf"{formula.latex} = {_VALUE}")
    with located(place, Equation("in the text", says.latex, formula.line)):
        record = evaluate_relation(says, [replace(table, draws=draws, under="")])
        if record.outcome != "evaluated":
            raise EquationError(f"values cannot be compared: {record.why}", says.latex)
    return replace(record, latex=formula.latex)


def _spelled(relation: Relation) -> str:
    """The normal form of its LaTeX, or nothing where that cannot be read."""
    try:
        return normal(relation.latex)
    except EquationError:
        return ""


def _with_roots(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Where a symbol is bound as a square alone, as variances are, its root is bound with it."""
    roots = {
        square[1]: float(value) ** 0.5
        for key, value in drawn.items()
        if (square := _SQUARE.fullmatch(key)) and _is_real(value) and float(value) >= 0
    }
    return {**roots, **drawn}


def _is_real(value: Any) -> bool:
    """Return whether it is one real number, also as an array without axes."""
    whole = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biuf"
    return whole or isinstance(value, Real)


def newly_listed(
    slug: str, settings: Settings, inline: Sequence[InlineRecord]
) -> dict[str, list[str]]:
    """Return the relations that nothing evaluates and the file lacks, and those listed in vain."""
    file = settings.file.parent / LISTED if settings.file else None
    # of a page that has left its book some may be missing, such as those in captions
    if file is None or settings.installed or not file.is_file():
        return {}
    listed = tomllib.loads(file.read_text(encoding="utf-8"))
    known = Counter(map(_spaced, listed.get(slug, ())))
    evaluated = sum(record.outcome == "evaluated" for record in inline)
    said = listed.get("evaluated", {}).get(slug, evaluated)
    found = [(_spaced(r.latex), r) for r in inline if r.outcome == "listed" and not r.spared]
    now = Counter(latex for latex, _ in found)
    new = [f"${r.latex}$ (line {r.line}: {r.why})" for x, r in found if now[x] > known[x]]
    return {
        "relations that no numbers judge (bind their symbols, or spare them)": new,
        f"relations that must leave {LISTED}": [f"${x}$" for x in (known - now).elements()],
        f"formulas that are evaluated, of {said} in {LISTED}": (
            [str(evaluated)] if evaluated != said else []
        ),
    }


def _spaced(latex: str) -> str:
    return " ".join(latex.split())
