"""Where a relation begins to be missed, and what each of its measures is."""

import numpy as np
import pytest

from checked_equations.check.relations import (
    Comparison,
    Misfit,
    Tolerance,
    compare,
    compare_all,
    conform_sides,
    excess,
    scale,
    score,
    worst,
)

EXACT = Tolerance()
NONE = Tolerance(rtol=0.0)


def array(*values):
    return np.array(values)


def test_the_worst_of_what_fails_goes_before_what_holds():
    held, failed = Comparison(0.5, True), Comparison(0.1, False)
    assert worst([held, failed]) == worst([failed, held]) == failed
    assert worst([Comparison(0.1, True), held]) == held
    assert worst([failed, Comparison(0.2, False)]).residual == 0.2


@pytest.mark.parametrize(
    ("options", "gap", "holds"),
    [
        ({"rtol": 0.25}, 0.25, True),
        ({"rtol": 0.25}, 0.26, False),
        ({"rtol": 0.0, "atol": 0.25}, 0.25, True),
        ({"rtol": 0.0, "atol": 0.25}, 0.26, False),
        ({"rtol": 0.125, "atol": 0.125}, 0.25, True),
        ({"rtol": 0.125, "atol": 0.125}, 0.26, False),
    ],
)
def test_the_tolerances_add_up_and_are_reached(options, gap, holds):
    one, other = np.array(1.0), np.array(1.0 - gap)
    assert compare(one, "=", other, Tolerance(**options)) == Comparison(pytest.approx(gap), holds)
    assert compare(-one, "=", -other, Tolerance(**options)).holds == holds
    assert compare(one, r"\le", other, Tolerance(**options)).holds == holds


def test_an_approximation_that_is_exact_needs_no_room():
    assert compare(array(1.0, 2.0), r"\approx", array(1.0, 2.0), Tolerance(approx=0.0)).holds
    Tolerance(approx=None).refuse_loose()
    with pytest.raises(ValueError, match=r"approx must lie between 0 and 0\.1; got 0\.2"):
        Tolerance(approx=0.2).refuse_loose()
    with pytest.raises(ValueError, match="atol must lie between 0 and inf; got inf"):
        Tolerance(atol=np.inf).refuse_loose()
    with pytest.raises(TypeError, match="rtol must be a number; got '1'"):
        Tolerance(rtol="1").refuse_loose()
    Tolerance(rtol=np.float32(1e-4), atol=3).refuse_loose()


def test_proportional_scalars_are_measured_together():
    pairs = [(np.array(x), np.array(2.0 * x)) for x in (1.0, 2.0)]
    assert compare_all(r"\propto", pairs, EXACT).holds
    pairs[1] = (np.array(3.0), np.array(4.0))
    found = compare_all(r"\propto", pairs, EXACT)  # the best factor is 14/20
    assert found == Comparison(pytest.approx(0.4 / 3.0), False)
    mixed = [(array(1.0, 2.0), array(2.0, 4.0)), (array(1.0, 2.0), array(3.0, 6.0))]
    assert compare_all(r"\propto", mixed, EXACT).holds
    with pytest.raises(Misfit, match="between scalars needs several draws"):
        compare_all(r"\propto", [(np.array(1.0), np.array(2.0))], EXACT)
    opposite = [(np.array(x), np.array(-2.0 * x)) for x in (1.0, 2.0)]
    assert compare_all(r"\propto", opposite, Tolerance(atol=10.0)) == Comparison(1.0, False)
    assert compare(array(0.0, 0.0), r"\propto", array(1.0, 2.0), EXACT).holds is False


def test_the_terms_are_the_scale_of_what_is_nothing_else():
    tiny, zero = np.array(1e-13), np.array(0.0)
    assert compare_all("=", [(tiny, 2e-13 + zero)], EXACT, [1.0]).holds
    assert compare_all("=", [(zero, tiny)], EXACT, [1.0]).residual == pytest.approx(1e-13)
    assert not compare_all("=", [(1e-11 + zero, 2e-11 + zero)], EXACT, [1.0]).holds
    assert compare_all("=", [(1e-12 + zero, 1e-13 + zero)], EXACT, [1.0]).holds
    assert compare_all("=", [(zero, zero)], EXACT) == Comparison(0.0, True)


def test_two_sides_have_one_shape_and_some_entries():
    left, right = conform_sides(np.ones((1, 1)), np.array(2.0))
    assert left.shape == right.shape == ()
    assert conform_sides(np.zeros(1), np.ones(3))[0].shape == ()
    with pytest.raises(Misfit, match=r"the left side has shape \(2,\), the right side \(3,\)"):
        conform_sides(np.zeros(2), np.ones(3))
    with pytest.raises(Misfit, match="the left side has no entries"):
        conform_sides(np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(Misfit, match="the left side has values that are not finite"):
        conform_sides(array(1.0, np.nan), np.ones(2))
    assert scale(array(1.0, -3.0), array(2.0)) == scale(array(2.0), array(1.0, -3.0)) == 3.0
    assert scale(array(1.0), array(2.0), 4.0) == 4.0


@pytest.mark.parametrize(
    ("relation", "wanted"),
    [
        ("=", [1.0, 2.0]), (r"\le", [-1.0, 2.0]), ("<", [-1.0, 2.0]), (r"\ge", [1.0, -2.0]),
        (">", [1.0, -2.0]),
    ],
)  # fmt: skip
def test_by_how_much_each_entry_is_missed(relation, wanted):
    assert excess(relation, array(1.0, 5.0), array(2.0, 3.0)).tolist() == wanted


def test_by_how_much_each_eigenvalue_is_missed():
    left, right = np.diag([3.0, 5.0]), np.diag([1.0, 6.0])
    assert excess(r"\succeq", left, right).tolist() == [1.0, -2.0]
    assert excess(r"\prec", left, right).tolist() == [2.0, -1.0]
    assert excess(r"\succeq", np.array(2.0), np.array(3.0)).tolist() == [1.0]
    skew = np.array([[2.0, 0.5], [0.0, 2.0]])
    assert excess(r"\succeq", skew, np.array(0.0)) == pytest.approx(array(-1.75, -2.25))
    found = compare(skew, r"\succeq", np.array(0.0), EXACT)
    assert found == Comparison(pytest.approx(0.25), False)


def test_rounding_is_no_imaginary_part():
    left = array(1.0 + 0.9e-12j, 1.0)
    assert excess(r"\le", left, array(1.0, 3.0)).tolist() == [0.0, -2.0]
    assert excess(r"\ge", array(1.0, 3.0), left).tolist() == [0.0, -2.0]
    assert excess(r"\le", array(1.0 + 1e-12j, 0.0), array(1.0, 3.0)).tolist() == [0.0, -3.0]
    with pytest.raises(Misfit, match="complex numbers have no order"):
        excess(r"\le", array(1.0, 1.0 - 1.1e-12j), array(1.0, 3.0))


def test_strictly_less_is_less_by_more_than_rounding_in_each_entry():
    low = array(1.0, 1000.0)
    assert compare(low, "<", low + array(1e-8, 1e-5), EXACT).holds
    assert not compare(low, "<", low + array(1e-8, 1e-7), EXACT).holds
    assert not compare(low, "<", low + array(1e-10, 1.0), EXACT).holds
    assert compare(low, "<", low + array(1e-10, 1.0), NONE).holds
    assert not compare(low, "<", low, NONE).holds
    assert not compare(low, "<", low + 0.5, Tolerance(rtol=0.0, atol=0.5)).holds
    assert compare(low, "<", low + 0.6, Tolerance(rtol=0.0, atol=0.5)).holds
    assert compare(-low, ">", -low - array(1e-8, 1e-5), EXACT).holds
    assert compare_all("<", [(np.array(0.0), np.array(1e-11))], EXACT, [1e-3]).holds
    assert not compare_all("<", [(np.array(0.0), np.array(1e-11))], EXACT, [1.0]).holds
    big = np.diag([1000.0, 1.0])
    assert not compare(big, r"\succ", big - 1e-8 * np.eye(2), EXACT).holds
    assert compare(big, r"\succ", big - 1e-5 * np.eye(2), EXACT).holds


def test_scores_are_those_of_the_worst_entry():
    zero, error = np.zeros(2), array(0.1, 0.2)
    found = score("=", [(array(0.2, -0.6), zero, error)])
    assert (found.z, found.standard_error, found.entries) == (pytest.approx(3.0), 0.2, 2)
    assert found.slip == pytest.approx((found.limit + 3.0) * 0.2 / 0.6)
    single = score("=", [(np.array(1.2), np.array(1.0), np.array(0.1))])
    assert (single.z, single.limit, single.entries) == (pytest.approx(2.0), pytest.approx(4.0), 1)
    assert single.slip == pytest.approx(6.0 * 0.1 / 1.2)
    assert score("=", [(zero, zero, error)]).slip is None
    assert score(r"\le", [(array(-1.0, -2.0), zero, error)]).z == 0.0
    broad = score("=", [(array(0.2, 0.1), zero, np.array(0.1))])
    assert (broad.z, broad.standard_error) == (pytest.approx(2.0), 0.1)
    for relation in (r"\propto", r"\succeq"):
        with pytest.raises(Misfit, match="an estimate cannot stand beside"):
            score(relation, [(zero, zero, error)])
