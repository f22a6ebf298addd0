"""The built pages, read without a browser: links, labels, pictures, the ledger, nothing foreign."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
NUMBERED = "div.eqn-equation > div.math[id]"
FOREIGN = re.compile(r"^\s*(https?:)?//")
KINDS = {"identity", "inequality", "estimate", "definition"}
VERDICTS = {"holds", "argued", "holds-if", "wrong", "ambiguous", "stub"}
LOADED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
    "embed": "src", "object": "data",
}  # fmt: skip


@pytest.fixture(scope="module")
def ledger(book_html: Path) -> dict[str, Any]:
    return json.loads((book_html / "book" / "ledger.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def items() -> list[dict[str, str]]:
    with (ROOT / "book" / "sources" / "items.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def chapters(pages: dict[str, Any]) -> list[str]:
    """The pages that hold numbered equations of their own."""
    return [name for name, page in pages.items() if page.select(NUMBERED)]


def asked_for(page: Any) -> list[str]:
    """All that a browser would load by itself to show the page."""
    found = [tag.get(LOADED[tag.name], "") for tag in page.find_all(list(LOADED))]
    links = page.find_all("link", rel=lambda rel: rel not in ("canonical", "author"))
    return found + [link.get("href", "") for link in links if set(link["rel"]) & LINKED]


LINKED = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}


def test_no_page_asks_another_host(pages: dict[str, Any]) -> None:
    asked = {name: [u for u in asked_for(page) if FOREIGN.match(u)] for name, page in pages.items()}
    assert {name: urls for name, urls in asked.items() if urls} == {}


def test_no_style_asks_another_host(book_html: Path) -> None:
    styles = list((book_html / "_static").rglob("*.css"))
    assert styles
    loads = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")]+)")
    asked = {path.name: loads.findall(path.read_text("utf-8")) for path in styles}
    assert {name: urls for name, urls in asked.items() if urls} == {}


def test_mathjax_is_here_with_its_fonts(book_html: Path, pages: dict[str, Any]) -> None:
    folder = book_html / "_static" / "mathjax"
    assert (folder / "tex-chtml-full.js").stat().st_size > 1_000_000
    assert len(list((folder / "output/chtml/fonts/woff-v2").glob("*.woff"))) == 23
    page = pages["book/notation.html"]
    assert page.find("script", src=re.compile(r"mathjax/tex-chtml-full\.js"))


def broken_links(name: str, page: Any, ids: dict[Path, set[str]], here: Path) -> list[str]:
    broken = []
    for link in page.find_all("a", href=True):
        parts = urlsplit(link["href"])
        if parts.scheme or parts.netloc:
            continue
        target = (here / unquote(parts.path)).resolve() if parts.path else here / Path(name).name
        known = ids.get(target.resolve())
        missing = not target.exists()
        lost = parts.fragment and known is not None and unquote(parts.fragment) not in known
        if missing or lost:
            broken.append(link["href"])
    return broken


def test_no_link_is_broken(book_html: Path, pages: dict[str, Any]) -> None:
    ids = {
        (book_html / name).resolve(): {tag["id"] for tag in page.find_all(id=True)} | {""}
        for name, page in pages.items()
    }
    found = {
        name: broken_links(name, page, ids, (book_html / name).parent)
        for name, page in pages.items()
    }
    assert {name: links for name, links in found.items() if links} == {}
    assert sum(len(page.find_all("a", href=True)) for page in pages.values()) > 500


def test_no_identifier_stands_twice(pages: dict[str, Any]) -> None:
    for name, page in pages.items():
        ids = [tag["id"] for tag in page.find_all(id=True)]
        assert sorted(ids) == sorted(set(ids)), name


def test_references_to_equations_are_numbers(pages: dict[str, Any]) -> None:
    links = [
        link.get_text()
        for page in pages.values()
        for link in page.select("a.reference.internal[href*='#equation-']")
    ]
    assert links
    assert [text for text in links if not re.fullmatch(r"\(\d+\.\d+\)", text)] == []


def test_no_page_shows_a_problem(pages: dict[str, Any]) -> None:
    marks = ".system-message, .problematic, .traceback, .output.stderr"
    shown = {
        name: [tag.get_text()[:80] for tag in page.select(marks)] for name, page in pages.items()
    }
    assert {name: texts for name, texts in shown.items() if texts} == {}


def test_every_picture_says_what_it_shows(pages: dict[str, Any]) -> None:
    pictures = [(name, tag) for name, page in pages.items() for tag in page.select("article img")]
    assert pictures
    mute = [
        (name, tag.get("src"))
        for name, tag in pictures
        if tag.get("role") != "presentation"  # a panel of a figure whose first says it all
        if len(tag.get("alt", "")) < 20 or tag["alt"].endswith((".svg", ".png"))
    ]
    assert mute == []


def test_every_numbered_equation_has_its_badge(pages: dict[str, Any], chapters: list[str]) -> None:
    for name in chapters:
        for equation in pages[name].select(NUMBERED):
            label = equation["id"].removeprefix("equation-")
            badge = f"details.eqn-badge[data-label='{label}'] > summary"
            assert equation.parent.select_one(badge), label
        numbered = pages[name].select("div.math > span.eqno")
        framed = pages[name].select("div.eqn-equation div.math > span.eqno")
        assert len(numbered) == len(framed)


def test_badges_lead_to_their_rows(pages: dict[str, Any], chapters: list[str]) -> None:
    rows = {row["id"] for row in pages["book/ledger.html"].select("table.eqn-rows tbody tr")}
    for name in chapters:
        for badge in pages[name].select("details.eqn-badge"):
            assert f"row-{badge['data-label']}" in rows


def test_ledger_lists_the_equations_of_the_pages(
    pages: dict[str, Any], chapters: list[str], ledger: dict[str, Any]
) -> None:
    on_pages = {
        equation["id"].removeprefix("equation-")
        for name in chapters
        for equation in pages[name].select(NUMBERED)
    }
    in_ledger = [row["label"] for row in ledger["equations"]]
    assert sorted(in_ledger) == sorted(on_pages)
    rows = pages["book/ledger.html"].select("table.eqn-rows tbody tr")
    claims = [row["id"] for row in rows[len(in_ledger) :]]
    assert [row["id"] for row in rows[: len(in_ledger)]] == [f"row-{label}" for label in in_ledger]
    assert sorted(claims) == sorted(f"row-{claim['label']}" for claim in ledger["claims"])


def test_claims_stand_on_their_pages_and_are_found_of_this_code(
    pages: dict[str, Any], ledger: dict[str, Any]
) -> None:
    on_pages = [box["id"] for page in pages.values() for box in page.select("div.eqn-claimed")]
    assert sorted(on_pages) == sorted(claim["label"] for claim in ledger["claims"])
    assert len(on_pages) == ledger["totals"]["claims"] > 100
    stale = [claim["label"] for claim in ledger["claims"] if not claim["stored"]]
    assert stale == [], "build once more, and commit what lies in book/_claims"
    for name, page in pages.items():
        for box in page.select("div.eqn-claimed"):
            assert box.select_one("details.eqn-badge.eqn-claim > summary"), box["id"]
            sentence = " ".join(p.get_text() for p in box.find_all("p", recursive=False))
            assert not re.search(r"\{[a-z][^}]*\}", sentence), (name, box["id"])


def test_ledger_is_in_the_agreed_form(ledger: dict[str, Any]) -> None:
    import jsonschema

    jsonschema.validate(ledger, SCHEMA)
    for row in ledger["equations"]:
        if row["kind"] == "identity":
            assert row["steps"] >= 1
            assert row["oracle"]
            assert row["mutants"]["caught"] >= 1
        if row["kind"] != "definition":
            assert re.fullmatch(r"\d+\.\d+", row["number"])


def count(type_: str) -> dict[str, Any]:
    return {"type": type_, "minimum": 0}


MUTANTS = ["caught", "indistinct", "survived", "spared"]
EQUATION = {
    "label": {"type": "string", "pattern": "^eq-"},
    "number": {"type": "string"},
    "chapter": {"type": "string"},
    "kind": {"enum": sorted(KINDS)},
    "oracle": {"type": "string"},
    "rtol": {"type": ["number", "null"]},
    "residual": {"type": ["number", "null"]},
    "steps": count("integer"),
    "draws": count("integer"),
    "mutants": {
        "type": "object",
        "required": MUTANTS,
        "properties": dict.fromkeys(MUTANTS, count("integer")),
    },
    "sources": {"type": "array", "items": {"type": "string", "pattern": r"^S\d-\d\d$"}},
    "backend": {"type": "string"},
}
SOURCE = {
    "id": {"type": "string", "pattern": r"^S\d-\d\d$"},
    "verdict": {"enum": sorted(VERDICTS)},
    "label": {"type": ["string", "null"]},
    "printed_residual": {"type": ["number", "null"]},
    "corrected_residual": {"type": ["number", "null"]},
    "why": {"type": "string"},
    "chapter": {"type": "string"},
}
TOTALS = [
    "equations", "checked", "estimates", "definitions", "unchecked", "mutants_caught",
    "mutants_survived", "sources_answered", "sources_total",
]  # fmt: skip
SCHEMA = {
    "type": "object",
    "required": ["equations", "sources", "totals"],
    "properties": {
        "equations": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": sorted(EQUATION), "properties": EQUATION},
        },
        "sources": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": sorted(SOURCE), "properties": SOURCE},
        },
        "totals": {
            "type": "object",
            "required": TOTALS,
            "properties": dict.fromkeys(TOTALS, count("integer")),
        },
    },
}


def test_totals_are_the_sums_of_the_rows(
    ledger: dict[str, Any], items: list[dict[str, str]]
) -> None:
    rows, totals = ledger["equations"], ledger["totals"]
    kinds = [row["kind"] for row in rows]
    assert totals["equations"] == len(rows)
    assert totals["checked"] == kinds.count("identity") + kinds.count("inequality")
    assert totals["estimates"] == kinds.count("estimate")
    assert totals["definitions"] == kinds.count("definition")
    assert totals["unchecked"] == 0
    assert totals["mutants_caught"] == sum(row["mutants"]["caught"] for row in rows)
    assert totals["mutants_survived"] == sum(row["mutants"]["survived"] for row in rows) == 0
    assert totals["sources_answered"] == len(ledger["sources"])
    assert totals["sources_total"] == len(items)


def test_chapters_say_what_the_ledger_says(
    pages: dict[str, Any], chapters: list[str], ledger: dict[str, Any]
) -> None:
    for name in chapters:
        slug = name.removeprefix("book/").removesuffix(".html")
        rows = [row for row in ledger["equations"] if row["chapter"] == slug]
        said = pages[name].select_one("p.eqn-summary").get_text()
        assert said.startswith(f"{len(rows)} equations: ")
        assert f"{sum(row['mutants']['caught'] for row in rows)} of " in said


LISTED = tomllib.loads((ROOT / "book" / "relations-listed.toml").read_text("utf-8"))


def test_no_relation_leaves_the_evaluated_ones(ledger: dict[str, Any]) -> None:
    """An edit that leaves a relation between the lines without its symbols is noticed here."""
    listed: dict[str, list[str]] = {}
    for one in ledger["inline"]:
        if one["outcome"] == "listed" and not one["spared"]:
            slug = one["document"].removeprefix("book/")
            listed.setdefault(slug, []).append(" ".join(one["latex"].split()))
    known = {slug: sorted(found) for slug, found in LISTED.items() if slug != "evaluated"}
    assert {slug: sorted(found) for slug, found in listed.items()} == known
    evaluated = Counter(
        one["document"].removeprefix("book/")
        for one in ledger["inline"]
        if one["outcome"] == "evaluated"
    )
    assert dict(evaluated) == LISTED["evaluated"]


def test_every_item_of_a_built_chapter_is_answered(
    pages: dict[str, Any], ledger: dict[str, Any], items: list[dict[str, str]]
) -> None:
    built = {row["chapter"] for row in ledger["equations"]}
    wanted = {item["id"] for item in items if item["chapter"] in built}
    assert {source["id"] for source in ledger["sources"]} == wanted
    page = pages["book/sources-line-by-line.html"]
    shown = {entry["id"].removeprefix("item-") for entry in page.select("li.eqn-item")}
    assert shown == {item["id"] for item in items}
    chips = {e["id"][5:]: e.select_one(".eqn-chip") for e in page.select("li.eqn-item")}
    assert {name for name, chip in chips.items() if chip} == wanted


def test_the_page_opens_with_all_that_is_wrong(
    pages: dict[str, Any], ledger: dict[str, Any]
) -> None:
    page = pages["book/sources-line-by-line.html"]
    wrong = [source["id"] for source in ledger["sources"] if source["verdict"] == "wrong"]
    leads = page.select(".eqn-wrong-items li a")
    assert sorted(a["href"] for a in leads) == sorted(f"#item-{name}" for name in wrong)
    opening = page.select_one(".eqn-wrong-items")
    assert opening.sourceline < page.select_one("li.eqn-item").sourceline


def test_what_is_wrong_is_shown_beside_what_holds(
    pages: dict[str, Any], ledger: dict[str, Any]
) -> None:
    page = pages["book/sources-line-by-line.html"]
    wrong = [source for source in ledger["sources"] if source["verdict"] == "wrong"]
    assert wrong
    for source in wrong:
        entry = page.find(id=f"item-{source['id']}")
        assert source["label"] is None or entry.select_one(".eqn-formula.eqn-right div.eqn-later")
        printed = entry.select_one(".eqn-formula:not(.eqn-right)")
        if printed is None:  # numbers of a cell show it, and words say of what
            assert source["why"]
            printed_by = source["printed_residual"]  # None where the shapes do not conform
            assert printed_by is None or printed_by > 10 * source["corrected_residual"]
            continue
        title = printed.p.span.get_text()
        assert title.startswith("Taken at its word, “" if source["taken"] else "The source prints")
        if source["printed_residual"] is not None:
            assert source["printed_residual"] > 1000 * source["corrected_residual"]


def test_chapters_can_be_taken_away(book_html: Path, chapters: list[str]) -> None:
    for name in chapters:
        notebook = book_html / "_sources" / Path(name).with_suffix(".ipynb")
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        assert all(cell["outputs"] is not None for cell in cells if cell["cell_type"] == "code")


def test_the_index_knows_the_notation(pages: dict[str, Any]) -> None:
    entries = {link.get_text() for link in pages["genindex.html"].select("table.indextable a")}
    assert {"kernel", "lengthscale", "Gram matrix", "posterior mean"} <= entries
