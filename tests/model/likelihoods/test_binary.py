"""Labels beside SciPy's functions and sums over a fine lattice of f."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from gpnotes.model.likelihoods import Bernoulli

LINKS = {"probit": stats.norm.cdf, "logit": special.expit}
Y = np.asarray([1.0, -1.0, 1.0, -1.0])
MEAN = np.asarray([0.4, 1.5, -2.0, -0.3])
T, STEP = np.linspace(-12.0, 12.0, 20_001, retstep=True)
WEIGHTS = stats.norm.pdf(T) * STEP


@pytest.mark.parametrize("link", LINKS)
def test_the_log_density_and_its_slopes_are_those_of_scipys_link(link):
    f, h = np.linspace(-4.0, 4.0, 9), 1e-4

    def logs(f, y):
        return np.log(LINKS[link](y * f))

    for y in (1.0, -1.0):
        labels, likelihood = np.full_like(f, y), Bernoulli(link)
        np.testing.assert_allclose(likelihood.log_density(labels, f), logs(f, y), rtol=1e-12)
        first, second, _ = likelihood.derivatives(labels, f)
        below, here, above = logs(f - h, y), logs(f, y), logs(f + h, y)
        np.testing.assert_allclose(first, (above - below) / (2.0 * h), rtol=1e-6)
        np.testing.assert_allclose(second, (above - 2.0 * here + below) / h**2, rtol=1e-4)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("sd", [0.3, 2.0])
def test_averages_and_tilted_moments_are_sums_over_a_lattice(link, sd):
    likelihood, variance = Bernoulli(link), np.full(4, sd * sd)
    f = MEAN[:, None] + sd * T
    chance = LINKS[link](Y[:, None] * f)
    Z = chance @ WEIGHTS
    np.testing.assert_allclose(likelihood.log_predictive(Y, MEAN, variance), np.log(Z), rtol=1e-6)
    np.testing.assert_allclose(
        likelihood.probability(MEAN, variance), LINKS[link](f) @ WEIGHTS, rtol=1e-6
    )
    log_Z, alpha, beta = likelihood.tilted(Y, MEAN, variance)
    tilted_mean = (chance * f) @ WEIGHTS / Z
    tilted_variance = (chance * f * f) @ WEIGHTS / Z - tilted_mean**2
    np.testing.assert_allclose(log_Z, np.log(Z), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(MEAN + variance * alpha, tilted_mean, atol=1e-4)
    np.testing.assert_allclose(variance - variance**2 * beta, tilted_variance, rtol=1e-3)


def test_other_numbers_are_refused_with_what_makes_labels_of_0_and_1():
    with pytest.raises(ValueError, match=r"y must hold labels, 1 and -1.*2 y - 1 makes labels"):
        Bernoulli().log_density(np.asarray([0.0, 1.0]), np.zeros(2))
    with pytest.raises(ValueError, match=r"got -?3 in row 0: `gpnotes.GPClassifier` takes labels"):
        Bernoulli().log_density(np.asarray([3.0, 5.0]), np.zeros(2))
