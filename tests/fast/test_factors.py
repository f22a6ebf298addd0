"""Triangles inverted in place, and divided by, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack, solve_triangular
from scipy.stats import multivariate_normal

from gpnotes import RBF
from gpnotes.fast.factors import divide, invert, solved


def lower_of(rng, n, dtype=np.float64):
    lower = np.tril(rng.normal(size=(n, n))) / np.sqrt(n) + 2.0 * np.eye(n)
    return np.asfortranarray(lower.astype(dtype))


# 1002, not 1001: with Prescott's kernels, older than any processor that NumPy 2.4 runs on, OpenBLAS
# 0.3.30 ends the process in `strtri` where n is odd and large (151, 1001)
@pytest.mark.parametrize("n", [1, 96, 97, 250, 1002])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_triangle_is_inverted_where_it_stands_and_what_is_above_it_stays(rng, n, dtype):
    lower = lower_of(rng, n, dtype)
    wanted = solve_triangular(lower.astype(float), np.eye(n), lower=True)
    above = np.triu(rng.normal(size=(n, n)), 1).astype(dtype)
    found = np.asfortranarray(lower + above)
    invert(found)
    assert found.dtype == dtype
    close = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(np.tril(found), wanted, atol=close)
    np.testing.assert_array_equal(np.triu(found, 1), above)


def test_the_inverse_times_the_matrix_is_as_near_to_the_identity_as_lapacks():
    """A product with the inverse of a quarter, in the place of a solve, is 600 times as far."""
    x = np.random.default_rng(0).uniform(0.0, 3.0, size=(400, 2))
    K = RBF()(x) + 1e-10 * np.eye(400)
    lower = np.linalg.cholesky(K).copy(order="F")
    inverses = [lapack.dtrtri(lower, lower=1)[0], lower.copy(order="F")]
    invert(inverses[1])
    lapacks, ours = (np.max(np.abs((L.T @ L) @ K - np.eye(400))) for L in map(np.tril, inverses))
    assert ours < 5.0 * lapacks


@pytest.mark.parametrize("share", [1.0, np.linspace(0.2, 3.0, 30)], ids=["alike", "each its own"])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_covariance_says_of_a_residual_is_the_density_of_a_normal(rng, share, threads):
    """The noise of a reading is `share` times σ_n², which is 0.3 here."""
    K, r = RBF()(rng.uniform(0.0, 3.0, size=(30, 2))), rng.normal(size=30)
    law = lambda s: multivariate_normal(cov=K + np.diag(s * share * np.ones(30)))  # noqa: E731
    noise = 0.3 if isinstance(share, float) else 0.3 * share
    found = solved(np.asfortranarray(K), noise, r, share, threads)
    assert found.value == pytest.approx(law(0.3).logpdf(r), rel=1e-12)
    slope = (law(0.3 + 1e-5).logpdf(r) - law(0.3 - 1e-5).logpdf(r)) / 2e-5
    assert found.noise_var_bar == pytest.approx(slope, rel=1e-6)
    inverse = np.linalg.inv(law(0.3).cov)
    np.testing.assert_allclose(found.alpha, inverse @ r, atol=1e-10)
    np.testing.assert_allclose(np.tril(found.inverse), np.tril(inverse), atol=1e-10)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_not_positive_definite_says_nothing(threads):
    assert solved(np.asfortranarray(-np.eye(3)), 0.5, np.ones(3), threads=threads) is None
    assert solved(np.asfortranarray(-np.eye(3)), 1.5, np.ones(3), threads=threads) is not None


@pytest.mark.parametrize("m", [1, 48, 49, 130])
@pytest.mark.parametrize("transposed", [False, True])
def test_rows_are_divided_by_a_triangle(rng, m, transposed):
    lower, K = lower_of(rng, m), np.asfortranarray(rng.normal(size=(7, m)))
    wanted = K.copy()
    divide(K, lower, transposed=transposed)
    np.testing.assert_allclose(K @ (lower.T if transposed else lower), wanted, atol=1e-12)
