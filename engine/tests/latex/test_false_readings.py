"""What was once read as something that it does not say: refused, or read as it is printed."""

from __future__ import annotations

import numpy as np
import pytest

from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression, parse_free
from checked_equations.latex.tree import Name

rng = np.random.default_rng(9)
A, B = rng.normal(size=(12, 12)), rng.normal(size=(12, 12))
BOUND = {
    "A": A, "B": B, "K": 1.3, "L": 0.7, "KL": 2.9, "T": 3, "N": 4, "i": 2, "a": 0.6, "b": 1.7,
    "c": 0.9, "h": 2.2, r"\nu": 0.5, "y": rng.normal(size=12), "f": 0.4,
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}


def value(latex: str) -> np.ndarray:
    return Evaluator(BOUND, latex).value(parse_expression(latex, NAMES))


def sides(latex: str) -> list[tuple[float, float]]:
    """The values of both sides of every step."""
    evaluator = Evaluator(BOUND, latex)
    steps = parse(latex, NAMES).steps
    return [(float(evaluator.value(s.left)), float(evaluator.value(s.right))) for s in steps]


def attempt(latex, names, bound):
    """Parse a statement or an expression and evaluate its right side."""
    evaluator = Evaluator(bound, latex)
    if " = " in latex:
        return evaluator.value(parse(latex, names).steps[0].right)
    return evaluator.value(parse_expression(latex, names))


def refusal(latex: str, names=NAMES, bound=BOUND) -> EquationError:
    with pytest.raises(EquationError) as caught:
        attempt(latex, names, bound)
    return caught.value


class TestStatementsApart:
    """``\\quad`` and a line that begins with a sign."""

    @pytest.mark.parametrize(
        "latex",
        [
            r"a = b \quad c = h",
            r"a = b \qquad c = h",
            r"a = b \quad {c} = h",
            r"a = b \quad \left( c \right) = h",
            r"\begin{aligned} a &= b \quad & c &= h \end{aligned}",
            r"a = b \quad |c| = h",
            r"a = b \quad \lVert c \rVert = h",
            r"a = b \quad ||c|| = h",
            r"a = b \hspace{1cm} c = h",
            r"a = b \hfill c = h",
            r"a = b \enspace c = h",
        ],
    )
    def test_a_wide_space_separates(self, latex):
        assert sides(latex) == [(0.6, 1.7), (0.9, 2.2)]

    @pytest.mark.parametrize(
        "latex",
        [r"a \quad = \quad b + c", r"a = b \quad {} + c", "a &= b \\\\ &\\qquad + c",
         r"a = \quad b + c", r"a = b + \hspace{-1em} c", "a &= b + \\\\ &\\qquad c",
         r"a = ( b \quad + c )"],
    )  # fmt: skip
    def test_a_wide_space_that_is_layout(self, latex):
        assert sides(latex) == [(0.6, pytest.approx(2.6))]

    @pytest.mark.parametrize(
        "latex",
        [
            "a &= b & c &= h",
            r"a &= b &\quad c &= h",
            r"a &= b &&\quad c = h",
            "a &= b && {c} = h",
            r"\begin{alignat}{2} a &= b &\quad c &= h \end{alignat}",
        ],
    )
    def test_a_second_column_separates(self, latex):
        assert sides(latex) == [(0.6, 1.7), (0.9, 2.2)]

    def test_every_row_has_columns_of_its_own(self):
        rows = "a &= b & c &= h \\\\ N &= c & h &= b"
        assert sides(rows) == [(0.6, 1.7), (0.9, 2.2), (4.0, 0.9), (2.2, 1.7)]

    @pytest.mark.parametrize("latex", ["a &= b & + c", "a &=& b + c", "a & = & b & + & c"])
    def test_a_column_that_is_layout(self, latex):
        assert sides(latex) == [(0.6, pytest.approx(2.6))]

    def test_a_system_in_columns_has_one_relation_a_row(self):
        assert sides("a &+ b & {}+ c &= h") == [(pytest.approx(3.2), 2.2)]

    def test_a_column_that_begins_with_a_sign_is_ambiguous(self):
        error = refusal("a &= b & - c &= h")
        assert "ambiguous: does `&` begin a new statement" in error.problem
        assert error.latex[slice(*error.span)] == "-"

    def test_a_wide_space_before_a_sign_is_ambiguous(self):
        error = refusal(r"a = b \quad - c = h")
        assert r"ambiguous: does `\quad` begin a new statement" in error.problem
        assert error.latex[slice(*error.span)] == "-"

    def test_what_follows_a_wide_space_must_be_a_statement(self):
        problem = refusal(r"a = b \quad c").problem
        assert r"no relation stands in it; `\quad` separates statements" in problem

    @pytest.mark.parametrize(
        "latex",
        [
            "a = b + c \\\\ -h = N",
            "a &= b + c \\\\ -h &= N",
            "& a = b + c \\\\ & -h = N",
            "a = b + c \\\\ + (-h) = N",
        ],
    )
    def test_a_line_with_a_relation_of_its_own_is_a_statement(self, latex):
        assert sides(latex) == [(0.6, pytest.approx(2.6)), (-2.2, 4.0)]

    @pytest.mark.parametrize(
        "latex",
        [
            "a &= b \\\\ &- c",
            "a &= b \\\\ & \\quad - c",
            "a = &\\ b \\\\ &- c",
            "a = b \\\\ - c",
            "a = b \\\\ \\quad - c",
        ],
    )
    def test_an_alignment_says_that_a_line_goes_on(self, latex):
        assert sides(latex) == [(0.6, pytest.approx(0.8))]

    def test_an_aligned_line_may_go_on_with_a_further_relation(self):
        assert sides("a &= b \\\\ &\\quad - c = h") == [
            (0.6, pytest.approx(0.8)), (pytest.approx(0.8), 2.2)]  # fmt: skip


class TestBars:
    @pytest.mark.parametrize("latex", ["||A||_2", r"\|A\|_2", r"\lVert A \rVert_2"])
    def test_double_bars_are_a_norm(self, latex):
        assert value(latex) == pytest.approx(np.linalg.norm(A, 2))

    @pytest.mark.parametrize("latex", ["||A||", r"\|A\|", r"a + \lVert A B \rVert^2"])
    def test_a_norm_of_a_matrix_says_which(self, latex):
        assert "ambiguous: which norm of a matrix?" in refusal(latex).problem

    @pytest.mark.parametrize(
        ("latex", "wanted"),
        [
            ("||A||_F^2", np.sum(A**2)),
            ("a||y||", 0.6 * np.linalg.norm(BOUND["y"])),
            ("|A||B|", np.linalg.det(A) * np.linalg.det(B)),
            ("||y|| ||y||", BOUND["y"] @ BOUND["y"]),
            ("| ||y|| - h |", abs(np.linalg.norm(BOUND["y"]) - 2.2)),
            (r"\log||A||_2", np.log(np.linalg.norm(A, 2))),
        ],
    )
    def test_bars_beside_bars(self, latex, wanted):
        assert value(latex) == pytest.approx(wanted)

    def test_the_norm_of_an_inverse_is_not_the_inverse_of_the_norm(self):
        (step,) = parse("||A^{-1}||_2 = ||A||_2^{-1}", NAMES).steps
        left, right = (Evaluator(BOUND).value(side) for side in (step.left, step.right))
        assert abs(left - right) > 0.1 * left

    @pytest.mark.parametrize(
        "latex", [r"\left|\left| A \right|\right|", r"\lvert\lvert a\rvert\rvert"]
    )
    def test_a_modulus_of_a_modulus_looks_like_a_norm(self, latex):
        assert r"ambiguous: write \lVert" in refusal(latex).problem

    def test_a_subscript_on_bars_is_no_index(self):
        assert r"write \lVert" in refusal("|a|_1").problem

    def test_double_bars_between_arguments(self):
        node = parse_expression("D(a || b)", {**NAMES, "D": "callable"})
        assert node.separators == (r"\|",)


class TestScripts:
    @pytest.mark.parametrize("latex", ["A^T", "y^T y", r"A^{\mathrm T} B", "A^{-T}"])
    def test_the_power_of_a_matrix_to_a_bound_T(self, latex):
        bound = {**BOUND, r"\mathrm T": 3.0}
        error = refusal(latex, {**NAMES, r"\mathrm T": "value"}, bound)
        assert r"ambiguous: is this the transpose? write ^\top" in error.problem

    def test_a_scalar_to_the_power_of_a_bound_T(self):
        assert value("a^T") == pytest.approx(0.6**3)

    @pytest.mark.parametrize("latex", ["A^{(i)}", "A^{(2)}", r"a^{\left( N \right)}", "a^{[i]}"])
    def test_a_superscript_in_brackets_is_part_of_a_name(self, latex):
        error = refusal(latex)
        assert error.problem.startswith("unbound symbol")
        assert "brackets is part of a name" in error.problem

    def test_a_bound_superscript_in_brackets_is_a_name(self):
        assert parse_expression("a^{(i)}", {**NAMES, "a^{(i)}": "value"}).key == "a^{(i)}"

    @pytest.mark.parametrize("latex", ["e^{(a)}", "2^{(a)}", "a^{(b + c) h}", "a^{(b) + (c)}"])
    def test_other_brackets_in_an_exponent(self, latex):
        assert np.isfinite(value(latex))

    @pytest.mark.parametrize(
        "latex", [r"\operatorname{tr}(A B)^{-1}", r"\operatorname{tr}(A)^2", r"\log(b)^{-1}"]
    )
    def test_the_power_of_a_function_or_of_its_argument(self, latex):
        assert "ambiguous: does the power belong to" in refusal(latex).problem

    @pytest.mark.parametrize("latex", [r"(\operatorname{tr} A)^{-1}", r"\det(A)^{-1}"])
    def test_powers_that_are_clear(self, latex):
        assert np.isfinite(value(latex))

    @pytest.mark.parametrize("latex", ["A_{12}", "A_{12} y"])
    def test_a_row_or_an_entry(self, latex):
        error = refusal(latex)
        assert "ambiguous: row 12, or the entry 1, 2? write A_{1,2}" in error.problem
        assert error.latex[slice(*error.span)] == "A_{12}"

    def test_an_entry_of_a_long_vector(self):
        assert value("y_{12}") == BOUND["y"][11]

    def test_two_marks_of_a_factorial(self):
        assert value("N!!") == 8
        assert "ambiguous: the factorial of a factorial" in refusal("N!!!").problem
        assert value("(i!)!") == 2

    def test_a_number_with_two_points(self):
        assert "`1.5.2` is no number" in refusal("a + 1.5.2").problem


class TestBraces:
    """What stands below a brace is said of what is in it, and is no part of the formula."""

    @pytest.mark.parametrize(
        ("latex", "wanted"),
        [
            (r"\underbrace{a b}_{\text{both}} c", 0.6 * 1.7 * 0.9),
            (r"\overbrace{a b}^{\text{both}} c", 0.6 * 1.7 * 0.9),
            (r"\underbrace{a}_{\text{the first}}^2", 0.36),
            (r"\boxed{y}_{1}", BOUND["y"][0]),
            (r"\smash{a}^2", 0.36),
            (r"\mathop{\max}_{j \in y} j", BOUND["y"].max()),
        ],
    )
    def test_a_label_in_words(self, latex, wanted):
        assert value(latex) == pytest.approx(wanted)

    @pytest.mark.parametrize(
        "latex", [r"\underbrace{a + b}_{= c} h", r"\underbrace{a + b}_{c}", r"\overbrace{a}^{2} h",
                  r"\underbrace{a}_{b > 0}", r"\underbrace{a + b}_{\text{is} = c}"]
    )  # fmt: skip
    def test_a_formula_is_no_label(self, latex):
        assert "write it as an equation of its own" in refusal(latex).problem

    def test_a_script_on_all_that_stands_in_a_brace(self):
        assert "ambiguous: a script on all of this?" in refusal(r"\boxed{a b}^2 c").problem


class TestNames:
    @pytest.mark.parametrize("latex", ["K L", "KL", r"a K\,L"])
    def test_a_name_of_letters_that_are_bound_too(self, latex):
        error = refusal(latex)
        assert "ambiguous: `KL` is bound, and so are `K` and `L`" in error.problem
        assert r"\operatorname{KL}" in error.problem

    def test_a_name_of_letters_alone(self):
        names = {key: what for key, what in NAMES.items() if key != "L"}
        assert parse_expression("KL", names).key == "KL"


class TestRanges:
    @pytest.mark.parametrize("latex", [r"\sum_{j<i}^{N} j", r"\sum_{k \in y, j=1}^{N} k j"])
    def test_an_upper_limit_drops_nothing(self, latex):
        assert "an upper limit stands beside a range that has its end" in refusal(latex).problem


class TestTwice:
    """A symbol whose subscript is no index is read once."""

    def test_the_inverse_of_a_bound_square_beside_its_bare_letter(self):
        names = {r"\sigma": "value", r"\sigma_n^2": "value", "a": "value"}
        node = parse_expression(r"\sigma_n^{-2} a", names)
        assert node == parse_expression(r"(\sigma_n^2)^{-1} a", names)

    def test_a_free_symbol_beside_its_bare_letter(self):
        node = parse_expression(r"a_{\text{max}} + b", {"a": "value"}, free=True)
        assert [term.key for term in node.terms] == [r"a_\text{max}", "b"]
        with pytest.raises(EquationError, match=r"unbound symbol `a_\\text\{max\}`"):
            parse_expression(r"a_{\text{max}}", {"a": "value"})


class TestWhatIsTold:
    def test_what_stands_behind_a_call_behind_two_words_belongs_to_neither(self):
        kinds = {"a": "value", "b": "value", "g": "callable"}
        for words in (r"\log", r"\log \exp", r"\sin \log \exp"):
            with pytest.raises(EquationError, match="does what follows the call belong"):
                parse_expression(rf"{words} g(a) b", kinds)
            assert parse_expression(rf"b {words} g(a)", kinds)

    def test_a_place_that_is_left_open_is_a_name_in_a_definition_alone(self):
        (step,) = parse_free(r"h = f(\cdot, a)").steps
        assert step.right.arguments == (Name("\\cdot"), Name("a"))
        with pytest.raises(EquationError, match="cannot stand here"):
            parse(r"h = f(\cdot, a)", {"h": "value", "f": "callable", "a": "value"})

    def test_a_tab_at_the_end_begins_nothing(self):
        for latex in ("a b &= c &", "a b = c & &", "a b &= c & &", r"a b &= c & \\"):
            statement = parse(latex, NAMES)
            assert statement == parse("a b = c", NAMES), latex

    def test_a_range_may_stand_behind_a_comma_and_a_tab(self):
        wanted = parse(r"y_i = a, i = 1, \dots, N", NAMES)
        assert wanted.conditions
        for comma in (", &", ", & &", r", \quad &"):
            assert parse(rf"y_i = a{comma} i = 1, \dots, N", NAMES) == wanted, comma
