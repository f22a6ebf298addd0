"""A small book whose equations nobody has bound: they are tried, and their badges say so."""

from __future__ import annotations

import re
from html import unescape
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("myst_nb")

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from checked_equations.sphinx.trials import which
from checked_papers.findings import Finding
from checked_papers.tried_badges import beside, tried_badge

CONF = {
    "extensions": ["myst_parser", "checked_equations.sphinx"],
    "myst_enable_extensions": ["amsmath", "dollarmath"],
    "html_theme": "basic",
    "show_warning_types": True,
}
PAGE = r"""# Nobody's equations

<!-- let A, B be positive definite n×n -->

$$ (a + b)^2 = a^2 + 2 a b + b^2 $$ (eq-square)

$$ \cos 2 u = 2 \cos^2 u + 1 $$ (eq-slip)

$$ \sqrt{x^2} = x $$ (eq-root)

$$ E = m c^2 $$ (eq-energy)

$$ \mathcal L f \to g $$ (eq-arrow)

\begin{align}
  (A B)^\top &= B A \label{eq-first} \\
  \ln(p q) &= \ln p + \ln q \notag
\end{align}
"""
QUIET = "---\nequations: false\n---\n# Quiet\n\n$$ (a - b)^2 = a^2 + 2 a b + b^2 $$ (eq-quiet)\n"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Build the book, in this process, with a value of the setting."""

    def made(which: str) -> tuple[str, str]:
        folder = tmp_path_factory.mktemp("tried")
        index = f"{PAGE}\n```{{toctree}}\nquiet\n```\n"
        for name, text in {"index.md": index, "quiet.md": QUIET}.items():
            Path(folder, name).write_text(text, "utf-8")
        places = (folder, None, folder / "html", folder / "doctrees", "html")
        said = StringIO()
        with patch_docutils(), docutils_namespace():
            settings = {**CONF, "equations_tried": which}
            Sphinx(*places, settings, None, said).build()
        assert "eqn-trial" not in Path(folder, "html", "quiet.html").read_text("utf-8")
        return Path(folder, "html", "index.html").read_text("utf-8"), said.getvalue()

    return made


def badges(page: str) -> list[str]:
    """What the closed badges say aloud."""
    return [unescape(said) for said in re.findall(r'<summary aria-label="([^"]*)"', page)]


def test_the_badges_say_what_became_of_each_display(build: Any) -> None:
    page, said = build("all")
    assert badges(page) == [
        "not checked, tried: holds",
        "not checked, tried: does not hold; would with one edit: flip the sign of 1",
        "not checked, tried: holds if x > 0",
        "not checked, a definition of E",
        "not checked, not read (an arrow says what goes where, and claims no equality)",
        "not checked, tried, 2 equations: 2 hold",
    ]
    assert page.count('<details class="eqn-badge eqn-trial') == 6
    assert "Drawn: A, B positive definite n × n" in page
    (warning,) = [line for line in said.splitlines() if "WARNING" in line]
    assert "index.md:7: WARNING: eq-slip: tried: does not hold; it would with" in warning
    assert "[equations.tried]" in warning


def test_by_default_nothing_is_tried(build: Any) -> None:
    page, said = build("")
    assert not badges(page)
    assert said == ""


def test_another_word_for_what_is_tried_is_refused() -> None:
    config = SimpleNamespace(equations_tried="some")
    with pytest.raises(ValueError, match="equations_tried must be '', 'numbered' or 'all'; got"):
        which(SimpleNamespace(config=config))


def test_a_display_from_elsewhere_has_nothing_of_the_page() -> None:
    shown = [nodes.math_block("", text) for text in ("c = d", "a = b + c = d", "u = v")]
    tasks = [SimpleNamespace(latex=latex) for latex in ("a = b + c = d", "u = v")]
    assert [[one.latex for one in own] for own in beside(shown, tasks)] == [
        [], ["a = b + c = d"], ["u = v"],
    ]  # fmt: skip


def test_of_several_the_worst_gives_the_mark() -> None:
    place = ("p.md", 1, 1)
    found = [
        Finding(*place, "tried", "holds", latex="a = b"),
        Finding(*place, "tried", "does not hold", latex="c = d < e"),
        Finding(*place, "not read", why="no <tag>"),
    ]
    badge = tried_badge("eq-many", found, "")
    assert 'class="eqn-badge eqn-trial eqn-fails"' in badge
    assert "tried, 3 equations: 1 holds, 1 does not hold, 1 not read" in badge
    assert "no &lt;tag&gt;" in badge
    assert "c = d &lt; e" in badge
