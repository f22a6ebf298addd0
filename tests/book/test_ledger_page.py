"""The ledger in a browser: what is searched for, ticked and sorted; how it scrolls and prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

EQUATIONS = "[data-things=equations] table.eqn-rows"
NUMBERS = f"""() => [...document.querySelectorAll('{EQUATIONS} tbody tr')].filter(
    row => row.offsetHeight && row.checkVisibility({{ visibilityProperty: true }})).map(
    row => row.cells[0].textContent)"""


def numbers(page: Any) -> list[str]:
    """The first column of the first table, which is that of the equations, where it is shown."""
    return page.evaluate(NUMBERS)


def test_ledger_searches(read: Any) -> None:
    page = read("book/ledger.html").page
    everything = numbers(page)
    field = page.get_by_label("Search the equations")
    field.fill("evidence function")
    rows = numbers(page)
    assert 0 < len(rows) < len(everything)
    count = page.locator(".eqn-count").first
    assert re.fullmatch(rf"{len(rows)} of \d+ equations", count.inner_text())
    texts = page.locator(f"{EQUATIONS} tbody tr:visible").all_text_contents()
    assert all("evidence" in text and "function" in text for text in texts)
    field.fill("no such thing")
    assert numbers(page) == []
    field.fill("")
    assert numbers(page) == everything


def test_ledger_shows_the_kinds_that_are_ticked(read: Any) -> None:
    """Beside what is searched for; on a phone as well, where a box is no smaller than a finger."""
    page = read("book/ledger.html", width=390).page
    everything = numbers(page)
    box = page.locator(".eqn-kinds label", has_text="definition")
    assert box.bounding_box()["height"] >= 24
    box.click()
    shown = page.locator(f"{EQUATIONS} tbody tr:visible .eqn-kind").all_text_contents()
    assert 0 < len(shown) < len(everything)
    assert set(shown) == {"definition"}
    assert page.locator(".eqn-count").first.inner_text().startswith(f"{len(shown)} of ")
    page.get_by_label("Search the equations").fill("no such thing")
    assert numbers(page) == []
    page.get_by_label("Search the equations").fill("")
    box.click()
    assert numbers(page) == everything


def test_ledger_sorts_by_keyboard(read: Any) -> None:
    page = read("book/ledger.html").page
    page.get_by_role("button", name="Show all").first.click()
    before = numbers(page)
    header = page.locator("th", has_text="worst residual")
    header.locator("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    script = "rows => rows.map(r => r.cells[6].dataset.key ?? null)"
    keys = page.locator(f"{EQUATIONS} tbody tr").evaluate_all(script)
    measured = [float(key) for key in keys if key is not None]
    assert measured == sorted(measured)
    assert keys[: len(measured)].count(None) == 0  # what was not measured stands last
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    keys = page.locator(f"{EQUATIONS} tbody tr").evaluate_all(script)
    measured = [float(key) for key in keys if key is not None]
    assert measured == sorted(measured, reverse=True)
    page.locator("th", has_text="mutants caught").locator("button").click()
    said = page.locator(f"{EQUATIONS} tbody tr td:nth-child(8)").all_text_contents()
    counts = [int(words.split(" of ")[0]) for words in said if words]
    assert counts == sorted(counts)
    assert max(counts) >= 10  # which a word sorts before 9
    page.locator("th", has_text="No.").locator("button").click()
    assert numbers(page) == before
    assert header.get_attribute("aria-sort") == "none"
    page.get_by_role("button", name="50 at a time").click()


def test_a_long_ledger_is_turned_page_by_page(read: Any) -> None:
    page = read("book/ledger.html", width=390).page
    ways = page.get_by_role("navigation", name="Pages of the equations")
    place, before, after = (ways.locator(one) for one in ("span", "text=Before", "text=Next"))
    first = numbers(page)
    assert len(first) == 50
    assert before.is_disabled()
    after.press("Enter")  # by keys: rows that find their height move what a pointer aims at
    second = numbers(page)
    assert len(second) == 50
    assert not set(first) & set(second)
    assert place.inner_text().startswith("51 to 100 of ")
    assert page.locator(EQUATIONS).evaluate("e => e.getBoundingClientRect().top") >= 0
    before.press("Enter")
    assert numbers(page) == first
    page.get_by_label("Search the equations").fill("no such thing")
    assert not ways.is_visible()
    page.get_by_label("Search the equations").fill("")
    ways.get_by_text("Show all").press("Enter")
    every = page.locator(f"{EQUATIONS} tbody tr").count()
    assert len(numbers(page)) == every > 100
    ways.get_by_text("50 at a time").press("Enter")
    assert numbers(page) == first


def test_rows_of_other_pages_are_not_laid_out_before_its_script_comes(
    browser: Any, book_html: Path
) -> None:
    """Seven hundred rows held the page up for half a second, and then most of them went."""
    page = browser.new_page()
    page.route("**/equations.js*", lambda route: route.abort())
    page.goto((book_html / "book" / "ledger.html").as_uri())
    assert len(numbers(page)) == 50
    page.emulate_media(media="print")
    assert len(numbers(page)) > 100
    page.close()


def test_a_link_leads_to_its_row_on_whatever_page(read: Any) -> None:
    page = read("book/ledger.html").page
    last = page.locator(f"{EQUATIONS} tbody tr").last
    assert not last.is_visible()
    page.evaluate("anchor => { location.hash = anchor; }", last.get_attribute("id"))
    last.wait_for(state="visible")
    assert len(numbers(page)) <= 50
    page.evaluate("location.hash = ''")
    page.get_by_label("Search the equations").fill("x")
    page.get_by_label("Search the equations").fill("")


def test_no_table_of_the_ledger_is_cut_or_covered(read: Any) -> None:
    page = read("book/ledger.html", width=1280).page
    wide = "boxes => boxes.map(box => box.scrollWidth - box.clientWidth)"
    assert page.locator(".eqn-ledger > .eqn-scroll").evaluate_all(wide) == [0, 0]
    page.locator(".eqn-ledger").first.evaluate("box => box.scrollIntoView()")
    box = page.locator(".bd-sidebar-secondary").bounding_box()
    assert box["y"] + box["height"] < 0


STUCK = """() => {
    const box = document.querySelector('.eqn-ledger > .eqn-scroll');
    box.scrollTop = 3000;
    const head = box.querySelector('th').getBoundingClientRect();
    return [box.scrollTop > 1000, Math.abs(head.top - box.getBoundingClientRect().top) < 3];
}"""


# Where one has scrolled to, of which there is enough to tell.
ROWS_SET = """() => {
    const box = document.querySelector('.eqn-ledger > .eqn-scroll').getBoundingClientRect();
    const inside = ({ top, bottom }) => bottom > box.top && top < box.bottom;
    const cells = [...document.querySelectorAll('td.eqn-formula-cell')];
    const seen = cells.filter((cell) => inside(cell.getBoundingClientRect()));
    return seen.length > 3 && seen.every((cell) => cell.querySelector('math'));
}"""


def test_the_headings_of_the_ledger_stay(read: Any) -> None:
    page = read("book/ledger.html").page
    assert page.evaluate(STUCK) == [True, True]
    page.wait_for_function(ROWS_SET)
    assert page.locator("td.eqn-formula-cell math").count() < 200  # those that were seen


def test_the_ledger_prints_whole(read: Any) -> None:
    page = read("book/ledger.html").page
    page.set_viewport_size({"width": 760, "height": 900})  # about what a sheet of paper has
    page.emulate_media(media="print")
    script = """() => {
        const box = document.querySelector('.eqn-ledger > .eqn-scroll');
        const last = [...box.querySelectorAll('tbody tr')].pop().cells;
        if (!last[0].offsetHeight) return "not on paper";
        const right = Math.max(...[...last].map(cell => cell.getBoundingClientRect().right));
        return [box.scrollHeight - box.clientHeight, right - innerWidth];
    }"""
    hidden, beyond = page.evaluate(script)
    page.emulate_media(media="screen")
    assert hidden <= 1
    assert beyond <= 0


def test_on_a_phone_a_row_of_the_ledger_is_a_card(read: Any) -> None:
    page = read("book/ledger.html").page
    page.set_viewport_size({"width": 390, "height": 900})
    row = page.locator(".eqn-rows tbody tr").nth(5)
    row.scroll_into_view_if_needed()
    boxes = [cell.bounding_box() for cell in row.locator("td:visible").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    named = "e => getComputedStyle(e, '::before').content"
    assert "worst residual" in row.locator("td").nth(6).evaluate(named)
