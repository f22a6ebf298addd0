"""The data of the live equations: beside the page, not in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from checked_equations.sphinx import page_badges as badge

EDIT = {"changed": (2, 3, ">"), "place": (2, 3), "shown": (2, 3)}


def with_edit(book: Any) -> Any:
    """The first equation of the book, whose mutant now says where it is."""
    row = book.rows[0]
    record = dict(row.records[0], latex="a = b")
    record["mutants"] = {**record["mutants"], "list": [{**record["mutants"]["list"][0], **EDIT}]}
    return replace(row, records=(record,))


def test_a_badge_says_how_many_and_where_but_not_which(book: Any) -> None:
    made = badge.equation_badge(with_edit(book), "", file="one.mutants.js")
    assert "3 of 3 mutants caught (1 indistinct)." in made
    assert 'data-mutants="one.mutants.js"' in made
    assert "flip the sign" not in made


def test_the_file_has_what_the_record_has(book: Any, tmp_path: Path) -> None:
    page = tmp_path / "part" / "one.html"
    badge.write_mutants(page, [with_edit(book), book.rows[1]])
    text = (tmp_path / "part" / "one.mutants.js").read_text("utf-8")
    data = json.loads(text.removeprefix("window.checkedEquations = ").rstrip().rstrip(";"))
    assert list(data) == ["eq-one"]
    (record,) = data["eq-one"]
    assert record["latex"] == "a = b"
    assert record["sum"] == "3 of 3 mutants caught (1 indistinct)"
    said = r"flip the sign of $\mathbf c <x>$"
    assert record["mutants"] == [
        [said, "$a < b$", "caught", "0.25", "", [2, 3, ">"], [2, 3], [2, 3]]
    ]
    assert record["rows"] == [[0, ""]]


def test_mathematics_that_cannot_stand_alone_is_code() -> None:
    assert badge._quoted(r"drop $\left( a$ of $b$") == r"drop `\left( a` of $b$"


def test_a_page_without_mutants_has_no_file(book: Any, tmp_path: Path) -> None:
    (tmp_path / "one.mutants.js").write_text("old", "utf-8")
    badge.write_mutants(tmp_path / "one.html", [book.rows[1]])
    assert not (tmp_path / "one.mutants.js").exists()
