"""Relations of the sentences are evaluated in passing: false ones fail, others are listed."""

import json

import numpy as np
import pytest

from checked_equations import EquationError, Nodes
from checked_equations.check.records import MIME
from gpnotes_book import Chapter

TEXT = """\
# A small chapter

The sum is the first thing, $s = a + b$.

```{math}
:label: eq-a
s = a + b
```

## 1  First

Here $n = 3$, with $u = 2 s$ and $\\frac13 \\approx 0.33$.

## 2  Second

Here $n = 7$, if $a = 0$; and $a \\sim b$, and $p = q$.
"""


def generic(stream):
    a, b = stream.normal(size=2)
    return {"s": a + b, "a": a, "b": b}


def sums(stream):
    table = generic(stream)
    return {**table, "u": 2 * table["s"]}


@pytest.fixture
def chapter(tmp_path):
    """Open a chapter with this text, checked."""

    def opened(text=TEXT):
        path = tmp_path / "small.md"
        path.write_text(text, encoding="utf-8")
        chapter = Chapter("part/small", path=path)
        chapter.check("eq-a", generic, oracle="by hand")
        return chapter

    return opened


def told(chapter):
    """The chapter with all that its sentences need."""
    chapter.symbols(sums, spare={"a = 0": "a case"})
    chapter.symbols({"n": 3}, under="1")
    chapter.symbols({"n": 7}, under="2  Second")
    return chapter


def outcomes(chapter):
    return {r.latex: (r.outcome, r.by or r.why) for r in chapter.ledger().inline}


class TestWhatDecides:
    def test_each_relation_is_evaluated_or_listed_with_its_reason(self, chapter):
        assert outcomes(told(chapter())) == {
            "s = a + b": ("evaluated", "symbols"),
            "n = 3": ("evaluated", "symbols('1')"),
            "u = 2 s": ("evaluated", "symbols"),
            r"\frac13 \approx 0.33": ("evaluated", "symbols('1')"),
            "n = 7": ("evaluated", "symbols('2  Second')"),
            "a = 0": ("listed", "a case"),
            r"a \sim b": ("listed", r"\sim is compared where its left side is bound to Nodes"),
            "p = q": ("listed", "not bound together: `p`, `q`"),
        }

    def test_a_check_lends_its_symbols(self, chapter):
        by_relation = outcomes(chapter())
        assert by_relation["s = a + b"] == ("evaluated", "eq-a")
        assert by_relation["u = 2 s"] == ("listed", "not bound together: `u`")

    def test_what_is_bound_whole_need_not_be_read(self, chapter):
        opened = told(chapter(TEXT + "\nAnd $c = a \\cup b$."))
        assert outcomes(opened)[r"c = a \cup b"][1].startswith("cannot be read")
        opened.symbols({"c": 1.5, r"a \cup b": 1.5})
        assert outcomes(opened)[r"c = a \cup b"] == ("evaluated", "symbols")

    def test_what_is_normal_has_its_mean_and_its_covariance(self, chapter):
        text = TEXT + "\nLet $x \\sim \\mathcal N(0, v)$."
        nodes = Nodes([-2.0, 2.0], [0.5, 0.5])
        for variance, held in ((4.0, True), (2.0, False)):
            opened = told(chapter(text))
            opened.symbols({"x": nodes, "v": variance})
            if held:
                assert outcomes(opened)[r"x \sim \mathcal N(0, v)"] == ("evaluated", "symbols")
            else:
                with pytest.raises(EquationError, match="is false"):
                    opened.ledger()

    def test_the_numbers_that_a_check_draws_give_no_symbol_its_value(self, chapter):
        assert outcomes(chapter())["a = 0"] == ("listed", "not bound together: `a`")

    def test_the_last_digit_says_how_near_an_approximation_is(self, chapter):
        for printed, held in (("0.33", True), ("0.333", True), ("0.34", False), ("0.332", False)):
            opened = told(chapter(TEXT.replace("0.33", printed)))
            if held:
                assert outcomes(opened)[rf"\frac13 \approx {printed}"][0] == "evaluated"
            else:
                with pytest.raises(EquationError, match="is false"):
                    opened.ledger()

    def test_a_table_that_is_given_again_replaces_the_first(self, chapter):
        opened = told(chapter())
        opened.symbols({"n": 4}, under="1")
        with pytest.raises(EquationError, match="n = 3"):
            opened.ledger()

    def test_what_it_spared_goes_with_it(self, chapter):
        opened = told(chapter())
        opened.symbols({"n": 3}, under="1", spare={"n = 3": "a case"})
        assert outcomes(opened)["n = 3"] == ("listed", "a case")
        opened.symbols({"n": 3}, under="1")
        assert outcomes(opened)["n = 3"][0] == "evaluated"

    def test_the_text_is_read_when_the_ledger_closes(self, chapter, tmp_path):
        opened = told(chapter())
        path = tmp_path / "small.md"
        path.write_text(TEXT.replace("u = 2 s", "u = 3 s"), encoding="utf-8")
        with pytest.raises(EquationError, match="u = 3 s"):
            opened.ledger()


class TestWhatIsTold:
    @pytest.mark.parametrize(
        ("old", "new"),
        [("thing, $s = a + b$", "thing, $s = a - b$"), ("n = 3", "n = 4"), ("u = 2 s", "u = s")],
    )
    def test_a_false_relation_names_its_line_and_its_residual(self, chapter, old, new):
        text = TEXT.replace(old, new)
        line = next(i for i, one in enumerate(text.splitlines(), 1) if new in one)
        with pytest.raises(EquationError, match=r"is false .* is off by \d") as error:
            told(chapter(text)).ledger()
        assert str(error.value).startswith(f"part/small.md, in the text, line {line}, column ")
        assert new.strip("$thing, ") in str(error.value)

    def test_the_counts_and_the_list_are_in_the_record(self, chapter):
        ledger = told(chapter()).ledger()
        assert (ledger.totals["inline_evaluated"], ledger.totals["inline_listed"]) == (5, 3)
        assert "5 of 8 evaluated between the lines" in repr(ledger)
        shown = ledger._repr_mimebundle_()
        data = json.loads(json.dumps(shown[MIME]))
        assert [r["latex"] for r in data["inline"] if r["outcome"] == "listed"] == [
            "a = 0", r"a \sim b", "p = q",
        ]  # fmt: skip
        assert "not bound together: `p`, `q`" in shown["text/html"]

    def test_mutants_are_counted_and_need_not_be_caught(self, chapter):
        record = told(chapter()).ledger().inline[0]
        assert record.mutants == record.caught >= 2

    def test_symbols_say_how_many_they_are(self, chapter):
        record = chapter().symbols({"n": 3}, under="1", spare={"a = 0": "a case"})
        assert repr(record) == "symbols under '1': 1 bound, 1 relation spared"


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"under": "3"}, "no relation stands under the heading '3'"),
            ({"under": "Secon"}, "no relation stands under the heading 'Secon'"),
            ({"spare": {"a = 1": "a case"}}, "spare names 'a=1', which does not stand"),
        ],
    )
    def test_what_the_text_does_not_have(self, chapter, options, problem):
        opened = told(chapter())
        opened.symbols({"n": 3}, **options)
        with pytest.raises(ValueError, match=problem):
            opened.ledger()

    def test_a_spare_without_a_reason(self, chapter):
        with pytest.raises(EquationError, match="must say why"):
            chapter().symbols({}, spare={"a = 0": " "})

    def test_a_loose_tolerance(self, chapter):
        with pytest.raises(EquationError, match="rtol must lie between"):
            chapter().symbols({"n": 3}, rtol=0.1)

    def test_a_name_with_two_meanings(self, chapter):
        with pytest.raises(EquationError, match="other numbers than it reads as"):
            chapter().symbols({"x": np.arange(3.0), "x_1": 7.0, "x^2": np.ones(3)})


def test_a_chapter_without_its_text_lists_nothing(chapter, tmp_path):
    opened = chapter()
    assert opened.relations()
    assert Chapter("gaussian-processes/weight-view").relations() == []
