"""BLAS on parts of a matrix, where they stand, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.ground import blas_in_place

KINDS = [np.float64, np.float32]


@pytest.fixture(params=KINDS, ids=["double", "single"])
def K(request, rng):
    """A matrix in Fortran order, whose parts have columns that do not touch."""
    made = rng.normal(size=(20, 20)) + 8.0 * np.eye(20)
    return np.asfortranarray(made.astype(request.param))


ROWS, COLUMNS, INNER = slice(2, 9), slice(10, 15), slice(15, 19)


def close(found, wanted):
    """Whether a part is as wanted, up to rounding."""
    tolerance = 1e-12 if found.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found, wanted, atol=tolerance)


def changed(before, after):
    """Where two matrices differ."""
    return {tuple(int(k) for k in place) for place in np.argwhere(before != after)}


def within(*cuts):
    """The places of a part."""
    rows, columns = (range(cut.start, cut.stop) for cut in cuts)
    return {(i, j) for i in rows for j in columns}


@pytest.mark.parametrize("keep", [True, False])
def test_a_product_is_added_to_a_part_and_to_nothing_else(K, keep):
    before = K.copy()
    wanted = keep * K[ROWS, COLUMNS] - 2.0 * K[ROWS, INNER] @ K[COLUMNS, INNER].T
    blas_in_place.add_product(K[ROWS, COLUMNS], -2.0, K[ROWS, INNER], K[COLUMNS, INNER], keep=keep)
    close(K[ROWS, COLUMNS], wanted)
    assert changed(before, K) == within(ROWS, COLUMNS)


def test_a_product_with_a_turned_part_is_added(K):
    wanted = K[ROWS, COLUMNS] - 2.0 * K[INNER, ROWS].T @ K[INNER, COLUMNS]
    blas_in_place.add_turned_product(K[ROWS, COLUMNS], -2.0, K[INNER, ROWS], K[INNER, COLUMNS])
    close(K[ROWS, COLUMNS], wanted)


def test_a_product_of_a_part_with_itself_is_made_below_the_diagonal_alone(K):
    before, A = K.copy(), K[ROWS, INNER]
    wanted = K[ROWS, ROWS] + 0.5 * A @ A.T
    blas_in_place.add_product(K[ROWS, ROWS], 0.5, A, A)
    close(np.tril(K[ROWS, ROWS]), np.tril(wanted))
    assert changed(before, K) == {(i, j) for i, j in within(ROWS, ROWS) if i >= j}


def test_what_stood_in_a_place_that_is_not_kept_may_be_nan(K):
    K[ROWS, COLUMNS] = np.nan
    wanted = K[ROWS, INNER] @ K[COLUMNS, INNER].T
    blas_in_place.add_product(K[ROWS, COLUMNS], 1.0, K[ROWS, INNER], K[COLUMNS, INNER], keep=False)
    close(K[ROWS, COLUMNS], wanted)


def test_a_part_is_divided_by_a_triangle_and_solved_by_it(K):
    L, B = np.tril(K[ROWS, ROWS]), K[COLUMNS, ROWS].copy()
    blas_in_place.divide(K[COLUMNS, ROWS], K[ROWS, ROWS])
    close(K[COLUMNS, ROWS] @ L.T, B)
    for transposed in (False, True):
        B = K[ROWS, COLUMNS].copy()
        blas_in_place.solve(K[ROWS, ROWS], K[ROWS, COLUMNS], transposed=transposed)
        close((L.T if transposed else L) @ K[ROWS, COLUMNS], B)


def test_a_part_is_multiplied_by_an_upper_triangle(K):
    U = np.triu(K[ROWS, ROWS])
    wanted, other = U @ K[ROWS, COLUMNS], -2.0 * K[COLUMNS, ROWS] @ U
    blas_in_place.multiply(K[ROWS, ROWS], K[ROWS, COLUMNS])
    blas_in_place.multiply_by(K[COLUMNS, ROWS], -2.0, K[ROWS, ROWS])
    close(K[ROWS, COLUMNS], wanted)
    close(K[COLUMNS, ROWS], other)


def test_a_part_is_factored_or_it_is_said_that_it_has_no_factor(K):
    K[ROWS, ROWS] = K[ROWS, ROWS] @ K[ROWS, ROWS].T
    wanted = np.linalg.cholesky(K[ROWS, ROWS].astype(float))
    assert blas_in_place.factor(K[ROWS, ROWS])
    close(np.tril(K[ROWS, ROWS]), wanted)
    K[COLUMNS, COLUMNS] = -np.eye(5)
    assert not blas_in_place.factor(K[COLUMNS, COLUMNS])


def test_a_part_of_one_row_or_of_one_column_is_one(K):
    row, column = slice(3, 4), slice(12, 13)
    wanted = K[row, column] + K[row, INNER] @ K[column, INNER].T
    blas_in_place.add_product(K[row, column], 1.0, K[row, INNER], K[column, INNER])
    close(K[row, column], wanted)


def test_parts_of_other_kinds_or_in_another_order_are_refused(K):
    other = K.astype(np.float32 if K.dtype == np.float64 else np.float64)
    with pytest.raises(TypeError, match="one dtype"):
        blas_in_place.divide(K[COLUMNS, ROWS], other[ROWS, ROWS])
    with pytest.raises(TypeError, match="float32 or float64"):
        blas_in_place.factor(np.asfortranarray(K.astype(complex)))
    with pytest.raises(ValueError, match="contiguous"):
        blas_in_place.factor(np.ascontiguousarray(K))
    with pytest.raises(ValueError, match="contiguous"):
        blas_in_place.factor(np.ascontiguousarray(K[:2, :2]))


def test_scipy_hands_out_routines_that_count_as_these_calls_do():
    assert blas_in_place.are_at_hand()
