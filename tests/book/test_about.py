"""The pages about the book: its data, its changes, how to cite it and how to report a slip."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
NOTES = sorted((ROOT / "src" / "gpnotes" / "data").glob("*.md"))


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("note", [note.stem for note in NOTES])
def test_the_note_of_each_data_set_is_a_section(trees: dict[str, Any], note: str) -> None:
    around = trees["book/data-sets.html"].css(f"section:has([id='data-{note}'])")
    assert around
    title = next(line for line in (NOTES[0].parent / f"{note}.md").read_text("utf-8").splitlines())
    assert title.lstrip("# ") in words(around[-1].text())


def test_chapters_lead_to_the_notes(trees: dict[str, Any]) -> None:
    chapter = trees["book/decisions/active-learning.html"]
    assert chapter.css("article a[href*='data-sets.html#']")
    named = [
        name
        for name, tree in trees.items()
        if "book/data-sets" not in name and "changes" not in name
        if re.search(r"src/gpnotes/data/[\w-]+\.md", tree.text())
    ]
    assert named == []


def test_the_entry_for_a_bibliography_says_what_citation_cff_says(trees: dict[str, Any]) -> None:
    said = words(trees["book/cite.html"].css_first("pre").text())
    known = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    for field in (known["title"], known["version"], known["license"], known["authors"][0]["name"]):
        assert field in said
    assert f"year = {{{known['date-released'][:4]}}}" in said


def test_the_changelog_is_a_page(trees: dict[str, Any]) -> None:
    titles = [title.text() for title in trees["book/changes.html"].css("article h1, h2, h3")]
    assert any(title.startswith("Changelog") for title in titles)
    assert any(title.startswith("0.1.0") for title in titles)


def test_every_page_says_where_to_report_a_slip(trees: dict[str, Any]) -> None:
    assert trees["book/cite.html"].css_first("#report")
    link = "a[href$='cite.html#report'], footer a[href='#report']"
    wanted = {name for name, tree in trees.items() if tree.css_first("article")}
    linked = {name for name, tree in trees.items() if tree.css_first(link)}
    assert wanted - linked == set()
