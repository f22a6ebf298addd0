"""Where inducing points are put: against brute force, and what they are good for."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Linear,
    Matern32,
    SparseGP,
    White,
    log_evidence,
    stream,
    to_numpy,
)
from gpnotes.infer import sparse
from gpnotes.infer.sparse.inducing_points import _spread_rows


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 2))


def test_greedy_points_are_where_f_is_least_known(space, X):
    kernel = Matern32(1.3, space.asarray([0.8, 1.5]))
    points = sparse.greedy_points(kernel, space.asarray(X), 6)
    assert space.holds(points)
    host, points = Matern32(1.3, np.asarray([0.8, 1.5])), to_numpy(points).astype(float)
    for n, point in enumerate(points):
        assert np.min(np.sum((X - point) ** 2, axis=1)) < 1e-10  # one of them
        Z, rows = points[:n], np.vstack([X, point])
        explained = (
            host(rows, Z) @ np.linalg.solve(host(Z), host(Z, rows)) if n else 0.0 * host(rows)
        )
        gap = host.diag(rows) - np.diag(explained)
        assert gap[-1] > np.max(gap) - 1e-5  # two far points are as good as each other


def test_greedy_points_stop_where_nothing_is_left(X):
    rows = np.concatenate([X[:3], X[:3], X[:1]])
    points = sparse.greedy_points(RBF(), rows, 7)
    np.testing.assert_array_equal(np.unique(points, axis=0), np.unique(X[:3], axis=0))
    assert sparse.greedy_points(RBF(), np.ones((4, 2)), 3).shape == (1, 2)


def test_greedy_points_of_a_function_without_variance_are_one():
    np.testing.assert_array_equal(sparse.greedy_points(Linear(), np.zeros((5, 1)), 3), [[0.0]])


def test_white_noise_does_not_make_a_point_come_twice(X):
    points = sparse.greedy_points(RBF() + White(0.5), X, 40)
    assert len(np.unique(points, axis=0)) == 40


@pytest.mark.filterwarnings(
    "ignore::gpnotes.ground.linalg.JitterWarning"
)  # random points that are near
def test_greedy_points_bring_more_evidence_than_random_ones(rng):
    X = rng.uniform(0.0, 10.0, size=(200, 1)) ** 2 / 10.0  # dense near zero
    gp, y = GP(RBF(1.0, 0.7), 0.05), np.sin(X[:, 0]) + 0.2 * rng.normal(size=200)
    greedy = log_evidence(SparseGP(gp, sparse.greedy_points(gp.kernel, X, 14)), X, y)
    others = [
        log_evidence(SparseGP(gp, sparse.random_points(X, 14, rng=stream(seed))), X, y)
        for seed in range(10)
    ]
    assert greedy > max(others)
    assert greedy <= log_evidence(gp, X, y)


def test_kmeans_finds_the_clusters(space, rng):
    centres = np.asarray([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0], [9.0, 9.0]])
    X = np.repeat(centres, 30, axis=0) + 0.1 * rng.normal(size=(120, 2))
    found = sparse.kmeans_points(space.asarray(X), 4, rng=stream(1))
    assert space.holds(found)
    gaps = np.linalg.norm(to_numpy(found)[:, None, :] - centres[None, :, :], axis=2)
    assert np.all(np.min(gaps, axis=0) < 0.1)


def test_kmeans_begins_at_rows_as_likely_as_far_they_are_squared():
    """Of three numbers two, in their order, within five standard errors of 2000 draws."""
    X, many = np.asarray([[0.0], [1.0], [3.0]]), 2000
    pairs = [tuple(_spread_rows(X, 2, stream(seed))[:, 0]) for seed in range(many)]
    squares = (X - X.T) ** 2
    chances = squares / squares.sum(axis=1, keepdims=True) / 3.0
    for i, j in np.ndindex(3, 3):
        share = pairs.count((X[i, 0], X[j, 0])) / many
        error = (chances[i, j] * (1.0 - chances[i, j]) / many) ** 0.5
        assert abs(share - chances[i, j]) <= 5.0 * error


def test_kmeans_finds_the_same_clusters_however_far_from_zero(rng):
    """Seconds since 1970 squared are as large as 1/eps."""
    X = np.round(rng.normal(size=(200, 2)), 2)
    near = sparse.kmeans_points(X, 8, rng=stream(1))
    far = sparse.kmeans_points(X + 1.7e9, 8, rng=stream(1)) - 1.7e9
    np.testing.assert_allclose(far, near, rtol=0.0, atol=1e-5)


def test_kmeans_ends_where_each_centre_is_the_mean_of_its_rows(X):
    found = sparse.kmeans_points(X, 5, rng=stream(2))
    labels = np.argmin(np.linalg.norm(X[:, None, :] - found[None, :, :], axis=2), axis=1)
    means = [X[labels == j].mean(axis=0) for j in range(5)]
    np.testing.assert_allclose(found, means, rtol=1e-10)


def test_kmeans_with_as_many_points_as_rows_returns_them(X):
    found = sparse.kmeans_points(X[:6], 6, rng=stream(1))
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(X[:6], axis=0), rtol=1e-12)
    same = sparse.kmeans_points(np.ones((5, 2)), 3, rng=stream(1))
    np.testing.assert_array_equal(same, np.ones((3, 2)))


def test_random_points_are_different_rows(space, X):
    points = sparse.random_points(space.asarray(X), 40, rng=stream(1))
    assert space.holds(points)
    np.testing.assert_allclose(np.sort(to_numpy(points), axis=0), np.sort(X, axis=0), rtol=1e-6)


@pytest.mark.parametrize(
    "choose",
    [
        lambda X, n: sparse.greedy_points(RBF(), X, n),
        lambda X, n: sparse.kmeans_points(X, n, rng=stream(1)),
        lambda X, n: sparse.random_points(X, n, rng=stream(1)),
    ],
)
def test_more_points_than_rows_are_refused(X, choose):
    with pytest.raises(ValueError, match="n must be at most the number of rows of X, 40; got 41"):
        choose(X, 41)
    with pytest.raises(ValueError, match="n must be a whole number from 1"):
        choose(X, 0)
