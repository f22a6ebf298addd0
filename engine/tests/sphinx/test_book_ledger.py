"""The ledger of a book: rows, totals, and all that can be amiss."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from checked_equations.latex.equation import Equation
from checked_equations.sphinx.book_ledger import Added, as_json, problems, totals
from checked_equations.sphinx.pages import Noted

CHAPTER = "book/part/one"


def messages(book: Any) -> list[str]:
    return [f"{docname}:{line}: {said}" for docname, line, said in problems(book)]


def test_a_sound_book_has_no_problems(book: Any) -> None:
    assert messages(book) == []


def test_totals_part_the_equations_by_kind(book: Any) -> None:
    sums = totals(book)
    assert sums["equations"] == 2
    assert (sums["checked"], sums["estimates"], sums["definitions"], sums["unchecked"]) == (
        1,
        0,
        1,
        0,
    )
    assert (sums["mutants_caught"], sums["mutants_indistinct"]) == (3, 1)


def test_json_holds_the_agreed_fields(book: Any) -> None:
    data = json.loads(json.dumps(as_json(book)))
    first = data["equations"][0]
    assert first["label"] == "eq-one"
    assert first["number"] == "1.1"
    assert first["mutants"] == {"caught": 3, "indistinct": 1, "survived": 0, "spared": 0}
    assert data.keys() == {"equations", "inline", "claims", "totals"}


def test_json_holds_what_an_extension_adds(book: Any) -> None:
    added = Added(
        columns={"taught by": lambda row: ("Ada", row.kind)},
        totals={"teachers": 2},
        data={"teachers": ["Ada", "Emmy"]},
    )
    data = json.loads(json.dumps(as_json(book, added)))
    assert [row["taught by"] for row in data["equations"]] == [
        ["Ada", "identity"], ["Ada", "definition"],
    ]  # fmt: skip
    assert data["teachers"] == ["Ada", "Emmy"]
    assert data["totals"] == totals(book) | {"teachers": 2}


def test_an_equation_counts_by_its_strongest_record(
    book: Any, changed: Any, make_record: Any
) -> None:
    notes = book.pages[CHAPTER].notes
    second = make_record("eq-two", oracle="quadrature", residual=3e-12)
    rows = changed(notes=(*notes, Noted(second, 50))).rows
    assert [row.kind for row in rows] == ["identity", "identity"]
    assert rows[1].data["residual"] == 3e-12
    assert totals(changed(notes=(*notes, Noted(second, 50))))["mutants_caught"] == 6


def test_an_equation_without_a_record_is_a_problem(book: Any, changed: Any) -> None:
    notes = book.pages[CHAPTER].notes
    assert messages(changed(notes=notes[1:])) == [
        f"{CHAPTER}:5: the equation eq-one is numbered, but no cell ends with a check of it"
    ]


def test_a_record_without_an_equation_is_a_problem(book: Any, changed: Any) -> None:
    equations = book.pages[CHAPTER].equations
    assert messages(changed(equations=equations[:1])) == [
        f"{CHAPTER}:20: a cell checks eq-two, but no equation here has that label"
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"residual": 1e-3}, "the equation eq-one is off by 0.001, over 1e-09"),
        ({"chapter": "part/other"}, "the cell says that it belongs to the chapter part/other"),
        (
            {"digest": "0" * 16, "text": "as packaged"},
            "the check of eq-one has read another text (as packaged); its cells must run again",
        ),
    ],
)
def test_a_weak_record_is_a_problem(
    book: Any, changed: Any, make_record: Any, change: dict, words: str
) -> None:
    first, *rest = book.pages[CHAPTER].notes
    weak = replace(first, record=make_record("eq-one", **change))
    assert [said.endswith(words) for said in messages(changed(notes=(weak, *rest)))] == [True]


def test_a_record_of_the_text_that_is_shown_is_none(
    book: Any, changed: Any, make_record: Any
) -> None:
    """However the page breaks its lines."""
    first, *rest = book.pages[CHAPTER].notes
    read = make_record("eq-one", digest=Equation("eq-one", "a\n&=  b", 9).digest)
    assert messages(changed(notes=(replace(first, record=read), *rest))) == []


def test_a_survivor_is_a_problem(book: Any, changed: Any) -> None:
    first, *rest = book.pages[CHAPTER].notes
    mutants = {**first.record["mutants"], "survived": 2}
    weak = replace(first, record={**first.record, "mutants": mutants})
    assert messages(changed(notes=(weak, *rest))) == [
        f"{CHAPTER}:5: 2 mutants of the equation eq-one survive its check"
    ]


def test_a_failed_cell_hides_what_follows_from_it(changed: Any) -> None:
    book = changed(notes=(), failures=((7, "ValueError: no"),))
    assert messages(book) == [f"{CHAPTER}:7: the cell on this line failed: ValueError: no"]


def test_a_chapter_must_close_its_ledger(book: Any, changed: Any) -> None:
    notes = book.pages[CHAPTER].notes
    assert messages(changed(notes=notes[:-1])) == [
        f"{CHAPTER}:20: the last cell of a chapter must be chapter.ledger()"
    ]


def test_what_the_baseline_lists_is_not_yet_checked(book: Any) -> None:
    """Nor complained of, until it is checked: then it must leave the file."""
    page = book.pages[CHAPTER]
    bare = replace(page, notes=tuple(n for n in page.notes if n.record.get("label") != "eq-one"))
    without = replace(book, pages={**book.pages, CHAPTER: bare})
    missing = "the equation eq-one is numbered, but no cell ends with a check of it"
    assert missing in [said for _, _, said in problems(without)]
    later = replace(without, later={CHAPTER: ("eq-one",)})
    assert "eq-one" not in str([said for _, _, said in problems(later)])
    assert later.by_label["eq-one"].kind == "not yet"
    assert (totals(later)["later"], totals(later)["unchecked"]) == (1, totals(book)["unchecked"])
    checked = [said for _, _, said in problems(replace(book, later={CHAPTER: ("eq-one",)}))]
    assert "eq-one is checked now: take it out of equations-baseline.toml" in checked
