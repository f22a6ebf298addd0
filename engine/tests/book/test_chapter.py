"""The verbs of a chapter: what passes, and each way to fail, with its place in the file."""

import numpy as np
import pytest

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
        record = checked(CHAIN, NUMBERS, oracle="a linear solver")
        assert [step.line for step in record.steps] == [5, 6]
        assert all(step.residual < 1e-12 for step in record.steps)
        assert record.residual == max(step.residual for step in record.steps)
        assert (record.kind, record.draws) == ("identity", 1)
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

    def test_an_error_of_zero_is_refused(self, checked):
        with pytest.raises(ValueError, match="positive"):
            checked("e = m", {"e": Estimate(1.0, 0.0, n=10), "m": 1.0})

    def test_the_sample_size_must_be_stated(self, checked):
        with pytest.raises(EquationError, match="`e` must state its sample size, n="):
            checked("e = m", {"e": Estimate(1.0, 0.1), "m": 1.0})


class TestLedger:
    def test_a_complete_chapter(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c", "eq-d": "d := e"})
        chapter.check("eq-a", shared, oracle="by hand")
        chapter.check("eq-a", {"a": 7.0, "b": 2.0, "c": 3.0}, oracle="other numbers")
        chapter.define("eq-d", why="a model")
        totals = chapter.ledger().totals
        assert totals["equations"] == 2
        assert (totals["checked"], totals["definitions"], totals["estimates"]) == (1, 1, 0)
        assert totals["mutants_caught"] > 10

    def test_what_is_missing_is_listed_with_its_line(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2 + c", "eq-d": "d := e"})
        with pytest.raises(ValueError, match="the ledger is not complete") as error:
            chapter.ledger()
        message = str(error.value)
        assert "equations without a record: eq-a (line 5), eq-d (line 10)" in message


class TestWhereTheTextComesFrom:
    def test_the_working_directory_first(self, small_chapter, tmp_path, monkeypatch):
        small_chapter({"eq-a": "a = 2 b"})
        monkeypatch.chdir(tmp_path)
        record = Chapter("part/small").check("eq-a", {"a": 2.2, "b": 1.1}, oracle="x")
        assert record.line == 5

    def test_a_fault_of_the_text_names_the_chapter(self, tmp_path):
        path = tmp_path / "small.md"
        path.write_text("one\n\n$$ $$ (eq-a)\n")
        with pytest.raises(ValueError, match=r"part/small: small\.md: line 3: the equation eq-a"):
            Chapter("part/small", path=path)

    def test_a_lone_notebook_uses_the_packaged_copy(self, tmp_path, monkeypatch, carrying):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ValueError, match="is not among the packaged chapters"):
            Chapter("part/nowhere")
        data = tmp_path / "data"
        data.mkdir()
        (data / "part").mkdir()
        (data / "part" / "lone.md").write_text("\n" * 8 + "$$ a = 2 b $$ (eq-a)\n")
        carrying(data)
        empty = tmp_path / "empty"
        empty.mkdir()
        monkeypatch.chdir(empty)
        chapter = Chapter("part/lone")
        assert chapter.check("eq-a", {"a": 2.2, "b": 1.1}, oracle="x").line == 9
