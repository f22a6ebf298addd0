"""What is asked of one page of the book alone, while test_browser.py has it open.

To open a chapter costs seconds. A check is called twice, when the page has just been opened and
when it has become as narrow as a phone, and leaves the page as folded and as light as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import browsing

WIDE, NARROW = 1280, 390
Check = Callable[[Any, int], None]

SOLUTIONS = """() => [...document.querySelectorAll('div.solution')].map(e => {
    const box = e.getBoundingClientRect(), button = e.querySelector('button.toggle-button');
    return button.getBoundingClientRect().bottom <= box.bottom;
})"""


def a_solution_shows_how_to_open_it_however_long_its_title(page: Any, width: int) -> None:
    seen = page.evaluate(SOLUTIONS)
    assert len(seen) > 5
    assert all(seen), width


def badges_open_to_their_steps(page: Any, width: int) -> None:
    if width == NARROW:
        return
    badges = page.locator("details.eqn-identity")
    assert badges.count() >= 20
    badge = badges.nth(3)
    badge.scroll_into_view_if_needed()
    assert not badge.locator(".eqn-panel").is_visible()
    badge.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert badge.locator(".eqn-panel").is_visible()
    assert badge.locator("table.eqn-steps tbody tr").count() >= 1
    badge.locator("math").first.wait_for()
    more = badge.locator("details.eqn-more")
    more.locator("summary").click()
    more.locator("math").first.wait_for()
    assert more.locator("tbody tr").count() >= 2
    # In a tab of its own, since this page is still needed; opened by a click, it makes Chromium 150
    # on some machines end with a fault of memory, where a list of mutants stands open.
    row = badge.get_by_role("link", name="its row in the ledger").evaluate("link => link.href")
    ledger = page.context.new_page()
    ledger.goto(row)
    ledger.locator("tr:target").wait_for()
    assert ledger.url.split("#")[1].startswith("row-eq-")
    ledger.close()
    badge.evaluate("badge => { badge.open = false; }")


CROWDED = """() => {
    const box = e => e.getBoundingClientRect();
    const meet = (a, b) => a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom;
    const marks = [...document.querySelectorAll('.eqn-marks')];
    const badges = [...document.querySelectorAll('.eqn-badge > summary, .eqn-marks')];
    const text = box(document.querySelector('article > section')).right;
    return {
        marks: marks.length,
        crowded: marks.filter(m => badges.some(b => b !== m && meet(box(m), box(b)))).length,
        inside: marks.filter(m => box(m).left < text).length,
    };
}"""


def marks_stand_free_in_the_margin(page: Any, width: int) -> None:
    seen = page.evaluate(CROWDED)
    assert seen["marks"] > 5
    if width == WIDE:
        assert (seen["crowded"], seen["inside"]) == (0, 0)
    else:
        assert seen["inside"] == seen["marks"]


def a_figure_to_operate_has_its_points(page: Any, width: int) -> None:
    """Where its picture would stand, above the caption."""
    if width == NARROW:
        return
    figure = page.locator("figure#fig-fv-playground")
    assert figure.locator(".gp-plot svg .gp-point").count() == 5
    assert figure.locator("figcaption").is_visible()
    assert not figure.locator("img").is_visible()


def a_picture_with_light_and_shadow_is_not_turned_in_the_dark(page: Any, width: int) -> None:
    if width == NARROW:
        return
    browsing.scheme(page, "dark")
    style = "found => found.map(e => getComputedStyle(e).filter)"
    seen = page.locator("#fig-is-answer img").evaluate_all(style)
    browsing.scheme(page, "light")
    assert seen == 3 * ["brightness(0.88)"]  # the picture, and its panels for a phone


CHECKS: dict[str, tuple[Check, ...]] = {
    "book/gaussian-processes/weight-view.html": (
        a_solution_shows_how_to_open_it_however_long_its_title,
        badges_open_to_their_steps,
    ),
    "book/gaussian-processes/function-view.html": (
        marks_stand_free_in_the_margin,
        a_figure_to_operate_has_its_points,
    ),
    "book/games/deviation-payoffs.html": (marks_stand_free_in_the_margin,),
    "book/gaussian-processes/implicit-surfaces.html": (
        a_picture_with_light_and_shadow_is_not_turned_in_the_dark,
    ),
}


ROOT = "document.documentElement"


def check(name: str, page: Any, width: int) -> None:
    """What is asked of this page alone, and that a wide window has all of it, side by side."""
    if width == WIDE:
        assert page.evaluate(f"{ROOT}.scrollWidth - {ROOT}.clientWidth") <= 0, name
    for one in CHECKS.get(name, ()):
        one(page, width)
