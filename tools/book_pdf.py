"""The book as one PDF, from the pages that `make book` made: ``python tools/book_pdf.py``.

The chapters and what a reader needs beside them become one document, in the order of the contents:
numbers of equations and figures are those of the site, links between pages lead to pages of the
PDF, badges and evidence stay closed and solutions open. What is looked up on a screen stays there:
the documentation of functions, the ledger, the changelog. Chromium prints it, once; on which page
each section stands is read in the print, and written into its contents. Nothing is asked of the
net. ``--count README.md`` writes how many pages there are where that file says so.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag
from system_browser import browser_path

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
    "evidence.css", "colours.css", "book.css", "site.css", "mathematics/mathematics.css",
)  # fmt: skip
LEVELS = {"h1": 1, "h2": 2}


COUNTED = re.compile(r"(one PDF of )\d+( pages)")
APART = re.compile(r"book/api/|book/(changes|ledger)$")


@dataclass(frozen=True)
class Entry:
    """A line of the contents."""

    level: int
    title: str
    anchor: str


def order(toc: dict[str, Any]) -> Iterator[str]:
    """Yield the documents as `_toc.yml` has them."""
    yield toc["root"]
    for part in toc["parts"]:
        yield from (chapter["file"] for chapter in part["chapters"])


def chosen(toc: dict[str, Any]) -> Iterator[str]:
    """Yield the documents that are printed."""
    yield from (name for name in order(toc) if not APART.match(name))


def article(name: str, serial: int, names: list[str]) -> Tag:
    """Return the text of a page, its anchors and links made those of one document."""
    page = BeautifulSoup((HTML / f"{name}.html").read_text("utf-8"), "html.parser")
    found = page.select_one("article.bd-article")
    assert found is not None, f"{name} has no text"
    for tag in found.select(IDLE):
        tag.decompose()
    close(found)
    for tag in found.select(".eqn-later"):
        tag["class"] = ["math"]  # on a screen it waits for a reader, here it is set
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
    """Keep folded parts folded, as a line; remove the code of a figure.

    A section for a second reading is no fold on paper.
    """
    for fold in page.select("details.starred-rest"):
        fold.select_one("summary").decompose()
        fold.name = "div"
    for fold in page.select("details"):
        if fold.attrs is None or fold.has_attr("open"):
            continue
        if {"hide", "above-input"} & set(fold.get("class", ())):
            fold.decompose()
        else:
            for child in [c for c in fold.find_all(recursive=False) if c.name != "summary"]:
                child.decompose()


def beside(name: str, address: str) -> Path:
    """Return the file that an address on a page names."""
    path = unquote(urlsplit(address).path)
    return HTML / posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def lead(link: Tag, name: str, names: list[str]) -> None:
    """Point a link to a page at its place in the document; unlink other files."""
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
    """Point a link into a folded part at the page that has it."""
    known = {str(tag["id"]) for page in pages for tag in [page, *page.find_all(id=True)]}
    for page in pages:
        for link in page.find_all("a", href=re.compile("^#p")):
            if link["href"][1:] not in known:
                link["href"] = re.sub(r"^(#p\d+)-.*", r"\1", str(link["href"]), flags=re.DOTALL)


def entries(pages: list[Tag]) -> list[Entry]:
    """Return the chapters and their sections; their headings become places to go to."""
    found = []
    for page in pages:
        for heading in page.find_all(list(LEVELS)):
            anchor = f"{heading.parent.get('id') or page['id']}-title"
            heading["id"] = anchor  # a section may begin at the foot of the page before
            title = re.sub(r"\\\((.*?)\\\)", r"\1", " ".join(heading.get_text().split()))
            found.append(Entry(LEVELS[heading.name], title, anchor))
    return found


def unbroken(pages: list[Tag]) -> None:
    """Leave single spaces in headings, which the style sheet keeps.

    A bookmark has the text of the lines of its heading; a space at which a line ends is lost else.
    """
    for page in pages:
        for heading in page.find_all(re.compile("^h[1-6]$")):
            for text in heading.find_all(string=True):
                text.replace_with(re.sub(r"\s+", " ", text))
            trim(heading.find_all(string=True), str.lstrip)
            trim(heading.find_all(string=True)[::-1], str.rstrip)


def trim(texts: list[Any], strip: Callable[[str], str]) -> None:
    """Strip the space before the first of these words and behind the last."""
    for text in texts:
        text.replace_with(strip(text))
        if text.strip():
            return


def contents(listed: list[Entry]) -> str:
    """Return the contents, with room for the numbers of pages."""
    lines = (
        f'<li class="book-level-{entry.level}"><a href="#{escape(entry.anchor)}">'
        f"<span>{escape(entry.title)}</span><i></i><b></b></a></li>"
        for entry in listed
    )
    return f'<nav class="book-contents"><h1>Contents</h1><ol>{"".join(lines)}</ol></nav>'


PRINT = Path(__file__).with_suffix(".css")
TITLE = (
    '<div class="book-title bd-article"><p class="book-name">gpnotes</p>'
    "<p>A book about Gaussian processes whose equations check themselves</p></div>"
)
FOOT = (
    '<div style="width:100%;font:8pt sans-serif;text-align:center;color:#666">'
    '<span class="pageNumber"></span></div>'
)


def document(pages: list[Tag], listed: list[Entry]) -> str:
    """Return the one page that is printed."""
    static = HTML / "_static"
    files = [path for name in STYLES for path in sorted(static.glob(name))]
    styles = "".join(f'<link rel="stylesheet" href="{path.as_uri()}">' for path in files)
    sys.path.append(str(ROOT / "book" / "_ext"))
    from set_mathematics import Setter

    body = Setter().page(TITLE + contents(listed) + "".join(map(str, pages)))
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>gpnotes</title>{styles}<style>{PRINT.read_text('utf-8')}</style>"
        f"</head><body>{body}</body></html>"
    )


READY = """() => document.fonts.ready.then(() =>
    Promise.all([...document.images].map(image => image.decode().catch(() => 0))))"""


def opened(browser: Any, source: Path) -> Any:
    """Return the document, its letters and its pictures there."""
    page = browser.new_page()
    page.set_default_timeout(1_800_000)
    page.goto(source.as_uri())
    page.evaluate(READY)
    return page


def print_page(page: Any, target: Path) -> None:
    """Print it, with bookmarks, and its number at the foot of each page."""
    page.pdf(
        path=target, prefer_css_page_size=True, print_background=True, outline=True, tagged=True,
        display_header_footer=True, header_template="<span></span>", footer_template=FOOT,
    )  # fmt: skip


SIZE, RISE = 10.5, 9.8  # points: of a number of the contents, and its base below the line's top
DIGIT = 0.556  # of the size: how wide each digit of Helvetica is


def number(source: Path, target: Path, listed: list[Entry]) -> int:
    """Write into the contents on which page each entry stands; how many pages there are."""
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=source)
    places = writer.named_destinations
    levels = {f"/{entry.anchor}": entry.level for entry in listed}
    for page in writer.pages:
        marks = []
        for note in [note.get_object() for note in page.get("/Annots", [])]:
            level = levels.pop(str(note.get("/Dest")), None)  # the contents come first
            if level is not None:
                at = writer.get_destination_page_number(places[str(note["/Dest"])]) + 1
                marks.append(_mark(str(at), level, note["/Rect"]))
        if marks:
            _write(writer, page, "".join(marks))
        if not levels:
            break
    writer.write(target)
    return len(writer.pages)


def _mark(text: str, level: int, box: Any) -> str:
    """Return a number at the right end of the first line of its entry."""
    right, top = float(box[2]), float(box[3])
    left = right - DIGIT * SIZE * len(text)
    return f"BT /Book{level} {SIZE} Tf {left:.2f} {top - RISE:.2f} Td ({text}) Tj ET\n"


def _write(writer: Any, page: Any, marks: str) -> None:
    """Put text on a page, in its own coordinates whatever those of what is there."""
    from pypdf import generic as pdf

    fonts = (
        page["/Resources"].get_object().setdefault(pdf.NameObject("/Font"), pdf.DictionaryObject())
    )
    for level, face in FACES.items():
        names = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": face}
        font = {pdf.NameObject(key): pdf.NameObject(name) for key, name in names.items()}
        fonts.get_object()[pdf.NameObject(f"/Book{level}")] = pdf.DictionaryObject(font)
    pieces = []
    for text in ("q\n", f"\nQ /Artifact BMC\n{marks}EMC\n"):
        piece = pdf.DecodedStreamObject()
        piece.set_data(text.encode("ascii"))
        pieces.append(writer._add_object(piece))
    there = page.raw_get("/Contents")
    inner = there.get_object()
    middle = list(inner) if isinstance(inner, pdf.ArrayObject) else [there]
    page[pdf.NameObject("/Contents")] = pdf.ArrayObject([pieces[0], *middle, pieces[1]])


FACES = {1: "/Helvetica-Bold", 2: "/Helvetica"}


def make(browser: Any, target: Path, names: list[str]) -> int:
    """Write the PDF of these documents; how many pages it has."""
    pages = [article(name, i, names) for i, name in enumerate(names)]
    mend(pages)
    unbroken(pages)
    source, printed = target.with_suffix(".html"), target.with_suffix(".printed.pdf")
    listed = entries(pages)
    source.write_text(document(pages, listed), encoding="utf-8")
    page = opened(browser, source)
    print_page(page, printed)
    page.close()
    count = number(printed, target, listed)
    for path in (source, printed):
        path.unlink()
    return count


def tell(path: Path, count: int) -> None:
    """Write the number of pages where a file says it."""
    said, places = COUNTED.subn(rf"\g<1>{count}\g<2>", path.read_text("utf-8"))
    if not places:
        raise SystemExit(f"{path} does not say: one PDF of so many pages")
    path.write_text(said, encoding="utf-8")


def main() -> None:
    """Print the book, or the pages that are named."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="pages, such as book/notation; else the book")
    parser.add_argument("--to", type=Path, default=TARGET)
    parser.add_argument("--count", type=Path, help="a file that says: one PDF of so many pages")
    given = parser.parse_args()
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        count = make(browser, given.to.resolve(), given.names or list(chosen(toc)))
        browser.close()
    if given.count:
        tell(given.count, count)
    print(f"{given.to}: {count} pages, {given.to.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
