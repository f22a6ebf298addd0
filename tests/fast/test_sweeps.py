"""Sweeps of Bellman's operators: the path in place must equal the readable one."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.fast import sweeps
from gpnotes.fast.sweeps import FULL_BACKUPS, SparseSweeps, span
from gpnotes.mdp import MDP
from gpnotes.mdp.bellman_sweeps import GeneralSweeps


@pytest.fixture(params=[1, 2], ids=["as one block", "in blocks, by two threads"], autouse=True)
def threads(request, monkeypatch):
    """The tests hold with a single block as well as with many of them, which two threads share."""
    if request.param > 1:
        monkeypatch.setattr(sweeps, "_ENTRIES", 200)
        monkeypatch.setattr(sweeps, "shared_out", lambda: nullcontext(request.param))
    return request.param


def random_process(rng, even, S=300, A=4):
    """Sparse transitions; rows are of one length, or of many."""
    lengths = np.full(S * A, 5) if even else rng.integers(1, 9, S * A)
    rows = np.repeat(np.arange(S * A), lengths)
    columns = np.concatenate([rng.choice(S, n, replace=False) for n in lengths])
    p = rng.random(rows.size)
    p /= np.bincount(rows, p)[rows]
    P = sp.csr_array((p, (rows, columns)), shape=(S * A, S))
    return MDP(P, rng.normal(size=(S, A)), 0.95)


@pytest.mark.parametrize("even", [True, False], ids=["rows alike", "rows of many lengths"])
def test_looks_and_sweeps_are_the_same(rng, even):
    mdp = random_process(rng, even)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    plain = GeneralSweeps(mdp)
    values = np.zeros(mdp.num_states)
    for _ in range(FULL_BACKUPS + 6):
        best, wanted = fast.optimality_backup(values), plain.optimality_backup(values)
        np.testing.assert_allclose(best, wanted, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(fast.action_values, plain.action_values, rtol=0, atol=1e-13)
        wanted = plain.partial_evaluation(values, wanted, 1e-12)
        values = fast.partial_evaluation(values, best, 1e-12)
        # the one looks at the span every third sweep, the other at each
        np.testing.assert_allclose(values - values[0], wanted - wanted[0], rtol=0, atol=0.5)
    step = fast.optimality_backup(values) - values
    assert np.ptp(step) < 1e-11


@pytest.mark.parametrize("even", [True, False], ids=["rows alike", "rows of many lengths"])
def test_a_chain_that_is_written_over_is_that_of_the_policy(rng, even):
    """A change of few states replaces their rows; where these are longer, all are taken anew."""
    mdp = random_process(rng, even)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    values = rng.normal(size=mdp.num_states)
    for change in (0.0, 1e-3, 1e-2, 0.1, 1.0):
        values = values + change * rng.normal(size=mdp.num_states)
        best = fast.optimality_backup(values)
        fast._choose(best)
        policy = np.argmax(fast.action_values, axis=1)
        np.testing.assert_array_equal(fast._policy, policy)
        chain, earned = mdp.induced_chain(policy)
        np.testing.assert_allclose(
            fast._chain.toarray(), mdp.discount * chain.toarray(), rtol=0, atol=1e-15
        )
        np.testing.assert_array_equal(fast._earned, earned)
        together = sp.vstack([part for _, part in fast._blocks])
        np.testing.assert_array_equal(together.toarray(), fast._chain.toarray())


def test_rows_of_one_length_are_written_over_where_few_states_change(rng):
    """The chain stays the same matrix, which costs less than another one."""
    mdp = random_process(rng, even=True)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    values = rng.normal(size=mdp.num_states)
    fast._choose(fast.optimality_backup(values))
    chain = fast._chain
    best = fast.optimality_backup(values + 0.1 * rng.normal(size=mdp.num_states))
    assert 0 < fast._choose(best) < 0.1 * mdp.num_states
    assert fast._chain is chain


def test_sweeps_with_one_policy_end_at_a_share_of_the_span_until_it_stays(rng):
    mdp = random_process(rng, even=True)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    values, threshold, left = np.zeros(mdp.num_states), 1e-6, []
    for _ in range(FULL_BACKUPS + 8):
        best = fast.optimality_backup(values)
        before = fast._policy is not None and fast._policy.copy()
        values, began = fast.partial_evaluation(values, best, threshold), span(best - values)
        if fast._policy is not None:
            stays = np.array_equal(before, fast._policy)
            left.append((stays, began, span(fast._swept(values) - values)))
    assert not left[0][0]
    assert threshold < left[0][2] <= sweeps.SPAN_RATIO * left[0][1]
    assert left[-1][0]
    assert left[-1][2] <= threshold / 3


def test_blocks_are_as_large_as_they_should_be_and_share_the_matrix(rng, threads):
    P = random_process(rng, even=False).transitions
    blocks = sweeps._blocks(P, 300)
    assert len(blocks) == (P.nnz // 200 if threads > 1 else 1)
    assert all(np.shares_memory(part.data, P.data) for _, part in blocks)
    assert all(np.shares_memory(part.indices, P.indices) for _, part in blocks)


@pytest.mark.parametrize("level", [-40.0, 0.0, 40.0])
def test_the_span_of_a_vector_knows_no_level(rng, level):
    """So sweeps end at the same one wherever the values lie."""
    a = rng.uniform(size=50)
    a[7], a[20] = -1.0, 3.0
    assert span(a + level) == pytest.approx(4.0)


def test_later_values_of_zero_leave_the_rewards_whenever_they_come(rng):
    mdp = random_process(rng, even=True)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    nothing, values = np.zeros(mdp.num_states), rng.normal(size=mdp.num_states)
    for _ in range(2):
        np.testing.assert_array_equal(fast.optimality_backup(nothing), mdp.rewards.max(axis=1))
        np.testing.assert_array_equal(fast.action_values, mdp.rewards)
        wanted = mdp.rewards + mdp.discount * (mdp.transitions @ values).reshape(-1, 4)
        np.testing.assert_allclose(fast.optimality_backup(values), wanted.max(axis=1), rtol=1e-12)


def test_the_span_is_looked_at_after_three_sweeps(rng):
    mdp = random_process(rng, even=True)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    values = np.zeros(mdp.num_states)
    for _ in range(FULL_BACKUPS):
        values = fast.partial_evaluation(values, fast.optimality_backup(values), 1.0)
    best = fast.optimality_backup(values)
    found = fast.partial_evaluation(values, best, np.inf)
    chain, earned = mdp.induced_chain(np.argmax(fast.action_values, axis=1))
    for _ in range(3):
        best = mdp.discount * (chain @ best) + earned
    np.testing.assert_allclose(found, best, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("known", [0, 1, 299, 300])
def test_the_first_sweep_takes_what_is_known_of_any_state(rng, known):
    mdp, values = random_process(rng, even=True), np.zeros(300)
    values[:known] = rng.normal(size=known)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    best = GeneralSweeps(mdp).optimality_backup(values)
    np.testing.assert_allclose(fast.optimality_backup(values), best, rtol=1e-13, atol=1e-13)


def test_sweeps_end_by_the_span_of_a_step_and_not_of_the_values(rng):
    """Values that lie far apart, but move little: three sweeps are enough."""
    mdp = random_process(rng, even=True)
    fast = SparseSweeps(mdp.transitions, mdp.rewards, mdp.discount)
    values = np.zeros(mdp.num_states)
    for _ in range(FULL_BACKUPS + 20):
        values = fast.partial_evaluation(values, fast.optimality_backup(values), 1e-12)
    level = 1e-6 * rng.random(mdp.num_states)  # by which three sweeps change them
    best = fast.optimality_backup(values + level)
    found = fast.partial_evaluation(values + level, best, 1e-3)
    chain, earned = mdp.induced_chain(np.argmax(fast.action_values, axis=1))
    for _ in range(3):
        best = mdp.discount * (chain @ best) + earned
    assert span(best) > 0.1
    np.testing.assert_allclose(found, best, rtol=0.0, atol=1e-13)
