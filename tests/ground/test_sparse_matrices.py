"""Sparse matrices: their systems and linear programs, against dense algebra and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import sparse as sp

from gpnotes.ground import sparse_matrices
from gpnotes.ground.check import NoValueError
from gpnotes.ground.sparse_matrices import (
    as_rows,
    from_entries,
    interleaved,
    is_sparse,
    least_cost,
    least_cost_in_box,
    rows_kept,
    solve_contraction,
    strong_components,
)


def test_a_matrix_is_made_of_its_entries_and_read_by_rows():
    made = from_entries([1.0, 2.0, 4.0], [0, 1, 1], [2, 0, 0], (2, 3))
    np.testing.assert_array_equal(made.toarray(), [[0.0, 0.0, 1.0], [6.0, 0.0, 0.0]])
    assert is_sparse(made)
    assert not is_sparse(made.toarray())
    rows = as_rows(sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2)), "P")
    assert (rows.format, rows.nnz, rows.indices.dtype) == ("csr", 1, np.int32)
    np.testing.assert_array_equal(rows.toarray(), [[0.0, 3.0]])


def test_duplicates_are_added_in_a_copy():
    given = sp.csr_array((np.asarray([1.0, 2.0]), [1, 1], [0, 2]), shape=(1, 2))
    assert as_rows(given, "P").nnz == 1
    assert given.nnz == 2
    plain = from_entries([1.0], [0], [1], (1, 2))
    plain.indices, plain.indptr = (a.astype(np.int32) for a in (plain.indices, plain.indptr))
    assert np.shares_memory(as_rows(plain, "P").data, plain.data)


def test_columns_beyond_32_bits_keep_their_numbers():
    wide = from_entries([1.0], [0], [2**31 + 2], (1, 2**31 + 5))
    assert as_rows(wide, "P").indices.tolist() == [2**31 + 2]


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (np.eye(2), TypeError, "P must be a sparse matrix of SciPy; got"),
        (sp.csr_array(np.eye(2, dtype=int)), TypeError, "P must have a real floating dtype"),
        (sp.coo_array(np.ones(3)), ValueError, r"P must have two axes; got shape \(3,\)"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(wrong, error, said):
    with pytest.raises(error, match=said):
        as_rows(wrong, "P")


def test_rows_of_several_matrices_take_turns(rng):
    matrices = [rng.normal(size=(3, 2)) for _ in range(4)]
    found = interleaved([sp.csr_array(one) for one in matrices]).toarray()
    np.testing.assert_array_equal(found, np.stack(matrices, axis=1).reshape(12, 2))


@pytest.fixture
def mixing(rng):
    """A chain of 200 states that mixes fast, and its rows are not whole."""
    return sp.csr_array(0.95 * rng.dirichlet(np.full(200, 0.05), 200))


@pytest.mark.parametrize("way", ["by steps", "by factors"])
def test_a_contraction_is_solved_both_ways(mixing, monkeypatch, rng, way):
    """Where steps do not get on, as when none may be taken, factors do."""
    if way == "by steps":
        monkeypatch.setattr(sparse_matrices, "_by_factors", None)
    else:
        monkeypatch.setattr(sparse_matrices, "_by_steps", lambda P, b, x: (x, False))
    B = np.stack([rng.normal(size=200), -rng.uniform(size=200)], axis=1)
    wanted = np.linalg.solve(np.eye(200) - mixing.toarray(), B)
    np.testing.assert_allclose(solve_contraction(mixing, B), wanted, rtol=0, atol=1e-11)
    start = wanted[:, 0].copy()
    found = solve_contraction(mixing, B[:, 0], start)
    np.testing.assert_allclose(found, wanted[:, 0], rtol=0, atol=1e-11)
    assert found is not start


def test_steps_that_end_in_no_number_are_left_to_factors(mixing, monkeypatch, rng):
    monkeypatch.setattr(scipy.sparse.linalg, "bicgstab", lambda A, b, **_: (np.nan * b, 0))
    b = rng.normal(size=200)
    wanted = np.linalg.solve(np.eye(200) - mixing.toarray(), b)
    np.testing.assert_allclose(solve_contraction(mixing, b), wanted, rtol=0, atol=1e-11)


def test_rough_factors_are_refined(mixing, monkeypatch, rng):
    """Of a solution that is off by 1e-4 three rounds leave 1e-16."""
    exact = scipy.sparse.linalg.splu

    class Rough:
        def __init__(self, system):
            self.factors = exact(system)

        def solve(self, b):
            return 1.0001 * self.factors.solve(b)

    monkeypatch.setattr(sparse_matrices, "_by_steps", lambda P, b, x: (x, False))
    monkeypatch.setattr(scipy.sparse.linalg, "splu", Rough)
    b = rng.normal(size=200)
    wanted = np.linalg.solve(np.eye(200) - mixing.toarray(), b)
    np.testing.assert_allclose(solve_contraction(mixing, b), wanted, rtol=0, atol=1e-11)


def test_a_long_chain_adds_up_what_lies_ahead(rng):
    """``x_i = b_i + x_{i+1}``: more steps than the Krylov method has, and its factor is itself."""
    n = 2000
    ahead = from_entries(np.ones(n - 1), np.arange(n - 1), np.arange(1, n), (n, n))
    b = rng.uniform(size=n)
    np.testing.assert_allclose(solve_contraction(ahead, b), np.cumsum(b[::-1])[::-1], rtol=1e-12)


def test_a_chain_that_never_ends_has_no_solution():
    with pytest.raises(NoValueError, match="the system of equations has no unique solution"):
        solve_contraction(sp.csr_array(np.eye(3)), np.ones(3))


def test_strong_components_are_the_cycles_of_a_graph():
    """0 to 2 are a cycle, and 3 and 4; 5 is alone, though edges lead there."""
    start, end = np.asarray([0, 1, 2, 2, 3, 4, 4]), np.asarray([1, 2, 0, 3, 4, 3, 5])
    found = strong_components(start, end, 6)
    same = found[:, None] == found
    groups = np.asarray([0, 0, 0, 1, 1, 2])
    np.testing.assert_array_equal(same, groups[:, None] == groups)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_linear_program_ends_in_a_corner_with_the_prices_of_its_dual(kind):
    """``min x + 2y`` where ``x + y ≥ 3``, ``x ≤ 2``, ``y ≥ −1``: at (2, 1), which costs 4."""
    A, b = kind(np.asarray([[1.0, 1.0], [-1.0, 0.0], [0.0, 1.0]])), np.asarray([3.0, -2.0, -1.0])
    found = least_cost(np.asarray([1.0, 2.0]), A, b)
    np.testing.assert_allclose(found.x, [2.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(found.prices, [2.0, 1.0, 0.0], atol=1e-9)
    assert b @ found.prices == pytest.approx(4.0)
    with pytest.raises(NoValueError, match="the linear program has no solution"):
        least_cost(np.asarray([1.0, -2.0]), A, b)


def test_a_program_with_whole_numbers_is_the_best_of_all_of_them(rng):
    ends = np.asarray([[-2.0, 3.0], [0.0, 4.0], [-1.0, 1.0]])
    A, b = rng.normal(size=(2, 3)), np.asarray([1.0, 2.0])
    cost = rng.normal(size=3)
    corners = [range(int(low), int(high) + 1) for low, high in ends]
    inside = [x for x in itertools.product(*corners) if np.all(A @ x <= b)]
    found = least_cost_in_box(cost, (A, b), ends, np.asarray([True] * 3))
    assert cost @ found == pytest.approx(min(cost @ np.asarray(x) for x in inside))
    np.testing.assert_allclose(found, np.round(found), atol=1e-9)
    free = least_cost_in_box(cost, (A, b), ends, np.asarray([False] * 3))
    assert cost @ free < cost @ found
    assert np.all(A @ free <= b + 1e-9)
    assert np.all((ends[:, 0] - 1e-9 <= free) & (free <= ends[:, 1] + 1e-9))
    nowhere = np.ones((1, 3)), np.asarray([-9.0])
    assert least_cost_in_box(cost, nowhere, ends, np.asarray([True] * 3)) is None


def test_rows_that_are_not_kept_lose_their_entries(rng):
    dense = rng.normal(size=(5, 4)) * (rng.random((5, 4)) < 0.6)
    a, kept = sp.csr_array(dense), np.asarray([True, False, True, True, False])
    left = rows_kept(a, kept)
    np.testing.assert_array_equal(left.toarray(), np.where(kept[:, None], dense, 0.0))
    assert left.nnz == np.count_nonzero(dense[kept])
    assert left.indptr.dtype == a.indptr.dtype
    np.testing.assert_array_equal(a.toarray(), dense)
