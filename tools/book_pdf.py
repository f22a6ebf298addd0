"""The whole book as one PDF, from the pages that `make book` made: ``python tools/book_pdf.py``.

All pages become one document, in the order of the contents: numbers of equations and figures are
those of the site, links between pages lead to pages of the PDF, badges and evidence stay closed and
solutions open. It is printed by Chromium, twice: the first time shows on which page each section
stands, the second has that in its contents. Nothing is asked of the net.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "gpnotes.pdf"
IDLE = (
    "script, style, .headerlink, button, .book-panels, .onlyprint, noscript, form, iframe,"
    " .noprint, .eqn-search, .eqn-panel, .eqn-foot, .toggle-button, .viewcode-link"
)
STYLES = (
    "styles/pydata-sphinx-theme.css", "styles/sphinx-book-theme.css", "pygments.css", "basic.css",
    "mystnb.*.css", "proof.css", "exercise.css", "sphinx-design.min.css", "equations.css",
    "evidence.css", "book.css", "site.css",
)  # fmt: skip
LEVELS = {"h1": 1, "h2": 2}


@dataclass(frozen=True)
class Entry:
    """A line of the contents."""

    level: int
    title: str
    anchor: str


def order(toc: dict[str, Any]) -> Iterator[str]:
    """The documents as `_toc.yml` has them."""
    yield toc["root"]
    for part in toc["parts"]:
        yield from (chapter["file"] for chapter in part["chapters"])


def article(name: str, serial: int, names: list[str]) -> Tag:
    """The text of a page, its anchors and links made those of one document."""
    page = BeautifulSoup((HTML / f"{name}.html").read_text("utf-8"), "html.parser")
    found = page.select_one("article.bd-article")
    assert found is not None, f"{name} has no text"
    for tag in found.select(IDLE):
        tag.decompose()
    close(found)
    for tag in found.find_all(id=True):
        tag["id"] = f"p{serial}-{tag['id']}"
    for image in found.find_all("img"):
        image["src"] = beside(name, image["src"]).as_uri()
        image.attrs.pop("loading", None)
    for link in found.find_all("a", href=True):
        lead(link, name, names)
    found["class"] = ["bd-article", "book-page"]
    found["id"] = f"p{serial}"
    return found


def close(page: Tag) -> None:
    """What is folded stays so, and leaves its line; the code of a figure goes whole."""
    for fold in page.select("details"):
        if fold.attrs is None or fold.has_attr("open"):
            continue
        if {"hide", "above-input"} & set(fold.get("class", ())):
            fold.decompose()
        else:
            for child in [c for c in fold.find_all(recursive=False) if c.name != "summary"]:
                child.decompose()


def beside(name: str, address: str) -> Path:
    """The file that an address on a page names."""
    path = unquote(urlsplit(address).path)
    return HTML / posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def lead(link: Tag, name: str, names: list[str]) -> None:
    """A link to a page of the book leads to its place in the document; another file to nowhere."""
    parts = urlsplit(str(link["href"]))
    if parts.scheme:
        return
    path = beside(name, parts.path) if parts.path else HTML / f"{name}.html"
    target = path.relative_to(HTML).with_suffix("").as_posix() if path.is_relative_to(HTML) else ""
    if path.suffix == ".html" and target in names:
        serial = names.index(target)
        link["href"] = f"#p{serial}-{unquote(parts.fragment)}" if parts.fragment else f"#p{serial}"
    else:
        del link["href"]


def mend(pages: list[Tag]) -> None:
    """A link into what was folded leads to the page that has it."""
    known = {str(tag["id"]) for page in pages for tag in [page, *page.find_all(id=True)]}
    for page in pages:
        for link in page.find_all("a", href=re.compile("^#p")):
            if link["href"][1:] not in known:
                link["href"] = re.sub(r"^(#p\d+)-.*", r"\1", str(link["href"]), flags=re.DOTALL)


def entries(pages: list[Tag]) -> list[Entry]:
    """The chapters and their sections; their headings become places to go to."""
    found = []
    for page in pages:
        for heading in page.find_all(list(LEVELS)):
            anchor = f"{heading.parent.get('id') or page['id']}-title"
            heading["id"] = anchor  # a section may begin at the foot of the page before
            title = re.sub(r"\\\((.*?)\\\)", r"\1", " ".join(heading.get_text().split()))
            found.append(Entry(LEVELS[heading.name], title, anchor))
    return found


def contents(listed: list[Entry]) -> str:
    """The contents, with room for the numbers of pages."""
    lines = (
        f'<li class="book-level-{entry.level}"><a href="#{escape(entry.anchor)}">'
        f"<span>{escape(entry.title)}</span><i></i><b>000</b></a></li>"
        for entry in listed
    )
    return f'<nav class="book-contents"><h1>Contents</h1><ol>{"".join(lines)}</ol></nav>'


PRINT = Path(__file__).with_suffix(".css")
SET = {"tex": {"macros": {}}, "chtml": {"matchFontHeight": False}, "options": {"enableMenu": False}}
SET["options"] |= {"processHtmlClass": "math", "ignoreHtmlClass": "document"}
TITLE = (
    '<div class="book-title bd-article"><p class="book-name">gpnotes</p>'
    "<p>A book about Gaussian processes whose equations check themselves</p></div>"
)
FOOT = (
    '<div style="width:100%;font:8pt sans-serif;text-align:center;color:#666">'
    '<span class="pageNumber"></span></div>'
)


def document(pages: list[Tag], listed: list[Entry]) -> str:
    """The one page that is printed."""
    static = HTML / "_static"
    files = [path for name in STYLES for path in sorted(static.glob(name))]
    styles = "".join(f'<link rel="stylesheet" href="{path.as_uri()}">' for path in files)
    script = (static / "mathjax" / "tex-chtml-full.js").as_uri()
    body = TITLE + contents(listed) + "".join(map(str, pages))
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>gpnotes</title>{styles}<style>{PRINT.read_text('utf-8')}</style>"
        f"<script>window.MathJax = {json.dumps(SET)}</script><script defer src='{script}'></script>"
        f"</head><body>{body}</body></html>"
    )


FILL = """numbers => document.querySelectorAll('.book-contents a').forEach(link => {
    link.querySelector('b').textContent = numbers[link.hash.slice(1)] ?? '';
})"""
READY = """() => window.MathJax.startup.promise.then(() =>
    Promise.all([...document.images].map(image => image.decode().catch(() => 0))))"""


def opened(browser: Any, source: Path) -> Any:
    """The document, its formulas set and its pictures there."""
    page = browser.new_page()
    page.set_default_timeout(1_800_000)
    page.goto(source.as_uri())
    page.evaluate(READY)
    return page


def print_page(page: Any, target: Path) -> None:
    """Print it, with bookmarks and the numbers of its pages."""
    page.pdf(
        path=target, prefer_css_page_size=True, print_background=True, outline=True, tagged=True,
        display_header_footer=True, header_template="<span></span>", footer_template=FOOT,
    )  # fmt: skip


def page_numbers(path: Path) -> dict[str, int]:
    """On which page each anchor stands that the contents lead to."""
    from pypdf import PdfReader

    reader = PdfReader(path)
    found = reader.named_destinations.items()
    numbers = {name: reader.get_destination_page_number(place) for name, place in found}
    return {name.lstrip("/"): at + 1 for name, at in numbers.items() if at is not None}


def chromium() -> str | None:
    """The browser of the system, if there is one; else playwright takes its own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def make(browser: Any, target: Path, names: list[str]) -> None:
    """Write the PDF of these documents."""
    pages = [article(name, i, names) for i, name in enumerate(names)]
    mend(pages)
    source = target.with_suffix(".html")
    listed = entries(pages)
    source.write_text(document(pages, listed), encoding="utf-8")
    page = opened(browser, source)
    print_page(page, target)
    page.evaluate(FILL, page_numbers(target))
    print_page(page, target)
    page.close()
    source.unlink()


def main() -> None:
    """Print all pages, or those that are named."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="pages, such as book/notation; all by default")
    parser.add_argument("--to", type=Path, default=TARGET)
    given = parser.parse_args()
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        make(browser, given.to.resolve(), given.names or list(order(toc)))
        browser.close()
    print(f"{given.to}: {given.to.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
