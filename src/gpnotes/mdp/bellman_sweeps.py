"""Sweeps of Bellman's operators, for arrays of any kind."""

from __future__ import annotations

from typing import Any, Protocol

from ..fast.sweeps import FULL_BACKUPS, MAX_SWEEPS, SPAN_RATIO, STABLE_SHARE, SparseSweeps
from ..ground.xp import Matrix, Vector, as_host
from .decision_process import MDP
from .greedy_policies import max_over_actions

__all__ = ["GeneralSweeps", "Sweeps", "make_sweeps"]


class Sweeps(Protocol):
    """The sweeps that the value-based methods of `solve` call."""

    @property
    def action_values(self) -> Matrix:
        """Those of the last optimality backup, (S, A)."""

    def optimality_backup(self, values: Vector) -> Vector:
        """The value (S,) of the best action of each state, if later ones are `values`."""

    def partial_evaluation(self, values: Vector, best: Vector, threshold: float) -> Vector:
        """Values (S,) after sweeps with the policy that is greedy at the last backup.

        They follow the values before that backup and after it, until the span of a step is some
        share of what it was, or a third of `threshold`.
        """


def make_sweeps(mdp: MDP) -> Sweeps:
    """Return the sweeps of a process, in place for sparse transitions."""
    if mdp.sparse:
        in_place: Any = SparseSweeps(mdp.transitions, as_host(mdp.rewards), mdp.discount)
        return in_place
    return GeneralSweeps(mdp)


class GeneralSweeps:
    """The sweeps of any process, readable: `gpnotes.fast.sweeps` must give the same.

    Parameters
    ----------
    mdp : MDP
        The process.
    """

    def __init__(self, mdp: MDP) -> None:
        self._mdp = mdp
        self.action_values: Matrix = mdp.rewards
        self._policy: Vector | None = None
        self._backups = 0

    def optimality_backup(self, values: Vector) -> Vector:
        """The value (S,) of the best action of each state, if later ones are `values`."""
        self.action_values = self._mdp._action_values(values)
        return max_over_actions(self.action_values, self._mdp.xp)

    def partial_evaluation(self, values: Vector, best: Vector, threshold: float) -> Vector:
        """Values after sweeps with the policy that is greedy at the last backup."""
        self._backups += 1
        if self._backups <= FULL_BACKUPS:
            return best
        xp = self._mdp.xp
        policy = xp.argmax(self.action_values, axis=1)
        span_limit = threshold / 3.0
        changed = None if self._policy is None else xp.count_nonzero(policy != self._policy)
        if changed is None or int(changed) > STABLE_SHARE * policy.shape[0]:
            step = best - values
            span_limit = max(span_limit, SPAN_RATIO * (float(xp.max(step)) - float(xp.min(step))))
        self._policy = policy
        P, r = self._mdp._induced_chain(policy)
        for _ in range(MAX_SWEEPS):
            next_values = r + self._mdp.discount * (P @ best)
            step, best = next_values - best, next_values
            if float(xp.max(step)) - float(xp.min(step)) <= span_limit:
                break
        return best
