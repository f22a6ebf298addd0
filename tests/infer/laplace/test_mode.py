"""Newton's steps end at the mode, whatever the unit of f."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, LaplaceGP, StudentT, condition


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
