"""Whether dynamics, a policy, a cost and a task fit each other."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._xp import Array
from . import _admit
from .costs import SaturatingCost
from .dynamics import Dynamics


def world(dynamics: Any, policy: Any, m: Array, S: Array) -> Array:
    """S made symmetric, if the dynamics and the policy fit a state x ~ N(m, S)."""
    _admit.policy(policy)
    S = _admit.state(m, S)
    actions(dynamics, policy, m)
    return S


def actions(dynamics: Any, policy: Any, m: Array) -> None:
    """Refuse a policy whose actions in the state m are not those of the dynamics."""
    model = _check.instance(dynamics, "dynamics", Dynamics).predictor
    if model.outputs != m.shape[0]:
        wanted = f"one posterior for each of the {m.shape[0]} entries of m"
        raise ValueError(f"dynamics must have {wanted}; got {model.outputs}")
    _check.entries(dynamics.angles, "angles", m.shape[0], "m")
    z = dynamics.inputs(m[None, :], m[None, :0])[0, :]
    action = _check.vector(_admit.function(policy, "policy")(z), "the action")
    width = model.X.shape[1]
    if z.shape[0] + action.shape[0] != width:
        got = f"{z.shape[0]} of the state with its angles and {action.shape[0]} of the action"
        raise ValueError(f"the posteriors of dynamics look at {width} entries; there are {got}")
    _check.alike(action, "the action", m, "m")


def cost(cost: Any, size: int, like: Array) -> None:
    """Refuse a cost that is not one of `size` entries, a state with its sines, like m."""
    target = _check.instance(cost, "cost", SaturatingCost).target
    _check.alike(_check.vector(target, "cost.target", size=size), "cost.target", like, "m")


def task(dynamics: Any, policy: Any, task: Any) -> None:
    """Refuse a task that does not fit the policy and the dynamics."""
    world(dynamics, policy, task.mean, task.covariance)
    if tuple(task.angles) != tuple(dynamics.angles):
        raise ValueError(f"task.angles must be those of dynamics; got {task.angles}")
    cost(task.cost, task.mean.shape[0] + 2 * len(task.angles), task.mean)


def particles(dynamics: Any, starts: Array) -> Array:
    """`starts` (p, D) if there is at least one, of the size of the dynamics' state."""
    _check.instance(dynamics, "dynamics", Dynamics)
    _check.matrix(starts, "starts", columns=len(dynamics.posteriors))
    if starts.shape[0] == 0:
        raise ValueError(f"starts must have at least one row; got {starts.shape}")
    return starts
