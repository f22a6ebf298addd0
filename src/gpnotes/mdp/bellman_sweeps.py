"""Sweeps of Bellman's operators, for arrays of any kind."""

from __future__ import annotations

from typing import Any, Protocol

from ..fast.sweeps import ENOUGH, LOOKS, MOST, SETTLED, SparseSweeps
from ..ground.xp import Matrix, Vector, array_namespace, as_host
from .decision_process import MDP
from .ties import first_best, largest

__all__ = ["GeneralSweeps", "Sweeps", "sweeps_of"]


class Sweeps(Protocol):
    """What the methods of `solve` that iterate on values ask for."""

    @property
    def action_values(self) -> Matrix:
        """Those of the last look, (S, A)."""

    def look(self, values: Vector) -> Vector:
        """The value (S,) of the best action of each state, if later ones are `values`."""

    def follow(self, values: Vector, best: Vector, aim: float) -> Vector:
        """Values after sweeps with the policy that is best at the last look."""


def sweeps_of(mdp: MDP) -> Sweeps:
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
        self._q = mdp.rewards
        self._policy: Vector | None = None
        self._looks = 0

    @property
    def action_values(self) -> Matrix:
        """Those of the last look, (S, A)."""
        return self._q

    def look(self, values: Vector) -> Vector:
        """The value (S,) of the best action of each state, if later ones are `values`."""
        self._q = self._mdp.backup(values)
        return largest(self._q)

    def follow(self, values: Vector, best: Vector, aim: float) -> Vector:
        """Values after sweeps with the policy that is best at the last look.

        Parameters
        ----------
        values, best : Vector, shape (S,)
            The values of the last look, and what it gave.
        aim : float
            The span of a step that is asked for in the end.

        Returns
        -------
        Vector, shape (S,)
            The values.
        """
        self._looks += 1
        if self._looks <= LOOKS:
            return best
        policy = first_best(self._q)
        enough = aim / 3.0
        if self._policy is None or self._changed(policy) > SETTLED * policy.shape[0]:
            enough = max(enough, ENOUGH * _span(best - values))
        self._policy = policy
        P, r = self._mdp.followed(policy)
        for _ in range(MOST):
            new = r + self._mdp.discount * (P @ best)
            step, best = new - best, new
            if _span(step) <= enough:
                break
        return best

    def _changed(self, policy: Vector) -> int:
        xp = array_namespace(policy)
        return int(xp.sum(xp.astype(policy != self._policy, xp.int64)))


def _span(a: Vector) -> float:
    xp = array_namespace(a)
    return float(xp.max(a)) - float(xp.min(a))
