"""What the pages say of the sources: items, verdicts, marks, and what the ledger counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

tables = pytest.importorskip("checked_equations.sphinx.generated_tables")
EXT = Path(__file__).resolve().parents[2] / "book" / "_ext"
LINKS = tables.Links(
    lambda label: f"#equation-{label}", lambda name: f"{name}.html", lambda name: "One"
)


def soup(text: str) -> Any:
    return pytest.importorskip("bs4").BeautifulSoup(text, "html.parser")


@pytest.fixture
def shown(modules: Any) -> Any:
    """A function that shows the items of one source."""
    return lambda said: soup(modules.source_pages.sources(said, LINKS, "S1"))


def test_sources_show_verdicts_and_what_waits(answers: Any, verdict: Any, shown: Any) -> None:
    made = shown(answers(verdict))
    first, second = made.select("li.eqn-item")
    assert first.select_one(".eqn-chip").get_text() == "holds"
    assert first.select_one(".eqn-formula.eqn-right a")["href"] == "#equation-eq-one"
    assert second.select_one(".eqn-waiting").get_text() == "for part/two"
    assert "1 of 2" in made.select_one(".eqn-answered").get_text()


def test_items_that_wait_are_folded_under_a_line_that_counts_them(
    answers: Any, verdict: Any, shown: Any
) -> None:
    made = shown(answers(verdict))
    fold = made.select_one("details:not([open])")
    assert fold.summary.get_text() == "1 item not reached yet"
    assert [item["id"] for item in fold.select("li.eqn-item")] == ["item-S1-02"]
    assert fold.find_parent("details") is None
    reached = [i["id"] for i in made.select("li.eqn-item") if not i.find_parent("details")]
    assert reached == ["item-S1-01"]
    none = shown(answers())
    assert none.summary.get_text() == "2 items not reached yet"
    assert len(none.select("ol")) == 1
    whole = answers(verdict)
    assert shown(answers(verdict, items=whole.items[:1])).details is None


def test_what_is_wrong_stands_beside_what_holds(
    answers: Any, verdict: Any, refutation: Any, shown: Any
) -> None:
    made = shown(answers(verdict, refutation | {"printed_residual": None}))
    printed, holds = made.select("li.eqn-item")[0].select(".eqn-formula")
    assert "a = -b" in printed.get_text()
    assert "shapes do not conform" in printed.get_text()
    assert "residual 4.0e−16" in holds.get_text()


@pytest.mark.parametrize(
    ("said", "title", "chip"),
    [
        ({}, "The source prints", "wrong as printed"),
        ({"taken": "a sum"}, "Taken at its word, “a sum” would say", "wrong at its word"),
        (
            {"taken": "a sum", "granted": "of b"},
            "Taken at its word, “a sum” would say, of b",
            "wrong at its word",
        ),
        ({"granted": "a bar"}, "The source prints, a bar granted", "wrong as printed"),
    ],
)
def test_no_formula_is_put_into_a_mouth(
    answers: Any, verdict: Any, refutation: Any, modules: Any, shown: Any,
    said: dict, title: str, chip: str,
) -> None:  # fmt: skip
    """What the source has only in words is never said to be printed there."""
    judged = answers(refutation | said, verdict | {"verdict": "wrong"})
    made = shown(judged).select("li.eqn-item")[0]
    assert made.select(".eqn-formula")[0].p.span.get_text() == title
    assert made.select_one(".eqn-chip").get_text() == chip
    chips = soup(modules.source_pages.verdicts(judged)).select("li")
    assert [li.get_text() for li in chips] == [f"{chip} 1", "not reached yet 1"]


def test_what_is_argued_leads_to_its_section_and_shows_no_residual(
    answers: Any, verdict: Any, shown: Any
) -> None:
    said = answers(verdict | {"verdict": "argued", "section": "sec-why"})
    said = replace(said, sections={"sec-why": ("Why it holds", "one.html#sec-why")})
    made = shown(said).select("li.eqn-item")[0]
    assert made.select_one(".eqn-chip").get_text() == "argued, not evaluated"
    assert made.select_one(".eqn-answer a")["href"] == "one.html#sec-why"
    assert "Why it holds" in made.get_text()
    assert not made.select(".eqn-formula")
    assert "residual" not in made.get_text()
    assert said.residuals("S1-01")["corrected_residual"] is None


def test_what_is_wrong_comes_first_and_can_be_shown_alone(
    answers: Any, verdict: Any, refutation: Any, modules: Any, shown: Any
) -> None:
    wrong = {"source_id": "S1-02", "verdict": "wrong"}
    said = answers(verdict, verdict | wrong, refutation | {"source_id": "S1-02", "taken": "more"})
    items = shown(said).select("li.eqn-item")
    assert [item["id"] for item in items] == ["item-S1-02", "item-S1-01"]
    ticks = soup(modules.source_pages.verdicts(said)).select("label > input[type=checkbox]")
    assert [tick["value"] for tick in ticks] == [item["data-verdict"] for item in items]
    style = (EXT.parent / "_static" / "sources.css").read_text()
    for value in (*modules.source_pages._SPOKEN,):
        assert f'[value="{value}"]:checked) .eqn-item[data-verdict="{value}"]' in style


def test_a_condition_says_if_once(answers: Any, verdict: Any, shown: Any) -> None:
    made = shown(answers(verdict | {"verdict": "holds-if", "why": "if n > 1"}))
    assert made.select_one(".eqn-answer p").get_text() == "n > 1"


def test_letters_of_a_remark_are_typeset(answers: Any, verdict: Any, shown: Any) -> None:
    made = shown(answers(verdict | {"why": "one $c_i$ for each, if $n < 2$"}))
    said = made.select_one(".eqn-answer p")
    assert [math.get_text() for math in said.select("span.eqn-later")] == [r"\(c_i\)", r"\(n < 2\)"]
    assert said.get_text().startswith("one ")


def test_the_ledger_counts_what_is_answered(answers: Any, verdict: Any) -> None:
    said = answers(verdict)
    added = said.added()
    assert added.totals == {"sources_answered": 1, "sources_total": 2}
    assert added.told == (("1 of 2", "items of the sources answered"),)
    first, second = said.book.rows
    assert (added.cells(first), added.cells(second)) == ({"sources": ["S1-01"]}, {"sources": []})
    assert json.loads(json.dumps(added.data))["sources"] == [
        {
            "id": "S1-01", "verdict": "holds", "label": "eq-one", "printed_residual": None,
            "corrected_residual": 2e-15, "taken": "", "why": "", "chapter": "part/one",
        }
    ]  # fmt: skip


def test_an_item_of_a_closed_chapter_needs_a_verdict(answers: Any, verdict: Any) -> None:
    assert list(answers(verdict).unanswered()) == []
    assert list(answers().unanswered()) == [
        ("book/part/one", "the item S1-01 of the sources has no verdict: a sum")
    ]


def test_a_refutation_gives_the_residuals(answers: Any, verdict: Any, refutation: Any) -> None:
    assert answers(verdict, refutation).residuals("S1-01") == {
        "printed_residual": 0.7,
        "corrected_residual": 4e-16,
    }


def test_a_verdict_leaves_a_mark_and_a_refutation_alone_none(
    answers: Any, verdict: Any, refutation: Any, modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = SimpleNamespace(get_relative_uri=lambda here, there: f"{there}.html")
    for records, marks in (((verdict, refutation), ["source"]), ((refutation,), [])):
        said = answers(*records)
        monkeypatch.setattr(modules.sources, "answers", lambda env, book, said=said: said)
        app = SimpleNamespace(env=None, builder=builder)
        named = modules.sources.name(app, said.book, "book/part/one")
        assert list(named) == ["S1-01"]
        assert named["S1-01"].label == "eq-one"
        assert named["S1-01"].address == "told.html#item-S1-01"
        assert list(named["S1-01"].marks) == marks
