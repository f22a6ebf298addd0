"""The verbs of a chapter: check, define, refute, source, ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from ..check.bindings import Bindings, Tight, draw_bindings
from ..check.relations import Tolerance
from ..check.statements import BoundStatement
from ..errors import EquationError
from ..latex.equation import Equation, located
from .checks import Terms, definition_record, equation_record, finished, refutation_residuals
from .inline_relations import stands_under
from .ledger import chapter_totals, inline_totals, refuse_incomplete
from .manuscripts import Manuscript, read_manuscript
from .notation import read_fields
from .prose import Relation
from .records import InlineRecord, Ledger, Record, Refutation, Symbols, Verdict
from .settings import find_settings
from .sources import Answers, is_clear, read_items, refuse_weak
from .symbol_tables import SymbolTables

__all__ = ["Chapter"]

_Key = tuple[str, str]  # a label and an oracle: an equation may be checked in several ways


class Chapter:
    """A chapter of the book and the record of what it has checked so far.

    The equations are read from the chapter's own text: the file at `path`, the notebook that
    runs, the chapter's ``.md`` or ``.ipynb`` in the working directory, or else the copy that the
    book or the installed package carries. Every verb looks whether the file has changed since;
    what was found for an equation that reads otherwise now is forgotten. Only what is saved is
    read, and what a verb says ends in the name of the text.

    Every verb returns a record that shows itself, as a badge, when it is the last thing in
    its cell; the book's ledger is made of what is shown, so a cell holds one verb.
    """

    def __init__(self, slug: str, path: str | Path | None = None) -> None:
        self.slug = slug
        self._path = None if path is None else Path(path)
        self._folder = Path.cwd()
        self._text = self._read()
        self._settings = find_settings(self._text.file.parent if self._text.file else self._folder)
        self._fields = read_fields(self._settings, slug)
        self._answers = Answers(slug, read_items(self._settings.items_file))
        self._outdated: set[str] = set()
        self._records: dict[_Key, Record] = {}
        self._checked: dict[_Key, BoundStatement] = {}
        self._compared: dict[_Key, BoundStatement] = {}
        self._tables = SymbolTables()

    def __repr__(self) -> str:
        return f"Chapter({self.slug!r})"

    def check(
        self,
        label: str,
        bindings: Bindings,
        *,
        oracle: str,
        rtol: float = 1e-9,
        atol: float = 0.0,
        approx: float | None = None,
        source: str | tuple[str, ...] = (),
        spare: Mapping[str, str] | None = None,
        tight: Tight = None,
    ) -> Record:
        """Evaluate the equation `label` on the numbers of `bindings`, step by step, and mutate it.

        `bindings` maps the LaTeX of each symbol to its value; or is a problem, any object that
        has the fields which the notation gives to symbols, alone or in a pair with a mapping
        for the other symbols; or is a function of a NumPy generator that returns one of these:
        then it is drawn three times and the worst residual counts. What is bound by name is
        used; fields are where their symbols occur. `approx` is the relative tolerance of
        ``\\approx``. `oracle` says by which independent route the numbers come, `source` which
        items the equation answers, and `spare` why a mutant may survive. `tight` gives further
        bindings, or several in a list, on which an inequality is an equality and is judged as
        one; or it says why there are none, as in ``"never: a density is positive"``.

        Raises `EquationError`, with the line of the file, for a step that does not hold, a
        mutant that survives, a statement that says nothing, and all bad input.
        """
        start = time.perf_counter()
        equation = self._equation(label)
        self._records.pop((label, oracle), None)
        named = (source,) if isinstance(source, str) else source
        answered = tuple(self._answers.item(self._place, item).id for item in named)
        terms = self._terms(Tolerance(rtol, atol, approx), oracle, spare, tight)
        with self._located(equation):
            if not oracle.strip():
                raise EquationError("oracle= must say by which route the numbers come")
            record, bound = equation_record(equation, bindings, terms, answered)
        self._checked[label, oracle] = bound
        return self._keep(record, start)

    def _terms(
        self,
        allowed: Tolerance,
        oracle: str,
        spare: Mapping[str, str] | None,
        tight: Tight = None,
    ) -> Terms:
        known = self._settings.known
        spared = spare or {}
        return Terms(allowed, oracle, spared, tight, known, self.slug, self._fields)

    def _keep(self, record: Record, start: float) -> Record:
        """Keep the record, with the text that was read and the time that it took."""
        record = finished(record, self._text.equations[record.label], start)
        record = replace(record, text=self._text.name, saved=self._text.saved)
        self._records[record.label, record.oracle] = record
        return record

    def define(
        self,
        label: str,
        bindings: Bindings | None = None,
        *,
        why: str = "",
        oracle: str = "",
        rtol: float = 1e-9,
        atol: float = 0.0,
        approx: float | None = None,
        spare: Mapping[str, str] | None = None,
    ) -> Record:
        """Hold the definition `label` against the thing that it defines.

        Each statement all of whose symbols are among `bindings` is compared and mutated as by
        `check`; of ``x \\sim \\mathcal N(m, S)``, with `x` bound to `Nodes`, mean and covariance
        are. `why` is the reason for which another statement is left as it stands.

        Raises `EquationError` as `check` does, and where neither numbers nor `why` are given.
        """
        start = time.perf_counter()
        equation = self._equation(label)
        self._records.pop((label, oracle), None)
        terms = self._terms(Tolerance(rtol, atol, approx), oracle, spare)
        with self._located(equation):
            record, bound = definition_record(equation, bindings, why, terms)
        if bound is not None:
            self._compared[label, oracle] = bound
        return self._keep(record, start)

    def refute(
        self,
        source_id: str,
        latex: str,
        bindings: Bindings,
        *,
        instead: str,
        taken: str = "",
        granted: str = "",
    ) -> Refutation:
        """See that the formula `latex` of a source fails where the equation `instead` holds.

        Where the source prints no such formula but says it in words, `taken` quotes them; what
        was mended in a printed formula first, or supposed of the words, `granted` says.
        """
        self._answers.item(self._place, source_id)
        corrected = self._equation(instead)
        allowed = self._tolerance_of(instead, f"refute {source_id}")
        naming = self._fields.naming(latex, corrected.latex)
        drawn = draw_bindings(bindings, f"{self.slug}:{source_id}", naming)
        printed = Equation(f"{source_id} as printed", latex, 1)
        missed, held = refutation_residuals(self._place, printed, corrected, drawn, allowed)
        record = Refutation(
            self.slug, source_id, latex, missed, held, instead,
            text=self._text.name, taken=taken, granted=granted,
        )  # fmt: skip
        self._answers.refutations[source_id] = record
        return record

    def source(
        self,
        source_id: str,
        verdict: str,
        *,
        label: str | None = None,
        why: str = "",
        evidence: tuple[float, float] | None = None,
    ) -> Verdict:
        """Give the verdict on one item of a source.

        `evidence` holds the residuals of the printed and of the corrected statement in an
        experiment; `label` defaults to the equation whose check named the item.
        """
        item = self._answers.item(self._place, source_id)
        self._reread()
        refuted = self._answers.refutations.get(source_id)
        shown = refuted is not None or is_clear(evidence) or label is not None
        label = label or self._answering(source_id)
        if label:
            self._equation(label)
        says = f"{item.id} ({item.item}): {verdict!r}"
        refuse_weak(f"{self._place}: {says}", verdict, why, shown)
        if verdict == "holds" or (verdict == "wrong" and label):
            self._tolerance_of(label, says)
        printed, corrected = evidence or (None, None)
        if refuted:
            printed, corrected = refuted.printed_residual, refuted.corrected_residual
            label = label or refuted.instead
        record = Verdict(self.slug, source_id, verdict, label, why, printed, corrected)
        self._answers.verdicts[source_id] = record
        return record

    def symbols(
        self,
        bindings: Bindings,
        *,
        under: str = "",
        rtol: float = 1e-9,
        atol: float = 0.0,
        approx: float | None = None,
        spare: Mapping[str, str] | None = None,
    ) -> Symbols:
        """Say what the symbols of the sentences stand for: in the chapter, or `under` a heading.

        On these numbers `ledger` evaluates the relations in sentences, tables, captions and
        exercises: what is given `under` a heading (or its number) before what is given for the
        chapter, and that before what checks have bound. `spare` maps the LaTeX of one that need
        not hold to the reason. Next to ``\\approx`` a decimal may be off by half its last digit.

        Raises `EquationError` for symbols and tolerances as `check` does.
        """
        between = (r.latex for r in self.relations() if stands_under(under, r))
        with self._located(Equation("symbols", "", 1)):
            naming = self._fields.naming(*between)
            drawn = draw_bindings(bindings, f"{self.slug}:symbols:{under}", naming)
            self._tables.add(drawn, Tolerance(rtol, atol, approx), under, spare or {})
        return Symbols(self.slug, tuple(drawn[0]), under, dict(spare or {}))

    def relations(self) -> list[Relation]:
        """The relations of the text outside the numbered equations, as it stands now."""
        return self._text.relations()

    def evaluate_relations(
        self, relations: Sequence[Relation], *, edited: bool = True
    ) -> tuple[InlineRecord, ...]:
        """Try `relations` on the tables of the chapter; with `edited`, count their mutants.

        Raises `EquationError`, with the line of the file, for one that is false.
        """
        known = [*self.checked_statements(), *self.compared_definitions()]
        return self._tables.evaluate(self._place, relations, known, edited=edited)

    def ledger(self) -> Ledger:
        """See that every equation has its record and every item its verdict, and sum up.

        Every relation between the equations is tried on the symbols of the chapter. Raises
        `ValueError` with the lists of what is missing, and `EquationError` for a relation that
        is false.
        """
        self._reread()
        records = tuple(self._records.values())
        equations = self._text.equations
        items = self._answers.own
        verdicts = self._answers.verdicts
        refuse_incomplete(self._place, equations, records, items, verdicts, self._outdated)
        relations = self.relations()
        self._tables.refuse_idle(self._place, relations)
        inline = self.evaluate_relations(relations)
        sums = {
            **chapter_totals(records),
            "sources_answered": len(verdicts),
            "sources_total": len(items),
            **inline_totals([record.outcome for record in inline]),
        }
        return Ledger(self.slug, sums, inline, text=self._text.name)

    def checked_statements(self) -> Iterator[tuple[Equation, BoundStatement]]:
        """What was checked so far, and the numbers it was checked on."""
        for (label, _), bound in self._checked.items():
            yield self._text.equations[label], bound

    def compared_definitions(self) -> Iterator[tuple[Equation, BoundStatement]]:
        """The definitions that were compared so far, and the numbers they were compared on."""
        for (label, _), bound in self._compared.items():
            yield self._text.equations[label], bound

    def _read(self) -> Manuscript:
        try:
            return read_manuscript(self.slug, self._folder, self._path)
        except ValueError as error:
            raise ValueError(f"{self.slug}: {error}") from error

    def _reread(self) -> None:
        """Read the text again where it has changed, and forget what was found for the old one."""
        older = self._text
        self._text = self._read()
        gone = older.changed(self._text)
        self._outdated |= gone
        for kept in (self._records, self._checked, self._compared):
            for key in [key for key in kept if key[0] in gone]:
                del kept[key]
        self._answers.forget(gone)

    @property
    def _place(self) -> str:
        """The chapter, or its file."""
        *folders, _ = self.slug.split("/")
        return "/".join([*folders, self._text.file.name]) if self._text.file else self.slug

    def _equation(self, label: str) -> Equation:
        """The equation `label` as the text has it now."""
        self._reread()
        if label not in self._text.equations:
            close = get_close_matches(label, self._text.equations, n=3, cutoff=0.4)
            hint = f"; nearest: {', '.join(close)}" if close else ""
            raise ValueError(f"{self._place}: no equation has the label {label}{hint}")
        return self._text.equations[label]

    def _tolerance_of(self, label: str, says: str) -> Tolerance:
        """What the check of `label` allows; raises `ValueError` if there was none."""
        allowed = [bound.allowed for (name, _), bound in self._checked.items() if name == label]
        if not allowed:
            which = f"{label} is not checked above" if label else "no label= is given"
            raise ValueError(f"{self._place}: {says} needs a checked equation; {which}")
        return allowed[0]

    def _answering(self, source_id: str) -> str:
        """The label of the check that named the item, or nothing."""
        named = (r.label for r in self._records.values() if source_id in r.sources)
        return next(named, "")

    def _located(self, equation: Equation) -> AbstractContextManager[None]:
        """Add the chapter, the label and the line of the file to whatever goes wrong."""
        return located(self._place, equation)
