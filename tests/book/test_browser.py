"""The built pages in a real browser, from the file system: what they ask, show and do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = (
    "book/gaussian-processes/weight-view.html",
    "book/gaussian-processes/function-view.html",
)
GENERATED = ("book/ledger.html", "book/sources-line-by-line.html", "book/notation.html")
NARROW = 390


@pytest.fixture(scope="module")
def names(book_html: Path) -> list[str]:
    """All pages of the book, but for the listings of source code."""
    paths = (path.relative_to(book_html) for path in book_html.rglob("*.html"))
    kept = (path for path in paths if path.parts[0] not in ("_static", "_modules"))
    return sorted(path.as_posix() for path in kept if path.as_posix() != "index.html")


@dataclass(frozen=True)
class Seen:
    """What there was to see on a page."""

    foreign: list[str]
    failed: list[str]
    complaints: list[str]
    mathematics: dict[str, Any]
    barriers: list[str]


MATHEMATICS = """() => ({
    wanted: document.querySelectorAll('.math:not(.gpn-later)').length,
    set: document.querySelectorAll('.math > mjx-container').length,
    errors: [...document.querySelectorAll('mjx-merror')].map(e => e.textContent),
})"""


def look(visit: Any, name: str, scheme: str) -> Seen:
    """Open a page, keep a picture of its first screens, note what can be noted, close it."""
    seen = visit(name, scheme=scheme)
    picture(seen.page, name, scheme, 1280)
    mathematics = seen.page.evaluate(MATHEMATICS)
    said = (list(seen.foreign), list(seen.failed), list(seen.complaints))
    noted = Seen(*said, mathematics, barriers(seen.page))
    seen.page.context.close()
    return noted


def picture(page: Any, name: str, scheme: str, width: int) -> None:
    folder = ROOT / "_build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{name.removesuffix('.html').replace('/', '-')}-{scheme}-{width}.png"
    clip = {"x": 0, "y": 0, "width": width, "height": 3000}
    page.screenshot(path=folder / file, clip=clip, full_page=True)


def barriers(page: Any) -> list[str]:
    """What axe finds serious. Typeset mathematics, most of a page, is MathJax's: it is put away."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('mjx-container').forEach(e => e.replaceWith('x'))")
    # Rules about styles would fetch them, which a browser refuses on file://.
    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [
        f"{one['id']} ({len(one['nodes'])}): {one['nodes'][0]['html'][:160]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.fixture(scope="module")
def wide(names: list[str], visit: Any) -> dict[str, Seen]:
    """Every page at a desktop's width."""
    return {name: look(visit, name, "light") for name in names}


@pytest.fixture(scope="module")
def dark(visit: Any) -> dict[str, Seen]:
    """The kinds of pages there are, in the dark."""
    names = ("book/index.html", CHAPTERS[1], *GENERATED)
    return {name: look(visit, name, "dark") for name in names}


def test_no_page_asks_another_host(wide: dict[str, Seen], dark: dict[str, Seen]) -> None:
    asked = {name: seen.foreign for name, seen in {**wide, **dark}.items() if seen.foreign}
    assert asked == {}


def test_nothing_that_a_page_asks_for_is_missing(wide: dict[str, Seen]) -> None:
    assert {name: seen.failed for name, seen in wide.items() if seen.failed} == {}


def test_no_page_complains(wide: dict[str, Seen], dark: dict[str, Seen]) -> None:
    for looks in (wide, dark):
        assert {name: seen.complaints for name, seen in looks.items() if seen.complaints} == {}


def test_mathematics_is_rendered(wide: dict[str, Seen]) -> None:
    found = {name: seen.mathematics for name, seen in wide.items()}
    assert {name: one["errors"] for name, one in found.items() if one["errors"]} == {}
    assert all(one["set"] >= one["wanted"] for one in found.values())
    assert sum(one["set"] for one in found.values()) > 200


@pytest.mark.parametrize("name", CHAPTERS)
def test_badges_open_to_their_steps(visit: Any, name: str) -> None:
    page = visit(name).page
    badges = page.locator("details.gpn-identity")
    assert badges.count() >= 20
    badge = badges.nth(3)
    badge.scroll_into_view_if_needed()
    assert not badge.locator(".gpn-panel").is_visible()
    badge.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert badge.locator(".gpn-panel").is_visible()
    assert badge.locator("table.gpn-steps tbody tr").count() >= 1
    badge.locator("mjx-container").first.wait_for()
    more = badge.locator("details.gpn-more")
    more.locator("summary").click()
    more.locator("mjx-container").first.wait_for()
    assert more.locator("tbody tr").count() >= 2
    badge.locator(".gpn-foot a").click()
    page.locator("tr:target").wait_for()
    assert page.url.split("#")[1].startswith("row-eq-")


def numbers(page: Any) -> list[str]:
    return page.locator("table.gpn-rows tbody tr:visible td:first-child").all_inner_texts()


def test_ledger_searches(visit: Any) -> None:
    page = visit("book/ledger.html").page
    everything = numbers(page)
    field = page.get_by_label("Search the equations")
    field.fill("evidence function")
    found = numbers(page)
    assert 0 < len(found) < len(everything)
    assert page.locator(".gpn-count").inner_text() == (
        f"{len(found)} of {len(everything)} equations"
    )
    texts = page.locator("table.gpn-rows tbody tr:visible").all_inner_texts()
    assert all("evidence" in text and "function" in text for text in texts)
    field.fill("no such thing")
    assert numbers(page) == []
    field.fill("")
    assert numbers(page) == everything


def test_ledger_sorts_by_keyboard(visit: Any) -> None:
    page = visit("book/ledger.html").page
    before = numbers(page)
    header = page.locator("th", has_text="worst residual")
    header.locator("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    script = "rows => rows.map(r => r.cells[6].dataset.key ?? null)"
    keys = page.locator("table.gpn-rows tbody tr").evaluate_all(script)
    measured = [float(key) for key in keys if key is not None]
    assert measured == sorted(measured)
    assert keys[: len(measured)].count(None) == 0  # what was not measured stands last
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    keys = page.locator("table.gpn-rows tbody tr").evaluate_all(script)
    measured = [float(key) for key in keys if key is not None]
    assert measured == sorted(measured, reverse=True)
    page.locator("th", has_text="No.").locator("button").click()
    assert numbers(page) == before
    assert header.get_attribute("aria-sort") == "none"


def test_book_search_finds(visit: Any) -> None:
    page = visit("search.html?q=evidence").page
    page.locator("#search-results li a").first.wait_for()
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("view" in title for title in found)


# Every badge, and every tenth of the lists of mutants inside: all of them are twenty thousand
# formulas, minutes of work, and test_whole.py holds each of them to be whole.
OPEN = """() => {
    document.querySelectorAll('details:not(.gpn-more)').forEach(d => { d.open = true; });
    document.querySelectorAll('details.gpn-more').forEach((d, i) => { d.open = i % 10 == 0; });
}"""
SET = """() => [...document.querySelectorAll('.gpn-later')].every(
        e => e.closest('details:not([open])'))
    && [...document.querySelectorAll('.gpn-set')].every(e => e.querySelector('mjx-container'))"""
UNFOLDED = """() => {
    const width = document.documentElement.clientWidth;
    const free = e => !e.parentElement.closest('.gpn-scroll');
    const boxes = [...document.querySelectorAll('.gpn-badge, .gpn-badge *')].filter(
        e => free(e) && e.getBoundingClientRect().right > width + 1);
    return {
        set: document.querySelectorAll('.gpn-set').length,
        errors: [...document.querySelectorAll('mjx-merror')].map(
            e => e.closest('.gpn-badge')?.dataset.label + ': ' + e.dataset.mjxError),
        excess: document.documentElement.scrollWidth - width,
        beyond: boxes.map(e => e.closest('.gpn-badge').dataset.label + ': ' + e.className),
    };
}"""


@pytest.fixture(scope="module")
def unfolded(names: list[str], visit: Any) -> dict[str, dict[str, Any]]:
    """Every page on a phone, with badges and some of their lists open and their formulas set."""
    found = {}
    for name in names:
        page = visit(name, width=NARROW).page
        picture(page, name, "light", NARROW)
        page.evaluate(OPEN)
        page.wait_for_function(SET, timeout=180_000)
        found[name] = page.evaluate(UNFOLDED)
        page.context.close()
    return found


def test_opened_badges_hold_no_error(unfolded: dict[str, dict[str, Any]]) -> None:
    """The steps, the mutants' names, and how they then read: MathJax can set them all."""
    assert {name: one["errors"] for name, one in unfolded.items() if one["errors"]} == {}
    assert sum(one["set"] for one in unfolded.values()) > 2000


def test_no_page_is_wider_than_a_phone(unfolded: dict[str, dict[str, Any]]) -> None:
    """Not with all badges open either: what is too wide there scrolls in a box of its own."""
    wider = {name: one["excess"] for name, one in unfolded.items() if one["excess"] > 0}
    assert wider == {}
    assert {name: one["beyond"] for name, one in unfolded.items() if one["beyond"]} == {}


def test_pages_are_accessible(wide: dict[str, Seen], dark: dict[str, Seen]) -> None:
    for looks in (wide, dark):
        assert {name: seen.barriers for name, seen in looks.items() if seen.barriers} == {}
