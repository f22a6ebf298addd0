"""Reports on papers: a line an equation and a summary, JSON, or SARIF for editors and CI."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from checked_equations.book.execution import Fault, Held, annotation, place
from checked_equations.check.phrases import counted

from .findings import Finding, Outcome, Verdict, summary, totals
from .sarif import sarif_log


class Form(Protocol):
    """A form of report: lines as the findings come, and a summary at the end."""

    def equation(self, found: Finding) -> None:
        """One equation."""

    def fault(self, fault: Fault) -> None:
        """Report an error in a page or in a declaration."""

    def note(self, file: str, line: int, said: str) -> None:
        """Report a remark."""

    def close(self, report: Report) -> None:
        """The end."""


class Report:
    """All that is found, in order, in a `form`.

    `numbers` are those that stand in print, by the file and the label of the equation.
    """

    def __init__(
        self, form: Form, texts: int, numbers: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        self.form = form
        self.texts = texts
        self.numbers = numbers or {}
        self.findings: list[Finding] = []
        self.faults: list[Fault] = []
        self.notes: list[tuple[str, int, str]] = []

    @property
    def status(self) -> int:
        """0 where nothing fails, 1 where an equation does, 2 where something could not be run."""
        if any(fault.broken for fault in self.faults):
            return 2
        return int(bool(self.faults) or any(found.fails for found in self.findings))

    def add(self, found: Finding) -> None:
        """An equation and its verdict."""
        self.findings.append(found)
        self.form.equation(found)

    def held(self, held: Held) -> None:
        """A check that held."""
        if held.kind in _NO_EQUATION:
            return
        file = os.path.relpath(held.file)
        definition = held.kind == "definition" and "compared" not in held.said
        verdict: Verdict = "definition" if definition else "checked"
        outcome: Outcome = "" if definition else "holds"
        said = held.said.removeprefix(f"{held.label}: ")
        number = self._number(held.file, held.label)
        at = (file, held.line, 1)
        self.add(Finding(*at, verdict, outcome, held.label, why=said, number=number))

    def fault(self, fault: Fault) -> None:
        """A fault: that of an equation is a finding, and every other stands for itself."""
        if fault.broken or not fault.label:
            self.faults.append(fault)
            self.form.fault(fault)
            return
        where = os.path.relpath(fault.file), fault.line, fault.column
        outcome: Outcome = "does not hold" if "does not hold" in fault.said else "refused"
        number = self._number(fault.file, fault.label)
        self.add(Finding(*where, "checked", outcome, fault.label, why=fault.said, number=number))

    def _number(self, file: str, label: str) -> str:
        return self.numbers.get((str(Path(file).resolve()), label), "")

    def note(self, file: str, line: int, said: str) -> None:
        """Report a warning."""
        self.notes.append((os.path.relpath(file), line, said))
        self.form.note(file, line, said)

    def close(self) -> None:
        """Write the summary at the end."""
        self.form.close(self)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "version": 1,
            "totals": totals(self.findings),
            "equations": [found.to_json() for found in self.findings],
            "errors": [
                {"file": os.path.relpath(one.file), "line": one.line, "said": one.said}
                for one in self.faults
            ],
            "notes": [
                {"file": file, "line": line, "said": said} for file, line, said in self.notes
            ],
        }


_NO_EQUATION = frozenset({"symbols", "ledger", "claim"})


@dataclass(frozen=True)
class Text:
    """Lines for people, and for GitHub's log where it is asked for.

    Errors and notes are said, and how many there are of the rest; where `every` that is said too,
    and where `quiet` errors alone.
    """

    annotate: bool = False
    quiet: bool = False
    every: bool = False

    def equation(self, found: Finding) -> None:
        """``paper.tex:3:5: error: (1) eq-a: tried: does not hold``."""
        if not (found.fails or self.every or (found.noted and not self.quiet)):
            return
        where = place(found.file, found.line, found.column)
        word = "error: " if found.fails else "note: " if found.noted else ""
        print(f"{where}: {word}{found.name}{found}", flush=True)
        if self.annotate and found.fails:
            said = f"({found.number}) {found}" if found.number else str(found)
            fault = Fault(found.file, found.line, found.column, said, found.label or "tried")
            print(annotation(fault, "error" if found.verdict == "checked" else "warning"))

    def fault(self, fault: Fault) -> None:
        """``page.md:3:1: error: NameError: …``."""
        print(f"{place(fault.file, fault.line, fault.column)}: error: {fault.said}")
        if self.annotate:
            print(annotation(fault))

    def note(self, file: str, line: int, said: str) -> None:
        """``paper.tex:3: note: …``."""
        if not self.quiet:
            print(f"{place(file, line)}: note: {said}")

    def close(self, report: Report) -> None:
        """Report the number of displays of each verdict."""
        if self.quiet and not report.status:
            return
        totals, *rest = summary(report.findings, len(report.faults), every=self.every)
        hidden = not (self.every or self.quiet) and any(
            not (one.fails or one.noted) for one in report.findings
        )
        more = "; --all says the rest" if hidden else ""
        print("\n".join([f"{counted(report.texts, 'text')}, {totals}{more}", *rest]))


class Whole:
    """A form that is written at the end, all at once."""

    def __init__(self, write: Callable[[Report], Mapping[str, object]]) -> None:
        self.write = write

    def equation(self, found: Finding) -> None:
        """Nothing is said before the end."""

    def fault(self, fault: Fault) -> None:
        """Nothing is said before the end."""

    def note(self, file: str, line: int, said: str) -> None:
        """Nothing is said before the end."""

    def close(self, report: Report) -> None:
        """All of it."""
        print(as_text(report, self.write))


def as_text(report: Report, write: Callable[[Report], Mapping[str, object]]) -> str:
    """A report as JSON, in the form that `write` gives it."""
    return json.dumps(write(report), indent=1, ensure_ascii=False)


def sarif_of(report: Report) -> Mapping[str, Any]:
    """A report as SARIF, with places relative to the working directory."""
    return sarif_log(report.findings, report.faults, Path.cwd())


FORMATS: Mapping[str, Callable[[bool, bool, bool], Form]] = {
    "text": Text, "json": lambda annotate, quiet, every: Whole(Report.to_json),
    "sarif": lambda annotate, quiet, every: Whole(sarif_of),
}  # fmt: skip
