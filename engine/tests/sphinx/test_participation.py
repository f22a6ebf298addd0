"""Which pages take part: those that ask, those that hold a check, those that others check."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document

from checked_equations.latex.equation import Equation
from checked_equations.sphinx import build
from checked_equations.sphinx.book_ledger import Book, problems
from checked_equations.sphinx.pages import Noted, Page, asked, number_labels, taking_part

BARE = Page(equations=(Equation("eq-bare", "a = b", 3),))


def said(pages: dict[str, Page], every: bool = False) -> list[str]:
    return [words for *_, words in problems(Book(taking_part(pages, every), {}))]


UNCHECKED = "the equation eq-bare is numbered, but no cell ends with a check of it"


def test_a_page_without_a_check_is_left_alone() -> None:
    assert said({"plain": BARE}) == []
    assert Book(taking_part({"plain": BARE}, False), {}).rows == ()


@pytest.mark.parametrize(
    ("page", "every"),
    [
        (replace(BARE, asked=True), False),
        (replace(BARE, opens=True), False),
        (BARE, True),
    ],
)
def test_a_page_that_takes_part_must_check(page: Page, every: bool) -> None:
    assert said({"plain": page}, every) == [UNCHECKED]


def test_a_page_may_stay_outside_whatever_it_holds(page: Page) -> None:
    stays = replace(page, notes=page.notes[1:], asked=False)
    assert said({"part/one": replace(stays, asked=None)}) != []
    for every in (True, False):
        assert said({"part/one": stays}, every) == []
    failed = Page(failures=((3, "EquationError: no"),), asked=False)
    assert said({"part/one": failed}, True) == []


def test_the_failures_of_cells_that_check_nothing_are_left_alone() -> None:
    failed = Page(failures=((3, "ZeroDivisionError: no"),))
    assert said({"plain": failed}) == []
    assert said({"plain": replace(failed, opens=True)}) != []


def test_the_cells_of_one_page_may_check_another(make_record: Any) -> None:
    """A page in reStructuredText has no cells."""
    record = make_record("eq-bare", chapter="notes", sources=[])
    closed = {"kind": "ledger", "chapter": "notes", "totals": {}}
    cells = Page(notes=(Noted(record, 5), Noted(closed, 9)))
    book = Book(taking_part({"part/notes": BARE, "part/work": cells}, False), {})
    assert list(problems(book)) == []
    (row,) = book.rows
    assert (row.docname, row.kind) == ("part/notes", "identity")
    wrong = Page(notes=(Noted(make_record("eq-other", chapter="notes"), 5), Noted(closed, 9)))
    assert said({"part/notes": BARE, "part/work": wrong}) == [
        UNCHECKED,
        "a cell checks eq-other, but no equation in part/notes has that label"
        "; for a \\label inside the LaTeX the page must say `equations: true`",
    ]


def test_a_check_of_a_string_belongs_to_no_page(make_record: Any) -> None:
    loose = Page(equations=BARE.equations, notes=(Noted(make_record("", chapter=""), 5),))
    assert said({"plain": loose}) == []
    assert said({"plain": replace(loose, equations=(), asked=True)}) == []


@pytest.mark.parametrize(
    ("words", "meant"),
    [("true", True), ("True", True), ("yes", True), ("false", False), ("no", False), ("", None)],
)
def test_the_front_matter_says_so(words: str, meant: bool | None) -> None:
    assert asked({"equations": words}) is meant


def test_another_word_for_the_pages_is_refused() -> None:
    config = SimpleNamespace(equations_pages="some")
    with pytest.raises(ValueError, match="equations_pages must be 'checked' or 'all'; got 'some'"):
        build._every(SimpleNamespace(config=config))


def display(text: str, **attributes: Any) -> nodes.math_block:
    return nodes.math_block(text, text, **attributes)


def test_labels_inside_are_numbered_in_the_order_of_the_page() -> None:
    equations = {"eq-one": ("page", 1), "3f2a-uuid": ("page", 2), "eq-other": ("other", 1)}
    env = SimpleNamespace(get_domain=lambda name: SimpleNamespace(equations=equations))
    doctree = new_document("page")
    doctree += [
        display("a = b\n\\label{eq-first}"),
        display("c = d", label="eq-one"),
        display("e = f"),
        display(
            "\\begin{align}\ng = h \\label{eq-last}\n\\end{align}",
            label="3f2a-uuid",
            classes=["amsmath"],
            ids=["equation-3f2a-uuid"],
        ),
    ]
    number_labels(env, "page", doctree)
    assert equations == {
        "eq-first": ("page", 1), "eq-one": ("page", 2), "eq-last": ("page", 3),
        "eq-other": ("other", 1),
    }  # fmt: skip
    first, second, third, last = doctree.findall(nodes.math_block)
    assert (first.astext(), first["label"], first["ids"]) == (
        "a = b",
        "eq-first",
        ["equation-eq-first"],
    )
    assert second.get("number") == 2
    assert third.get("label") is None
    assert last["ids"] == ["equation-eq-last"]
    assert "label" not in last.astext()
