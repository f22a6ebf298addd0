"""What stands there for those who came to use the package: in the texts, and in the book."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
PEERS = ["scikit-learn", "GPyTorch", "BoTorch", "Optuna"]


@pytest.mark.parametrize("peer", PEERS)
def test_a_library_has_a_table_and_a_word_on_what_is_not_here(peer: str) -> None:
    section = COMING.split(f"\n## {peer}\n")[1].split("\n## ")[0]
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
    shown = helper()("Theirs", [("a task", "theirs(1) < 2", "two = 1 + 1"), ("b", "-", "two + 1")])
    assert "<td><code>theirs(1) &lt; 2</code></td><td><code>two = 1 + 1</code></td>" in shown.data
    assert shown.data.count("<tr>") == 3


@pytest.mark.parametrize("row", [("a", "0", "nobody"), ("a", "nobody", "1")])
def test_a_row_that_does_not_run_ends_the_page(row: tuple[str, ...]) -> None:
    pytest.importorskip("IPython")
    with pytest.raises(NameError, match="nobody"):
        helper()("Theirs", [row], both=True)


def test_every_table_of_calls_is_on_the_page_whole(trees: Any) -> None:
    """As it was run: a row for each task, three columns."""
    tables = trees["book/api/coming-from.html"].css("table.book-calls")
    assert [table.css_first("thead th:nth-of-type(2)").text() for table in tables] == PEERS
    for table in tables:
        rows = table.css("tbody tr")
        assert len(rows) >= 10
        assert all(len(row.css("td code")) == 2 for row in rows)
