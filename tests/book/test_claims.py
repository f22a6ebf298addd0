"""What a chapter says that an experiment showed stands in a claim, a proof or a citation."""

import json
import re

import pytest
from claim_words import (
    BOOK,
    KINDS,
    chapters,
    concluded,
    outside,
    sentences,
    settled,
    unsettled_conclusions,
)

from checked_equations.book import prose
from checked_equations.claims.sentence import TOKEN

_SECTION = re.compile(r"^(?=#{2,3} )", re.MULTILINE)
_CLAIM = re.compile(r"^```\{claim(?:ed)?\} [^\n]*(.*?)^```$", re.MULTILINE | re.DOTALL)
_NO_ERROR = ("share", "blocks", "fresh", "seconds:", "min:", "max:")


@pytest.mark.parametrize("slug", chapters())
def test_no_conclusion_stands_outside_a_claim(slug):
    assert outside(slug) == []


@pytest.mark.parametrize("slug", chapters())
def test_what_is_concluded_after_a_claim_is_settled(slug):
    """Nearly all false sentences of the book stood in the paragraph after a claim."""
    assert unsettled_conclusions(slug) == []


def test_a_conclusion_after_a_claim_is_found():
    page = "```{claim} cl-a\nIt {share}.\n```\n\nGood. So it is best.\nIt tells.\n\nSo far.\n"
    assert [said for _, said in concluded(page)] == ["So it is best.", "It tells."]


@pytest.mark.parametrize("slug", sorted(settled()))
def test_what_is_settled_is_still_said(slug):
    said = [sentence for _, sentence in sentences((BOOK / f"{slug}.md").read_text())]
    for entry in settled()[slug]:
        assert entry["kind"] in KINDS
        assert entry["why"].strip()
        assert any(sentence.startswith(entry["begins"]) for sentence in said), entry["begins"]


@pytest.mark.parametrize(
    "said",
    [
        "It is better in 9 of 12 draws.",
        "In nine of the ten it is.",
        "The gain is 3 ± 1.",
        "Ours beats it.",
        "So it wins.",
        "On average it is less.",
        "It covers {glue:text}`share` per cent.",
    ],
)
def test_a_conclusion_is_found(said):
    from claim_words import WORDS

    assert WORDS.search(said)


@pytest.mark.parametrize("slug", chapters())
def test_what_is_stored_belongs_to_a_claim(slug):
    stored = BOOK / "_claims" / f"{slug}.json"
    labels = prose.read_sentences(BOOK / f"{slug}.md")
    assert sorted(json.loads(stored.read_text()) if stored.is_file() else {}) == sorted(labels)


def with_errors(text):
    """The numbers in the claims of a main line that are printed with an error, or an interval."""
    found, aside = [], False
    for section in _SECTION.split(text):
        starred = "```{starred}" in section
        if section.startswith("## "):
            aside = starred or section.startswith(("## Exercises", "## Further topics"))
        if not aside and not starred:
            tokens = (token for claim in _CLAIM.findall(section) for token in TOKEN.finditer(claim))
            found += [name for name, form in (token.groups("") for token in tokens)
                      if "plain" not in form and not name.startswith(_NO_ERROR)]  # fmt: skip
    return found


@pytest.mark.parametrize("slug", [*chapters(), "which-approximation"])
def test_a_main_line_has_fifteen_errors_at_most(slug):
    """A reader cannot take in more; the badge of each claim has the errors of all its numbers."""
    assert len(with_errors((BOOK / f"{slug}.md").read_text())) <= 15


def test_errors_are_counted_outside_what_is_set_aside():
    claim = "```{claim} cl-a\n{share} {x} {y|%} {z|plain}\n\n| {u %} | {v plain %} |\n```\n"
    starred = "### C\n\n```{starred}\nAside.\n```\n" + claim
    assert with_errors("## A\n" + claim + starred + "## Exercises\n" + claim) == ["x", "y", "u"]
