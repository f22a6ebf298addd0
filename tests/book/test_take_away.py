"""What one takes away from a page in a browser: files that are saved, formulas as LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

PATIENCE = 300_000  # milliseconds: a machine may be busy
SERVER = "http://book.test"
PAGE = "book/gaussian-processes/function-view.html"

# Selects an element and copies it; what the page writes is read from the event.
COPY = """(element) => {
  document.getSelection().selectAllChildren(element);
  const data = new DataTransfer();
  const event = new ClipboardEvent("copy", {clipboardData: data, bubbles: true, cancelable: true});
  document.dispatchEvent(event);
  return [event.defaultPrevented, data.getData("text/plain"), data.getData("text/html")];
}"""


def test_a_paragraph_is_copied_with_its_formulas(read: Any) -> None:
    page = read(PAGE).page
    paragraph = page.locator("article p:has(math)").first
    handled, text, html = paragraph.evaluate(COPY)
    latex = paragraph.locator(".math").first.get_attribute("data-latex")
    assert handled
    assert f"${latex}$" in text
    assert f"${latex}$" in html.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    assert "<m" not in html
    assert text.count("\n") <= 1
    assert page.locator("body > div[style*='-200vw']").count() == 0


def test_an_equation_is_copied_with_its_lines(read: Any) -> None:
    page = read(PAGE).page
    handled, text, _ = page.locator("div.eqn-equation > div.math").first.evaluate(COPY)
    assert handled
    assert "$$" in text
    assert r"\mathbf" in text


def test_words_alone_are_copied_as_ever(read: Any) -> None:
    page = read(PAGE).page
    assert page.locator("article h1").first.evaluate(COPY)[0] is False


def answer(route: Any, folder: Path) -> None:
    """The file that a request names, or that there is none."""
    path = folder / urlsplit(route.request.url).path[1:]
    route.fulfill(path=path) if path.is_file() else route.fulfill(status=404)


def test_the_download_menu_saves_files(browser: Any, book_html: Path) -> None:
    """On a server; the browser takes each answer from the disk."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.route(f"{SERVER}/**", lambda route: answer(route, book_html))
    page.goto(f"{SERVER}/{PAGE}", wait_until="domcontentloaded")
    for kind in ("notebook", "source"):
        link = page.locator(f".btn-download-{kind}-button")
        assert link.get_attribute("download") == ""
        assert link.get_attribute("target") is None
    page.close()


def test_from_a_disk_a_file_opens_beside_the_page(read: Any) -> None:
    link = read(PAGE).page.locator(".btn-download-notebook-button")
    assert link.get_attribute("target") == "_blank"
    assert link.get_attribute("download") is None
    titles = [link.get_attribute(name) or "" for name in ("title", "data-bs-original-title")]
    assert "save it from there" in "".join(titles)
