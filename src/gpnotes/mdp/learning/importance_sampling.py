"""The value of a policy from what another one did: returns weighted by ratios of probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.xp import HostArray, HostMatrix, HostVector
from .exploring import settle_policy, table
from .schedules import share
from .tabular import Transition
from .td_prediction import chance, covered

__all__ = ["OffPolicy", "importance_weights", "off_policy_value"]


@dataclass(frozen=True, eq=False)
class OffPolicy:
    """What episodes of one policy say of the value of another, at the states where they begin.

    Parameters
    ----------
    ordinary : float
        The mean of the weighted returns: without bias, and with a variance that may be infinite.
    weighted : float
        Their sum by the sum of the weights: biased by less the more episodes there are.
    effective : float
        How many episodes of the policy itself would say as much: ``(Σ w)² / Σ w²``.
    returns : HostVector, shape (n,)
        The discounted return of each episode.
    weights : HostVector, shape (n,)
        The weight of each.
    """

    ordinary: float
    weighted: float
    effective: float
    returns: HostVector
    weights: HostVector


def importance_weights(seen: Transition, policy: HostArray, behaviour: HostArray) -> HostMatrix:
    """Return how much more probable a policy makes each episode so far than the one that acted.

    Parameters
    ----------
    seen : Transition
        What was recorded of some runs, each part (steps, runs).
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy.
    behaviour : HostMatrix, shape (S, A)
        The one that acted, with probabilities that are positive where those of `policy` are.

    Returns
    -------
    HostMatrix, shape (steps, runs)
        The products of the ratios from the first step of the episode on.
    """
    ratios = _ratios(seen, policy, behaviour)
    over, weights = seen.ended | seen.cut, np.empty_like(ratios)
    product = np.ones(ratios.shape[1])
    for step, ratio in enumerate(ratios):
        product = product * ratio
        weights[step] = product
        product = np.where(over[step], 1.0, product)
    return weights


def off_policy_value(
    seen: Transition, policy: HostArray, behaviour: HostArray, discount: float
) -> OffPolicy:
    """Estimate the value of a policy from episodes of another, of those that came to their end.

    Parameters
    ----------
    seen : Transition
        What was recorded of some runs, each part (steps, runs).
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy.
    behaviour : HostMatrix, shape (S, A)
        The one that acted, with probabilities that are positive where those of `policy` are.
    discount : float
        The discount γ, in [0, 1].

    Returns
    -------
    OffPolicy
        Two estimates, the returns and the weights.
    """
    weights, discount = importance_weights(seen, policy, behaviour), share(discount, "discount")
    if not seen.ended.any():
        raise ValueError("seen must hold an episode that came to its end; got none")
    total, factor = np.zeros(weights.shape[1]), np.ones(weights.shape[1])
    returns = np.empty_like(weights)
    for step, over in enumerate(seen.ended | seen.cut):
        total = total + factor * seen.rewards[step]
        returns[step] = total
        total, factor = np.where(over, 0.0, total), np.where(over, 1.0, factor * discount)
    g, w = returns[seen.ended], weights[seen.ended]
    whole = float(w.sum())
    if whole == 0.0:
        raise _check.NoValueError("policy must be able to do what was seen; all weights are 0")
    effective = whole**2 / float(w @ w)
    return OffPolicy(float((w * g).mean()), float(w @ g) / whole, effective, g, w)


def _ratios(seen: Transition, policy: HostArray, behaviour: HostArray) -> HostMatrix:
    if not isinstance(seen, Transition) or np.ndim(seen.states) != 2:
        wanted = "the transitions of runs, of a `Run` with record=True"
        raise TypeError(f"seen must be {wanted}; got {_check.kind_of(seen)}")
    acted = settle_policy(behaviour, "behaviour")
    if acted.ndim != 2:
        raise ValueError(f"behaviour must be probabilities (S, A); got shape {acted.shape}")
    states, actions = acted.shape
    if seen.states.max() >= states or seen.actions.max() >= actions:
        most = (int(seen.states.max()), int(seen.actions.max()))
        raise ValueError(f"behaviour must have all states and actions that were seen; got {most}")
    target = table(settle_policy(policy, "policy"), "policy", states, actions)
    covered(target, acted)
    taken = chance(acted, seen.states, seen.actions)
    if not taken.all():
        raise ValueError("behaviour must be the policy that acted: some action has probability 0")
    return np.asarray(chance(target, seen.states, seen.actions) / taken)
