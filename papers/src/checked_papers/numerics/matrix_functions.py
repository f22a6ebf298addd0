"""The exponential and the logarithm of a square matrix, which are not those of its entries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from checked_equations.errors import OperationError
from checked_equations.evaluate.operations import FUNCTIONS

_TERMS = 18  # of the series, for a matrix whose norm is at most one half


def exponential(a: Any) -> Any:
    """``e^a`` of a number, of the entries of a column, or of a square matrix as a whole.

    >>> turn = exponential(np.array([[0.0, -math.pi], [math.pi, 0.0]]))
    >>> bool(np.allclose(turn, -np.eye(2)))
    True
    """
    if not _is_square(a):
        return FUNCTIONS["exp"](a)
    size = max(float(np.linalg.norm(a)), 0.5)
    halvings = max(0, math.ceil(math.log2(size)) + 1)
    small, total = a / 2.0**halvings, np.eye(len(a))
    term = total
    for k in range(1, _TERMS):
        term = term @ small / k
        total = total + term
    return np.linalg.matrix_power(total, 2**halvings)


def logarithm(a: Any) -> Any:
    """``\\log a`` of a number, of the entries of a column, or of a square matrix as a whole.

    Raises `OperationError` for a matrix with an eigenvalue that is negative or zero.

    >>> bool(np.allclose(logarithm(exponential(np.diag([1.0, -2.0]))), np.diag([1.0, -2.0])))
    True
    """
    if not _is_square(a):
        return FUNCTIONS["log"](a)
    values, vectors = np.linalg.eig(a)
    if np.any((np.imag(values) == 0) & (np.real(values) <= 0)):
        raise OperationError("the logarithm of a matrix with an eigenvalue below zero is not real")
    # V diag(log λ) V⁻¹, by its transpose
    return np.real(np.linalg.solve(vectors.T, (vectors * np.log(values)).T).T)


def _is_square(a: Any) -> bool:
    return np.ndim(a) == 2 and a.shape[0] == a.shape[1]
