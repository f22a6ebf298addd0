"""The relation of a statement is edited, too; and a value of zero has the scale of its terms."""

import numpy as np
import pytest

from checked_equations import EquationError, Estimate, Nodes

A, B = np.random.default_rng(11).normal(size=(2, 3, 3))
x, y = np.random.default_rng(12).normal(size=(2, 3))
S = A @ A.T + np.eye(3)


def outcomes(record):
    return {mutant.edit: mutant for mutant in record.mutants.list}


class TestApproximations:
    def test_what_is_only_near_is_told_from_what_is_equal(self, checked):
        record = checked(r"a \approx b + c", {"a": 4.501, "b": 1.5, "c": 3.0}, approx=1e-3)
        assert outcomes(record)[r"= for \approx"].outcome == "caught"

    def test_what_is_equal_is_no_approximation(self, checked):
        with pytest.raises(EquationError, match=r"'= for \\\\approx'.*both sides are equal"):
            checked(r"a \approx b + c", {"a": 4.5, "b": 1.5, "c": 3.0}, approx=1e-3)

    def test_the_noise_of_an_estimate_tells_nothing_of_that(self, checked):
        a = Estimate(4.5003, 1e-3, n=100)
        record = checked(r"a \approx b + c", {"a": a, "b": 1.5, "c": 3.0})
        assert r"= for \approx" not in outcomes(record)

    def test_proportional_is_not_equal(self, checked):
        record = checked(r"\mathbf x \propto S \mathbf y", {
            r"\mathbf x": 3 * S @ y, "S": S, r"\mathbf y": y})  # fmt: skip
        assert outcomes(record)[r"= for \propto"].outcome == "caught"


def slack(stream):
    a, b = np.abs(stream.normal(size=2)) + 0.1
    return {"a": a, "b": b, "c": np.sqrt(a * b)}


def equal(stream):
    return {**slack(stream), "a": 0.7, "b": 0.7, "c": 0.7}


MEANS = r"\frac{a + b}{2} \ge c"


class TestInequalities:
    def test_one_that_is_never_seen_tight_could_be_strict(self, checked):
        with pytest.raises(EquationError, match=r"'> for \\\\ge'.*give tight="):
            checked(MEANS, slack)

    def test_a_tight_draw_tells_it_from_a_strict_one(self, checked):
        record = checked(MEANS, slack, tight=equal)
        told = outcomes(record)
        assert told[r"> for \ge"].outcome == told[r"= for \ge"].outcome == "caught"
        assert told[r"\le for \ge"].outcome == "caught"
        assert (record.draws, record.tight) == (3, 1)
        assert "3 draws · 1 tight" in repr(record)

    def test_of_a_chain_the_inequality_alone_is_tight(self, checked):
        latex = r"m = \frac{a + b}{2} \ge c"
        spare = {"m for c": "a mean is at least itself"}

        def and_middle(draw):
            return lambda stream: (row := draw(stream)) | {"m": (row["a"] + row["b"]) / 2}

        told = outcomes(checked(latex, and_middle(slack), tight=and_middle(equal), spare=spare))
        assert told[r"> for \ge"].outcome == told[r"= for \ge"].outcome == "caught"
        with pytest.raises(EquationError, match="on none of the tight draws are both sides equal"):
            checked(latex, and_middle(slack), tight=and_middle(slack), spare=spare)

    def test_several_tight_draws_and_plain_tables(self, checked):
        half = {"a": 4.0, "b": 4.0, "c": 4.0}
        assert checked(MEANS, slack, tight=(equal, half)).tight == 2

    def test_mutants_are_judged_on_the_tight_draws(self, checked):
        """With slack to spare, a bound may move: where it is attained, it may not."""
        bound = {"a": 9.0, "b": 1.3}
        with pytest.raises(EquationError, match=r"3 for 2"):
            checked(r"a^2 \ge 2 b", bound, tight="never: a mere bound")
        tight = {"a": np.sqrt(2.6), "b": 1.3}
        assert outcomes(checked(r"a^2 \ge 2 b", bound, tight=tight))["3 for 2"].outcome == "caught"

    def test_it_must_hold_where_it_is_tight(self, checked):
        with pytest.raises(EquationError, match="does not hold"):
            checked(MEANS, slack, tight={"a": 1.0, "b": 1.0, "c": 1.001})

    def test_tight_numbers_on_which_nothing_is_equal(self, checked):
        with pytest.raises(EquationError, match="on none of the tight draws are both sides equal"):
            checked(MEANS, slack, tight={"a": 1.0, "b": 2.0, "c": 0.5})

    def test_why_there_is_none(self, checked):
        record = checked("a \\le b", {"a": 1.0, "b": 2.0}, tight="never: a is a half of b")
        mutant = outcomes(record)[r"< for \le"]
        assert (mutant.outcome, mutant.why) == ("spared", "never: a is a half of b")

    def test_never_must_be_true_and_said(self, checked):
        with pytest.raises(EquationError, match="both sides are equal on a draw"):
            checked("a \\le b", {"a": [1.0, 2.0], "b": [1.0, 3.0]}, tight="never: I think")
        with pytest.raises(EquationError, match="must begin with 'never: '"):
            checked("a \\le b", {"a": 1.0, "b": 2.0}, tight="I cannot think of one")
        with pytest.raises(EquationError, match="no relation of this equation can be tight"):
            checked("a = b + c", {"a": 4.5, "b": 1.5, "c": 3.0}, tight="never: it is an identity")

    def test_tight_numbers_bind_the_same_symbols(self, checked):
        with pytest.raises(EquationError, match="the draws bind different symbols"):
            checked(MEANS, slack, tight={"a": 1.0, "b": 1.0})

    def test_an_order_of_matrices(self, checked):
        vector = np.array([[1.0], [2.0], [0.5]])
        tight = {"S": S + vector @ vector.T, "R": S}
        record = checked(r"S \succeq R", {"S": S + np.eye(3), "R": S}, tight=tight)
        assert outcomes(record)[r"\succ for \succeq"].outcome == "caught"

    def test_a_strict_inequality_is_more_than_rounding(self, checked):
        with pytest.raises(EquationError, match="does not hold"):
            checked("a < b", {"a": 0.3, "b": 0.1 + 0.2})
        assert checked("a < b", {"a": 0.3, "b": 0.31}).mutants.survived == 0


CENTRED = x - x.mean()


class TestZero:
    def test_the_scale_is_that_of_what_cancels(self, checked):
        w = np.linalg.solve(S, x)
        record = checked(r"S \mathbf w - \mathbf x = 0", {"S": S, r"\mathbf w": w, r"\mathbf x": x})
        assert record.residual < 1e-12
        assert record.mutants.survived == 0

    def test_a_small_error_is_an_error(self, checked):
        w = np.linalg.solve(S, x) * (1 + 1e-7)
        with pytest.raises(EquationError, match="does not hold"):
            checked(r"S \mathbf w - \mathbf x = 0", {"S": S, r"\mathbf w": w, r"\mathbf x": x})

    @pytest.mark.parametrize(
        ("latex", "bound"),
        [
            (r"\sum_{i=1}^{3} (x_i - m) = 0", {"x": x, "m": x.mean()}),
            (r"\mathbb E_z[z - m] = 0", {"z": Nodes(x, [0.2, 0.3, 0.5]), "m": x @ [0.2, 0.3, 0.5]}),
            (r"0 = \mathbf u^\top \mathbf v",
             {r"\mathbf u": CENTRED, r"\mathbf v": [0.7, 0.7, 0.7]}),
            (r"\operatorname{tr}(A B - B A) = 0", {"A": A, "B": B}),
            (r"A B - C = 0", {"A": A, "B": B, "C": A @ B}),
            (r"\frac{\partial}{\partial m} (m^3 - 3 a m) = 0", {"m": 0.7**0.5, "a": 0.7}),
        ],
    )  # fmt: skip
    def test_what_cancels(self, checked, latex, bound):
        assert checked(latex, bound).mutants.survived == 0

    def test_a_lone_symbol_has_no_other_scale_than_its_own(self, checked):
        with pytest.raises(EquationError, match="give atol="):
            checked("a = 0", {"a": 1e-17})

    def test_sides_that_are_not_zero_keep_their_own_scale(self, checked):
        """The difference of two large numbers is held to its own size, as ever."""
        with pytest.raises(EquationError, match="does not hold"):
            checked("a - b = c", {"a": 1e6 + 1.0, "b": 1e6, "c": 1.0 + 1e-7})

    def test_what_bound_functions_leave_has_no_terms(self, checked):
        with pytest.raises(EquationError, match="give atol="):
            checked("f(x) = 0", {"f": lambda v: v * 1e-17, "x": 0.7})
