"""Priors of parameters: their densities, slopes and what they refuse."""

import numpy as np
import pytest
from scipy.stats import lognorm, norm

from gpnotes import LogNormalPrior, NormalPrior
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck


@pytest.mark.parametrize("value", [0.3, 2.0])
@pytest.mark.parametrize(
    ("prior", "reference"),
    [
        (NormalPrior(), norm()),
        (LogNormalPrior(), lognorm(1.0)),
        (NormalPrior(0.5, 2.0), norm(0.5, 2.0)),
        (LogNormalPrior(0.5, 2.0), lognorm(2.0, scale=np.exp(0.5))),
    ],
)
def test_priors_are_those_of_scipy(prior, reference, value):
    assert prior.log_density(value) == pytest.approx(reference.logpdf(value), rel=1e-12)
    assert type(prior.log_density(value)) is float
    gradcheck(prior.log_density, lambda v, bar: (bar * prior.gradient(v),), value)


@pytest.mark.parametrize("prior", [NormalPrior(0.5, 2.0), LogNormalPrior(0.5, 2.0)])
def test_priors_sum_over_entries(space, prior):
    values = space.asarray([0.3, 2.0])
    wanted = prior.log_density(0.3) + prior.log_density(2.0)
    assert prior.log_density(values) == pytest.approx(wanted, rel=1e-6)
    assert type(prior.log_density(values)) is float
    gradient = prior.gradient(values)
    assert space.holds(gradient)
    wanted = [prior.gradient(0.3), prior.gradient(2.0)]
    np.testing.assert_allclose(to_numpy(gradient), wanted, rtol=1e-5)


@pytest.mark.parametrize("prior", [NormalPrior, LogNormalPrior])
def test_a_prior_may_be_wide_or_narrow_beyond_what_a_square_can_hold(prior):
    """Of sd = 1e±200 the square is no float; the slope of the wide one is that of its limit."""
    flat = 0.0 if prior is NormalPrior else -0.5
    assert prior(0.0, 1e200).gradient(2.0) == flat
    assert prior(0.0, 1e-200).gradient(2.0) == -np.inf


def test_priors_refuse_what_they_cannot_hold():
    with pytest.raises(ValueError, match="sd must be positive"):
        NormalPrior(0.0, 0.0)
    with pytest.raises(ValueError, match="sd must be positive"):
        LogNormalPrior(0.0, -1.0)
    with pytest.raises(ValueError, match="value must be positive"):
        LogNormalPrior().log_density(-1.0)


@pytest.mark.parametrize("prior", [NormalPrior, LogNormalPrior])
@pytest.mark.parametrize("wrong", ["1", None, [1.0], True, 1j, np.ones(2)])
def test_priors_are_made_of_numbers(prior, wrong):
    with pytest.raises(TypeError, match="mean must be a number; got"):
        prior(wrong)
    with pytest.raises(TypeError, match="sd must be a number; got"):
        prior(0.0, wrong)
    if not isinstance(wrong, np.ndarray):
        for method in (prior().log_density, prior().gradient):
            with pytest.raises(TypeError, match="value must be a number or an array; got"):
                method(wrong)
    for method in (prior().log_density, prior().gradient):
        with pytest.raises(ValueError, match=r"value must be .*finite"):
            method(np.asarray([1.0, np.nan]))
    assert type(prior(np.float32(1.0), 2).sd) is float


def test_a_whole_number_is_a_value_for_a_prior():
    assert LogNormalPrior().log_density(2) == LogNormalPrior().log_density(2.0)
    with pytest.raises(ValueError, match="mean must be finite"):
        NormalPrior(float("nan"))
