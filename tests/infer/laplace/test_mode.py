"""Newton's steps end at the mode, whatever the unit of f."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, LaplaceGP, StudentT, condition
from gpnotes.model.likelihoods import Gaussian


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize("level", [0.0, 1e6])
def test_a_mode_is_found_in_any_unit_of_y_and_at_any_level(unit, level):
    """Steps are measured by the prior's deviations; by 1, those of y in 1e-12 were all short."""
    X = np.random.default_rng(0).uniform(size=(25, 1))
    y = np.sin(5.0 * X[:, 0]) + 0.1 * np.random.default_rng(9).normal(size=25)

    def posterior(unit, level):
        gp = GP(RBF(unit * unit, 0.3), mean=ConstantMean(level * unit))
        return condition(LaplaceGP(gp, StudentT(0.1 * unit, 4.0)), X, (y + level) * unit)

    here, there = posterior(1.0, 0.0), posterior(unit, level)
    assert there.log_evidence + 25.0 * math.log(unit) == pytest.approx(here.log_evidence, abs=1e-6)
    np.testing.assert_allclose(there.mean(X) / unit - level, here.mean(X), atol=1e-6)


@pytest.mark.parametrize("level", [1e9, 1e12])
@pytest.mark.parametrize("likelihood", [StudentT(0.01, 4.0), Gaussian(1e-4)])
def test_a_level_far_from_zero_costs_what_it_rounds_y_by_and_no_more(likelihood, level):
    """At 1e12 a float64 is rounded by 6e-5; where f was, by 0.01 of noise, means were off by 22."""
    X = np.linspace(0.0, 5.0, 20)[:, None]
    y = np.sin(X[:, 0]) + 0.01 * np.random.default_rng(0).normal(size=20) + level
    y[5] += 0.3
    there, here = (
        condition(
            LaplaceGP(GP(RBF(1.0, 1.0), mean=ConstantMean(at)), likelihood), X, y - level + at
        )
        for at in (level, 0.0)
    )
    np.testing.assert_allclose(
        there.mean(X) - level, here.mean(X), rtol=0.0, atol=np.spacing(level)
    )
    np.testing.assert_allclose(there.variance(X), here.variance(X), rtol=1e-9)
