"""Each row of a table that says which method to take says what it rests on."""

import re
from functools import cache

import pytest
from claim_words import BOOK

TABLE = re.compile(r"^\| (?:you \w+(?: that)?) \|.*\n\| ---.*\n((?:\|.*\n)+)", re.M)
LINK = re.compile(r"\{(?:ref|numref|eq)\}`(?:[^`<]*<)?([^`>]+)>?`")
EVIDENCE = re.compile(r"^`{3,}\{claim\}|^:label: (?:eq|ex)-|^\\label", re.M)


@cache
def _texts() -> dict[str, str]:
    return {path.stem: path.read_text("utf-8") for path in sorted(BOOK.rglob("*.md"))}


def rows(text: str) -> list[str]:
    """The rows of the tables of advice on a page."""
    return [row for table in TABLE.findall(text) for row in table.splitlines()]


def _places(text: str) -> dict[str, str]:
    """The text that each label of a page leads to: of a heading, its section."""
    found = {
        label: "```{claim}" if claim else ":label: eq-"
        for claim, label in re.findall(r"(?:^`{3,}\{(claim)\} |^:label: )(\S+)", text, re.M)
    }
    for heading in re.finditer(r"^\((\S+)\)=\n(?:\([^\n]*\)=\n)*(#+) ", text, re.M):
        ends = re.compile(rf"^#{{1,{len(heading[2])}}} ", re.M).search(text, heading.end())
        found[heading[1]] = text[heading.end() : ends.start() if ends else None]
    return found


@cache
def _all_places() -> dict[str, str]:
    return {label: text for page in _texts().values() for label, text in _places(page).items()}


def unfounded(row: str, places: dict[str, str]) -> bool:
    """Whether the last cell of a row neither leads to evidence nor calls itself a rule of thumb."""
    cell = re.split(r"(?<!\\)\|", row.strip().strip("|"))[-1]
    linked = [places.get(label, "") for label in LINK.findall(cell)]
    return "rule of thumb" not in cell and not any(EVIDENCE.search(text) for text in linked)


@pytest.mark.parametrize("page", [page for page, text in _texts().items() if rows(text)])
def test_a_row_of_advice_leads_to_its_evidence_or_is_a_rule_of_thumb(page):
    assert [row for row in rows(_texts()[page]) if unfounded(row, _all_places())] == []


def test_advice_without_evidence_is_found():
    text = (
        "(sec-a)=\n## A\n\nWords.\n\n(sec-b)=\n## B\n\n```{claim} cl-b\nIt {share}.\n```\n\n"
        "| you have | take | why |\n| --- | --- | --- |\n"
        "| one | this | {ref}`words <sec-a>` |\n| two | that | {ref}`measured <sec-b>` |\n"
        "| three | this | {ref}`measured <cl-b>` |\n| four | that | *rule of thumb* |\n"
        "| five | this | |\n"
    )
    assert len(rows(text)) == 5
    assert [row.split()[1] for row in rows(text) if unfounded(row, _places(text))] == [
        "one",
        "five",
    ]
