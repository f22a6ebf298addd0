"""What a record shows: one plain line without a measured number, a badge, and plain JSON."""

import json
import re
from dataclasses import dataclass, replace

import pytest

from checked_equations.book.records import Ledger
from checked_equations.check import phrases
from checked_equations.check.badge import notebook_badge
from checked_equations.check.outcomes import EstimateRecord, MutantRecord, Mutants, StepRecord
from checked_equations.check.records import MIME, Record, Shown

MEASURED = 0.123456789
MUTANTS = Mutants.of(
    (
        MutantRecord("flip the sign of b", "a - b", "caught", MEASURED),
        MutantRecord("3 for 2", "c_3", "caught", None),
        MutantRecord("drop the transpose of S", "S", "indistinct", MEASURED),
        MutantRecord("drop the bars of c", "c", "spared", MEASURED, "c is positive"),
    )
)
CHECK = Record(
    "eq-a", "part/small", "identity", 12, "dense <algebra>", 1e-9, 0.0, None, MEASURED,
    (StepRecord("a <b", "=", MEASURED, 12), StepRecord("<script>", "=", MEASURED, 13)),
    3, MUTANTS, "numpy", MEASURED, more={"answers": ("T-01", "T-02")},
)  # fmt: skip
ESTIMATE = Record(
    "eq-e", "part/small", "estimate", 3, "Monte Carlo", 1e-9, 0.0, None, MEASURED,
    CHECK.steps[:1], 1, MUTANTS, estimate=EstimateRecord(MEASURED, 4.0, MEASURED, 1, 10**6, 5),
)  # fmt: skip
TOTALS = {
    "equations": 5, "checked": 3, "estimates": 1, "definitions": 1, "mutants_caught": 40,
    "mutants_indistinct": 2, "mutants_survived": 0, "mutants_spared": 0,
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Remark(Shown):
    """A record of a kind that only this book has."""

    chapter: str
    about: str
    kind: str = "remark"
    text: str = ""

    def to_json(self):
        return {**super().to_json(), "said": f"{self.about}: worth a remark"}

    def panel(self):
        return "<p>why</p>"


ALL = [
    (
        CHECK,
        "eq-a: holds to 1e-09 · 2 steps · 3 draws · 2 of 3 mutants caught "
        "(1 indistinct, 1 spared) · dense <algebra>",
    ),
    (
        ESTIMATE,
        "eq-e: holds within 4 standard errors (n = 1000000, seed = 5) · 1 step · "
        "2 of 3 mutants caught (1 indistinct, 1 spared) · Monte Carlo",
    ),
    (
        Record("eq-d", "part/small", "definition", 7, why="a model", bare=("a = b",)),
        "eq-d: definition, a model",
    ),
    (
        replace(CHECK, kind="definition", label="eq-d", oracle="", bare=("c",), why="a name"),
        "eq-d: definition, compared · 2 steps · 2 of 3 mutants caught (1 indistinct, 1 spared)"
        " · 1 left: a name",
    ),
    (
        Remark("part/small", "a <b"),
        "a <b: worth a remark",
    ),
    (
        Remark("part/small", "a <b", text="a.md"),
        "a <b: worth a remark · a.md",
    ),
    (
        Ledger("part/small", TOTALS, more={"sources": ("7 of 7 answered",)}),
        "ledger: 5 equations · 3 checked · 1 estimate · 1 definition · 40 of 40 "
        "mutants caught (2 indistinct) · sources 7 of 7 answered",
    ),
]


@pytest.mark.parametrize(("record", "line"), ALL)
def test_the_plain_line(record, line):
    bundle = record._repr_mimebundle_()
    assert bundle["text/plain"] == repr(record) == line
    assert "0.1" not in line


def test_the_plain_line_needs_no_mutant_written():
    def write():
        pytest.fail("nothing of this is shown")

    assert repr(replace(CHECK, mutants=replace(MUTANTS, write=write))) == repr(CHECK)


@pytest.mark.parametrize(("record", "line"), ALL)
def test_the_badge_is_escaped_and_balanced(record, line):
    shown = record._repr_mimebundle_()["text/html"]
    assert shown.startswith(f'<details class="eqn-badge eqn-{record.kind}" data-label="')
    assert "<script" not in shown
    assert "<b" not in shown.replace("<body", "")
    opened = re.findall(r"<([a-z]+)[ >]", shown)
    assert sorted(opened) == sorted(re.findall(r"</([a-z]+)>", shown))


@pytest.mark.parametrize(("record", "line"), ALL)
def test_the_data_is_plain_json(record, line):
    data = record._repr_mimebundle_()[MIME]
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["kind"] == record.kind


def test_the_summary_reads_as_the_margin_shows_it():
    closed, _, _ = notebook_badge(CHECK.to_json()).partition("</summary>")
    assert closed.endswith(
        "checked to 1e\N{MINUS SIGN}9 · 2 of 3 mutants caught (1 indistinct, 1 spared) · "
        "dense &lt;algebra&gt;</span>"
    )
    assert "estimate, z = 0.1, n = 10⁶ · " in notebook_badge(ESTIMATE.to_json())


def test_the_badge_holds_steps_mutants_and_reasons():
    shown = notebook_badge(CHECK.to_json())
    assert "<code>a &lt;b</code>" in shown
    assert "<small>c is positive</small>" in shown
    assert ">spared</td>" in shown
    assert ">does not conform</td>" in shown
    assert "; answers T-01, T-02." in shown


def test_the_badge_says_what_all_draws_share():
    assert "The statement does not say so." not in notebook_badge(CHECK.to_json())
    noted = replace(CHECK, notes=("every draw of x is positive", "every draw of n is even"))
    said = "Every draw of x is positive; every draw of n is even. The statement does not say so."
    assert said in notebook_badge(noted.to_json())


def test_the_latex_in_the_name_of_a_mutant_is_code(checked):
    record = checked(r"\alpha = b + c", {r"\alpha": 3.5, "b": 1.5, "c": 2.0})
    shown = notebook_badge(record.to_json())
    assert "flip the sign of <code>b</code>" in shown


def test_a_residual_that_is_no_number_becomes_null():
    record = Record("eq-a", "part/small", "identity", 1, residual=float("inf"))
    assert record.to_json()["residual"] is None


@pytest.mark.parametrize(
    ("n", "shown"),
    [(1000, "10³"), (10**6, "10⁶"), (500, "500"), (20000, "20\N{NO-BREAK SPACE}000"), (100, "100")],
)
def test_sample_sizes(n, shown):
    assert phrases.power_of_ten(n) == shown


def test_a_route_is_said_in_words():
    assert phrases.route_phrase(["quadrature", "differences"]) == "by quadrature, differences"
    assert phrases.route_phrase([]) == ""


def test_an_approximation_has_two_tolerances_and_an_estimate_has_none():
    exact = {"rtol": 1e-9, "approx": None}
    assert phrases.tolerance_phrase(exact) == "1e-9"
    assert phrases.tolerance_phrase(exact | {"approx": 3e-5}) == "1e-9; 3e-5 where approximate"
    assert phrases.tolerance_phrase(exact | {"estimate": {"z": 0.3}}) == ""


def test_many_swaps_of_one_symbol_share_a_row(checked):
    values = dict(zip("abcdfgh", [1.1, 2.3, 0.7, 3.1, 1.9, 0.4, 2.9], strict=True))
    total = values["a"] * values["b"] + sum(values[k] for k in "cdfgh")
    record = checked("s = a b + c + d + f + g + h", {"s": total, **values})
    html = notebook_badge(record.to_json())
    swaps = [m.edit for m in record.mutants.list if m.edit.endswith(" for a")]
    assert len(swaps) > 4
    assert len(re.findall(r"<td><code>\w</code> for <code>a</code>(?: \(\d+\))?<small>", html)) == 1
    assert f"the nearest of {len(swaps)} of its kind, all caught" in html
    shown = phrases.together(record.to_json()["mutants"]["list"])
    nearest = min(m.residual for m in record.mutants.list if m.edit in swaps)
    assert [m["residual"] for m in shown if m["edit"] in swaps] == [nearest]
    assert html.count("<tr>") < record.mutants.caught / 2
    assert len(record.to_json()["mutants"]["list"]) == record.mutants.caught
    assert "flip the sign of <code>c</code>" in html
    assert f"{record.mutants.caught} of {record.mutants.caught} mutants caught" in html


def test_a_kind_of_the_books_own_opens_to_what_it_shows():
    html = Remark("part/small", "a <b")._repr_mimebundle_()["text/html"]
    assert 'data-label="a &lt;b"' in html
    assert '<div class="eqn-panel"><p>why</p></div>' in html


def test_what_a_book_counts_stands_among_the_totals():
    html = ALL[-1][0]._repr_mimebundle_()["text/html"]
    assert "<tr><td>sources</td><td>7 of 7 answered</td></tr>" in html
    assert "sources" not in repr(Ledger("part/small", TOTALS))
