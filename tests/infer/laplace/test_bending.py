"""Laplace's method where log p(y | f) bends upwards, as for outliers under Student's t."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    SVGP,
    ConstantMean,
    LaplaceGP,
    StudentT,
    condition,
    fit,
    load,
    log_evidence,
    log_evidence_and_gradient,
    save,
    to_numpy,
)
from gpnotes.ground.linalg import _cholesky
from gpnotes.infer.laplace.bending import bending_of
from gpnotes.testing import check_posterior, gradcheck

DRAW = np.random.default_rng(3)
X = np.sort(DRAW.uniform(0.0, 6.0, (30, 1)), axis=0)
F = np.sin(X[:, 0])
Y = F + 0.1 * DRAW.normal(size=30)
Y[::7] += 4.0 * DRAW.choice([-1.0, 1.0], size=5)
XS = np.linspace(-0.5, 6.5, 6)[:, None]
NOISE = StudentT(0.2, 4.0)
MODEL = LaplaceGP(GP(RBF(0.9, 1.1), 0.0, ConstantMean(0.2)), NOISE)


def dense(posterior: Any) -> tuple[Any, Any]:
    """K and ``(K + W⁻¹)⁻¹ = W (I + K W)⁻¹`` by general solves."""
    K = np.asarray(MODEL.gp.kernel(X))
    W = np.diag(-NOISE.derivatives(Y, posterior.mode)[1])
    return K, W @ np.linalg.inv(np.eye(30) + K @ W)


def test_moments_and_evidence_are_those_of_dense_algebra() -> None:
    posterior = condition(MODEL, X, Y)
    slope, second, _ = NOISE.derivatives(Y, posterior.mode)
    assert np.sum(second > 0.0) >= 4
    K, R = dense(posterior)
    np.testing.assert_allclose(K @ slope + 0.2, posterior.mode, rtol=0, atol=1e-6)
    cross, own = np.asarray(MODEL.gp.kernel(X, XS)), np.asarray(MODEL.gp.kernel(XS))
    covariance = own - cross.T @ R @ cross
    np.testing.assert_allclose(posterior.covariance(XS), covariance, rtol=0, atol=1e-10)
    np.testing.assert_allclose(posterior.variance(XS), np.diag(covariance), rtol=0, atol=1e-10)
    np.testing.assert_allclose(posterior.mean(XS), 0.2 + cross.T @ slope, rtol=1e-10)
    log_det = np.linalg.slogdet(np.eye(30) - K @ np.diag(second))[1]
    wanted = np.sum(NOISE.log_density(Y, posterior.mode))
    wanted += -0.5 * slope @ (posterior.mode - 0.2) - 0.5 * log_det
    assert posterior.log_evidence == pytest.approx(wanted, abs=1e-8)


def test_it_is_a_posterior_like_the_others() -> None:
    check_posterior(condition(MODEL, X, Y), XS, normal_noise=False)


def test_it_is_the_same_in_every_space(space: Any) -> None:
    wanted = condition(MODEL, X, Y)
    found = condition(MODEL, *(space.asarray(a) for a in (X, Y)))
    assert space.holds(found.mode)
    close = {"rtol": 1e-6, "atol": 1e-8} if space.double else {"rtol": 5e-3, "atol": 5e-3}
    for name in ("mean", "variance"):
        given = to_numpy(getattr(found, name)(space.asarray(XS)))
        np.testing.assert_allclose(given, getattr(wanted, name)(XS), **close)
    assert found.log_evidence == pytest.approx(
        wanted.log_evidence, rel=1e-6 if space.double else 1e-2
    )


def test_gradients_are_those_of_differences() -> None:
    def model(kernel: Any, mean: Any, noise: Any) -> Any:
        return LaplaceGP(GP(kernel, 0.0, mean), noise)

    def pullback(kernel: Any, mean: Any, noise: Any, bar: float) -> Any:
        found = log_evidence_and_gradient(model(kernel, mean, noise), X, Y)[1]
        return found.gp.kernel, found.gp.mean, found.likelihood

    gradcheck(
        lambda *parts: log_evidence(model(*parts), X, Y), pullback,
        MODEL.gp.kernel, MODEL.gp.mean, NOISE, names=("kernel", "mean", "noise"), rtol=1e-4,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_a_fit_leaves_outliers_aside_and_finds_how_heavy_the_tails_are() -> None:
    draw = np.random.default_rng(3)
    X = np.sort(draw.uniform(0.0, 6.0, (40, 1)), axis=0)
    truth = np.sin(X[:, 0])
    y = truth + 0.1 * draw.normal(size=40)
    y[::7] += 4.0 * draw.choice([-1.0, 1.0], size=6)
    found, normal = fit(LaplaceGP(GP(RBF()), StudentT()), X, y), fit(GP(RBF()), X, y)
    wrong, astray = (np.sqrt(np.mean((q.posterior.mean(X) - truth) ** 2)) for q in (found, normal))
    assert wrong < 0.1 < 0.3 < astray
    assert found.model.likelihood.dof < 2.0
    assert 0.02 < found.model.likelihood.scale < 0.2
    _, gradient = log_evidence_and_gradient(found.model, X, y)
    assert abs(gradient.likelihood.dof * found.model.likelihood.dof) < 1e-2
    other = condition(SVGP(found.model.gp, found.model.likelihood, X[::4]), X, y)
    gap = np.abs(other.mean(XS[1:-1]) - found.posterior.mean(XS[1:-1]))
    assert np.max(gap) < 0.2


def test_steps_near_a_mode_are_newton_s_own() -> None:
    """By the positive sites alone it would take hundreds of steps for some outliers."""
    assert condition(MODEL, X, Y).steps < 25
    heavy = LaplaceGP(MODEL.gp, StudentT(0.07, 0.7))
    assert condition(heavy, X, Y).steps < 60


def test_it_goes_to_a_file_and_back(tmp_path: Any) -> None:
    posterior = condition(MODEL, X, Y)
    save(posterior, tmp_path / "outliers.gp")
    again = load(tmp_path / "outliers.gp")
    np.testing.assert_array_equal(again.variance(XS), posterior.variance(XS))
    assert again.log_evidence == posterior.log_evidence


def test_without_outliers_there_is_nothing_to_bend() -> None:
    assert condition(MODEL, X, F).bent is None


def test_what_is_no_maximum_is_said() -> None:
    K = np.asarray(RBF()(X[:3]))
    nothing = np.zeros(3)
    with pytest.raises(ValueError, match=r"the mode must be a maximum.* An SVGP takes"):
        bending_of(K, nothing, _cholesky(np.eye(3), name="B"), np.asarray([5.0, 0.0, 5.0]))
