"""The notebooks that the pages offer: readable in any host, light to run, checking themselves."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from checked_equations.book import execution, markup, prose
from gpnotes_book import Chapter
from gpnotes_book.inline_relations import names_heading

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(
    path.relative_to(ROOT / "book").with_suffix("").as_posix()
    for path in ROOT.glob("book/*/*.md")
    if "\nchapter.ledger()" in path.read_text("utf-8") and path.parent.name != "api"
)
SHORT = "gaussian-processes/weight-view"  # it runs in a few seconds

LEFT_OVER = re.compile(
    r"\{[a-z][a-z:_-]*\}`|^\s*:{3,}|^\s*:[a-z-]+:|^\([\w-]+\)=|^\s*`{3,}\{|^%|&lt;|\beqn-", re.M
)
FORMULAS = re.compile(r"\$\$.*?\$\$|(?<!\\)\$[^$\n]+?\$", re.S)
FENCED = re.compile(r"^```\w*\n.*?^```$", re.M | re.S)
ALLOWED = {"gpnotes", "gpnotes_book", "numpy", "scipy", "matplotlib", "gymnasium"}


@pytest.fixture(scope="module")
def taken(book_html: Path) -> Any:
    """A function that gives the notebook of a chapter, as downloaded."""
    return lambda slug: book_html / "_sources" / "book" / f"{slug}.ipynb"


def read(path: Path, kind: str) -> list[Any]:
    """The cells of a kind."""
    return [cell for cell in cells(path) if cell.cell_type == kind]


@lru_cache(maxsize=1)  # each is asked for seven times, one after the other
def cells(path: Path) -> list[Any]:
    return nbformat.read(path, as_version=4).cells


def test_every_chapter_has_one() -> None:
    assert len(CHAPTERS) >= 6


def nothing_of_the_books_markup_is_left(taken: Any, slug: str) -> None:
    left = [
        match[0].strip()
        for cell in read(taken(slug), "markdown")
        for match in LEFT_OVER.finditer(FENCED.sub("", cell.source))
    ]
    assert left == []


def no_star_is_left_of_what_should_be_slanted(taken: Any, slug: str) -> None:
    """But for that of a starred section, at the end of its name."""
    written = MarkdownIt("commonmark").enable("table")
    left = [
        part.content
        for cell in read(taken(slug), "markdown")
        for block in written.parse(FORMULAS.sub("formula", cell.source))
        for part in block.children or ()
        if part.type == "text" and "*" in part.content.removesuffix(" *")
    ]
    assert left == []


def the_equations_have_the_numbers_of_the_page(
    taken: Any, slug: str, trees: dict[str, Any]
) -> None:
    text = "\n\n".join(cell.source for cell in read(taken(slug), "markdown"))
    tagged = re.findall(r"\\tag\{([\d.]+)\}\n\$\$\n<!-- label: (\S+) -->", text)
    spans = trees[f"book/{slug}.html"].css("div.math[id] > span.eqno")
    shown = {re.match(r"\(([\d.]+)\)", span.text())[1]: span.parent.id for span in spans}
    assert len(shown) > 5
    assert {number: f"equation-{label}" for number, label in tagged} == shown


def it_says_what_the_chapter_says(taken: Any, slug: str) -> None:
    """The same equations, relations in sentences and code: so the same is checked."""
    notebook, text = taken(slug), ROOT / "book" / f"{slug}.md"
    ours, theirs = markup.read(notebook), markup.read(text)
    assert {k: e.digest for k, e in ours.items()} == {k: e.digest for k, e in theirs.items()}
    formulas = [prose.read_formulas(path) for path in (notebook, text)]
    relations = [
        [" ".join(f.latex.split()) for f in found if prose.relates(f.latex)] for found in formulas
    ]
    assert relations[0] == relations[1]
    in_words = (prose.sentences(path.read_text("utf-8"), path.suffix) for path in (notebook, text))
    assert next(in_words) == next(in_words)
    code = [cell.source.strip() for cell in read(notebook, "code")]
    assert code == [cell.code.strip() for cell in execution.cells(text)]


def it_asks_for_little(taken: Any, slug: str) -> None:
    module = ast.parse("\n".join(cell.source for cell in read(taken(slug), "code")))
    named = {a.name for n in ast.walk(module) if isinstance(n, ast.Import) for a in n.names}
    named |= {n.module for n in ast.walk(module) if isinstance(n, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in named} - set(sys.stdlib_module_names) <= ALLOWED


def figures_show_in_a_notebook_that_nobody_has_run(taken: Any, slug: str) -> None:
    shown = [o.get("data", {}) for c in read(taken(slug), "code") for o in c.outputs]
    drawn = [data for data in shown if "image/svg+xml" in data]
    assert len(drawn) > 3
    assert all("image/png" in data for data in drawn)
    assert not [kind for data in shown for kind in data if kind.startswith("application/")]
    captions = [c for c in read(taken(slug), "markdown") if "caption" in c.metadata.get("tags", [])]
    assert sum(c.source.count("**Figure ") for c in captions) >= len(drawn) // 2


def evidence_and_solutions_open_on_a_click(taken: Any, slug: str) -> None:
    for cell in read(taken(slug), "code"):
        if {"evidence", "hide-input"} & set(cell.metadata.get("tags", [])):
            assert cell.metadata["jupyter"] == {"source_hidden": True}
    text = "\n\n".join(cell.source for cell in read(taken(slug), "markdown"))
    exercises = re.findall(r"^#+ (Exercise [\d.]+)", text, re.M)
    solved = re.findall(r"^<summary>Solution to (Exercise [\d.]+)", text, re.M)
    assert exercises
    assert list(dict.fromkeys(solved)) == exercises
    assert text.count("<details>") == text.count("</details>")


def the_headings_that_its_cells_name_stand_in_it(taken: Any, slug: str) -> None:
    """What a cell says of the relations `under` a heading finds it in the notebook as well."""
    text = "\n".join(cell.source for cell in read(taken(slug), "markdown"))
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    for cell in read(taken(slug), "code"):
        for under in re.findall(r"under=(?:\"(.*?)\"|'(.*?)')", cell.source):
            wanted = "".join(under)
            assert any(names_heading(wanted, heading) for heading in headings), wanted


@pytest.mark.parametrize("slug", CHAPTERS)
def test_a_chapter_may_be_taken_away(taken: Any, trees: dict[str, Any], slug: str) -> None:
    nothing_of_the_books_markup_is_left(taken, slug)
    no_star_is_left_of_what_should_be_slanted(taken, slug)
    the_equations_have_the_numbers_of_the_page(taken, slug, trees)
    it_says_what_the_chapter_says(taken, slug)
    it_asks_for_little(taken, slug)
    figures_show_in_a_notebook_that_nobody_has_run(taken, slug)
    evidence_and_solutions_open_on_a_click(taken, slug)
    the_headings_that_its_cells_name_stand_in_it(taken, slug)


# A finder for the folder that a kernel reads first: all that makes pages is not there.
BARRIER = """
import importlib.abc, sys
class Barrier(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BARRED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
BARRED = {"sphinx", "docutils", "myst_nb", "myst_parser", "jupytext", "sklearn"}
sys.meta_path.insert(0, Barrier())
"""


@pytest.fixture
def alone(tmp_path: Path, taken: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that runs a notebook in a folder of its own, without what makes pages."""
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "sitecustomize.py").write_text(BARRIER)
    path = os.pathsep.join([str(tmp_path / "bare"), str(ROOT / "src")])
    for name in ("JPY_SESSION_NAME", "MPLBACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", path)

    def run(slug: str, name: str, edit: Any = lambda text: text) -> Any:
        folder = tmp_path / "away"
        folder.mkdir(exist_ok=True)
        text = edit(taken(slug).read_text("utf-8"))
        (folder / name).write_text(text, encoding="utf-8")
        notebook = nbformat.reads(text, as_version=4)
        place = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=300, resources=place).execute()
        return notebook

    return run


@pytest.mark.slow
def test_one_runs_and_checks_itself_without_what_makes_pages(alone: Any) -> None:
    runs_and_checks_itself(alone, SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("slug", CHAPTERS)
def test_each_runs_and_checks_itself_without_what_makes_pages(alone: Any, slug: str) -> None:
    runs_and_checks_itself(alone, slug)


def runs_and_checks_itself(alone: Any, slug: str) -> None:
    notebook = alone(slug, "downloaded (1).ipynb")
    said = json.dumps([c.get("outputs") for c in notebook.cells], ensure_ascii=False)
    assert said.count("downloaded (1).ipynb") > 15
    assert "as packaged" not in said


# In the first of its equations, so that few cells run before.
SIGN = r"\\exp\\left( -\\frac{1}{2\\sigma_n^2} \\lVert"


@pytest.mark.slow
def test_a_flipped_sign_in_it_fails(alone: Any) -> None:
    def flip(text: str) -> str:
        assert SIGN in text
        return text.replace(SIGN, SIGN.replace("-", "+"), 1)  # below it, outputs repeat the formula

    with pytest.raises(CellExecutionError, match=r"weight-view\.ipynb, eq-wv-likelihood"):
        alone(SHORT, "weight-view.ipynb", flip)


def test_beside_the_text_it_is_the_same_chapter(
    taken: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ROOT / "book" / f"{SHORT}.md"
    for path in (text, taken(SHORT)):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert Chapter(SHORT).relations()
