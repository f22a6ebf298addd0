"""The definitions that are compared with nothing, on the ledger's page."""

from __future__ import annotations

from typing import Any

import pytest

from checked_equations.sphinx import generated_tables as tables
from checked_equations.sphinx import page_badges as badge
from checked_equations.sphinx.generated_tables import Links
from checked_equations.sphinx.pages import Noted

CHAPTER = "book/part/one"
LINKS = Links(lambda label: f"#equation-{label}", lambda name: f"{name}.html", lambda name: "One")


def soup(text: str) -> Any:
    return pytest.importorskip("bs4").BeautifulSoup(text, "html.parser")


@pytest.fixture
def left(book: Any, changed: Any) -> Any:
    """The book whose definition leaves something bare."""
    first, second, *others = book.pages[CHAPTER].notes
    record = second.record | {"bare": ["f <x> ."], "why": "a function"}
    return changed(notes=(first, Noted(record, second.line), *others))


def test_what_is_bare_is_listed_with_its_reason(left: Any) -> None:
    (row,) = soup(tables.table("definitions", left, LINKS)).select("tbody tr")
    cells = [cell.get_text() for cell in row.select("td")]
    assert cells == ["(1.2)", r"\(f <x>\)", "a function"]
    assert row.a["href"] == "#equation-eq-two"


def test_nothing_bare_is_said_in_a_sentence(book: Any) -> None:
    assert "Every definition is compared" in tables.table("definitions", book, LINKS)


def test_the_badge_says_what_is_bare_and_what_is_compared(
    left: Any, changed: Any, make_record: Any
) -> None:
    said = soup(badge.equation_badge(left.rows[1], "")).get_text()
    assert r"By definition: \(f <x>\); a function." in said
    record = make_record("eq-two", kind="definition", oracle="", bare=["f"], why="a function")
    row = changed(notes=(Noted(record, 20),)).rows[1]
    assert badge.words(row)[:2] == ["definition, compared", "3 of 3 mutants caught"]
    said = soup(badge.equation_badge(row, "")).get_text()
    assert "By definition" in said
    assert "Compared with what it defines" in said
