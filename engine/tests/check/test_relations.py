"""Relations between arrays: what holds, what does not, and what cannot be compared."""

import numpy as np
import pytest

from checked_equations import EquationError, Estimate, check_equation
from checked_equations.check.relations import (
    CHECKED,
    Misfit,
    Tolerance,
    compare,
    compare_all,
    limit,
    score,
)

A = np.array([[1.0, 2.0], [3.0, 5.0]])
EXACT = Tolerance()


def test_the_residual_is_relative_to_the_larger_side():
    comparison = compare(A, "=", 1.1 * A, EXACT)
    assert comparison.residual == pytest.approx(0.1 / 1.1)
    assert not comparison.holds
    assert compare(1e8 * A, "=", 1e8 * A + 1e-3, EXACT).holds


def test_a_zero_side_needs_an_absolute_tolerance():
    tiny = np.array([1e-14, -1e-15])
    assert compare(tiny, "=", np.array(0.0), EXACT).residual == 1.0
    assert compare(tiny, "=", np.array(0.0), Tolerance(atol=1e-12)).holds


@pytest.mark.parametrize(
    ("left", "right"),
    [(A, A[:1]), (A[:, :1], A[:1].T.T), (A, np.array(1.0)), (np.ones((2, 1)), np.ones((1, 2)))],
)
def test_shapes_must_be_equal(left, right):
    with pytest.raises(Misfit, match="the left side has shape"):
        compare(left, "=", right, EXACT)


def test_a_one_by_one_is_a_scalar():
    assert compare(np.array([[2.0]]), "=", np.array(2.0), EXACT).holds


@pytest.mark.parametrize("relation", sorted(CHECKED - {r"\propto"}))
@pytest.mark.parametrize("right", [2.0, 2.0 + 1e-15, 2.01, 3.0, -3.0, 0.0])
def test_one_number_is_compared_alike_in_all_its_forms(relation, right):
    forms = (np.float64, np.array, lambda number: np.array([[number]]))
    about = Tolerance(approx=0.01)
    assert len({compare(form(2.0), relation, form(right), about) for form in forms}) == 1
    for form in forms:
        with pytest.raises(Misfit, match="left side has values that are not finite"):
            compare(form(np.nan), relation, form(right), about)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("relation", ["=", r"\le", r"\succeq", r"\propto"])
def test_values_that_are_not_finite_never_pass(bad, relation):
    with pytest.raises(Misfit, match="right side has values that are not finite"):
        compare(A, relation, np.full((2, 2), bad), Tolerance(atol=np.inf))


@pytest.mark.parametrize(("relation", "turned"), [(r"\le", r"\ge"), ("<", ">")])
def test_inequalities_hold_one_way(relation, turned):
    low, high = np.array([1.0, 2.0]), np.array([1.5, 3.0])
    assert compare(low, relation, high, EXACT).holds
    assert compare(high, turned, low, EXACT).holds
    missed = compare(high, relation, low, EXACT)
    assert (missed.residual, missed.holds) == (pytest.approx(1 / 3), False)


def test_strict_is_strict_in_every_entry():
    low = np.array([1.0, 2.0])
    assert compare(low, r"\le", low, EXACT).holds
    assert not compare(low, "<", low, EXACT).holds
    assert not compare(low, "<", np.array([2.0, 2.0]), Tolerance(rtol=1.0)).holds


def test_approximately_has_a_tolerance_of_its_own():
    near = 1.01 * A
    assert compare(A, r"\approx", near, Tolerance(approx=0.02)).holds
    assert not compare(A, r"\approx", near, Tolerance(approx=0.005)).holds
    with pytest.raises(Misfit, match="approx="):
        compare(A, r"\approx", near, EXACT)


def test_proportional_arrays():
    assert compare(A, r"\propto", 7.3 * A, EXACT).holds
    assert not compare(A, r"\propto", A + 1e-6, EXACT).holds
    assert not compare(A, r"\propto", -A, EXACT).holds
    with pytest.raises(Misfit, match="zeros"):
        compare(A, r"\propto", 0 * A, EXACT)
    some = np.array([1.0, 0.0, 2.0])  # one zero says as much as another number
    assert compare(3.0 * some, r"\propto", some, EXACT).holds


def test_proportional_scalars_are_compared_over_the_draws():
    pairs = [(np.array(x), np.array(3.0 * x)) for x in (1.0, 2.0, 5.0)]
    assert compare_all(r"\propto", pairs, EXACT).holds
    pairs[2] = (np.array(5.0), np.array(16.0))
    assert not compare_all(r"\propto", pairs, EXACT).holds
    with pytest.raises(Misfit, match="several draws"):
        compare_all(r"\propto", pairs[:1], EXACT)


def test_the_order_of_symmetric_matrices():
    S = A + A.T
    root = np.array([[1.0, 0.0], [1.0, 0.1]])
    assert compare(S + root @ root.T, r"\succeq", S, EXACT).holds
    assert compare(S, r"\preceq", S + root @ root.T, EXACT).holds
    assert not compare(S - 1e-3 * np.eye(2), r"\succeq", S, EXACT).holds
    assert not compare(np.diag([1.0, -1e-3]), r"\succeq", np.array(0.0), EXACT).holds
    assert not compare(root @ root.T + 1e-3 * A, r"\succeq", np.array(0.0), EXACT).holds
    assert compare(np.array(2.0), r"\succeq", np.array(1.0), EXACT).holds
    with pytest.raises(Misfit, match="square"):
        compare(np.ones((3, 2)), r"\succeq", np.zeros((3, 2)), EXACT)


def test_the_worst_draw_counts():
    good, bad = (A, A), (A, 1.5 * A)
    comparison = compare_all("=", [good, bad, good], EXACT)
    assert not comparison.holds
    assert comparison.residual == pytest.approx(1 / 3)
    small_but_failing = compare_all("<", [(A, A), (A, A + 1)], EXACT)
    assert not small_but_failing.holds


class TestWhatIsSaid:
    """What does not hold is told with both values, and the draw."""

    def problem(self, latex, bindings, **options):
        with pytest.raises(EquationError) as error:
            check_equation(latex, bindings, **options)
        return error.value.problem.partition(" is allowed; ")[2]

    def test_small_sides_are_shown_whole(self):
        said = self.problem("a = b", {"a": 1.5, "b": 1.25})
        assert said == "the left side is 1.5, the right side 1.25"
        said = self.problem("a = b", {"a": [1.5, 2.0], "b": [1.5, 2.5]})
        assert said == "the left side is [1.5, 2], the right side [1.5, 2.5]"

    def test_of_arrays_the_worst_entry(self):
        right = np.arange(6.0).reshape(3, 2)
        left = right + 1e-3 * (np.arange(6).reshape(3, 2) == 3)
        said = self.problem("a = b", {"a": left, "b": right})
        assert said == "at [1, 1] of 3 × 2 the left side is 3.001, the right side 3"
        said = self.problem("a = b", {"a": np.arange(5.0), "b": [0.0, 1.0, 2.0, 3.0, 7.0]})
        assert said == "at [4] of 5 × 1 the left side is 4, the right side 7"

    def test_as_many_digits_as_tell_them_apart(self):
        said = self.problem("a = b", {"a": 1.0, "b": 1.00000003})
        assert said == "the left side is 1, the right side 1.00000003"
        said = self.problem("a = b", {"a": 1.0, "b": 1.0000000312345})  # three of the difference
        assert said == "the left side is 1, the right side 1.0000000312"

    def test_the_draw_that_misses_most(self):
        values = iter([(1.0, 1.0), (2.0, 5.0), (3.0, 4.0)])

        def drawn(stream):
            a, b = next(values)
            return {"a": a, "b": b}

        said = self.problem("a = b", drawn)
        assert said == "on draw 2 of 3 the left side is 2, the right side 5"

    def test_the_draw_with_the_worst_entry_though_another_misses_in_all(self):
        left = iter([[9.0, 1.0], [3.0, 3.0], [2.0, 2.0]])
        said = self.problem("a = b", lambda _: {"a": next(left), "b": [1.0, 1.0]})
        assert said.startswith("on draw 1 of 3 ")

    def test_of_an_inequality_what_violates_it(self):
        said = self.problem(r"a \le b", {"a": np.arange(5.0), "b": [9.0, 0.5, 9.0, 9.0, 9.0]})
        assert said == "at [1] of 5 × 1 the left side is 1, the right side 0.5"
        said = self.problem(r"A \succeq B", {"A": np.eye(2), "B": np.diag([0.5, 1.25])})
        assert said == "the difference has the eigenvalue -0.25"

    def test_of_an_estimate(self):
        noisy = {"a": Estimate(1.5, 0.01, n=10), "b": 0.4, "c": 0.6}
        said = self.problem("a = b + c", noisy)
        assert said == "the left side is 1.5, the right side 1"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_larger_side_is_larger_whatever_its_sign(sign):
    small, large = sign * np.array([2.0, 0.5]), sign * np.array([2.5, 0.5])
    for left, right in ((small, large), (large, small)):
        assert compare(left, "=", right, EXACT).residual == pytest.approx(0.2)
        assert compare(left, r"\ne", right, EXACT).holds
    assert not compare(small, r"\ne", small, EXACT).holds
    assert compare(small, r"\ne", small, EXACT).residual == 1.0


def test_the_smallest_scalars_are_proportional_by_their_own_size():
    pairs = [(np.array(1e-12 * x), np.array(3e-12 * x)) for x in (1.0, 2.0, 5.0)]
    assert compare_all(r"\propto", pairs, EXACT).holds
    pairs[1] = (pairs[1][0] * 1.01, pairs[1][1])
    missed = compare_all(r"\propto", pairs, EXACT)
    assert not missed.holds
    assert 1e-3 < missed.residual < 1e-2


def test_the_worst_of_several_draws_is_the_one_that_fails():
    pairs = [(np.array(1.0), np.array(1.0)), (np.array(2.0), np.array(2.5))]
    assert compare_all("=", pairs, EXACT).residual == pytest.approx(0.2)
    assert compare_all("=", pairs[::-1], EXACT).residual == pytest.approx(0.2)
    assert compare_all("=", pairs[:1], EXACT).holds


def test_rounding_of_large_terms_is_no_difference():
    rounding = (np.array(1e-14), np.array(0.0))
    assert not compare_all("=", [rounding], EXACT).holds
    assert compare_all("=", [rounding], EXACT, [1.0]).holds
    assert not compare_all("=", [(np.array(1e-3), np.array(0.0))], EXACT, [1.0]).holds
    apart = (np.array(1e-3), np.array(1.1e-3))
    assert not compare_all("=", [apart], EXACT, [1e8]).holds


def test_orders_of_matrices_go_by_eigenvalues():
    low, high = np.eye(2), np.array([[2.0, 0.5], [0.5, 2.0]])
    for relation, turned in ((r"\succeq", r"\preceq"), (r"\succ", r"\prec")):
        assert compare(high, relation, low, EXACT).holds
        assert compare(low, turned, high, EXACT).holds
        missed = compare(low, relation, high, EXACT)
        assert (missed.residual, missed.holds) == (pytest.approx(0.75), False)
    assert compare(low, r"\succeq", low, EXACT).holds
    assert not compare(low, r"\succ", low, EXACT).holds
    skew = high + np.array([[0.0, 0.1], [-0.1, 0.0]])
    assert not compare(skew, r"\succeq", low, EXACT).holds
    with pytest.raises(Misfit, match="compares square matrices"):
        compare(np.ones((2, 3)), r"\succeq", np.ones((2, 3)), EXACT)


def test_complex_numbers_have_no_order_but_rounding_is_no_imaginary_part():
    assert compare(np.array([1 + 1e-17j, -2.0]), r"\le", np.array([2.0, -1.0]), EXACT).holds
    with pytest.raises(Misfit, match="no order"):
        compare(np.array([1 + 0.1j, -9.0]), r"\le", np.array([2.0, 3.0]), EXACT)


@pytest.mark.parametrize(("name", "most"), [("rtol", 1.01e-3), ("atol", np.inf), ("approx", 0.101)])
def test_a_tolerance_has_its_range(name, most):
    for value in (-1e-9, most):
        with pytest.raises(ValueError, match=f"{name} must lie between 0 and"):
            Tolerance(**{name: value}).refuse_loose()
    with pytest.raises(TypeError, match="must be a number"):
        Tolerance(**{name: True}).refuse_loose()
    Tolerance(rtol=1e-3, approx=0.1).refuse_loose()


def test_rounding_may_be_allowed_more_of():
    assert Tolerance(rtol=1e-8, atol=1e-5, approx=0.1).times(4.0) == Tolerance(4e-8, 4e-5, 0.1)


def test_the_score_is_that_of_the_worst_entry_of_the_worst_draw():
    none, one = np.zeros(2), np.ones(2)
    draws = [(np.array([0.3, 0.0]), none, 0.1 * one), (np.array([0.2, 0.2]), none, 0.1 * one)]
    found = score("=", draws)
    assert found.z == pytest.approx(3.0)
    assert (found.entries, found.limit) == (4, limit(4))
    draws[1] = (np.array([0.2, 0.8]), none, np.array([0.1, 0.2]))
    found = score("=", draws)
    assert (found.z, found.standard_error) == (pytest.approx(4.0), 0.2)


def test_the_slip_is_the_least_error_that_would_have_been_seen():
    left, right, error = np.array([2.0, 8.0]), np.array([2.1, 7.0]), np.array([0.1, 0.5])
    found = score("=", [(left, right, error)])
    most = limit(2)
    assert found.slip == pytest.approx(min((most + 1) * 0.1 / 2.1, (most + 2) * 0.5 / 8.0))
    assert score(r"\le", [(left, right, error)]).slip is None
    assert score(r"\le", [(left, right, error)]).z == pytest.approx(2.0)
    assert score(r"\ge", [(left, right, error)]).z == pytest.approx(1.0)
    with pytest.raises(Misfit, match="must be positive"):
        score("=", [(left, right, np.array([0.1, 0.0]))])
    with pytest.raises(Misfit, match="cannot stand beside"):
        score(r"\propto", [(left, right, error)])


def test_what_is_nearly_equal_says_how_nearly():
    bound = {"a": 2.0, "b": 0.7, "c": 1.301}
    with pytest.raises(EquationError, match="needs a tolerance of its own: give approx="):
        check_equation(r"a \approx b + c", bound)
    check_equation(r"a \approx b + c", bound, approx=0.01)
