"""Paths that lose much of their energy: what acceptance and weights must then mend.

Where the energy hardly moves along a path, a wrong weight of its places does no harm that a test
could see. So these chains take steps so coarse, or slopes so wrong, that two places in three would
be refused. The sampler must keep the density all the same, for any field of slopes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.samplers import HMC, NUTS


class Known(NamedTuple):
    """A density that is the normal one in other coordinates: there its moments are known."""

    target: object  # the log density and its gradient
    to: object  # from a standard normal vector
    back: object  # to it


def correlated(d, rho):
    """A normal density whose coordinates all correlate by rho."""
    low = np.linalg.cholesky((1.0 - rho) * np.eye(d) + rho)
    inverse = np.linalg.inv(low)
    precision = inverse.T @ inverse

    def target(x):
        slope = -(precision @ x)
        return 0.5 * float(x @ slope), slope

    return Known(target, lambda z: low @ z, lambda x: inverse @ x)


def funnel(d):
    """A normal v, and d − 1 coordinates of variance exp(v) each."""

    def target(x):
        v, narrow = float(x[0]), math.exp(-x[0])
        half = 0.5 * narrow * float(x[1:] @ x[1:])
        slope = -narrow * x
        slope[0] = half - v - 0.5 * (d - 1)
        return -half - 0.5 * v * (v + d - 1), slope

    def to(z):
        return np.concatenate([z[:1], math.exp(z[0] / 2.0) * z[1:]])

    def back(x):
        return np.concatenate([x[:1], math.exp(-x[0] / 2.0) * x[1:]])

    return Known(target, to, back)


def without_slope(density):
    """The same density, of which the paths see nothing: they go straight on."""
    none = np.zeros(2)
    return density._replace(target=lambda x: (density.target(x)[0], none))


def energies(density, d, sampler, chains, draws):
    """Half the squared length of what the draws are in normal coordinates, by chain.

    Each chain starts at a draw of the density, and all are independent. Its mean is d/2. The
    acceptance is the second.
    """
    draw, rng = stream(1), np.random.default_rng(1)
    found, accepted = np.empty((chains, draws)), np.empty((chains, draws))
    for chain in range(chains):
        state = sampler.init(density.target, density.to(rng.standard_normal(d)))
        for i in range(draws):
            step = sampler.step(density.target, state, draw)
            state, accepted[chain, i] = step.state, step.acceptance
            found[chain, i] = 0.5 * np.sum(density.back(state.position) ** 2)
    return found, float(np.mean(accepted))


def assert_kept(density, d, sampler, *, chains, draws, accepted=(0.3, 0.5)):
    """The mean energy is that of the density, within 4.5 standard errors between the chains."""
    found, acceptance = energies(density, d, sampler, chains, draws)
    assert accepted[0] < acceptance < accepted[1]
    means = found.mean(axis=1)
    off = (means.mean() - 0.5 * d) / (means.std(ddof=1) / math.sqrt(chains))
    assert abs(off) < 4.5, f"{off:.1f} standard errors off"


BLIND = {
    "correlated normal": (without_slope(correlated(2, 0.8)), NUTS(0.25, max_tree_depth=4)),
    "funnel": (without_slope(funnel(2)), NUTS(0.3, max_tree_depth=4)),
}


@pytest.mark.parametrize("name", ["correlated normal", "funnel"])
def test_a_place_of_a_path_is_drawn_by_its_weight_whatever_the_path(name):
    """Sixteen places in a row, of all weights: with the largest for their sum, 7 errors off."""
    density, sampler = BLIND[name]
    assert_kept(density, 2, sampler, chains=100, draws=12)


COARSE = {
    "standard normal, NUTS": (correlated(5, 0.0), 5, NUTS(1.2), 60, (0.6, 0.8)),
    "correlated normal, NUTS": (correlated(5, 0.4), 5, NUTS(1.0), 60, (0.6, 0.8)),
    "funnel, NUTS": (funnel(3), 3, NUTS(1.0), 150, (0.3, 0.5)),
    "funnel, HMC": (funnel(3), 3, HMC(1.0, 3), 150, (0.3, 0.5)),
}


def test_a_path_of_coarse_steps_is_weighed_by_the_sum_of_its_weights():
    """With the larger of two weights for their sum it is 5.5 errors off."""
    assert_kept(correlated(5, 0.0), 5, NUTS(1.6), chains=60, draws=80)


def test_halves_of_a_longer_path_are_drawn_by_their_shares():
    """By the ratio of their weights it is 9 errors off, and with the larger for the sum 13."""
    settings = {"chains": 60, "draws": 80, "accepted": (0.8, 0.9)}
    assert_kept(correlated(3, 0.0), 3, NUTS(1.0), **settings)


@pytest.mark.parametrize("name", COARSE)
def test_coarse_steps_keep_the_density(name):
    """By the ratio of the weights of halves NUTS is 5 to 9 errors off, by half the energy HMC is 7.

    Finer steps make longer paths, which show a wrong weight in fewer chains; in a funnel they do
    not.
    """
    density, d, sampler, chains, accepted = COARSE[name]
    assert_kept(density, d, sampler, chains=chains, draws=80, accepted=accepted)


def test_what_a_path_loses_of_its_energy_is_mended_by_acceptance():
    """By half of it, it would not: that is 8 errors off."""
    assert_kept(correlated(10, 0.5), 10, HMC(1.1, 3), chains=400, draws=8)
