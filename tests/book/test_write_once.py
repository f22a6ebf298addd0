"""What Sphinx finds out once and not for every page: the pages are the same, in fewer looks."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import docutils_namespace

EXTENSIONS = Path(__file__).resolve().parents[2] / "book" / "_ext"
FIGURE = ".. figure:: {0}.svg\n   :name: fig-{0}\n\n   A picture.\n\n"
PICTURE = "<svg xmlns='http://www.w3.org/2000/svg'/>"
MODULE = ".. automodule:: looked_into.{}\n   :members:\n\n"
MODULES = ("one", "two", "three", "deep.four", "deep.five")
REFERENCES = "Code\n====\n\nBoth :numref:`fig-a` and :numref:`fig-b`, again :numref:`fig-b`.\n\n"
FILES = {
    "conf.py": 'html_theme = "basic"\nnumfig = True\nhtml_sidebars = {"**": ["globaltoc.html"]}\n',
    "index.rst": "All\n===\n\n.. toctree::\n\n   figures\n   code\n",
    "figures.rst": "Figures\n=======\n\n" + FIGURE.format("a") + FIGURE.format("b"),
    "code.rst": REFERENCES + "".join(map(MODULE.format, MODULES)),
    "a.svg": PICTURE,
    "b.svg": PICTURE,
}
PACKAGE = ("__init__", "deep/__init__", *(name.replace(".", "/") for name in MODULES))
FILES |= {
    f"looked_into/{name}.py": '"""A module."""\n\n\ndef it():\n    """It."""\n' for name in PACKAGE
}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the contents at the side were made, and a page read for one who looks into it."""
    count: Counter[str] = Counter()

    def counted(kind: type, name: str) -> None:
        before = getattr(kind, name)

        def call(self: object, *told: object, **options: object) -> object:
            count[name] += 1
            return before(self, *told, **options)

        monkeypatch.setattr(kind, name, call)

    counted(StandaloneHTMLBuilder, "_get_local_toctree")
    counted(BuildEnvironment, "get_doctree")
    return count


def built(folder: Path, *more: str) -> dict[str, str]:
    """The pages of a small site, with extensions beside Sphinx's own."""
    for name, text in FILES.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text, "utf-8")
    places = [str(folder / name) for name in ("in", "in", "out", "trees")]
    extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode", *more]
    said = io.StringIO()
    with docutils_namespace():
        site = Sphinx(*places, "html", {"extensions": extensions}, status=None, warning=said)
        site.build()
    assert said.getvalue() == ""
    pages = sorted((folder / "out").rglob("*.html"))
    return {page.relative_to(folder / "out").as_posix(): page.read_text("utf-8") for page in pages}


def test_the_pages_are_the_same_in_fewer_looks(
    tmp_path: Path, looks: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXTENSIONS)
    monkeypatch.syspath_prepend(tmp_path / "before" / "in")
    before = built(tmp_path / "before")
    often = looks.copy()
    looks.clear()
    after = built(tmp_path / "after", "write_once")
    assert after == before
    assert sum(name.startswith("_modules/looked_into/") for name in after) == 5
    assert 'href="../../figures.html"' in after["_modules/looked_into/one.html"]
    assert 'href="../../../figures.html"' in after["_modules/looked_into/deep/four.html"]
    assert "Fig. 2" in after["code.html"]
    assert often["_get_local_toctree"] - looks["_get_local_toctree"] == 3  # of 3 modules, and of 2
    assert often["get_doctree"] - looks["get_doctree"] == 2
