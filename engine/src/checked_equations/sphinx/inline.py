"""The relations between the numbered equations: what the ledger's page says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..book.html import element, inline_math, link, say, scrolled, table
from .ledger import Book, between
from .tables import Links

__all__ = ["relations"]

Data = Mapping[str, Any]


def relations(book: Book, links: Links) -> str:
    """For each chapter the count, and behind it the relations that no number has judged."""
    return "".join(_chapter(docname, records, links) for docname, records in _chapters(book))


def _chapters(book: Book) -> Iterator[tuple[str, list[Data]]]:
    for docname in book.pages:
        records = [record for name, record in between(book) if name == docname]
        if records:
            yield docname, records


def _chapter(docname: str, records: list[Data], links: Links) -> str:
    listed = [record for record in records if record["outcome"] != "evaluated"]
    evaluated = len(records) - len(listed)
    title = links.title(docname)
    # no link in what a click opens: the title leads there from behind it
    said = element("summary", f"{say(title)}: {evaluated} of {len(records)} evaluated")
    there = element("p", "In ", link(title, links.document(docname)), ":")
    titles = ("line", "relation", "why no number has judged it")
    rows = scrolled(table("eqn-small", titles, map(_row, listed)), "relations that are listed")
    return element("details", said, there + rows if listed else "", class_="eqn-more eqn-inline")


def _row(record: Data) -> str:
    cells = (str(record["line"]), inline_math(record["latex"]), _reason(record["why"]))
    return element("tr", *(element("td", cell) for cell in cells))


def _reason(why: str) -> str:
    """Symbols stand between backticks."""
    pieces = why.split("`")
    return "".join(element("code", say(p)) if i % 2 else say(p) for i, p in enumerate(pieces))
