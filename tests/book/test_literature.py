"""A figure of the literature shows where it stands, and is refused where it does not say it."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONF = f"""\
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_parser", "sphinxcontrib.bibtex", "literature"]
bibtex_bibfiles = ["references.bib"]
"""
BIB = (
    "@book{gauss1809, author = {Carl Gauss}, title = {Theoria motus}, "
    "publisher = {Perthes}, address = {Hamburg}, year = {1809}}\n"
)
PAGE = "# Page\n\nThere are {{literature}}`{}` of them.\n\n```{{bibliography}}\n```\n"


@pytest.mark.site
def test_no_reference_has_markup_of_latex(trees: Any) -> None:
    """Titles have their letters as they are: a formula in dollars would be printed with them."""
    entries = [one.text() for one in trees["book/references.html"].css(".citation-list .citation")]
    assert len(entries) > 300
    assert [text for text in entries if re.search(r"[$\\{}]", text)] == []


@pytest.fixture
def built(tmp_path: Path, sphinx: Any) -> Any:
    """Build a page with the role, and return the result of the build and its HTML."""

    def build(written: str) -> tuple[CompletedProcess[str], str]:
        (tmp_path / "conf.py").write_text(CONF)
        (tmp_path / "references.bib").write_text(BIB)
        (tmp_path / "index.md").write_text(PAGE.format(written))
        done = sphinx("-q", "-W", "--keep-going", ".", "out", cwd=tmp_path)
        return done, (tmp_path / "out" / "index.html").read_text(encoding="utf-8")

    return build


def test_the_figure_stands_before_its_citation(built) -> None:
    done, html = built("14.5 % <gauss1809>")
    assert done.returncode == 0, done.stderr
    _, after = html.split('<span class="literature">14.5 %</span>\N{NO-BREAK SPACE}')
    citation = after[: after.index("</a>")]
    assert 'href="#' in citation
    assert citation.endswith(">Gau09")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("199", "literature wants a figure and a key, as in 199 <key>; got '199'"),
        ("<gauss1809>", "literature wants a figure and a key"),
        ("199 <>", "literature wants a figure and a key"),
        ("199 <euler1748>", "euler1748"),
    ],
)
def test_without_a_known_key_it_is_refused(built, written: str, said: str) -> None:
    done, _ = built(written)
    assert done.returncode != 0
    assert said in done.stderr
