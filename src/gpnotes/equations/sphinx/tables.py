"""The tables of the generated pages: ledger, sources, notation, versions, times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..book.html import (
    display,
    element,
    inline_math,
    link,
    number,
    phrase,
    say,
    scrolled,
    table,
    tolerance,
)
from ..book.ledger import KINDS, mutant_counts
from ..book.phrases import mutants_caught
from .ledger import Book, Item, Row, answering, residuals, totals

__all__ = [
    "Links", "ledger_table", "notation", "sources", "summary", "timings", "total_list",
    "verdicts", "versions",
]  # fmt: skip

Data = Mapping[str, Any]
_SPOKEN = {
    "holds": "holds",
    "holds-if": "holds if",
    "wrong": "wrong as printed",
    "taken": "wrong at its word",
    "ambiguous": "ambiguous",
    "stub": "left empty, written here",
    "open": "not reached yet",
}


@dataclass(frozen=True)
class Links:
    """Where things stand, seen from the page that is being written."""

    equation: Callable[[str], str]
    document: Callable[[str], str]
    title: Callable[[str], str]


# The ledger

_COLUMNS = (
    ("No.", "text"), ("equation", "text"), ("chapter", "text"), ("kind", "text"),
    ("oracle", "text"), ("tolerance", "number"), ("worst residual", "number"),
    ("mutants caught", "number"), ("sources", "text"),
)  # fmt: skip


def ledger_table(book: Book, links: Links) -> str:
    """The table of all numbered equations, which the page's script sorts and searches."""
    head = element("tr", *(_sortable(title, kind) for title, kind in _COLUMNS))
    rows = [_ledger_row(row, links) for row in book.rows]
    return _searchable("eqn-ledger", "equations", head, rows)


def _sortable(title: str, kind: str) -> str:
    button = element("button", title, type="button", class_="eqn-sort")
    return element("th", button, scope="col", aria_sort="none", data_kind=kind)


def _searchable(name: str, things: str, head: str, rows: list[str]) -> str:
    """A table in a box that scrolls, under a field to search it; without the script, a table."""
    field = element(
        "p",
        element("label", f"Search the {things}", for_=f"{name}-search"),
        f'<input type="search" id="{name}-search" autocomplete="off">',
        element("output", for_=f"{name}-search", class_="eqn-count"),
        class_="eqn-search",
        hidden=True,
    )
    shown = element("table", element("thead", head), element("tbody", *rows), class_="eqn-rows")
    box = scrolled(shown, f"All {things}")
    return element(
        "div", field, box, class_=f"eqn-searchable full-width {name}", data_things=things
    )


def _ledger_row(row: Row, links: Links) -> str:
    record = row.record or {}
    judged = row.compared
    caught = (
        mutants_caught(row.mutants, apart=False).removesuffix(" mutants caught") if judged else ""
    )
    cells = [
        _cell(link(f"({row.number})", links.equation(row.label)), key=_sort_number(row.number)),
        _cell(element("code", say(row.label))),
        _cell(link(_short(row.docname), links.document(row.docname))),
        _cell(row.kind, name=f"eqn-kind eqn-{row.kind}"),
        _cell(say(row.oracles)),
        _allowed(row),
        _cell(number(row.residual) if row.residual is not None else "", key=row.residual),
        _cell(caught, key=row.mutants["caught"] if judged else None),
        _cell(say(", ".join(record.get("sources", ())))),
    ]
    return element("tr", *cells, id=f"row-{row.label}")


def _allowed(row: Row) -> str:
    """The tolerance; of an estimate, in standard errors."""
    if row.kind == "estimate":
        return _cell(say("z < 4"))
    return _cell(tolerance(row.tolerance), key=row.tolerance)


def _short(docname: str) -> str:
    """``function view``: a column has no room for a title."""
    return docname.rsplit("/", 1)[-1].replace("-", " ")


def _cell(content: str, *, key: float | str | None = None, name: str = "") -> str:
    return element("td", content, data_key=None if key is None else str(key), class_=name or None)


def _sort_number(spelled: str) -> str:
    """``2.10`` after ``2.9``."""
    return ".".join(part.zfill(4) for part in spelled.split("."))


def total_list(book: Book, links: Links) -> str:
    """The totals, each with what it counts."""
    sums = totals(book)
    spared = f", {sums['mutants_spared']} spared with a reason" if sums["mutants_spared"] else ""
    inline = sums["inline_evaluated"] + sums["inline_listed"]
    decided = sums["mutants_caught"] + sums["mutants_survived"] + sums["mutants_spared"]
    pairs = [
        (f"{sums['equations']}", "numbered equations"),
        (f"{sums['checked']}", "checked line by line"),
        (f"{sums['estimates']}", "by Monte Carlo"),
        (f"{sums['definitions']}", f"definitions, {sums['definitions_compared']} compared"),
        (f"{sums['unchecked']}", "unchecked"),
        (f"{sums['mutants_caught']} of {decided}", f"mutants caught{spared}"),
        (f"{sums['sources_answered']} of {sums['sources_total']}", "items of the sources answered"),
        (f"{sums['inline_evaluated']} of {inline}", "relations in the text evaluated in passing"),
    ]
    entries = (element("div", element("dt", word), element("dd", value)) for value, word in pairs)
    return element("dl", *entries, class_="eqn-totals")


# The line below the title of a chapter


def summary(book: Book, docname: str, seconds: float | None) -> str:
    """*N equations: N checked, N estimates, N definitions · mutants caught · running time.*"""
    sums = totals(book, book.rows_on(docname))
    kinds = [
        f"{sums['checked']} checked" if sums["checked"] else "",
        _counted(sums["estimates"], "estimate"),
        _counted(sums["definitions"], "definition"),
        f"{sums['unchecked']} unchecked" if sums["unchecked"] else "",
    ]
    parts = [
        f"{_counted(sums['equations'], 'equation')}: {', '.join(k for k in kinds if k)}",
        mutants_caught(mutant_counts(sums), apart=False),
        ""
        if seconds is None
        else f"runs in {seconds:.0f} s"
        if seconds >= 1
        else "runs in a second",
    ]
    spans = "".join(element("span", say(part)) for part in parts if part)
    return element("p", spans, class_="eqn-summary")


def _counted(count: int, noun: str) -> str:
    if not count:
        return ""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# The sources, line by line


def sources(book: Book, links: Links, prefix: str) -> str:
    """Every item of one source, with its verdict."""
    its = [item for item in book.items if item.id.startswith(f"{prefix}-")]
    answered = sum(item.id in book.verdicts for item in its)
    count = element("p", f"{answered} of {len(its)} items answered.", class_="eqn-answered")
    rows = (_item(book, links, item) for item in its)
    return count + element("ol", *rows, class_="eqn-items")


def verdicts(book: Book) -> str:
    """How many items have which verdict."""
    given = [_judged(book, source_id) for source_id in book.verdicts]
    counts = {verdict: given.count(verdict) for verdict in _SPOKEN}
    counts["open"] = len(book.items) - len(given)
    chips = (
        element("li", _chip(verdict), f" {count}") for verdict, count in counts.items() if count
    )
    return element("ul", *chips, class_="eqn-legend")


def _judged(book: Book, source_id: str) -> str:
    """The verdict, and of what is wrong whether the source prints it."""
    verdict = str(book.verdicts[source_id]["verdict"])
    taken = book.refutations.get(source_id, {}).get("taken")
    return "taken" if verdict == "wrong" and taken else verdict


def _chip(verdict: str) -> str:
    name = "wrong" if verdict == "taken" else verdict
    return element("span", _SPOKEN[verdict], class_=f"eqn-chip eqn-{name}")


def _item(book: Book, links: Links, item: Item) -> str:
    """An item with its verdict; one that waits names the chapter that will answer it."""
    verdict = book.verdicts.get(item.id)
    waiting = element("span", f"for {say(item.chapter)}", class_="eqn-waiting")
    head = element(
        "p",
        element("span", item.id, class_="eqn-id"),
        element("span", say(item.item), class_="eqn-words"),
        _chip(_judged(book, item.id)) if verdict else waiting,
    )
    body = _answer(book, links, item, verdict) if verdict else ""
    name = f"eqn-item eqn-{verdict['verdict'] if verdict else 'open'}"
    return element("li", head, body, id=f"item-{item.id}", class_=name)


def _answer(book: Book, links: Links, item: Item, verdict: Data) -> str:
    refuted = book.refutations.get(item.id)
    off = residuals(book, item.id)
    printed = off["printed_residual"]
    parts = [
        element("p", say(_why(verdict))) if verdict.get("why") else "",
        _printed(refuted, printed) if refuted else _experiment(off),
        _holds(book, links, answering(book, item.id), refuted),
    ]
    return element("div", *parts, class_="eqn-answer")


def _why(verdict: Data) -> str:
    """The reason; after *holds if* it does not say "if" once more."""
    conditional = verdict["verdict"] == "holds-if"
    return verdict["why"].removeprefix("if ") if conditional else verdict["why"]


def _printed(refuted: Data, residual: float | None) -> str:
    """What was evaluated, under a title that says whether the source prints it."""
    off = f"off by {number(residual)}" if residual is not None else "the shapes do not conform"
    says = element("span", say(_attributed(refuted)))
    title = element("p", says, element("span", off))
    return _framed(title, refuted["latex"], "eqn-formula")


def _attributed(refuted: Data) -> str:
    granted = refuted.get("granted")
    if refuted.get("taken"):
        would = f"Taken at its word, “{refuted['taken']}” would say"
        return f"{would}, {granted}" if granted else would
    return f"The source prints, {granted} granted" if granted else "The source prints"


def _experiment(off: Mapping[str, float | None]) -> str:
    """What a numerical experiment found where there is no formula to refute."""
    printed, corrected = off["printed_residual"], off["corrected_residual"]
    if printed is None:
        return ""
    said = f"Measured: at its word {number(printed)}, as corrected {number(corrected)}."
    return element("p", said, class_="eqn-answered")


def _framed(title: str, latex: str, name: str) -> str:
    return element("div", title, scrolled(display(latex), "formula"), class_=name)


def _holds(book: Book, links: Links, label: str, refuted: Data | None) -> str:
    """The equation that answers the item, or the one that stands against a refuted formula."""
    row = book.by_label.get(refuted["instead"] if refuted else label)
    if row is None:
        return ""
    where = link(f"({row.number}), {_short(row.docname)}", links.equation(row.label))
    residual = refuted["corrected_residual"] if refuted else row.residual
    off = element("span", f"residual {number(residual)}") if residual is not None else ""
    name = element("span", "What holds: " if refuted else "Here: ", where)
    return _framed(element("p", name, off), row.latex, "eqn-formula eqn-right")


# The notation


def notation(title: str, symbols: list[Data]) -> str:
    """The symbol, its meaning, its shape, its name in the code."""
    titles = ("symbol", "meaning", "shape", "in code")
    return scrolled(table("eqn-notation", titles, map(_symbol, symbols)), title)


def _symbol(entry: Data) -> str:
    shapes = inline_math(entry["shape"]) if entry.get("shape") else ""
    code = element("code", say(entry["code"])) if entry.get("code") else ""
    forms = ", ".join(inline_math(form) for form in entry.get("shown", entry["latex"]))
    cells = map(_cell, (forms, phrase(entry["meaning"], inline_math), shapes, code))
    return element("tr", *cells, id=entry.get("anchor"))


# How the book was built


def versions(installed: Mapping[str, str]) -> str:
    """What the build ran on."""
    rows = [element("tr", _cell(say(name)), _cell(say(value))) for name, value in installed.items()]
    return table("eqn-small", ("package", "version"), rows)


def timings(book: Book, links: Links) -> str:
    """Each chapter that runs: how long it took, how long its checks took, and on which arrays."""
    titles = ("chapter", "runs in", "of which checks", "arrays")
    rows = [_timing(book, links, name) for name, page in book.pages.items() if page.seconds]
    return scrolled(table("eqn-small", titles, rows), "times")


def _timing(book: Book, links: Links, docname: str) -> str:
    page = book.pages[docname]
    records = page.records(*KINDS)
    spent = sum(record.get("milliseconds", 0.0) for record in records) / 1000
    backends = sorted({record["backend"] for record in records if record.get("backend")})
    cells = (
        link(links.title(docname), links.document(docname)),
        f"{page.seconds:.1f} s",
        f"{spent:.2f} s",
        ", ".join(backends),
    )
    return element("tr", *map(_cell, cells))
