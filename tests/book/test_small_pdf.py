"""The printing of the PDF, tried on a site of a few small pages that needs no build."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checked_equations.check.html import display_later

pypdf = pytest.importorskip("pypdf")
pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
LONG = "A book whose equations and inequations check themselves on each and every page of all"
TITLES = {"one": f"1. {LONG} of them", "two": f"2. {LONG} of these", "three": "3. The last"}
PAGE = """<html><body><article class="bd-article"><section id="{name}"><h1>{title}</h1>
<p>Begin with <a href="three.html">the last</a> or <a href="changes.html">what changed</a>.</p>
{more}<section id="part"><h2>{part}<a class="headerlink">x</a>
</h2><p>Text.</p></section></section></article></body></html>"""
PART = (
    "{name}: a part whose own title is so long that it does not fit into one line of a page, nor"
    " into one of the contents"
)
# as the theme sets titles: lines so low that letters reach above them
STYLE = "h1 { margin-top: 0; line-height: 1.15; } .bd-article h1 { margin-top: 0.4rem; }"
BREAK = "<div style='break-before: page'>Another page.</div>"


@pytest.fixture(scope="module")
def tool() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield importlib.import_module("book_pdf")
        sys.modules.pop("book_pdf")


@pytest.fixture(scope="module")
def made(
    tool: Any, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Path, int]:
    """The PDF of three pages, more than a hundred of paper, and what was said of it."""
    site = tmp_path_factory.mktemp("site")
    (site / "_static").mkdir()
    (site / "_static" / "book.css").write_text(STYLE, encoding="utf-8")
    more = {"one": BREAK * 8, "two": BREAK * 95, "three": ""}
    for name, title in TITLES.items():
        part = PART.format(name=name).replace("of a page", "<em>of\na page</em>")
        text = PAGE.format(name=name, title=title, more=more[name], part=part)
        (site / f"{name}.html").write_text(text, encoding="utf-8")
    target = site / "printed" / "book.pdf"
    target.parent.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tool, "HTML", site)
        count = tool.make(browser, target, list(TITLES))
    return pypdf.PdfReader(target), target, count


def texts(printed: Any) -> list[str]:
    return [" ".join(page.extract_text().replace("ﬁ", "fi").split()) for page in printed.pages]


def test_bookmarks_have_the_words_of_the_titles(made: Any) -> None:
    found = [mark.title for mark in flat(made[0].outline)]
    wanted = [mark for name, title in TITLES.items() for mark in (title, PART.format(name=name))]
    assert found == ["Contents", *wanted]


def flat(outline: list[Any]) -> Iterator[Any]:
    for mark in outline:
        if isinstance(mark, list):
            yield from flat(mark)
        else:
            yield mark


def test_bookmarks_lead_to_their_pages(made: Any) -> None:
    printed, said = made[0], texts(made[0])
    for mark in flat(printed.outline):
        at = printed.get_destination_page_number(mark)
        assert mark.title[:30] in said[at]


def test_the_contents_have_the_numbers_of_the_pages(made: Any) -> None:
    """Each in one piece, in the line where its title begins."""
    printed, said = made[0], texts(made[0])
    laid = printed.pages[1].extract_text(extraction_mode="layout").replace("ﬁ", "fi")
    listed = re.findall(r"^ *(\S.+?) {2,}(\d+)$", laid, re.MULTILINE)
    assert len(listed) == 2 * len(TITLES)
    assert max(int(number) for _, number in listed) > 100
    for title, number in listed:
        assert title in said[int(number) - 1], title


def test_a_link_to_a_page_left_out_is_none(made: Any) -> None:
    leads = [note.get_object() for page in made[0].pages for note in page.get("/Annots", [])]
    assert leads
    assert all("/URI" not in note.get("/A", {}) for note in leads)


def test_a_formula_that_waits_on_a_screen_is_set_on_paper(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    formula = display_later("a = b")
    folded = f"<details><summary>more</summary>{formula}</details>"
    text = f'<article class="bd-article"><h1>One</h1>{formula}{folded}</article>'
    (tmp_path / "one.html").write_text(text, encoding="utf-8")
    monkeypatch.setattr(tool, "HTML", tmp_path)
    made = tool.article("one", 0, ["one"])
    assert [tag.get_text() for tag in made.select("div.math")] == [r"\[a = b\]"]
    assert not made.select(".eqn-later")


def test_a_reader_needs_no_list_of_functions(tool: Any) -> None:
    toc = tool.yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    names = list(tool.chosen(toc))
    assert "book/gaussian-processes/function-view" in names
    assert "book/references" in names
    assert not [name for name in names if name.startswith("book/api/")]
    assert not {"book/changes", "book/ledger"} & set(names)
