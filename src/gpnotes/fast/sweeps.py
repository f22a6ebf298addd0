"""Sweeps of Bellman's operators in place, for sparse transitions on the host.

Action values stand action after action, so that the best of each state is a maximum of rows, and
the policy is looked up only where its own action is no longer best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.sparse_matrices import SparseMatrix
from ..ground.xp import HostMatrix, HostVector

__all__ = ["FULL_BACKUPS", "MAX_SWEEPS", "SPAN_RATIO", "STABLE_SHARE", "SparseSweeps", "span"]

SPAN_RATIO = 0.05  # of the span before, at which sweeps with one policy end
MAX_SWEEPS = 250  # of them
STABLE_SHARE = 1e-3  # of the states change their action: then sweeps go on to the end
_FEW = 0.1  # of the states change their action: then their rows are written over
_BETWEEN = 3  # sweeps from one measure of the span to the next
FULL_BACKUPS = 2  # of all actions before the first policy is followed: it would be a poor one


def span(a: HostVector) -> float:
    """Return the largest entry less the smallest."""
    return float(a.max() - a.min())


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
        self._rewards = np.ascontiguousarray(rewards.T)
        self._q = self._rewards.copy()
        self._states = np.arange(rewards.shape[0])
        self._policy: Any = None
        self._backups = 0
        self._fresh = True

    @property
    def action_values(self) -> HostMatrix:
        """Those of the last optimality backup, (S, A)."""
        return np.ascontiguousarray(self._q.T)

    def optimality_backup(self, values: HostVector) -> HostVector:
        """Return the value (S,) of the best action of each state, if later ones are `values`."""
        if self._fresh and not values.any():  # `_q` holds the rewards
            return self._q.max(axis=0)
        self._fresh = False
        actions, states = self._q.shape
        ahead = self._P @ (self._discount * values)
        np.add(ahead.reshape(states, actions).T, self._rewards, out=self._q)
        return self._q.max(axis=0)

    def partial_evaluation(
        self, values: HostVector, best: HostVector, threshold: float
    ) -> HostVector:
        """Return values after sweeps with the policy that is greedy at the last backup.

        Parameters
        ----------
        values, best : HostVector, shape (S,)
            The values before the last optimality backup, and after it.
        threshold : float
            The span of a step that is asked for in the end.

        Returns
        -------
        HostVector, shape (S,)
            The values.
        """
        self._backups += 1
        if self._backups <= FULL_BACKUPS:
            return best
        changed = self._choose(best)
        enough = threshold / 3.0
        if changed > STABLE_SHARE * best.size:
            enough = max(enough, SPAN_RATIO * span(best - values))
        for sweep in range(1, MAX_SWEEPS + 1):
            new = self._chain @ best
            new += self._earned
            if sweep % _BETWEEN == 0 and span(new - best) <= enough:
                return new
            best = new
        return best

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
