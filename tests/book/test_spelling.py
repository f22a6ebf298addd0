"""The search takes both spellings of a word for one, and no two words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "book" / "_static"
PAGE = "<!doctype html><html lang='en'><head><title>search</title></head><body>{}</body></html>"

# As most of the field writes, and as the book does.
PAIRS = {
    "optimization": "optimisation", "optimize": "optimise", "optimizer": "optimiser",
    "regularization": "regularisation", "normalized": "normalised",
    "marginalizing": "marginalising", "factorization": "factorisation",
    "discretization": "discretisation", "generalizable": "generalisable", "analyze": "analyse",
    "analyzer": "analyser", "behavior": "behaviour", "behavioral": "behavioural",
    "neighborhood": "neighbourhood", "color": "colour", "favorable": "favourable",
    "center": "centre", "centered": "centred", "centering": "centring",
    "kilometers": "kilometres", "modeling": "modelling", "labeled": "labelled",
    "unlabeled": "unlabelled", "canceled": "cancelled", "gray": "grey", "artifacts": "artefacts",
    "catalog": "catalogue",
}  # fmt: skip
# Words that look alike and are others: neither becomes the other, nor begins with it.
APART = [
    ("our", "or"), ("four", "for"), ("hour", "hor"), ("contour", "contor"), ("prize", "prise"),
    ("size", "sise"), ("seize", "seise"), ("parameter", "parametre"), ("enter", "entre"),
    ("labour", "laboratory"), ("filing", "filling"), ("rated", "rat"), ("noise", "noize"),
    ("prior", "priour"), ("vector", "vectour"), ("error", "errour"),
    ("center", "central"), ("horizon", "horison"),
]  # fmt: skip


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page of the search over a book of a section for each word."""
    words = [*PAIRS, *PAIRS.values(), *(word for pair in APART for word in pair)]
    empty = {"title": "", "code": "", "equations": [], "objects": [], "labels": []}
    sections = [{**empty, "anchor": word, "text": f"a {word} here"} for word in words]
    data = {
        "pages": [{"name": "a", "uri": "a.html", "title": "A", "sections": sections}],
        "names": [],
    }
    script = f"<script>window.bookSearch = {json.dumps(data)}</script>"
    loaded = "".join(f'<script src="{(STATIC / name).as_uri()}"></script>' for name in NAMES)
    file = tmp_path_factory.mktemp("search") / "search.html"
    file.write_text(PAGE.format(script + loaded), encoding="utf-8")
    opened = browser.new_page()
    opened.goto(file.as_uri())
    yield opened
    opened.close()


NAMES = ("spelling.js", "search.js")
FOUND = """query => window.bookFind(query).map(
    entry => entry.querySelector('a').getAttribute('href').split('#')[1])"""


@pytest.mark.parametrize("there", PAIRS)
def test_either_spelling_finds_both(page: Any, there: str) -> None:
    here = PAIRS[there]
    assert {there, here} <= set(page.evaluate(FOUND, there)) & set(page.evaluate(FOUND, here))


@pytest.mark.parametrize(("one", "other"), APART)
def test_words_that_look_alike_stay_apart(page: Any, one: str, other: str) -> None:
    assert other not in page.evaluate(FOUND, one)


def test_marks_know_each_spelling(page: Any) -> None:
    spellings = "words => words.map(word => window.bookSpelling.spellings(word))"
    for there, here in PAIRS.items():
        assert [{there, here}] * 2 == [set(x) for x in page.evaluate(spellings, [there, here])]
