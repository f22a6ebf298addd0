"""Memory that a process asks for before it makes its matrices."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import measuring
from memory_use import peak

from gpnotes import (
    GP,
    RBF,
    Constant,
    LaplaceGP,
    Linear,
    Matern32,
    Periodic,
    RationalQuadratic,
    White,
    condition,
    log_evidence,
    log_evidence_and_gradient,
    prior,
)
from gpnotes.ground import memory
from gpnotes.infer import exact
from gpnotes.model.kernels import Polynomial


@pytest.fixture
def free(monkeypatch):
    """A machine with as much free memory as the test says."""

    def set_to(size):
        monkeypatch.setattr(memory, "available", lambda like=None: size)
        monkeypatch.setattr(memory, "_SMALL", 0)  # so that small matrices will do here

    return set_to


def test_a_chunk_that_has_no_room_is_refused(free, rng):
    X = rng.normal(size=(50, 2))
    posterior = condition(GP(RBF(), 0.1), X, X[:, 0])
    free(10_000)
    assert posterior.predict(X, chunk=5)[0].shape == (50,)
    with pytest.raises(MemoryError, match=r"a chunk of .* shape \(50, 50\) .* a smaller chunk"):
        posterior.predict(X, chunk=10**9)


@pytest.mark.parametrize("noise_var", [0.0, 0.1])
def test_no_dense_matrix_is_made_without_asking(free, rng, noise_var):
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    gps = [GP(RBF(), noise_var), GP(RBF() + RBF(), noise_var)]
    posteriors = [condition(gp, X[:10], y[:10]) for gp in gps]
    free(50 * 50 * 8 // 2)
    for gp, posterior in zip(gps, posteriors, strict=True):
        for call in (
            lambda gp=gp: condition(gp, X, y),
            lambda gp=gp: log_evidence_and_gradient(gp, X, y),
            lambda gp=gp: prior(gp, X),
            lambda posterior=posterior: posterior.covariance(X),
            lambda posterior=posterior: posterior.extend(X[10:], y[10:]),
        ):
            with pytest.raises(MemoryError, match=r"\(50, 50\) needs .* are available"):
                call()
        assert posterior.predict(X)[0].shape == (50,)  # in chunks, it fits anywhere


def test_the_gradient_of_a_posterior_asks_for_its_matrices(free):
    X = np.linspace(0.0, 1.0, 50)[:, None]
    posterior = condition(GP(RBF(), 0.1), X, X[:, 0])
    free(2 * 50 * 50 * 8)
    with pytest.raises(MemoryError, match=r"the gradient.* a SparseGP, .*inducing="):
        posterior.evidence_gradient()
    with pytest.raises(MemoryError, match=r"the Gram matrix.* an SVGP for labels and counts"):
        condition(LaplaceGP(GP(RBF(), 0.0)), X, np.ones(50))
    with pytest.raises(MemoryError, match="the predictive covariance"):
        posterior.covariance(X)


@pytest.mark.parametrize("lengthscale", [0.1, 5.0])
def test_a_joint_distribution_holds_the_three_matrices_that_it_asks_for(lengthscale, rng):
    """The covariance, its root and the copy that the distribution keeps, whichever root it is."""
    X, Xs = rng.normal(size=(20, 3)), rng.normal(size=(400, 3))
    posterior = condition(GP(RBF(1.0, lengthscale), 0.1), X, X[:, 0])
    for call in (lambda: posterior.joint(Xs), lambda: prior(posterior.gp, Xs, noise=True)):
        assert peak(call) < 3.3 * 400 * 400 * 8


def test_a_covariance_is_asked_for_with_what_its_factor_needs(free):
    X, square = np.linspace(0.0, 1.0, 50)[:, None], 50 * 50 * 8
    gp = GP(RBF() + RBF(), 0.1)
    free(3 * square - 1)
    with pytest.raises(MemoryError, match="the prior covariance"):
        prior(gp, X)
    with pytest.raises(MemoryError, match="the Gram matrix"):
        condition(gp, X, X[:, 0])


@pytest.fixture
def cp() -> Iterator[ModuleType]:
    with cupy_stand_in.installed() as module:
        yield module


@pytest.fixture
def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the rows at a time, where there are more than a hundred."""
    monkeypatch.setattr(exact, "_WHOLE", 100)
    monkeypatch.setattr(exact, "_ROWS", 24)


POINTS = 240


def on_device(cp: ModuleType, kernel: Any = None) -> tuple[GP, Any, Any]:
    X = np.random.default_rng(0).normal(size=(POINTS, 3))
    X[7] = X[3]
    return GP(kernel or RBF(1.3, 0.9), 0.1), cp.asarray(X), cp.asarray(np.sin(X.sum(axis=1)))


def matrices(call: Any, size: int = 8) -> float:
    """How many matrices of n² numbers are alive at most that were not there before."""
    call()
    with measuring() as found:
        call()
    return found.most / (size * POINTS**2)


def test_a_device_holds_few_matrices_of_all_points(cp):
    gp, X, y = on_device(cp)
    posterior = condition(gp, X, y)
    assert matrices(lambda: log_evidence(gp, X, y)) < 2.2
    assert matrices(lambda: log_evidence_and_gradient(gp, X, y)) < 4.2
    assert matrices(lambda: posterior.predict(X)) < 2.2
    assert matrices(lambda: posterior.predict(X, chunk=24)) < 0.4


@pytest.mark.parametrize(
    ("kernel", "dtype", "blocks"),
    [
        (RBF(1.3, 0.9) + Matern32(0.2, 0.5), "float64", 6),
        (RBF(1.3, 0.9) + Matern32(0.2, 0.5), "float32", 8),
        (RationalQuadratic(1.3, 0.9, 2.0), "float64", 8),
        (2.0 * RBF(1.3, 0.9).on(0, 2) + Linear(0.2), "float32", 9),
        (RBF(1.3, 3.0) * Periodic(1.0, 0.8, 2.0).on(1), "float64", 12),
        (Polynomial(0.3, 0.5, 2) + Constant(0.4), "float64", 6),
    ],
)
def test_of_many_points_it_holds_one_and_a_few_rows(cp, by_rows, kernel, dtype, blocks):
    gp, X, y = on_device(cp, kernel)
    X, y, size = X.astype(dtype), y.astype(dtype), np.dtype(dtype).itemsize
    assert blocks <= exact._BESIDE
    allowed = 1.0 + blocks * exact._ROWS / POINTS
    assert matrices(lambda: log_evidence(gp, X, y), size) < allowed
    assert matrices(lambda: log_evidence_and_gradient(gp, X, y), size) < allowed
    posterior = condition(gp, X, y)
    assert matrices(posterior.evidence_gradient, size) < allowed - 1.0


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.3, 0.9),
        RBF(1.3, 0.9) + Matern32(0.2, 0.5) * RBF(2.0),
        RBF(1.3, 0.9) + White(0.1),
        2.0 * RBF(1.3, 0.9).on(0, 2) + Linear(0.2),
        RBF(1.3, 3.0) * Periodic(1.0, 0.8, 2.0).on(1) ** 2,
        Polynomial(0.3, 0.5, 2) + Constant(0.4),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_at_a_time_change_no_number(cp, by_rows, kernel, dtype):
    gp, X, y = on_device(cp, kernel)
    X, y = X.astype(dtype), y.astype(dtype)
    found = [condition(gp, A, b).evidence_gradient() for A, b in ((X, y), (X.get(), y.get()))]
    values = [log_evidence(gp, A, b) for A, b in ((X, y), (X.get(), y.get()))]
    rtol = 1e-9 if dtype == "float64" else 2e-3
    np.testing.assert_allclose(values[0], values[1], rtol=rtol)
    (mine, X_bar, y_bar), (theirs, X_wanted, y_wanted) = found
    np.testing.assert_allclose(mine.noise_var, theirs.noise_var, rtol=rtol)
    np.testing.assert_allclose(X_bar.get(), X_wanted, rtol=rtol, atol=100.0 * rtol)
    np.testing.assert_allclose(y_bar.get(), y_wanted, rtol=rtol, atol=100.0 * rtol)


def test_a_matrix_that_has_no_factor_is_made_again_and_looked_at(cp, by_rows):
    _, X, y = on_device(cp)
    # each row twice: with one pair alone, rounding may leave its pivot above zero
    X, y = cp.concatenate([X, X]), cp.concatenate([y, y])
    found = []
    for A, b in ((X, y), (X.get(), y.get())):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            posterior = condition(GP(RBF(1.3, 0.9), 0.0), A, b)
        found.append((posterior.cholesky.jitter, [str(w.message) for w in told]))
    assert found[0][0] > 0.0
    assert found[0] == found[1]


def test_a_device_without_room_refuses_by_name(cp, by_rows, monkeypatch):
    gp, X, y = on_device(cp)
    posterior = condition(gp, X, y)
    monkeypatch.setattr(memory, "_SMALL", 0)
    one = 8 * POINTS**2
    for free, refused in ((2.1 * one, True), (2.3 * one, False)):
        monkeypatch.setattr(memory, "available", lambda like=None, free=free: free)
        if refused:
            with pytest.raises(MemoryError, match=r"the Gram matrix of shape .* inducing points"):
                condition(gp, X, y)
        else:
            condition(gp, X, y)
    monkeypatch.setattr(memory, "available", lambda like=None: 1.3 * one)
    posterior.evidence_gradient()  # the factor is there
    monkeypatch.setattr(memory, "available", lambda like=None: 1.1 * one)
    with pytest.raises(MemoryError, match="the gradient of the evidence of shape"):
        posterior.evidence_gradient()
