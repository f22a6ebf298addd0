"""Values and policies of fifty random processes against QuantEcon.py and pymdptoolbox."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.mdp import MDP, solve
from gpnotes.mdp.solving import METHODS

PROBLEMS = range(50)


def problem(i):
    rng = np.random.default_rng(i)
    S, A = int(rng.integers(3, 40)), int(rng.integers(2, 6))
    P = rng.dirichlet(np.full(S, 0.2), (S, A))
    return P, rng.normal(size=(S, A)), float(rng.choice([0.5, 0.9, 0.95, 0.99]))


def ours(i):
    P, r, discount = problem(i)
    rows = [sp.csr_array(P[:, a]) for a in range(P.shape[1])]
    mdp = MDP.from_arrays(rows if i % 2 else P, r, discount, layout="state first")
    return solve(mdp, METHODS[i % 4], tolerance=1e-9)


def same(found, values, policy):
    assert np.max(np.abs(found.values - values)) <= 1e-9
    np.testing.assert_array_equal(found.policy, policy)


@pytest.mark.parametrize("i", PROBLEMS)
def test_quantecon_finds_the_same(i):
    markov = pytest.importorskip("quantecon.markov")
    P, r, discount = problem(i)
    theirs = markov.DiscreteDP(r, P, discount).solve(method="policy_iteration")
    same(ours(i), theirs.v, theirs.sigma)


@pytest.mark.parametrize("i", PROBLEMS)
def test_quantecon_finds_the_same_where_actions_are_not_available(i):
    markov = pytest.importorskip("quantecon.markov")
    P, r, discount = problem(i)
    rng = np.random.default_rng(1000 + i)
    r[rng.random(r.shape) < 0.4] = -np.inf
    r[np.arange(len(r)), rng.integers(r.shape[1], size=len(r))] = 1.0
    theirs = markov.DiscreteDP(r, P, discount).solve(method="policy_iteration")
    mdp = MDP.from_arrays(P, r, discount, layout="state first")
    found = solve(mdp, METHODS[i % 4])
    assert np.max(np.abs(found.values - theirs.v)) <= 1e-8
    np.testing.assert_array_equal(found.policy, theirs.sigma)


@pytest.mark.parametrize("i", PROBLEMS)
def test_pymdptoolbox_finds_the_same(i):
    toolbox = pytest.importorskip("mdptoolbox.mdp")
    P, r, discount = problem(i)
    theirs = toolbox.PolicyIteration(np.moveaxis(P, 1, 0), r, discount)
    theirs.run()
    same(ours(i), np.asarray(theirs.V), np.asarray(theirs.policy))
