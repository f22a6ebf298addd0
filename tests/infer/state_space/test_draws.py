"""Draws along a line have the moments that are predicted, to rounding: they are linear maps."""

from __future__ import annotations

import numpy as np
import pytest
from maps_of_draws import check_two_draws

from gpnotes import GP, ConstantMean, Matern12, White, condition
from gpnotes.infer.state_space import StateSpaceGP

DRAW = np.random.default_rng(3)
X = DRAW.permutation(np.linspace(0.0, 5.0, 5))[:, None]
KNOWN = {"noise_var": DRAW.uniform(0.0, 0.5, 5), "weights": DRAW.uniform(0.5, 4.0, 5)}
XS = np.asarray([[1.0], [6.5], [-0.7]])
NEW = {"noise_var": np.asarray([0.1, 0.0, 0.7]), "weights": np.asarray([2.0, 1.0, 0.5])}


@pytest.mark.parametrize("known", [{}, KNOWN], ids=["alike", "known"])
def test_each_reading_counts_in_draws_by_its_own_noise(known):
    """Of new y whose noise is known, from readings in any order: [eq-bo-pathwise] with a filter."""
    model = StateSpaceGP(GP(Matern12(0.8, 0.7) + White(0.4), 0.1, ConstantMean(0.3)))
    posterior = condition(model, X, np.sin(2.0 * X[:, 0]), **known)
    covariance = posterior.covariance(XS, noise=True, **NEW)
    check_two_draws(
        lambda s: posterior.sample(XS, 2, noise=True, rng=s, **NEW), posterior.mean(XS), covariance
    )
