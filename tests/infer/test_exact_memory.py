"""Memory that a process asks for before it makes its matrices."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from gpnotes import GP, RBF, LaplaceGP, condition, log_evidence_and_gradient, prior
from gpnotes.ground import memory


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
        call()  # what is imported on the way counts once
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3.3 * 400 * 400 * 8


def test_a_covariance_is_asked_for_with_what_its_factor_needs(free):
    X, square = np.linspace(0.0, 1.0, 50)[:, None], 50 * 50 * 8
    gp = GP(RBF() + RBF(), 0.1)
    free(3 * square - 1)
    with pytest.raises(MemoryError, match="the prior covariance"):
        prior(gp, X)
    with pytest.raises(MemoryError, match="the Gram matrix"):
        condition(gp, X, X[:, 0])
