"""A chapter in ten lines: its own equation and figure, on the page and in the leaflet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from claim_words import BOOK, chapters

pytestmark = pytest.mark.book

TEXT = """\
# Sums: what is more than its parts?

```{in-brief}
:equation: eq-sum
:picture: fig-sum
**The problem.** Two parts, of which {doc}`the other page <index>` knows nothing.

**Remember.** They are added.
```

```{math}
:label: eq-sum
a = b + c
```

```{figure} one.svg
:name: fig-sum
:alt: a line

A sum.
```
"""
LINE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0L9 9"/></svg>'
WITH = ("gallery", "front", "in_brief", "take_away")
QUIET = "# Leaves\n\n```{leaflet}\n```\n"


@pytest.fixture
def built(tiny_book: Any, tmp_path: Path) -> Any:
    """A function that builds a book of a chapter, as it is changed, and the leaflet."""

    def build(before: str = "", after: str = "") -> Any:
        (tmp_path / "one.svg").write_text(LINE, "utf-8")
        text = TEXT.replace(before, after)
        return tiny_book(tmp_path, {"sums": text, "leaves": QUIET}, extensions=WITH)

    return build


def test_box_and_leaf_show_the_equation_of_the_chapter(built: Any) -> None:
    done = built()
    assert done.code == 0, done.warned
    box, leaf = (_box(done.html / name) for name in ("sums.html", "leaves.html"))
    assert "a = b + c" in box
    assert 'href="#equation-eq-sum"' in box
    assert 'href="#fig-sum"' in box
    assert 'href="sums.html#equation-eq-sum"' in leaf
    assert "a = b + c" in leaf
    assert "the other page" in leaf
    assert "1 Sums" in re.sub(r"<[^>]+>", "", (done.html / "leaves.html").read_text("utf-8"))


def _box(page: Path) -> str:
    text = page.read_text("utf-8")
    assert text.count('class="in-brief docutils') == 1
    return text.split('class="in-brief docutils')[1].split("</main>")[0]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (":equation: eq-sum", ":equation: eq-none", "names eq-none, which the page has not"),
        (":picture: fig-sum", ":picture: fig-none", "names fig-none, which the page has not"),
        (":picture: fig-sum\n", "", "must name its picture"),
    ],
)
def test_a_box_that_shows_nothing_fails(built: Any, before: str, after: str, said: str) -> None:
    done = built(before, after)
    assert done.code != 0
    assert said in done.warned


BOXES = re.compile(r"^`{3,}\{in-brief\}\n((?::\w+: \S+\n)+)(.*?)^`{3,}$", re.M | re.S)
MOST = 135  # words: ten lines


@pytest.mark.parametrize("slug", chapters())
def test_every_chapter_has_one_of_a_few_words(slug: str) -> None:
    found = BOXES.findall((BOOK / f"{slug}.md").read_text("utf-8"))
    assert len(found) == 1
    assert len(found[0][1].split()) <= MOST
    heads = re.findall(r"^\*\*(.*?)\*\*", found[0][1], re.M)
    assert heads == ["The problem.", "The idea.", "Remember."]


@pytest.mark.parametrize("slug", chapters())
def test_every_chapter_has_a_figure_to_operate(slug: str) -> None:
    """As the front page says; it stands where a figure of the chapter is."""
    text = (BOOK / f"{slug}.md").read_text("utf-8")
    operated = re.findall(r'<div data-gp-playground="([\w-]+)"', text)
    assert operated
    assert all(f"    name: {name}\n" in text for name in operated)


def test_the_leaflet_has_a_leaf_for_each(trees: Any) -> None:
    links = [one.attributes["href"] for one in trees["book/leaflet.html"].css(".leaflet > p > a")]
    assert sorted(links) == sorted(f"{slug}.html" for slug in chapters())


def test_a_list_leads_to_each_leaf_and_opens_no_slides(built: Any) -> None:
    page = (built().html / "leaves.html").read_text("utf-8")
    (shown,) = re.findall(r'<ul class="leaflet-list[^"]*">.*?</ul>', page, re.DOTALL)
    links = re.findall(r'href="#([^"]*)"', shown)
    assert links
    assert all(f'<p id="{link}">' in page for link in links)
    assert not [link for link in links if link.startswith("slides-")]


@pytest.mark.parametrize("slug", chapters())
def test_a_button_of_the_chapter_leads_to_its_leaf(trees: Any, slug: str) -> None:
    (button,) = trees[f"book/{slug}.html"].css("a.btn-slides-button")
    address, _, leaf = button.attributes["href"].partition("#")
    assert address == "../leaflet.html"
    link = trees["book/leaflet.html"].css_first(f"#{leaf} > p > a")
    assert link.attributes["href"] == f"{slug}.html"


def test_each_leaf_knows_the_file_of_its_picture(trees: Any, book_html: Path) -> None:
    """A slide would else enlarge a picture of 264 pixels; figures that a page draws have none."""
    pictures = trees["book/leaflet.html"].css("a.in-brief-picture")
    files = [one.attributes["data-whole"] for one in pictures if "data-whole" in one.attributes]
    assert len(files) > len(pictures) / 2
    assert all((book_html / "book" / file).is_file() for file in files)


@pytest.mark.browser
def test_keys_step_through_the_slides_that_the_address_names(visit: Any) -> None:
    page = visit("book/leaflet.html?#slides-kernels").page
    shown = page.locator("dialog.slides section:visible")

    def after(key: str) -> str:
        page.keyboard.press(key)
        assert shown.count() == 1
        return shown.inner_text()

    assert "Kernels" in shown.inner_text()
    heads = ["The problem", "The idea", "Remember", "Remember"]
    for head in heads:
        assert after("ArrowRight").startswith(head)
    assert after("PageUp").startswith("The idea")
    assert shown.locator(".in-brief-equation math").count() == 1
    assert "Kernels" in after("Home")
    page.keyboard.press("Escape")
    assert page.locator("dialog.slides").count() == 0
    page.locator("#slides-laplace .slides-open").click()
    assert "Laplace" in shown.inner_text()
    page.get_by_role("button", name="Next slide").click()
    assert shown.inner_text().startswith("The problem")


@pytest.mark.browser
def test_slides_print_a_sheet_each(visit: Any) -> None:
    page = visit("book/leaflet.html?#slides-kernels").page
    page.emulate_media(media="print")
    assert page.locator("dialog.slides section:visible").count() == 4
    assert not page.locator(".bd-main").is_visible()
    page.emulate_media(media="screen")
