"""Sweeps of Bellman's operators in place, for sparse transitions on the host.

Action values stand action after action, so that the best of each state is a maximum of rows, and
the policy is looked up only where its own action is no longer best. Threads share large processes
by blocks of states.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ..ground.sparse_matrices import SparseMatrix
from ..ground.task_queue import for_each
from ..ground.threads import shared_out
from ..ground.xp import HostMatrix, HostVector

__all__ = ["FULL_BACKUPS", "MAX_SWEEPS", "SPAN_RATIO", "STABLE_SHARE", "SparseSweeps", "span"]

SPAN_RATIO = 0.05  # of the span before, at which sweeps with one policy end
MAX_SWEEPS = 250  # of them
STABLE_SHARE = 1e-3  # of the states change their action: then sweeps go on to the end
_FEW = 0.1  # of the states change their action: then their rows are written over
_BETWEEN = 3  # sweeps from one measure of the span to the next
FULL_BACKUPS = 2  # of all actions before the first policy is followed: it would be a poor one
_ENTRIES = 2**19  # of the matrix in a block, a millisecond's work

Block: TypeAlias = tuple[slice, SparseMatrix]


def span(a: HostVector) -> float:
    """Return the largest entry less the smallest."""
    return float(a.max() - a.min())


def _blocks(matrix: SparseMatrix, states: int) -> list[Block]:
    """The rows of a matrix by blocks of states, without a copy."""
    count, each = matrix.nnz // _ENTRIES, matrix.shape[0] // states
    if count < 2:
        return [(slice(None), matrix)]
    found = []
    for start, end in pairwise(np.linspace(0, states, count + 1).astype(int).tolist()):
        starts = matrix.indptr[start * each : end * each + 1]
        part = type(matrix)(((end - start) * each, matrix.shape[1]))
        # set one by one, as SciPy copies views of less than half an array when a matrix is made
        part.indptr = starts - starts[0]
        part.data, part.indices = (a[starts[0] : starts[-1]] for a in (matrix.data, matrix.indices))
        found.append((slice(start, end), part))
    return found


def _share(blocks: list[Block], work: Callable[[Block], None]) -> None:
    """Do the work for each block, by the threads that are at hand."""
    if len(blocks) == 1:
        work(blocks[0])
        return
    with shared_out() as threads:
        for_each(blocks, work, threads)


class SparseSweeps:
    """The work of value iteration and of modified policy iteration on one process.

    Parameters
    ----------
    P : csr_array, shape (S·A, S)
        The transitions.
    rewards : HostMatrix, shape (S, A)
        The rewards.
    discount : float
        The discount.
    """

    def __init__(self, P: SparseMatrix, rewards: HostMatrix, discount: float) -> None:
        self._P, self._discount = P, discount
        self._pairs = _blocks(P, rewards.shape[0])
        self._rewards = np.ascontiguousarray(rewards.T)
        self._q = self._rewards.copy()
        self._states = np.arange(rewards.shape[0])
        self._policy: Any = None
        self._backups = 0
        self._fresh = True

    @property
    def action_values(self) -> HostMatrix:
        """Those of the last optimality backup, (S, A), a view that the next one fills anew."""
        return self._q.T

    def optimality_backup(self, values: HostVector) -> HostVector:
        """Return the value (S,) of the best action of each state, if later ones are `values`."""
        if self._fresh and not values.any():  # `_q` holds the rewards
            return self._q.max(axis=0)
        self._fresh = False
        later, best = self._discount * values, np.empty_like(values)

        def back_up(block: Block) -> None:
            states, P = block
            q = self._q[:, states]
            np.add((P @ later).reshape(-1, len(q)).T, self._rewards[:, states], out=q)
            q.max(axis=0, out=best[states])

        _share(self._pairs, back_up)
        return best

    def partial_evaluation(
        self, values: HostVector, best: HostVector, threshold: float
    ) -> HostVector:
        """Return values after sweeps with the policy that is greedy at the last backup."""
        self._backups += 1
        if self._backups <= FULL_BACKUPS:
            return best
        changed = self._choose(best)
        enough = threshold / 3.0
        if changed > STABLE_SHARE * best.size:
            enough = max(enough, SPAN_RATIO * span(best - values))
        for sweep in range(1, MAX_SWEEPS + 1):
            new = self._swept(best)
            if sweep % _BETWEEN == 0 and span(new - best) <= enough:
                return new
            best = new
        return best

    def _swept(self, values: HostVector) -> HostVector:
        """What the policy earns in a step, and then these values."""
        new = np.empty_like(values)

        def sweep(block: Block) -> None:
            states, chain = block
            np.add(chain @ values, self._earned[states], out=new[states])

        _share(self._blocks, sweep)
        return new

    def _choose(self, best: HostVector) -> int:
        """Take the first best action of states whose own is worse; how many these are."""
        size = best.size
        if self._policy is None:
            self._policy = np.empty(size, dtype=np.intp)
            for action in reversed(range(len(self._q))):
                self._policy[self._q[action] == best] = action
            self._take_chain()
            return size
        own = self._q.ravel()[self._policy * size + self._states]
        worse = np.flatnonzero(own < best)
        if worse.size:
            self._policy[worse] = np.argmax(self._q[:, worse], axis=0)
            if worse.size > _FEW * size or not self._replaced(worse):
                self._take_chain()
        return worse.size

    def _take_chain(self) -> None:
        """Take the rows of the policy out of the transitions, as its chain, and its rewards."""
        actions, size = self._q.shape
        self._earned = self._rewards.ravel()[self._policy * size + self._states]
        self._chain = self._P[self._states * actions + self._policy]
        self._chain.data *= self._discount
        self._blocks = _blocks(self._chain, size)

    def _replaced(self, states: HostVector) -> bool:
        """Write the rows of some states over those in the chain, if they are as long."""
        P, chain, actions = self._P, self._chain, len(self._q)
        rows = states * actions + self._policy[states]
        first, to = P.indptr[rows], chain.indptr[states]
        lengths = P.indptr[rows + 1] - first
        if np.any(lengths != chain.indptr[states + 1] - to):
            return False
        within = np.arange(np.sum(lengths)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        source, target = np.repeat(first, lengths) + within, np.repeat(to, lengths) + within
        chain.data[target] = P.data[source] * self._discount
        chain.indices[target] = P.indices[source]
        self._earned[states] = self._rewards[self._policy[states], states]
        return True
