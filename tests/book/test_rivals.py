"""Each chapter says what the literature would put beside its methods, and what was not tried."""

import re
import sys

import pytest
from claim_words import BOOK, chapters

sys.path.insert(0, str(BOOK / "_ext"))
from rivals import FOLDER, file_of, rivals

PAGES = sorted([*chapters(), "which-approximation"])  # the latter is a page with claims
LISTED = [slug for slug in PAGES if file_of(BOOK, slug).is_file()]
KEYS = set(re.findall(r"^@\w+\{([^,\s]+),", (BOOK / "references.bib").read_text("utf-8"), re.M))


def lacking(row: dict[str, str], targets: set[str]) -> list[str]:
    """What is wrong with a row; `targets` are the labels to which the page can lead."""
    faults = {
        "a method and a rival": not (row.get("method") and row.get("rival")),
        "either tried or untried": bool(row.get("tried")) == bool(row.get("untried")),
        "a known source": not set(filter(None, row.get("source", "").split(","))) <= KEYS,
        "a known place": bool(row.get("tried")) and row["tried"] not in targets,
        "no other word": not row.keys() <= {"method", "rival", "source", "tried", "untried"},
    }
    return [fault for fault, found in faults.items() if found]


def targets(slug: str) -> set[str]:
    """The labels of a chapter's claims, sections and exercises."""
    text = (BOOK / f"{slug}.md").read_text("utf-8")
    found = re.findall(r"^`{3,}\{claim\} (\S+)|^\((\S+)\)=$|^:(?:label|name): (\S+)", text, re.M)
    return {label for labels in found for label in labels if label}


@pytest.mark.parametrize("slug", LISTED)
def test_a_rival_is_tried_at_a_place_or_it_is_said_why_not(slug):
    rows = rivals(file_of(BOOK, slug))
    assert [fault for row in rows for fault in lacking(row, targets(slug))] == []
    assert rows


@pytest.mark.parametrize("slug", LISTED)
def test_the_page_shows_them(slug):
    assert "```{rivals}\n```" in (BOOK / f"{slug}.md").read_text("utf-8")


def test_no_file_is_of_no_chapter():
    files = (BOOK / FOLDER).rglob("*.toml")
    assert sorted(f.relative_to(BOOK / FOLDER).with_suffix("").as_posix() for f in files) == LISTED


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"method": "a", "rival": "b", "tried": "cl-no"}, "a known place"),
        ({"method": "a", "rival": "b"}, "either tried or untried"),
        ({"method": "a", "rival": "b", "untried": "c", "tried": "cl-a"}, "either tried or untried"),
        ({"method": "a", "rival": "b", "untried": "c", "source": "d"}, "a known source"),
        ({"method": "a", "untried": "c"}, "a method and a rival"),
    ],
)
def test_a_row_that_says_too_little_is_found(row, said):
    assert lacking(row, {"cl-a"}) == [said]
