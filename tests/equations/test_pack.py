"""The packaged copy of the equations, for notebooks that run far from the book."""

import json
from pathlib import Path

import pytest

from gpnotes.equations import Chapter, flips, text
from gpnotes.equations.__main__ import main

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
HINT = "run `make references`"


def test_the_packaged_copy_is_that_of_the_book(tmp_path):
    """The LaTeX, that is; a line more or less of prose above it does no harm."""
    new, *tables = text.pack(BOOK, tmp_path)
    for table in tables:
        assert table.read_bytes() == (text.DATA / table.name).read_bytes(), HINT
    for slug in json.loads(new.read_text(encoding="utf-8")):
        fresh, kept = text.packaged(slug, tmp_path), text.packaged(slug)
        assert {e.label: e.latex for e in kept.values()} == {
            e.label: e.latex for e in fresh.values()
        }, HINT


@pytest.mark.parametrize("slug", flips.chapters(BOOK))
def test_a_chapter_opens_in_an_empty_folder(slug, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chapter = Chapter(slug)
    with pytest.raises(ValueError, match="the ledger is not complete"):
        chapter.ledger()


def test_the_command_packs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(text, "DATA", tmp_path)
    assert main(["pack", str(BOOK)]) == 0
    tables = [path.name for path in sorted(BOOK.glob("data/*.csv"))]
    assert capsys.readouterr().out.split() == ["equations.json", "items.tsv", *tables]
    assert (tmp_path / "equations.json").is_file()


def test_a_fault_in_a_page_fails_the_command(tmp_path, capsys):
    (tmp_path / "bad.md").write_text("$$a$$ (eq-a)\n")
    assert main(["pack", str(tmp_path)]) == 1
    assert "bad.md: line 1: the equation eq-a" in capsys.readouterr().err


def test_the_folder_must_exist(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["pack", str(tmp_path / "nowhere")])
    assert "book must be a folder" in capsys.readouterr().err
