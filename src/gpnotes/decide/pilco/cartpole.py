"""A pole on a cart: a second world to learn in, with four entries in its state.

The state is ``(x, ẋ, θ, θ̇)``: the place of the cart in metres and its velocity, the angle of the
pole from upright in radians, counted on beyond full turns, and its velocity; the action is a force
on the cart of at most 10 newtons. Masses, length, friction and limit are chosen here, near those of
other simulations; the cart of PILCO's paper of 2011 is a real one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...ground import check as _check
from ...ground.xp import Array, HostVector, Matrix, Vector, as_array
from . import simulators
from .costs import SaturatingCost
from .dynamics import Transitions
from .tasks import Task

__all__ = ["FORCE", "LENGTH", "STEP_SECONDS", "balanced", "simulate", "swing_up"]

FORCE = 10.0  # newtons
LENGTH = 0.6  # metres
STEP_SECONDS = 0.1
_CART, _POLE, _FRICTION, _GRAVITY = 0.5, 0.5, 0.1, 9.82
_SUBSTEPS = 10  # steps of Runge and Kutta, of 0.01 s each, within one of ours


def swing_up(like: Array, *, horizon: int = 40, width: float = 0.25) -> Task:
    """Make the task of swinging the pole up by driving the cart, and of keeping it above x = 0.

    The start is at rest, hanging, with a standard deviation of 0.1 in each entry.

    Parameters
    ----------
    like : Array
        An array of the kind that the task is to have.
    horizon : int, default 40
        The number of steps, T.
    width : float, default 0.25
        The cost saturates with the distance of the tip from its place when upright, in units of so
        many metres.

    Notes
    -----
    Source: Deisenroth & Rasmussen (2011), equation 25, of the tip's place.

    Examples
    --------
    >>> task = swing_up(np.zeros(1))
    >>> above = [0.25, 0.0, 0.0, 0.0, 0.0, 1.0]  # a quarter of a metre to the side
    >>> round(task.cost(np.asarray(above)), 4)
    0.3935
    """
    width = _check.positive(_check.number(width, "width"), "width")
    _check.divisor(width * width, "width", "1 / width²")
    _check.floating(like, "like")
    tip = np.zeros((2, 6))  # of z = (x, ẋ, θ, θ̇, sin θ, cos θ): to the side, and up
    tip[0, [0, 4]] = 1.0, LENGTH
    tip[1, 5] = LENGTH
    target = as_array([0.0] * 5 + [1.0], like)
    cost = SaturatingCost(target, as_array(tip.T @ tip / width**2, like))
    start = as_array([0.0, 0.0, math.pi, 0.0], like), as_array(0.01 * np.eye(4), like)
    return Task(cost, *start, horizon, angles=(2,))


def simulate(
    act: Callable[[Vector], Vector],
    start: Vector | Sequence[float],
    horizon: int,
    *,
    like: Array | None = None,
) -> Transitions:
    """Drive the cart under a policy, and return the transitions.

    Each force is held for `STEP_SECONDS`; beyond `FORCE` it is cut off.

    Parameters
    ----------
    act : Callable
        ``act(z)`` is the force (1,) in the state z = (x, ẋ, θ, θ̇, sin θ, cos θ).
    start : array or sequence of numbers, shape (4,)
        The first state (x, ẋ, θ, θ̇).
    horizon : int
        The number of actions.
    like : Array, optional
        An array of the kind of the states that `act` gets, and of the result; without it they are
        of the kind of the first array that `act` holds, as a policy does, else of NumPy.

    Returns
    -------
    Transitions
        The observed steps, without noise.

    Notes
    -----
    The equations of motion are Lagrange's, of a cart of half a kilogram with a friction of 0.1
    newtons for each metre a second, and a uniform rod of half a kilogram. Without the friction they
    are those of gymnasium's ``CartPole-v1``, whose `length` is half of the rod's.

    Examples
    --------
    >>> seen = simulate(lambda z: np.asarray([10.0]), [0.0, 0.0, math.pi, 0.0], 2)
    >>> seen.next_states[:, 0].round(3)  # to the right
    array([0.078, 0.289])
    """
    _check.function(act, "act")
    like = simulators.kind_of(act, like)
    horizon = _check.whole(horizon, "horizon", 1)
    states, actions = [simulators.start_state(start, 4)], []
    for _ in range(horizon):
        angle = states[-1][2]
        z = [*states[-1], math.sin(angle), math.cos(angle)]
        actions.append(simulators.held_action(act, z, FORCE, like))
        states.append(_reached(states[-1], float(actions[-1][0])))
    return simulators.transitions(states, actions, like)


def balanced(states: Matrix, *, last: int = 10, within: float = 0.2) -> bool:
    """True if the tip of the pole stays near its place above x = 0 in the last states.

    Parameters
    ----------
    states : Matrix, shape (n, 4)
        States of the cart and the pole.
    last : int, default 10
        The number of states that are looked at.
    within : float, default 0.2
        The largest distance of the tip, in metres.

    Returns
    -------
    bool
        True if in all of them it is nearer than that.

    Examples
    --------
    >>> balanced(np.asarray([[3.0, 0.0, 3.1, 0.0], [0.1, 0.2, 2.0 * np.pi, 0.1]]), last=1)
    True
    """
    end, within = simulators.last_states(states, 4, last, within)
    x, _, angle, _ = end.T
    distances = np.hypot(x + LENGTH * np.sin(angle), LENGTH * (np.cos(angle) - 1.0))
    return float(np.max(distances)) < within


def _reached(state: HostVector, force: float) -> HostVector:
    """The state after a step, or an error: forces are limited, so only the start can be too far."""
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            after = _next_state(state, force)
        except (OverflowError, ValueError):  # of an angle that is not finite
            after = np.full(4, math.inf)
    if not np.isfinite(after).all():
        raise _check.NoValueError("start must be smaller in size: the states overflow")
    return after


def _next_state(state: HostVector, force: float) -> HostVector:
    """The state after a step under one force."""
    h = STEP_SECONDS / _SUBSTEPS
    for _ in range(_SUBSTEPS):
        a = _derivative(state, force)
        b = _derivative(state + 0.5 * h * a, force)
        c = _derivative(state + 0.5 * h * b, force)
        d = _derivative(state + h * c, force)
        state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return state


def _derivative(state: HostVector, force: float) -> HostVector:
    """Lagrange's equations: with θ̈ = 3/(2l) (g sin θ − ẍ cos θ), one for ẍ is left."""
    _, velocity, angle, omega = (float(entry) for entry in state)
    sine, cosine = math.sin(angle), math.cos(angle)
    pole_force = 0.5 * _POLE * LENGTH * omega * omega - 0.75 * _POLE * _GRAVITY * cosine
    net_force = force - _FRICTION * velocity + pole_force * sine
    acceleration = net_force / (_CART + _POLE - 0.75 * _POLE * cosine * cosine)
    angular_acceleration = 1.5 / LENGTH * (_GRAVITY * sine - acceleration * cosine)
    return np.asarray([velocity, acceleration, omega, angular_acceleration])
