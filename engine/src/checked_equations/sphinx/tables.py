"""The tables of the generated pages, as `templates` lays them out, and what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ..book.html import element, say
from ..book.ledger import KINDS
from ..book.phrases import counted, mutant_counts, mutants_caught
from .ledger import NOTHING, Added, Book, between, totals
from .templating import render, short_name

__all__ = [
    "OF_BOOK", "Links", "bare_definitions", "claim_table", "ledger_table", "links_from",
    "notation", "relations", "short_name", "summary", "timings", "total_list", "version_of",
    "versions",
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


def ledger_table(book: Book, links: Links, added: Added = NOTHING) -> str:
    """The table of all numbered equations, which the page's script sorts and searches."""
    return render("ledger", book=book, links=links, added=added)


def claim_table(book: Book, links: Links) -> str:
    """The table of all claims: the sentence, how often it holds, and under which conditions."""
    rows = [
        (docname, record, sentence.text)
        for docname, page in book.pages.items()
        for sentence in page.claims
        if (record := page.claimed.get(sentence.label))
    ]
    return render("claims", rows=rows, links=links)


def total_list(book: Book, added: Added = NOTHING) -> str:
    """The totals, each with what it counts."""
    return render("totals", sums=totals(book), added=added)


def bare_definitions(book: Book, links: Links) -> str:
    """The definitions that nothing was compared with, each with its reason."""
    rows = [row for row in book.rows if row.kind == "definition" and (row.record or {}).get("bare")]
    return render("definitions", rows=rows, links=links)


def relations(book: Book, links: Links) -> str:
    """The relations between the numbered equations: for each chapter the count, and the rest."""
    chapters: dict[str, list[Data]] = {}
    for docname, record in between(book):
        chapters.setdefault(docname, []).append(record)
    return render("relations", chapters=chapters, links=links)


def summary(book: Book, docname: str, seconds: float | None) -> str:
    """*N equations: N checked, N estimates, N definitions · mutants caught · running time.*"""
    sums = totals(book, book.rows_on(docname))
    kinds = [
        f"{sums['checked']} checked" if sums["checked"] else "",
        counted(sums["estimates"], "estimate") if sums["estimates"] else "",
        counted(sums["definitions"], "definition") if sums["definitions"] else "",
        f"{sums['unchecked']} unchecked" if sums["unchecked"] else "",
        f"{sums['later']} not yet" if sums["later"] else "",
    ]
    claimed = len(book.pages[docname].claims)
    count = counted(sums["equations"], "equation") if sums["equations"] else ""
    parts = [f"{count}: {', '.join(filter(None, kinds))}"]
    parts.append(mutants_caught(mutant_counts(sums), apart=False))
    parts += [counted(claimed, "claim")] if claimed else []
    if seconds is not None:
        parts.append(f"runs in {seconds:.0f} s" if seconds >= 1 else "runs in a second")
    return element("p", *(element("span", say(part)) for part in parts), class_="eqn-summary")


def notation(title: str, symbols: list[Data]) -> str:
    """The symbol, its meaning, its shape, its name in the code."""
    return render("notation", title=title, symbols=symbols)


def version_of(name: str) -> str:
    """The version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def versions(installed: Mapping[str, str]) -> str:
    """What the build ran on."""
    return render("versions", installed=installed)


def timings(book: Book, links: Links) -> str:
    """Each chapter that runs: how long it took, how long its checks took, and on which arrays."""
    return render("timings", book=book, links=links, kinds=KINDS)


# Those that show the book and nothing else, by what a directive calls them.
OF_BOOK: dict[str, Callable[[Book, Links], str]] = {
    "claims": claim_table,
    "definitions": bare_definitions,
    "inline": relations,
    "timings": timings,
}
