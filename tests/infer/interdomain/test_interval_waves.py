"""Waves on an interval: their Gram matrix by two other routes, and regression through them."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Matern12,
    Matern32,
    Matern52,
    SparseGP,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.infer import svgp
from gpnotes.infer.interdomain import IntervalHarmonics, wave_sums
from gpnotes.model.likelihoods import Bernoulli
from gpnotes.testing import check_inducing_variables, check_posterior, gradcheck

LOW, HIGH = -1.0, 3.0
KERNELS = [Matern12(1.3, 0.9), Matern32(0.7, 1.4), Matern52(1.6, 1.1)]


def waves(orders=(0.0, 1.0, 2.0, 5.0), asarray=np.asarray):
    return IntervalHarmonics(asarray(list(orders)), LOW, HIGH)


@pytest.fixture
def rows(rng):
    X = rng.uniform(-0.2, 2.2, size=(40, 1))
    return X, 0.7 + np.sin(4.0 * X[:, 0]) + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize("kernel", KERNELS)
def test_they_keep_the_contract(space, rng, kernel):
    """K_uf and K_uu by quadrature of the inner product, both pullbacks by differences."""
    X = rng.uniform(LOW + 0.3, HIGH - 0.3, size=(5, 1))  # smooth at the ends
    if space.double:
        # a kernel with kinks is integrated with an error of the square of a panel
        rtol = 1e-3 if isinstance(kernel, Matern12) else 1e-5
        check_inducing_variables(waves(asarray=space.asarray), kernel, space.asarray(X), rtol=rtol)
        return
    u = waves(asarray=space.asarray)  # where no derivative can be taken from values
    for ours, wanted in (
        (u.gram(kernel), waves().gram(kernel)),
        (u.cross(kernel, space.asarray(X)), waves().cross(kernel, X)),
    ):
        assert space.holds(ours)
        np.testing.assert_allclose(to_numpy(ours), wanted, rtol=1e-5, atol=1e-5 * np.max(wanted))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gram_matrix_is_that_of_functions_known_on_a_fine_grid(kernel):
    """``⟨φₘ, φₙ⟩ = lim φₘ(X)ᵀ K(X, X)⁻¹ φₙ(X)``: no formula of the inner product is in it."""
    u = waves((0.0, 1.0, 2.0))
    coarse, fine = (_by_grid(u, kernel, n) for n in (200, 400))
    order = 2.0 if isinstance(kernel, Matern12) else 1.0
    limit = fine + (fine - coarse) / (2.0**order - 1.0)
    np.testing.assert_allclose(u.gram(kernel), limit, atol=2e-4 * np.max(limit))


def _by_grid(u, kernel, n):
    X = np.linspace(LOW, HIGH, n + 1)[:, None]
    H = u.cross(kernel, X)
    return H @ np.linalg.solve(kernel(X), H.T)


def test_a_constant_has_the_product_of_its_own(rng):
    """Of 1 with 1, in closed form: ``(λ (b − a)/2 + 1)/σ_f²`` for Matérn-1/2."""
    kernel = KERNELS[0]
    assert waves((0.0,)).gram(kernel)[0, 0] == pytest.approx((4.0 / 0.9 / 2.0 + 1.0) / 1.3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", ["vfe", "fitc", "tight", "upper"])
def test_the_gradient_of_sparse_regression_agrees_with_differences(rows, kernel, method):
    X, y = rows
    gradcheck(
        lambda gp: log_evidence(SparseGP(gp, waves(), method), X, y),
        lambda gp, bar: (log_evidence_and_gradient(SparseGP(gp, waves(), method), X, y)[1].gp,),
        GP(kernel, 0.1, ConstantMean(0.5)),
        names=("gp",),
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_more_waves_it_becomes_the_exact_process(rows, kernel):
    X, y = rows
    gp = GP(kernel, 0.1, ConstantMean(0.5))
    exact = condition(gp, X, y)
    gaps, margin = [], 4.0 * kernel.lengthscale
    for highest in (2, 4, 8, 16, 32, 64):
        u = IntervalHarmonics(np.arange(highest + 1.0), -0.2 - margin, 2.2 + margin)
        gaps.append(exact.log_evidence - log_evidence(SparseGP(gp, u), X, y))
        assert log_evidence(SparseGP(gp, u, "upper"), X, y) > exact.log_evidence - 1e-8
    assert min(gaps) > -1e-8
    assert np.all(np.diff(gaps) <= 1e-8), "each adds to those before it"
    assert gaps[-1] < (3.0 if isinstance(kernel, Matern12) else 0.01)
    posterior = condition(SparseGP(gp, u), X, y)
    close = 0.05 if isinstance(kernel, Matern12) else 1e-3
    np.testing.assert_allclose(posterior.mean(X), exact.mean(X), atol=close)


@pytest.mark.parametrize("kernel", KERNELS)
def test_their_sums_are_formed_once(space, rows, kernel):
    X, y = (space.asarray(a) for a in rows)
    u, gp = waves(asarray=space.asarray), GP(kernel, 0.1, ConstantMean(0.5))
    sums = wave_sums(u, X, y)
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, u), sums)
    bar = model_bar.gp
    wanted, model_bar = log_evidence_and_gradient(SparseGP(gp, u), X, y)
    wanted_bar = model_bar.gp
    close = 1e-10 if space.double else 1e-4
    assert value == pytest.approx(wanted, rel=close)
    for ours, theirs in (
        (bar.noise_var, wanted_bar.noise_var),
        (bar.kernel.lengthscale, wanted_bar.kernel.lengthscale),
        (bar.kernel.variance, wanted_bar.kernel.variance),
        (bar.mean.value, wanted_bar.mean.value),
    ):
        assert ours == pytest.approx(theirs, rel=10.0 * close, abs=10.0 * close)


def test_a_fit_and_labels_go_through_them(rows):
    X, y = rows
    u = waves(np.arange(9.0))
    found = fit(SparseGP(GP(Matern32(1.0, np.asarray([1.0])), 0.1), u), X, y)
    assert found.log_evidence > log_evidence(SparseGP(GP(Matern32(), 0.1), u), X, y)
    check_posterior(found.posterior, X[:4])
    assert found.posterior.inducing_values().mean.shape == (u.size,)
    labels = np.where(y > 0.7, 1.0, -1.0)
    model = svgp.SVGP(GP(Matern32(), 0.0), Bernoulli(), u)
    chance = condition(model, X, labels).probability(X)
    assert np.mean((chance > 0.5) == (labels > 0.0)) >= 0.9


def test_what_is_not_for_an_interval_is_refused(rows):
    X, y = rows
    u, gp = waves(), GP(Matern32(), 0.1)
    with pytest.raises(
        TypeError, match="kernel must be a Matern12, Matern32 or Matern52 on an int"
    ):
        condition(SparseGP(GP(RBF(), 0.1), u), X, y)
    with pytest.raises(
        ValueError, match=r"X must lie from low, -1\.0, to high, 3\.0; it goes from"
    ):
        condition(SparseGP(gp, u), X, y).predict(np.asarray([[3.5]]))
    with pytest.raises(ValueError, match="X must lie from low"):
        wave_sums(u, 10.0 * X, y)
    with pytest.raises(ValueError, match=r"low must be below high, 1\.0; got 1\.0"):
        IntervalHarmonics(np.arange(3.0), 1.0, 1.0)
    with pytest.raises(TypeError, match="high must be a number"):
        IntervalHarmonics(np.arange(3.0), 1.0, "x")
    sums, longer = wave_sums(u, X, y), IntervalHarmonics(np.arange(3.0), LOW, HIGH + 1.0)
    with pytest.raises(ValueError, match="a turn from"):
        condition(SparseGP(gp, longer), sums)


@pytest.mark.parametrize("kernel", KERNELS)
def test_of_no_inputs_there_is_no_covariance_and_ends_are_inputs(kernel):
    u = waves()
    assert u.cross(kernel, np.zeros((0, 1))).shape == (u.size, 0)
    ends = u.cross(kernel, np.asarray([[LOW], [HIGH]]))
    np.testing.assert_allclose(ends[:, 0], ends[:, 1], atol=1e-12)
    for beyond in (np.nextafter(LOW, -9.0), np.nextafter(HIGH, 9.0)):
        with pytest.raises(ValueError, match="X must lie from low"):
            u.cross(kernel, np.asarray([[0.0], [beyond]]))


@pytest.mark.parametrize("kernel", KERNELS)
def test_products_ask_for_values_all_over_and_nine_within_a_quarter_wave_of_each_end(kernel):
    asked = []

    def g(x):
        asked.append(x[:, 0])
        return np.sin(x[:, 0])

    waves().apply(g, kernel)
    inner, start, end = asked
    assert len(inner) == 16 * 4 * 6  # sixteen for each of four panels of the shortest wave
    assert np.all(np.diff(inner) > 0.0)
    assert inner[0] - LOW == pytest.approx(HIGH - inner[-1])
    width = 0.25 * (HIGH - LOW) / 6.0
    chebyshev = width * np.sin(np.pi * np.arange(9.0) / 16.0) ** 2
    np.testing.assert_allclose(start - LOW, chebyshev, atol=1e-14)
    np.testing.assert_allclose(HIGH - end, chebyshev, atol=1e-14)
