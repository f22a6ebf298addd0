"""What Sphinx finds out once and not for every page: the pages are the same, in fewer looks."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

EXTENSIONS = Path(__file__).resolve().parents[2] / "book" / "_ext"
FIGURE = ".. figure:: {0}.svg\n   :name: fig-{0}\n\n   A picture.\n\n"
PICTURE = "<svg xmlns='http://www.w3.org/2000/svg'/>"
THINGS = {"one": "code", "two": "code", "three": "code", "four": "figures", "five": "figures"}
REFERENCES = "Code\n====\n\nBoth :numref:`fig-a` and :numref:`fig-b`, again :numref:`fig-b`.\n\n"
CONF = f"""
from types import SimpleNamespace

html_theme = "basic"
numfig = True
templates_path = ["templates"]
html_sidebars = {{"**": ["sbt-sidebar-nav.html"]}}

def setup(app):
    things = {{f"things/{{name}}": page for name, page in {THINGS}.items()}}
    app.api_rooms = {{name: SimpleNamespace(overviews=[page]) for name, page in things.items()}}
"""
SIDE = (EXTENSIONS.parent / "_templates" / "sbt-sidebar-nav.html").read_text("utf-8")
FILES = {
    "conf.py": CONF,
    "templates/sbt-sidebar-nav.html": SIDE,
    "templates/components/sbt-sidebar-nav.html": "{{ toctree() }}",
    "index.rst": "All\n===\n\n.. toctree::\n\n   figures\n   code\n",
    "figures.rst": "Figures\n=======\n\n" + FIGURE.format("a") + FIGURE.format("b"),
    "code.rst": REFERENCES,
    "a.svg": PICTURE,
    "b.svg": PICTURE,
    **{f"things/{name}.rst": f":orphan:\n\n{name}\n=====\n" for name in THINGS},
}


def built(folder: Path, *more: str) -> dict[str, str]:
    """The pages of a small site, with extensions beside Sphinx's own."""
    for name, text in FILES.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / "in" / name).exists():
            (folder / "in" / name).write_text(text, "utf-8")
    places = [str(folder / name) for name in ("in", "in", "out", "trees")]
    said = io.StringIO()
    with docutils_namespace():
        site = Sphinx(*places, "html", {"extensions": list(more)}, status=None, warning=said)
        site.build()
    assert said.getvalue() == ""
    pages = sorted((folder / "out").rglob("*.html"))
    return {page.relative_to(folder / "out").as_posix(): page.read_text("utf-8") for page in pages}


def unmarked(page: str) -> str:
    """A page without a mark in the contents at its side, as Sphinx and as the theme set it."""
    page = re.sub(
        r'(<li class="toctree-l1) current(?: active)?"><a class="current ', r'\1"><a class="', page
    )
    return page.replace('<ul class="current">', "<ul>")


MARKED = '<li class="toctree-l1 current active"><a class="current reference internal" href="{}">'


def test_the_pages_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXTENSIONS)
    before = built(tmp_path / "before")
    after = built(tmp_path / "after", "write_once")
    assert {name: unmarked(page) for name, page in after.items()} == {
        name: unmarked(page) for name, page in before.items()
    }
    links = {f"things/{name}": f"../{page}.html" for name, page in THINGS.items()}
    for name, link in {**links, "figures": "#", "code": "#"}.items():
        assert after[f"{name}.html"].count(MARKED.format(link)) == 1
        assert after[f"{name}.html"].count(" current ") == 1
    assert "Fig. 2" in after["code.html"]


def test_no_word_is_indexed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The book has an index of its own; Sphinx's is not missed when a page has changed."""
    monkeypatch.syspath_prepend(EXTENSIONS)
    built(tmp_path, "site_search")
    (tmp_path / "in" / "code.rst").write_text("Code\n====\n\nOther words.\n", "utf-8")
    assert "Other words." in built(tmp_path, "site_search")["code.html"]
    assert "Other words." in (tmp_path / "out" / "_static" / "search-data.js").read_text("utf-8")
    assert not (tmp_path / "out" / "searchindex.js").exists()
