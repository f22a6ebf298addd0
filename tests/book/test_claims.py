"""What a chapter says that an experiment showed stands in a claim, a proof or a citation."""

import json

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
