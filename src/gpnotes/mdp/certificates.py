"""Bounds for the loss of a policy, computed from one sweep and safe against its rounding."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..ground.xp import Array, Matrix, Vector, array_namespace
from .decision_process import MDP
from .evaluation import expected_steps
from .greedy_policies import chosen_values, max_over_actions

__all__ = [
    "BoundingFunction", "Certificate", "bounding_function", "certify", "rounding_error",
]  # fmt: skip


class BoundingFunction(NamedTuple):
    """A function w of the states that a step makes smaller, by `min_decrease` of it at least.

    That is ``w − γ P w``; it is `max_decrease` at most, where no trip may end.
    """

    weights: Any  # numbers, or at discount 1 arrays (S,), (S, A) and (S, A)
    min_decrease: Any
    max_decrease: Any


class Certificate(NamedTuple):
    """Values between proved lower and upper bounds, and the distance of these."""

    values: Vector
    action_values: Matrix
    bound: float


def rounding_error(mdp: MDP, values: Vector) -> float:
    """Bound the rounding of ``r + γ P v − v`` as it is computed, entry by entry.

    Parameters
    ----------
    values : Vector, shape (S,)
        v.

    Returns
    -------
    float
        The bound for all actions but those that cannot be best, as they cost too much: a penalty
        of a million spoils no other digits.

    Notes
    -----
    A sum of m products is off by at most ``m u / (1 − m u)`` times the sum of their sizes, in any
    order (Higham 2002, section 3.1), with u half the distance from 1 to the next number. Here m
    are the entries of the max_successors row, and there are four operations more.

    Let R be the largest size of a state's highest reward, and V that of a value. Some action gains
    ``−R − 2 V`` at least, ``r + γ P v − v``; one with a reward below ``−2 R − 12 V`` gains less.
    """
    size, counts = _sizes(mdp, values)
    return mdp.rounding * (counts + 2.0 * size)


def _largest(mdp: MDP, values: Vector) -> float:
    return max(-float(mdp.xp.min(values)), float(mdp.xp.max(values)))


def _sizes(mdp: MDP, values: Vector) -> tuple[float, float]:
    """The largest size of a value, and of a reward of an action that may then be best."""
    size = _largest(mdp, values)
    return size, min(mdp.largest_reward, 2.0 * mdp.largest_best_reward + 12.0 * size)


def bounding_function(mdp: MDP, P: Any = None) -> BoundingFunction:
    """Return a function of the states that one step makes smaller, whatever is done.

    Parameters
    ----------
    P : Matrix, shape (S, S), optional
        The chain of a proper policy, needed if the discount is 1.

    Returns
    -------
    BoundingFunction
        Below discount 1 it is one where the process goes on, and shrinks by ``1 − γ`` at least, or
        by the sums of the stored rows. At discount 1 it is the expected number of steps under the
        policy; actions that lead away from the end do not shrink it.
    """
    xp, u = mdp.xp, mdp.epsilon
    if mdp.discount < 1.0:
        low, high = mdp.row_sums
        rounded = u * (mdp.max_successors + 2)  # of the sums
        weights = xp.astype(~mdp.terminal, mdp.rewards.dtype) if bool(xp.any(mdp.terminal)) else 1.0
        return BoundingFunction(
            weights,
            1.0 - mdp.discount * high * (1.0 + rounded) - u,
            1.0 - mdp.discount * low * (1.0 - rounded) + u,
        )
    weights = expected_steps(P, mdp)
    rewards = xp.where(mdp.available, mdp.rewards, xp.zeros_like(mdp.rewards))
    after = xp.where(mdp.available, mdp._action_values(weights), rewards)
    decrease = weights[:, None] - after + rewards
    rounding = rounding_error(mdp, weights)
    return BoundingFunction(weights, decrease - rounding, decrease + rounding)


def certify(
    mdp: MDP, values: Vector, action_values: Matrix, policy: Vector, bounding: BoundingFunction
) -> Certificate:
    """Bound the loss of a policy, and the values of the process, by one sweep.

    Parameters
    ----------
    values : Vector, shape (S,)
        Any numbers v, zero in terminal states.
    action_values : Matrix, shape (S, A)
        ``q = r + γ P v``, as computed.
    policy : Vector, shape (S,)
        The policy π.
    bounding : BoundingFunction
        As `bounding_function` makes it.

    Returns
    -------
    Certificate
        The values halfway between the bounds, and how far these lie apart at most.

    Notes
    -----
    Let T be Bellman's operator, which is monotone. If ``T u ≤ u``, then ``v* ≤ u``, as repeated T
    leads down to v*. Try ``u = v + c w``: it is enough that ``q − v ≤ c (w − γ P w)`` for every
    action. Likewise ``v_π ≥ v + c w`` if ``q_π − v ≥ c (w − γ P_π w)``. With w = 1 the numbers c
    are ``max (q − v) / (1 − γ)`` and ``min (q_π − v) / (1 − γ)``: bounds as those of MacQueen
    (1966) and Porteus (1971), but about v; about ``T v`` they would be closer by the factor γ. The
    computed q may be off by `rounding_error`, which is added to each step before it
    is divided; so the bound is one of the process as it is stored.
    """
    xp, unit = mdp.xp, mdp.rounding
    size, counts = _sizes(mdp, values)
    earned = _largest(mdp, chosen_values(mdp.rewards, policy, xp))
    policy_rounding = unit * (max(counts, earned) + 2.0 * size)
    policy_values = chosen_values(action_values, policy, xp)
    if mdp.discount < 1.0:
        rounding = unit * (counts + 2.0 * size)
        max_gain = float(xp.max(max_over_actions(action_values, xp) - values)) + rounding
        min_gain = float(xp.min(policy_values - values)) - policy_rounding
        high, low = _scaled(max_gain, bounding), -_scaled(-min_gain, bounding)
        max_weight = 1.0
    else:
        nonterminal = ~mdp.terminal
        decrease = bounding.min_decrease
        sizes = xp.abs(xp.where(mdp.available, mdp.rewards, xp.zeros_like(mdp.rewards)))
        roundings = unit * (xp.where(sizes > counts, sizes, counts) + 2.0 * size)
        high = _needed(action_values - values[:, None] + roundings, decrease, nonterminal[:, None])
        policy_decrease = chosen_values(decrease, policy, xp)
        low = -_needed(values - policy_values + policy_rounding, policy_decrease, nonterminal)
        max_weight = float(xp.max(bounding.weights))
    bound = (high - low) * max_weight * (1.0 + 1e-12)
    if not math.isfinite(bound):
        return Certificate(values, action_values, math.inf)
    middle = 0.5 * (high + low)
    shifted = values + middle * bounding.weights
    if isinstance(bounding.weights, float):
        return Certificate(shifted, action_values + mdp.discount * middle, bound)
    return Certificate(shifted, mdp._action_values(shifted), bound)


def _scaled(step: float, bounding: BoundingFunction) -> float:
    """The least c with ``step ≤ c (w − γ P w)``."""
    if not bounding.min_decrease > 0.0:
        return math.inf
    return float(step / (bounding.min_decrease if step > 0.0 else bounding.max_decrease))


def _needed(steps: Array, decrease: Array, nonterminal: Array) -> float:
    """The least c ≥ 0 with ``steps ≤ c paid`` where the process goes on; infinity if none."""
    xp = array_namespace(steps)
    decreasing = decrease > 0.0
    ratio = xp.where(decreasing, steps / xp.where(decreasing, decrease, 1.0), 0.0)
    c = max(0.0, float(xp.max(ratio)))
    satisfied = (steps <= c * decrease * (1.0 + 1e-12)) | decreasing | ~nonterminal
    return c if bool(xp.all(satisfied)) else math.inf
