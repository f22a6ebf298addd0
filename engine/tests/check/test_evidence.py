"""What may not pass for evidence: statements that say nothing, tolerances that allow all."""

import numpy as np
import pytest

from checked_equations import Estimate, Nodes
from checked_equations.errors import EquationError


def pair(stream):
    x = stream.normal(size=4)
    return {"x": x, "y": x.copy()}


class TestNothingVacuous:
    @pytest.mark.parametrize(
        ("latex", "bindings"),
        [
            ("x = x", {"x": [1.1, 2.3]}),
            (r"x \le x", {"x": [1.1, 2.3]}),
            ("f(x) = f(x)", {"f": np.sin, "x": [1.1, 2.3]}),
            ("2 = 2", {}),
        ],
    )
    def test_two_sides_that_read_the_same(self, checked, latex, bindings):
        with pytest.raises(EquationError, match="says nothing: both sides read the same"):
            checked(latex, bindings)

    @pytest.mark.parametrize(
        ("latex", "bindings"),
        [
            ("x = y", pair),
            ("f(x) = g(x)", {"f": np.sin, "g": np.sin, "x": [1.1, 2.3]}),
            (r"x \propto y", {"x": [1.1, 2.3], "y": [2.2, 4.6]}),
            ("e = m", {"e": Estimate(1.0, 0.5, n=10), "m": 1.2}),
        ],
    )
    def test_a_statement_without_a_mutant_to_catch(self, checked, latex, bindings):
        with pytest.raises(EquationError, match="shows nothing"):
            checked(latex, bindings)

    def test_only_what_lives_is_spared(self, checked):
        numbers = {"a": 5.25, "b": 1.5, "c": 3.0}
        with pytest.raises(EquationError, match=r"spare names no survivor: '- for \+'"):
            checked("a = b^2 + c", numbers, spare={"- for +": "it is caught"})
        symmetric = {"A": np.array([[2.1, 0.3], [0.3, 1.7]])}
        with pytest.raises(EquationError, match="spare names no survivor: 'drop the transpose"):
            checked(r"A = A^\top", symmetric, spare={"drop the transpose of A": "the claim"})

    def test_symmetry_is_a_statement(self, checked):
        """The one slip in it is ``A = A``, which is what it claims; ``A = -A^\\top`` is not."""
        symmetric = np.array([[2.1, 0.3], [0.3, 1.7]])
        record = checked(r"A = A^\top", {"A": symmetric})
        assert (record.mutants.indistinct, record.mutants.caught) == (1, 1)
        with pytest.raises(EquationError, match="does not hold"):
            checked(r"A = A^\top", {"A": np.array([[2.1, 0.4], [0.3, 1.7]])})


def kernel(x, z):
    return np.exp(-np.sum((x - z) ** 2) / 2)


KERNEL = {"k": kernel, "x": np.array([0.3, 1.1]), "x'": np.array([0.9, -0.4])}
SQUARE = np.array([[1.2, 0.4, 0.1], [0.3, 0.9, 0.5], [0.2, 0.7, 1.6]])
FACTOR = np.array([[0.9, 0.2, 0.3], [0.1, 1.4, 0.6], [0.5, 0.8, 1.1]])
SQUARED = {"P'": SQUARE + FACTOR, "P": SQUARE, "Q": FACTOR, "A": np.eye(3)}


class TestSpecialNumbers:
    """What a one, a zero or an identity hides survives, though the edited node keeps its value."""

    @pytest.mark.parametrize(
        ("latex", "bindings", "hidden"),
        [
            (r"k(x, x') = \sigma \exp\left(-\frac{\|x - x'\|^2}{2 \ell}\right)",
             {**KERNEL, r"\sigma": 1.0, r"\ell": 1.0}, r"drop the factor .*sigma"),
            (r"P' = A^\top P A + Q", SQUARED, "drop the factor A"),
            (r"P' = A^{-1} P + A Q", SQUARED, "drop the inverse of A"),
            (r"a = b + c^2", {"a": 1.7, "b": 0.7, "c": 1.0}, "drop the square of c"),
            ("a = b - m", {"a": 1.7, "b": 1.7, "m": 0.0}, "flip the sign of m"),
            ("a = b / g", {"a": 1.7, "b": 1.7, "g": 1.0}, "drop the denominator g"),
            ("a = 2 |b|", {"a": 2.6, "b": 1.3}, "drop the bars of b"),
        ],
    )  # fmt: skip
    def test_it_survives(self, checked, latex, bindings, hidden):
        with pytest.raises(EquationError, match=f"survive.*{hidden}"):
            checked(latex, bindings)

    def test_swaps_and_transposes_do_not(self, checked):
        swapped = {"C": SQUARE + SQUARE.T, "A": SQUARE, "B": SQUARE.T}
        assert checked(r"C = A + B", swapped).mutants.survived == 0
        symmetric = SQUARE + SQUARE.T
        record = checked(r"C = S^\top A", {"C": symmetric @ SQUARE, "S": symmetric, "A": SQUARE})
        assert record.mutants.indistinct == 1

    def test_what_is_claimed_does_not(self, checked):
        """A stationary distribution: without the factor P the equation reads the same twice."""
        chances = np.array([[0.2, 0.8], [0.5, 0.5]])
        rest = np.array([5.0, 8.0]) / 13
        record = checked(r"\pi^\top P = \pi^\top", {r"\pi": rest, "P": chances})
        assert record.mutants.survived == 0 < record.mutants.caught


class TestEveryComputedSideHasAMutant:
    @pytest.mark.parametrize(
        ("latex", "bindings"),
        [
            (r"\mathbb E_x[x] = m", {"x": Nodes([1.0, 2.5], [0.4, 0.6]), "m": 1.9}),
            (r"\int_0^2 f(x) \,\mathrm d x = m",
             {"x": Nodes([0.5, 1.5], [1.0, 1.0]), "f": np.sin, "m": np.sin(0.5) + np.sin(1.5)}),
            (r"h = \frac{\partial f(a)}{\partial a}", {"h": np.cos(1.3), "f": np.sin, "a": 1.3}),
            (r"c = \operatorname{Cov}_{s(x, z)}(x, z)",
             {"c": 0.9, "s(x, z)": Nodes([[-1.0, -0.9], [1.0, 0.9]], [0.5, 0.5])}),
        ],
    )  # fmt: skip
    def test_it_is_caught(self, checked, latex, bindings):
        assert checked(latex, bindings).mutants.caught > 0


class TestTolerance:
    @pytest.mark.parametrize(
        "options", [{"rtol": 1.0}, {"rtol": -1e-9}, {"rtol": np.nan}, {"atol": np.inf}]
    )
    def test_an_identity_holds_to_more_than_that(self, checked, options):
        (name,) = options
        with pytest.raises(EquationError, match=f"eq-a.*{name} must lie between"):
            checked("a = 2 b", {"a": 2.2, "b": 1.1}, **options)

    def test_an_approximation_is_near(self, checked):
        with pytest.raises(EquationError, match=r"approx must lie between 0 and 0\.1; got 0\.9"):
            checked(r"a \approx 2 b", {"a": 2.2, "b": 1.3}, approx=0.9)

    def test_a_violated_order_is_not_excused_by_a_zero(self, checked):
        with pytest.raises(
            EquationError, match=r"is allowed; the difference has the eigenvalue -1\n"
        ) as error:
            checked(r"0 \preceq A", {"A": -np.eye(3)})
        assert "atol" not in str(error.value)

    def test_the_wrong_sign_is_no_proportion(self, checked):
        with pytest.raises(EquationError, match=r"residual 1\.0e"):
            checked(r"x \propto -2 y", {"x": [1.0, 2.0], "y": [2.0, 4.0]})


class TestRoutes:
    """What the engine does itself is told by the types of what is bound."""

    def test_averages_run_over_a_rule_or_a_list(self, checked):
        mean = r"a = \mathbb E_x[b x^2 + c]"
        numbers = {"a": 6.76, "b": 2.0, "c": 0.1, "x": Nodes([0.3, 2.1], [0.25, 0.75])}
        listed = Nodes([1.0, 2.0], [0.25, 0.75])
        assert checked(mean, numbers).route == ("quadrature",)
        assert checked(mean, {**numbers, "a": 6.6, "x": listed}).route == ("enumeration",)

    def test_slopes_are_differences_and_estimates_samples(self, checked):
        slope = {"h": 2 * np.cos(1.3), "f": np.sin, "a": 1.3}
        assert checked(r"h = 2 \frac{\partial f(a)}{\partial a}", slope).route == ("differences",)
        noisy = {"a": Estimate(1.001, 0.01, n=10), "b": 0.4, "c": 0.6}
        assert checked("a = b + c", noisy).route == ("simulation",)

    def test_of_bare_numbers_nothing_is_said(self, checked):
        record = checked("a = b + c", {"a": 3.5, "b": 1.5, "c": 2.0})
        assert record.route == ()


def test_one_estimate_makes_a_statement_one(checked):
    bound = {"b": 1.2, "c": 2.1, "m": 2.52, "n": Estimate(3.301, 0.01, n=100)}
    assert checked("n = b + c, m = b c", bound).kind == "estimate"
    assert checked("n = b + c, m = b c", {**bound, "n": 3.3}).kind == "identity"
