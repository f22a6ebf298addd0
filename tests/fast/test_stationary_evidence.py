"""The in-place work against the plain formulas that it stands for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from memory_use import peak

from gpnotes import (
    GP,
    RBF,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    White,
    condition,
    log_evidence_and_gradient,
)
from gpnotes.fast import stationary_evidence as in_place
from gpnotes.fast.tiled_kernels import evidence_in_place

KINDS = [RBF, Matern12, Matern32, Matern52]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks and tiles so small that a test's matrices need many of them, the last ones smaller."""
    monkeypatch.setattr(in_place, "_BLOCK", 70)
    monkeypatch.setattr(in_place, "_SIDE", 9)


def test_it_serves_numpy_arrays_and_its_own_kernels_only(space):
    X = space.asarray(np.ones((3, 2)))
    assert in_place.supports(RBF(), X) == space.name.startswith("numpy")
    assert not in_place.supports(RBF() + White(), X)
    assert not in_place.supports(RationalQuadratic(), X)
    assert not in_place.supports(type("Mine", (RBF,), {})(), X)  # it may have another profile
    assert not in_place.supports(RBF(), X[:0, :])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 6])
def test_the_matrix_and_its_slope_are_those_of_the_kernel(small_blocks, rng, kind, d):
    kernel = kind(1.4, rng.uniform(0.5, 2.0, size=d))
    X = rng.normal(size=(31, d)) + 1e4
    X[16:] = X[:15]  # kinks of Matérn-1/2, and rounding that must not become a distance
    slope = np.full((31, 31), np.nan, order="F")
    u = in_place.scaled(kernel, X)
    K = in_place.cross(kernel, u, u, slope)
    q = np.sum((X[:, None, :] - X[None, :, :]) ** 2 / kernel.lengthscale**2, axis=-1)
    lower = np.tril_indices(31)
    wanted = kernel.variance * kernel._profile(q)
    np.testing.assert_allclose(K, wanted, rtol=1e-10)
    np.testing.assert_allclose(in_place.gram(kernel, u)[lower], wanted[lower], rtol=1e-10)
    wanted = kernel.variance * kernel._slope(q)
    if d > 3:  # expanded squares: what coincides is left out of the gradient
        wanted[q == 0.0] = 0.0
    np.testing.assert_allclose(slope, wanted, rtol=1e-9)
    assert np.all(K[np.arange(16, 31), np.arange(15)] == kernel.variance)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_far_away_does_not_blur_the_others(rng, kind):
    X = rng.normal(size=(40, 6))
    X[:2] = [1e4 * np.ones(6), -1e4 * np.ones(6)]
    X[3] = X[2] + 1e-5
    kernel = kind(1.0, 1.0)
    lower = np.tril_indices(40)
    K = in_place.gram(kernel, in_place.scaled(kernel, X))
    np.testing.assert_allclose(K[lower], kernel(X)[lower], rtol=1e-10)
    assert K[3, 2] < 1.0
    cross = in_place.cross(kernel, X, X[2:5])
    np.testing.assert_allclose(cross, kernel(X, X[2:5]), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [4, 8])
def test_near_points_are_told_apart_in_float32(small_blocks, rng, kind, d):
    """Where inputs are six lengthscales from their centre: once two percent apart was one point."""
    X = rng.uniform(-6.0, 6.0, size=(31, d)).astype(np.float32)
    X[16:] = X[:15] + rng.normal(size=(15, d)).astype(np.float32) * 5e-3
    X[0] = X[30]
    plain, wide = kind(1.4, np.ones(d, np.float32)), X.astype(np.float64)
    kernel = kind(1.4, np.ones(d))
    K = in_place.gram(plain, in_place.scaled(plain, X))
    np.testing.assert_allclose(np.tril(K), np.tril(kernel(wide)), atol=2e-5)
    np.testing.assert_allclose(np.tril(plain(X)), np.tril(kernel(wide)), atol=2e-5)
    assert K[30, 0] == np.float32(1.4)
    u = in_place.scaled(plain, X)
    np.testing.assert_allclose(in_place.cross(plain, u, u[:4]), kernel(wide, wide[:4]), atol=2e-5)
    y = rng.normal(size=31)
    bar = log_evidence_and_gradient(GP(plain, 0.1), X, y.astype(np.float32))[1].kernel
    wanted = log_evidence_and_gradient(GP(kernel, 0.1), wide, y)[1].kernel
    np.testing.assert_allclose(bar.lengthscale, wanted.lengthscale, rtol=2e-3, atol=1e-3)
    np.testing.assert_allclose(bar.variance, wanted.variance, rtol=1e-3)


@pytest.fixture(params=[(np.float64, 1e-8), (np.float64, 1e-4), (np.float32, 1e-3)], ids=str)
def groups(request, rng):
    """Two groups, told apart by a first column whose lengthscale is tiny, and that lengthscale."""
    dtype, tiny = request.param
    X = rng.normal(size=(30, 6))
    X[:, 0] = rng.integers(0, 2, size=30)
    return X.astype(dtype), np.asarray([tiny, 2.0, 2.0, 2.0, 2.0, 2.0], dtype=dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tiny_lengthscale_does_not_drown_the_other_inputs(small_blocks, groups, kind):
    X, lengths = groups
    together = X[:, None, 0] == X[None, :, 0]
    rest = np.sum((X[:, None, 1:] - X[None, :, 1:]) ** 2 / lengths[1:] ** 2, axis=-1)
    kernel = kind(1.4, lengths)
    wanted = np.where(together, 1.4 * kernel._profile(rest), 0.0)
    close = {"rtol": 1e-4 if X.dtype == np.float32 else 1e-10, "atol": 1e-30}
    np.testing.assert_allclose(kernel(X), wanted, **close)
    K = in_place.gram(kernel, in_place.scaled(kernel, X))
    np.testing.assert_allclose(np.tril(K), np.tril(wanted), **close)
    u = X / lengths
    np.testing.assert_allclose(in_place.cross(kernel, u, u[:4]), wanted[:, :4], **close)


@pytest.mark.parametrize("kind", KINDS)
def test_nor_does_it_drown_their_gradients(small_blocks, groups, kind, rng):
    X, lengths = groups
    y = rng.normal(size=30).astype(X.dtype)
    gp = GP(kind(1.4, lengths), 0.1)
    lengthscale_bar = log_evidence_and_gradient(gp, X, y)[1].kernel.lengthscale
    plain = condition(gp, X, y).evidence_gradient()[0].kernel.lengthscale
    # the same groups, a moderate distance of 50 lengthscales apart: nothing else is changed
    easy = np.concatenate([[0.02], lengths[1:]])
    gp = GP(kind(1.4, easy), 0.1)
    wanted = condition(gp, X.astype(float), y.astype(float)).evidence_gradient()[0].kernel
    for one in (lengthscale_bar, plain):
        rtol = 1e-3 if X.dtype == np.float32 else 1e-8
        np.testing.assert_allclose(one[1:], wanted.lengthscale[1:], rtol=rtol)
        assert one[0] == 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 6])
def test_points_far_apart_leave_a_lengthscale_without_a_derivative(rng, kind, d):
    X = rng.permutation(60).reshape(10, 6)[:, :d] * 200.0  # all 200 lengthscales apart, or more
    X[9] = X[0]
    gp, y = GP(kind(1.0, np.ones(d)), 1e-6), rng.normal(size=10)
    y[9] = y[0] + 1e-3
    bars = log_evidence_and_gradient(gp, X, y)[1], condition(gp, X, y).evidence_gradient()[0]
    for bar in bars:  # weights of the size of 1 / noise_var must cancel exactly
        assert abs(bar.kernel.lengthscale).max() < 1e-20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 6])
def test_factor_and_projection_are_those_of_dense_algebra(small_blocks, rng, kind, d):
    kernel = kind(1.4, rng.uniform(0.5, 2.0, size=d))
    X, Xs, y = rng.normal(size=(25, d)), rng.normal(size=(9, d)), rng.normal(size=25)
    Ky = kernel(X) + 0.1 * np.eye(25)
    lower = in_place.factor(kernel, 0.1, X)
    np.testing.assert_allclose(lower, np.linalg.cholesky(Ky), rtol=1e-10, atol=1e-13)
    assert np.all(np.triu(lower, 1) == 0.0)
    alpha, cross = np.linalg.solve(Ky, y), kernel(X, Xs)
    for layout in (np.asfortranarray, np.ascontiguousarray):
        pull, explained = in_place.project(kernel, X, Xs, layout(lower), alpha)
        np.testing.assert_allclose(pull, cross.T @ alpha, rtol=1e-9, atol=1e-12)
        wanted = cross.T @ np.linalg.solve(Ky, cross)
        np.testing.assert_allclose(explained, np.diag(wanted), rtol=1e-9)
        pull, left = in_place.project_jointly(kernel, X, Xs, layout(lower), alpha)
        np.testing.assert_allclose(pull, cross.T @ alpha, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(left, np.tril(kernel(Xs) - wanted), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 6])
def test_what_fresh_memory_holds_does_not_matter(rng, monkeypatch, kind, d):
    X, y = rng.normal(size=(30, d)), rng.normal(size=30)
    before = evidence_in_place(kind(1.0, 2.0), 0.1, X, y)

    def poisoned(shape, dtype=float, order="C"):
        return np.full(shape, np.inf, dtype=dtype, order=order)

    monkeypatch.setattr(in_place.np, "empty", poisoned)
    after = evidence_in_place(kind(1.0, 2.0), 0.1, X, y)  # a warning would be an error here
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_kernel_that_it_serves_is_not_asked_for_its_matrix(rng, monkeypatch):
    def refuse(*_):
        raise AssertionError("the general path was taken")

    X, y = rng.normal(size=(20, 5)), rng.normal(size=20)
    monkeypatch.setattr(RBF, "_gram", refuse)
    posterior = condition(GP(RBF(1.0, 2.0), 0.1), X, y)
    posterior.predict(X)
    with pytest.raises(AssertionError, match="general path"):
        posterior.covariance(X)


def test_what_needs_jitter_is_left_to_the_general_path(rng):
    X = np.concatenate([np.ones((20, 5)), np.ones((20, 5))])
    assert in_place.factor(RBF(), 0.0, X) is None
    assert evidence_in_place(RBF(), 0.0, X, np.ones(40)) is None


def test_inputs_and_targets_are_left_as_they_were(rng):
    X, y = rng.normal(size=(20, 5)), rng.normal(size=20)
    gp, Xs = GP(RBF(1.0, 2.0), 0.1), rng.normal(size=(6, 5))
    before = [a.copy() for a in (X, y, Xs)]
    log_evidence_and_gradient(gp, X, y)
    posterior = condition(gp, X, y)
    lower = posterior.cholesky.lower.copy()
    first, second = posterior.predict(Xs), posterior.predict(Xs)
    for a, b in zip((X, y, Xs), before, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(posterior.cholesky.lower, lower)
    np.testing.assert_array_equal(first, second)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "read-only": read_only,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("kernel", [RBF(1.0, 2.0), RationalQuadratic()], ids=["fast", "plain"])
@pytest.mark.parametrize("d", [2, 5])
def test_the_layout_of_the_arrays_changes_neither_them_nor_the_answer(rng, layout, kernel, d):
    X, y, Xs = rng.normal(size=(20, d)), rng.normal(size=20), rng.normal(size=(6, d))

    def answers(X, y, Xs):
        posterior = condition(GP(kernel, 0.1), X, y)
        value = log_evidence_and_gradient(GP(kernel, 0.1), X, y)[0]
        return [*posterior.predict(Xs), posterior.evidence_gradient()[1], value]

    given = [layout(a) for a in (X, y, Xs)]
    for found, wanted in zip(answers(*given), answers(X, y, Xs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)
    for after, before in zip(given, (X, y, Xs), strict=True):
        np.testing.assert_array_equal(after, before)


def test_threads_do_not_disturb_each_other(rng):
    X, y, gp = rng.normal(size=(60, 5)), rng.normal(size=60), GP(RBF(1.0, 2.0), 0.1)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: log_evidence_and_gradient(gp, X, y), range(20)))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("kind", KINDS)
def test_factor_and_prediction_take_one_matrix_of_memory_each(rng, kind):
    n = 700
    X, y, Xs = rng.normal(size=(n, 8)), rng.normal(size=n), rng.normal(size=(2 * n, 8))
    gp = GP(kind(1.0, np.full(8, 2.0)), 0.1)
    posterior = condition(gp, X, y)
    assert 0.9 < peak(lambda: condition(gp, X, y)) / (8 * n * n) < 1.3
    assert 0.9 < peak(lambda: posterior.predict(Xs)) / (8 * 2 * n * n) < 1.3
    assert peak(lambda: posterior.predict(Xs, chunk=n // 2)) / (8 * 2 * n * n) < 0.4


def test_predictions_are_made_in_single_precision_where_the_data_are(rng):
    X, y = rng.normal(size=(40, 5)).astype(np.float32), rng.normal(size=40).astype(np.float32)
    posterior = condition(GP(RBF(1.0, 2.0), 0.1), X, y)
    assert posterior.cholesky.lower.dtype == np.float32
    mean, variance = posterior.predict(X[:7])
    assert mean.dtype == variance.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 6])
def test_both_sides_of_the_pairs_get_their_derivatives(rng, d, dtype):
    """Of ``Σ W (u − v)²``, by u and by v, and its share of each column; all of double inputs."""
    u, v = rng.normal(size=(9, d)), rng.normal(size=(7, d))
    W = rng.normal(size=(9, 7)).astype(dtype)
    gaps = u[:, None, :] - v[None, :, :]
    weighted = W[:, :, None] * gaps
    wanted = 2.0 * weighted.sum(axis=1), -2.0 * weighted.sum(axis=0), (weighted * gaps).sum((0, 1))
    for found, here in zip(in_place.HostPairs(u, v).pull_both(W), wanted, strict=True):
        np.testing.assert_allclose(found, here, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("n", "columns"), [(12, 1), (12, 7), (1, 1), (1, 3)])
def test_projections_at_one_point_and_at_several_are_dense_algebra(
    rng, monkeypatch, n, columns, threads
):
    sharing = lambda like: nullcontext(threads)  # noqa: E731
    monkeypatch.setattr("gpnotes.ground.tiled_cholesky.sharing", sharing)
    kernel, X, Xs = RBF(1.3, 0.9), rng.normal(size=(n, 2)), rng.normal(size=(columns, 2))
    lower = np.asfortranarray(in_place.factor(kernel, 0.3, X))
    K = kernel(X) + 0.3 * np.eye(n)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(K), rtol=1e-10, atol=1e-12)
    alpha, across = rng.normal(size=n), kernel(X, Xs)
    explained = across.T @ np.linalg.solve(K, across)
    mean, diagonal = in_place.project(kernel, X, Xs, lower, alpha)
    np.testing.assert_allclose(mean, across.T @ alpha, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(diagonal, np.diag(explained), rtol=1e-10)
    mean, covariance = in_place.project_jointly(kernel, X, Xs, lower, alpha)
    np.testing.assert_allclose(mean, across.T @ alpha, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.tril(covariance), np.tril(kernel(Xs) - explained), atol=1e-10)


def test_only_arrays_of_numpy_that_hold_rows_are_supported(space):
    X = space.asarray([[1.0], [2.0]])
    assert in_place.supports(RBF(), X) == isinstance(X, np.ndarray)
    assert not in_place.supports(RBF(), X[:0, :])
    assert not in_place.supports(2.0 * RBF(), X)


@pytest.mark.parametrize(("share", "hidden"), [(0.9, True), (1.1, False)])
def test_rounding_hides_a_distance_up_to_the_share_of_its_own_two_points(rng, share, hidden):
    """Of points of very different sizes, in any order."""
    sizes = 10.0 ** np.resize([3.0, -3.0, 0.0], (7, 1))
    u, v = (rng.uniform(0.9, 1.0, (n, 2)) * sizes[:n] for n in (7, 5))
    pairs = in_place.HostPairs(u, v)
    (_, by_row), (_, by_column) = pairs._left, pairs._right
    q = share * (by_row[:, None] + by_column[None, :])
    found = pairs._near(q, by_row, by_column)
    np.testing.assert_array_equal(found, np.arange(35 if hidden else 0))
