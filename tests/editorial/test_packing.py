"""The packed copy of this book's equations, for notebooks that run far from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from run_chapters import chapters

from checked_equations.book import packing
from gpnotes_book import Chapter

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
DATA = ROOT / "src" / "gpnotes_book" / "data"
HINT = "run `make references`"


def latex_of(data: Path, slug: str) -> dict[str, str]:
    """The LaTeX of a packed chapter by label."""
    pages = json.loads((data / "equations.json").read_text(encoding="utf-8"))
    return {label: entry["latex"] for label, entry in pages[slug].items()}


def test_the_packaged_copy_is_that_of_the_book(tmp_path: Path) -> None:
    """The LaTeX, that is; a line more or less of prose above it does no harm."""
    new, *others = packing.pack(BOOK, tmp_path)
    names = [path.relative_to(tmp_path).as_posix() for path in [new, *others]]
    tables = [name for name in names if not name.startswith("_claims/")]
    assert tables == ["equations.json", "items.tsv", "equations.toml", "notation.json"]
    for name in names[1:]:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), HINT
    for slug in json.loads(new.read_text(encoding="utf-8")):
        assert latex_of(DATA, slug) == latex_of(tmp_path, slug), HINT


@pytest.mark.parametrize("slug", chapters(BOOK))
def test_a_chapter_opens_in_an_empty_folder(
    slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chapter = Chapter(slug)
    if not chapter.equations():  # a page of claims alone
        assert (DATA / "_claims" / f"{slug}.json").is_file()
        return
    with pytest.raises(ValueError, match="the ledger is not complete"):
        chapter.ledger()
