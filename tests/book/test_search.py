"""The search of the book: what it finds, and where one lands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
NAMES = yaml.safe_load((ROOT / "book" / "names.yml").read_text("utf-8"))
TERMS = yaml.safe_load((ROOT / "book" / "glossary.yml").read_text("utf-8"))
RESULTS = "#search-results ol.search > li"

# What readers typed, and a page that must be among the first three results.
QUERIES = {
    "Cholesky": "gaussian-processes/",
    "mutual information": "decisions/active-learning",
    "Matern": "gaussian-processes/|api/kernels",
    "Matérn": "gaussian-processes/|api/kernels",
    "leave-one-out": "gaussian-processes/function-view",
    "swing-up": "decisions/pilco",
    "condition(": "api/functions/gpnotes.condition",
    "evidence": "gaussian-processes/",
    "marginal likelihood": "gaussian-processes/",
    "hyperparameters": "gaussian-processes/|decisions/|api/models",
    "noise": "gaussian-processes/",
    "lengthscale": "gaussian-processes/|decisions/",
    "greedy": "decisions/active-learning|api/decisions",
    "submodular": "decisions/active-learning",
    "entropy": "decisions/active-learning|decisions/asking-for-labels",
    "Laplace approximation": "inference/laplace",
    "ridge regression": "gaussian-processes/weight-view",
    "kernel trick": "gaussian-processes/weight-view",
    "features": "gaussian-processes/weight-view",
    "replicator dynamics": "games/equilibria|api/games",
    "regret": "decisions/bayesian-optimisation|games/equilibria",
    "multinomial": "games/deviation-payoffs",
    "moment matching": "decisions/pilco",
    "pendulum": "decisions/pilco",
    "fantasy": "decisions/pilco",
    "policy": "sequential/markov-decision-processes|decisions/pilco-control",
    "reinforcement learning": "decisions/pilco-control",
    "acquisition function": "decisions/active-learning",
    "overfitting": "gaussian-processes/function-view",
    "Nash equilibrium": "games/equilibria",
    "multi-armed bandit": "decisions/active-learning",
    "mutants": "how-to-read|language|ledger|index",
    "changelog": "changes",
    "Mauna Loa": "gaussian-processes/function-view|data-sets",
}

# The same, spelt as most of the field does; the book itself spells them otherwise.
AMERICAN = {
    "Bayesian optimization": "decisions/bayesian-optimisation",
    "minimize a function": "decisions/bayesian-optimisation|gaussian-processes/|api/decisions",
    "regularization": "gaussian-processes/",
    "parameterization": "inference/|gaussian-processes/|decisions/|glossary",
    "marginalization": "gaussian-processes/|decisions/|foundations/|fast/|notation",
    "Cholesky factorization": "gaussian-processes/|foundations/|api/|glossary",
    "behavior": "gaussian-processes/|decisions/|games/|fast/|sequential",
    "neighbor": "games/|gaussian-processes/|decisions/|fast/|foundations/|api/",
    "analyze": "games/|gaussian-processes/|decisions/|fast/|foundations/",
    "centered": "gaussian-processes/|decisions/|foundations/|fast/|api/",
}


FOUND = """queries => queries.map(query => window.bookFind(query, 12).slice(0, 12).map(
    entry => [entry.querySelector('a').getAttribute('href'), entry.textContent]))"""


@pytest.fixture(scope="module")
def ask(arrive: Any) -> Any:
    """Addresses and texts of the first results of each query."""
    page = arrive("search.html").page
    page.wait_for_function("() => window.bookSearch && window.bookFind")
    return lambda queries: page.evaluate(FOUND, list(queries))


def test_readers_find_what_they_look_for(ask: Any) -> None:
    found = dict(zip(QUERIES, ask(QUERIES), strict=True))
    first = {query: [href for href, _ in hits[:3]] for query, hits in found.items()}
    lost = {
        query: hrefs
        for query, hrefs in first.items()
        if not any(re.search(QUERIES[query], href) for href in hrefs)
    }
    assert lost == {}


def test_either_spelling_finds_the_same(ask: Any) -> None:
    found = dict(zip(AMERICAN, ask(AMERICAN), strict=True))
    first = {query: [href for href, _ in hits[:3]] for query, hits in found.items()}
    lost = {
        query: hrefs
        for query, hrefs in first.items()
        if not any(re.search(AMERICAN[query], href) for href in hrefs)
    }
    assert lost == {}


def test_a_word_in_the_other_spelling_is_marked(visit: Any) -> None:
    page = visit("book/decisions/bayesian-optimisation.html?highlight=optimization").page
    assert "optimisation" in marked(page).inner_text().lower()


def test_every_other_name_leads_somewhere(ask: Any) -> None:
    named = {name: entry["page"] for entry in NAMES for name in entry["names"]}
    assert len(named) > 150
    found = dict(zip(named, ask(named), strict=True))
    lost = [
        name
        for name, page in named.items()
        if not any(page in href for href, text in found[name] if "is called" in text)
    ]
    assert lost == []


def test_every_term_of_the_glossary_leads_to_the_section_that_derives_it(
    ask: Any, trees: Any
) -> None:
    terms = {term["term"]: term for term in TERMS}
    lost = []
    for name, hits in zip(terms, ask(terms), strict=True):
        page = trees[f"book/{terms[name]['page']}.html"]
        anchor = page.css(f"section:has(span[id='{terms[name]['section']}'])")[-1].id
        if not any(href.endswith(f"#{anchor}") for href, _ in hits[:3]):
            lost.append(name)
    assert lost == []


def test_a_name_leads_to_the_section_that_its_entry_names(ask: Any, trees: Any) -> None:
    named = {entry["names"][0]: entry for entry in NAMES if "section" in entry}
    assert {"Nash equilibrium", "acquisition function", "EGTA"} <= named.keys()
    for name, hits in zip(named, ask(named), strict=True):
        entry = named[name]
        page = trees[f"book/{entry['page']}.html"]
        anchor = page.css(f"section:has(span[id='{entry['section']}'])")[-1].id
        assert any(href.endswith(f"#{anchor}") for href, text in hits if "is called" in text), name


def of_equation(first: Any) -> str:
    """What a result that is an equation is called; its formula is set, and it leads there."""
    first.locator("div.math mjx-container").wait_for()
    link = first.locator("a")
    assert re.fullmatch(r"Equation \(\d+\.\d+\)", link.inner_text())
    assert "#equation-eq-" in link.get_attribute("href")
    return link.inner_text()


# As the page shows it, of one query after the other: to open it anew takes a second.
SHOW = """query => {
    const box = document.getElementById('search-results');
    box.replaceChildren(...window.bookFind(query).slice(0, 1));
    return MathJax.typesetPromise([box]);
}"""


def test_an_equation_is_found_by_number_label_and_latex(visit: Any) -> None:
    latex = r"\mathcal{GP}"  # whose signs an address writes in its own way
    page = visit(f"search.html?q={quote(latex)}").page
    of_equation(page.locator(RESULTS).first)
    for query in ("(2.19)", "2.19", "eq-fv-cov"):
        page.evaluate(SHOW, query)
        said = of_equation(page.locator("#search-results > li"))
        assert said == "Equation (2.19)" or "2.19" not in query, query
    page.locator("#search-results > li a").click()
    page.wait_for_url(re.compile(r"#equation-eq-"))


def test_nothing_found_is_said(visit: Any) -> None:
    page = visit("search.html?q=zzyzx").page
    assert page.locator(".search-summary").inner_text().startswith("Nothing for")


def marked(page: Any) -> Any:
    here = page.locator("mark.book-hit-here")
    here.wait_for()
    return here


def land(page: Any) -> None:
    """Click on the first result, and see the place for which it was found."""
    page.locator(f"{RESULTS} > a").first.click()
    here = marked(page)
    page.evaluate("() => window.MathJax?.startup?.promise")
    page.wait_for_timeout(200)
    assert "mutual information" in here.inner_text().lower()
    box = here.bounding_box()
    assert 0 < box["y"] < 900
    assert page.locator("mark.book-hit").count() > 1


def test_a_click_lands_on_the_hit_on_a_phone(visit: Any) -> None:
    land(visit("search.html?q=mutual%20information", width=390).page)


def test_results_are_sections_with_excerpts_that_lead_to_marks(visit: Any) -> None:
    """Which go on a key, and do not come back."""
    page = visit("search.html?q=mutual%20information").page
    page.locator(RESULTS).first.wait_for()
    first = page.locator(RESULTS).first
    assert "#" in first.locator("a").get_attribute("href")
    assert first.locator(".book-excerpt mark").count() >= 1
    titles = page.locator(f"{RESULTS} > a").all_inner_texts()
    assert len(titles) >= 5
    land(page)
    assert "1 of" in page.locator(".book-hits").inner_text() or page.locator(".book-hits").count()
    page.keyboard.press("Escape")
    assert page.locator("mark.book-hit, .book-hits").count() == 0
    address = page.url.split("?")[0].split("#")[0]
    page.goto(address)
    page.wait_for_load_state()
    assert page.locator("mark.book-hit").count() == 0
    stored = "() => Object.values(localStorage).filter(value => /mutual/.test(value)).length"
    assert page.evaluate(stored) == 0


def test_the_next_place_is_one_key_away(visit: Any) -> None:
    page = visit("book/decisions/active-learning.html?highlight=entropy").page
    before = marked(page).bounding_box()
    page.get_by_label("next place").focus()
    page.keyboard.press("Enter")
    assert page.locator("mark.book-hit-here").count() == 1
    said = page.locator(".book-hits").inner_text()
    assert re.search(r"\b2 of \d+", said) or before is not None


def test_a_hit_in_a_fold_opens_it(visit: Any, paths: dict[str, Path]) -> None:
    """Of words that stand in a folded solution alone, say, or in the code of a check."""
    name = "book/gaussian-processes/function-view.html"
    page = visit("book/cite.html").page  # a small one, to read the other as it is written
    word = page.evaluate(FOLDED_WORD, paths[name].read_text("utf-8"))
    assert word
    page = visit(f"{name}?highlight={word}").page
    here = marked(page)
    assert here.is_visible()
    assert 0 < here.bounding_box()["y"] < 900


# A word that stands in closed folds and nowhere else.
FOLDED_WORD = """html => {
    const article = new DOMParser().parseFromString(html, 'text/html').querySelector('article');
    const words = text => text.toLowerCase().match(/[a-z]{7,}/g) ?? [];
    const skip = 'script, style, mjx-container, .math, .eqn-later, .eqn-more, #jb-print-docs-body';
    const folded = {}, open = new Set();
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (parent.closest(skip)) continue;
        const inside = parent.closest('details:not([open])') && !parent.closest('summary');
        for (const word of words(walker.currentNode.data))
            inside ? folded[word] = 1 : open.add(word.slice(0, 5));
    }
    return Object.keys(folded).find(w => !open.has(w.slice(0, 5)));
}"""
