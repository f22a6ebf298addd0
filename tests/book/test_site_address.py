"""One setting tells where the site is; without it no page names another host."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("sphinx_book_theme")
bs4 = pytest.importorskip("bs4")

ROOT = Path(__file__).resolve().parents[2]
CONF = """\
import sys
sys.path.insert(0, {ext!r})
html_title = "tiny"  # Jupyter Book gives no name of a project
version = release = "0.1.0"
extensions = ["myst_parser", "sphinx_design", "tidy_site", "site_address"]
myst_enable_extensions = ["dollarmath"]
html_theme = "sphinx_book_theme"
templates_path = [{templates!r}]
html_context = {{"book_description": "A tiny book."}}
html_theme_options = {{"footer_content_items": ["report.html"]}}
site_address = {address!r}
"""
CHAPTER = r"""---
kernelspec: {name: python3, display_name: Python 3}
---
# A chapter with $x$

What is $f(x)$, whatever anyone says about it in a formula of this length?

```{note}
A note of some length that describes nothing of the page on which it stands.
```

Curves through *seven* points are what this chapter is about. It goes on
for a while, so that not all of it has room where only the beginning of a page is shown to somebody
who looks for it, which is why the second sentence must go.
"""
PAGES = {
    "index": "# Tiny\n\n```{toctree}\n:caption: Chapters\npart/chapter\n```\n\n"
    "```{toctree}\n:caption: Around\nbook/cite\n```\n",
    "part/chapter": CHAPTER,
    "book/cite": "# Cite\n\n(cite)=\n\n(report)=\nShort.\n\n"
    "```bibtex\n@software{tiny,\n  year    = {2026}\n}\n```\n",
}
ADDRESS = {
    "pages": "https://dummy.example/notes/",
    "repository": "https://github.com/dummy/notes",
    "branch": "main",
    "lite": True,
}


def built(sphinx: Any, folder: Path, address: Any) -> CompletedProcess[str]:
    conf = CONF.format(
        ext=str(ROOT / "book" / "_ext"),
        templates=str(ROOT / "book" / "_templates"),
        address=address,
    )
    files = {"conf.py": conf, **{f"{name}.md": text for name, text in PAGES.items()}}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "book" / "card.png").write_bytes(b"a picture")
    return sphinx("-q", "-W", "--keep-going", ".", "out", cwd=folder)


def soup(folder: Path, name: str) -> Any:
    return bs4.BeautifulSoup((folder / "out" / name).read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory: pytest.TempPathFactory, sphinx: Any) -> Path:
    folder = tmp_path_factory.mktemp("somewhere")
    done = built(sphinx, folder, ADDRESS)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory, sphinx: Any) -> Path:
    """Built with an address first: what it left must go."""
    folder = tmp_path_factory.mktemp("nowhere")
    for address in (ADDRESS, {"pages": "", "repository": "", "branch": "main"}):
        done = built(sphinx, folder, address)
        assert done.returncode == 0, done.stderr
    return folder


def meta(page: Any, name: str) -> str | None:
    found = page.find("meta", attrs={"property": name}) or page.find("meta", attrs={"name": name})
    return found["content"] if found else None


def links(page: Any) -> dict[str, str]:
    return {" ".join(link.get_text().split()): link["href"] for link in page.select("a[href]")}


def test_without_an_address_no_page_names_another_host(nowhere: Path) -> None:
    for name in ("index.html", "part/chapter.html", "book/cite.html"):
        text = (nowhere / "out" / name).read_text("utf-8")
        assert "dummy" not in text, name
        page = soup(nowhere, name)
        assert page.find("link", rel="canonical") is None
        assert meta(page, "og:url") is meta(page, "og:image") is None
        assert not [x for x in links(page).values() if "github.com/" in x or "binder" in x]
    for name in ("sitemap.xml", "404.html", "_static/card.png"):
        assert not (nowhere / "out" / name).exists()


def test_a_page_describes_itself_with_or_without_an_address(somewhere: Path, nowhere: Path) -> None:
    wanted = "Curves through seven points are what this chapter is about."
    for folder in (somewhere, nowhere):
        page = soup(folder, "part/chapter.html")
        assert meta(page, "description") == meta(page, "og:description") == wanted
        assert meta(soup(folder, "genindex.html"), "description") == "A tiny book."


def test_a_page_says_where_it_is(somewhere: Path) -> None:
    page = soup(somewhere, "part/chapter.html")
    here = "https://dummy.example/notes/part/chapter.html"
    assert page.find("link", rel="canonical")["href"] == here == meta(page, "og:url")
    assert meta(page, "og:image") == "https://dummy.example/notes/_static/card.png"
    assert (somewhere / "out" / "_static" / "card.png").read_bytes() == b"a picture"
    assert meta(page, "og:site_name") == "tiny"
    assert meta(page, "og:type") == "article"
    assert meta(soup(somewhere, "index.html"), "og:type") == "website"


@pytest.mark.parametrize(
    ("name", "opened"),
    [("part/chapter", "Chapters"), ("book/cite", "Around"), ("index", "Chapters")],
)
def test_the_contents_stand_behind_the_text_with_one_part_open(
    somewhere: Path, name: str, opened: str
) -> None:
    """As this theme makes them; a second build finds them so."""
    page = soup(somewhere, f"{name}.html")
    inner = page.select_one(".bd-container__inner")
    places = [child.get("id") for child in inner.find_all(recursive=False)]
    assert places.index("main-content") < places.index("pst-primary-sidebar")
    parts = page.select("#pst-primary-sidebar nav details.book-part")
    assert [part.summary.get_text() for part in parts] == ["Chapters", "Around"]
    assert [part.summary.get_text() for part in parts if part.has_attr("open")] == [opened]
    assert all(part.select("li a") for part in parts)


def test_buttons_lead_to_the_source_of_the_page(somewhere: Path) -> None:
    found = links(soup(somewhere, "part/chapter.html"))
    repository = ADDRESS["repository"]
    assert found["Source of this page"] == f"{repository}/blob/main/part/chapter.md?plain=1"
    assert found["Suggest a change"] == f"{repository}/edit/main/part/chapter.md"
    binder = "https://mybinder.org/v2/gh/dummy/notes/main?urlpath=lab/tree/part/chapter.md"
    assert found["Run on Binder"] == binder
    colab = "https://colab.research.google.com/github/dummy/notes/blob/notebooks/part/chapter.ipynb"
    assert found["Open in Colab"] == colab
    lite = "https://dummy.example/notes/lite/lab/index.html?path=part/chapter.ipynb"
    assert found["Run in this browser"] == lite
    places = {"Run on Binder", "Open in Colab", "Run in this browser"}
    assert not places & links(soup(somewhere, "book/cite.html")).keys()


def test_the_form_for_a_slip_knows_page_and_version(somewhere: Path) -> None:
    found = links(soup(somewhere, "part/chapter.html"))
    asked = urlsplit(found["on this page"])
    given = {name: value for name, (value,) in parse_qs(asked.query).items()}
    assert asked.path == "/dummy/notes/issues/new"
    assert given["version"] == "0.1.0"
    assert "part/chapter" in given["where"]
    form = ROOT / ".github" / "ISSUE_TEMPLATE" / given.pop("template")
    assert given.keys() <= set(re.findall(r"id: (\w+)", form.read_text("utf-8")))


def test_machines_find_all_pages_and_people_a_way_back(somewhere: Path) -> None:
    listed = re.findall("<loc>(.*?)</loc>", (somewhere / "out" / "sitemap.xml").read_text("utf-8"))
    site = "https://dummy.example/notes"
    assert listed == [f"{site}/{name}.html" for name in sorted(PAGES)]
    assert set(links(soup(somewhere, "404.html")).values()) == {
        f"{site}/index.html", f"{site}/search.html",
    }  # fmt: skip


def test_the_entry_for_a_bibliography_says_where_the_book_is(
    somewhere: Path, nowhere: Path
) -> None:
    entry = "@software{tiny,\n  year    = {2026}"
    assert soup(nowhere, "book/cite.html").pre.get_text().strip() == entry + "\n}"
    address = ",\n  url     = {https://dummy.example/notes/}\n}"
    assert soup(somewhere, "book/cite.html").pre.get_text().strip() == entry + address


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"pages": "dummy.example"}, "site_address.pages must be like https://host/"),
        ({"repository": "https://example.org/a/b"}, "must be like https://github.com/owner/name"),
        ({"url": "https://dummy.example"}, "site_address may have pages, repository, branch"),
        ({"lite": True}, "site_address.lite must be true or false, and needs site_address.pages"),
    ],
)
def test_what_is_no_address_is_refused(
    sphinx: Any, tmp_path: Path, address: Any, said: str
) -> None:
    done = built(sphinx, tmp_path, address)
    assert done.returncode != 0
    assert said in done.stderr


def test_the_card_has_the_size_that_other_sites_ask_for() -> None:
    head = (ROOT / "book" / "card.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(head[at : at + 4], "big") for at in (16, 20)] == [1200, 630]
