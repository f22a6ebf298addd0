"""How heights are measured, on a page of known ones; test_browser.py asks it of each chapter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import heights as tool  # noqa: E402

WIDE = tool.WIDTH


PAGE = """<style>* { margin: 0; padding: 0; border: 0 } p, div, h1 { overflow: hidden }</style>
<article><h1 style="height: 100px">A title</h1>
<p style="height: 300px">Words.</p>
<div class="cell" style="height: 400px" id="fig-a">
<svg style="height: 400px; display: block"></svg></div>
<div class="eqn-equation" style="height: 200px"><div class="math">a</div>
<details class="eqn-badge"><summary style="display: none">checked</summary>
<div class="cell tag_evidence" style="height: 999px">chapter.check("eq-a")</div></details></div>
<div class="cell" style="height: 240px"><div class="cell_input">def more_numbers(draw):</div></div>
<div class="cell" style="height: 160px"><div class="cell_input">print(1)</div></div>
<p style="height: 600px">Words.</p></article>"""


@pytest.fixture
def known(browser: Any) -> Any:
    page = browser.new_page(viewport={"width": WIDE, "height": tool.SCREEN})
    page.set_content(PAGE)
    yield page
    page.close()


def test_heights_are_told_apart(known: Any) -> None:
    seen = tool.measured(known, "fig-a")
    pixels = {name: round(2000 * share) for name, share in seen.shares.items()}
    assert pixels == {
        "prose": 1000, "figures": 400, "equations": 200, "machinery": 240, "code": 160,
    }  # fmt: skip
    assert seen.values == {
        "screens": 2.5, "machinery": 0.3, "prose": 50.0, "first figure": 1, "answer": 1,
        "without figure": 1.5,
    }  # fmt: skip
    assert seen.gaps[0] == (1.5, "A title", "A title")
    assert seen.machinery == ((240, "def more_numbers(draw):"),)


def test_the_chapters_are_so_long_on_average(browser: Any, book_html: Path) -> None:
    page = browser.new_page(viewport={"width": WIDE, "height": tool.SCREEN})
    screens = {}
    for slug, row in tool.table().items():
        page.goto((book_html / "book" / f"{slug}.html").as_uri())
        page.evaluate("MathJax.startup.promise")
        screens[slug] = tool.measured(page, row["answer"]).values["screens"]
    page.close()
    assert sum(screens.values()) / len(screens) <= tool.MEAN, screens


def test_what_is_missed_is_named(known: Any) -> None:
    seen = tool.measured(known, "fig-b")
    assert seen.over(tool.BOUNDS) == {"machinery": 0.3, "answer": float("inf")}
    assert seen.over({"prose": 51.0, "machinery": 0.3}) == {"prose": 50.0}
    first, second = tool.said("part/one", seen, tool.BOUNDS)
    assert "screens 2.5, machinery 0.3*, prose 50, first figure 1, answer inf*" in first
    assert second.startswith("    prose 50%, figures 20%")
