"""Where to put inducing points: greedily by conditional variance, by k-means, or at random."""

from __future__ import annotations

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.random import Stream
from ...ground.xp import HostMatrix, HostVector, Matrix, array_namespace, as_array
from ...model.kernels import Kernel
from .inducing import in_double

__all__ = ["greedy_points", "kmeans_points", "random_points"]


def greedy_points(kernel: Kernel, X: Matrix, n: int) -> Matrix:
    """`n` rows of X (N, d), each where f is least known given those before; O(N n²).

    The first n pivots of a pivoted Cholesky factorisation of ``kernel(X)``: each lowers ``Σ gᵢ`` by
    at least the largest gap. Fewer rows come back where the gaps have come down to rounding: the
    rest would add nothing. O(N n) memory. Raises `ValueError` or `TypeError` for arguments that do
    not fit, such as more points than rows.
    Source: Burt, Rasmussen & van der Wilk (2020); Foster et al. (2009).

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> greedy_points(RBF(), np.asarray([[0.0], [0.1], [5.0], [2.0]]), 3)
    array([[0.],
           [5.],
           [2.]])
    """
    _check.instance(kernel, "kernel", Kernel)
    kernel._validate(_check.matrix(X, "X"), "X")
    n = _admitted_number(X, n)
    memory.require(n, X.shape[0], copies=2, like=X, what="the pivoted factor")
    wide = _xp.in_double(X)
    xp = array_namespace(wide)
    chosen = _pivots(in_double(kernel), wide, n)
    return xp.take(X, xp.asarray(chosen, dtype=xp.int64, device=_xp.device(X)), axis=0)


def _pivots(kernel: Kernel, X: Matrix, n: int) -> list[int]:
    xp = array_namespace(X)
    gap = kernel._diag(X)
    least = 10.0 * X.shape[0] * _xp.epsilon(X) * float(xp.max(gap))
    rows = xp.zeros((n, X.shape[0]), dtype=X.dtype, device=_xp.device(X))
    chosen: list[int] = []
    for j in range(n):
        i = int(xp.argmax(gap))
        pivot = float(gap[i])
        if j and pivot <= least:
            break
        chosen.append(i)
        cross = kernel._gram(X[i : i + 1, :], X)[0, :]
        row = (cross - rows[:j, i] @ rows[:j, :]) / pivot**0.5
        rows[j, :] = row
        gap = xp.clip(gap - row * row, 0.0, None)
        gap[i] = 0.0
    return chosen


def kmeans_points(X: Matrix, n: int, stream: Stream, *, steps: int = 50) -> Matrix:
    """The centres (n, d) of `n` clusters of X (N, d), by Lloyd's steps; O(N n d) a step.

    They start at rows drawn far from each other (k-means++) and move until no row changes its
    cluster, for `steps` at most. Distances are taken as they are: divide the columns by their
    lengthscales first where these differ. Worked out on the host, a few rows at a time. Raises
    `ValueError` or `TypeError` for arguments that do not fit, such as more points than rows.
    Source: Lloyd (1982); Arthur & Vassilvitskii (2007).

    >>> import numpy as np
    >>> from gpnotes import stream
    >>> X = np.asarray([[0.0], [1.0], [8.0], [9.0]])
    >>> np.sort(kmeans_points(X, 2, stream(1)), axis=0)
    array([[0.5],
           [8.5]])
    """
    n = _admitted_number(_check.squarable(_check.matrix(X, "X"), "X"), n)
    _check.instance(stream, "stream", Stream)
    steps = _check.whole(steps, "steps", 1)
    host = np.asarray(_xp.to_numpy(X), dtype=np.float64)
    centres = _spread_rows(host, n, stream)
    labels = np.full(host.shape[0], -1)
    for _ in range(steps):
        nearest, _ = _nearest(host, centres)
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
        i = min(int(np.searchsorted(ends, draw * ends[-1], side="right")), X.shape[0] - 1)
        chosen.append(i)
        squares = np.minimum(squares, np.sum((X - X[i]) ** 2, axis=1))
    return X[chosen]


def _nearest(X: HostMatrix, centres: HostMatrix) -> tuple[HostVector, HostVector]:
    """Which centre is nearest to each row, and the squared distance up to what rows share."""
    half = 0.5 * np.sum(centres * centres, axis=1)
    labels = np.empty(X.shape[0], dtype=np.int64)
    scores = np.empty(X.shape[0])
    for rows in memory.blocks(X.shape[0], centres.shape[0]):
        score = half[None, :] - X[rows] @ centres.T
        labels[rows] = np.argmin(score, axis=1)
        scores[rows] = np.min(score, axis=1)
    return labels, scores


def _moved(X: HostMatrix, labels: HostVector, centres: HostMatrix) -> HostMatrix:
    """The mean of each cluster; a centre without rows stays where it is."""
    counts = np.bincount(labels, minlength=centres.shape[0])
    columns = [np.bincount(labels, weights=x, minlength=centres.shape[0]) for x in X.T]
    means = np.stack(columns, axis=1) / np.maximum(counts, 1)[:, None]
    return np.where(counts[:, None] > 0, means, centres)


def random_points(X: Matrix, n: int, stream: Stream) -> Matrix:
    """`n` different rows of X (N, d), drawn at random, as likely as one another.

    Raises `ValueError` or `TypeError` for arguments that do not fit, such as more points than rows.

    >>> import numpy as np
    >>> from gpnotes import stream
    >>> random_points(np.asarray([[1.0], [2.0]]), 2, stream(1)).sum()
    np.float64(3.0)
    """
    n = _admitted_number(_check.matrix(X, "X"), n)
    _check.instance(stream, "stream", Stream)
    return array_namespace(X).take(X, stream.choice(X.shape[0], n, like=X), axis=0)


def _admitted_number(X: Matrix, n: int) -> int:
    n = _check.whole(n, "n", 1)
    if n > X.shape[0]:
        raise ValueError(f"n must be at most the number of rows of X, {X.shape[0]}; got {n}")
    return n
