"""Upper bounds of beliefs, by loops over actions, observations and states."""

from dataclasses import replace

import numpy as np
import pytest

from gpnotes.mdp import MDP, POMDP, fast_informed_bound, qmdp, solve

GAMMA = 0.6


def _drawn(rng, S=3, A=2, kinds=4):
    moves = rng.dirichlet(np.ones(S), (S, A))
    seen = rng.dirichlet(np.ones(kinds), (A, S))
    mdp = MDP.from_arrays(moves, rng.normal(size=(S, A)), GAMMA, layout="state first")
    return POMDP(mdp, seen), moves, seen


def _backed_up(kind, process, moves, seen, vectors):
    A, S = vectors.shape
    new = np.zeros((A, S))
    for a in range(A):
        for s in range(S):
            later = 0.0
            if kind is qmdp:
                later = sum(moves[s, a, t] * max(vectors[:, t]) for t in range(S))
            else:
                for o in range(seen.shape[2]):
                    weights = [moves[s, a, t] * seen[a, t, o] for t in range(S)]
                    later += max(np.dot(weights, vectors[b]) for b in range(A))
            new[a, s] = process.mdp.rewards[s, a] + GAMMA * later
    return new


@pytest.mark.parametrize("kind", [qmdp, fast_informed_bound])
@pytest.mark.parametrize("tolerance", [1.0, 0.03, 1e-5])
def test_backups_fall_from_the_values_of_states_until_the_rest_is_within_tolerance(
    rng, kind, tolerance
):
    process, moves, seen = _drawn(rng)
    size = 2.0 ** np.frexp(process.mdp.largest_reward)[1]
    known = solve(replace(process.mdp, rewards=process.mdp.rewards / size))
    vectors = np.tile(size * (known.values + known.bound), (2, 1))
    steps, gap = 0, np.inf
    while gap * GAMMA / (1.0 - GAMMA) > tolerance:
        new = _backed_up(kind, process, moves, seen, vectors)
        steps, gap, vectors = steps + 1, np.max(np.abs(new - vectors)), new
    found = kind(process, tolerance=tolerance)
    np.testing.assert_allclose(found.vectors, vectors, rtol=1e-12)
    assert found.converged
    assert found.actions == (0, 1)
    assert kind(process, tolerance=tolerance, max_steps=steps).converged
    if steps > 1:
        short = kind(process, tolerance=tolerance, max_steps=steps - 1)
        assert not short.converged
        assert (short.vectors >= vectors - 1e-14).all()
        assert np.max(short.vectors - vectors) == pytest.approx(gap, rel=1e-6, abs=2e-14)


@pytest.mark.parametrize("kind", [qmdp, fast_informed_bound])
def test_limits_and_refusals(rng, kind):
    """The limit is a fixed point, from above; a discount of one has none."""
    process, moves, seen = _drawn(rng, S=2, A=3, kinds=2)
    vectors = kind(process, tolerance=1e-12).vectors
    again = _backed_up(kind, process, moves, seen, vectors)
    np.testing.assert_allclose(again, vectors, atol=2e-12)
    with pytest.raises(ValueError, match="tolerance must be positive"):
        kind(process, tolerance=0.0)
    with pytest.raises(ValueError, match="max_steps must be a whole number from 1"):
        kind(process, max_steps=0)
    mdp = MDP(process.mdp.transitions, process.mdp.rewards, 1.0)
    with pytest.raises(ValueError, match="pomdp must have a discount below one"):
        kind(POMDP(mdp, seen))


def test_a_discount_near_one_costs_no_more_backups(rng):
    """It ended unconverged after 100 000 of them."""
    moves, rewards = rng.dirichlet(np.ones(6), (6, 3)), rng.normal(size=(6, 3))
    mdp = MDP.from_arrays(moves, rewards, 0.9999, layout="state first")
    found = qmdp(POMDP(mdp, rng.dirichlet(np.ones(4), (3, 6))), max_steps=100)
    assert found.converged
    assert (found.vectors >= solve(mdp).action_values.T - 1e-9).all()
