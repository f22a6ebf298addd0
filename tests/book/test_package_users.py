"""What stands there for those who came to use the package: in the texts, and in the book."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
PAGE = "api/ten-minutes"


@pytest.fixture(scope="module")
def parts() -> dict[str, list[str]]:
    """The pages of each part of the book, by its caption."""
    toc: Any = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    named = ((part.get("caption", ""), part["chapters"]) for part in toc["parts"])
    return {
        caption: [one["file"].removeprefix("book/") for one in chapters]
        for caption, chapters in named
    }


def test_ten_minutes_are_the_first_page_of_the_package(parts: dict[str, list[str]]) -> None:
    assert parts["The package"][0] == PAGE


def test_front_page_and_readme_lead_to_them() -> None:
    assert f":link: {PAGE}\n" in (BOOK / "index.md").read_text("utf-8")
    assert f"(book/{PAGE}.md)" in (ROOT / "README.md").read_text("utf-8")


TASKS = ["Predict", "Save, load", "Labels", "least value", "million rows", "GPU", "scikit-learn"]


@pytest.mark.parametrize("task", TASKS)
def test_ten_minutes_have_a_section_for(task: str) -> None:
    lines = (BOOK / f"{PAGE}.md").read_text("utf-8").splitlines()
    assert any(line.startswith("## ") and task in line for line in lines)


COMING = (BOOK / "api/coming-from.md").read_text("utf-8")
CELL = re.compile(r"^```\{code-cell\}.*?\n(?::[^\n]*\n)*(.*?)^```$", re.DOTALL | re.MULTILINE)
CELLS = CELL.findall(COMING)
PEERS = [
    "scikit-learn", "GPyTorch", "Prophet, statsmodels", "BoTorch", "Optuna", "QuantEcon",
    "pymdptoolbox",
]  # fmt: skip
SECTION = {"Prophet, statsmodels": "Prophet and statsmodels: time series"}


@pytest.mark.parametrize("peer", PEERS)
def test_a_library_has_a_table_and_a_word_on_what_is_not_here(peer: str) -> None:
    section = COMING.split(f"\n## {SECTION.get(peer, peer)}\n")[1].split("\n## ")[0]
    assert f'calls("{peer}", [' in section
    assert "*Not here*: " in section


def helper() -> Any:
    """The function of the page that runs the rows of a table."""
    (cell,) = [one for one in CELLS if "def calls(" in one]
    names: dict[str, Any] = {}
    exec(cell, names)
    return names["calls"]


def test_a_row_of_ours_runs_and_stands_beside_theirs() -> None:
    pytest.importorskip("IPython")
    lexbor = pytest.importorskip("selectolax.lexbor")
    rows = [("a < b", "theirs(1) < 2", "two = 1 + 1"), ("b", "-", "if two:\n    two + 1")]
    shown = lexbor.LexborHTMLParser(helper()("Theirs", rows).data)
    assert [one.text() for one in shown.css("tbody th")] == ["a < b", "b"]
    calls = [one.text().removesuffix("\n") for one in shown.css("td div.highlight > pre")]
    assert calls == [call for row in rows for call in row[1:]]


@pytest.mark.parametrize("row", [("a", "0", "nobody"), ("a", "nobody", "1")])
def test_a_row_that_does_not_run_ends_the_page(row: tuple[str, ...]) -> None:
    pytest.importorskip("IPython")
    with pytest.raises(NameError, match="nobody"):
        helper()("Theirs", [row], both=True)


@pytest.mark.filterwarnings("ignore:Comparing a sparse matrix")  # pymdptoolbox does, on its way
def test_calls_of_decision_processes_find_the_same() -> None:
    """Theirs, which the page does not run, and ours, row by row in one namespace."""
    markov = pytest.importorskip("quantecon.markov")
    for part in ("mdp", "util"):
        pytest.importorskip(f"mdptoolbox.{part}")
    names: dict[str, Any] = {"np": np, "DiscreteDP": markov.DiscreteDP}
    names["mdptoolbox"] = pytest.importorskip("mdptoolbox")
    ended: dict[str, dict[str, Any]] = {}

    def both(library: str, rows: list[tuple[str, str, str]]) -> None:
        for _, theirs, ours in rows:
            for call in (theirs, ours):
                exec(call, names)
        ended[library] = dict(names)

    names["calls"] = both
    for library in PEERS[-2:]:
        (cell,) = [one for one in CELLS if f'calls("{library}", [' in one]
        exec(cell, names)
    of_pairs, by_action = (ended[library] for library in PEERS[-2:])
    close = {"rtol": 0, "atol": 1e-7}
    found, results = of_pairs["found"], of_pairs["results"]
    np.testing.assert_array_equal(found.policy, results.sigma)
    np.testing.assert_allclose(of_pairs["value"], of_pairs["worth"], **close)
    np.testing.assert_allclose(of_pairs["backup"], of_pairs["once"], **close)
    np.testing.assert_allclose(of_pairs["transitions"], of_pairs["chain"].P, **close)
    np.testing.assert_array_equal(of_pairs["mdp"].available, of_pairs["same"].available)
    np.testing.assert_allclose(
        of_pairs["solve"](of_pairs["same"]).values, of_pairs["pairs"].solve("pi").v, **close
    )
    np.testing.assert_allclose(by_action["found"].values, by_action["pi"].V, **close)
    np.testing.assert_array_equal(by_action["found"].policy, by_action["pi"].policy)
    by_action["theirs"].run()
    np.testing.assert_allclose(
        by_action["solve"](by_action["ours"]).values, by_action["theirs"].V, **close
    )


def test_every_table_of_calls_is_on_the_page_whole(trees: Any) -> None:
    """As it was run: for each task theirs and ours, which is Python as it stands."""
    tables = trees["book/api/coming-from.html"].css("table.book-calls")
    assert [table.css_first("thead th").text() for table in tables] == PEERS
    for table in tables:
        tasks = table.css("tbody")
        assert len(tasks) >= 9
        for task in tasks:
            theirs, ours = task.css("td div.highlight > pre")
            assert theirs.text().strip()
            compile(ours.text(), task.css_first("th").text(), "exec")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_no_line_of_a_call_is_broken(read: Any, width: int) -> None:
    page = read("book/api/coming-from.html", width=width).page
    breaks = """boxes => boxes.filter(box => {
        const high = parseFloat(getComputedStyle(box).lineHeight);
        const own = box.textContent.trimEnd().split("\\n").length;
        const text = document.createRange();
        text.selectNodeContents(box);
        return text.getBoundingClientRect().bottom
            > box.getBoundingClientRect().top + high * (own + 1);
    }).map(box => box.textContent)"""
    assert page.locator(".book-calls pre").evaluate_all(breaks) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
