"""The verbs of a chapter: what passes, and each way to fail, with its place in the file."""

import numpy as np
import pytest

import gpnotes
from checked_equations import Chapter, EquationError, Estimate

A, B = np.random.default_rng(1).normal(size=(2, 4, 4))
S = A @ A.T + np.eye(4)
x, y, z = np.random.default_rng(2).normal(size=(3, 4))
SOLVED = np.linalg.solve(S, x)
CHAIN = (
    "\\mathbf a &= S^{-1} \\mathbf x \\\\\n"
    "          &= \\left( A A^\\top + I \\right)^{-1} \\mathbf x"
)
NUMBERS = {r"\mathbf a": SOLVED, "S": S, r"\mathbf x": x, "A": A, "I": np.eye(4)}


def shared(stream):
    """Generic numbers for ``a = b^2 + c``."""
    b, c = stream.normal(size=2)
    return {"a": b * b + c, "b": b, "c": c}


class TestCheck:
    def test_a_chain_has_a_residual_for_each_step(self, checked):
        record = checked(CHAIN, NUMBERS, oracle="a linear solver", source="T-01")
        assert [step.line for step in record.steps] == [5, 6]
        assert all(step.residual < 1e-12 for step in record.steps)
        assert record.residual == max(step.residual for step in record.steps)
        assert (record.kind, record.draws, record.sources) == ("identity", 1, ("T-01",))
        assert record.mutants.survived == 0
        assert record.mutants.caught >= 5
        assert (record.chapter, record.label, record.line) == ("part/small", "eq-a", 5)

    def test_a_step_is_quoted_with_the_brace_that_ends_it(self, checked):
        record = checked(r"c = \boxed{a + b}", {"a": 1.5, "b": 2.25, "c": 3.75})
        assert record.steps[0].latex == r"c = \boxed{a + b}"

    def test_the_first_bad_step_is_named(self, checked):
        wrong = CHAIN.replace("+ I", "- I")
        with pytest.raises(EquationError) as error:
            checked(wrong, NUMBERS)
        message = str(error.value)
        assert message.startswith("part/small.md, eq-a, line 6, column ")
        assert "step 2 of 2" in message
        assert "does not hold: relative residual" in message
        assert "- I" in message.split("\n")[1]
        assert message.split("\n")[2].strip("^ ") == ""

    def test_a_function_of_a_stream_is_drawn_three_times(self, checked):
        seen = []

        def bindings(stream):
            seen.append(shared(stream))
            return seen[-1]

        record = checked("a = b^2 + c", bindings)
        assert record.draws == len(seen) == 3
        assert len({one["b"] for one in seen}) == 3

    def test_the_draws_are_the_same_every_time_and_differ_between_labels(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c", "eq-b": "a = b^2 + c"})
        residuals = [chapter.check(i, shared, oracle="x").to_json() for i in ("eq-a", "eq-a")]
        assert residuals[0]["mutants"] == residuals[1]["mutants"]
        other = chapter.check("eq-b", shared, oracle="x").to_json()
        assert other["mutants"] != residuals[0]["mutants"]

    def test_the_worst_draw_counts(self, checked):
        def bindings(stream):
            numbers = shared(stream)
            return numbers if bindings.left.pop() else {**numbers, "a": numbers["a"] + 1}

        bindings.left = [False, True, True]
        with pytest.raises(EquationError, match="does not hold"):
            checked("a = b^2 + c", bindings)

    @pytest.mark.parametrize(
        ("latex", "bindings", "problem"),
        [
            ("a = b + c", {"a": 1.0, "b": 0.5}, "c"),
            ("a = b", {"a": 1.0, "b": 1.0, "c": 2.0}, "bound and never used: `c`"),
            ("a = b", {"a": 0.0, "b": np.zeros(())}, "says nothing: both sides are zero"),
            ("a + b", {"a": 1.0, "b": 1.0}, "relation"),
            ("a = b", {"a": np.nan, "b": 1.0}, "not a number"),
            ("a = b", {"a": x, "b": x[:3]}, r"shape"),
            ("a = A x", {"a": x, "A": A[:, :3], "x": x}, "shape|conform"),
            ("a = b", {"a": 1.0, "b": 1.0, " {a} ": 2.0}, "are the same symbol"),
            (r"a \sim b", {"a": 1.0, "b": 1.0}, r"\\sim"),
            (r"a \approx b", {"a": 1.0, "b": 1.0}, "approx="),
            ("a = \\sum_{i=1}^{4} x_i", {"a": x.sum(), "x": x, "i": 2}, "never used: `i`"),
            (r"a = \sum_{i=1}^{n} x_i", {"a": 0.0, "x": x, "n": 0}, "empty|nothing"),
            (r"a = \begin{tikz} b", {"a": 1.0, "b": 1.0}, "tikz|language|grammar"),
        ],
    )
    def test_bad_input_is_named_with_its_place(self, checked, latex, bindings, problem):
        with pytest.raises(EquationError, match=problem) as error:
            checked(latex, bindings)
        assert (error.value.line, error.value.chapter) == (5, "part/small.md")
        assert str(error.value).startswith("part/small.md, eq-a, line 5, column ")
        assert latex in str(error.value)
        assert "^" in str(error.value).split("\n")[-1]

    def test_draws_that_bind_different_symbols(self, checked):
        names = iter("bcd")
        with pytest.raises(EquationError, match="different symbols"):
            checked("a = b", lambda stream: {"a": 1.0, next(names): 1.0})

    def test_a_fault_of_the_authors_own_code_keeps_its_kind(self, checked):
        with pytest.raises(KeyError) as error:
            checked("a = b", lambda stream: {"a": {}["none"]})
        assert error.value.__notes__ == ["part/small.md, eq-a, line 5"]

    def test_an_unknown_label_names_its_neighbours(self, small_chapter):
        chapter = small_chapter({"eq-mean": "a = b"})
        with pytest.raises(ValueError, match=r"part/small.md: .*eq-men; nearest: eq-mean"):
            chapter.check("eq-men", {}, oracle="x")

    def test_an_item_of_another_chapter_is_refused(self, checked):
        with pytest.raises(ValueError, match="T-03 is for the chapter part/other"):
            checked("a = b", {"a": 1.0, "b": 1.0}, source=("T-03",))
        with pytest.raises(ValueError, match="no item of the sources has the id T-99"):
            checked("a = b", {"a": 1.0, "b": 1.0}, source=("T-99",))

    def test_the_route_must_be_said(self, checked):
        with pytest.raises(EquationError, match="oracle="):
            checked("a = b", {"a": 1.0, "b": 1.0}, oracle=" ")

    def test_a_symbol_of_zero_needs_an_absolute_tolerance(self, checked):
        bindings = {"a": SOLVED - np.linalg.inv(S) @ x}
        with pytest.raises(EquationError, match="give atol="):
            checked("a = 0", bindings)
        assert checked("S a - x = 0", {"S": S, "a": SOLVED, "x": x}).residual < 1e-12

    def test_an_approximation_has_its_own_tolerance(self, checked):
        record = checked(r"a \approx 2 b", {"a": 3.0, "b": 1.5015}, approx=1e-2)
        assert record.approx == 1e-2
        with pytest.raises(EquationError, match="1e-04 is allowed"):
            checked(r"a \approx 2 b", {"a": 3.0, "b": 1.5015}, approx=1e-4)

    def test_inequalities_and_orders(self, checked):
        never = "never: S is more than I in every direction"
        record = checked(r"S \succeq I", {"S": S, "I": np.eye(4)}, tight=never)
        assert record.kind == "inequality"
        with pytest.raises(EquationError, match="does not hold"):
            checked(r"I \succeq S", {"S": S, "I": np.eye(4)})


class TestMutants:
    def test_a_symmetric_transpose_is_indistinct(self, checked):
        record = checked(r"a = S^\top x", {"a": S @ x, "S": S, "x": x})
        outcomes = {m.edit: m.outcome for m in record.mutants.list}
        assert outcomes["drop the transpose of S"] == "indistinct"
        assert record.mutants.indistinct == 1

    def test_a_survivor_fails_the_check(self, checked):
        latex = r"a = \det A^\top"
        bindings = {"a": np.linalg.det(A), "A": A}
        with pytest.raises(
            EquationError, match="1 of 3 mutants survive: 'drop the transpose of A'"
        ):
            checked(latex, bindings)
        record = checked(latex, bindings, spare={"drop the transpose of A": "det is the same"})
        assert (record.mutants.spared, record.mutants.survived) == (1, 0)
        by_latex = next(m.latex for m in record.mutants.list if m.outcome == "spared")
        assert checked(latex, bindings, spare={by_latex: "the same"}).mutants.spared == 1

    def test_a_spare_that_names_no_survivor_is_an_error(self, checked):
        with pytest.raises(EquationError, match="spare names no survivor: '3 for 2'"):
            checked("a = b^2 + c", shared, spare={"3 for 2": "because"})

    def test_a_mutant_that_survives_on_one_draw_only_is_caught(self, checked):
        """At b = c = 1 most slips are invisible; the other draws tell."""

        def bindings(stream):
            b, c = bindings.left.pop()
            return {"a": b * c, "b": b, "c": c}

        bindings.left = [(2.0, 3.0), (1.5, 1.0), (1.0, 1.0)]
        assert checked("a = b c", bindings).mutants.survived == 0

    def test_a_node_that_changes_its_shape_is_not_the_same(self, checked):
        """The bound function takes a variance for a covariance, so the check cannot tell."""

        def first(mean, covariance):
            return float(np.max(covariance))

        latex, bindings = "a = f(m, s I)", {"a": 2.5, "f": first, "m": x, "s": 2.5, "I": np.eye(4)}
        with pytest.raises(EquationError, match="'drop the factor I'"):
            checked(latex, bindings)

    def test_a_survivor_in_a_branch_that_is_never_taken(self, checked):
        latex = r"a = \begin{cases} b & c > 0 \\ -b & \text{otherwise} \end{cases}"
        with pytest.raises(EquationError, match="flip the sign of b"):
            checked(latex, {"a": 1.1, "b": 1.1, "c": 3.0})

    def test_a_node_inside_a_loop_is_compared_in_all_its_environments(self, checked):
        """``A_{ij}`` and ``A_{ji}`` agree on the diagonal only, so the sum tells."""
        latex = r"a = \sum_{i=1}^{4} \sum_{j=1}^{4} x_i A_{ij} y_j"
        record = checked(latex, {"a": x @ S @ y, "x": x, "A": S, "y": y})
        assert record.mutants.survived == 0


class TestEstimate:
    def draw(self, n, seed=5):
        sample = np.random.default_rng(seed).normal(1.5, 2.0, size=n) ** 2
        error = sample.std(ddof=1) / np.sqrt(n)
        return Estimate(float(sample.mean()), float(error), n=n, seed=seed)

    def test_a_good_estimate_passes(self, checked):
        record = checked(
            r"e = m^2 + s^2", {"e": self.draw(20000), "m": 1.5, "s": 2.0}, oracle="Monte Carlo"
        )
        assert record.kind == "estimate"
        assert record.estimate.z < record.estimate.limit == pytest.approx(4.0)
        assert (record.estimate.n, record.estimate.seed) == (20000, 5)
        assert "0." not in repr(record)

    def test_a_wrong_statement_fails(self, checked):
        with pytest.raises(EquationError, match=r"\|z\| = .* and 4.00 is allowed"):
            checked(r"e = m^2 + s", {"e": self.draw(20000), "m": 1.5, "s": 2.0})

    def test_a_sample_too_small_to_tell_the_mutants_apart_fails(self, checked):
        with pytest.raises(EquationError, match="mutants survive"):
            checked(r"e = m^2 + s^2", {"e": self.draw(60), "m": 1.5, "s": 2.0})

    def test_arrays_take_the_number_of_entries_into_account(self, checked, numbers):
        n, mean = 4000, np.array([1.1, -2.3, 0.7, 3.1])
        sample = mean + numbers.normal(size=(n, 4))
        estimate = Estimate(sample.mean(0), sample.std(0, ddof=1) / np.sqrt(n), n=n)
        record = checked(r"\hat m = -m", {r"\hat m": estimate, "m": -mean})
        assert record.estimate.entries == 4
        assert 4.0 < record.estimate.limit < 4.5

    def test_an_estimate_says_how_small_a_slip_it_would_catch(self, checked):
        """Four standard errors, and the distance that the sample is off already."""
        noisy = {"a": Estimate(2.02, 0.02, n=100), "b": 0.7, "c": 1.3}
        record = checked("a = b + c", noisy)
        assert record.estimate.slip == pytest.approx((4 + 1) * 0.02 / 2.02)
        assert "5 %" in record._repr_mimebundle_()["text/html"]
        slipped = {**noisy, "b": 0.7 * 1.06, "c": 1.3 * 1.06}
        with pytest.raises(EquationError, match="does not hold"):
            checked("a = b + c", {**slipped, "a": Estimate(2.02, 0.02, n=100)})

    def test_an_estimate_inside_an_expression_carries_its_error(self, checked):
        """z of ``2 e = ...`` is that of ``e``: the error is doubled too."""
        bindings = {"e": self.draw(20000), "m": 1.5, "s": 2.0}
        plain = checked(r"e = m^2 + s^2", bindings)
        doubled = checked(r"2 e = 2 m^2 + 2 s^2", bindings)
        assert doubled.estimate.z == pytest.approx(plain.estimate.z)

    def test_an_approximation_beside_an_estimate_is_held_to_its_error(self, checked):
        bindings = {"e": self.draw(20000), "m": 1.5, "s": 2.0}
        assert checked(r"e \approx m^2 + s^2", bindings).kind == "estimate"

    def test_an_inequality_is_held_to_the_error_one_way(self, checked):
        bindings = {"e": self.draw(20000), "m": 6.0}
        spare = {"e for m": "swapped"}
        assert checked(r"e \ge m", bindings).estimate.z == 0.0
        with pytest.raises(EquationError, match=r"\|z\| = "):
            checked(r"e \le m", bindings, spare=spare)

    def test_an_estimate_knows_no_other_relation(self, checked):
        with pytest.raises(EquationError, match=r"an estimate cannot stand beside \\propto"):
            checked(r"e \propto m", {"e": self.draw(20000), "m": 6.25})

    def test_noise_refutes_nothing(self, small_chapter):
        chapter = small_chapter({"eq-a": "e = m^2 + s^2"})
        bindings = {"e": self.draw(20000), "m": 1.5, "s": 2.0}
        chapter.check("eq-a", bindings, oracle="Monte Carlo")
        with pytest.raises(EquationError, match="holds as printed"):
            chapter.refute("T-01", "e = s^2 + m m", bindings, instead="eq-a")
        record = chapter.refute("T-01", "e = m^2 + s", bindings, instead="eq-a")
        assert 0.1 < record.printed_residual < 1.0

    def test_an_error_of_zero_is_refused(self, checked):
        with pytest.raises(ValueError, match="positive"):
            checked("e = m", {"e": Estimate(1.0, 0.0, n=10), "m": 1.0})

    def test_the_sample_size_must_be_stated(self, checked):
        with pytest.raises(EquationError, match="`e` must state its sample size, n="):
            checked("e = m", {"e": Estimate(1.0, 0.1), "m": 1.0})


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

    def test_unknown_verdicts_items_and_labels(self, small_chapter):
        chapter = self.opened(small_chapter)
        with pytest.raises(ValueError, match=r"T-02 \(the variance\): 'true' is no verdict"):
            chapter.source("T-02", "true")
        with pytest.raises(ValueError, match="T-03 is for the chapter part/other"):
            chapter.source("T-03", "stub", why="x")
        with pytest.raises(ValueError, match="no equation has the label eq-z"):
            chapter.source("T-02", "holds", label="eq-z")


class TestLedger:
    def test_a_complete_chapter(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c", "eq-d": "d := e"})
        chapter.check("eq-a", shared, oracle="by hand", source="T-01")
        chapter.check("eq-a", {"a": 7.0, "b": 2.0, "c": 3.0}, oracle="other numbers")
        chapter.define("eq-d", why="a model")
        chapter.source("T-01", "holds")
        chapter.source("T-02", "stub", why="left empty")
        totals = chapter.ledger().totals
        assert totals["equations"] == 2
        assert (totals["checked"], totals["definitions"], totals["estimates"]) == (1, 1, 0)
        assert (totals["sources_answered"], totals["sources_total"]) == (2, 2)
        assert totals["mutants_caught"] > 10

    def test_what_is_missing_is_listed_with_its_line(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c", "eq-d": "d := e"})
        with pytest.raises(ValueError, match="the ledger is not complete") as error:
            chapter.ledger()
        message = str(error.value)
        assert "equations without a record: eq-a (line 5), eq-d (line 10)" in message
        assert "items without a verdict: T-01 (the mean), T-02 (the variance)" in message


class TestWhereTheTextComesFrom:
    def test_the_working_directory_first(self, small_chapter, tmp_path, monkeypatch):
        small_chapter({"eq-a": "a = 2 b"})
        monkeypatch.chdir(tmp_path)
        record = Chapter("part/small").check("eq-a", {"a": 2.2, "b": 1.1}, oracle="x")
        assert record.line == 5

    def test_the_items_are_found_above_it(self, tmp_path, small_book):
        (tmp_path / "book" / "part").mkdir(parents=True)
        small_book(tmp_path / "book")
        path = tmp_path / "book" / "part" / "small.md"
        path.write_text("```{math}\n:label: eq-a\na = b\n```\n")
        chapter = Chapter("part/small", path=path)
        assert chapter.source("T-01", "stub", why="left empty").source_id == "T-01"

    def test_a_fault_of_the_text_names_the_chapter(self, tmp_path):
        path = tmp_path / "small.md"
        path.write_text("one\n\n$$ $$ (eq-a)\n")
        with pytest.raises(ValueError, match=r"part/small: small\.md: line 3: the equation eq-a"):
            Chapter("part/small", path=path)

    def test_a_lone_notebook_uses_the_packaged_copy(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ValueError, match="is not among the packaged chapters"):
            Chapter("part/nowhere")
        data = tmp_path / "data"
        data.mkdir()
        (data / "equations.json").write_text(
            '{"part/lone": {"eq-a": {"latex": "a = 2 b", "line": 9}}}'
        )
        header = "id\tsource\tchapter\titem\n"
        (data / "items.tsv").write_text(header + "L-01\tone.txt\tpart/lone\tx\n")
        (data / "equations.toml").write_text('items = "sources/items.tsv"\n')
        monkeypatch.setattr(gpnotes, "__equations__", data)
        empty = tmp_path / "empty"
        empty.mkdir()
        monkeypatch.chdir(empty)
        chapter = Chapter("part/lone")
        assert chapter.check("eq-a", {"a": 2.2, "b": 1.1}, oracle="x").line == 9
        assert chapter.source("L-01", "holds", label="eq-a").verdict == "holds"
