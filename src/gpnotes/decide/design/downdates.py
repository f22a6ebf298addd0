"""Variances of f as measurements come in: a partial Cholesky factor that only ever grows.

With ``w_t(x) = c_t(x, x_t) / √(c_t(x_t, x_t) + σ²(x_t))`` for the measurement of ``x_t``, the
covariance of f after it is ``c_{t+1}(a, b) = c_t(a, b) − w_t(a) w_t(b)``. A candidate keeps its own
``w`` and is brought up to date when somebody asks: a step costs it O(t), and no n × n matrix is
made, [eq-al-downdate].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np

from ...ground import memory
from ...ground.xp import (
    Array,
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    device,
    diagonal,
    epsilon,
    set_at,
    set_rows,
    solve_triangular,
)
from ...infer.exact import GP, ExactPosterior
from ...model.kernels import Kernel

__all__ = [
    "Covariance",
    "Downdates",
    "KernelCovariance",
    "MatrixCovariance",
    "start_downdates",
    "take_rows",
]

_SMALL = 2**21  # multiplications that cost no more than a call
Rows: TypeAlias = HostVector | None  # numbers of candidates on the host; None for all of them


class Covariance(Protocol):
    """The covariance of n variables before the first measurement, by its entries."""

    diag: Vector

    def block(self, rows: Rows, columns: list[int]) -> Matrix:
        """Return its entries in `rows` (None: all) and `columns`."""


def take_rows(a: Array, rows: Rows | Sequence[int]) -> Array:
    """The rows of `a` with these numbers, in their order; all of them for None."""
    if rows is None:
        return a
    xp = array_namespace(a)
    index = xp.asarray(np.asarray(rows, dtype=np.int64), device=device(a))
    return xp.take(a, index, axis=0)


class KernelCovariance:
    """The covariance of f at X (n, d) by a kernel.

    Its diagonal is that of ``kernel(X)``: white noise in the kernel belongs to a candidate.
    """

    def __init__(self, kernel: Kernel, X: Matrix) -> None:
        self.kernel = kernel
        self.X = X
        self.diag = kernel._diag(X)

    def block(self, rows: Rows, columns: list[int]) -> Matrix:
        """Kernel values, with the diagonal where a candidate meets itself."""
        K = self.kernel._gram(take_rows(self.X, rows), take_rows(self.X, columns))
        for k, column in enumerate(columns):
            if rows is None:
                K = set_at(K, (column, k), self.diag[column])
                continue
            for i in np.flatnonzero(rows == column):  # where measurements may be repeated
                K = set_at(K, (int(i), k), self.diag[column])
        return K


class MatrixCovariance:
    """A covariance given as a matrix (n, n)."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.diag = diagonal(matrix)

    def block(self, rows: Rows, columns: list[int]) -> Matrix:
        """Entries of the matrix, which is symmetric."""
        xp = array_namespace(self.matrix)
        return take_rows(xp.matrix_transpose(take_rows(self.matrix, columns)), rows)


class Downdates:
    """The partial factor: rows `W` (n, t) of all candidates, some of them not up to date.

    `noise` (n,) is the variance of a measurement of each, `capacity` the most measurements that
    will come. `size` is the number of columns of W now, those of `known` included: the data of a
    posterior, ``L⁻¹ K(X_observed, X)``, as columns (n, m).
    """

    def __init__(
        self, prior: Covariance, noise: Vector, capacity: int, known: Matrix | None = None
    ) -> None:
        xp = array_namespace(noise)
        n = noise.shape[0]
        kind = {"dtype": noise.dtype, "device": device(noise)}
        if known is None:
            known = xp.zeros((n, 0), **kind)
        self.prior = prior
        self.noise = noise
        self.first = known.shape[1]  # the column of the first measurement
        width = self.first + capacity
        limits = {"what": "the factor of the design", "remedy": "Use a smaller budget or float32."}
        memory.require(n, width, copies=2, like=noise, **limits)
        self.W = xp.zeros((n, width), **kind)
        self.lower = xp.zeros((width, width), **kind)
        self.W = set_at(self.W, (slice(None), slice(self.first)), known)
        self.chosen: list[int] = []
        self.levels = np.full(n, self.first)  # how many columns of W each candidate has

    @property
    def size(self) -> int:
        """The number of columns in use."""
        return self.first + len(self.chosen)

    def variance(self, rows: Rows = None) -> Vector:
        """Return the variance of f at the candidates `rows` (None: all), given all measurements.

        A variance that rounding cannot tell from zero is zero.
        """
        self._refresh(rows)
        xp = array_namespace(self.W)
        W = take_rows(self.W, rows)[:, : self.size]
        diag = take_rows(self.prior.diag, rows)
        variance = diag - xp.sum(W * W, axis=1)
        rounding = 8.0 * (self.size + 1) * epsilon(diag)
        return xp.where(variance > rounding * diag, variance, xp.zeros_like(variance))

    def _refresh(self, rows: Rows) -> None:
        """Bring rows of W up to date; where it is much work, those that missed about as much."""
        levels = self.levels if rows is None else self.levels[rows]
        start = int(np.min(levels, initial=self.size))
        if rows is None or levels.size * self.size * (self.size - start) < _SMALL:
            self._substitute(rows, start)
            return
        lag = np.frexp(self.size - levels)[1]  # columns that a candidate lacks, as a power of two
        for power in np.unique(lag[lag > 0]):
            group = rows[lag == power]
            self._substitute(group, int(np.min(self.levels[group])))

    def _substitute(self, rows: Rows, start: int) -> None:
        """Extend rows of W by forward substitution, from the column `start` on."""
        stop = self.size
        if start == stop:
            return
        xp = array_namespace(self.W)
        lower = self.lower[start:stop, :]
        right = self.prior.block(rows, self.chosen[start - self.first :])
        if start:
            right = right - take_rows(self.W, rows)[:, :start] @ xp.matrix_transpose(
                lower[:, :start]
            )
        new = solve_triangular(lower[:, start:stop], xp.matrix_transpose(right))
        if rows is None:
            self.W = set_at(self.W, (slice(None), slice(start, stop)), xp.matrix_transpose(new))
            self.levels[:] = stop
        else:
            self.W = set_rows(self.W, rows, slice(start, stop), xp.matrix_transpose(new))
            self.levels[rows] = stop

    def add(self, j: int) -> float:
        """Measure candidate j, and return the standard deviation of that measurement."""
        pivot = math.sqrt(float(self.variance(np.asarray([j]))[0]) + float(self.noise[j]))
        t = self.size
        self.lower = set_at(self.lower, (t, slice(t)), self.W[j, :t])
        self.lower = set_at(self.lower, (t, t), pivot)
        self.chosen.append(j)
        return pivot


def start_downdates(gp: GP | ExactPosterior, X: Matrix, noise: Vector, capacity: int) -> Downdates:
    """The factor of a prior or of a posterior, before its first measurement."""
    if isinstance(gp, GP):
        return Downdates(KernelCovariance(gp.kernel, X), noise, capacity)
    half = gp.cholesky._half_solve(gp.gp.kernel._gram(gp.X, X))
    known = array_namespace(X).matrix_transpose(half)
    return Downdates(KernelCovariance(gp.gp.kernel, X), noise, capacity, known)
