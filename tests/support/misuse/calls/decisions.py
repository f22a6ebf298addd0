"""Right calls of active learning: information, designs, queries for labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpnotes import GP, RBF, testing
from gpnotes.decide import design
from gpnotes.model import likelihoods

from ..answers import call
from ..kinds import Fresh, entries, flag, matrix, one_of, positive, thing, vector, whole

_X = np.random.default_rng(1).standard_normal((6, 2))
_GP = GP(RBF(), 0.1)
_GPS = thing(_GP, RBF())
_CANDIDATES = matrix(_X, mates=False).but("a row too many")
_NOISE = positive(0.1).but("None", "a vector", **{"one for another number": np.ones(4)})
_P = vector([0.2, 0.5, 0.9], mates=False).but(
    "one more axis", "a column", "a scalar array", **{"above one": np.asarray([1.5]),
    "below zero": np.asarray([-0.5])}
)  # fmt: skip
_BUDGET = whole(2, 0).but(**{"more than there are": 7})
_MEAN, _VARIANCE = vector([0.2, 0.5, 0.9], size=True), vector([0.2, 0.5, 0.9], size=True)
_VARIANCE = _VARIANCE.but(negative=-np.ones(3))


def _criterion() -> design.criteria.Information:
    """It moves on with each measurement."""
    return design.criteria.Information(_GP, _X, 0.1 * np.ones(6), 10)


_CRITERION = replace(thing(_criterion(), _GP), right=Fresh(_criterion))
_REFERENCE = matrix(_X[:3], columns=True).but("None")

CALLS = (
    call("farthest_points", design.farthest_points, X=_CANDIDATES,
         budget=_BUDGET, initial_subset=entries([1], 6)),
    call("information_gain", design.information_gain, gp=_GPS, X=_CANDIDATES, noise_var=_NOISE),
    call("marginal_gains", design.marginal_gains, gp=_GPS, X=_CANDIDATES,
         chosen=entries([1], 6, repeat=True), noise_var=_NOISE),
    call("greedy_design", design.greedy_design, gp=_GPS, X=_CANDIDATES, budget=_BUDGET,
         criterion=one_of("information"), noise_var=_NOISE, lazy=flag(True),
         initial_subset=entries([1], 6), repeat=flag()),
    call("greedy_design, with a reference", design.greedy_design, gp=_GPS,
         X=matrix(_X, columns=True),
         budget=_BUDGET, criterion=one_of("integrated variance").but(
             **{"one without a reference": "information"}), reference=_REFERENCE),
    call("greedy_design_by", design.greedy_design_by, X=matrix(_X, mates=False), budget=_BUDGET,
         criterion=_CRITERION,
         lazy=flag(True), initial_subset=entries([1], 6), repeat=flag()),
    call("exhaustive_design", design.exhaustive_design, gp=_GPS, X=_CANDIDATES, budget=_BUDGET,
         criterion=one_of("information"), noise_var=_NOISE, max_subsets=whole(1000)),
    call("check_criterion", testing.check_criterion, X=matrix(_X, mates=False),
         criterion=_CRITERION),
    call("bald", design.bald, mean=_MEAN, variance=_VARIANCE,
         likelihood=thing(likelihoods.Bernoulli(), RBF(), optional=True)),
    call("approximate_bald", design.approximate_bald, mean=_MEAN, variance=_VARIANCE),
    call("entropy", design.entropy, probability=_P),
    call("margin", design.margin, probability=_P),
)  # fmt: skip
