"""The evidence of a page in the badges of its equations, in a tiny book and in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.book

LECTURE = Path(__file__).with_name("pages") / "lecture.md"
ITEMS = "id\tsource\tchapter\titem\nS1-01\tnotes\tlecture\ta sum\n"
SOURCES = "# Sources\n\n```{source-items} S1\n```\n"
SETS = {"equations_help": "told#here", "sources_items": "sources/items.tsv"}
HELP = f"""
def setup(app):
    app.connect("config-inited", lambda app, config: vars(config).update({SETS}))
    return {{"parallel_read_safe": True, "parallel_write_safe": True}}
"""
SOURCE = 'chapter.source("S1-01", "holds", label="eq-one")'
BREAKS = {SOURCE: "1", "lecture": "broken", "eq-": "eq-b-", "1 + 1 == 2": "1 + 1 == 3"}


@pytest.fixture(scope="module")
def tiny(tiny_book: Any, chapter_text: Any, once: Any) -> Any:
    """A book with a lecture, a chapter without a tag, and one whose evidence fails."""
    return once("folded", lambda folder: folded(folder, tiny_book, chapter_text))


def folded(folder: Path, tiny_book: Any, chapter_text: Any) -> Any:
    (folder / "sources").mkdir()
    (folder / "sources" / "items.tsv").write_text(ITEMS, encoding="utf-8")
    (folder / "equations.toml").touch()
    (folder / "helps.py").write_text(HELP, encoding="utf-8")
    lecture = broken = LECTURE.read_text("utf-8")
    for old, new in BREAKS.items():
        assert old in lecture
        broken = broken.replace(old, new)
    nowhere = "chapter.ledger()\n```\n\n```{evidence} eq-nowhere\nWhy."
    pages = {
        "lecture": lecture,
        "plain": chapter_text("plain"),
        "broken": broken,
        "unknown": chapter_text("unknown", last=nowhere),
        "sources": SOURCES,
    }
    return tiny_book(folder, pages, extensions=("helps", "sources"))


def soup(tiny: Any, name: str) -> Any:
    from bs4 import BeautifulSoup

    return BeautifulSoup((tiny.html / f"{name}.html").read_text("utf-8"), "html.parser")


def pieces(place: Any) -> list[str]:
    """The evidence in a fold: the first word of a paragraph, the last line of a cell."""
    found = place.select(".cell, .eqn-evidence")
    return [last_line(piece) for piece in found]


def last_line(piece: Any) -> str:
    return piece.get_text().strip().splitlines()[-1].strip()


def badge(page: Any, label: str) -> Any:
    return page.find("details", {"data-label": label})


def test_a_lecture_is_left_when_all_is_folded(tiny: Any) -> None:
    page = soup(tiny, "lecture")
    assert "lecture.md" not in tiny.warned
    for fold in page.select("details"):
        fold.extract()
    shown = [last_line(cell) for cell in page.select(".cell")]
    assert shown == ['chapter = Chapter("lecture")', "what a reader runs"]
    assert page.select(".eqn-evidence, .eqn-line") == []


def test_a_page_without_a_badge_asks_for_nothing_that_enlivens_one(tiny: Any) -> None:
    pages = {
        name: (tiny.html / f"{name}.html").read_text("utf-8") for name in ("lecture", "sources")
    }
    for name in ("live.js", "live.css"):
        assert name in pages["lecture"]
        assert name not in pages["sources"]
    assert "evidence.js" in pages["sources"]


def test_evidence_stands_in_the_badge_of_its_equation_in_the_order_of_the_page(tiny: Any) -> None:
    page = soup(tiny, "lecture")
    one = badge(page, "eq-one")
    assert pieces(one) == [
        "The sum is taken by hand.", "return s.a + s.b",
        'chapter.check("eq-one", sums, oracle="by hand")', "S1-01holds · eq-one",
    ]  # fmt: skip
    assert one.find("em").get_text() == "by hand"
    assert [p.get_text() for p in one.select(".eqn-code-title")] == ["The code of this check"]
    assert pieces(badge(page, "eq-two")) == [
        "The order of the two matters.", 'chapter.check("eq-two", differences, oracle="by hand")',
    ]  # fmt: skip


def test_the_badge_is_not_printed_once_more_below_its_cell(tiny: Any) -> None:
    page = soup(tiny, "lecture")
    assert [line.get_text() for line in badge(page, "eq-one").select(".eqn-line")] == [
        "S1-01holds · eq-one"
    ]


def test_one_click_is_enough(tiny: Any) -> None:
    assert badge(soup(tiny, "lecture"), "eq-two").select(".cell details") == []


def test_what_several_checks_use_stands_at_the_end_and_the_badges_name_it(tiny: Any) -> None:
    page = soup(tiny, "lecture")
    workshop = page.select_one("details.eqn-workshop")
    assert pieces(workshop)[:2] == ["return SimpleNamespace(a=a, b=b)", "assert 1 + 1 == 2"]
    assert workshop.find("summary").get_text() == "How the checks of this chapter are built"
    for label in ("eq-one", "eq-two"):
        (name,) = badge(page, label).select(".eqn-borrowed a")
        assert name.get_text() == "problem"
        assert "def problem" in page.find(id=name["href"][1:]).get_text()
    whence = [(a.get_text(), a["href"]) for a in workshop.select(".eqn-whence a")]
    assert whence == [("A lecture", "#a-lecture"), ("Exercises", "#exercises")]
    assert workshop.parent == page.find(id="a-lecture")


def test_the_ledger_closes_in_the_fold_at_the_end(tiny: Any) -> None:
    workshop = soup(tiny, "lecture").select_one("details.eqn-workshop")
    assert [line.name for line in workshop.select(".eqn-line.eqn-ledger")] == ["p"]


def test_a_verdict_leaves_a_mark_that_leads_to_its_row(tiny: Any) -> None:
    (mark,) = soup(tiny, "lecture").select("a.eqn-source-mark")
    assert mark["href"] == "sources.html#item-S1-01"
    assert mark["aria-label"] == "what the source says of this: S1-01, holds"
    assert mark.find_parent("p").get_text() == "The notes have it so. S1-01"


def test_a_badge_leads_to_the_page_that_tells_what_it_is(tiny: Any) -> None:
    (link,) = badge(soup(tiny, "lecture"), "eq-one").select(".eqn-foot a")
    assert (link.get_text(), link["href"]) == ("what is this?", "told.html#here")
    assert "equations_help must name a page of the book; there is no told" in tiny.warned


def test_a_page_without_the_tag_stays_as_it_was(tiny: Any) -> None:
    page = soup(tiny, "plain")
    assert page.select(".eqn-switch, .eqn-workshop, .eqn-code-title, .eqn-source-mark") == []
    assert [e.parent["class"] for e in page.select(".cell .eqn-line")] != []
    assert page.select("details .cell") == []


def test_a_cell_that_fails_is_not_folded(tiny: Any) -> None:
    page = soup(tiny, "broken")
    failed = [cell for cell in page.select(".cell") if "AssertionError" in cell.get_text()]
    assert [cell.find_parent("details") for cell in failed] == [None]


def test_evidence_for_an_equation_that_is_not_there_is_complained_of(tiny: Any) -> None:
    assert tiny.code != 0
    assert (
        "evidence for eq-nowhere, but no equation here with that label has a badge" in tiny.warned
    )


# In a browser

CLOSED = "details:is(.eqn-badge, .eqn-workshop):not([open])"
FOLDS = "details:is(.eqn-badge, .eqn-workshop)"
REFUSES = """Object.defineProperty(window, 'localStorage', {
    get() { throw new DOMException('not here', 'SecurityError'); } });"""


@pytest.fixture
def opened(tiny: Any, browser: Any) -> Iterator[Any]:
    """A function that opens a page of the tiny book in a browser of its own."""
    contexts = []

    def show(name: str, *, script: bool = True, first: str = "") -> Any:
        context = browser.new_context(java_script_enabled=script, reduced_motion="reduce")
        contexts.append(context)
        context.route("http*://**", lambda route: route.abort())
        context.add_init_script(first)
        page = context.new_page()
        path, mark, place = name.partition("#")
        page.goto((tiny.html / path).as_uri() + mark + place)
        return page

    yield show
    for context in contexts:
        context.close()


def closed(page: Any) -> int:
    return page.locator(CLOSED).count()


@pytest.mark.browser
def test_the_switch_opens_all_and_closes_all(opened: Any) -> None:
    page = opened("lecture.html")
    button = page.get_by_role("button", name="Show the evidence")
    assert (closed(page), button.get_attribute("aria-pressed")) == (3, "false")
    button.click()
    assert (closed(page), button.get_attribute("aria-pressed")) == (0, "true")
    assert page.get_by_role("status").inner_text() == "The evidence is shown."
    button.click()
    assert (closed(page), button.get_attribute("aria-pressed")) == (3, "false")
    assert page.get_by_role("status").inner_text() == "The evidence is folded."


@pytest.mark.browser
def test_the_key_does_the_same_but_not_for_who_is_writing(opened: Any) -> None:
    page = opened("lecture.html")
    page.keyboard.press("e")
    assert closed(page) == 0
    for other in ("Control+e", "Alt+e", "Meta+e", "E"):
        page.keyboard.press(other)
    assert closed(page) == 0
    page.evaluate("document.body.append(document.createElement('input'))")
    page.locator("body > input").focus()
    page.keyboard.press("e")
    assert (closed(page), page.locator("body > input").input_value()) == (0, "e")
    page.locator("body > input").blur()
    page.keyboard.press("e")
    assert closed(page) == 3


@pytest.mark.browser
def test_what_is_read_stays_where_it_is(opened: Any) -> None:
    page = opened("lecture.html")
    page.set_viewport_size({"width": 1280, "height": 300})
    page.evaluate("document.getElementById('exercises').scrollIntoView()")
    page.add_style_tag(content="* { overflow-anchor: none }")  # not all browsers do it themselves
    where = "() => Math.round(document.querySelector('#exercises p').getBoundingClientRect().top)"
    before = page.evaluate(where)
    page.keyboard.press("e")
    assert closed(page) == 0
    assert abs(page.evaluate(where) - before) <= 1


@pytest.mark.browser
def test_the_choice_is_remembered(opened: Any) -> None:
    page = opened("lecture.html")
    page.keyboard.press("e")
    page.reload()
    assert closed(page) == 0
    page.keyboard.press("e")
    page.reload()
    assert closed(page) == 3


@pytest.mark.browser
def test_a_browser_may_refuse_to_remember(opened: Any) -> None:
    page = opened("lecture.html", first=REFUSES)
    complaints: list[str] = []  # Sphinx's own script complains
    page.on("pageerror", lambda error: complaints.append(error.stack))
    page.reload()
    page.keyboard.press("e")
    assert closed(page) == 0
    page.reload()
    assert closed(page) == 3
    assert [said for said in complaints if "evidence.js" in said] == []


@pytest.mark.browser
def test_the_evidence_has_an_address(opened: Any) -> None:
    assert closed(opened("lecture.html#evidence")) == 0
    page = opened("lecture.html")
    page.evaluate("location.hash = 'evidence'")
    page.wait_for_function(f"() => !document.querySelector('{CLOSED}')")
    page.goto(page.url.partition("#")[0])
    assert closed(page) == 3  # to follow a link is no choice for other pages


@pytest.mark.browser
def test_an_address_inside_a_fold_opens_it(opened: Any) -> None:
    page = opened("lecture.html#evidence-problem")
    assert page.locator(".eqn-workshop[open]").count() == 1
    assert page.locator("#evidence-problem").is_visible()
    assert closed(page) == 2


@pytest.mark.browser
def test_a_name_in_a_badge_leads_into_the_fold_at_the_end_twice(opened: Any) -> None:
    page = opened("lecture.html")
    badge = page.locator("[data-label=eq-one]")
    badge.locator("> summary").click()
    for _ in range(2):
        badge.locator(".eqn-borrowed a").click()
        page.locator(".eqn-workshop[open] #evidence-problem").wait_for()
        page.evaluate("document.querySelector('.eqn-workshop').open = false")


@pytest.mark.browser
def test_who_leads_a_reader_into_a_fold_can_open_it(opened: Any) -> None:
    page = opened("lecture.html")
    script = "() => window.eqnReveal(document.querySelector('[data-label=eq-two] .cell'))"
    assert page.evaluate(script) is True
    assert page.locator("[data-label=eq-two] .cell").is_visible()
    assert page.evaluate(script) is False


@pytest.mark.browser
def test_without_a_script_folds_open_by_hand(opened: Any) -> None:
    page = opened("lecture.html", script=False)
    assert not page.locator(".eqn-switch").is_visible()
    page.locator("[data-label=eq-one] > summary").click()
    assert page.locator("[data-label=eq-one] .cell").first.is_visible()


@pytest.mark.browser
def test_evidence_is_printed_as_it_is_shown(opened: Any) -> None:
    page = opened("lecture.html")
    page.emulate_media(media="print")
    assert not page.locator(".eqn-switch").is_visible()
    assert page.locator(f"{FOLDS} .cell >> visible=true").count() == 0
    tick = "getComputedStyle(document.querySelector('.eqn-mark'), '::before').printColorAdjust"
    assert page.evaluate(tick) == "exact"
    page.keyboard.press("e")
    assert page.locator(f"{FOLDS} .cell >> visible=true").count() == 7


# In a chapter

WATCH = """() => {
    const set = () => document.querySelector('.eqn-set math')?.closest('.eqn-badge');
    const seen = ({ top, bottom }) => bottom > 0 && top < window.innerHeight ? 'seen' : 'far away';
    const tell = () => { window.first ??= set() && seen(set().getBoundingClientRect()); };
    new MutationObserver(tell).observe(document.body, { childList: true, subtree: true });
    document.querySelectorAll('.eqn-equation')[20].scrollIntoView({ block: 'center' });
}"""


@pytest.mark.browser
def test_what_is_in_sight_is_typeset_first_when_all_is_opened(visit: Any) -> None:
    page = visit("book/gaussian-processes/function-view.html").page
    page.evaluate(WATCH)
    page.keyboard.press("e")
    page.wait_for_function("() => window.first", timeout=60_000)
    assert page.evaluate("window.first") == "seen"
