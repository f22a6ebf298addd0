"""Choices of inducing points: greedily by conditional variance, by k-means, or at random."""

from __future__ import annotations

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.random import RNG, Stream, stream_of
from ...ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    MatrixLike,
    array_namespace,
    as_array,
    as_index,
    device,
    epsilon,
    in_double,
    set_at,
    to_numpy,
)
from ...model.kernels import Kernel
from .projection import kernel_in_double

__all__ = ["greedy_points", "kmeans_points", "random_points"]


@takes("X")
def greedy_points(kernel: Kernel, X: MatrixLike, n: int) -> Matrix:
    """Choose rows of X greedily, each where f is least known given those before.

    They are the first n pivots of a pivoted Cholesky factorisation of ``kernel(X)``: each lowers
    ``Σ gᵢ`` by at least the largest gap.

    Parameters
    ----------
    X : Matrix, shape (N, d)
        The inputs to choose from.
    n : int
        The number of rows to choose, at most N.

    Returns
    -------
    Matrix, shape (n, d)
        The chosen rows. Fewer come back where the gaps have come down to rounding: the rest would
        add nothing.

    Notes
    -----
    O(N n²) time, O(N n) memory.

    Source: Burt, Rasmussen & van der Wilk (2020); Foster et al. (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> greedy_points(RBF(), np.asarray([[0.0], [0.1], [5.0], [2.0]]), 3)
    array([[0.],
           [5.],
           [2.]])
    """
    _check.instance(kernel, "kernel", Kernel)
    kernel.validate_inputs(X, "X")
    return _greedy_points(kernel, X, _admitted_number(X, n))


def _greedy_points(kernel: Kernel, X: Matrix, n: int) -> Matrix:
    memory.require(n, X.shape[0], copies=2, like=X, what="the pivoted factor")
    wide = in_double(X)
    xp = array_namespace(wide)
    chosen = pivots(kernel_in_double(kernel), wide, n)
    return xp.take(X, as_index(chosen, X), axis=0)


def pivots(kernel: Kernel, X: Matrix, n: int) -> list[int]:
    """Return the numbers of the rows that `greedy_points` chooses, in the precision of X.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : Matrix, shape (N, d)
        The inputs, which are validated.
    n : int
        How many rows to choose.

    Returns
    -------
    list of int
        The numbers, fewer where the gaps have come down to rounding.
    """
    xp = array_namespace(X)
    gap = kernel._diag(X)
    # a gap is a difference of numbers as large as the first: what is less than this is rounding
    least = 10.0 * X.shape[0] * epsilon(X) * float(xp.max(gap))
    rows = xp.zeros((n, X.shape[0]), dtype=X.dtype, device=device(X))
    chosen: list[int] = []
    for j in range(n):
        i = int(xp.argmax(gap))
        pivot = float(gap[i])
        # the first is taken even where f has no variance: a choice has at least one row
        if j and pivot <= least:
            break
        chosen.append(i)
        if pivot == 0.0:
            break
        cross = kernel._gram(X[i : i + 1, :], X)[0, :]
        row = (cross - rows[:j, i] @ rows[:j, :]) / pivot**0.5
        rows = set_at(rows, (j, slice(None)), row)
        gap = xp.clip(gap - row * row, 0.0, None)
        # it is zero in exact arithmetic, and rounding must not choose a row twice
        gap = set_at(gap, i, 0.0)
    return chosen


@takes("X")
def kmeans_points(X: MatrixLike, n: int, *, max_steps: int = 50, rng: RNG) -> Matrix:
    """Find the centres of clusters of X, by Lloyd's steps.

    The centres start at rows drawn far from each other (k-means++) and move until no row changes
    its cluster. Distances are taken as they are: divide the columns by their lengthscales first
    where these differ.

    Parameters
    ----------
    X : Matrix, shape (N, d)
        The inputs.
    n : int
        The number of clusters, at most N.
    max_steps : int, default 50
        The most steps to take.
    rng : Stream, Generator or int
        The stream that the first centres are drawn from.

    Notes
    -----
    O(N n d) a step. Worked out on the host, a few rows at a time.

    Source: Lloyd (1982); Arthur & Vassilvitskii (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import stream
    >>> X = np.asarray([[0.0], [1.0], [8.0], [9.0]])
    >>> np.sort(kmeans_points(X, 2, rng=stream(1)), axis=0)
    array([[0.5],
           [8.5]])
    """
    n = _admitted_number(_check.squarable(_check.matrix(X, "X"), "X"), n)
    stream = stream_of(rng)
    max_steps = _check.whole(max_steps, "max_steps", 1)
    host = np.asarray(to_numpy(X), dtype=np.float64)
    centres = _spread_rows(host, n, stream)
    labels = np.full(host.shape[0], -1)
    for _ in range(max_steps):
        nearest = _nearest(host, centres)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centres = _moved(host, labels, centres)
    return as_array(centres, X)


def _spread_rows(X: HostMatrix, n: int, stream: Stream) -> HostMatrix:
    """Rows drawn one after the other, as likely as far they are, squared, from those before."""
    draws = np.asarray(stream.uniform(n))
    chosen = [int(draws[0] * X.shape[0])]
    squares = np.sum((X - X[chosen[0]]) ** 2, axis=1)
    for draw in draws[1:]:
        ends = np.cumsum(squares)
        if ends[-1] == 0.0:  # fewer different rows than points: any row will do
            ends = np.cumsum(np.ones_like(squares))
        # draw · total may round up to the total, which has no row
        i = min(int(np.searchsorted(ends, draw * ends[-1], side="right")), X.shape[0] - 1)
        chosen.append(i)
        squares = np.minimum(squares, np.sum((X - X[i]) ** 2, axis=1))
    return X[chosen]


def _nearest(X: HostMatrix, centres: HostMatrix) -> HostVector:
    """The nearest centre to each row: largest ``x·c − |c|²/2``, about a middle that is far."""
    middle = np.mean(centres, axis=0)
    middle[np.abs(middle) < 1e3 * np.std(centres, axis=0)] = 0.0  # squares lose six digits at most
    centres = centres - middle
    half = 0.5 * np.sum(centres * centres, axis=1)
    labels = np.empty(X.shape[0], dtype=np.int64)
    for rows in memory.blocks(X.shape[0], centres.shape[0], like=X):
        score = half[None, :] - (X[rows] - middle) @ centres.T
        labels[rows] = np.argmin(score, axis=1)
    return labels


def _moved(X: HostMatrix, labels: HostVector, centres: HostMatrix) -> HostMatrix:
    """The mean of each cluster; a centre without rows stays where it is."""
    counts = np.bincount(labels, minlength=centres.shape[0])
    columns = [np.bincount(labels, weights=x, minlength=centres.shape[0]) for x in X.T]
    means = np.stack(columns, axis=1) / np.maximum(counts, 1)[:, None]
    return np.where(counts[:, None] > 0, means, centres)


@takes("X")
def random_points(X: MatrixLike, n: int, *, rng: RNG) -> Matrix:
    """Draw different rows of X at random, each as likely as any other.

    Parameters
    ----------
    X : Matrix, shape (N, d)
        The inputs to draw from.
    n : int
        The number of rows, at most N.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import stream
    >>> random_points(np.asarray([[1.0], [2.0]]), 2, rng=stream(1)).sum()
    np.float64(3.0)
    """
    n = _admitted_number(_check.matrix(X, "X"), n)
    stream = stream_of(rng)
    return array_namespace(X).take(X, stream.choice(X.shape[0], n, like=X), axis=0)


def _admitted_number(X: Matrix, n: int) -> int:
    n = _check.whole(n, "n", 1)
    if n > X.shape[0]:
        raise ValueError(f"n must be at most the number of rows of X, {X.shape[0]}; got {n}")
    return n
