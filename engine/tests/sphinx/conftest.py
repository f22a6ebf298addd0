"""Records and a small book, as the executed notebooks would leave them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("sphinx")


from checked_equations.latex.equation import Equation
from checked_equations.sphinx.book_ledger import Book
from checked_equations.sphinx.pages import Noted, Page


def record(label: str, **changes: Any) -> dict[str, Any]:
    mutants = {"caught": 3, "indistinct": 1, "survived": 0, "spared": 0, "list": [MUTANT]}
    step = {"latex": "a = b", "relation": "=", "residual": 2e-15, "line": 5}
    return {
        "label": label, "chapter": "part/one", "kind": "identity", "line": 5, "oracle": "dense",
        "rtol": 1e-9, "atol": 0.0, "approx": None, "residual": 2e-15, "steps": [step], "draws": 3,
        "mutants": mutants, "more": {}, "backend": "numpy", "milliseconds": 4.0,
        "estimate": None, **changes,
    }  # fmt: skip


MUTANT = {
    "edit": r"flip the sign of \mathbf c <x>", "latex": "a < b", "outcome": "caught",
    "residual": 0.25, "why": "", "said": r"flip the sign of $\mathbf c <x>$",
}  # fmt: skip
CLOSED = {"kind": "ledger", "chapter": "part/one", "totals": {}}


@pytest.fixture
def make_record() -> Any:
    return record


@pytest.fixture
def page() -> Page:
    """A chapter of two equations, one of them a definition, with its ledger closed."""
    definition = record("eq-two", kind="definition", steps=[], draws=0, rtol=None, residual=None)
    none = {"caught": 0, "indistinct": 0, "survived": 0, "spared": 0, "list": []}
    notes = (record("eq-one"), definition | {"mutants": none}, CLOSED)
    return Page(
        equations=(Equation("eq-one", "a &= b", 5), Equation("eq-two", "c := d", 15)),
        notes=tuple(Noted(note, 10 * i) for i, note in enumerate(notes, start=1)),
        seconds=3.2,
    )


@pytest.fixture
def book(page: Page) -> Book:
    numbers = {"eq-one": "1.1", "eq-two": "1.2"}
    return Book({"book/part/one": page, "ledger": Page(generated=frozenset({"ledger"}))}, numbers)


@pytest.fixture
def changed(book: Book) -> Any:
    """The book with its chapter changed."""

    def change(**changes: Any) -> Book:
        page = replace(book.pages["book/part/one"], **changes)
        return Book({**book.pages, "book/part/one": page}, book.numbers)

    return change
