"""The pendulum of gymnasium, as it is: a world to learn in.

The state is ``(θ, θ̇)``, the angle from upright in radians, counted on beyond full turns, and its
velocity in radians a second; the action is a torque of at most 2 newton metres.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.xp import Array, Matrix, Vector, as_array
from . import simulators
from .costs import SaturatingCost
from .dynamics import Transitions
from .tasks import Task

__all__ = ["REPEAT", "STEP_SECONDS", "TORQUE", "simulate", "swing_up", "upright"]

TORQUE = 2.0
REPEAT = 3  # time steps of the simulator, 0.05 s each, for which an action is held
STEP_SECONDS = 0.05 * REPEAT


def swing_up(like: Array, *, horizon: int = 35, width: float = 0.8) -> Task:
    """Make the task of swinging a pendulum up, from hanging at rest to upright.

    The start is 0.1 rad and 0.1 rad/s uncertain.

    Parameters
    ----------
    like : Array
        An array of the kind that the task is to have.
    horizon : int, default 35
        The number of steps, T.
    width : float, default 0.8
        The cost saturates with the distance of the tip from its place when upright, in units of so
        many lengths of the pendulum.

    Examples
    --------
    >>> task = swing_up(np.zeros(1))
    >>> round(task.cost(np.asarray([np.pi, 0.0, 0.0, -1.0])), 4)
    0.9561
    """
    width = _check.positive(_check.number(width, "width"), "width")
    _check.divisor(width * width, "width", "1 / width²")
    _check.floating(like, "like")
    target = as_array([0.0, 0.0, 0.0, 1.0], like)
    weight = as_array(np.diag([0.0, 0.0, width**-2, width**-2]), like)
    start = as_array([math.pi, 0.0], like), as_array(0.01 * np.eye(2), like)
    return Task(SaturatingCost(target, weight), *start, horizon, angles=(0,))


def simulate(
    act: Callable[[Vector], Vector],
    start: Vector | Sequence[float],
    horizon: int,
    *,
    like: Array | None = None,
) -> Transitions:
    """Swing gymnasium's pendulum under a policy, and return the transitions.

    Each action is held for `REPEAT` time steps. Every call has a pendulum of its own, so that
    `act` may simulate another, to look ahead, and threads do not meet.

    Parameters
    ----------
    act : Callable
        ``act(z)`` is the torque (1,) in the state z = (θ, θ̇, sin θ, cos θ).
    start : array or pair of numbers, shape (2,)
        The first state (θ, θ̇).
    horizon : int
        The number of actions.
    like : Array, optional
        An array of the kind of the states that `act` gets, and of the result; without it they are
        of the kind of the first array that `act` holds, as a policy does, else of NumPy.

    Returns
    -------
    Transitions
        The observations of the environment: cosine, sine and velocity in single precision.

    Raises
    ------
    ImportError
        If gymnasium is not installed.

    Notes
    -----
    The environment is ``Pendulum-v1``; only its first state is set from here.
    """
    _check.function(act, "act")
    like = simulators.kind_of(act, like)
    horizon = _check.whole(horizon, "horizon", 1)
    start = simulators.start_state(start, 2)
    env = _environment()
    env.reset(seed=0)
    env.state = start.copy()
    states, actions = [start], []
    for _ in range(horizon):
        theta, velocity = states[-1]
        z = [theta, velocity, math.sin(theta), math.cos(theta)]
        actions.append(simulators.held_action(act, z, TORQUE, like))
        for _ in range(REPEAT):
            observation, *_ = env.step(actions[-1])
        cosine, sine, velocity = (float(value) for value in observation)
        turned = math.remainder(math.atan2(sine, cosine) - theta, 2.0 * math.pi)
        states.append(np.asarray([theta + turned, velocity]))
    return simulators.transitions(states, actions, like)


def upright(states: Matrix, *, last: int = 10, within: float = 0.3) -> bool:
    """True if the pendulum stays near upright in the last of its states.

    Parameters
    ----------
    states : Matrix, shape (n, 2)
        Angles and velocities.
    last : int, default 10
        The number of states that are looked at.
    within : float, default 0.3
        The largest angle from upright, in radians.

    Returns
    -------
    bool
        True if all of them are nearer to upright than that.

    Examples
    --------
    >>> upright(np.asarray([[3.0, 0.0], [2.0 * np.pi - 0.1, 0.2]]), last=1)
    True
    """
    end, within = simulators.last_states(states, 2, last, within)
    angles = [math.remainder(float(angle), 2.0 * math.pi) for angle in end[:, 0]]
    return max(abs(angle) for angle in angles) < within


def _environment() -> Any:
    """A pendulum of its own for each call: a policy may simulate one to look ahead."""
    try:
        gymnasium = importlib.import_module("gymnasium")
    except ImportError as problem:
        raise ImportError(
            "the pendulum is gymnasium's: from a clone, pip install '.[notebook]'"
        ) from problem
    return gymnasium.make("Pendulum-v1").unwrapped
