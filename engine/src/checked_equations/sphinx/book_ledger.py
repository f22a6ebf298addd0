"""The ledger of a book: its rows, its totals, its problems, and the additions of the book."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sphinx.environment import BuildEnvironment

from ..book import ledger
from ..book.ledger import KINDS, outgrown
from ..check.outcomes import OUTCOMES
from ..check.phrases import Data
from ..claims.sentence import number_faults
from ..latex.equation import Equation
from .pages import Page, is_chapter
from .trials import Trial


@dataclass(frozen=True)
class Row(Equation):
    """A numbered equation with its records, the strongest first: that one names its kind."""

    number: str = ""
    docname: str = ""
    records: tuple[Data, ...] = ()
    later: bool = False

    @property
    def record(self) -> Data | None:
        """The strongest of its records, or none."""
        return self.records[0] if self.records else None

    @property
    def kind(self) -> str:
        """The kind of the strongest record, or "unchecked", or as the baseline says "not yet"."""
        if self.records:
            return str(self.records[0]["kind"])
        return "not yet" if self.later else "unchecked"

    @property
    def compared(self) -> bool:
        """Return whether numbers have judged any of it."""
        return any(record.get("steps") for record in self.records)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The data of ``ledger.json``: no residual is over the tolerance next to it."""
        record, all_ = self.record or {}, self.records
        allowed = [r.get("approx") or r["rtol"] for r in all_ if r.get("rtol")]
        measured = [r["residual"] for r in all_ if r.get("residual") is not None]
        return {
            "label": self.label,
            "number": self.number,
            "chapter": record.get("chapter", self.docname),
            "kind": self.kind,
            "oracle": "; ".join(r["oracle"] for r in all_ if r.get("oracle")),
            "route": list(dict.fromkeys(name for r in all_ for name in r.get("route") or ())),
            "rtol": max(allowed, default=None),
            "residual": max(measured, default=None),
            "steps": len(record.get("steps", ())),
            "draws": record.get("draws", 0),
            "mutants": {name: sum(r["mutants"][name] for r in all_) for name in OUTCOMES},
            "backend": record.get("backend", ""),
        }


@dataclass(frozen=True)
class Added:
    """The additions of a book's own extension to its ledger, answering ``equations-ledger``.

    `columns` are those of the table, by their titles: of a row each says words, which stand under
    the same name in ``ledger.json``. `totals` are counted there as well, and `data` are further
    keys of it; `told` are pairs for the list of totals, a value and its name.
    """

    columns: Mapping[str, Callable[[Row], Sequence[str]]] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    told: tuple[tuple[str, str], ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)

    def cells(self, row: Row) -> dict[str, list[str]]:
        """Return the words of the columns for a row."""
        return {title: list(words(row)) for title, words in self.columns.items()}


NOTHING = Added()
EVENTS = ("equations-ledger", "equations-names")  # which a book's own extension answers


@dataclass(frozen=True)
class Named:
    """The subject of a record, seen from one page.

    `label` is the equation that it goes with, `address` where the book tells of it, and `marks`
    is the mark of a record about it in the margin, as HTML, by the kind of the record.
    """

    label: str = ""
    address: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)  # Sphinx writes out what an event is about, for its log
class Book:
    """Everything that the generated pages show, in the order of the table of contents."""

    pages: Mapping[str, Page]
    numbers: Mapping[str, str]
    later: Mapping[str, Collection[str]] = field(default_factory=dict)  # what the baseline lists

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All numbered equations, in reading order."""
        checks: dict[tuple[str, str], list[Data]] = {}
        for docname, record in (found for kind in KINDS for found in self.noted(kind)):
            checked = self.checked_by(docname, record) or docname, record["label"]
            checks.setdefault(checked, []).append(record)  # the cell may stand on another page
        return tuple(
            Row(
                *(equation.label, equation.latex, equation.line),
                number=self.numbers.get(equation.label, ""),
                docname=docname,
                records=tuple(checks.get((docname, equation.label), ())),
                later=equation.label in self.later.get(docname, ()),
            )
            for docname, page in self.pages.items()
            for equation in page.equations
        )

    def checked_by(self, docname: str, record: Data) -> str | None:
        """The document that a record on the page `docname` is about; none, if it is not there."""
        chapter = record.get("chapter", docname)
        return docname if is_chapter(docname, chapter) else self.document(chapter)

    @cached_property
    def by_label(self) -> dict[str, Row]:
        """The rows by the labels of their equations."""
        return {row.label: row for row in self.rows}

    def noted(self, *kinds: str) -> Iterator[tuple[str, Data]]:
        """The records of these kinds, each with the document that it stands in."""
        for docname, page in self.pages.items():
            yield from ((docname, record) for record in page.records(*kinds))

    def records(self, kind: str) -> list[Data]:
        """The records of one kind on all pages."""
        return [record for _, record in self.noted(kind)]

    def rows_on(self, docname: str) -> list[Row]:
        """The numbered equations of one document."""
        return [row for row in self.rows if row.docname == docname]

    def document(self, chapter: str) -> str | None:
        """The document of a chapter that has been written."""
        return next((name for name in self.pages if is_chapter(name, chapter)), None)


def added_to(env: BuildEnvironment, book: Book) -> Added:
    """Return the additions of the book's extensions to its ledger."""
    answers: list[Added] = env.events.emit("equations-ledger", book)

    def all_of(part: str) -> dict[str, Any]:
        return {key: value for one in answers for key, value in getattr(one, part).items()}

    told = tuple(pair for one in answers for pair in one.told)
    return Added(all_of("columns"), all_of("totals"), told, all_of("data"))


def between(book: Book) -> list[tuple[str, Data]]:
    """The relations between the numbered equations, each with the document that it stands in."""
    closed = book.noted("ledger")
    return [(docname, relation) for docname, r in closed for relation in r.get("inline", ())]


def claimed_in(book: Book) -> list[tuple[str, Data]]:
    """The claims, each with the document that it stands in."""
    pages = book.pages.items()
    return [(docname, record) for docname, page in pages for record in page.claimed.values()]


def totals(book: Book, rows: list[Row] | None = None) -> dict[str, int]:
    """The totals of `rows`, of all of them by default, and of the relations between them."""
    rows = list(book.rows) if rows is None else rows
    claims = [record for _, record in claimed_in(book)]
    return {
        **ledger.totals([row.kind for row in rows], [row.data["mutants"] for row in rows]),
        "definitions_compared": sum(row.kind == "definition" and row.compared for row in rows),
        "unchecked": sum(row.kind == "unchecked" for row in rows),
        "later": sum(row.kind == "not yet" for row in rows),
        **ledger.inline_totals([record["outcome"] for _, record in between(book)]),
        "claims": len(claims),
        "claims_once": sum(bool(record["once"]) for record in claims),
        "claims_with_cause": sum(bool(record["without"]) for record in claims),
        "claims_with_settings": sum(bool(record["settings"]) for record in claims),
        "claims_weakened": sum(record["weakened"] for record in claims),
        "claims_fresh_held": sum(record["fresh"].get("held", 0) for record in claims),
        "claims_fresh": sum(record["fresh"].get("of", 0) for record in claims),
    }


_OF_CLAIMS = ("label", "chapter", "held", "of", "least", "once", "worst", "seconds", "fresh",
              "earlier", "weakened", "stored", "pooled", "blocks", "refuted_by")  # fmt: skip


def as_json(book: Book, added: Added = NOTHING) -> dict[str, object]:
    """Return the ledger as the data next to its page; of a claim less than its badge shows."""
    claims = [
        {"document": docname, **{key: record[key] for key in _OF_CLAIMS}}
        | {
            word: {name: [n["held"], n["of"]] for name, n in record[word].items()}
            for word in ("without", "settings")
        }
        for docname, record in claimed_in(book)
    ]
    return {
        "equations": [row.data | added.cells(row) for row in book.rows],
        "inline": [{"document": docname, **record} for docname, record in between(book)],
        "claims": claims,
        **added.data,
        "totals": {**totals(book), **added.totals},
    }


def problems(book: Book) -> Iterator[tuple[str, int, str]]:
    """Yield all problems: document, line, and the words for it."""
    for docname, page in book.pages.items():
        for line, error in page.failures:
            yield docname, line, f"the cell on this line failed: {error}"
        if not page.failures:  # what is missing on such a page is missing because of them
            told = (*_unrecorded(book, docname), *_unlabelled(book, docname), *_unclaimed(page))
            yield from ((docname, line, said) for line, said in told)


def _unrecorded(book: Book, docname: str) -> Iterator[tuple[int, str]]:
    rows = book.rows_on(docname)
    for row in rows:
        if row.kind == "unchecked":
            # of a cell the page sees what its last line shows
            said = f"the equation {row.label} is numbered, but no cell ends with a check of it"
            yield row.line, said
        yield from ((row.line, said) for record in row.records for said in _weak(row, record))
    lines = {row.label: row.line for row in rows}
    checked = {row.label for row in rows if row.records}
    for label, said in outgrown(book.later.get(docname, ()), lines, checked):
        yield lines.get(label, 1), said


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


def _unlabelled(book: Book, docname: str) -> Iterator[tuple[int, str]]:
    for note in book.pages[docname].notes:
        chapter, label = note.record.get("chapter", docname), note.record.get("label")
        about = book.checked_by(docname, note.record)
        if chapter and note.record["kind"] in KINDS:
            page = book.pages[about or docname]
            if label not in {equation.label for equation in page.equations}:
                where = "here" if about in (None, docname) else f"in {about}"
                said = f"a cell checks {label}, but no equation {where} has that label"
                yield note.line, said + ("" if page.asked or page.holds_check else _INSIDE)
        if chapter and about is None:
            yield note.line, f"the cell says that it belongs to the chapter {chapter}"


def _unclaimed(page: Page) -> Iterator[tuple[int, str]]:
    """Claims and experiments without each other, unknown numbers, and a lacking end."""
    for sentence in page.claims:
        if sentence.label not in page.claimed:
            yield sentence.line, f"no cell shows what {sentence.label} claims"
            continue
        for fault in number_faults(sentence.text, page.claimed[sentence.label]):
            yield sentence.line, f"the claim {sentence.label}: {fault}"
    for sentence in page.cited:
        if (record := page.claimed.get(sentence.label)) is None:
            yield sentence.line, f"no claim of this page is called {sentence.label}"
        else:
            for fault in number_faults(sentence.text, record):
                yield sentence.line, f"what is told of {sentence.label}: {fault}"
    labels = [sentence.label for sentence in page.claims]
    for label, record in page.claimed.items():
        if (count := labels.count(label)) != 1:
            yield record["line"], f"{count} sentences have the label {label} of an experiment"
    checks = [record for record in page.records(*KINDS) if record.get("chapter", True)]
    if checks and not page.records("ledger"):
        yield page.notes[-1].line, "the last cell of a chapter must be chapter.ledger()"


def accused(book: Book, every: Mapping[str, Sequence[Trial]]) -> Iterator[tuple[str, int, str]]:
    """The document, the line and the words for each display that does not hold when tried."""
    for docname, found in every.items():
        for one in found:
            if one.fails and not _is_checked(book, one.label):
                label = f"{one.label}: " if one.label else ""
                yield docname, one.line, f"{label}{one}"


def _is_checked(book: Book, label: str) -> bool:
    return label in book.by_label and bool(book.by_label[label].records)
