"""A book of somebody else: plain Sphinx, its own theme, three kinds of pages, the engine alone.

The engine is installed from a copy of its folder, under another name, into an environment in
which nothing of gpnotes can be found.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import files
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
from headers import MYST
from small_books import Builder

import checked_equations

packages = Path(pytest.importorskip("sphinx").__file__).parent.parent
pytest.importorskip("myst_nb")
pytestmark = pytest.mark.book

NAME = "mathcheck"  # a distribution that nobody has installed
PROJECT = f"""\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{NAME}"
version = "1"

[project.entry-points."myst_nb.mime_renderers"]
{NAME} = "{NAME}.sphinx.output:CheckOutput"

[tool.setuptools.packages.find]
include = ["{NAME}*"]

[tool.setuptools.package-data]
{NAME} = ["latex/*.lark", "sphinx/static/*", "sphinx/templates/*"]
"""

LEFT_OUT = re.compile(r"(__editable__.*)?(gpnotes|checked_equations)|__pycache__|.*\.pth$")
CONF = f"""\
project = "A foreign book"
extensions = ["myst_nb", "{NAME}.sphinx"]
html_theme = "alabaster"
mathjax_path = "mathjax/tex-chtml-full.js"  # all of MathJax, as its theme might bring it
html_static_path = ["assets"]
myst_enable_extensions = ["amsmath", "dollarmath"]
nb_execution_mode = "force"
nb_execution_allow_errors = True  # a build may show them; a check that fails is red all the same
"""
INDEX = """\
A foreign book
==============

.. toctree::

   text
   notes
   work
   plain
   lecture
   experiment

.. equation-totals::

.. equation-ledger::

.. claim-ledger::
"""
TEXT = (
    MYST
    + """\
# Text

$$
A \\mathbf x = \\mathbf b
$$ (eq-solve)

By {eq}`eq-solve` and {eq}`eq-inside`:

$$
  \\mathbf x &= A^{-1} \\mathbf b \\label{eq-inside}
$$

```{code-cell} ipython3
import importlib.util
import numpy as np
from NAME import Chapter

print("gpnotes:", importlib.util.find_spec("gpnotes"))
chapter = Chapter("text")

def numbers(draw):
    A, x = draw.normal(size=(4, 4)), draw.normal(size=4)
    return {"A": A, r"\\mathbf x": x, r"\\mathbf b": A @ x}

chapter.check("eq-solve", numbers, oracle="products")
```

```{code-cell} ipython3
chapter.check("eq-inside", numbers, oracle="products")
```

```{code-cell} ipython3
chapter.ledger()
```

```{code-cell} ipython3
notes, x = Chapter("notes", "notes.rst"), np.array([1.0, 2.5, 4.0])
notes.check("eq-mean", {"m": x.mean(), "n": 3, "x": x}, oracle="NumPy's mean")
```

```{code-cell} ipython3
notes.ledger()
```
""".replace("NAME", NAME)
)
NOTES = """\
Notes
=====

.. math::
   :label: eq-mean

   m = \\frac{1}{n} \\sum_{i=1}^n x_i

It is :eq:`eq-mean` that cells of another page check.
"""
PLAIN = """\
# Plain

$$ E = m c^2 $$ (eq-nobody)

\\begin{align} a = b \\end{align}
"""
EXPERIMENT = (
    MYST
    + """\
# Experiment

```{claim} cl-gap
With more places the widest gap, $g$, is *smaller* in {share}, by {effect}.
Without Ada's places: {share:Ada's places}, with unequal ones {share:unequal places}.
```

```{claimed} cl-gap
| places | gap |
| --- | --- |
| five | {few %} |
| eighty | {many %} |
```

```{code-cell} ipython3
:tags: [evidence]
import numpy as np
from NAME import Chapter

chapter = Chapter("experiment")

def gap(rng, places):
    return float(np.diff(np.sort(rng.uniform(size=places))).max())

def gaps(rng, more=80):
    return {"few": gap(rng, 5), "many": gap(rng, more)}

def no_more(rng):
    return gaps(rng, 5)

def unequal(rng):
    return {"few": float(np.diff(np.sort(rng.beta(2, 2, 5))).max()),
            "many": float(np.diff(np.sort(rng.beta(2, 2, 80))).max())}

chapter.claim("cl-gap", gaps, holds=lambda r: r.many < r.few, least=11,
              effect=lambda r: r.few - r.many, without={"Ada's places": no_more},
              settings={"unequal places": unequal})
```

```{code-cell} ipython3
chapter.ledger()
```
""".replace("NAME", NAME)
)
CELLS = {
    "markdown": ["# Work\n\n```{math}\n:label: eq-own\nd = a - b\n```\n"],
    "code": [
        f'from {NAME} import Chapter, check_equation\nwork = Chapter("work")\n'
        'work.check("eq-own", {"d": 1.5, "a": 4.0, "b": 2.5}, oracle="by hand")',
        'check_equation("c = a b", {"a": 2.5, "b": 4.0, "c": 10.0})',
        "work.ledger()",
    ],
}  # fmt: skip


def notebook() -> str:
    kinds = [(kind, source) for kind, sources in CELLS.items() for source in sources]
    cells = [
        {
            "cell_type": kind, "metadata": {}, "source": source, "id": f"cell-{i}",
            **({"outputs": [], "execution_count": None} if kind == "code" else {}),
        }
        for i, (kind, source) in enumerate(kinds)
    ]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


LECTURE = (Path(__file__).parents[2] / "tests" / "book" / "pages" / "lecture.md").read_text("utf-8")
WITHOUT_SOURCE = 'chapter.source("S1-01", "holds", label="eq-one")', "1"
PAGES = {
    "lecture.md": LECTURE.replace(*WITHOUT_SOURCE).replace("gpnotes_book", NAME),
    "conf.py": CONF,
    "index.rst": INDEX,
    "text.md": TEXT,
    "notes.rst": NOTES,
    "plain.md": PLAIN,
    "experiment.md": EXPERIMENT,
    "work.ipynb": notebook(),
}


BUILD = ("-W", "--keep-going", "-q", "-b", "html", ".", "_build")  # a warning is an error
BELOW = getattr(sys, "_base_executable", sys.executable)  # the interpreter below this environment


@dataclass(frozen=True)
class Foreign:
    """A folder with the book, and where its packages lie."""

    folder: Path
    site: Path
    sphinx: Builder

    def build(self) -> subprocess.CompletedProcess[str]:
        """Build the book, by a copy of a process that has imported Sphinx from `site`."""
        return self.sphinx(*BUILD, cwd=self.folder)

    def build_as_told(self) -> subprocess.CompletedProcess[str]:
        """Build it as a reader would, by an interpreter that has just started."""
        return python(self.site, "-m", "sphinx", *BUILD, cwd=self.folder)

    def page(self, name: str) -> str:
        return (self.folder / "_build" / f"{name}.html").read_text(encoding="utf-8")


def python(site: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the interpreter below this environment on the packages in `site` alone."""
    command = [BELOW, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=only(site), capture_output=True, text=True, check=False, timeout=120
    )


def only(site: Path) -> dict[str, str]:
    """The environment of a process that finds the packages in `site` and no others."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return env | {"PYTHONPATH": str(site), "IPYTHONDIR": str(site.parent / "ipython")}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    """The engine, installed from a folder of its own beside all packages but gpnotes; a book."""
    root = tmp_path_factory.mktemp("foreign")
    site, project, folder = (root / name for name in ("site", "project", "book"))
    for place in (site, project, folder):
        place.mkdir()
    for package in packages.iterdir():
        if not LEFT_OUT.match(package.name):
            (site / package.name).symlink_to(package)
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    copytree(
        Path(checked_equations.__file__).parent,
        project / NAME,
        ignore=ignore_patterns("__pycache__"),
    )
    install = ["-m", "pip", "install", "-qq", "--no-deps", "--no-index", "--no-build-isolation"]
    done = python(site, *install, "--target", str(root / "new"), ".", cwd=project)
    assert done.returncode == 0, done.stderr
    for installed in (root / "new").iterdir():
        installed.rename(site / installed.name)
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "assets").mkdir()
    entry = next(e for e in files("sphinx-mathjax-offline") if e.name == "tex-chtml-full.js")
    copytree(Path(entry.locate()).parent, folder / "assets" / "mathjax")
    sphinx = Builder(BELOW, only(site), NAME)
    yield Foreign(folder, site, sphinx)
    sphinx.close()


@pytest.fixture(scope="module")
def built(foreign: Foreign) -> Foreign:
    """The book, built without a warning."""
    done = foreign.build()
    assert done.returncode == 0, done.stderr
    return foreign


def test_nothing_else_of_gpnotes_is_there(foreign: Foreign) -> None:
    done = python(foreign.site, "-c", "import gpnotes", cwd=foreign.folder)
    assert "No module named 'gpnotes'" in done.stderr
    done = python(foreign.site, "-c", f"import {NAME}; print({NAME}.__file__)", cwd=foreign.folder)
    assert str(foreign.site) in done.stdout


@pytest.mark.parametrize(
    ("page", "labels"),
    [
        ("text", ["eq-solve", "eq-inside"]),
        ("notes", ["eq-mean"]),
        ("work", ["eq-own"]),
        ("plain", []),
    ],
)
def test_badges_stand_beside_the_equations_of_every_kind_of_page(
    built: Foreign, page: str, labels: list[str]
) -> None:
    assert re.findall(r'<details class="[^"]*" data-label="([^"]*)"', built.page(page)) == labels


def test_a_label_inside_is_a_number_and_a_target(built: Foreign) -> None:
    text = built.page("text")
    assert 'id="equation-eq-inside"' in text
    assert r"\label" not in text
    links = re.findall(r'href="#equation-(eq-[a-z]+)">\((\d)\)', text)
    assert set(links) == {("eq-solve", "1"), ("eq-inside", "2")}


def test_its_kernels_find_nothing_else_of_gpnotes_either(built: Foreign) -> None:
    assert "gpnotes: None" in built.page("text")


def test_a_check_of_a_string_shows_its_line(built: Foreign) -> None:
    assert "holds to 1e-09 · 1 step · " in built.page("work")


def test_a_claim_has_its_numbers_its_badge_and_its_row(built: Foreign) -> None:
    page = built.page("experiment")
    said = r"<em>smaller</em> in 1[12] of 12 \(\d+ to \d+\s%\), by 0\.\d+\s±\s0\.\d+"
    assert re.search(said, page)
    variants = r"with unequal places 1[12] of 12</span><span>without Ada's places \d of 12</span>"
    assert re.search(rf"<span>1[12] of 12</span><span>{variants}", page)
    badge = page[page.index('class="eqn-badge eqn-claim"') :]
    assert badge.count("h0") + badge.count("m-4-4") == 36
    assert "chapter" in badge.partition("The code of this check")[2].partition("</pre>")[0]
    again = page[page.index("eqn-cited") :].partition("</table>")[0]
    assert re.search(r"<p>five</p></td>\n<td><p>\d+(\.\d)?\s±\s\d", again)
    rows = built.page("index").partition('data-things="claims"')[2]
    assert "below 11 of 12; " in rows
    assert '<tr id="row-cl-gap">' in rows
    assert "widest gap" in rows
    data = json.loads((built.folder / "_build" / "ledger.json").read_text())
    assert [claim["label"] for claim in data["claims"]] == ["cl-gap"]
    assert data["totals"]["claims"] == data["totals"]["claims_with_cause"] == 1


def test_there_is_a_ledger(built: Foreign) -> None:
    ledger = json.loads((built.folder / "_build" / "ledger.json").read_text(encoding="utf-8"))
    rows = {row["label"]: row for row in ledger["equations"]}
    assert set(rows) == {"eq-solve", "eq-inside", "eq-mean", "eq-own", "eq-one", "eq-two"}
    assert all(row["mutants"]["caught"] for row in rows.values())
    assert "NumPy's mean" in built.page("index") or "NumPy&#x27;s mean" in built.page("index")


TOLD = Path(__file__).parents[2] / "book" / "api" / "in-a-book-of-your-own.md"


def told(kind: str, about: str = "") -> str:
    """The one block of the page *In a book of your own* in which something stands."""
    text = TOLD.read_text(encoding="utf-8")
    blocks = re.findall(rf"^(`{{3,4}}){kind}\n(.*?)^\1$", text, re.M | re.S)
    (block,) = (block for _, block in blocks if about in block)
    return block.replace("checked_equations", NAME)


def test_the_book_in_three_minutes_builds(foreign: Foreign, tmp_path: Path) -> None:
    conf, page = told("python", "extensions ="), told("markdown")
    for name, text in {"conf.py": conf, "index.md": page}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = replace(foreign, folder=tmp_path)
    for build in (shown.build_as_told, shown.build):  # the second beside what the first has left
        done = build()
        assert done.returncode == 0, done.stderr
        (tmp_path / "index.md").touch()
    assert "26 of 26 mutants caught" in shown.page("index")


def test_jupyter_book_builds_it_as_well(foreign: Foreign, tmp_path: Path) -> None:
    pytest.importorskip("jupyter_book")
    files = {"_config.yml": told("yaml", "extra_extensions"), "index.md": told("markdown")}
    for name, text in {**files, "_toc.yml": "format: jb-book\nroot: index\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    code = "from jupyter_book.cli.main import main; main(['build', '.', '-W', '--keep-going'])"
    done = python(foreign.site, "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    html = tmp_path / "_build" / "html" / "index.html"
    assert "26 of 26 mutants caught" in html.read_text(encoding="utf-8")


def test_one_equation_in_a_notebook(foreign: Foreign, tmp_path: Path) -> None:
    code = told("python", "check_equation(").replace("check_equation(r", "print(check_equation(r")
    done = python(foreign.site, "-c", code.rstrip() + ")", cwd=tmp_path)
    assert done.stdout.startswith("holds to 1e-09 · 1 step · 3 draws · "), done.stderr


def test_in_a_browser_all_works_there(built: Foreign, browser: Any) -> None:
    """Badges, the live equation and the switch of the evidence, with a theme that is not ours."""
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(120_000)
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.route("http*://**", lambda route: route.abort())
    page.goto((built.folder / "_build" / "lecture.html").as_uri())
    badge = page.locator("details.eqn-badge[data-label=eq-one]")
    place = badge.locator("xpath=..").locator(".eqn-place")
    badge.locator("> summary").click()
    place.first.wait_for()
    assert not badge.evaluate("badge => badge.matches('.eqn-broken')")
    place.first.click()
    badge.locator("xpath=self::*[contains(@class, 'eqn-broken')]").wait_for()
    assert "off by" in badge.locator("> summary").inner_text()
    page.keyboard.press("Escape")
    page.locator(".eqn-broken").wait_for(state="detached")
    badge.locator("> summary").click()
    page.get_by_role("button", name="Show the evidence").click()
    assert page.locator("details:is(.eqn-badge, .eqn-workshop):not([open])").count() == 0
    assert badge.locator(".cell").first.is_visible()
    assert page.locator("div.math > mjx-container").count() >= 2
    assert broken == []
    page.close()


FLIPS = {
    "text.md": ("eq-inside", r"A^{-1} \mathbf b \label", r"-A^{-1} \mathbf b \label"),
    "notes.rst": ("eq-mean", r"m = \frac", r"m = -\frac"),
}


WORDED = {"by {effect}.": "by {effort}."}


@pytest.fixture(scope="module")
def flipped(built: Foreign) -> str:
    """What the build says when a sign is flipped on two pages and a third says other words."""
    changes = {page: {old: new} for page, (_, old, new) in FLIPS.items()}
    for page, replaced in {**changes, "experiment.md": WORDED}.items():
        text = PAGES[page]
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        (built.folder / page).write_text(text, encoding="utf-8")
    done = built.build()
    assert done.returncode != 0
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stderr)


@pytest.mark.parametrize("page", ["text.md", "notes.rst"])
def test_a_flipped_sign_makes_the_build_red(flipped: str, page: str) -> None:
    label, old, _ = FLIPS[page]
    line = 1 + PAGES[page].split(old)[0].count("\n")
    assert re.search(rf"{page}, {label}, line {line}, column \d+: .*does not hold", flipped)


def test_a_sentence_without_its_number_makes_the_build_red(flipped: str) -> None:
    """Though no experiment runs again: the words alone are wrong."""
    assert re.search(r"experiment\.md:\d+: WARNING", flipped)
    assert "no number is called effort" in flipped
