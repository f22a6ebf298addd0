"""Priors by name, each on its own entries, beside differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, GammaPrior, LogNormalPrior, NormalPrior
from gpnotes.ground.params import Flattening, vector_of
from gpnotes.infer.prior_terms import density_and_gradient, priors_of

MODEL = GP(RBF(1.5, np.asarray([0.4, 2.0, 0.9])), 0.2, ConstantMean(-0.3))
PRIORS = {
    "kernel.lengthscale[1]": LogNormalPrior(0.3, 0.7),
    "kernel.variance": GammaPrior(2.0, 1.3),
    "mean.value": NormalPrior(0.5, 2.0),
}


def test_the_density_is_the_sum_of_each_at_its_own_number():
    found, _ = density_and_gradient(priors_of(PRIORS, MODEL, ()), Flattening(MODEL, ()).read(MODEL))
    numbers = {"kernel.lengthscale[1]": 2.0, "kernel.variance": 1.5, "mean.value": -0.3}
    wanted = sum(float(PRIORS[name].log_density(value)) for name, value in numbers.items())
    assert found == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("fixed", [(), ("kernel.lengthscale[0]",), ("noise_var",)])
def test_the_gradient_is_that_of_differences_by_logarithms(fixed):
    priors = priors_of(PRIORS, MODEL, fixed)
    vector, way = vector_of(MODEL, fixed=fixed), Flattening(MODEL, fixed)
    values = way.read(MODEL)
    slopes = density_and_gradient(priors, values)[1] * way.chain(values)
    for k in range(vector.size):
        ends = []
        for h in (1e-5, -1e-5):
            moved = vector.copy()
            moved[k] += h
            ends.append(density_and_gradient(priors, way.read(way.rebuild(moved)))[0])
        assert slopes[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)
    assert np.count_nonzero(slopes) == 3


def test_a_prior_on_an_array_is_on_all_its_entries():
    prior = LogNormalPrior(0.0, 1.0)
    (one,) = priors_of({"kernel.lengthscale": prior}, MODEL, ())
    values = np.arange(1.0, 7.0)
    at = list(one.at)
    assert len(at) == 3
    wanted = -0.5 * np.log(values[at]) ** 2 - np.log(values[at]) - 0.5 * math.log(2.0 * math.pi)
    density, slopes = one.density_and_gradient(values)
    assert density == pytest.approx(wanted.sum())
    assert np.flatnonzero(slopes).tolist() == at
