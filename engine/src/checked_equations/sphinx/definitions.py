"""The definitions that nothing was compared with, each with its reason."""

from __future__ import annotations

from ..book.html import element, inline_math, link, say, scrolled, table
from .ledger import Book, Row
from .tables import Links

__all__ = ["bare"]


def bare(book: Book, links: Links) -> str:
    """The statements of numbered equations that hold by decree alone."""
    rows = [row for row in book.rows if row.kind == "definition" and (row.record or {}).get("bare")]
    if not rows:
        return element("p", "Every definition is compared with the thing that it defines.")
    titles = ("No.", "statement", "why it is compared with nothing")
    shown = table("eqn-small", titles, (_row(row, links) for row in rows))
    return scrolled(shown, "definitions")


def _row(row: Row, links: Links) -> str:
    record = row.record or {}
    statements = " and ".join(inline_math(latex.rstrip(" .,;")) for latex in record["bare"])
    number = link(f"({row.number})", links.equation(row.label))
    cells = (number, statements, say(record["why"]))
    return element("tr", *(element("td", cell) for cell in cells))
