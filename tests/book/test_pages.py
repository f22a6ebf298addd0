"""The built pages, read without a browser: links, labels, pictures, the ledger, nothing foreign."""

from __future__ import annotations

import csv
import json
import posixpath
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
def chapters(trees: dict[str, Any]) -> list[str]:
    """The pages that hold numbered equations of their own."""
    return [name for name, tree in trees.items() if tree.css_first(NUMBERED)]


def asked_for(tree: Any) -> list[str]:
    """All that a browser would load by itself to show the page."""
    found = [tag.attributes.get(LOADED[tag.tag]) for tag in tree.css(", ".join(LOADED))]
    links = [tag.attributes for tag in tree.css("link[rel]")]
    found += [link.get("href") for link in links if set(link["rel"].split()) & LINKED]
    return [url or "" for url in found]


LINKED = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}


def test_no_page_asks_another_host(trees: dict[str, Any]) -> None:
    asked = {name: [u for u in asked_for(tree) if FOREIGN.match(u)] for name, tree in trees.items()}
    assert sum(len(asked_for(tree)) for tree in trees.values()) > 10 * len(trees)
    assert {name: urls for name, urls in asked.items() if urls} == {}


def test_no_style_asks_another_host(book_html: Path) -> None:
    styles = list((book_html / "_static").rglob("*.css"))
    assert styles
    loads = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")]+)")
    asked = {path.name: loads.findall(path.read_text("utf-8")) for path in styles}
    assert {name: urls for name, urls in asked.items() if urls} == {}


def ids_of(tree: Any) -> list[str]:
    return [tag.attributes["id"] for tag in tree.css("[id]")]


def broken_links(name: str, tree: Any, ids: dict[str, set[str]], book: Path) -> list[str]:
    broken = []
    for link in {tag.attributes["href"] for tag in tree.css("a[href]")}:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        path = unquote(parts.path)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        known = ids.get(target)
        if unquote(parts.fragment) not in known if known else not (book / target).exists():
            broken.append(link)
    return broken


def test_no_link_is_broken(book_html: Path, trees: dict[str, Any]) -> None:
    ids = {name: {*ids_of(tree), ""} for name, tree in trees.items()}
    found = {name: broken_links(name, tree, ids, book_html) for name, tree in trees.items()}
    assert {name: links for name, links in found.items() if links} == {}
    assert sum(len(tree.css("a[href]")) for tree in trees.values()) > 500


def test_no_identifier_stands_twice(trees: dict[str, Any]) -> None:
    for name, tree in trees.items():
        ids = ids_of(tree)
        assert sorted(ids) == sorted(set(ids)), name


def test_references_to_equations_are_numbers(trees: dict[str, Any]) -> None:
    links = [
        link.text()
        for tree in trees.values()
        for link in tree.css("a.reference.internal[href*='#equation-']")
    ]
    assert links
    assert [text for text in links if not re.fullmatch(r"\(\d+\.\d+\)", text)] == []


def test_no_page_shows_a_problem(trees: dict[str, Any]) -> None:
    marks = ".system-message, .problematic, .traceback, .output.stderr"
    shown = {name: [tag.text()[:80] for tag in tree.css(marks)] for name, tree in trees.items()}
    assert {name: texts for name, texts in shown.items() if texts} == {}


def test_every_picture_says_what_it_shows(trees: dict[str, Any]) -> None:
    pictures = [
        (name, tag.attributes) for name, tree in trees.items() for tag in tree.css("article img")
    ]
    assert pictures
    mute = [
        (name, its.get("src"))
        for name, its in pictures
        if its.get("role") != "presentation"  # a panel of a figure whose first says it all
        if len(its.get("alt") or "") < 20 or its["alt"].endswith((".svg", ".png"))
    ]
    assert mute == []


def labels_of(tree: Any) -> list[str]:
    """The labels of the numbered equations of a page."""
    return [equation.id.removeprefix("equation-") for equation in tree.css(NUMBERED)]


def test_every_numbered_equation_has_its_badge(trees: dict[str, Any], chapters: list[str]) -> None:
    for name in chapters:
        tree = trees[name]
        badges = tree.css("div.eqn-equation > div.math[id] ~ details.eqn-badge:has(> summary)")
        shown = [badge.attributes["data-label"] for badge in badges]
        assert sorted(shown) == sorted(labels_of(tree)), name
        numbered = tree.css("div.math > span.eqno")
        framed = tree.css("div.eqn-equation div.math > span.eqno")
        assert len(numbered) == len(framed)


def rows_of(trees: dict[str, Any]) -> list[str]:
    """The rows of the ledger by their anchors."""
    return [row.id for row in trees["book/ledger.html"].css("table.eqn-rows tbody tr")]


def test_badges_lead_to_their_rows(trees: dict[str, Any], chapters: list[str]) -> None:
    badges = [badge for name in chapters for badge in trees[name].css("details.eqn-badge")]
    assert {f"row-{badge.attributes['data-label']}" for badge in badges} <= {*rows_of(trees)}


def test_ledger_lists_the_equations_of_the_pages(
    trees: dict[str, Any], chapters: list[str], ledger: dict[str, Any]
) -> None:
    on_pages = {label for name in chapters for label in labels_of(trees[name])}
    in_ledger = [row["label"] for row in ledger["equations"]]
    assert sorted(in_ledger) == sorted(on_pages)
    rows = rows_of(trees)
    claims = rows[len(in_ledger) :]
    assert rows[: len(in_ledger)] == [f"row-{label}" for label in in_ledger]
    assert sorted(claims) == sorted(f"row-{claim['label']}" for claim in ledger["claims"])


def test_claims_stand_on_their_pages_and_are_found_of_this_code(
    trees: dict[str, Any], ledger: dict[str, Any]
) -> None:
    boxes = [box for tree in trees.values() for box in tree.css("div.eqn-claimed")]
    assert sorted(box.id for box in boxes) == sorted(claim["label"] for claim in ledger["claims"])
    assert len(boxes) == ledger["totals"]["claims"] > 100
    stale = [claim["label"] for claim in ledger["claims"] if not claim["stored"]]
    assert stale == [], "build once more, and commit what lies in book/_claims"
    for box in boxes:
        assert box.css_first("details.eqn-badge.eqn-claim > summary"), box.id
        sentence = " ".join(part.text() for part in box.iter() if part.tag == "p")
        assert sentence
        assert not re.search(r"\{[a-z][^}]*\}", sentence), box.id


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
    trees: dict[str, Any], chapters: list[str], ledger: dict[str, Any]
) -> None:
    for name in chapters:
        slug = name.removeprefix("book/").removesuffix(".html")
        rows = [row for row in ledger["equations"] if row["chapter"] == slug]
        said = trees[name].css_first("p.eqn-summary").text()
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
    trees: dict[str, Any], ledger: dict[str, Any], items: list[dict[str, str]]
) -> None:
    built = {row["chapter"] for row in ledger["equations"]}
    wanted = {item["id"] for item in items if item["chapter"] in built}
    assert {source["id"] for source in ledger["sources"]} == wanted
    entries = trees["book/sources-line-by-line.html"].css("li.eqn-item")
    chips = {entry.id.removeprefix("item-"): entry.css_first(".eqn-chip") for entry in entries}
    assert {*chips} == {item["id"] for item in items}
    assert {name for name, chip in chips.items() if chip} == wanted


def test_the_page_opens_with_all_that_is_wrong(
    trees: dict[str, Any], ledger: dict[str, Any]
) -> None:
    page = trees["book/sources-line-by-line.html"]
    wrong = [source["id"] for source in ledger["sources"] if source["verdict"] == "wrong"]
    leads = [link.attributes["href"] for link in page.css(".eqn-wrong-items li a")]
    assert sorted(leads) == sorted(f"#item-{name}" for name in wrong)
    assert page.css_first(".eqn-wrong-items, li.eqn-item").css_matches(".eqn-wrong-items")


def test_what_is_wrong_is_shown_beside_what_holds(
    trees: dict[str, Any], ledger: dict[str, Any]
) -> None:
    page = trees["book/sources-line-by-line.html"]
    wrong = [source for source in ledger["sources"] if source["verdict"] == "wrong"]
    assert wrong
    for source in wrong:
        entry = page.css_first(f"#item-{source['id']}")
        assert source["label"] is None or entry.css_first(".eqn-formula.eqn-right div.eqn-later")
        printed = entry.css_first(".eqn-formula:not(.eqn-right)")
        if printed is None:  # numbers of a cell show it, and words say of what
            assert source["why"]
            printed_by = source["printed_residual"]  # None where the shapes do not conform
            assert printed_by is None or printed_by > 10 * source["corrected_residual"]
            continue
        title = printed.css_first("p span").text()
        assert title.startswith("Taken at its word, “" if source["taken"] else "The source prints")
        if source["printed_residual"] is not None:
            assert source["printed_residual"] > 1000 * source["corrected_residual"]


def test_chapters_can_be_taken_away(book_html: Path, chapters: list[str]) -> None:
    for name in chapters:
        notebook = book_html / "_sources" / Path(name).with_suffix(".ipynb")
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        assert all(cell["outputs"] is not None for cell in cells if cell["cell_type"] == "code")


def test_the_index_knows_the_notation(trees: dict[str, Any]) -> None:
    entries = {link.text() for link in trees["genindex.html"].css("table.indextable a")}
    assert {"kernel", "lengthscale", "Gram matrix", "posterior mean"} <= entries
