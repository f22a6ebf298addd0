"""The exponential of a square matrix, which is not that of its entries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_TERMS = 18  # of the series, for a matrix whose norm is at most one half


def exponential(a: Any) -> Any:
    """``e^a`` of a number, of the entries of a column, or of a square matrix as a whole.

    >>> turn = exponential(np.array([[0.0, -math.pi], [math.pi, 0.0]]))
    >>> bool(np.allclose(turn, -np.eye(2)))
    True
    """
    if np.ndim(a) < 2 or a.shape[0] != a.shape[1]:
        return np.exp(a)
    size = max(float(np.linalg.norm(a)), 0.5)
    halvings = max(0, math.ceil(math.log2(size)) + 1)
    small, total = a / 2.0**halvings, np.eye(len(a))
    term = total
    for k in range(1, _TERMS):
        term = term @ small / k
        total = total + term
    return np.linalg.matrix_power(total, 2**halvings)
