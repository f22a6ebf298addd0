"""The tables of the generated pages."""

from __future__ import annotations

import re
from typing import Any

import jinja2
import pytest

from checked_equations.sphinx import generated_tables as tables
from checked_equations.sphinx import page_badges as badge
from checked_equations.sphinx.book_ledger import Added
from checked_equations.sphinx.generated_tables import Links
from checked_equations.sphinx.pages import Noted

CHAPTER = "book/part/one"
LINKS = Links(lambda label: f"#equation-{label}", lambda name: f"{name}.html", lambda name: "One")


def soup(text: str) -> Any:
    return pytest.importorskip("bs4").BeautifulSoup(text, "html.parser")


def test_a_badge_says_how_the_equation_was_checked(book: Any) -> None:
    made = soup(badge.equation_badge(book.rows[0], badge.foot("ledger.html#row-eq-one", "")))
    said = [span.get_text() for span in made.select(".eqn-said > span")]
    assert said == ["checked to 1e−9", "3 of 3 mutants caught", "dense"]
    assert made.select_one("table.eqn-steps td.eqn-number").get_text() == "2.0e−15"
    assert made.select_one("div.eqn-tried").get_text() == "3 of 3 mutants caught (1 indistinct)."
    assert made.select_one("a")["href"] == "ledger.html#row-eq-one"
    assert made.find("x") is None  # the mutant's name holds something like a tag


def test_a_definition_says_so(book: Any) -> None:
    made = soup(badge.equation_badge(book.rows[1], ""))
    assert made.summary.get_text() == "definition"
    assert made.find("a") is None


def test_an_estimate_says_its_score(changed: Any, make_record: Any) -> None:
    estimate = {
        "z": 0.83,
        "limit": 4.0,
        "standard_error": 1e-3,
        "entries": 1,
        "n": 10**6,
        "seed": 1,
    }
    record = make_record("eq-one", kind="estimate", estimate=estimate)
    row = changed(notes=(Noted(record, 10),)).rows[0]
    assert badge.words(row)[0] == "estimate, z = 0.8, n = 10⁶"


def test_the_line_below_a_cell_leads_to_its_equation(book: Any) -> None:
    row = book.rows[0]
    made = soup(badge.line(row.record, row, "#equation-eq-one"))
    assert made.a["href"] == "#equation-eq-one"
    assert made.get_text() == "(1.1)checked to 1e−9 · 3 of 3 mutants caught · dense"


def test_the_ledger_has_a_row_an_equation(book: Any) -> None:
    made = soup(tables.table("ledger", book, LINKS))
    rows = made.select("tbody tr")
    assert [row["id"] for row in rows] == ["row-eq-one", "row-eq-two"]
    assert [th["aria-sort"] for th in made.select("th")] == ["none"] * 8
    assert rows[0].select("td")[6]["data-key"] == "2e-15"
    assert "data-key" not in rows[1].select("td")[6].attrs  # nothing was measured
    assert rows[0].select("td")[7].get_text() == "3 of 3"


def test_an_extension_adds_columns_and_totals(book: Any) -> None:
    added = Added(columns={"taught by": lambda row: ("Ada", "<Emmy>")}, told=(("2", "teachers"),))
    made = soup(tables.table("ledger", book, LINKS, added))
    assert [th.get_text() for th in made.select("th")][-1] == "taught by"
    last = made.select("tbody tr")[0].select("td")[-1]
    assert last.get_text() == "Ada, <Emmy>"
    said = [
        entry.get_text() for entry in soup(tables.table("totals", book, LINKS, added)).select("div")
    ]
    assert said[-2:] == ["teachers2", "relations in the text evaluated in passing0 of 0"]
    assert "teachers" not in tables.table("totals", book, LINKS)


def test_no_residual_is_over_the_tolerance_beside_it(changed: Any, make_record: Any) -> None:
    records = make_record("eq-one"), make_record("eq-one", rtol=1e-6, residual=1e-8)
    row = changed(notes=tuple(Noted(record, 10) for record in records)).rows[0]
    assert (row.data["residual"], row.data["rtol"]) == (1e-8, 1e-6)
    rough = make_record("eq-one", approx=3e-5, residual=8e-6)
    made = soup(tables.table("ledger", changed(notes=(Noted(rough, 10),)), LINKS))
    assert made.select("tbody td")[5].get_text() == "3e−5"


def test_an_open_badge_says_in_a_sentence_how_it_was_checked(book: Any) -> None:
    said = soup(badge.equation_badge(book.rows[0], "")).get_text()
    assert "How this was checked: dense. Relative tolerance 1e-9; 3 draws of the numbers" in said


def test_an_estimate_is_held_to_its_standard_error(changed: Any, make_record: Any) -> None:
    estimate = {"z": 0.83, "n": 20000, "seed": 1}
    record = make_record("eq-one", kind="estimate", estimate=estimate)
    rough = changed(notes=(Noted(record, 10),))
    assert soup(tables.table("ledger", rough, LINKS)).select("tbody td")[5].get_text() == "z < 4"
    said = soup(badge.equation_badge(rough.rows[0], "")).get_text()
    assert "Tolerance four standard errors" in said
    assert "1e−9" not in said


def test_a_route_that_types_tell_is_said(changed: Any, make_record: Any) -> None:
    record = make_record("eq-one", route=["quadrature"])
    row = changed(notes=(Noted(record, 10),)).rows[0]
    assert "; by quadrature." in soup(badge.equation_badge(row, "")).get_text()


def test_a_summary_counts_the_chapter(book: Any) -> None:
    made = soup(tables.summary(book, CHAPTER))
    said = [span.get_text() for span in made.select("span")]
    assert said == ["2 equations: 1 checked, 1 definition", "3 of 3 mutants caught", "runs in 3 s"]


def test_the_ledger_shows_formulas_and_names_its_cells(book: Any) -> None:
    row = soup(tables.table("ledger", book, LINKS)).select_one("tbody tr")
    assert row.select_one("td.eqn-formula-cell div.eqn-later").get_text().startswith(r"\[")
    assert row.select_one("td.eqn-formula-cell code").get_text() == row["id"].removeprefix("row-")
    assert len(row.select("td")) == 8


def test_on_a_telephone_each_cell_has_the_title_of_its_column(book: Any) -> None:
    added = Added(columns={"taught by": lambda row: ("Ada",)})
    made = soup(tables.table("ledger", book, LINKS, added))
    told = re.findall(r'nth-child\((\d+)\)::before { content: "(.+?): "; }', made.style.string)
    assert told == [(str(i), th.get_text()) for i, th in enumerate(made.select("th"), 1)]
    assert len(told) == 9


def test_notation_is_mathematics_and_words() -> None:
    symbol = {
        "latex": ["K_y"],
        "meaning": "the sum $K + I$",
        "shape": "N",
        "code": "Ky",
        "anchor": "s-1",
    }
    made = soup(tables.render("notation", title="Kernels", symbols=[symbol]))
    assert [span.get_text() for span in made.select("span.math")] == [
        r"\(K_y\)",
        r"\(K + I\)",
        r"\(N\)",
    ]
    assert made.select_one("tbody tr")["id"] == "s-1"
    assert made.code.get_text() == "Ky"


def test_times_and_versions(book: Any) -> None:
    times = tables.table("timings", book, LINKS)
    assert [td.get_text() for td in soup(times).select("td")] == [
        "One", "3.2 s", "0.01 s", "numpy",
    ]  # fmt: skip
    assert (
        soup(tables.render("versions", installed={"numpy": "2.4"})).select("td")[1].get_text()
        == "2.4"
    )


def test_a_template_says_what_nobody_has_given_it() -> None:
    with pytest.raises(jinja2.UndefinedError, match="'elsewhere' is undefined"):
        tables.render("code", code=[], borrowed={})


def test_the_layout_of_a_template_is_not_that_of_the_page(book: Any) -> None:
    assert not re.search(r">\s+<", tables.table("ledger", book, LINKS))
    assert "\n" not in tables.render("switch")


def test_the_ledger_says_what_a_claim_says_without_its_own_table() -> None:
    record = {"held": 9, "of": 10, "pooled": [9, 10], "numbers": {}, "blocks": None, "fresh": {}}
    record |= {"worst": {}, "seconds": {}, "settings": {}, "without": {}, "label": "cl-one"}
    text = "| rule | error |\n| --- | --- |\n| ours | {share} |\n\nOurs is ahead in {share} draws."
    assert tables.in_words(text, record).strip() == "Ours is ahead in 9 of 10 draws."
