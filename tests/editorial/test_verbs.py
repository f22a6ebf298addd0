"""The verbs on a source: what they take, what they refuse, and what the ledger then counts."""

from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

from checked_equations import EquationError, Estimate
from gpnotes_book import Chapter

x = np.random.default_rng(2).normal(size=4)


def shared(stream):
    """Generic numbers for ``a = b^2 + c``."""
    b, c = stream.normal(size=2)
    return {"a": b * b + c, "b": b, "c": c}


class TestCheck:
    def test_the_record_says_what_it_answers(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c"})
        record = chapter.check("eq-a", shared, oracle="by hand", source=("T-01", "T-02"))
        assert record.more == {"answers": ("T-01", "T-02")}
        assert "; answers T-01, T-02." in record._repr_mimebundle_()["text/html"]
        assert chapter.check("eq-a", shared, oracle="by hand").more == {}
        assert len(chapter.records()) == 1

    def test_an_item_of_another_chapter_is_refused(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b"})
        for item, said in (
            ("T-03", "T-03 is for the chapter part/other"),
            ("T-99", "no item of the sources has the id T-99"),
        ):
            with pytest.raises(ValueError, match=said):
                chapter.check("eq-a", {"a": 1.0, "b": 1.0}, oracle="x", source=(item,))


class TestRefute:
    LATEX = "a = b^2 + c"

    def opened(self, small_chapter):
        chapter = small_chapter({"eq-a": self.LATEX})
        chapter.check("eq-a", shared, oracle="by hand", source="T-01")
        return chapter

    def test_a_wrong_formula_is_refuted(self, small_chapter):
        record = self.opened(small_chapter).refute("T-01", "a = b^2 - c", shared, instead="eq-a")
        assert record.printed_residual > 1e-2
        assert record.corrected_residual < 1e-12
        assert record.to_json()["kind"] == "refutation"

    def test_a_formula_that_holds_is_not(self, small_chapter):
        with pytest.raises(EquationError, match=r"T-01 as printed.*holds as printed"):
            self.opened(small_chapter).refute("T-01", "a = c + bb", shared, instead="eq-a")

    def test_it_must_be_off_on_every_draw(self, small_chapter):
        def sometimes(stream):
            sometimes.b = 2.0 if sometimes.b == 1.0 else 1.0
            return {"a": sometimes.b**2 + 3.0, "b": sometimes.b, "c": 3.0}

        sometimes.b = 2.0
        with pytest.raises(EquationError, match="holds as printed"):
            self.opened(small_chapter).refute("T-01", "a = b + c", sometimes, instead="eq-a")

    def test_a_misfit_of_shapes_counts(self, small_chapter):
        chapter = small_chapter({"eq-a": r"s = x^\top x"})
        bindings = {"s": x @ x, "x": x}
        chapter.check("eq-a", bindings, oracle="by hand")
        record = chapter.refute("T-01", r"s = x x x^\top", bindings, instead="eq-a")
        assert record.printed_residual is None
        assert chapter.refute(
            "T-01", r"s = x x^\top", bindings, instead="eq-a"
        ) == record.__class__(**{**record.__dict__, "latex": r"s = x x^\top"})

    def test_a_bound_function_that_fails_is_no_refutation(self, small_chapter):
        def broken(stream):
            return {**shared(stream), "f": lambda x: 1.0 / 0.0}

        with pytest.raises(EquationError, match=r"T-01 as printed.*`f` failed"):
            self.opened(small_chapter).refute("T-01", "a = b^2 - f(c)", broken, instead="eq-a")

    def test_an_unbound_symbol_is_an_error_and_no_refutation(self, small_chapter):
        with pytest.raises(EquationError, match=r"T-01 as printed.*d"):
            self.opened(small_chapter).refute("T-01", "a = b^2 - d", shared, instead="eq-a")

    def test_a_formula_outside_the_grammar_is_no_refutation(self, small_chapter):
        with pytest.raises(EquationError, match="T-01 as printed"):
            self.opened(small_chapter).refute("T-01", "a = b^2 - )", shared, instead="eq-a")

    def test_the_correction_must_hold_on_the_same_numbers(self, small_chapter):
        bindings = {"a": 1.0, "b": 2.0, "c": 5.0}
        with pytest.raises(EquationError, match=r"part/small.md, eq-a, line 5.*does not hold"):
            self.opened(small_chapter).refute("T-01", "a = b^2 - c", bindings, instead="eq-a")

    def test_the_correction_must_be_checked_first(self, small_chapter):
        chapter = small_chapter({"eq-a": self.LATEX})
        with pytest.raises(ValueError, match="eq-a is not checked above"):
            chapter.refute("T-01", "a = b^2 - c", shared, instead="eq-a")

    def test_letters_of_both_may_be_bound_but_none_more(self, small_chapter):
        def both(stream):
            numbers = shared(stream)
            return {**numbers, r"\beta": numbers["b"]}

        chapter = self.opened(small_chapter)
        assert chapter.refute("T-01", r"a = \beta^2 - c", both, instead="eq-a").instead == "eq-a"
        with pytest.raises(EquationError, match=r"never used: `\\beta`"):
            chapter.refute("T-01", "a = b^2 - c", both, instead="eq-a")

    def test_noise_refutes_nothing(self, small_chapter):
        chapter = small_chapter({"eq-a": "e = m^2 + s^2"})
        squares = np.random.default_rng(3).normal(1.5, 2.0, size=20000) ** 2
        error = squares.std() / np.sqrt(20000)
        bindings = {"e": Estimate(squares.mean(), error, n=20000), "m": 1.5, "s": 2.0}
        chapter.check("eq-a", bindings, oracle="Monte Carlo")
        with pytest.raises(EquationError, match="holds as printed"):
            chapter.refute("T-01", "e = s^2 + m m", bindings, instead="eq-a")
        record = chapter.refute("T-01", "e = m^2 + s", bindings, instead="eq-a")
        assert 0.1 < record.printed_residual < 1.0

    @pytest.mark.parametrize(
        ("latex", "more", "problem"),
        [
            (r"s = f x^\top x", {"f": np.sin}, "bound to a callable"),
            (r"s = x^\top x \log(t)", {"t": -1.5}, "logarithm of -1.5"),
            (r"s = x_n", {"n": 3}, "outside 1 to 2"),
            (r"s \propto x^\top x", {}, "needs several draws"),
        ],
    )
    def test_slips_of_the_author_refute_nothing(self, small_chapter, latex, more, problem):
        chapter = small_chapter({"eq-a": r"s = 2 x^\top x"})
        x = np.array([1.1, -2.3])
        bindings = {"s": 2 * x @ x, "x": x}
        chapter.check("eq-a", bindings, oracle="by hand")
        with pytest.raises(EquationError, match=problem):
            chapter.refute("T-01", latex, {**bindings, **more}, instead="eq-a")


class TestSource:
    def opened(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c", "eq-d": "d := e"})
        chapter.check("eq-a", shared, oracle="by hand", source="T-01")
        chapter.define("eq-d", why="a model")
        return chapter

    def test_holds_needs_a_checked_label(self, small_chapter):
        chapter = self.opened(small_chapter)
        assert chapter.source("T-01", "holds").label == "eq-a"
        assert chapter.source("T-02", "holds", label="eq-a").label == "eq-a"
        with pytest.raises(ValueError, match="no label= is given"):
            chapter.source("T-02", "holds")
        with pytest.raises(ValueError, match="eq-d is not checked above"):
            chapter.source("T-02", "holds", label="eq-d")

    def test_wrong_needs_a_refutation_or_an_experiment(self, small_chapter):
        chapter = self.opened(small_chapter)
        with pytest.raises(ValueError, match="needs a refute, a checked label= or evidence="):
            chapter.source("T-02", "wrong", why="a sign")
        assert chapter.source("T-02", "wrong", evidence=(0.3, 1e-9)).printed_residual == 0.3
        assert chapter.source("T-02", "wrong", label="eq-a").label == "eq-a"
        with pytest.raises(ValueError, match="larger printed residual"):
            chapter.source("T-02", "wrong", evidence=(1e-9, 0.3))
        refuted = chapter.refute("T-02", "a = b^2 - c", shared, instead="eq-a")
        verdict = chapter.source("T-02", "wrong")
        assert verdict.label == "eq-a"
        assert verdict.printed_residual == refuted.printed_residual

    @pytest.mark.parametrize("verdict", ["holds-if", "ambiguous", "stub"])
    def test_the_others_say_what_is_missing(self, small_chapter, verdict):
        chapter = self.opened(small_chapter)
        with pytest.raises(ValueError, match="needs why="):
            chapter.source("T-02", verdict, why=" ")
        assert chapter.source("T-02", verdict, why="the noise is left out").verdict == verdict

    def test_what_is_argued_names_a_section_and_no_equation(self, small_chapter):
        chapter = self.opened(small_chapter)
        chapter.file.write_text(chapter.file.read_text() + "\n(sec-why)=\n## Why\n")
        verdict = chapter.source("T-02", "argued", section="sec-why")
        assert (verdict.label, verdict.section) == ("", "sec-why")
        assert "sec-why" in verdict.to_json()["said"]
        for terms, said in (
            ({}, "needs section="),
            ({"section": "sec-where"}, "no section has the label sec-where"),
            ({"section": "sec-why", "label": "eq-a"}, "no number shows it"),
        ):
            with pytest.raises(ValueError, match=said):
                chapter.source("T-02", "argued", **terms)
        with pytest.raises(ValueError, match="no other verdict"):
            chapter.source("T-02", "stub", section="sec-why", why="left empty")
        with pytest.raises(ValueError, match="no number shows it"):
            chapter.source("T-01", "argued", section="sec-why")  # a check names it

    def test_a_notebook_from_its_page_has_no_labels_of_sections(self, tmp_path, small_book):
        small_book(tmp_path)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("## Why")])
        path = tmp_path / "small.ipynb"
        nbformat.write(notebook, path)
        chapter = Chapter("part/small", path=path)
        assert chapter.source("T-02", "argued", section="sec-why").section == "sec-why"

    def test_unknown_verdicts_items_and_labels(self, small_chapter):
        chapter = self.opened(small_chapter)
        with pytest.raises(ValueError, match=r"T-02 \(the variance\): 'true' is no verdict"):
            chapter.source("T-02", "true")
        with pytest.raises(ValueError, match="T-03 is for the chapter part/other"):
            chapter.source("T-03", "stub", why="x")
        with pytest.raises(ValueError, match="no equation has the label eq-z"):
            chapter.source("T-02", "holds", label="eq-z")


class TestLedger:
    def test_what_is_answered_is_counted(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c"})
        chapter.check("eq-a", shared, oracle="by hand", source="T-01")
        chapter.source("T-01", "holds")
        chapter.source("T-02", "stub", why="left empty")
        closed = chapter.ledger()
        assert (closed.totals["sources_answered"], closed.totals["sources_total"]) == (2, 2)
        assert repr(closed).endswith("mutants caught · sources 2 of 2 answered · small.md")

    def test_an_item_without_a_verdict_keeps_it_open(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c"})
        with pytest.raises(ValueError, match="the ledger is not complete") as error:
            chapter.ledger()
        assert "equations without a record: eq-a (line 5)" in str(error.value)
        assert "items without a verdict: T-01 (the mean), T-02 (the variance)" in str(error.value)

    def test_a_verdict_goes_with_its_equation(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b + c"})
        chapter.check("eq-a", sums, oracle="by hand", source="T-01")
        chapter.source("T-01", "holds")
        chapter.source("T-02", "stub", why="a gap")
        chapter.refute("T-02", "a = b - c", sums, instead="eq-a")
        chapter = small_chapter({"eq-a": "a = c + b"}) and chapter
        with pytest.raises(ValueError, match=r"T-02 \(the variance\).*'wrong' needs"):
            chapter.source("T-02", "wrong")
        with pytest.raises(ValueError, match=r"without a verdict: T-01 \(the mean\)$"):
            chapter.ledger()


def sums(stream):
    b, c = stream.normal(size=2)
    return {"a": b + c, "b": b, "c": c}


class TestWhereTheItemsComeFrom:
    def test_the_items_are_found_above_it(self, tmp_path, small_book):
        (tmp_path / "book" / "part").mkdir(parents=True)
        small_book(tmp_path / "book")
        path = tmp_path / "book" / "part" / "small.md"
        path.write_text("```{math}\n:label: eq-a\na = b\n```\n")
        chapter = Chapter("part/small", path=path)
        assert chapter.source("T-01", "stub", why="left empty").source_id == "T-01"

    def test_a_book_without_sources_has_nothing_to_answer(self, tmp_path):
        path = tmp_path / "small.md"
        path.write_text("```{math}\n:label: eq-a\na = 2 b\n```\n")
        chapter = Chapter("part/small", path=path)
        chapter.check("eq-a", {"a": 2.2, "b": 1.1}, oracle="x")
        assert chapter.ledger().totals["sources_total"] == 0


NOTATION = r"""
- symbols:
    - {latex: ["\\mathbf y", "y"], fields: {"\\mathbf y": y, "y": y}}
    - {latex: ["\\sigma_n"], shown: ["\\sigma_n^2"], fields: {"\\sigma_n^2": noise_var}}
    - {latex: ["N"], fields: {"N": N}}
"""


def test_refutations_find_the_fields_of_both_formulas(small_chapter, tmp_path):
    small_chapter({"eq-a": r"Q = N \sigma_n^2"})
    (tmp_path / "equations.toml").write_text('notation = "notation.yml"')
    (tmp_path / "notation.yml").write_text(NOTATION)
    chapter = Chapter("part/small", path=tmp_path / "small.md")

    def numbers(draw):
        s = SimpleNamespace(y=draw.normal(size=5), noise_var=draw.uniform(0.5, 1.0), N=5)
        return s, {"Q": s.N * s.noise_var}

    chapter.check("eq-a", numbers, oracle="by hand")
    found = chapter.refute("T-01", r"Q = N + \sigma_n^2 + y_1", numbers, instead="eq-a")
    assert found.printed_residual > 0.01
