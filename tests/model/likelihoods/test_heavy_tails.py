"""Student's t beside SciPy's, in any unit and at any level of y."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from gpnotes.model.likelihoods import StudentT

NOISE = StudentT(0.3, 3.5)
MEAN, SD = 0.375, 0.6
UNITS = [(1.0, 0.0), (1e-12, 0.0), (1e-18, 0.0), (1e12, 0.0), (1.0, 1e9), (1e-12, 1e-6)]


def _log_pdf(y, f):
    return stats.t.logpdf(y, NOISE.dof, loc=f, scale=NOISE.scale)


@cache
def _averages(y: float) -> tuple[float, float, float, float]:
    """E log p, its slopes by mean and variance, and log E p, by the sum over a fine lattice of f.

    By parts the slopes are ``E log p · t/s`` and ``½ E log p · (t² − 1)/s²`` for f = m + s t.
    """
    t, step = np.linspace(-12.0, 12.0, 40_001, retstep=True)
    weights, logs = stats.norm.pdf(t) * step, _log_pdf(y, MEAN + SD * t)
    slopes = weights @ (logs * t) / SD, 0.5 * weights @ (logs * (t * t - 1.0)) / SD**2
    return float(weights @ logs), *map(float, slopes), math.log(weights @ np.exp(logs))


def test_the_log_density_is_scipys():
    y, f = np.asarray([0.0, 1.0, -40.0, 1e12]), np.asarray([0.0, 0.7, 3.0, 0.0])
    np.testing.assert_allclose(NOISE.log_density(y, f), _log_pdf(y, f), rtol=1e-13)


@pytest.mark.parametrize("dof", [1e9, 1e14])
def test_with_many_degrees_of_freedom_it_is_normal(dof):
    """Two values of log Γ of 1e15 were subtracted: at 1e14 the density was off by 6 percent."""
    y = np.asarray([0.0, 1.0, 10.0])
    found = StudentT(1.0, dof).log_density(y, np.zeros(3))
    np.testing.assert_allclose(found, stats.norm.logpdf(y), rtol=1e-7)


def test_the_derivative_by_many_degrees_of_freedom_is_that_of_its_series():
    """The log density is the normal one plus ``(u⁴ − 2u² − 1)/4ν``, and terms in 1/ν²."""
    for u in (0.0, 1.0, 3.0):
        bar = StudentT(1.0, 1e7).pullback(np.asarray([u]), np.zeros(1), np.ones(1))[0].dof
        assert bar == pytest.approx(-(u**4 - 2.0 * u**2 - 1.0) / 4e14, rel=1e-4, abs=0.0)


@pytest.mark.parametrize(("unit", "level"), UNITS)
@pytest.mark.parametrize("y", [0.5, 2.0])
def test_averages_over_f_are_right_in_any_unit_and_at_any_level(unit, level, y):
    """A deviation was held for rounding beside 1, or beside the level."""
    noise = StudentT(NOISE.scale * unit, NOISE.dof)
    given = [np.asarray([a]) for a in (y * unit + level, MEAN * unit + level, (SD * unit) ** 2)]
    value, by_mean, by_variance = noise.expected(*given, nodes=300)
    found = [value + math.log(unit), by_mean * unit, by_variance * unit**2]
    found.append(noise.log_predictive(*given) + math.log(unit))
    np.testing.assert_allclose(np.concatenate(found), _averages(y), rtol=1e-6)
