"""The factorisation and its jitter policy, extension by blocks, squared distances."""

import warnings

import numpy as np
import pytest

from gpnotes import RBF
from gpnotes.ground import linalg
from gpnotes.ground.linalg import FactorisationError, JitterWarning, RoundingWarning, cholesky
from gpnotes.ground.xp import epsilon, eye, to_numpy


@pytest.fixture
def K(space, rng):
    a = rng.normal(size=(12, 12))
    return space.asarray(a @ a.T + np.eye(12))


def close(space, a, b, *, scale=1.0):
    assert space.holds(a)
    tolerance = (1e-11 if space.double else 1e-3) * scale
    np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=tolerance, atol=tolerance)


def test_the_factor_is_lower_triangular_and_multiplies_to_the_matrix(space, K):
    factor = cholesky(K)
    close(space, factor.lower @ space.xp.matrix_transpose(factor.lower), K)
    np.testing.assert_array_equal(np.triu(to_numpy(factor.lower), 1), 0.0)
    assert factor.jitter == 0.0
    assert factor.size == 12


def test_only_the_lower_triangle_is_read(space, K):
    upper = space.asarray(np.triu(np.full((12, 12), 3.0), 1))
    close(space, cholesky(K + upper).lower, cholesky(K).lower)


def test_solves_determinant_and_inverse(space, K, rng):
    factor, host = cholesky(K), to_numpy(K).astype(np.float64)
    for shape in ((12,), (12, 5)):
        b = space.asarray(rng.normal(size=shape))
        close(space, K @ factor.solve(b), b)
        close(space, factor.lower @ factor.half_solve(b), b)
        close(space, space.xp.matrix_transpose(factor.lower) @ factor.half_solve_t(b), b)
    close(space, factor.inverse() @ K, eye(12, K), scale=10.0)
    assert type(factor.log_det) is float
    assert factor.log_det == pytest.approx(np.linalg.slogdet(host)[1], rel=1e-5)


def test_extension_is_the_factor_of_the_whole(space, K):
    part = cholesky(K[:9, :9])
    close(space, part.extend(K[:9, 9:], K[9:, 9:]).lower, cholesky(K).lower)


def test_extension_by_a_repeated_point_needs_jitter_and_says_so(space):
    K = RBF()(space.asarray([[0.0], [0.0]]))
    with pytest.warns(JitterWarning, match="added"):
        twice = cholesky(K[:1, :1]).extend(K[:1, 1:], K[1:, 1:])
    assert 0.0 < twice.jitter <= 1e2 * epsilon(K)


def test_extension_treats_the_new_block_like_the_old(space):
    """The whole is K + jitter I, not K with jitter in one corner."""
    K = RBF()(space.asarray([[0.0], [0.5], [3.0]]))
    part = cholesky(K[:2, :2], jitter=0.25)
    close(space, part.extend(K[:2, 2:], K[2:, 2:]).lower, cholesky(K, jitter=0.25).lower)
    assert part.extend(K[:2, 2:], K[2:, 2:]).jitter == 0.25


def test_jitter_is_what_the_precision_needs(space):
    """200 points of an RBF: within 1e-5 in float32 and 1e-12 in float64, not one for both."""
    x = space.asarray(np.linspace(0.0, 10.0, 200)[:, None])
    with pytest.warns(JitterWarning, match="smooth of .* added") as caught:
        factor = cholesky(RBF(lengthscale=2.0)(x), name="smooth of x")
    assert len(caught) == 1
    assert 0.0 < factor.jitter <= (1e-12 if space.double else 3e-5)
    assert type(factor.jitter) is float


def test_jitter_follows_the_size_of_the_diagonal(space):
    x = space.asarray(np.linspace(0.0, 10.0, 50)[:, None])
    with pytest.warns(JitterWarning):
        small, large = (cholesky(RBF(s, 3.0)(x)).jitter for s in (1.0, 1024.0))
    assert large == pytest.approx(1024.0 * small, rel=1e-6, abs=0.0)


def test_a_number_is_added_exactly_and_without_a_warning(space, K):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        factor = cholesky(K, jitter=0.5)
    close(space, factor.lower, cholesky(K + 0.5 * eye(12, K)).lower)
    assert factor.jitter == 0.5


@pytest.mark.parametrize("jitter", ["auto", 0.0, 0.5])
def test_the_error_names_matrix_pivot_and_remedy(space, jitter):
    K = space.asarray([[4.0, 2.0, 0.0], [2.0, 1.0 - 3.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(FactorisationError, match=r"RBF\(\) of X .*pivot 2 is -3.*Add noise"):
        cholesky(K, name="RBF() of X", jitter=jitter)


def test_the_error_for_a_bad_first_pivot(space):
    with pytest.raises(FactorisationError, match="pivot 1 is -1"):
        cholesky(space.asarray([[-1.0, 0.0], [0.0, 1.0]]))


def test_what_is_not_square_or_not_finite_is_refused(space):
    with pytest.raises(ValueError, match=r"K must have shape \(n, n\); got \(2, 1\)"):
        cholesky(space.asarray([[1.0], [1.0]]))
    with pytest.raises(ValueError, match="K must be finite"):
        cholesky(space.asarray([[float("nan")]]))


def test_a_block_that_is_not_symmetric_is_refused(space):
    """A half of it alone would be read."""
    factor = cholesky(space.asarray(np.eye(2)))
    block = space.asarray([[2.0, 0.5], [0.0, 2.0]])
    with pytest.raises(ValueError, match="block must be symmetric"):
        factor.extend(space.asarray(np.zeros((2, 2))), block)


def test_what_is_added_is_a_number_that_is_not_negative(space):
    K = space.asarray(np.eye(2))
    with pytest.raises(ValueError, match="jitter must be non-negative"):
        cholesky(K, jitter=-0.5)
    with pytest.raises(TypeError, match="K must be an array; got list"):
        cholesky([[1.0]])


def test_a_right_hand_side_is_of_the_kind_of_the_factor():
    factor = cholesky(np.eye(2, dtype=np.float32))
    for solve in (factor.solve, factor.half_solve, factor.half_solve_t):
        with pytest.raises(TypeError, match="b must have the dtype of the factor, float32; got"):
            solve(np.ones(2))


@pytest.mark.parametrize(
    ("b", "message"),
    [
        ([1.0, 2.0, 3.0], r"b must have shape \(2,\); got \(3,\)"),
        ([[1.0, 2.0]], r"b must have shape \(2, d\); got \(1, 2\)"),
        ([np.nan, 1.0], "b must be finite; 1 of its entries"),
        (np.ones((2, 1, 1)), r"b must have shape \(2, d\)"),
        (1.0, r"b must have shape \(2, d\); got \(\)"),
    ],
)
def test_a_right_hand_side_has_the_rows_of_the_factor(space, b, message):
    factor = cholesky(space.asarray(np.eye(2)))
    for solve in (factor.solve, factor.half_solve, factor.half_solve_t):
        with pytest.raises(ValueError, match=message):
            solve(space.asarray(b))
        with pytest.raises(TypeError, match="b must be an array; got list"):
            solve([1.0, 2.0])


@pytest.mark.parametrize(
    ("cross", "block", "message"),
    [
        (np.zeros((2, 2)), np.eye(1), r"block must have shape \(2, 2\); got \(1, 1\)"),
        (np.zeros((2, 1)), np.eye(2), r"block must have shape \(1, 1\); got \(2, 2\)"),
        (np.zeros(2), np.eye(1), r"cross must have shape \(2, d\); got \(2,\)"),
        (np.zeros((3, 1)), np.eye(1), r"cross must have shape \(2, d\); got \(3, 1\)"),
        (np.full((2, 1), np.nan), np.eye(1), "cross must be finite"),
        (np.zeros((2, 1)), np.full((1, 1), np.inf), "block must be finite"),
    ],
)
def test_what_extends_a_factor_fits_it(space, cross, block, message):
    factor = cholesky(space.asarray(np.eye(2)))
    with pytest.raises(ValueError, match=message):
        factor.extend(space.asarray(cross), space.asarray(block))
    with pytest.raises(TypeError, match="block must be an array; got float"):
        factor.extend(space.asarray(np.zeros((2, 1))), 1.0)


def test_a_factor_extended_by_nothing_is_itself(space, K):
    factor = cholesky(K)
    same = factor.extend(K[:, :0], K[:0, :0])
    np.testing.assert_array_equal(to_numpy(same.lower), to_numpy(factor.lower))


@pytest.mark.parametrize("jitter", ["0.1", None, True, [0.1], np.ones(2)])
def test_jitter_is_one_number(jitter):
    with pytest.raises(TypeError, match="jitter must be a number"):
        cholesky(np.eye(2), jitter=jitter)


@pytest.mark.parametrize(
    ("n", "eps"), [(10, 2.0**-52), (200, 2.0**-52), (5, 2.0**-23), (9000, 2.0**-23)]
)
def test_jitter_grows_from_rounding_to_its_cap_and_not_beyond(n, eps):
    """Ten times more each try, the last one within a factor of ten of the cap."""
    tried, cap = linalg._jitters(n, eps, 3.0), 3.0 * max(eps**0.5, 10.0 * n * eps)
    assert tried[0] == 3.0 * n * eps
    np.testing.assert_allclose(np.diff(np.log10(tried)), 1.0)
    assert 0.1 * cap < tried[-1] * (1.0 + 1e-8)
    assert tried[-1] <= cap * (1.0 + 1e-8)
    assert len(tried) >= 2


@pytest.mark.parametrize(("wide", "told"), [(1e7, False), (1e9, True), (1e15, True), (1e17, True)])
def test_a_prior_is_too_wide_beyond_half_the_digits_of_y(wide, told):
    """In float64 half the digits are a factor of 6.7e7 between the variances and the squares."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        linalg.warn_of_loss(np.asarray(1e13), 2.0**-52, (wide, 1.0))
    assert [one.category for one in seen] == [RoundingWarning] * told
