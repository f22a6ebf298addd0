"""With the Tab key alone: the text is near, each stop can be seen, and none holds one fast."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

MOST = 10  # stops up to the first one in the text
WALKED = 40
KINDS = (
    "book/index.html",
    "book/gaussian-processes/function-view.html",
    "book/decisions/pilco-control.html",
    "book/glossary.html",
    "book/ledger.html",
    "book/sources-line-by-line.html",
    "book/leaflet.html",
    "book/notation.html",
    "book/api/index.html",
    "book/api/inference.html",
    "book/api/modules/gpnotes.infer.exact.html",
    "book/api/gallery.html",
    "book/api/recipes.html",
    "book/api/try-an-equation.html",
    "search.html?q=kernel",
    "genindex.html",
)

# What has the focus: whether it is in the text, in the window, and looks otherwise than without.
STOP = """() => {
    const at = document.activeElement;
    if (!at || at === document.body) return null;
    const part = (e, pseudo) => {
        const { outlineStyle, outlineWidth, boxShadow, backgroundColor, stroke,
            textDecorationLine } = getComputedStyle(e, pseudo);
        const outline = outlineStyle == 'none' ? '' : outlineWidth;
        return [outline, boxShadow, backgroundColor, stroke, textDecorationLine].join();
    };
    const looks = e => [null, '::before', '::after'].map(pseudo => part(e, pseudo)).join();
    const around = [at, at.parentElement, ...at.querySelectorAll('*')].slice(0, 12);
    const focused = around.map(looks);
    const { left, top, right, bottom, width } = at.getBoundingClientRect();
    const inside = width > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    window.stops ??= [];
    const before = window.stops.indexOf(at);
    window.stops.push(at);
    at.blur();
    const blurred = around.map(looks);
    at.focus({ preventScroll: true, focusVisible: true });
    return {
        text: !!at.closest('article, .bd-article, #search-results'),
        seen: inside && focused.some((one, i) => one !== blurred[i]),
        again: before >= 0,
        what: at.outerHTML.slice(0, 90),
    };
}"""


def walk(page: Any, many: int = WALKED) -> list[dict[str, Any]]:
    """The stops from the top of the page on, until there are so many or all are passed."""
    stops = []
    for _ in range(many):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop is None:
            break
        stops.append(stop)
    return stops


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", KINDS)
def test_the_text_is_near_by_the_tab_key_and_no_stop_hides_or_holds(
    visit: Any, name: str, width: int
) -> None:
    page = visit(name, width=width).page
    if name.startswith("search"):
        page.locator("#search-results li a").first.wait_for()
    page.wait_for_function("document.readyState == 'complete'")
    stops = walk(page)
    before = [stop["what"] for stop in stops if not stop["text"]]
    first = next((i for i, stop in enumerate(stops, start=1) if stop["text"]), None)
    assert first is not None, before
    assert first <= MOST, before[:first]
    assert [stop["what"] for stop in stops if not stop["seen"]] == []
    assert [stop["what"] for stop in stops if stop["again"]] == []


PAGE = """<dialog id="pst-primary-sidebar-modal"></dialog>
<div id="pst-primary-sidebar"><nav><div>
<ul class="nav bd-sidenav"><li class="toctree-l1">0</li></ul>
{one}{two}
</div></nav></div>
<main id="main-content" class="bd-main" role="main">the text</main>
<footer></footer>"""
PART = """<p aria-level="2" class="caption" role="heading"><span class="caption-text">{0}</span></p>
<ul class="nav bd-sidenav">
<li class="toctree-l1{1}"><a href="{0}.html">{0}</a></li>
</ul>
"""


@pytest.mark.parametrize(("marked", "open_one"), [(" current active", False), ("", True)])
def test_the_text_comes_first_and_the_part_of_the_page_is_open(
    extension: Any, marked: str, open_one: bool
) -> None:
    tidy = extension("tidy_site")
    page = PAGE.format(one=PART.format("one", ""), two=PART.format("two", marked))
    mended = tidy.parts_folded(tidy.text_first(page))
    assert mended.index("the text") < mended.index('id="pst-primary-sidebar"')
    assert mended.index('id="pst-primary-sidebar"') < mended.index("<footer>")
    opened, folded = '<details class="book-part" open>', '<details class="book-part">'
    first, second = (opened, folded) if open_one else (folded, opened)
    summary = '<summary class="caption">{}</summary>'
    assert first + summary.format("one") in mended
    assert second + summary.format("two") in mended
    assert mended.count("<li") == 3
    assert tidy.parts_folded(tidy.text_first(mended)) == mended
