"""Counts beside SciPy's distributions and sums over a fine lattice of f."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gpnotes.model.likelihoods import NegativeBinomial, Poisson

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


def test_many_of_a_large_shape_are_poissons():
    few = NegativeBinomial(1e7).log_density(Y, F)
    np.testing.assert_allclose(few, Poisson().log_density(Y, F), rtol=1e-4)


@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(SHAPE)])
@pytest.mark.parametrize("wrong", [-1.0, 0.5])
def test_what_is_no_count_is_refused(likelihood, wrong):
    with pytest.raises(ValueError, match="y must hold counts, 0, 1, 2 and so on"):
        likelihood.log_density(np.asarray([wrong]), np.asarray([0.0]))
