"""Upper bounds of the value of beliefs: their value with some information for free."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ..ground import check as _check
from ..ground.xp import Matrix, array_namespace
from .alpha_vectors import AlphaVectors, asked_or, discounted
from .pomdp import POMDP
from .solving import _solve

__all__ = ["fast_informed_bound", "qmdp"]

Backup = Callable[[Matrix], Matrix]


def qmdp(pomdp: POMDP, *, tolerance: float | None = None, max_steps: int = 100_000) -> AlphaVectors:
    """Return the values of beliefs if the state were seen after the first step.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.
    tolerance : float, optional
        It has converged where each vector is proved to be so near to the limit; it is above it. By
        default 1e-8 of the largest reward, or what rounding hides.
    max_steps : int, default 100000
        How many backups at most.

    Returns
    -------
    AlphaVectors
        One vector for each action, [eq-be-qmdp]; nowhere below the best value. Its `converged`
        is False if `max_steps` backups did not suffice: an upper bound all the same.

    Raises
    ------
    ValueError
        If the discount is one or `tolerance` not positive.

    Notes
    -----
    Backups, of A·S² each, start from the values that `solve` proves. Source: Littman, Cassandra &
    Kaelbling (1995).
    """

    def backup(vectors: Matrix) -> Matrix:
        xp = array_namespace(vectors)
        best = xp.max(vectors, axis=0)
        future = xp.stack([pomdp.transitions[a, ...] @ best for a in range(pomdp.mdp.num_actions)])
        return xp.matrix_transpose(pomdp.mdp.rewards) + pomdp.mdp.discount * future

    return _fixed_point(pomdp, backup, tolerance, max_steps)


def fast_informed_bound(
    pomdp: POMDP, *, tolerance: float | None = None, max_steps: int = 100_000
) -> AlphaVectors:
    """Return the values of beliefs if each state were seen one step late.

    Parameters
    ----------
    pomdp, tolerance, max_steps
        As in `qmdp`.

    Returns
    -------
    AlphaVectors
        One vector for each action, [eq-be-informed]; nowhere below the best value, nor above
        `qmdp`. Its `converged` is False if `max_steps` backups did not suffice: an upper bound all
        the same.

    Raises
    ------
    ValueError
        If the discount is one or `tolerance` not positive.

    Notes
    -----
    A backup costs A²·O·S². Source: Hauskrecht (2000).
    """

    def backup(vectors: Matrix) -> Matrix:
        xp = array_namespace(vectors)
        new_vectors = []
        for a in range(pomdp.mdp.num_actions):
            vector = pomdp.mdp.rewards[:, a]
            for o in range(pomdp.num_observations):
                weights = pomdp.transitions[a, ...] * pomdp.observations[a, :, o][None, :]
                future = weights @ xp.matrix_transpose(vectors)
                vector = vector + pomdp.mdp.discount * xp.max(future, axis=1)
            new_vectors.append(vector)
        return xp.stack(new_vectors)

    return _fixed_point(pomdp, backup, tolerance, max_steps)


def _fixed_point(
    pomdp: POMDP, backup: Backup, tolerance: float | None, max_steps: int
) -> AlphaVectors:
    """Return the limit of backups from above; all later steps lower it by γ/(1 − γ) of the last."""
    discount = discounted(pomdp).mdp.discount
    tolerance = asked_or(tolerance, pomdp)
    rewards = pomdp.mdp.rewards
    xp = array_namespace(rewards)
    actions = tuple(range(pomdp.mdp.num_actions))
    highest = float(xp.max(rewards)) / (1.0 - discount)
    # who sees the state all along earns no less, and `solve` finds that soon
    size = 2.0 ** math.frexp(pomdp.mdp.largest_reward)[1]  # so that all is the same in any unit
    known = _solve(replace(pomdp.mdp, rewards=rewards / size))
    top = xp.clip(size * (known.values + known.bound), None, highest)
    vectors = xp.stack([top for _ in actions])
    for _ in range(_check.whole(max_steps, "max_steps", 1)):
        new = backup(vectors)
        remaining = float(xp.max(xp.abs(new - vectors))) * discount
        vectors = new
        if remaining <= tolerance * (1.0 - discount):
            return AlphaVectors(vectors, actions)
    return AlphaVectors(vectors, actions, converged=False)
