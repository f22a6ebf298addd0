"""Counts beside SciPy's distributions and sums over a fine lattice of f."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from gpnotes.model.likelihoods import NegativeBinomial, Poisson
from gpnotes.model.likelihoods.counts import digamma_rise, log_gamma_rise

Y = np.asarray([0.0, 1.0, 3.0, 40.0])
F = np.asarray([-1.0, 0.5, 1.2, 3.5])
SHAPE = 2.5
CASES = [
    (Poisson(), lambda f: stats.poisson(np.exp(f))),
    (NegativeBinomial(SHAPE), lambda f: stats.nbinom(SHAPE, SHAPE / (SHAPE + np.exp(f)))),
]


@pytest.mark.parametrize(("likelihood", "law"), CASES)
def test_densities_are_scipys(likelihood, law):
    np.testing.assert_allclose(likelihood.log_density(Y, F), law(F).logpmf(Y), rtol=1e-12)


@pytest.mark.parametrize(("likelihood", "law"), CASES)
def test_averages_over_f_are_sums_over_a_lattice(likelihood, law):
    mean, sd = np.asarray([0.3, 0.3, 1.0, 3.2]), 0.4
    t, step = np.linspace(-11.0, 11.0, 20_001, retstep=True)
    weights, f = stats.norm.pdf(t) * step, mean[:, None] + sd * t
    logs = law(f).logpmf(Y[:, None])
    variance = np.full(4, sd * sd)
    value, by_mean, by_variance = likelihood.expected(Y, mean, variance, nodes=60)
    np.testing.assert_allclose(value, logs @ weights, rtol=1e-8)
    np.testing.assert_allclose(by_mean, logs @ (weights * t) / sd, rtol=1e-7)
    np.testing.assert_allclose(
        by_variance, 0.5 * logs @ (weights * (t * t - 1.0)) / sd**2, rtol=1e-6
    )
    found = likelihood.log_predictive(Y, mean, variance)
    np.testing.assert_allclose(found, np.log(np.exp(logs) @ weights), rtol=1e-7)
    first, second = (
        moment @ weights for moment in (law(f).mean(), law(f).var() + law(f).mean() ** 2)
    )
    np.testing.assert_allclose(
        likelihood.predict(mean, variance), [first, second - first**2], rtol=1e-8
    )


@pytest.mark.parametrize("shape", [1e9, 1e12, 1e20])
def test_many_of_a_large_shape_are_poissons(shape):
    """Two values of log Γ of 1e13 were subtracted: at 1e12 each count was off by 0.004 nats."""
    few = NegativeBinomial(shape).log_density(Y, F)
    np.testing.assert_allclose(few, Poisson().log_density(Y, F), rtol=1e-6)


def test_in_single_precision_they_are_so_too():
    y, f = Y.astype(np.float32), F.astype(np.float32)
    few = NegativeBinomial(1e7).log_density(y, f)
    np.testing.assert_allclose(few, Poisson().log_density(Y, F), rtol=3e-5)


def test_the_derivative_by_a_large_shape_is_that_of_its_series():
    """The log density is Poisson's plus ``((y − μ)² − y)/2r``, and terms in 1/r²."""
    shape, mu = 1e7, np.exp(F)
    bars = [NegativeBinomial(shape).pullback(Y[i : i + 1], F[i : i + 1], np.ones(1))[0].shape
            for i in range(4)]  # fmt: skip
    np.testing.assert_allclose(bars, (Y - (Y - mu) ** 2) / (2.0 * shape**2), rtol=1e-4)


@pytest.mark.parametrize("z", [1e-300, 0.3, 15.9, 16.1, 300.0])
@pytest.mark.parametrize("by", [0.0, 0.5, 7.0, 1e3])
def test_rises_of_log_gamma_and_its_slope_are_scipys(z, by):
    rise = special.gammaln(z + by) - special.gammaln(z) - by * np.log(z)
    slope = special.psi(z + by) - special.psi(z) if by else 0.0
    for step in (by, np.asarray([by])):
        np.testing.assert_allclose(log_gamma_rise(z, step), rise, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(digamma_rise(z, step), slope, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(SHAPE)])
@pytest.mark.parametrize("wrong", [-1.0, 0.5])
def test_what_is_no_count_is_refused(likelihood, wrong):
    with pytest.raises(ValueError, match="y must hold counts, 0, 1, 2 and so on"):
        likelihood.log_density(np.asarray([wrong]), np.asarray([0.0]))
    with pytest.raises(ValueError, match=f"got {wrong:g} in row 2"):
        likelihood.log_density(np.asarray([0.0, 3.0, wrong, wrong]), np.zeros(4))


@pytest.mark.parametrize(("mean", "variance"), [(700.0, 0.0), (340.0, 1e-3), (-2000.0, 1500.0)])
def test_moments_of_rates_that_overflow_squared_are_numbers(mean, variance):
    """Zero times infinity was no number."""
    with np.errstate(over="ignore"):
        rate, spread = Poisson().predict(np.asarray([mean]), np.asarray([variance]))
    wanted = np.exp(mean + 0.5 * variance)
    np.testing.assert_allclose(rate, wanted, rtol=1e-12)
    scatter = np.exp(2.0 * (mean + variance) + np.log(-np.expm1(-variance))) if variance else 0.0
    np.testing.assert_allclose(spread, wanted + scatter, rtol=1e-11)
    with np.errstate(over="ignore"):
        assert np.isinf(Poisson().predict(np.asarray([1000.0]), np.zeros(1))).all()
