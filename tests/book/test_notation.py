"""One symbol, one meaning: every symbol of a numbered equation is in the notation."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checked_equations.book import markup
from checked_equations.book.settings import read_yaml
from checked_equations.latex import names, parser

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(
    path
    for path in (ROOT / "book").rglob("*.md")
    if "_" not in path.parent.name and markup.read(path)
)


def entries() -> list[dict[str, Any]]:
    groups = read_yaml(ROOT / "book" / "notation.yml")
    return [symbol for group in groups for symbol in group["symbols"]]


@cache
def meanings() -> list[tuple[str, str]]:
    """Each symbol in its normal form, with the chapter that it belongs to ("" for the book)."""
    return [
        (names.normal(form), entry.get("chapter", ""))
        for entry in entries()
        for form in entry["latex"]
    ]


def slug(path: Path) -> str:
    return path.relative_to(ROOT / "book").with_suffix("").as_posix()


def missing(latex: str, chapter: str) -> list[str]:
    known = {symbol for symbol, where in meanings() if where in ("", chapter)}
    return [symbol for symbol in parser.symbols(latex) if symbol not in known]


@pytest.mark.parametrize("path", CHAPTERS, ids=slug)
def test_every_symbol_is_in_the_notation(path: Path) -> None:
    unknown = {e.label: missing(e.latex, slug(path)) for e in markup.read(path).values()}
    assert {label: symbols for label, symbols in unknown.items() if symbols} == {}


def test_a_new_symbol_would_be_missed() -> None:
    assert missing(r"K_{ff} = \Xi + \alpha_i", "") == [names.normal(r"\Xi")]
    assert missing(r"\mathbf b = V", "gaussian-processes/function-view") == [
        names.normal(r"\mathbf b")
    ]


def test_no_symbol_has_two_meanings() -> None:
    meanings_found = meanings()
    assert [one for one, count in Counter(meanings_found).items() if count > 1] == []
    whole = {symbol for symbol, where in meanings_found if not where}
    assert [one for one in meanings_found if one[1] and one[0] in whole] == []


KEYS = {"latex", "shown", "meaning", "shape", "code", "fields", "index", "chapter"}


def test_entries_say_what_they_mean() -> None:
    for entry in entries():
        assert entry["latex"], entry
        assert entry["meaning"].count("$") % 2 == 0, entry
        assert set(entry) <= KEYS


def test_fields_are_names_that_python_can_write() -> None:
    """A chapter's own may not be given twice, nor one of the whole book to something else."""
    named = [(name, entry) for entry in entries() for name in set(entry.get("fields", {}).values())]
    assert len(named) > 20
    assert [name for name, _ in named if not name.isidentifier()] == []
    counts = Counter((name, entry.get("chapter", "")) for name, entry in named)
    assert [name for name, count in counts.items() if count > 1] == []
