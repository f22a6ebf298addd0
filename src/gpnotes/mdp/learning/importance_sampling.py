"""Off-policy evaluation: returns of another policy, weighted by ratios of probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.xp import HostArray, HostMatrix, HostVector
from .exploration import as_policy, policy_table
from .schedules import fraction
from .tabular import Transition
from .td_prediction import action_probabilities, check_coverage

__all__ = ["OffPolicyEstimate", "importance_weights", "off_policy_value"]


@dataclass(frozen=True, eq=False)
class OffPolicyEstimate:
    """Estimates of a policy's value from episodes of another, at the states where they begin.

    Parameters
    ----------
    ordinary : float
        The mean of the weighted returns: without bias, and with a variance that may be infinite.
    weighted : float
        Their sum by the sum of the weights: biased by less the more episodes there are.
    effective_sample_size : float
        How many episodes of the policy itself would say as much: ``(Σ w)² / Σ w²``.
    returns : HostVector, shape (n,)
        The discounted return of each episode.
    weights : HostVector, shape (n,)
        The weight of each.
    """

    ordinary: float
    weighted: float
    effective_sample_size: float
    returns: HostVector
    weights: HostVector


def importance_weights(
    transitions: Transition, policy: HostArray, behaviour: HostArray
) -> HostMatrix:
    """Return how much more probable a policy makes each episode so far than the one that acted.

    Parameters
    ----------
    transitions : Transition
        The recorded steps of some runs, each part (steps, runs).
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy.
    behaviour : HostMatrix, shape (S, A)
        The one that acted, with probabilities that are positive where those of `policy` are.

    Returns
    -------
    HostMatrix, shape (steps, runs)
        The products of the ratios from the first step of the episode on.
    """
    return _weights(_recorded(transitions), policy, behaviour)


def _weights(transitions: Transition, policy: HostArray, behaviour: HostArray) -> HostMatrix:
    ratios = _ratios(transitions, policy, behaviour)
    over, weights = transitions.terminated | transitions.truncated, np.empty_like(ratios)
    product = np.ones(ratios.shape[1])
    for step, ratio in enumerate(ratios):
        product = product * ratio
        weights[step] = product
        product = np.where(over[step], 1.0, product)
    return weights


def off_policy_value(
    transitions: Transition, policy: HostArray, behaviour: HostArray, discount: float
) -> OffPolicyEstimate:
    """Estimate the value of a policy from episodes of another, of those that came to their end.

    Parameters
    ----------
    transitions, policy, behaviour
        As in `importance_weights`.
    discount : float
        The discount γ, in [0, 1].

    Returns
    -------
    OffPolicyEstimate
        Two estimates, the returns and the weights.
    """
    transitions = _recorded(transitions)
    weights = _weights(transitions, policy, behaviour)
    discount = fraction(discount, "discount")
    if not transitions.terminated.any():
        raise ValueError("transitions must hold an episode that came to its end; got none")
    returned, factor = np.zeros(weights.shape[1]), np.ones(weights.shape[1])
    returns = np.empty_like(weights)
    for step, over in enumerate(transitions.terminated | transitions.truncated):
        returned = returned + factor * transitions.rewards[step]
        returns[step] = returned
        returned, factor = np.where(over, 0.0, returned), np.where(over, 1.0, factor * discount)
    g, w = returns[transitions.terminated], weights[transitions.terminated]
    weight = float(w.sum())
    if weight == 0.0:
        raise _check.NoValueError("policy must be able to do what was seen; all weights are 0")
    effective = weight**2 / float(w @ w)
    return OffPolicyEstimate(float((w * g).mean()), float(w @ g) / weight, effective, g, w)


def _recorded(transitions: Transition) -> Transition:
    """Transitions as arrays (steps, runs), if all parts are: whole numbers, floats and truths."""
    if not isinstance(transitions, Transition) or np.ndim(transitions.states) != 2:
        wanted = "the transitions of runs, of a `Run` with record=True"
        raise TypeError(f"transitions must be {wanted}; got {_check.kind_of(transitions)}")
    parts = Transition(*map(np.asarray, transitions))
    wanted_kinds = ("iu", "iu", "iuf", "iu", "b", "b")
    for name, part, kinds in zip(parts._fields, parts, wanted_kinds, strict=True):
        if part.dtype.kind not in kinds or part.shape != parts.states.shape or not part.size:
            wanted = {"b": "bool", "iu": "whole numbers"}.get(kinds, "numbers")
            raise TypeError(
                f"transitions.{name} must hold {wanted}, (steps, runs) as states, at least one; "
                f"got {part.dtype} of shape {part.shape}"
            )
    _check.finite(parts.rewards, "transitions.rewards")
    return parts


def _ratios(transitions: Transition, policy: HostArray, behaviour: HostArray) -> HostMatrix:
    table = as_policy(behaviour, "behaviour")
    if table.ndim != 2:
        raise ValueError(f"behaviour must be probabilities (S, A); got shape {table.shape}")
    states, actions = table.shape
    for seen, count in ((transitions.states, states), (transitions.actions, actions)):
        if seen.min() < 0 or seen.max() >= count:
            raise ValueError(
                "behaviour must have all states and actions that were seen; it has "
                f"{count}, and {seen.min()} to {seen.max()} were seen"
            )
    target = policy_table(as_policy(policy, "policy"), "policy", states, actions)
    check_coverage(target, table)
    taken = action_probabilities(table, transitions.states, transitions.actions)
    if not taken.all():
        raise ValueError("behaviour must be the policy that acted: some action has probability 0")
    return np.asarray(action_probabilities(target, transitions.states, transitions.actions) / taken)
