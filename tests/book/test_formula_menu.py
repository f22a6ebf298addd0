"""The menu of a formula: nothing in it can stop the book from being typeset, now or later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGE = r"""# One

Two formulas in a line, {math}`a + b` and {math}`\mathbf c^\top \mathbf d`, and one below.

```{math}
\int_0^1 f(x) \,\mathrm d x = \sum_{i=1}^n \frac{w_i}{2} f(x_i)
```
"""
STORED = "MathJax-Menu-Settings"
# MathJax waits for ever for a file that does not come.
SETTLED = """() => Promise.race(
    [window.MathJax.startup.promise, new Promise((late) => setTimeout(late, 20000))]
)"""
NEED_FILES = [
    {"explorer": True},
    {"collapsible": True},
    {"collapsible": True, "autocollapse": True},
    {"renderer": "SVG"},
    {"renderer": "SVG", "explorer": True, "collapsible": True, "scale": 1.0},
    {"renderer": "no such renderer", "explorer": True},
]
GONE = (
    "Math Renderer", "Activate", "Speech", "Highlight", "Magnification", "Semantic Info",
    "Collapsible Math", "Auto Collapse",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(tiny_book: Any, once: Any) -> str:
    """A page with three formulas, with MathJax as the book has it."""
    built = once(
        "menu", lambda folder: tiny_book(folder, {"one": PAGE}, extensions=("offline_mathjax",))
    )
    assert built.code == 0, built.warned
    return Path(built.html, "one.html").as_uri()


@pytest.fixture
def opened(browser: Any, address: str) -> Any:
    """Open the page, with settings that an earlier visit has stored, in a browser of its own."""
    context = browser.new_context()
    page = context.new_page()
    missing: list[str] = []

    def note(request: Any) -> None:
        """What does not come, but for what a reload stops on its way."""
        if request.failure != "net::ERR_ABORTED":
            missing.append(request.url)

    page.on("requestfailed", note)

    def visit(stored: str | None = None) -> Any:
        page.goto(address)
        if stored is not None:
            page.evaluate("([key, value]) => localStorage.setItem(key, value)", [STORED, stored])
            page.reload()
        page.evaluate(SETTLED)
        assert missing == []
        return page

    yield visit
    context.close()


def typeset(page: Any) -> int:
    return page.locator(".math > mjx-container").count()


def entries(page: Any) -> list[str]:
    """What the open menus offer."""
    texts = page.locator(".CtxtMenu_MenuItem").all_inner_texts()
    return [text.strip("►✓ \n") for text in texts if text.strip()]


CHOICES = [*map(json.dumps, NEED_FILES), "no JSON", "null", "[1]"]


@pytest.mark.parametrize("stored", CHOICES)
def test_a_stored_setting_does_not_stop_the_typesetting(
    opened: Callable[..., Any], stored: str
) -> None:
    page = opened(stored)
    assert typeset(page) == 3
    assert page.locator("mjx-merror").count() == 0
    page.reload()
    page.evaluate(SETTLED)
    assert typeset(page) == 3


def test_what_needs_no_file_is_remembered(opened: Callable[..., Any]) -> None:
    page = opened(json.dumps({"zoom": "Click", "inTabOrder": True, "renderer": "SVG"}))
    kept = page.evaluate("() => MathJax.startup.document.menu.settings")
    assert (kept["zoom"], kept["inTabOrder"], kept["renderer"]) == ("Click", True, "CHTML")


def test_no_entry_of_the_menu_needs_a_file_that_is_not_there(opened: Callable[..., Any]) -> None:
    """Every entry that can be switched is clicked; then the page is opened again."""
    page = opened()
    page.locator("mjx-container").first.click(button="right")
    for name in ("Math Settings", "Accessibility"):
        page.locator(".CtxtMenu_MenuItem", has_text=name).hover()
        page.locator(".CtxtMenu_ContextMenu").nth(1).wait_for()
    assert set(entries(page)) & set(GONE) == set()
    assert {"Include in Tab Order", "Include Hidden MathML"} <= set(entries(page))
    page.locator(".CtxtMenu_MenuItem", has_text="Include in Tab Order").click()
    assert json.loads(page.evaluate("key => localStorage.getItem(key)", STORED)) == {
        "inTabOrder": True
    }
    page = opened()
    assert typeset(page) == 3


def test_formulas_are_no_stops_of_the_keyboard(opened: Callable[..., Any]) -> None:
    page = opened()
    assert page.locator("mjx-container[tabindex='0']").count() == 0
    assert page.locator("mjx-container mjx-assistive-mml math").count() == 3
