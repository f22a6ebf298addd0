"""The gallery: figures by task with the calls behind them, and every figure of the book once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
GALLERY = "book/api/gallery.html"
MEGABYTE = 1_000_000


@pytest.fixture
def calls(extension: Any) -> Any:
    """A function that says which calls stand behind the last of some cells."""
    before = extension("figure_calls").calls_before
    return lambda *cells: [(one.text, one.target) for one in before(list(cells))]


IMPORTS = """import numpy as np
import gpnotes as gp
from gpnotes import GP, RBF, fit, plot
from gpnotes.infer import sparse
"""


def test_what_the_drawing_uses_is_followed_to_the_call(calls: Any) -> None:
    cells = [
        IMPORTS,
        "found = fit(GP(RBF(), 0.1), X, y)",
        "mean = found.posterior.mean(X)",
        "other = gp.condition(GP(RBF(), 0.2), X, y)",
        "plot.line(ax, X[:, 0], mean)",
    ]
    assert calls(*cells) == [("fit(GP(RBF(), 0.1), X, y)", "gpnotes.infer.fitting.fit")]


def test_the_nearest_comes_first_and_a_long_call_is_shown_by_its_name(calls: Any) -> None:
    long = "q = sparse.greedy_points(GP(RBF(1.0, 2.0), 0.1).kernel, X, 14, jitter=0.0, power=0.25)"
    cells = [IMPORTS, "model = fit(start, X, y).model", long + "\nuse(model)", "ax.plot(q, model)"]
    assert [text for text, _ in calls(*cells)] == ["sparse.greedy_points(…)", "fit(start, X, y)"]


def test_a_figure_of_the_data_shows_where_they_come_from(calls: Any) -> None:
    cells = [IMPORTS, "t = gp.dataset('engel')", "%matplotlib inline", "plot.points(ax, t, t)"]
    assert calls(*cells) == [("gp.dataset('engel')", "gpnotes.datasets.dataset")]


def test_a_call_inside_a_function_of_the_page_counts(calls: Any) -> None:
    cells = [IMPORTS, "def post(y):\n    return gp.condition(model, X, y)", "ax.plot(post(y))"]
    assert calls(*cells) == [("gp.condition(model, X, y)", "gpnotes.infer.verbs.condition")]


def test_a_caption_is_cut_after_its_first_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import gallery
    from docutils import nodes

    caption = nodes.caption()
    caption += [nodes.strong("", "a"), nodes.Text(" The mean "), nodes.math("", "x < 1")]
    caption += [nodes.Text(" of 0.5 & more. Another sentence.")]
    formula = gallery.FORMULA.format("x &lt; 1")
    assert gallery.first_sentence(caption) == f"The mean {formula} of 0.5 &amp; more"
    panels = nodes.caption()
    panels += [nodes.strong("", "a"), nodes.Text(" before any of the data; ")]
    panels += [nodes.strong("", "b"), nodes.Text(" after them")]
    assert gallery.first_sentence(panels) == "before any of the data"
    assert gallery.first_sentence(panels, 2) == "after them"
    shared = nodes.caption("", "", nodes.Text("Two rules. "), nodes.strong("", "a"))
    shared += [nodes.Text(" The mean. "), nodes.strong("", "b"), nodes.Text(", ")]
    shared += [nodes.strong("", "c"), nodes.Text(" Two draws (dots). More.")]
    for panel, told in ((1, "The mean"), (2, "Two draws (dots)"), (3, "Two draws (dots)")):
        assert gallery.first_sentence(shared, panel) == f"Two rules.  {told}"
    titled = nodes.caption()
    titled += [nodes.Text("The answer. What was found on the lake. And more.")]
    assert gallery.first_sentence(titled) == "The answer. What was found on the lake"
    bracketed = nodes.caption()
    bracketed += [nodes.Text("What a value at zero ("), nodes.strong("", "a")]
    bracketed += [
        nodes.Text(") and a slope ("),
        nodes.strong("", "b"),
        nodes.Text(") do. And more."),
    ]
    assert gallery.first_sentence(bracketed) == "What a value at zero and a slope do"


def test_a_caption_that_refers_to_another_figure_has_its_number(trees: Any) -> None:
    said = [one.text() for one in trees[GALLERY].css(".book-gallery li > a > span")]
    assert any(re.search(r"the five observations of Fig\. 2\.\d", one) for one in said)
    assert not [one for one in said if re.search(r"\b(fig|eq|sec|tab)-\w\w-", one)]


@pytest.fixture(scope="module")
def figures(trees: Any) -> list[str]:
    """The anchors of all figures of the book."""
    return [tag.id for tree in trees.values() for tag in tree.css("article figure[id]")]


def test_every_figure_stands_in_the_gallery_once(trees: Any, figures: list[str]) -> None:
    links = trees[GALLERY].css("ul.book-gallery > li > a:first-child")
    shown = [link.attributes["href"].partition("#")[2] for link in links]
    assert figures
    assert sorted(shown) == sorted(figures)
    assert all(link.css_first("img") and len(link.css_first("span").text()) > 15 for link in links)


def test_the_figures_of_the_tasks_come_first_and_the_others_are_folded(trees: Any) -> None:
    lists = trees[GALLERY].css("ul.book-gallery")
    folded = ["book-more" in (one.parent.attributes.get("class") or "") for one in lists]
    assert 10 <= folded.index(True) <= 20
    assert all(folded[folded.index(True) :])
    assert sum(len(one.css("li")) for one in lists[: folded.index(True)]) < 60


def test_nearly_all_tasks_have_a_call_to_copy_that_is_described(trees: Any) -> None:
    cards = trees[GALLERY].css("ul.book-tasks > li")
    shown = [card for card in cards if card.css("div > div.highlight > pre")]
    assert len(shown) > 0.9 * len(cards)
    assert sum(bool(card.css("a.book-call")) for card in shown) > 0.9 * len(shown)
    lines = [line for card in shown for line in card.css_first("pre").text().splitlines()]
    assert len(lines) == len(set(lines))
    for line in lines:
        compile(line, "a call of the gallery", "eval")


PAGES = {
    "sums": "# Sums\n\n"
    + "".join(
        f"```{{figure}} {name}.svg\n:name: fig-{name}\n:alt: a line\n\nIt shows {name}.\n```\n\n"
        for name in ("one", "two")
    ),
    "shown": "---\ngallery: true\n---\n\n# Gallery\n\n## Add\n\n```{gallery}\nfig-two\n```\n\n"
    "## Others\n\n```{gallery}\n```\n",
}
LINE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0L9 9"/></svg>'


@pytest.fixture
def built(tiny_book: Any, tmp_path: Path) -> Any:
    """A function that builds a book of two figures and a gallery that names one of them."""

    def build(named: str) -> Any:
        for name in ("one", "two"):
            (tmp_path / f"{name}.svg").write_text(LINE, "utf-8")
        pages = PAGES | {"shown": PAGES["shown"].replace("fig-two", named)}
        return tiny_book(tmp_path, pages, extensions=("gallery", "take_away"))

    return build


def test_a_figure_that_a_task_names_is_not_among_the_others(built: Any) -> None:
    done = built("fig-two")
    assert done.code == 0, done.warned
    tasks, others = (done.html / "shown.html").read_text("utf-8").split("<details")
    assert 'href="sums.html#fig-two"' in tasks.split("book-tasks")[1]
    assert 'href="sums.html#fig-one"' in others
    assert "sums.html#fig-two" not in others


def test_a_figure_that_no_page_has_is_an_error(built: Any) -> None:
    done = built("fig-three/2")
    assert done.code != 0
    assert "the gallery names fig-three, which is no figure" in done.warned


def test_a_picture_is_cut_into_its_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two above one, each with a name beside its axis, which is too narrow for a panel."""
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    from panels import panels
    from PIL import Image, ImageDraw

    sheet = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(sheet)
    for name, left, right in ((10, 20, 130), (140, 160, 390)):  # one nearer to the panel before
        draw.rectangle((name, 40, name + 5, 80), fill="black")
        draw.rectangle((left, 10, right, 140), outline="black")
    draw.rectangle((20, 160, 390, 290), outline="black")
    assert panels(sheet) == [(10, 10, 131, 141), (140, 10, 391, 141), (20, 160, 391, 291)]
    assert panels(Image.new("RGB", (400, 300), "black")) == [(0, 0, 400, 300)]


def test_the_gallery_with_all_its_pictures_weighs_less_than_a_megabyte(
    book_html: Path, trees: Any
) -> None:
    here = (book_html / GALLERY).parent
    images = trees[GALLERY].css(".book-gallery img")
    pictures = {here / image.attributes["src"] for image in images}
    weights = [path.stat().st_size for path in (book_html / GALLERY, *pictures)]
    assert len(weights) > 10
    assert sum(weights) < MEGABYTE


def test_pictures_of_the_gallery_wait_until_they_are_near(trees: Any) -> None:
    images = [image.attributes for image in trees[GALLERY].css(".book-gallery img")]
    assert {image["loading"] for image in images} == {"lazy"}
    assert all(int(image["width"]) > 100 and int(image["height"]) > 50 for image in images)
