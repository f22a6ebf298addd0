"""What stands there for those who came to use the package, as the texts say it: no build is needed.

What the pages look like is asked in test_users_pages.py, of the built book.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

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
    assert f"<{PAGE}>`" in (BOOK / "index.md").read_text("utf-8")
    assert f"(book/{PAGE}.md)" in (ROOT / "README.md").read_text("utf-8")


TASKS = ["Predict", "Save, load", "Labels", "least value", "million rows", "GPU", "scikit-learn"]


@pytest.mark.parametrize("task", TASKS)
def test_ten_minutes_have_a_section_for(task: str) -> None:
    lines = (BOOK / f"{PAGE}.md").read_text("utf-8").splitlines()
    assert any(line.startswith("## ") and task in line for line in lines)
