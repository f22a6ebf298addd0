"""No line begins with the comma that belongs to the formula before it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"
MATH = '<span class="math notranslate nohighlight">x &lt; 1</span>'
# A formula, once it is set, is a box to the browser.
PAGE = """<link rel="stylesheet" href="{css}"><style>.math {{ display: inline-block }}</style>
<p>Some words before {math}, and after {math}) and {math}.</p>"""
PARTED = """() => {
    const lost = [];
    for (let width = 60; width < 400; width += 1) {
        document.querySelector('p').style.width = `${width}px`;
        document.querySelectorAll('.math').forEach((formula, i) => {
            const behind = document.createRange();
            behind.setStart(formula.nextSibling, 0);
            behind.setEnd(formula.nextSibling, 1);
            const low = formula.getBoundingClientRect().bottom - 2;
            if (behind.getBoundingClientRect().top > low) lost.push([width, i]);
        });
    }
    return lost;
}"""


@pytest.fixture
def tidied(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BOOK / "_ext"))
    tool = importlib.import_module("tidy_site")

    def tidy(body: str) -> str:
        context = {"body": body}
        tool.keep_marks(None, "page", "page.html", context, None)
        return context["body"]

    return tidy


def test_a_mark_stays_with_its_formula_at_every_width(
    browser: Any, tidied: Any, tmp_path: Path
) -> None:
    css = (BOOK / "_static" / "book.css").as_uri()
    file = tmp_path / "page.html"
    file.write_text(tidied(PAGE.format(css=css, math=MATH)), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate(PARTED) == []
    page.close()


def test_what_is_a_word_apart_may_part(tidied: Any) -> None:
    for body in (f"{MATH} and", f"{MATH} , and", f"{MATH}-th", "a, b.", f"<p>{MATH}</p>."):
        assert tidied(body) == body
