"""The search of the book: what it finds, and where one lands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from checked_equations.book.settings import read_yaml

# One worker opens the page of the search, and has read what it knows.
pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
NAMES = read_yaml(ROOT / "book" / "names.yml")
TERMS = read_yaml(ROOT / "book" / "glossary.yml")
RESULTS = "#search-results ol.search > li"

SEARCHES = read_yaml(ROOT / "tests" / "book" / "searches.yml")
OBJECTS = "api/modules/"  # whose sections have the names of things

FOUND = """queries => queries.map(query => window.bookFind(query, 12).slice(0, 12).map(
    entry => [entry.querySelector('a').getAttribute('href'), entry.className]))"""
SECTIONS = """() => window.bookSearch.pages.map(page => [page.name, page.sections.map(
    section => [section.anchor, ...section.labels])])"""


@pytest.fixture(scope="module")
def page(arrive: Any) -> Any:
    """The page of the search, with what it knows."""
    opened = arrive("search.html").page
    opened.wait_for_function("() => window.bookSearch && window.bookFind")
    return opened


@pytest.fixture(scope="module")
def ask(page: Any) -> Any:
    """Addresses of the first results of each query, and whether it was a name that led there."""
    return lambda queries: page.evaluate(FOUND, list(queries))


@pytest.fixture(scope="module")
def anchors(page: Any) -> dict[str, str]:
    """Which anchor each section has, by the page and by each of its labels."""
    return {
        f"{name.removeprefix('book/')}#{label}": anchor
        for name, sections in page.evaluate(SECTIONS)
        for anchor, *labels in sections
        for label in (anchor, *labels)
    }


def address(place: str, anchors: dict[str, str]) -> str:
    """How the address of a result ends that leads to this place."""
    page, _, label = place.partition("#")
    plain = label.startswith("equation-") or page.startswith(OBJECTS)
    return f"book/{page}.html#{label if plain else anchors[place]}"


def leads(href: str, end: str) -> bool:
    """Whether a result leads to that section, whatever words its address marks there."""
    plain = re.sub(r"\?[^#]*", "", href)
    return plain == end


@pytest.mark.parametrize("group", SEARCHES)
def test_a_search_leads_to_the_right_section(group: str, ask: Any, anchors: Any) -> None:
    lost = {}
    for (query, places), hits in zip(SEARCHES[group].items(), ask(SEARCHES[group]), strict=True):
        first = [href for href, _ in hits[:3]]
        ends = [address(place, anchors) for place in places]
        if not any(leads(href, end) for href in first for end in ends):
            lost[query] = first
    assert lost == {}


def test_the_searches_name_sections_and_forty_are_in_the_words_of_other_books() -> None:
    listed = [place for group in SEARCHES.values() for places in group.values() for place in places]
    assert [place for place in listed if "#" not in place] == []
    assert len(SEARCHES["others"]) >= 40
    assert sum(len(group) for group in SEARCHES.values()) >= 200


def test_no_lines_to_click_are_searched(page: Any) -> None:
    """Some 450 times the words of a fold were found, and shown as the text of a section."""
    kept = page.evaluate("JSON.stringify(window.bookSearch)")
    assert len(kept) > 1_000_000
    assert [said for said in ("Show code cell", "Read this section") if said in kept] == []


def test_a_word_in_the_other_spelling_is_marked(visit: Any) -> None:
    page = visit("book/decisions/bayesian-optimisation.html?highlight=optimization").page
    assert "optimisation" in marked(page).inner_text().lower()


def test_every_other_name_leads_to_the_section_that_its_entry_names(ask: Any, anchors: Any) -> None:
    named = [(name, entry) for entry in NAMES for name in entry["names"]]
    assert len(named) > 300
    lost = []
    for (name, entry), hits in zip(named, ask(name for name, _ in named), strict=True):
        end = address(f"{entry['page']}#{entry['section']}", anchors)
        if not any(leads(href, end) for href, kind in hits if kind == "book-known"):
            lost.append(name)
    assert lost == []


def test_every_function_and_class_is_found_by_its_name(ask: Any, anchors: Any) -> None:
    things = [place for place in anchors if re.match(rf"{OBJECTS}.+#.+\.", place)]
    assert len(things) > 500
    lost, some = [], things[::10]
    for place, hits in zip(some, ask(place.split("#")[1] for place in some), strict=True):
        if not leads(hits[0][0] if hits else "", address(place, anchors)):
            lost.append(place)
    assert lost == []


def test_no_place_stands_twice_among_the_results(ask: Any) -> None:
    for hits in ask(["ARD", "evidence", "kernel", "POMDP", "Thompson sampling"]):
        bare = [re.sub(r"\?[^#]*", "", href) for href, _ in hits]
        assert len(bare) > 3
        assert len(set(bare)) == len(bare)


def test_every_term_of_the_glossary_leads_to_the_section_that_derives_it(
    ask: Any, anchors: Any
) -> None:
    lost = []
    for term, hits in zip(TERMS, ask(term["term"] for term in TERMS), strict=True):
        end = address(f"{term['page']}#{term['section']}", anchors)
        if not any(leads(href, end) for href, _ in hits[:3]):
            lost.append(term["term"])
    assert lost == []


def of_equation(first: Any) -> str:
    """What a result that is an equation is called; its formula is set, and it leads there."""
    first.locator("div.math math").wait_for()
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
    name = "book/fast/deep-gaussian-processes.html"
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
    const skip = 'script, style, .math, .eqn-later, .eqn-more, #jb-print-docs-body';
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


def test_a_slip_is_read_as_the_word_that_was_meant(visit: Any) -> None:
    page = visit("search.html?q=hyperparamter").page
    assert "read as “hyperparameter”" in page.locator(".search-summary").inner_text()


def test_the_page_of_the_search_follows_what_is_typed(visit: Any) -> None:
    page = visit("search.html?q=zzyzx").page
    page.locator(".bd-search-container input").fill("Schur complement")
    page.locator(RESULTS).first.wait_for()
    assert page.url.endswith("?q=Schur%20complement")


def test_over_a_page_the_first_places_show_while_one_types(visit: Any) -> None:
    """And the arrows lead to them."""
    seen = visit("book/cite.html")
    page = seen.page
    assert not any("search-data" in address for address in seen.asked)
    page.keyboard.press("Control+k")
    page.keyboard.type("Thomson sampling")
    page.locator(".book-typed a").first.wait_for()
    assert page.locator(".book-typed a").count() == 6
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#thompson-sampling"))
    assert seen.complaints == []
