"""Large matrices in tiles, by any number of threads: factor, inverse and solves of LAPACK."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from scipy.linalg import lapack, solve_triangular

from gpnotes import GP, RBF, Linear, condition, log_evidence_and_gradient
from gpnotes.ground import blas_in_place, tiled_cholesky, xp
from gpnotes.ground.linalg import FactorisationError, cholesky


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of sixteen, for matrices from thirty rows."""
    values = {"_SIDE": 16, "_LARGEST": 24, "_STRIP": 5, "_SMALLEST": 30}
    for name, value in values.items():
        monkeypatch.setattr(tiled_cholesky, name, value)


@pytest.fixture
def shared(small_tiles, monkeypatch):
    """The same, on a machine with three threads; how often they were asked for."""
    asked = []

    @contextmanager
    def shared_out():
        asked.append(3)
        yield 3

    monkeypatch.setattr(tiled_cholesky, "threads_at_hand", lambda: 3)
    monkeypatch.setattr(tiled_cholesky, "shared_out", shared_out)
    return asked


def positive(rng, n, dtype=np.float64):
    """A well-conditioned matrix."""
    A = rng.normal(size=(n, n))
    return np.asfortranarray((A @ A.T / n + np.eye(n)).astype(dtype))


CASES = pytest.mark.parametrize(
    ("n", "dtype"), [(1, "d"), (16, "d"), (17, "d"), (60, "d"), (90, "f"), (250, "d")]
)


@CASES
@pytest.mark.parametrize("threads", [1, 3])
def test_factor_inverse_and_solves_are_those_of_lapack(small_tiles, rng, n, dtype, threads):
    K = positive(rng, n, dtype)
    close = {"rtol": 0.0, "atol": 1e-12 if dtype == "d" else 2e-5}
    above = np.triu(K, 1)
    lower = K.copy(order="F")
    assert tiled_cholesky.factor(lower, threads)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(K.astype(float)), **close)
    np.testing.assert_array_equal(np.triu(lower, 1), above)
    B = np.asfortranarray(rng.normal(size=(n, 37)).astype(dtype))
    for transposed in (False, True):
        x = B.copy(order="F")
        tiled_cholesky.solve(lower, x, threads, transposed=transposed)
        wanted = solve_triangular(lower.astype(float), B, lower=True, trans=int(transposed))
        np.testing.assert_allclose(x, wanted, **close)
    tiled_cholesky.invert(lower, threads)
    np.testing.assert_allclose(np.tril(lower), np.tril(np.linalg.inv(K.astype(float))), **close)


def test_the_digits_do_not_depend_on_the_threads(small_tiles, rng):
    K = positive(rng, 200)
    B = np.asfortranarray(rng.normal(size=(200, 50)))

    def everything(threads):
        lower, x = K.copy(order="F"), B.copy(order="F")
        tiled_cholesky.factor(lower, threads)
        tiled_cholesky.solve(lower, x, threads)
        inverse = lower.copy(order="F")
        tiled_cholesky.invert(inverse, threads)
        return lower, x, np.tril(inverse)

    alone = everything(1)
    for threads in (2, 4):
        for one, other in zip(alone, everything(threads), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("at", [0, 40, 99])
@pytest.mark.parametrize("pivot", [-1e3, np.nan])
def test_what_is_not_positive_has_no_factor_as_for_lapack(small_tiles, rng, at, pivot):
    K = positive(rng, 100)
    K[at, at] = pivot
    of_lapack, failed = lapack.dpotrf(K, lower=1)
    finite = tiled_cholesky.factor(K, 2) and bool(np.all(np.isfinite(np.diagonal(K))))
    assert finite == (not failed and bool(np.all(np.isfinite(np.diagonal(of_lapack)))))
    assert not finite


def test_the_inverse_times_the_matrix_is_as_near_to_the_identity_as_lapacks(small_tiles):
    """Nearly singular: rows of V that are made one after the other are ninety times as far."""
    x = np.random.default_rng(0).uniform(0.0, 3.0, size=(300, 2))
    K = RBF()(x) + 1e-10 * np.eye(300)
    lower = np.linalg.cholesky(K).copy(order="F")
    ours = lower.copy(order="F")
    tiled_cholesky.invert(ours, 2)
    of_lapack = lapack.dpotri(lower, lower=1)[0]
    off, lapacks = (
        np.max(np.abs((np.tril(inverse) + np.tril(inverse, -1).T) @ K - np.eye(300)))
        for inverse in (ours, of_lapack)
    )
    assert off < 5.0 * lapacks


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_functions_of_any_array_go_by_tiles_and_say_the_same(shared, rng, order):
    K = np.array(positive(rng, 80), order=order)
    B = rng.normal(size=(80, 64))
    lower = xp.cholesky_factor(K)
    np.testing.assert_allclose(lower, np.linalg.cholesky(K), atol=1e-12)
    np.testing.assert_allclose(xp.cholesky_inverse(lower), np.linalg.inv(K), atol=1e-12)
    for transpose in (False, True):
        found = xp.solve_triangular(lower, B, transpose=transpose)
        wanted = np.linalg.solve(lower.T if transpose else lower, B)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert shared == [3] * 4
    assert np.array_equal(K, K.T)  # left as it was


def test_a_triangle_with_a_zero_is_refused_as_before(shared, rng):
    lower = np.asfortranarray(np.tril(rng.normal(size=(80, 80))))
    lower[40, 40] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="zero in row 41"):
        xp.solve_triangular(lower, rng.normal(size=(80, 64)))
    assert shared == []


def test_jitter_is_added_as_before(shared):
    with pytest.warns(UserWarning, match="not positive definite in its precision"):
        assert cholesky(np.ones((80, 80))).jitter > 0.0
    with pytest.raises(FactorisationError):
        cholesky(-np.eye(80))
    assert len(shared) > 2


@pytest.mark.parametrize("kernel", [RBF(), RBF() + Linear()], ids=["fast", "general"])
def test_posteriors_and_evidence_are_the_same_by_tiles(rng, kernel, shared, monkeypatch):
    X, y = rng.uniform(0.0, 5.0, size=(600, 2)), rng.normal(size=600)
    Xs = rng.uniform(0.0, 5.0, size=(70, 2))

    def everything():
        posterior = condition(GP(kernel, 0.1), X, y)
        mean, variance = posterior.predict(Xs)
        value, bar = log_evidence_and_gradient(GP(kernel, 0.1), X, y)
        return value, bar.noise_var, mean, variance, posterior.cholesky.lower

    by_tiles = everything()
    assert len(shared) >= 3
    monkeypatch.setattr(tiled_cholesky, "_SMALLEST", 10**9)
    asked = len(shared)
    for one, other in zip(by_tiles, everything(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    assert len(shared) == asked


def test_small_matrices_one_thread_and_many_leave_lapack_its_own(shared, monkeypatch):
    def threads_for(n, dtype=np.float64):
        with tiled_cholesky.sharing(np.empty((n, 1), dtype)) as threads:
            return threads

    assert [threads_for(29), threads_for(30), threads_for(30, np.float32)] == [1, 3, 3]
    assert threads_for(30, np.longdouble) == 1
    for many in (1, 5):
        monkeypatch.setattr(tiled_cholesky, "threads_at_hand", lambda many=many: many)
        assert threads_for(30) == 1
    monkeypatch.setattr(tiled_cholesky, "threads_at_hand", lambda: 2)
    monkeypatch.setattr(blas_in_place, "are_at_hand", lambda: False)
    assert threads_for(30) == 1
