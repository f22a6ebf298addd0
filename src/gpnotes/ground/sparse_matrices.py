"""Sparse matrices of SciPy: their kinds, their systems of equations, their linear programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from .check import NoValueError, kind_of
from .xp import HostMatrix, HostVector, Matrix, Vector

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Program",
    "SparseMatrix",
    "as_rows",
    "from_entries",
    "interleaved",
    "is_sparse",
    "least_cost",
    "least_cost_in_box",
    "rows_kept",
    "solve_contraction",
    "strong_components",
]

SparseMatrix: TypeAlias = "csr_array"  # SciPy is imported where one is made

_ATTEMPTS = 4  # of the Krylov method, each on what the one before has left
_KRYLOV = 150  # its steps in each; whoever needs more is factored sooner
_ROUNDS = 3  # of refinement after a factorisation


def is_sparse(a: object) -> TypeGuard[SparseMatrix]:
    """Tell if an object is a sparse matrix or array of SciPy, without importing it."""
    return type(a).__module__.startswith("scipy.sparse")


def as_rows(a: object, name: str) -> SparseMatrix:
    """Return a sparse matrix row by row, a `csr_array` without duplicates.

    Parameters
    ----------
    a : sparse matrix of SciPy
        The matrix. If it has that format already, its numbers are not copied, and neither are its
        indices if they are of 32 bits.
    name : str
        Its name in errors.

    Returns
    -------
    csr_array
        The matrix.
    """
    from scipy.sparse import csr_array

    if not is_sparse(a):
        raise TypeError(f"{name} must be a sparse matrix of SciPy; got {kind_of(a)}")
    if a.dtype not in (np.float32, np.float64):
        wanted = "a real floating dtype, float32 or float64"
        raise TypeError(f"{name} must have {wanted}; got {a.dtype}")
    if a.ndim != 2:
        raise ValueError(f"{name} must have two axes; got shape {a.shape}")
    rows = csr_array(a)
    if rows.indices.dtype != np.int32 and max(*rows.shape, rows.nnz) < 2**31:  # half as many bytes
        narrow = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = csr_array((rows.data, *narrow), shape=rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def from_entries(
    values: Sequence[float] | HostVector,
    rows: Sequence[int] | HostVector,
    columns: Sequence[int] | HostVector,
    shape: tuple[int, int],
) -> SparseMatrix:
    """Return the `csr_array` with given entries; those for one place are added up.

    Parameters
    ----------
    values, rows, columns : sequence
        The entries and their places.
    shape : tuple of int
        The numbers of rows and of columns.

    Returns
    -------
    csr_array
        The matrix.
    """
    from scipy.sparse import csr_array

    return csr_array((np.asarray(values, dtype=np.float64), (rows, columns)), shape=shape)


def interleaved(matrices: Sequence[SparseMatrix]) -> SparseMatrix:
    """Return rows 0 of all matrices, then rows 1 of all, and so on, as one `csr_array`.

    Parameters
    ----------
    matrices : sequence of sparse matrices
        A of them, each of shape (m, n).

    Returns
    -------
    csr_array, shape (m·A, n)
        The rows.
    """
    from scipy.sparse import vstack

    m, count = matrices[0].shape[0], len(matrices)
    order = np.arange(m * count).reshape(count, m).T.ravel()
    return vstack(matrices, format="csr")[order]


def rows_kept(a: SparseMatrix, kept: HostVector) -> SparseMatrix:
    """Return a matrix without the entries of the rows that are not kept.

    Parameters
    ----------
    a : csr_array, shape (m, n)
        The matrix.
    kept : HostVector, shape (m,)
        True for the rows whose entries stay.

    Returns
    -------
    csr_array, shape (m, n)
        The matrix, a new one.
    """
    lengths = np.diff(a.indptr)
    entries = np.repeat(kept, lengths)
    ends = np.cumsum(np.append(0, np.where(kept, lengths, 0)), dtype=a.indptr.dtype)
    return type(a)((a.data[entries], a.indices[entries], ends), shape=a.shape)


def solve_contraction(
    P: SparseMatrix, b: HostMatrix, start: HostMatrix | None = None
) -> HostMatrix:
    """Solve ``(I − P) X = B`` for sparse P, not negative, whose rows sum to one at most.

    Parameters
    ----------
    P : csr_array, shape (n, n)
        The matrix.
    b : HostMatrix, shape (n,) or (n, k)
        The right-hand sides.
    start : HostMatrix, optional
        Where to start, zero otherwise.

    Raises
    ------
    ValueError
        If the system is singular.

    Notes
    -----
    First by stabilised biconjugate gradients (van der Vorst 1992), which take few steps where the
    chain mixes fast, and there a factorisation would fill up; where they do not get on, by a sparse
    factorisation with refinement, which is cheap on chains and grids, where mixing is slow.
    """
    if b.ndim == 2:
        return np.stack([solve_contraction(P, column) for column in b.T], axis=1)
    x = np.zeros_like(b) if start is None else start.copy()
    x, found = _by_steps(P, b, x)
    return x if found else _by_factors(P, b)


def _residual(P: SparseMatrix, b: HostVector, x: HostVector) -> tuple[HostVector, bool]:
    """Return the residual of the system, and True if that is rounding."""
    left = b - x + P @ x
    most = 8.0 * np.finfo(np.float64).eps * (np.max(np.abs(b)) + np.max(np.abs(x)))
    return left, bool(np.max(np.abs(left)) <= most)


def _by_steps(P: SparseMatrix, b: HostVector, x: HostVector) -> tuple[HostVector, bool]:
    from scipy.sparse.linalg import LinearOperator, bicgstab

    system = LinearOperator(P.shape, matvec=lambda v: v - P @ v, dtype=np.float64)
    left, found = _residual(P, b, x)
    for _ in range(_ATTEMPTS):
        if found:
            break
        before = np.max(np.abs(left))
        step, _ = bicgstab(system, left, rtol=1e-13, maxiter=_KRYLOV)
        if not np.all(np.isfinite(step)):
            return x, False
        remains, found = _residual(P, b, x + step)
        if not np.max(np.abs(remains)) < 0.1 * before:
            return x, found
        x, left = x + step, remains
    return x, found


def _by_factors(P: SparseMatrix, b: HostVector) -> HostVector:
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    try:
        factors = splu((eye_array(P.shape[0], format="csc") - P).tocsc())
    except RuntimeError as error:  # SuperLU says that a factor is exactly singular
        raise NoValueError(f"the system of equations has no unique solution: {error}") from error
    x = factors.solve(b)
    for _ in range(_ROUNDS):
        left, found = _residual(P, b, x)
        if found:
            break
        x = x + factors.solve(left)
    return x


def strong_components(start: HostVector, end: HostVector, size: int) -> HostVector:
    """Return the number of the strong component of each node of a graph.

    Parameters
    ----------
    start, end : HostVector, shape (m,)
        The nodes that each edge joins.
    size : int
        The number of nodes.

    Returns
    -------
    HostVector, shape (size,)
        The numbers.
    """
    from scipy.sparse.csgraph import connected_components

    graph = from_entries(np.ones(len(start)), start, end, (size, size))
    return connected_components(graph, directed=True, connection="strong")[1]


class Program(NamedTuple):
    """The solution of a linear program: where, the prices of the constraints, the steps."""

    x: HostVector
    prices: HostVector
    steps: int


def least_cost(cost: Vector, A: Matrix, b: Vector) -> Program:
    """Minimise ``costᵀ x`` among all x with ``A x ≥ b``, by SciPy's HiGHS.

    Parameters
    ----------
    cost : HostVector, shape (n,)
        The cost.
    A : csr_array or HostMatrix, shape (m, n)
        The constraints.
    b : HostVector, shape (m,)
        The right-hand sides.

    Returns
    -------
    Program
        The minimum, the prices (m,) of the constraints, and the steps that it took.
    """
    from scipy.optimize import linprog

    found = linprog(cost, A_ub=-A, b_ub=-np.asarray(b), bounds=(None, None), method="highs")
    if not found.success:
        raise NoValueError(f"the linear program has no solution: {found.message}")
    return Program(found.x, -found.ineqlin.marginals, int(found.nit))


def least_cost_in_box(
    cost: HostVector,
    rows: tuple[HostMatrix, HostVector],
    ends: HostMatrix,
    whole: HostVector,
) -> HostVector | None:
    """Minimise ``costᵀ x`` in a box, where ``A x ≤ b`` and some are whole, by SciPy's HiGHS.

    Parameters
    ----------
    cost : HostVector, shape (n,)
        The cost of a unit of each variable.
    rows : tuple of HostMatrix, shape (k, n), and HostVector, shape (k,)
        A and b of ``A x ≤ b``.
    ends : HostMatrix, shape (n, 2)
        The lower and upper ends of the variables.
    whole : HostVector, shape (n,)
        True for those that are whole numbers.

    Returns
    -------
    HostVector, shape (n,), or None
        The variables where it costs least; None where nothing meets the constraints.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    inside = LinearConstraint(rows[0], -np.inf, rows[1])
    kinds = whole.astype(int)
    found = milp(cost, integrality=kinds, bounds=Bounds(*ends.T), constraints=inside)
    return found.x if found.success else None
