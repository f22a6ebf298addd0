"""What a page shows stays where it is while pictures, letters and what a script adds still come."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.site, pytest.mark.browser]

# 0.1 is what a reader is said to notice.
MOST = 0.05
# By its page, what a script puts at the top of it. Nothing moves for it, as browsers count it.
LATE = {
    "book/api/gallery.html": "img",
    "book/api/try-an-equation.html": ".eqn-kinds-table td",
    "book/gaussian-processes/function-view.html": ".eqn-switch button",
    "book/glossary.html": ".book-filter input",
    "search.html?q=kernel": "#search-results math",
}
SHIFTED = """() => new Promise(done => {
    let sum = 0;
    new PerformanceObserver(list => {
        list.getEntries().forEach(one => { sum += one.value; });
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(sum), 300);
})"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", LATE)
def test_nothing_is_pushed_away_by_what_comes_late(visit: Any, name: str, width: int) -> None:
    page = visit(name, width=width).page
    page.locator(LATE[name]).first.wait_for()
    assert page.evaluate(SHIFTED) < MOST


def test_what_waits_for_its_script_has_its_place(visit: Any) -> None:
    """Also where little would be moved by it, as by the switch above the text of a chapter."""
    page = visit("book/gaussian-processes/function-view.html", width=390).page
    page.locator(".eqn-switch button").wait_for()
    assert page.evaluate(SHIFTED) < 0.01
