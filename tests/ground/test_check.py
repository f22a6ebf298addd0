"""The public door: what it lets through unchanged, and what its errors say."""

import math
import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpnotes import GP, RBF, Chunks, SparseGP, condition
from gpnotes.ground import check as _check
from gpnotes.ground.xp import to_numpy


def test_what_is_right_comes_back_itself(space):
    a, v = space.asarray([[1.0, 2.0]]), space.asarray([0.25, 0.75])
    assert _check.matrix(a, "a", rows=1, columns=2) is a
    assert _check.vector(v, "v", size=2) is v
    assert _check.positive(v, "v") is v
    assert _check.finite(v, "v") is v
    assert _check.finite(-1.5, "v") == -1.5
    assert _check.alike(v, "v", a, "a") is v


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: _check.matrix(s([1.0]), "X"), r"X must have shape \(n, d\); got \(1,\)"),
        (lambda s: _check.matrix(s([[1.0]]), "X", columns=3), r"\(n, 3\); got \(1, 1\)"),
        (lambda s: _check.matrix(s([[1.0]]), "X", rows=3), r"\(3, d\); got \(1, 1\)"),
        (lambda s: _check.vector(s([[1.0]]), "y"), r"y must have shape \(n,\); got \(1, 1\)"),
        (lambda s: _check.vector(s([1.0]), "y", size=2), r"y must have shape \(2,\); got \(1,\)"),
        (lambda s: _check.vector(s([1.0, np.inf]), "y"), "y must be finite; 1 of its entries"),
        (lambda s: _check.matrix(s([[np.nan, 1.0]]), "X"), "X must be finite; 1 of its entries"),
        (lambda s: _check.finite(s([-np.inf]), "v"), "v must be finite; 1 of its entries are not"),
        (lambda s: _check.finite(-np.inf, "v"), "v must be finite; got -inf"),
        (lambda s: _check.positive(s([1.0, 0.0]), "v"), "v must be positive and finite"),
        (lambda s: _check.positive(s([1.0, np.nan]), "v"), "v must be positive and finite"),
        (lambda s: _check.positive(s([-1.0]), "v", zero=True), "v must be non-negative and finite"),
    ],
)
def test_errors_name_the_argument_and_both_shapes(space, call, message):
    with pytest.raises(ValueError, match=message):
        call(space.asarray)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_positive_float_is_positive_and_finite(value):
    with pytest.raises(ValueError, match="noise_var must be positive and finite; got"):
        _check.positive(value, "noise_var")


def test_of_many_numbers_the_first_that_is_not_positive_is_named(space):
    many = space.asarray([1.0] * 40 + [-2.0] + [0.0] * 20)
    with pytest.raises(ValueError, match=r"finite; got 1 that are not, the first in row 40: .*-2"):
        _check.positive(many, "noise_var", zero=True)
    with pytest.raises(ValueError, match=r"finite; got 21 that are not, the first in row 40: .*-2"):
        _check.positive(many, "noise_var")


def test_zero_where_it_is_allowed(space):
    assert _check.positive(0.0, "v", zero=True) == 0.0
    zeros = space.asarray([0.0])
    assert _check.positive(zeros, "v", zero=True) is zeros


def test_lists_and_whole_numbers_are_not_arrays_of_data():
    with pytest.raises(TypeError, match="X must be an array; got list"):
        _check.matrix([[1.0]], "X")
    for other in (np.int64, np.float16, np.longdouble, np.complex128, ">f8"):
        with pytest.raises(TypeError, match="X must have a real floating dtype, float32 or float"):
            _check.matrix(np.ones((1, 1), dtype=other), "X")


def test_an_array_that_hides_entries_is_not_plain():
    masked = np.ma.masked_greater(np.asarray([[1.0, 9.0]]), 5.0)
    with pytest.raises(TypeError, match="X must be a plain array; got MaskedArray"):
        _check.matrix(masked, "X")


def test_a_symmetric_matrix_is_square_and_its_own_transpose(space):
    K = space.asarray([[1.0, 0.5], [0.5, 1.0]])
    assert _check.symmetric(K, "K") is K
    with pytest.raises(ValueError, match="K must be symmetric; its transpose differs"):
        _check.symmetric(space.asarray([[1.0, 0.5], [0.4, 1.0]]), "K")
    with pytest.raises(ValueError, match=r"K must have shape \(n, n\); got \(1, 2\)"):
        _check.symmetric(K[:1, :], "K")
    _check.symmetric(space.asarray(np.zeros((0, 0))), "K")


def test_arrays_of_two_kinds_do_not_meet():
    with pytest.raises(TypeError, match="z must have the dtype of x, float64; got float32"):
        _check.alike(np.ones(1, dtype=np.float32), "z", np.ones(1), "x")
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match="z must have the namespace of x, numpy; got array_api_st"):
        _check.alike(strict.ones(1), "z", np.ones(1), "x")
    elsewhere = strict.ones(1, device=strict.Device("device1"))
    with pytest.raises(TypeError, match=r"z must have the device of x, .*CPU.*; got .*device1"):
        _check.alike(elsewhere, "z", strict.ones(1), "x")


@pytest.mark.parametrize("value", [3, np.int64(3), np.asarray(3)])
def test_whole_numbers_of_python_and_numpy_are_taken(value: Any) -> None:
    got = _check.whole(value, "steps", 1)
    assert got == 3
    assert type(got) is int


@pytest.mark.parametrize("value", [2.0, True, np.True_, 2.5, "2", None, [2], np.asarray([2])[None]])
def test_what_is_no_whole_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(TypeError, match="steps must be a whole number from 1"):
        _check.whole(value, "steps", 1)


@pytest.mark.parametrize("value", [0, -1, 8])
def test_whole_numbers_outside_their_limits_are_refused_with_the_limits(value: int) -> None:
    with pytest.raises(ValueError, match=f"steps must be a whole number from 1 to 7; got {value}"):
        _check.whole(value, "steps", 1, 7)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([0, 3], ValueError, "must be entries 0 to 2 of x"),
        ([-1], ValueError, "must be entries 0 to 2 of x"),
        ([1, 1], ValueError, "must name each entry once"),
        ([1.0], TypeError, "must be whole numbers, entries of x"),
        ([True, False], TypeError, "must be whole numbers, entries of x"),
        (2, TypeError, "must be whole numbers, entries of x"),
    ],
)
def test_entries_are_whole_distinct_and_within_their_object(
    values: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"angles {message}"):
        _check.entries(values, "angles", 3, "x")


def test_entries_may_repeat_where_that_is_meant() -> None:
    assert _check.entries([1, 1], "rows", 3, "x", repeat=True) == (1, 1)


@pytest.mark.parametrize("value", [True, "1", None, [1.0], 1j, np.asarray("1"), np.asarray(True)])
def test_what_is_no_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(TypeError, match=r"rate must (be a number|hold real numbers); got"):
        _check.number(value, "rate")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_are_finite(value: float) -> None:
    with pytest.raises(ValueError, match="rate must be finite"):
        _check.number(value, "rate")


def test_numbers_of_any_kind_become_floats() -> None:
    assert [_check.number(v, "rate") for v in (1, 2.5, np.float32(0.5), np.asarray(4.0))] == [
        1.0, 2.5, 0.5, 4.0,
    ]  # fmt: skip


def test_instances_are_asked_for_by_name() -> None:
    assert _check.instance(3, "n", int) == 3
    with pytest.raises(TypeError, match=r"rng must be a gpnotes int; got str$"):
        _check.instance("3", "rng", int)
    with pytest.raises(TypeError, match=r"n must be a gpnotes int; got Fraction of fractions$"):
        _check.instance(Fraction(3), "n", int)
    with pytest.raises(TypeError, match="gp must be a gpnotes int; got the class float"):
        _check.instance(float, "gp", int)


def test_a_covariance_may_be_as_far_below_zero_as_rounding_takes_it(space) -> None:
    eps = float(space.xp.finfo(space.dtype).eps)
    share = min(eps**0.5, 1e5 * eps)
    good, bad = ([[4.0, 0.0], [0.0, -4.0 * f * share]] for f in (0.9, 1.1))
    assert space.holds(_check.semidefinite(space.asarray(good), "S"))
    with pytest.raises(ValueError, match="S must be positive semidefinite; its smallest eigenval"):
        _check.semidefinite(space.asarray(bad), "S")
    with pytest.raises(ValueError, match=r"S must have shape \(3, 3\); got \(2, 2\)"):
        _check.semidefinite(space.asarray(good), "S", size=3)
    with pytest.raises(ValueError, match="S must be positive semidefinite; its smallest eigenval"):
        _check.semidefinite(space.asarray([[-1.0]]), "S")
    nothing = space.asarray(np.zeros((0, 0)))
    assert _check.semidefinite(nothing, "S").shape == (0, 0)


@pytest.mark.parametrize("value", ["1", None, [1.0], True, np.True_, np.asarray([True]), 1j, float])
def test_what_is_no_number_cannot_be_positive_or_finite(value: Any) -> None:
    for check in (_check.positive, _check.finite):
        with pytest.raises(TypeError, match="width must"):
            check(value, "width")


def test_derivatives_have_the_shape_and_kind_of_what_they_are_of(space) -> None:
    like = space.asarray([1.0, 2.0])
    assert _check.cotangent(like, "bar", like) is like
    with pytest.raises(ValueError, match=r"bar must have shape \(2,\); got \(1,\)"):
        _check.cotangent(like[:1], "bar", like)
    with pytest.raises(ValueError, match="bar must be finite; 1 of its entries"):
        _check.cotangent(space.asarray([0.0, np.nan]), "bar", like)
    with pytest.raises(TypeError, match="bar must be an array; got list"):
        _check.cotangent([1.0, 2.0], "bar", like)


def test_flags_are_true_or_false() -> None:
    assert _check.flag(True, "noise") is True
    assert _check.flag(np.False_, "noise") is False
    for value in (1, 0, "yes", None, [True]):
        with pytest.raises(TypeError, match="noise must be True or False; got"):
            _check.flag(value, "noise")


def test_whole_numbers_without_a_least_may_be_negative() -> None:
    assert _check.whole(-3, "low", None) == -3
    with pytest.raises(ValueError, match="low must be a whole number to 7; got 8"):
        _check.whole(8, "low", None, 7)
    assert _check.whole(7, "low", None, 7) == 7


def test_entries_count_back_where_that_is_meant() -> None:
    assert _check.entries([-1, -3, 1], "rows", 3, "x", back=True) == (2, 0, 1)
    with pytest.raises(ValueError, match="rows must name each entry once; got"):
        _check.entries([-1, 2], "rows", 3, "x", back=True)
    with pytest.raises(ValueError, match="rows must be entries -3 to 2 of x"):
        _check.entries([-4], "rows", 3, "x", back=True)


def test_arrays_of_any_kind_and_floating_ones(space) -> None:
    a = space.asarray([1.0])
    assert _check.array(a, "a") is _check.floating(a, "a") is a
    assert _check.mean_and_variance(a, a) == space.xp
    with pytest.raises(TypeError, match="a must be an array; got list"):
        _check.array([1.0], "a")


def test_both_limits_of_a_whole_number_belong_to_it() -> None:
    assert [_check.whole(value, "steps", 1, 7) for value in (1, 7)] == [1, 7]


def test_what_is_squared_stays_below_the_largest_number(space) -> None:
    bound = float(space.xp.finfo(space.dtype).max) ** 0.4
    good = space.asarray([0.0, -0.9 * bound])
    assert _check.squarable(good, "X") is good
    assert _check.squarable(good[:0], "X").shape == (0,)
    for entry in (1.1 * bound, -1.1 * bound):
        with pytest.raises(ValueError, match=r"X must be smaller than .* squares overflow"):
            _check.squarable(space.asarray([0.0, entry]), "X")


def test_a_word_is_one_of_those_that_are_known() -> None:
    assert _check.choice("b", "kind", ("a", "b")) == "b"
    with pytest.raises(ValueError, match=r"kind must be one of \['a', 'b'\]; got 'c'"):
        _check.choice("c", "kind", ("a", "b"))
    with pytest.raises(TypeError, match=r"kind must be one of \['a', 'b'\]; got list"):
        _check.choice(["a"], "kind", ("a", "b"))


@pytest.mark.parametrize("factor", [0.0, 0.9, 1.1, 1.9, 1e10])
def test_a_divisor_is_refused_exactly_where_its_reciprocal_overflows(factor):
    value = factor / sys.float_info.max
    if value and math.isfinite(1.0 / value):
        assert _check.divisor(value, "scale", "its reciprocal") == value
    else:
        with pytest.raises(_check.NoValueError, match=r"^scale must be larger: its reciproc"):
            _check.divisor(value, "scale", "its reciprocal")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: _check.matrix(np.ones(3), "X"), r"X\[:, None\] for one column, X\[None, :\] for"),
        (
            lambda: _check.matrix(np.ones(3), "X", columns=1),
            r"\(n, 1\); got \(3,\): give X\[:, None\]",
        ),
        (
            lambda: _check.matrix(np.ones(3), "X", columns=3),
            r"got \(3,\): give X\[None, :\] for one",
        ),
        (lambda: _check.matrix(np.ones(3), "X", columns=2), r"\(n, 2\); got \(3,\)$"),
        (lambda: _check.vector(np.ones((3, 1)), "y", size=3), r"got \(3, 1\): give y\[:, 0\]$"),
        (
            lambda: _check.vector(np.ones((3, 2)), "y", size=3),
            r"got \(3, 2\): give one column at a time, as y\[:, 0\]$",
        ),
        (lambda: _check.vector(np.ones((3, 0)), "y"), r"got \(3, 0\)$"),
        (lambda: _check.vector(np.ones((2, 2)), "y", size=3), r"got \(2, 2\)$"),
        (
            lambda: _check.vector(np.ones(3), "y", rows=np.ones((2, 3)), of="Xs"),
            r"\(2,\); got \(3,\): Xs has shape \(2, 3\); give Xs.T if its columns are the obs",
        ),
        (lambda: _check.vector(np.ones(4), "y", rows=np.ones((2, 3))), r"\(2,\); got \(4,\)$"),
        (
            lambda: _check.vector(np.asarray([1.0, np.nan]), "y"),
            "row 1: leave those rows out of all",
        ),
    ],
)
def test_what_is_wrong_by_a_little_has_the_line_that_mends_it(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_what_can_be_made_an_array_has_the_call_that_makes_one():
    """Frames within chunks come as they are; a sparse matrix has no algebra here."""
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    rows = np.asarray([[0.0], [1.0]])
    model, chunks = SparseGP(GP(RBF(), 0.1), rows), Chunks([(pandas.DataFrame(rows), np.ones(2))])
    with pytest.raises(ValueError, match=r"chunk 0 .* X .* DataFrame: give X\.to_numpy\(\)$"):
        condition(model, chunks)
    with pytest.raises(TypeError, match=r"X must be an array; got csr_array: give X\.toarray\(\)$"):
        condition(model, sparse.csr_array(rows), np.ones(2))


def test_another_precision_has_the_call_that_mends_it():
    with pytest.raises(TypeError, match=r"float32; got float64: give Xs\.astype\('float32'\)"):
        _check.alike(np.ones(2), "Xs", np.ones(2, np.float32), "X")


def test_a_normal_distribution_has_a_covariance_of_its_mean(space) -> None:
    m, S = space.asarray([1.0, 2.0]), np.asarray([[2.0, 0.5], [0.5, 1.0]])
    near = space.asarray(S + np.asarray([[0.0, 2e-8], [0.0, 0.0]]))  # equal up to rounding
    found = _check.normal(m, near, size=2)
    assert space.holds(found)
    np.testing.assert_array_equal(to_numpy(found), to_numpy(found).T)
    np.testing.assert_allclose(to_numpy(found), S, rtol=1e-6)
    huge = float(space.xp.finfo(space.dtype).max) ** 0.5
    for wrong, said in (
        ((m[:1], near), r"^S must have shape \(1, 1\); got \(2, 2\)"),
        ((m, near[:1, :]), r"^S must have shape \(2, 2\); got \(1, 2\)"),
        ((m, space.asarray([[1.0, 2.0], [2.0, 1.0]])), "^S must be positive semidefinite"),
        ((m, space.asarray([[1.0, 0.5], [0.0, 1.0]])), "^S must be symmetric"),
        ((m * huge, near), "^m must be smaller than .* squares overflow"),
        ((m, near * huge), "^S must be smaller than .* squares overflow"),
        ((m, near, 3), r"^m must have shape \(3,\); got \(2,\)"),
    ):
        with pytest.raises(ValueError, match=said):
            _check.normal(*wrong[:2], size=wrong[2] if len(wrong) > 2 else None)
    with pytest.raises(TypeError, match=r"^R must have the dtype of a, float64; got float32"):
        _check.normal(np.ones(1), np.ones((1, 1), np.float32), names=("a", "R"))


def test_symmetry_is_asked_for_up_to_the_root_of_a_rounding(space) -> None:
    root = float(space.xp.finfo(space.dtype).eps) ** 0.5
    for share in (0.5, 2.0):  # of the sum of all entries, from which two differ by this
        K = space.asarray([[1.0, -0.5 - 1.5 * share * root], [-0.5, 1.0]])
        if share < 1.0:
            assert _check.symmetric(K, "K") is K
        else:
            with pytest.raises(ValueError, match="K must be symmetric"):
                _check.symmetric(K, "K")


def test_what_overflows_is_named_by_the_argument_that_was_too_large(space) -> None:
    good = space.asarray([1.0, 2.0])
    assert _check.no_overflow(good, "X", "their sum") is good
    assert _check.no_overflow(2.5, "X", "their sum") == 2.5
    for value in (space.asarray([1.0, np.inf]), space.asarray([np.nan, 1.0]), np.inf, np.nan):
        with pytest.raises(
            _check.NoValueError, match=r"^X must be smaller in size: their sum over"
        ):
            _check.no_overflow(value, "X", "their sum")


class Pair(NamedTuple):
    a: Any
    b: Any


def test_derivatives_of_several_arrays_are_named_by_their_fields(space) -> None:
    like = Pair(space.asarray([1.0]), space.asarray([1.0, 2.0]))
    bar = Pair(like.a, like.b)
    assert _check.cotangents(bar, "bar", like) is bar
    for wrong in (bar[:1], [*bar], None):
        with pytest.raises(TypeError, match=r"^bar must be a Pair of derivatives, a, b; got \w+"):
            _check.cotangents(wrong, "bar", like)
    with pytest.raises(ValueError, match=r"^bar\.b must have shape \(2,\); got \(1,\)"):
        _check.cotangents(Pair(like.a, like.a), "bar", like)


def test_a_number_that_no_float_holds_is_not_finite_and_a_word_is_no_function() -> None:
    for check in (_check.finite, _check.positive):
        with pytest.raises(ValueError, match=r"width must be .*finite; got 1000"):
            check(10**400, "width")
    with pytest.raises(ValueError, match=r"^rate must be finite; got 1000"):
        _check.number(10**400, "rate")
    assert _check.function(len, "target") is len
    with pytest.raises(TypeError, match=r"^target must be a function; got str"):
        _check.function("x", "target")
    with pytest.raises(TypeError, match=r"^target must be a function of X; got int$"):
        _check.function(3, "target", "X")


def test_a_variance_has_the_shape_of_its_mean(space) -> None:
    with pytest.raises(ValueError, match=r"^variance must have the shape of mean, \(2,\); got \("):
        _check.mean_and_variance(space.asarray([1.0, 2.0]), space.asarray([1.0]))
    with pytest.raises(ValueError, match=r"^mean must be finite; 1 of its entries"):
        _check.mean_and_variance(space.asarray([np.nan]), space.asarray([0.0]))


def test_a_flag_is_no_positive_number() -> None:
    with pytest.raises(TypeError, match="noise_var must be a number or an array; got bool"):
        _check.positive(True, "noise_var")


def test_derivatives_that_are_no_floats_are_refused_as_such() -> None:
    with pytest.raises(TypeError, match=r"^bar must have a real floating dtype, float32 or float"):
        _check.cotangent(np.asarray([1, 2]), "bar", np.ones(2))
    with pytest.raises(TypeError, match=r"^bar must have the dtype of what it is a derivative by"):
        _check.cotangent(np.ones(2, np.float32), "bar", np.ones(2))


@pytest.mark.parametrize(
    ("values", "positive", "with_zero"),
    [
        ([1.0, 5e-324], 0.0, 0.0), ([2.0, 0.0], 1.0, 0.0), ([-1.0, 2.0], 1.0, 1.0),
        ([1.0, np.nan], 1.0, 1.0), ([np.inf, 1.0], 1.0, 1.0), ([-np.inf], 1.0, 1.0),
    ],
)  # fmt: skip
def test_signs_that_are_read_later_are_right_where_none_is_wrong(
    values: Any, positive: float, with_zero: float
) -> None:
    with np.errstate(invalid="ignore"):
        assert float(_check._wrong_signs(np.asarray(values), 0.0)) == positive
        assert float(_check._wrong_signs(np.asarray(values), 1.0)) == with_zero
