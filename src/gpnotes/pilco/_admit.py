"""What the functions of control check at the door: states, counts, and worlds that fit together."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from .. import _check
from .._xp import Array, array_namespace
from ..moments.spread import admit_input


def state(m: Array, S: Array, size: int | None = None) -> Array:
    """S made symmetric, if ``N(m, S)`` is a normal distribution of `size` entries."""
    _check.vector(m, "m", size=size)
    _check.matrix(S, "S", rows=m.shape[0], columns=m.shape[0])
    _check.alike(S, "S", m, "m")
    return admit_input(m, S, m[None, :])


def count(value: Any, name: str) -> int:
    """`value` if it is a whole number from 1."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number from 1; got {value!r}") from None
    if number < 1:
        raise ValueError(f"{name} must be a whole number from 1; got {number}")
    return number


def entries(values: Sequence[int], name: str, size: int, of: str) -> tuple[int, ...]:
    """`values` as a tuple, if they are different whole numbers from 0 to size − 1."""
    try:
        found = tuple(index(value) for value in values)
    except TypeError:
        raise TypeError(f"{name} must be whole numbers, entries of {of}; got {values!r}") from None
    if any(not 0 <= one < size for one in found):
        raise ValueError(f"{name} must be entries 0 to {size - 1} of {of}; got {found}")
    if len(set(found)) < len(found):
        raise ValueError(f"{name} must name each entry once; got {found}")
    return found


def world(dynamics: Any, policy: Any, m: Array, S: Array) -> Array:
    """S made symmetric, if the dynamics and the policy are those of a state x ~ N(m, S)."""
    S = state(m, S)
    outputs = dynamics.predictor.outputs
    if len(outputs) != m.shape[0]:
        wanted = f"one posterior for each of the {m.shape[0]} entries of m"
        raise ValueError(f"dynamics must have {wanted}; got {len(outputs)}")
    entries(dynamics.angles, "angles", m.shape[0], "m")
    z = dynamics.inputs(m[None, :], m[None, :0])[0, :]
    action, width = policy(z), outputs[0].X.shape[1]
    if z.shape[0] + action.shape[0] != width:
        got = f"{z.shape[0]} of the state with its angles and {action.shape[0]} of the action"
        raise ValueError(f"the posteriors of dynamics look at {width} entries; there are {got}")
    _check.alike(action, "the action", m, "m")
    return S


def task(dynamics: Any, policy: Any, task: Any) -> None:
    """Nothing, if a task is one for this policy in these dynamics."""
    world(dynamics, policy, task.mean, task.covariance)
    if tuple(task.angles) != tuple(dynamics.angles):
        raise ValueError(f"task.angles must be those of dynamics; got {task.angles}")
    goal(task.cost, task.mean.shape[0] + 2 * len(task.angles), task.mean)


def goal(cost: Any, size: int, like: Array) -> None:
    """Nothing, if a cost is one of a state with its sines, `size` entries of the kind of m."""
    _check.alike(_check.vector(cost.target, "cost.target", size=size), "cost.target", like, "m")


def particles(dynamics: Any, starts: Array) -> Array:
    """`starts` (p, D) if there is at least one, of the size of the dynamics' state."""
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
