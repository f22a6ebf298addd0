"""The tables of the generated pages: ledger, notation, versions, times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from docutils import nodes

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
from .ledger import NOTHING, Added, Book, Row, totals

if TYPE_CHECKING:  # the signature alone names it
    from sphinx.application import Sphinx

__all__ = [
    "Links", "ledger_table", "links_from", "named", "notation", "short_name", "summary", "timings",
    "total_list", "version_of", "versions",
]  # fmt: skip

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Links:
    """Where things stand, seen from the page that is being written."""

    equation: Callable[[str], str]
    document: Callable[[str], str]
    title: Callable[[str], str]


def links_from(app: Sphinx, docname: str, book: Book) -> Links:
    """Where things stand, seen from a page."""

    def document(name: str) -> str:
        return app.builder.get_relative_uri(docname, name)

    def equation(label: str) -> str:
        row = book.by_label.get(label)
        return f"{document(row.docname)}#{nodes.make_id(f'equation-{label}')}" if row else ""

    def title(name: str) -> str:
        return app.env.titles[name].astext() if name in app.env.titles else name

    return Links(equation, document, title)


# The ledger

_COLUMNS = (
    ("No.", "text"), ("equation", "text"), ("chapter", "text"), ("kind", "text"),
    ("oracle", "text"), ("tolerance", "number"), ("worst residual", "number"),
    ("mutants caught", "number"),
)  # fmt: skip


def ledger_table(book: Book, links: Links, added: Added = NOTHING) -> str:
    """The table of all numbered equations, which the page's script sorts and searches."""
    columns = (*_COLUMNS, *((title, "text") for title in added.columns))
    head = element("tr", *(_sortable(title, kind) for title, kind in columns))
    rows = [_ledger_row(row, links, added) for row in book.rows]
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


def _ledger_row(row: Row, links: Links, added: Added) -> str:
    more = added.cells(row)
    judged = row.compared
    caught = (
        mutants_caught(row.mutants, apart=False).removesuffix(" mutants caught") if judged else ""
    )
    cells = [
        _cell(link(f"({row.number})", links.equation(row.label)), key=_sort_number(row.number)),
        _cell(_formula(row), name="eqn-formula-cell"),
        _cell(link(short_name(row.docname), links.document(row.docname))),
        _cell(row.kind, name=f"eqn-kind eqn-{row.kind.replace(' ', '-')}"),
        _cell(say(row.oracles)),
        _allowed(row),
        _cell(number(row.residual) if row.residual is not None else "", key=row.residual),
        _cell(caught, key=row.mutants["caught"] if judged else None),
        *(_cell(say(", ".join(words))) for words in more.values()),
    ]
    pairs = zip(cells, (*(title for title, _ in _COLUMNS), *more), strict=True)
    named_cells = (cell.replace("<td", f'<td data-title="{name}"', 1) for cell, name in pairs)
    return element("tr", *named_cells, id=f"row-{row.label}")


def _formula(row: Row) -> str:
    """The equation itself, with its label below: nobody knows an equation by its label."""
    return display(row.latex) + element("code", say(row.label))


def named(book: Book, links: Links, label: str) -> str:
    """An equation by its number, as a link, and its label; the label alone if it is gone."""
    row = book.by_label.get(label)
    number = link(f"({row.number})", links.equation(label)) + " " if row else ""
    return number + element("code", say(label))


def _allowed(row: Row) -> str:
    """The tolerance; of an estimate, in standard errors."""
    if row.kind == "estimate":
        return _cell(say("z < 4"))
    return _cell(tolerance(row.tolerance), key=row.tolerance)


def short_name(docname: str) -> str:
    """``function view``: a column has no room for a title."""
    return docname.rsplit("/", 1)[-1].replace("-", " ")


def _cell(content: str, *, key: float | str | None = None, name: str = "") -> str:
    return element("td", content, data_key=None if key is None else str(key), class_=name or None)


def _sort_number(spelled: str) -> str:
    """``2.10`` after ``2.9``."""
    return ".".join(part.zfill(4) for part in spelled.split("."))


def total_list(book: Book, added: Added = NOTHING) -> str:
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
        *([(f"{sums['later']}", "not yet checked")] if sums["later"] else []),
        (f"{sums['mutants_caught']} of {decided}", f"mutants caught{spared}"),
        *added.told,
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
        f"{sums['later']} not yet" if sums["later"] else "",
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


# The notation


def notation(title: str, symbols: list[Data]) -> str:
    """The symbol, its meaning, its shape, its name in the code."""
    titles = ("symbol", "meaning", "shape", "in code")
    return scrolled(table("eqn-notation", titles, map(_symbol, symbols)), title)


def _symbol(entry: Data) -> str:
    shapes = inline_math(entry["shape"]) if entry.get("shape") else ""
    named = [*dict.fromkeys(entry.get("fields", {}).values()), *filter(None, [entry.get("code")])]
    code = element("code", say(", ".join(named))) if named else ""
    forms = ", ".join(inline_math(form) for form in entry.get("shown", entry["latex"]))
    cells = map(_cell, (forms, phrase(entry["meaning"], inline_math), shapes, code))
    return element("tr", *cells, id=entry.get("anchor"))


# How the book was built


def version_of(name: str) -> str:
    """The version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


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
