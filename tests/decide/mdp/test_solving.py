"""The best policy and its certificate, by four methods."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.decide.mdp import MDP, Grid, evaluate, solve
from gpnotes.decide.mdp.solving import METHODS
from gpnotes.ground.xp import to_numpy


def random_arrays(rng, S=12, A=3):
    P = rng.dirichlet(np.full(S, 0.3), (S, A))
    return P, rng.normal(size=(S, A))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_what_iterating_long_finds(rng, method):
    P, r = random_arrays(rng)
    mdp = MDP.from_arrays(P, r, 0.9)
    v = np.zeros(12)
    for _ in range(500):
        v = np.max(r + 0.9 * P @ v, axis=1)
    found = solve(mdp, method)
    np.testing.assert_allclose(found.values, v, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found.policy, np.argmax(r + 0.9 * P @ v, axis=1))
    assert 0.0 < found.bound <= 1e-8
    assert np.max(np.abs(evaluate(mdp, found.policy) - v)) <= found.bound


@pytest.mark.parametrize("method", METHODS)
def test_sparse_is_as_dense(rng, method):
    P, r = random_arrays(rng)
    dense = solve(MDP.from_arrays(P, r, 0.9), method)
    sparse = solve(MDP.from_arrays([sp.csr_array(P[:, a]) for a in range(3)], r, 0.9), method)
    np.testing.assert_allclose(sparse.values, dense.values, rtol=0, atol=2e-8)
    np.testing.assert_array_equal(sparse.policy, dense.policy)


@pytest.mark.parametrize("method", METHODS)
def test_every_namespace_gets_the_same_policy(rng, space, method):
    P, r = random_arrays(rng)
    found = solve(MDP.from_arrays(space.asarray(P), space.asarray(r), 0.9), method)
    exact = solve(MDP.from_arrays(P, r, 0.9))
    assert found.values.dtype == space.asarray(r).dtype
    np.testing.assert_array_equal(to_numpy(found.policy), exact.policy)
    assert np.max(np.abs(to_numpy(found.values) - exact.values)) <= found.bound + exact.bound


@pytest.mark.parametrize("method", METHODS)
def test_a_walk_without_discount_counts_the_steps(method):
    mdp = Grid(("S...", ".##.", "...G"), step=-1.0, rewards={}).mdp(1.0)
    found = solve(mdp, method)
    np.testing.assert_allclose(found.values, [-5, -4, -3, -2, -4, -1, -3, -2, -1, 0], atol=1e-8)
    assert found.values[-1] == 0.0
