"""Priors on what is positive: SciPy's densities, slopes, entries, tails; a prior between ends."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from gpnotes import (
    GammaPrior,
    HalfCauchyPrior,
    HalfNormalPrior,
    InverseGammaPrior,
    SAASPrior,
)  # fmt: skip
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck


class OfInverseSquare:
    """SciPy's half-Cauchy of ``ℓ⁻²``, as a density of ℓ."""

    def __init__(self, shrinkage):
        self.shrinkage = shrinkage

    def logpdf(self, length):
        of_square = stats.halfcauchy(scale=self.shrinkage).logpdf(length**-2.0)
        return of_square + math.log(2.0) - 3.0 * math.log(length)


PRIORS = [
    (GammaPrior(2.5, 0.7), stats.gamma(2.5, scale=1 / 0.7)),
    (InverseGammaPrior(3.0, 1.5), stats.invgamma(3.0, scale=1.5)),
    (HalfNormalPrior(0.6), stats.halfnorm(scale=0.6)),
    (HalfCauchyPrior(0.3), stats.halfcauchy(scale=0.3)),
    (SAASPrior(0.2), OfInverseSquare(0.2)),
]


@pytest.mark.parametrize("value", [0.05, 0.3, 2.0, 40.0])
@pytest.mark.parametrize(("prior", "reference"), PRIORS)
def test_densities_are_those_of_scipy(prior, reference, value):
    assert prior.log_density(value) == pytest.approx(reference.logpdf(value), rel=1e-11)
    assert type(prior.log_density(value)) is float
    gradcheck(prior.log_density, lambda v, bar: (bar * prior.gradient(v),), value)


@pytest.mark.parametrize("prior", [prior for prior, _ in PRIORS])
def test_entries_are_summed(space, prior):
    values = space.asarray([0.3, 2.0])
    wanted = prior.log_density(0.3) + prior.log_density(2.0)
    assert prior.log_density(values) == pytest.approx(wanted, rel=1e-5)
    gradient = prior.gradient(values)
    assert space.holds(gradient)
    wanted = [prior.gradient(0.3), prior.gradient(2.0)]
    np.testing.assert_allclose(to_numpy(gradient), wanted, rtol=1e-5)


@pytest.mark.parametrize("prior", [HalfCauchyPrior(1.0), SAASPrior()])
@pytest.mark.parametrize("value", [1e-120, 1e120])
def test_heavy_tails_neither_overflow_nor_warn(prior, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_array = prior.log_density(np.asarray([value])), prior.gradient(np.asarray([value]))[0]
    assert np.isfinite(of_array).all()
    assert of_array == pytest.approx((prior.log_density(value), prior.gradient(value)), rel=1e-13)


@pytest.mark.parametrize("mass", [0.5, 0.9, 0.98])
@pytest.mark.parametrize(("low", "high"), [(0.1, 2.0), (3.0, 4.0), (1e-6, 1.0)])
def test_an_inverse_gamma_prior_lies_between_its_ends(low, high, mass):
    prior = InverseGammaPrior.between(low, high, mass)
    of_scipy = stats.invgamma(prior.shape, scale=prior.scale)
    assert of_scipy.cdf(low) == pytest.approx((1 - mass) / 2, rel=1e-8)
    assert of_scipy.sf(high) == pytest.approx((1 - mass) / 2, rel=1e-8)


def test_the_mode_of_a_sparse_prior_is_where_its_docstring_says():
    prior = SAASPrior(0.1)
    assert prior.gradient((1 / (math.sqrt(3) * 0.1)) ** 0.5) == pytest.approx(0.0, abs=1e-14)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="shape must be positive"):
        GammaPrior(0.0, 1.0)
    with pytest.raises(TypeError, match="sd must be a number; got"):
        HalfNormalPrior("1")
    with pytest.raises(ValueError, match="value must be positive"):
        HalfCauchyPrior(1.0).log_density(0.0)
    with pytest.raises(ValueError, match=r"high must be above low, 2\.0; got 1\.0"):
        InverseGammaPrior.between(2.0, 1.0)
    with pytest.raises(ValueError, match=r"mass must be between 0 and 1; got 1\.0"):
        InverseGammaPrior.between(1.0, 2.0, 1.0)
    with pytest.raises(ValueError, match="low and high must have a prior with mass"):
        InverseGammaPrior.between(1.0, 1.0 + 1e-9)
