"""The relations between the numbered equations, on the ledger's page and in its data."""

from __future__ import annotations

from typing import Any

import pytest

from checked_equations.sphinx import generated_tables as tables
from checked_equations.sphinx.book_ledger import as_json, totals
from checked_equations.sphinx.generated_tables import Links
from checked_equations.sphinx.pages import Noted

CHAPTER = "book/part/one"
LINKS = Links(lambda label: f"#equation-{label}", lambda name: f"{name}.html", lambda name: "One")
EVALUATED = {
    "latex": "a = b", "line": 3, "outcome": "evaluated", "why": "", "by": "symbols",
    "residual": 1e-16, "caught": 2, "mutants": 2,
}  # fmt: skip
LISTED = EVALUATED | {
    "latex": "c < d", "line": 8, "outcome": "listed", "by": "", "residual": None,
    "why": "not bound together: `<c>`",
}  # fmt: skip


@pytest.fixture
def read(book: Any, changed: Any) -> Any:
    """The book whose chapter has read its sentences."""
    *notes, closed = book.pages[CHAPTER].notes
    record = closed.record | {"inline": [EVALUATED, LISTED, EVALUATED]}
    return changed(notes=(*notes, Noted(record, closed.line)))


def soup(text: str) -> Any:
    return pytest.importorskip("bs4").BeautifulSoup(text, "html.parser")


def test_what_is_only_listed_stands_with_its_reason_behind_the_count(read: Any) -> None:
    made = soup(tables.table("inline", read, LINKS))
    assert made.summary.get_text() == "One: 2 of 3 evaluated"
    assert made.summary.a is None, "a link within a summary cannot be reached"
    assert made.p.a["href"] == "book/part/one.html"
    (row,) = made.select("tbody tr")
    cells = [cell.get_text() for cell in row.select("td")]
    assert cells == ["8", r"\(c < d\)", "not bound together: <c>"]
    assert row.code.get_text() == "<c>"


def test_a_book_that_reads_no_sentences_has_no_list(book: Any) -> None:
    assert tables.table("inline", book, LINKS) == ""
    assert totals(book)["inline_evaluated"] == totals(book)["inline_listed"] == 0


def test_the_totals_and_the_data_hold_them(read: Any) -> None:
    sums = totals(read)
    assert (sums["inline_evaluated"], sums["inline_listed"]) == (2, 1)
    assert "2 of 3" in soup(tables.table("totals", read, LINKS)).get_text(" ")
    entries = as_json(read)["inline"]
    assert [entry["outcome"] for entry in entries] == ["evaluated", "listed", "evaluated"]
    assert {entry["document"] for entry in entries} == {CHAPTER}
