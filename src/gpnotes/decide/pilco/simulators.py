"""Common parts of simulators: a first state, a held action, transitions, last states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ground import check as _check
from ...ground.conversion import first_array
from ...ground.xp import Array, HostMatrix, HostVector, Matrix, Vector, as_array, to_numpy
from .dynamics import Transitions


def start_state(start: Array | Sequence[float], size: int) -> HostVector:
    """A copy of the first state of a simulator, (size,), on the host."""
    try:
        if isinstance(start, Sequence):
            host = np.array(start)
        else:
            host = to_numpy(_check.plain(start, "start"))
    except (TypeError, ValueError):  # not an array, or ragged
        host = np.array(None)
    if host.dtype.kind not in "fiu":
        kind = type(start).__name__
        raise TypeError(f"start must be an array or {size} real numbers; got {kind}")
    state = host.astype(float)
    _check.vector(state, "start", size=size)
    return state


def kind_of(act: Callable[[Vector], Vector], like: Array | None) -> Array:
    """An array of the kind that states have: `like`; else the policy's first; else NumPy's."""
    like = first_array(act) if like is None else like
    return np.zeros(1) if like is None else _check.floating(like, "like")


def held_action(
    act: Callable[[Vector], Vector], z: list[float], limit: float, like: Array
) -> HostVector:
    """Return a policy's action in a state with its angles, (1,), on the host, within a limit."""
    action = to_numpy(_check.vector(act(as_array(z, like)), "act(z)", size=1))
    return np.clip(action, -limit, limit)


def transitions(states: list[HostVector], actions: list[HostVector], like: Array) -> Transitions:
    """The transitions of a path, of one state more than actions."""
    path = as_array(np.stack(states), like)
    return Transitions(path[:-1, :], as_array(np.stack(actions), like), path[1:, :])


def last_states(states: Matrix, columns: int, last: int, within: float) -> tuple[HostMatrix, float]:
    """Check the last states of a path and a limit, and return both, on the host."""
    n = _check.matrix(states, "states", columns=columns).shape[0]
    last = _check.whole(last, "last", 1)
    within = _check.positive(_check.number(within, "within"), "within")
    if n < last:
        raise ValueError(f"states must have at least {last} rows; got {n}")
    return to_numpy(states)[-last:], within
