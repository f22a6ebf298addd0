"""The first page and the list of pages: doors, cards, the map, and where one is."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
FRONT = "book/index.html"
DOORS = ["Read", "Use the package", "Check your own equations"]


@pytest.fixture
def front(extension: Any) -> Any:
    return extension("front")


NEEDS = {"a": (), "b": ("a",), "c": ("a", "b"), "d": ("c", "a", "elsewhere"), "e": ()}


def test_needs_are_the_links_of_the_first_sentence(front: Any) -> None:
    """However a line is broken in the text."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    paragraph = nodes.paragraph()
    paragraph += [nodes.Text(""), nodes.strong("", front.NEEDS + ":"), nodes.Text(" the basics (")]
    paragraph += [pending_xref("", nodes.Text("a"), reftype="doc", reftarget="a")]
    paragraph += [nodes.Text("), and matrices."), nodes.Text("\n")]
    paragraph += [pending_xref("", nodes.Text("More"), reftype="ref", reftarget="ch-b")]
    paragraph += [nodes.Text(" helps.")]
    assert list(front._links(paragraph)) == [("doc", "a")]


def test_what_follows_from_another_need_is_not_drawn(front: Any) -> None:
    assert {name: front.reduced(name, NEEDS) for name in NEEDS} == {
        "a": (), "b": ("a",), "c": ("b",), "d": ("c",), "e": ()
    }  # fmt: skip


def test_the_map_has_a_box_for_each_chapter_and_a_line_for_each_need(front: Any) -> None:
    every = [front.Chapter(name, "1", name, name, NEEDS[name]) for name in NEEDS]
    chart = front.chart(every, lambda name: f"{name}.html")
    assert re.findall(r'<a href="(\w)\.html">', chart) == list(NEEDS)
    assert chart.count("<path ") == 3
    assert "<li>d after c</li>" in chart
    assert "<li>e</li>" in chart
    places = re.findall(r'<rect x="(\d+)" y="(\d+)"', chart)
    assert len(set(places)) == len(NEEDS)


def test_no_box_of_the_map_covers_another(front: Any) -> None:
    above = {"r": (), "s": (), **{f"c{i}": ("r", "s") for i in range(5)}, "t": ("c1",)}
    at = front._places(above)
    columns: dict[int, list[float]] = {}
    for x, y in at.values():
        columns.setdefault(x, []).append(y)
    for ys in map(sorted, columns.values()):
        assert all(after - before >= front.HIGH for before, after in pairwise(ys))


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Kernels: what is said?", "What is said?"),
        ("Where does it settle?", "Where does it settle?"),
    ],
)
def test_the_question_of_a_chapter_is_what_its_title_asks(
    front: Any, title: str, question: str
) -> None:
    assert front.Chapter("k", "3", "Kernels", title, ()).question == question


def chapters() -> list[tuple[str, str]]:
    """Every numbered page of the book with its short title."""
    toc: Any = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    numbered = (part["chapters"] for part in toc["parts"] if part.get("numbered"))
    return [
        (one["file"].removeprefix("book/"), one.get("title", ""))
        for part in numbered
        for one in part
    ]


def test_every_chapter_has_a_short_title_for_the_list() -> None:
    assert len(chapters()) > 20
    assert [name for name, title in chapters() if not 4 < len(title) <= 25] == []


def test_every_chapter_has_a_card_with_its_question(trees: Any) -> None:
    cards = {card.attributes["href"]: card for card in trees[FRONT].css("ul.book-cards a")}
    assert list(cards) == [f"{name}.html" for name, _ in chapters()]
    for name, title in chapters():
        card = cards[f"{name}.html"]
        assert title in card.css_first("b").text()
        assert card.css_first("img").attributes["alt"]


def test_a_card_shows_a_panel_of_the_picture_of_the_box_in_brief(trees: Any) -> None:
    for name, _ in chapters():
        text = (ROOT / "book" / f"{name}.md").read_text("utf-8")
        if picture := re.search(r"^:picture: (\S+)$", text, re.MULTILINE):
            (shown,) = trees[FRONT].css(f"ul.book-cards a[href='{name}.html'] img")
            assert shown.attributes["src"].endswith(f"/small/{picture[1]}-1.webp")


def test_the_map_leads_to_every_chapter_that_says_what_it_needs(trees: Any) -> None:
    texts = {name: (ROOT / "book" / f"{name}.md").read_text("utf-8") for name, _ in chapters()}
    wanted = [f"{name}.html" for name, text in texts.items() if "**What you need:**" in text]
    leads = trees[FRONT].css(".book-map a")
    assert [link.attributes["href"] for link in leads] == wanted
    assert len(trees[FRONT].css(".book-map path")) > 15


def test_the_doors_lead_somewhere(trees: Any, book_html: Path) -> None:
    cards = trees[FRONT].css(".book-doors .sd-card")
    assert [card.css_first(".sd-card-title").text().strip() for card in cards] == DOORS
    for card in cards:
        leads = card.css_first("a.sd-stretched-link").attributes["href"]
        assert (book_html / "book" / leads).is_file()


SEEN = """() => {
    const boxes = [...document.querySelectorAll(".eqn-equation .math-set")].map(
        formula => formula.getBoundingClientRect());
    const box = boxes.find(({ height }) => height > 0);
    return box ? box.top > 0 && box.bottom < innerHeight : null;
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_live_equation_is_above_the_fold(visit: Any, width: int, height: int) -> None:
    page = visit(FRONT, width=width).page
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(f"() => ({SEEN})() !== null")
    assert page.evaluate(SEEN)


OPEN = """() => {
    const all = document.querySelectorAll(".bd-sidebar-primary nav .active > a");
    const box = all[all.length - 1].getBoundingClientRect();
    const scrolled = document.querySelector(".bd-sidebar-primary").scrollTop;
    return [box.top > 0 && box.bottom < innerHeight, scrolled];
}"""
INSIGHT = f"() => ({OPEN})()[0]"


@pytest.mark.browser
@pytest.mark.parametrize(
    "names",
    [["api/around", "cite"], ["games/equilibria", "gaussian-processes/kernels", "cite"]],
    ids=len,
)
def test_the_list_of_pages_shows_the_page_that_is_open(
    visit: Any, book_html: Path, names: list[str]
) -> None:
    """Wherever it was scrolled to on the page before."""
    page = visit(FRONT).page
    for name in names:
        page.goto((book_html / "book" / f"{name}.html").as_uri())
        page.wait_for_function(INSIGHT)


@pytest.mark.browser
def test_the_list_of_pages_shows_it_on_a_phone_too(visit: Any) -> None:
    page = visit("book/games/equilibria.html", width=390).page
    page.set_viewport_size({"width": 390, "height": 664})
    page.click("button.primary-toggle")
    page.wait_for_function(INSIGHT)
