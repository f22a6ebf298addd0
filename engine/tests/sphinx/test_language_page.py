"""The page about the language: every part of it has its place, and every place its content."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from checked_equations import sphinx as extension
from checked_equations.book.settings import Settings
from checked_equations.sphinx.directives import ALL
from language_by_example import page as language

API = Path(__file__).resolve().parents[3] / "book" / "api"


@pytest.fixture(scope="module")
def page() -> str:
    """Both pages: of the language, and of a book of one's own."""
    names = ("language.md", "in-a-book-of-your-own.md")
    return "\n".join((API / name).read_text(encoding="utf-8") for name in names)


def test_every_part_has_its_place_on_the_page(page: str) -> None:
    placed = re.findall(r"^```\{equation-language\} (.*)$", page, re.M)
    assert sorted(placed) == sorted(language.titles())


@pytest.mark.parametrize("title", language.titles())
def test_a_part_is_a_table_with_rows(title: str) -> None:
    html = language.section(title, ALL)
    assert html.count("<tr>") > 1
    assert html.count("<td></td>") <= html.count("<tr>")
    assert "None" not in html


def test_a_part_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(KeyError):
        language.section("Arithmetics", ALL)


def test_every_directive_is_told_of_with_an_example() -> None:
    examples = language.directive_examples(ALL)
    assert examples.keys() == ALL.keys()
    for name, (written, does) in examples.items():
        assert written.startswith(f"{{{name}}}")
        assert does
        assert (" " in written) == bool(ALL[name].required_arguments)


def test_every_setting_is_told_of(page: str) -> None:
    for name in extension._SETTINGS:
        assert f"| `{name}` |" in page
    for setting in dataclasses.fields(Settings):
        found = setting.name in {"file", "installed", "let_for"}  # no file says it by this name
        assert found or f"| `{setting.name}` |" in page


def test_an_example_that_does_not_hold_stops_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    from checked_equations.errors import EquationError
    from language_by_example.example import Example

    wrong = Example("a sum", "d = a - b", {"d": 3.0, "a": 1.0, "b": 2.0})
    with pytest.raises(EquationError, match="does not hold"):
        language._read("Sums", [wrong])
