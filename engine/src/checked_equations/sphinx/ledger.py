"""The ledger of a book: its rows and totals, the verdicts on its sources, and its problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..book import ledger
from ..book.ledger import KINDS
from ..book.sources import Item, read_items
from ..check.outcomes import OUTCOMES
from ..latex.equation import Equation
from .pages import Page, is_chapter

__all__ = [
    "Book",
    "Item",
    "Row",
    "answering",
    "as_json",
    "between",
    "items",
    "problems",
    "residuals",
    "totals",
]

Data = Mapping[str, Any]


def items(path: Path) -> tuple[Item, ...]:
    """The items of a book's sources; none where it has no such list."""
    return tuple(read_items(path).values()) if path.is_file() else ()


@dataclass(frozen=True)
class Row:
    """A numbered equation with its records, the strongest first: that is what it is known by."""

    label: str
    number: str
    docname: str
    line: int
    latex: str
    records: tuple[Data, ...]

    @property
    def record(self) -> Data | None:
        """The strongest of its records, or none."""
        return self.records[0] if self.records else None

    @property
    def kind(self) -> str:
        """The kind of the strongest record, or "unchecked"."""
        return self.records[0]["kind"] if self.records else "unchecked"

    @property
    def digest(self) -> str:
        """What stands for the LaTeX that the page shows."""
        return Equation(self.label, self.latex, self.line).digest

    @property
    def residual(self) -> float | None:
        """The worst residual of all its records."""
        measured = [r["residual"] for r in self.records if r.get("residual") is not None]
        return max(measured, default=None)

    @property
    def tolerance(self) -> float | None:
        """The widest relative tolerance of its records, which no residual may pass."""
        allowed = [r.get("approx") or r["rtol"] for r in self.records if r.get("rtol")]
        return max(allowed, default=None)

    @property
    def compared(self) -> bool:
        """Whether numbers have judged any of it."""
        return any(record.get("steps") for record in self.records)

    @property
    def mutants(self) -> dict[str, int]:
        """How many mutants of all its records have which outcome."""
        return {name: sum(r["mutants"][name] for r in self.records) for name in OUTCOMES}

    @property
    def oracles(self) -> str:
        """The oracles of all its records, in one line."""
        return "; ".join(r["oracle"] for r in self.records if r.get("oracle"))

    @property
    def route(self) -> list[str]:
        """By which routes the engine saw the numbers of its records come."""
        return list(dict.fromkeys(name for r in self.records for name in r.get("route") or ()))


@dataclass(frozen=True)
class Book:
    """Everything that the generated pages show, in the order of the table of contents."""

    pages: Mapping[str, Page]
    numbers: Mapping[str, str]
    items: tuple[Item, ...] = ()

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All numbered equations, in reading order."""
        return tuple(row for docname in self.pages for row in self._rows_of(docname))

    def _rows_of(self, docname: str) -> Iterator[Row]:
        page = self.pages[docname]
        for equation in page.equations:
            records = [r for r in self._checks[docname] if r["label"] == equation.label]
            records.sort(key=lambda record: KINDS.index(record["kind"]))
            number = self.numbers.get(equation.label, "")
            yield Row(
                equation.label, number, docname, equation.line, equation.latex, tuple(records)
            )

    @cached_property
    def _checks(self) -> dict[str, list[Data]]:
        """By document the checks of its equations, on whichever page their cells stand."""
        checks: dict[str, list[Data]] = {docname: [] for docname in self.pages}
        for docname, page in self.pages.items():
            for record in page.records(*KINDS):
                checks[self.checked_by(docname, record) or docname].append(record)
        return checks

    def checked_by(self, docname: str, record: Data) -> str | None:
        """The document that a record on the page `docname` is about; none, if it is not there."""
        chapter = record.get("chapter", docname)
        return docname if is_chapter(docname, chapter) else self.document(chapter)

    @cached_property
    def by_label(self) -> dict[str, Row]:
        """The rows by the labels of their equations."""
        return {row.label: row for row in self.rows}

    @cached_property
    def verdicts(self) -> dict[str, Data]:
        """The verdict on each item that has one, by the item's id."""
        return {record["source_id"]: record for record in self._all("source")}

    @cached_property
    def refutations(self) -> dict[str, Data]:
        """The refutation of each item that has one, by the item's id."""
        return {record["source_id"]: record for record in self._all("refutation")}

    def _all(self, kind: str) -> list[Data]:
        return [record for page in self.pages.values() for record in page.records(kind)]

    def rows_on(self, docname: str) -> list[Row]:
        """The numbered equations of one document."""
        return [row for row in self.rows if row.docname == docname]

    def document(self, chapter: str) -> str | None:
        """The document of a chapter that has been written."""
        return next((name for name in self.pages if is_chapter(name, chapter)), None)


def between(book: Book) -> Iterator[tuple[str, Data]]:
    """The relations between the numbered equations, each with the document that it stands in."""
    for docname, page in book.pages.items():
        for record in page.records("ledger"):
            yield from ((docname, relation) for relation in record.get("inline", ()))


def totals(book: Book, rows: list[Row] | None = None) -> dict[str, int]:
    """The totals of `rows` (all of them by default) and of the sources."""
    rows = list(book.rows) if rows is None else rows
    return {
        **ledger.totals([row.kind for row in rows], [row.mutants for row in rows]),
        "definitions_compared": sum(row.kind == "definition" and row.compared for row in rows),
        "unchecked": sum(row.kind == "unchecked" for row in rows),
        "sources_answered": sum(item.id in book.verdicts for item in book.items),
        "sources_total": len(book.items),
        **ledger.inline_totals([record["outcome"] for _, record in between(book)]),
    }


def as_json(book: Book) -> dict[str, Any]:
    """The ledger as the data that lie beside its page."""
    return {
        "equations": [_equation(row) for row in book.rows],
        "sources": [_verdict(book, item) for item in book.items if item.id in book.verdicts],
        "inline": [{"document": docname, **record} for docname, record in between(book)],
        "totals": totals(book),
    }


def _equation(row: Row) -> dict[str, Any]:
    record = row.record or {}
    return {
        "label": row.label,
        "number": row.number,
        "chapter": record.get("chapter", row.docname),
        "kind": row.kind,
        "oracle": row.oracles,
        "route": row.route,
        "rtol": row.tolerance,
        "residual": row.residual,
        "steps": len(record.get("steps", ())),
        "draws": record.get("draws", 0),
        "mutants": row.mutants,
        "sources": list(record.get("sources", ())),
        "backend": record.get("backend", ""),
    }


def _verdict(book: Book, item: Item) -> dict[str, Any]:
    verdict = book.verdicts[item.id]
    return {
        "id": item.id,
        "verdict": verdict["verdict"],
        "label": answering(book, item.id) or None,
        **residuals(book, item.id),
        "taken": book.refutations.get(item.id, {}).get("taken", ""),
        "why": verdict.get("why", ""),
        "chapter": verdict.get("chapter", item.chapter),
    }


def answering(book: Book, source_id: str) -> str:
    """The label of the equation that answers an item, or nothing."""
    verdict = book.verdicts.get(source_id, {})
    named = (r.label for r in book.rows for c in r.records if source_id in c.get("sources", ()))
    instead = book.refutations.get(source_id, {}).get("instead", "")
    return verdict.get("label") or instead or next(named, "")


def residuals(book: Book, source_id: str) -> dict[str, float | None]:
    """What the printed formula was off by, and what the equation of the book is off by."""
    refuted = book.refutations.get(source_id, {})
    verdict = book.verdicts.get(source_id, {})
    row = book.by_label.get(answering(book, source_id))
    corrected = refuted.get("corrected_residual", verdict.get("corrected_residual"))
    return {
        "printed_residual": refuted.get("printed_residual", verdict.get("printed_residual")),
        "corrected_residual": row.residual if corrected is None and row else corrected,
    }


Problem = tuple[str, int, str]


def problems(book: Book) -> Iterator[Problem]:
    """All problems: document, line, and what to say about it."""
    for docname, page in book.pages.items():
        if page.failures:  # what is missing on this page is missing because of them
            yield from _failures(docname, page)
        else:
            yield from _unrecorded(book, docname)
            yield from _unlabelled(book, docname)
            yield from _unclosed(docname, page)
    yield from _unanswered(book)


def _failures(docname: str, page: Page) -> Iterator[Problem]:
    for failure in page.failures:
        yield docname, failure.line, f"the cell on this line failed: {failure.message}"


def _unrecorded(book: Book, docname: str) -> Iterator[Problem]:
    for row in book.rows_on(docname):
        if not row.records:
            yield docname, row.line, f"the equation {row.label} is numbered, but no cell checks it"
        for record in row.records:
            yield from ((docname, row.line, text) for text in _weak(row, record))


def _weak(row: Row, record: Data) -> Iterator[str]:
    label = row.label
    if record.get("digest", row.digest) != row.digest:
        where = record.get("text") or "elsewhere"
        yield f"the check of {label} has read another text ({where}); its cells must run again"
    if record["mutants"]["survived"]:
        yield f"{record['mutants']['survived']} mutants of the equation {label} survive its check"
    widest = max(record.get("rtol") or 0.0, record.get("approx") or 0.0)
    exact = record["kind"] == "identity" and not record.get("atol")
    if exact and (record["residual"] or 0.0) > widest:
        yield f"the equation {label} is off by {record['residual']:.2g}, over {widest:.0e}"


_INSIDE = "; for a \\label inside the LaTeX the page must say `equations: true`"


def _unlabelled(book: Book, docname: str) -> Iterator[Problem]:
    for note in book.pages[docname].notes:
        label = note.record.get("label")
        chapter = note.record.get("chapter", docname)
        about = book.checked_by(docname, note.record) if chapter else None
        page = book.pages[about or docname]
        where = "here" if about in (None, docname) else f"in {about}"
        known = {equation.label for equation in page.equations}
        if chapter and note.record["kind"] in KINDS and label not in known:
            said = f"a cell checks {label}, but no equation {where} has that label"
            yield docname, note.line, said + ("" if page.asked or page.holds_check else _INSIDE)
        if chapter and about is None:
            yield docname, note.line, f"the cell says that it belongs to the chapter {chapter}"


def _unclosed(docname: str, page: Page) -> Iterator[Problem]:
    checks = [record for record in page.records(*KINDS) if record.get("chapter", docname)]
    if checks and not page.records("ledger"):
        yield docname, page.notes[-1].line, "the last cell of a chapter must be chapter.ledger()"


def _unanswered(book: Book) -> Iterator[Problem]:
    closed = {record["chapter"] for record in book._all("ledger")}
    for item in book.items:
        if item.chapter in closed and item.id not in book.verdicts:
            docname = book.document(item.chapter) or item.chapter
            yield docname, 1, f"the item {item.id} of the sources has no verdict: {item.item}"
