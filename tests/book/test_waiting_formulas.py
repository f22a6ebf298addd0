"""Formulas that wait are set when a reader comes to them, and no sooner: a thousand on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checked_equations.check.html import display_later, later

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "engine" / "src" / "checked_equations" / "sphinx" / "static"
MANY = 500
# MathJax, as far as it is asked here; it notes what it is given, and asks for no place.
STUB = """
window.given = [];
const set = (elements) => elements.forEach((element) => {
    window.given.push(element.id);
    element.append(Object.assign(document.createElement('mjx-container'), { textContent: 'a' }));
});
window.MathJax = {
    startup: { promise: Promise.resolve() },
    typeset: set,
    typesetPromise: async (elements) => set(elements),
};
window.asked = 0;
const { getBoundingClientRect } = Element.prototype;
Element.prototype.getBoundingClientRect = function () {
    window.asked += 1;
    return getBoundingClientRect.call(this);
};
"""
PAGE = """<!doctype html><meta charset="utf-8"><script>{stub}</script>
<link rel="stylesheet" href="{static}/equations.css">
<div class="eqn-ledger"><div class="eqn-scroll"><table class="eqn-rows"><tbody>{rows}</tbody>
</table></div></div>
<main>{badges}</main><script src="{static}/equations.js"></script>"""
ROW = '<tr><td>{i}</td><td class="eqn-formula-cell">{shown}</td></tr>'
BADGE = (
    '<details class="eqn-badge"><summary>checked</summary><p style="height: 80px">{shown}</p>'
    "</details>"
)
SET = "document.querySelectorAll('mjx-container').length"
WAITING = "document.querySelectorAll('.eqn-later').length"


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    def named(made: str, name: str) -> str:
        return made.replace(" class=", f' id="{name}" class=', 1)

    rows = [ROW.format(i=i, shown=named(display_later("a = b"), f"row-{i}")) for i in range(MANY)]
    badges = [BADGE.format(shown=named(later("a = b"), f"badge-{i}")) for i in range(MANY)]
    file = tmp_path / "page.html"
    parts = {
        "stub": STUB,
        "static": STATIC.as_uri(),
        "rows": "".join(rows),
        "badges": "".join(badges),
    }
    file.write_text(PAGE.format(**parts), encoding="utf-8")
    made = browser.new_page(viewport={"width": 1000, "height": 600})
    made.goto(file.as_uri())
    yield made
    made.close()


def test_of_a_long_table_only_what_is_near_is_set(page: Any) -> None:
    page.locator("#row-0 mjx-container").wait_for()
    page.wait_for_timeout(100)
    assert 5 <= page.evaluate(SET) <= 60
    page.evaluate("document.querySelector('.eqn-scroll').scrollTop = 1e6")
    page.locator(f"#row-{MANY - 1} mjx-container").wait_for()
    page.wait_for_timeout(100)
    assert page.locator(f"#row-{MANY // 2} mjx-container").count() == 0
    assert page.evaluate(SET) <= 120
    assert page.locator("details mjx-container").count() == 0


def test_all_badges_are_opened_without_asking_each_for_its_place(page: Any) -> None:
    """Those in the window are set first; the others when they come near."""
    page.evaluate("document.querySelector('details:nth-child(250)').scrollIntoView()")
    page.evaluate("[window.given.length, window.asked] = [0, 0]")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate("document.querySelector('details:nth-child(250)').scrollIntoView()")
    page.locator("#badge-249 mjx-container").wait_for()
    page.wait_for_timeout(200)
    given = page.evaluate("window.given.filter((name) => name.startsWith('badge'))")
    assert page.evaluate("window.asked") < 20
    assert len(given) < 60
    seen = "Math.abs(document.getElementById(name).getBoundingClientRect().top - 300) < 400"
    assert page.evaluate(f"(name) => {seen}", given[0])


def test_a_printer_gets_all_that_is_not_folded(page: Any) -> None:
    page.evaluate("document.querySelector('details').open = true")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(WAITING) == MANY - 1
    assert page.locator("details[open] mjx-container").count() == 1
    assert page.evaluate("new Set(window.given).size == window.given.length")
