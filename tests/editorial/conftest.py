"""Chapters that answer sources, and a small book as the executed notebooks would leave it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checked_equations.latex.equation import Equation
from gpnotes_book import Chapter
from gpnotes_book.items import Item

EXT = Path(__file__).resolve().parents[2] / "book" / "_ext"
ITEMS = """\
id\tsource\tchapter\titem
T-01\tone.txt\tpart/small\tthe mean
T-02\tone.txt\tpart/small\tthe variance
T-03\tone.txt\tpart/other\tsomething else
"""


def small_text(equations: dict[str, str]) -> str:
    blocks = [f"```{{math}}\n:label: {label}\n{latex}\n```\n" for label, latex in equations.items()]
    return "\n".join(["# A small chapter", "", *blocks])


@pytest.fixture
def small_book() -> Any:
    """A function that writes the settings of a small book, and its items, into a folder."""

    def write(folder: Path) -> None:
        (folder / "sources").mkdir(exist_ok=True)
        (folder / "sources" / "items.tsv").write_text(ITEMS, encoding="utf-8")
        (folder / "equations.toml").touch()

    return write


@pytest.fixture
def small_chapter(tmp_path: Path, small_book: Any) -> Any:
    """Write a chapter with the given equations, and open it."""

    def opened(equations: dict[str, str]) -> Chapter:
        small_book(tmp_path)
        path = tmp_path / "small.md"
        path.write_text(small_text(equations), encoding="utf-8")
        return Chapter("part/small", path=path)

    return opened


@pytest.fixture(scope="session")
def modules() -> Iterator[Any]:
    """The modules of the extension, which find each other as the build lets them."""
    sys.path.insert(0, str(EXT))
    try:
        names = ("source_answers", "source_pages", "sources")
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(EXT))


def record(label: str, *answers: str) -> dict[str, Any]:
    """The record of a check as a page has it, as far as the sources need it."""
    mutants = {"caught": 3, "indistinct": 1, "survived": 0, "spared": 0, "list": []}
    return {
        "label": label, "chapter": "part/one", "kind": "identity", "residual": 2e-15, "rtol": 1e-9,
        "steps": [{"latex": "a = b"}], "mutants": mutants, "more": {"answers": list(answers)},
    }  # fmt: skip


VERDICT = {
    "kind": "source", "chapter": "part/one", "source_id": "S1-01", "verdict": "holds", "label": "",
    "why": "", "printed_residual": None, "corrected_residual": None,
}  # fmt: skip
CHECKS = (record("eq-one", "S1-01"), record("eq-two"))
CLOSED = {"kind": "ledger", "chapter": "part/one", "totals": {}}
ITEMS_OF_THE_BOOK = (
    Item("S1-01", "notes", "part/one", "a sum"), Item("S1-02", "notes", "part/two", "more"),
)  # fmt: skip


@pytest.fixture
def answers(modules: Any) -> Any:
    """A function that makes a book of one chapter: its checks, some records, a closed ledger."""
    pages = pytest.importorskip("checked_equations.sphinx.pages")
    ledger = pytest.importorskip("checked_equations.sphinx.book_ledger")

    def made(*records: dict[str, Any], items: tuple[Item, ...] = ITEMS_OF_THE_BOOK) -> Any:
        page = pages.Page(
            equations=(Equation("eq-one", "a &= b", 5), Equation("eq-two", "c = d", 15)),
            notes=tuple(pages.Noted(note, 9) for note in (*CHECKS, *records, CLOSED)),
        )
        listed = pages.Page(generated=frozenset({"sources"}))
        book = ledger.Book({"book/part/one": page, "told": listed}, {"eq-one": "1.1"})
        return modules.source_answers.Answers(book, items)

    return made


@pytest.fixture
def verdict() -> dict[str, Any]:
    """A verdict as a page has it."""
    return VERDICT


@pytest.fixture
def refutation() -> dict[str, Any]:
    """A refutation as a page has it."""
    return {
        "kind": "refutation", "chapter": "part/one", "source_id": "S1-01", "latex": "a = -b",
        "printed_residual": 0.7, "corrected_residual": 4e-16, "instead": "eq-one",
    }  # fmt: skip
