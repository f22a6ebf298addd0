"""Designs to compare with: the best subset by enumeration, points far from each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations, islice

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.xp import (
    Array,
    HostArray,
    HostMatrix,
    HostVector,
    Matrix,
    MatrixLike,
    Numbers,
    Vector,
    array_namespace,
    device,
    set_at,
    to_numpy,
)
from ...infer.exact import GP, ExactPosterior
from . import design_checks
from .greedy import Design, as_design

__all__ = ["exhaustive_design", "farthest_points"]

_BATCH = 4096  # subsets whose determinants are computed together


@takes("X")
def exhaustive_design(
    gp: GP | ExactPosterior,
    X: MatrixLike,
    budget: int,
    criterion: str = "information",
    *,
    noise_var: Numbers | None = None,
    reference: Matrix | None = None,
    max_subsets: int = 200_000,
) -> Design:
    """Find the best subset of the candidates by trying every one, [eq-al-best].

    Parameters
    ----------
    gp : GP or ExactPosterior
        A prior, or a posterior: then its data are taken into account.
    X : Matrix, shape (n, d)
        The candidates.
    budget : int
        The number k of candidates to choose.
    criterion : {"information", "integrated variance", "mutual information"}
        As in `greedy_design`, whose ``"variance"`` is no function of a set.
    noise_var : float or Vector, shape (n,), optional
        The variance of a measurement, one for all or one for each candidate; that of the process
        unless it is given.
    reference : Matrix, shape (m, d), optional
        Where the variance is integrated; `X` unless it is given.
    max_subsets : int, default 200000
        The most subsets that are tried.

    Returns
    -------
    Design
        The subset in ascending order, with the gains of its members one after the other; the first
        of several best is taken.

    Raises
    ------
    ValueError
        If there are more than `max_subsets` subsets, `budget` is larger than the ground set,
        `criterion` does not exist, arrays do not fit, a `reference` is given for a criterion that
        needs none, or noise is zero where information would be infinite.

    Notes
    -----
    It costs O(k³) for each of n over k subsets, on the host.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> exhaustive_design(GP(RBF(), 0.1), X, 3).indices
    array([0, 4, 8])
    """
    design_checks.candidates(gp, X)
    _check.choice(criterion, "criterion", _CRITERIA)
    needs_noise = criterion != "integrated variance"
    noise = _on_host(design_checks.noise_of(gp, X, noise_var, positive=needs_noise))
    k = _check.whole(budget, "budget", 0, X.shape[0])
    max_subsets = _check.whole(max_subsets, "max_subsets", 1)
    count = math.comb(X.shape[0], k)
    if count > max_subsets:
        raise ValueError(
            f"there are {count} subsets of {k} out of {X.shape[0]}, more than {max_subsets}"
        )
    K, cross = _covariances(gp, X, design_checks.reference_of(gp, X, reference, criterion))
    value_of = _CRITERIA[criterion]
    best = np.zeros(0, dtype=int)
    best_value = -math.inf
    for subsets in _batches(X.shape[0], k):
        values = value_of(K, noise, cross, subsets)
        i = int(np.argmax(values))
        if values[i] > best_value + 1e-12 * abs(best_value) or best_value == -math.inf:
            best = subsets[i]
            best_value = float(values[i])
    sums = [float(value_of(K, noise, cross, best[None, :j])[0]) for j in range(k + 1)]
    return as_design(X, best.tolist(), np.diff(sums).tolist(), count)


def _covariances(
    gp: GP | ExactPosterior, X: Matrix, reference: Matrix
) -> tuple[HostMatrix, HostMatrix]:
    """Of f at X, and between f at the reference and at X, in float64 on the host."""
    kernel = design_checks.process(gp).kernel
    memory.require(X.shape[0], reference.shape[0], copies=4, like=X, what="the covariance of f")
    if isinstance(gp, GP):
        return _on_host(design_checks.covariance_at(gp, X)), _on_host(kernel._gram(reference, X))
    # C(R, X) = K(R, X) − (L⁻¹ K(D, R))ᵀ L⁻¹ K(D, X) with the data's inputs D
    to_reference = gp.cholesky._half_solve(kernel._gram(gp.X, reference))
    to_candidates = gp.cholesky._half_solve(kernel._gram(gp.X, X))
    explained = array_namespace(X).matrix_transpose(to_reference) @ to_candidates
    cross = kernel._gram(reference, X) - explained
    return _on_host(design_checks.covariance_at(gp, X)), _on_host(cross)


def _on_host(a: Array) -> HostArray:
    return np.asarray(to_numpy(a), float)


def _batches(n: int, k: int) -> Iterator[HostMatrix]:
    subsets = combinations(range(n), k)
    while rows := list(islice(subsets, _BATCH)):
        yield np.asarray(rows, dtype=np.int64).reshape(len(rows), k)


def _y_covariance(K: HostMatrix, noise: HostVector, subsets: HostMatrix) -> HostArray:
    """The covariance of y in each subset."""
    return K[subsets[:, :, None], subsets[:, None, :]] + noise[subsets][:, :, None] * np.eye(
        subsets.shape[1]
    )


def _information(
    K: HostMatrix, noise: HostVector, cross: HostMatrix, subsets: HostMatrix
) -> HostVector:
    entropies = np.linalg.slogdet(_y_covariance(K, noise, subsets))[1]
    return 0.5 * (entropies - np.sum(np.log(noise[subsets]), axis=1))


def _integrated_variance(
    K: HostMatrix, noise: HostVector, cross: HostMatrix, subsets: HostMatrix
) -> HostVector:
    """Without noise, copies make the covariance singular: by eigenvalues, those of rounding out."""
    to_subsets = np.moveaxis(cross[:, subsets], 0, -1)
    values, vectors = np.linalg.eigh(_y_covariance(K, noise, subsets))
    nonzero = values > 1e-13 * max(1.0, subsets.shape[1]) * np.max(np.diag(K))
    projections = np.swapaxes(vectors, 1, 2) @ to_subsets
    inverses = np.where(nonzero, 1.0 / np.where(nonzero, values, 1.0), 0.0)
    reductions = inverses[:, :, None] * projections**2
    return np.sum(reductions, axis=(1, 2)) / max(1, cross.shape[0])


def _mutual_information(
    K: HostMatrix, noise: HostVector, cross: HostMatrix, subsets: HostMatrix
) -> HostVector:
    log_det_all = np.linalg.slogdet(K + np.diag(noise))[1]
    outside = np.ones((len(subsets), len(K)), dtype=bool)
    np.put_along_axis(outside, subsets, False, axis=1)
    complements = np.nonzero(outside)[1].reshape(len(subsets), -1)
    log_det_inside = np.linalg.slogdet(_y_covariance(K, noise, subsets))[1]
    log_det_outside = np.linalg.slogdet(_y_covariance(K, noise, complements))[1]
    return 0.5 * (log_det_inside + log_det_outside - log_det_all)


_CRITERIA = {
    "information": _information,
    "integrated variance": _integrated_variance,
    "mutual information": _mutual_information,
}


@takes("X")
def farthest_points(X: MatrixLike, budget: int, *, initial_subset: Iterable[int] = ()) -> Vector:
    """Choose points that fill the space: each the farthest from those before it.

    Parameters
    ----------
    X : Matrix, shape (n, d)
        The candidates. Distances are Euclidean in their units: divide by lengthscales first where
        they differ.
    budget : int
        The number k of points to choose.
    initial_subset : iterable of int, default ()
        Points measured before, which count and are not part of the result. Without them, the first
        point is the one nearest to the mean of X.

    Returns
    -------
    Vector, shape (k,)
        The indices of the points. A point that was chosen is not chosen again; a copy of it is,
        once nothing else is left.

    Raises
    ------
    ValueError
        If `budget` is negative or larger than the rest of the ground set, `X` is no finite
        matrix, or `initial_subset` names a row that is not there or one twice.

    Notes
    -----
    It costs O(n) a step. The largest distance from a candidate to its nearest chosen point is at
    most twice the smallest possible (Gonzalez, 1985).

    Examples
    --------
    >>> farthest_points(np.linspace(0.0, 4.0, 9)[:, None], 4)
    array([4, 0, 8, 2])
    """
    xp = array_namespace(_check.matrix(X, "X"))
    n = X.shape[0]
    chosen = list(_check.entries(initial_subset, "initial_subset", n, "X"))
    num_initial = len(chosen)
    size = _check.whole(budget, "budget", 0, n - num_initial)
    distances = xp.full((n,), math.inf, dtype=X.dtype, device=device(X))
    for j in chosen:
        distances = _update_distances(X, distances, j)
    for _ in range(size):
        if chosen:
            best = int(xp.argmax(distances))
        else:
            best = int(xp.argmin(xp.sum((X - xp.mean(X, axis=0)) ** 2, axis=1)))
        chosen.append(best)
        distances = _update_distances(X, distances, best)
    return as_design(X, chosen[num_initial:], [], 0).indices


def _update_distances(X: Matrix, distances: Vector, j: int) -> Vector:
    """Squared distances to the nearest chosen point once j is chosen; −1 for the chosen ones."""
    xp = array_namespace(X)
    distances = xp.minimum(distances, xp.sum((X - X[j : j + 1, :]) ** 2, axis=1))
    return set_at(distances, j, -1.0)
