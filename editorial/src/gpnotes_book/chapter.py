"""A chapter of this book: its symbols, its answers to sources, and their ledger."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import checked_equations
from checked_equations.book.ledger import refuse_missing
from checked_equations.book.prose import Relation, relates
from checked_equations.book.records import InlineRecord, Ledger
from checked_equations.check.bindings import Bindings
from checked_equations.check.records import Record
from checked_equations.check.relations import Tolerance
from checked_equations.latex.equation import Equation, located

from .inline_relations import SymbolTables, Table, newly_listed, stands_under
from .items import Answers, is_clear, items_file, read_items, refuse_weak
from .records import Refutation, Symbols, Verdict
from .refutations import refutation_residuals
from .sentence_rules import sentence_faults

__all__ = ["Chapter"]


class Chapter(checked_equations.Chapter):
    """A chapter of this book: the engine's, with a verdict on each item of the sources.

    Which items it must answer says the list of the sources' items; its ledger is complete when
    each of them has its verdict.

    Parameters
    ----------
    slug : str
        The path of the chapter within the book, without its ending.
    path : path of a file, optional
        The text that the equations are read from, found as by the engine unless it is given.

    Raises
    ------
    ValueError
        If no text of the chapter is found, or it cannot be read.
    """

    version = version("gpnotes")

    def __init__(self, slug: str, path: str | Path | None = None) -> None:
        super().__init__(slug, path)
        self._tables = SymbolTables()
        self._answers = Answers(slug, read_items(items_file(self.settings.file)))

    def check(
        self, label: str, bindings: Bindings, *, source: str | tuple[str, ...] = (), **terms: Any
    ) -> Record:
        """Check an equation as the engine does, and say which items of the sources it answers.

        Parameters
        ----------
        label : str
            The label of the equation.
        bindings : mapping, problem or Callable
            The numbers, as the engine takes them.
        source : str or tuple of str, default ()
            The items that the equation answers.
        **terms
            The other arguments of the engine's `check`, such as `oracle` and `rtol`.

        Returns
        -------
        Record
            The check, with the items that it answers.

        Raises
        ------
        ValueError
            If there is no such item or another chapter answers it, or no equation has the label.
        EquationError
            As by the engine, for an equation that does not hold and all bad input.
        TypeError
            If a tolerance is no number.
        """
        named = (source,) if isinstance(source, str) else source
        answered = tuple(self._answers.item(self.place, item).id for item in named)
        record = super().check(label, bindings, **terms)
        return self.keep(replace(record, more={"answers": answered})) if answered else record

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
        """See that the formula of a source fails where an equation of the book holds.

        Parameters
        ----------
        source_id : str
            The item of the source.
        latex : str
            Its formula.
        bindings : mapping, problem or Callable
            The numbers, as the engine takes them.
        instead : str
            The label of the equation that holds, checked before.
        taken : str, default ""
            The source's words, where it prints no such formula but says it in words.
        granted : str, default ""
            What was mended in a printed formula first, or supposed of the words.

        Returns
        -------
        Refutation
            The residuals of both.

        Raises
        ------
        ValueError
            If there is no such item or another chapter answers it, no equation has the label
            `instead`, or it was not checked.
        EquationError
            If the formula holds, the equation does not, or one of them cannot be evaluated.
        """
        self._answers.item(self.place, source_id)
        corrected = self.equation(instead)
        allowed = self.tolerance_of(instead, f"refute {source_id}")
        drawn = self.numbers(bindings, source_id, latex, corrected.latex)
        printed = Equation(f"{source_id} as printed", latex, 1)
        missed, held = refutation_residuals(self.place, printed, corrected, drawn, allowed)
        record = Refutation(
            self.slug, source_id, latex, missed, held, instead,
            text=self.text.name, taken=taken, granted=granted,
        )  # fmt: skip
        self._answers.refutations[source_id] = record
        return record

    def source(
        self,
        source_id: str,
        verdict: str,
        *,
        label: str | None = None,
        section: str = "",
        why: str = "",
        evidence: tuple[float, float] | None = None,
    ) -> Verdict:
        """Give the verdict on one item of a source.

        Parameters
        ----------
        source_id : str
            The item of the source.
        verdict : str
            One of ``"holds"``, ``"argued"``, ``"holds-if"``, ``"wrong"``, ``"ambiguous"`` and
            ``"stub"``; what is ``"argued"`` holds by an argument in words, and no number shows it.
        label : str, optional
            The equation that shows it; unless it is given, the one whose check named the item.
        section : str, default ""
            The label of the section of this chapter that argues it: needed for ``"argued"``.
        why : str, default ""
            What is missing or what it means: needed for ``"holds-if"``, ``"ambiguous"`` and
            ``"stub"``.
        evidence : tuple of two float, optional
            The residuals of the printed and of the corrected statement in an experiment.

        Returns
        -------
        Verdict
            The verdict, with the residuals of its evidence.

        Raises
        ------
        ValueError
            If there is no such item or another chapter answers it, the word is no verdict, its
            reason or evidence is missing, the chapter has no such section, or the equation is
            unknown or was not checked.
        """
        item = self._answers.item(self.place, source_id)
        self.reread()
        refuted = self._answers.refutations.get(source_id)
        shown = refuted is not None or is_clear(evidence) or label is not None
        label = label or self._answering(source_id)
        if label:
            self.equation(label)
        says = f"{item.id} ({item.item}): {verdict!r}"
        shown = shown or (verdict == "argued" and bool(label))
        refuse_weak(f"{self.place}: {says}", verdict, why, shown, section)
        if section and not self._has_section(section):
            raise ValueError(f"{self.place}: {says}: no section has the label {section}")
        if verdict == "holds" or (verdict == "wrong" and label):
            self.tolerance_of(label, says)
        printed, corrected = evidence or (None, None)
        if refuted:
            printed, corrected = refuted.printed_residual, refuted.corrected_residual
            label = label or refuted.instead
        record = Verdict(self.slug, source_id, verdict, label, why, printed, corrected, section)
        self._answers.verdicts[source_id] = record
        return record

    def _has_section(self, label: str) -> bool:
        """Whether the text has it; a notebook that was taken from its page has no labels of any."""
        if self.file is None or self.file.suffix == ".ipynb":
            return True
        return f"({label})=" in self.file.read_text(encoding="utf-8")

    def _answering(self, source_id: str) -> str:
        """The label of the check that named the item, or nothing."""
        named = (r.label for r in self.records() if source_id in r.more.get("answers", ()))
        return next(named, "")

    def symbols(
        self,
        bindings: Bindings,
        *,
        under: str = "",
        rtol: float = 1e-9,
        atol: float = 0.0,
        approx: float | None = None,
        spare: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> Symbols:
        """Bind the symbols of the sentences, in the chapter or under a heading.

        On these numbers `ledger` evaluates the relations in sentences, tables, captions and
        exercises. A decimal next to ``\\approx`` may be off by half its last digit.

        Parameters
        ----------
        bindings : mapping, problem or Callable
            The numbers, as the engine takes them.
        rtol, atol, approx : float
            The tolerances, as in `check`.
        under : str, default ""
            A heading, or its number. Numbers under one are taken before those for the
            chapter, and these before the bindings of checks.
        spare : mapping of str to str, optional
            The reason why a relation need not hold, by its LaTeX.
        values : mapping, optional
            The value of an expression that relates nothing, by its LaTeX, as in "the average is
            $\\sigma_f^2 (1 - \\rho^2)$": its value, or a function that finds it from the numbers.

        Returns
        -------
        Symbols
            The symbols that are bound.

        Raises
        ------
        EquationError
            For symbols and tolerances as in `check`.

        Notes
        -----
        The LaTeX in `spare` and `values` must stand in the text, so that any edit of it is
        noticed, a right one too; the value is compared once the LaTeX here is edited as well.
        """
        between = (f.latex for f in self.text.formulas() if stands_under(under, f))
        with located(self.place, Equation("symbols", "", 1)):
            drawn = self.numbers(bindings, f"symbols:{under}", *between)
            allowed = Tolerance(rtol, atol, approx)
            spared = dict(spare or {})
            self._tables.add(Table(drawn, allowed, under=under, spared=spared, values=values or {}))
        return Symbols(self.slug, tuple(drawn[0]), under, spared)

    def relations(self) -> list[Relation]:
        """Return the relations of the text outside the numbered equations, as it stands now."""
        return [formula for formula in self.text.formulas() if relates(formula.latex)]

    def inline_records(self) -> tuple[InlineRecord, ...]:
        """Return each relation between the equations as tried on the symbols of the chapter.

        Raises
        ------
        ValueError
            For names of `symbols` that the text does not have, and for a relation that is judged
            by no numbers and not listed.
        EquationError
            For a relation that is false.
        """
        formulas = self.text.formulas()
        self._tables.refuse_idle(self.place, formulas)
        known = [*self.checked_statements(), *self.compared_statements()]
        inline = self._tables.evaluate(self.place, formulas, known)
        refuse_missing(self.place, newly_listed(self.slug, self.settings, inline))
        return inline

    def sentence_faults(self, text: str, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield the faults that the engine finds, and those by the rules of this book."""
        yield from super().sentence_faults(text, record)
        yield from sentence_faults(text, record)

    def missing(self) -> dict[str, list[str]]:
        """Return the equations without a record, and the items without a verdict."""
        verdicts = self._answers.verdicts
        waiting = (item for item in self._answers.own.values() if item.id not in verdicts)
        items = [f"{item.id} ({item.item})" for item in waiting]
        return {**super().missing(), "items without a verdict": items}

    def ledger(self) -> Ledger:
        """Close the chapter as the engine does, and count the items that are answered."""
        closed = super().ledger()
        answered, total = len(self._answers.verdicts), len(self._answers.own)
        totals = {**closed.totals, "sources_answered": answered, "sources_total": total}
        said = {"sources": (f"{answered} of {total} answered",)}
        return replace(closed, totals=totals, more=said)

    def forget(self, labels: Collection[str]) -> None:
        """Drop what was found for these equations, and the answers that rest on it."""
        super().forget(labels)
        self._answers.forget(labels)
