"""A chapter that is opened far from the book: it is read in the book that the package carries."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_chapters import chapters

import gpnotes_book
from checked_equations.book import markup
from gpnotes_book import Chapter
from gpnotes_book.items import read_items

BOOK = Path(__file__).resolve().parents[2] / "book"


def test_in_a_clone_the_package_reads_the_book_itself() -> None:
    assert Path(gpnotes_book.__equations__) == BOOK


@pytest.mark.parametrize("slug", chapters(BOOK))
def test_a_chapter_opens_in_an_empty_folder(
    slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chapter = Chapter(slug)
    assert chapter.equations() == markup.read(BOOK / f"{slug}.md")
    assert chapter.text.name == "as packaged, not as in this notebook"
    assert chapter.settings.file == BOOK / "equations.toml"


def test_the_list_of_items_serves_there_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = next(iter(read_items(BOOK / "sources" / "items.tsv").values()))
    verdict = Chapter(first.chapter).source(first.id, "stub", why="left empty")
    assert verdict.source_id == first.id
