"""The live equation: made wrong in the page by pointer, touch or keyboard, its badge is red."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import setting, slips_beside

pytestmark = [pytest.mark.book, pytest.mark.browser]

CHAPTER = "book/gaussian-processes/function-view.html"
LABEL = "eq-fv-cov"
FRONT = "book/index.html"


@pytest.fixture
def badge(read: Any) -> Iterator[Any]:
    """An opened badge, with the page that it stands on; afterwards all is closed again."""
    made = []

    def opened(name: str = CHAPTER, label: str = LABEL, **options: Any) -> Any:
        seen = read(name, **options)
        found = seen.page.locator(f"details.eqn-badge[data-label='{label}']")
        found.scroll_into_view_if_needed()
        if not found.evaluate("badge => badge.open"):
            found.locator("> summary").click()
        made.append(found)
        frame(found).locator(".eqn-place").first.wait_for()
        return seen, found

    yield opened
    for found in made:
        found.evaluate("badge => badge.querySelectorAll('details').forEach(d => d.open = false)")
        found.evaluate("badge => { badge.open = false; }")
        frame(found).locator(".eqn-place").first.wait_for(state="detached")


def frame(badge: Any) -> Any:
    return badge.locator("xpath=..")


def places(badge: Any) -> Any:
    return frame(badge).locator(".eqn-place")


def at(badge: Any, edit: str) -> Any:
    """The place at which this edit is the first."""
    return frame(badge).locator(f".eqn-place[title='{edit}']")


def wait_changed(badge: Any) -> None:
    frame(badge).locator("math :is(.eqn-changed, .eqn-gone)").first.wait_for()


def formula(badge: Any) -> str:
    """What a screen reader gets of the equation that is shown."""
    script = """frame => [...frame.querySelectorAll(':scope > div.math > .math-set')]
        .filter(one => one.offsetParent).map(
            one => one.querySelector('math').textContent).join('|')"""
    return frame(badge).evaluate(script)


def test_a_slip_turns_the_badge_red_and_says_how_far_off(badge: Any, book_html: Path) -> None:
    seen, one = badge()
    whole = formula(one)
    flip = next(
        m for m in slips_beside(book_html, CHAPTER)[LABEL][0]["mutants"] if m[5][2:] == ["+"]
    )
    place = at(one, flip[0].replace("$", ""))
    place.click()
    wait_changed(one)
    assert place.get_attribute("aria-pressed") == "true"
    assert "eqn-broken" in one.get_attribute("class")
    assert f"off by {flip[3]}" in one.locator("> summary").inner_text()
    assert float(flip[3]) > 0.1
    told = one.locator(".eqn-now [role=status]").inner_text()
    assert told.startswith("Flip the sign of")
    assert f"off by {flip[3]}" in told
    assert "would have failed" in told
    assert formula(one) == whole.replace("\N{MINUS SIGN}", "+", 1)
    place.click()
    frame(one).locator("math .eqn-changed").wait_for(state="detached")
    assert place.get_attribute("aria-pressed") == "false"
    assert "eqn-broken" not in one.get_attribute("class")
    assert formula(one) == whole
    assert "whole again" in one.locator(".eqn-now [role=status]").inner_text()
    assert (seen.foreign, seen.failed, seen.complaints) == ([], [], [])


def test_it_is_red_by_more_than_its_colour(badge: Any) -> None:
    """The tick becomes a cross, and there are words."""
    _, one = badge()
    shape = "e => getComputedStyle(e.querySelector('.eqn-mark'), '::before').clipPath"
    tick = one.evaluate(shape)
    at(one, "drop the inverse of K_y").click()
    wait_changed(one)
    assert one.evaluate(shape) != tick
    assert "one slip" in one.locator("> summary").inner_text()


def test_the_keyboard_does_it_all(badge: Any) -> None:
    seen, one = badge()
    keys = seen.page.keyboard
    focused = "() => document.activeElement.title"
    one.locator("> summary").focus()
    keys.press("Shift+Tab")
    first = seen.page.evaluate(focused)
    assert first == places(one).first.get_attribute("title")
    keys.press("End")
    assert seen.page.evaluate(focused) == places(one).last.get_attribute("title")
    keys.press("ArrowRight")
    assert seen.page.evaluate(focused) == first
    while "sign" not in seen.page.evaluate(focused):
        keys.press("ArrowRight")
    keys.press("Enter")
    wait_changed(one)
    assert "eqn-broken" in one.get_attribute("class")
    flipped = one.locator(".eqn-now strong").inner_text()
    keys.press("ArrowDown")
    assert one.locator(".eqn-now strong").inner_text() != flipped
    assert one.locator(".eqn-now strong").inner_text().startswith("Drop the term")
    keys.press("Escape")
    frame(one).locator("math .eqn-gone").wait_for(state="detached")
    assert "eqn-broken" not in one.get_attribute("class")
    assert seen.page.evaluate("() => document.activeElement.className") == "eqn-place"
    assert one.evaluate("badge => badge.open")
    keys.press("Escape")
    assert one.evaluate("badge => document.activeElement === badge.querySelector('summary')")
    keys.press("ArrowUp")
    assert seen.page.evaluate("() => document.activeElement.className") == "eqn-place"


def test_every_place_has_a_name_and_a_state(badge: Any) -> None:
    _, one = badge()
    bar = frame(one).locator("[role=toolbar]")
    assert "slip" in bar.get_attribute("aria-label")
    named = places(one).evaluate_all(
        "all => all.map(e => [e.ariaLabel, e.ariaPressed, e.tabIndex])"
    )
    assert len(named) >= 5
    assert all(label and pressed == "false" for label, pressed, _ in named)
    assert sorted(stop for _, _, stop in named) == [-1] * (len(named) - 1) + [0]


def test_a_finger_hits_it_on_a_phone(badge: Any) -> None:
    seen, one = badge(width=390)
    seen.page.emulate_media(color_scheme="dark")
    place = at(one, "drop the inverse of K_y")
    place.scroll_into_view_if_needed()
    place.dispatch_event("click")
    wait_changed(one)
    assert "eqn-broken" in one.get_attribute("class")
    more = one.locator("details.eqn-more").first
    more.locator("summary").click()
    more.locator("math").first.wait_for()
    cut = more.locator("td.eqn-number").evaluate_all(
        "cells => cells.filter(c => c.getBoundingClientRect().right > innerWidth).length"
    )
    assert cut == 0
    excess = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert seen.page.evaluate(excess) <= 0


def test_the_places_lie_over_what_they_change(badge: Any) -> None:
    """Also when the window has become narrower."""
    seen, one = badge()
    script = """frame => [...frame.querySelectorAll('.eqn-place')].map((button, i) => {
        const [a, b] = [button, frame.querySelector(`math .eqn-p${i}`)].map(
            e => e.getBoundingClientRect());
        const [x, y] = [a, b].map(e => [e.x + e.width / 2, e.y + e.height / 2]).reduce(
            (one, other) => one.map((o, i) => Math.abs(o - other[i])));
        return Math.max(x, y);
    })"""
    there = f"frame => Math.max(...({script})(frame)) < 2"
    for width in (1280, 700):
        seen.page.set_viewport_size({"width": width, "height": 900})
        handle = frame(one).element_handle()
        seen.page.wait_for_function(there, arg=handle, timeout=20_000)
        assert len(frame(one).evaluate(script)) >= 5


def test_the_list_makes_the_same_slip(badge: Any, book_html: Path) -> None:
    _, one = badge()
    more = one.locator("details.eqn-more").first
    more.locator("summary").click()
    row = more.locator("tbody tr").first
    row.locator("button.eqn-try").click()
    wait_changed(one)
    first = slips_beside(book_html, CHAPTER)[LABEL][0]["mutants"][0]
    assert row.locator("td.eqn-number").inner_text() == first[3]
    assert "eqn-broken" in one.get_attribute("class")


def test_a_closed_badge_leaves_the_equation_whole(badge: Any) -> None:
    _, one = badge()
    places(one).first.focus()
    places(one).first.press("Enter")
    wait_changed(one)
    one.locator("> summary").click()
    frame(one).locator(".eqn-place").first.wait_for(state="detached")
    assert "eqn-broken" not in one.get_attribute("class")
    assert frame(one).locator("div.math > .math-set:visible").count() == 1
    assert frame(one).locator(".eqn-changed, .eqn-gone").count() == 0


def test_what_no_number_can_tell_is_said_and_not_red(badge: Any, book_html: Path) -> None:
    told = slips_beside(book_html, CHAPTER)
    label, i = next(
        (label, i)
        for label, records in told.items()
        for i, mutant in enumerate(records[0]["mutants"])
        if mutant[2] == "indistinct" and mutant[5]
    )
    _, one = badge(label=label)
    more = one.locator("details.eqn-more").first
    more.locator("summary").click()
    more.locator("tr.eqn-indistinct button").first.click()
    wait_changed(one)
    assert told[label][0]["mutants"][i][2] == "indistinct"
    assert "eqn-broken" not in one.get_attribute("class")
    assert "no number can tell" in one.locator("> summary").inner_text()


def test_the_front_page_has_a_live_equation_open(badge: Any, trees: dict[str, Any]) -> None:
    _, one = badge(FRONT)
    at(one, "drop the inverse of K_y").click()
    wait_changed(one)
    assert "eqn-broken" in one.get_attribute("class")
    kinds = ["figure", ".eqn-badge", ".book-doors"]
    every = trees[FRONT].css_first("article").css(", ".join(kinds))
    order = [next(i for i, one in enumerate(every) if one.css_matches(kind)) for kind in kinds]
    assert order == sorted(order)


@pytest.mark.parametrize("name", [CHAPTER, "book/games/deviation-payoffs.html", FRONT])
def test_no_mutant_of_a_badge_is_in_the_html(
    trees: dict[str, Any], book_html: Path, name: str
) -> None:
    page = trees[name]
    badges = page.css("details.eqn-badge")
    assert badges
    assert page.css("table.eqn-mutants") == []
    told = slips_beside(book_html, name)
    for badge in badges:
        for spot in badge.css(".eqn-tried"):
            record = told[badge.attributes["data-label"]][int(spot.attributes["data-record"])]
            assert record["mutants"]
            assert spot.text() == record["sum"] + "."


@pytest.mark.parametrize("name", [CHAPTER, "book/games/deviation-payoffs.html"])
def test_nearly_every_mutant_has_a_place(book_html: Path, name: str) -> None:
    mutants = [
        m
        for records in slips_beside(book_html, name).values()
        for r in records
        for m in r["mutants"]
    ]
    without = [m[0] for m in mutants if not m[5]]
    assert len(mutants) > 1000
    assert len(without) < 0.01 * len(mutants)


UNREAD = """latexes => latexes.filter(latex => {
    try { return !setFormula(latex, true).startsWith('<math'); } catch (error) { return true; }
})"""


@pytest.mark.parametrize("name", [CHAPTER, "book/decisions/pilco.html"])
def test_the_edited_equations_can_be_set(read: Any, book_html: Path, name: str) -> None:
    """Every fifth of them, as each reads whole. No page has macros of its own, so one will do."""
    edited = [
        record["latex"][: m[5][0]] + m[5][2] + record["latex"][m[5][1] :]
        for records in slips_beside(book_html, name).values()
        for record in records
        for m in record["mutants"][::5]
        if m[5]
    ]
    page = read(CHAPTER).page
    shown = [
        rf"\begin{{split}}{latex}\end{{split}}" if "\\\\" in latex or "&" in latex else latex
        for latex in edited
    ]
    assert len(shown) > 200
    assert setting(page).evaluate(UNREAD, shown) == []


def test_without_mathjax_there_is_still_the_list(
    browser: Any, tiny_book: Any, chapter_text: Any, tmp_path: Path
) -> None:
    """As in a book that takes it from another host, read without a network."""
    built = tiny_book(tmp_path, {"one": chapter_text("one")})
    assert built.code == 0, built.warned
    page = browser.new_page()
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.route("http*://**", lambda route: route.abort())
    page.goto((built.html / "one.html").as_uri())
    page.locator("details.eqn-badge > summary").click()
    more = page.locator("details.eqn-badge details.eqn-more")
    more.locator("summary").click()
    rows = more.locator("tbody tr")
    rows.first.wait_for()
    assert rows.count() >= 4
    assert page.locator(".eqn-place").count() == 0
    assert broken == []
    page.close()


# The badge shown is not under a row of the list "On this page".
FREE = """i => {
    const mark = [...document.querySelectorAll('.bd-article .eqn-badge .margin')][i];
    const its = mark.getBoundingClientRect();
    const rows = [...document.querySelectorAll('.onthispage, nav.page-toc li > a')];
    return its.height > 0 && its.bottom > 60 && its.top < innerHeight && rows.every(row => {
        const box = row.getBoundingClientRect();
        return !box.height || box.left >= its.right || box.bottom <= its.top + 4
            || box.top >= its.bottom - 4;
    });
}"""


@pytest.mark.parametrize("block", ["end", "center"])
def test_no_badge_is_under_the_list_of_contents(visit: Any, block: str) -> None:
    """Of 25 badges 8 were covered by a third or more where they entered the window."""
    page = visit(CHAPTER).page
    page.set_viewport_size({"width": 1280, "height": 720})
    for i in page.evaluate(
        "[...document.querySelectorAll('.bd-article .eqn-badge .margin')].map(e => "
        "e.getBoundingClientRect().height).flatMap((h, i) => h ? [i] : []).slice(0, 4)"
    ):
        page.evaluate(
            "([i, block]) => document.querySelectorAll('.bd-article .eqn-badge .margin')[i]"
            ".scrollIntoView({ block, behavior: 'instant' })",
            [i, block],
        )
        page.wait_for_function(FREE, arg=i)
