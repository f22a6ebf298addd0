"""What the functions of control check at the door: states, counts, and worlds that fit together."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._xp import Array, array_namespace
from ..moments.spread import admit_input
from .cost import SaturatingCost
from .dynamics import Dynamics


def state(m: Array, S: Array, size: int | None = None, *, names: tuple = ("m", "S")) -> Array:
    """S made symmetric, if ``N(m, S)`` is a normal distribution of `size` entries."""
    _check.vector(m, names[0], size=size)
    return admit_input(m, S, m[None, :], names[1], mean=names[0])


def world(dynamics: Any, policy: Any, m: Array, S: Array) -> Array:
    """S made symmetric, if the dynamics and the policy are those of a state x ~ N(m, S)."""
    moving(policy)
    S = state(m, S)
    acting(dynamics, policy, m)
    return S


def moving(policy: Any, name: str = "policy") -> Any:
    """`policy` if it has what a rollout asks of one: actions, and moments with their pullback."""
    if isinstance(policy, type) or not (
        callable(policy) and callable(getattr(policy, "moments_and_pullback", None))
    ):
        wanted = "a policy, such as LinearPolicy, with moments_and_pullback"
        raise TypeError(f"{name} must be {wanted}; got {_check._kind(policy)}")
    return policy


def acting(dynamics: Any, policy: Any, m: Array) -> None:
    """Nothing, if the actions of a policy in the state m are those of these dynamics."""
    outputs = _check.instance(dynamics, "dynamics", Dynamics).predictor.outputs
    if len(outputs) != m.shape[0]:
        wanted = f"one posterior for each of the {m.shape[0]} entries of m"
        raise ValueError(f"dynamics must have {wanted}; got {len(outputs)}")
    _check.entries(dynamics.angles, "angles", m.shape[0], "m")
    z = dynamics.inputs(m[None, :], m[None, :0])[0, :]
    action, width = (
        _check.vector(function(policy, "policy")(z), "the action"),
        outputs[0].X.shape[1],
    )
    if z.shape[0] + action.shape[0] != width:
        got = f"{z.shape[0]} of the state with its angles and {action.shape[0]} of the action"
        raise ValueError(f"the posteriors of dynamics look at {width} entries; there are {got}")
    _check.alike(action, "the action", m, "m")


def function(value: Any, name: str) -> Any:
    """`value` if it can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function; got {_check._kind(value)}")
    return value


def task(dynamics: Any, policy: Any, task: Any) -> None:
    """Nothing, if a task is one for this policy in these dynamics."""
    world(dynamics, policy, task.mean, task.covariance)
    if tuple(task.angles) != tuple(dynamics.angles):
        raise ValueError(f"task.angles must be those of dynamics; got {task.angles}")
    goal(task.cost, task.mean.shape[0] + 2 * len(task.angles), task.mean)


def goal(cost: Any, size: int, like: Array) -> None:
    """Nothing, if a cost is one of a state with its sines, `size` entries of the kind of m."""
    target = _check.instance(cost, "cost", SaturatingCost).target
    _check.alike(_check.vector(target, "cost.target", size=size), "cost.target", like, "m")


def particles(dynamics: Any, starts: Array) -> Array:
    """`starts` (p, D) if there is at least one, of the size of the dynamics' state."""
    _check.instance(dynamics, "dynamics", Dynamics)
    _check.matrix(starts, "starts", columns=len(dynamics.posteriors))
    if starts.shape[0] == 0:
        raise ValueError(f"starts must have at least one row; got {starts.shape}")
    return starts


def seen(data: Any) -> None:
    """Nothing, if states (n, D), actions (n, U) and nexts (n, D) fit each other, with n ≥ 2."""
    n, D = _check.matrix(data.states, "states").shape
    if n < 2:
        raise ValueError(f"states must have at least two rows; got {data.states.shape}")
    _check.matrix(data.actions, "actions", rows=n)
    _check.matrix(data.nexts, "nexts", rows=n, columns=D)
    for name in ("actions", "nexts"):
        _check.alike(getattr(data, name), name, data.states, "states")


def limits(limit: Any, v: Array) -> Array:
    """`limit`, one number or one for each action, as an array like v (U,)."""
    ones = array_namespace(v).ones_like(v)
    if not isinstance(limit, int | float):
        _check.alike(_check.vector(limit, "limit", size=v.shape[0]), "limit", v, "the action")
    return limit * ones
