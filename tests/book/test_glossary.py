"""The glossary: each term has its sentence and its place, and the headings use the terms."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from claim_words import BOOK, chapters

from checked_equations.book.settings import read_yaml

sys.path.insert(0, str(BOOK / "_ext"))
from glossary_page import by_letter, terms

TERMS = terms(BOOK.parent)
NAMES = [name for term in TERMS for name in (term["term"], *term.get("other", []))]
FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.DOTALL | re.MULTILINE)

# Of each of these a reader of the field's other books will look for the word.
WANTED = [
    "Hessian", "Gauss-Newton", "credible interval", "effective sample size", "R-hat", "divergence",
    "acceptance rate", "dual averaging", "leapfrog", "Hamiltonian Monte Carlo",
    "Metropolis-Hastings", "temperature scaling", "Platt scaling", "isotonic regression",
    "expected calibration error", "conformal prediction", "temporal-difference learning",
    "Q-learning", "SARSA", "eligibility trace", "Bellman equation", "alpha vector",
    "point-based value iteration", "Nash equilibrium", "best response", "price of anarchy",
    "acquisition function", "knowledge gradient", "submodular", "Schur complement", "Nyström",
    "automatic relevance determination",
]  # fmt: skip


def plain(text: str) -> str:
    """Words in small letters, without hyphens and signs."""
    return " ".join(re.sub(r"[^a-zâ-ž0-9]+", " ", text.lower().replace("α", "alpha")).split())


def test_there_are_some_three_hundred_and_no_name_has_two_meanings() -> None:
    assert len(TERMS) >= 250
    lowered = [name.lower() for name in NAMES]
    assert sorted({name for name in lowered if lowered.count(name) > 1}) == []


@pytest.mark.parametrize("word", WANTED)
def test_what_others_call_a_thing_is_there(word: str) -> None:
    assert any(plain(word) in plain(name) for name in NAMES)


def test_a_term_has_a_sentence_and_a_place() -> None:
    texts = {slug: (BOOK / f"{slug}.md").read_text("utf-8") for slug in chapters()}
    texts["which-approximation"] = (BOOK / "which-approximation.md").read_text("utf-8")
    assert [
        one["term"] for one in TERMS if not re.fullmatch(r"[^a-z].*\.", one["says"], re.S)
    ] == []
    assert [one["term"] for one in TERMS if len(one["says"].split()) > 60] == []
    for one in TERMS:
        text, label = texts[one["page"]], re.escape(one["where"])
        assert re.search(rf"^(\({label}\)=|:label: {label}|\s+name: {label})$", text, re.M), one
        assert f"({one['section']})=" in text, one


ELSEWHERE = ("api/modules/", "changes#")  # pages whose text is not in their file


def sections(page: str) -> set[str]:
    """The labels of a page, its equations, and its headings as addresses have them."""
    text = (BOOK / f"{page}.md").read_text("utf-8")
    heads = re.findall(r"^#{1,4} (.+)$", FENCED.sub("", text), re.MULTILINE)
    slugs = {re.sub(r"[^a-z0-9]+", "-", re.sub(r"['’]", "", head.lower())) for head in heads}
    equations = re.findall(r"^:label: (eq-.+)$", text, re.MULTILINE)
    return {*slugs, *re.findall(r"^\((.+)\)=$", text, re.MULTILINE), *equations}


def test_names_and_searches_lead_to_sections_that_are_there() -> None:
    listed = read_yaml(BOOK / "names.yml")
    asked = read_yaml(BOOK.parent / "tests/book/searches.yml")
    places = {f"{entry['page']}#{entry['section']}" for entry in listed}
    places |= {place for group in asked.values() for each in group.values() for place in each}
    told = [place.split("#") for place in sorted(places) if not place.startswith(ELSEWHERE)]
    known = {page: sections(page) for page, _ in told}
    lost = [(page, at) for page, at in told if at.removeprefix("equation-") not in known[page]]
    assert lost == []


# The parts that every chapter has, in the words of textbooks; what they are about stands behind.
PARTS = (
    "Motivating example", "The smallest case", "Notation and shapes", "Derivation",
    "Implementation", "Experiments", "Failure modes", "Choosing", "Exercises",
    "Summary and further reading", "Further topics",
)  # fmt: skip


def lacking(slug: str) -> list[str]:
    """The headings of a chapter in which no term of the glossary stands."""
    text = FENCED.sub("", (BOOK / f"{slug}.md").read_text("utf-8"))
    heads = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    known = [stem(name) for name in NAMES if len(name) > 2]
    return [head for head in heads if not head.startswith(PARTS) and not said(stem(head), known)]


def stem(text: str) -> str:
    """The words in the singular, as far as that is a matter of their ends."""
    return f" {' '.join(singular(word) for word in plain(text).split())} "


def singular(word: str) -> str:
    ends = {"ies": "y", "sses": "ss", "equilibria": "equilibrium", "criteria": "criterion", "s": ""}
    for end, one in ends.items():
        if word.endswith(end) and len(word) > 4 and not word.endswith("ss"):
            return word.removesuffix(end) + one
    return word


def said(head: str, known: list[str]) -> bool:
    return any(one in head for one in known)


@pytest.mark.parametrize("slug", chapters())
def test_a_heading_has_a_term_of_the_field(slug: str) -> None:
    assert lacking(slug) == []


def test_a_heading_without_one_is_found() -> None:
    known = [stem("temperature scaling"), stem("conformal prediction")]
    assert said(stem("Temperature scaling: one number"), known)
    assert not said(stem("To mend it"), known)


def test_each_letter_has_its_terms_and_none_is_lost() -> None:
    groups = by_letter(BOOK.parent)
    assert [first for first, _ in groups] == sorted({first for first, _ in groups})
    assert sum(len(those) for _, those in groups) == len(TERMS)
    found = {one["term"]: first for first, those in groups for one in those}
    assert found["Kalman filter"] == "K"
    assert found["ε-greedy policy"] == "E"


@pytest.mark.book
@pytest.mark.browser
def test_a_filter_keeps_the_terms_that_hold_its_words(visit: Any) -> None:
    page = visit("book/glossary.html").page
    assert page.locator(".book-letters a").count() > 20
    field = page.get_by_label("Filter:")
    field.fill("kalman smoother")
    shown = page.locator("dl.glossary dd:not([hidden])").all_inner_texts()
    assert 0 < len(shown) < 10
    assert page.locator(".book-filter [role=status]").inner_text().startswith(f"{len(shown)} of ")
    assert page.locator("#letter-q").is_hidden()
    field.fill("")
    assert page.locator("dl.glossary dd[hidden]").count() == 0
