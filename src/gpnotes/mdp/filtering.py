"""What readings in a row tell of states that nobody sees: one filter and one smoother.

A model is three steps on a belief: ahead without a reading, over a reading, and back from the step
after. With finitely many states these are sums, with normal ones the equations of Kalman.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..ground import check as _check
from ..ground.check import NoValueError
from ..ground.xp import Array, Matrix, Vector, array_namespace, keep_copies
from .probabilities import distributions

__all__ = ["Filtered", "HiddenMarkov", "StateModel", "filter", "smooth"]

B = TypeVar("B")  # a belief: probabilities, or mean and covariance


class StateModel(Protocol[B]):
    """A Markov process that is seen through readings, by the three steps on a belief."""

    def readings(self, readings: Any, /) -> Any:
        """Return readings in a row, checked."""
        ...

    @property
    def first(self) -> B:
        """The belief before the first reading."""
        ...

    def ahead(self, belief: B, step: int, /) -> B:
        """Return the belief before reading `step`, from that after the reading before it."""
        ...

    def update(self, belief: B, reading: Any, step: int, /) -> tuple[B, float]:
        """Return the belief after reading `step`, and the log density of that reading."""
        ...

    def back(self, after: B, before: B, smoothed: B, step: int, /) -> B:
        """Return the belief at ``step − 1`` by all readings.

        `after` is what was believed there, `before` what was then believed of `step`, and
        `smoothed` what all readings say of `step`.
        """
        ...

    def stacked(self, beliefs: list[B], /) -> B:
        """Return beliefs in a row as one object, with the steps along its first axis."""
        ...


@dataclass(frozen=True, eq=False)
class Filtered(Generic[B]):
    """What a filter found. Beliefs are probabilities (T, S), or means and covariances.

    Parameters
    ----------
    before : beliefs of T steps
        The belief at each step before its reading, ``p(x_t | y_1, …, y_{t−1})``.
    after : beliefs of T steps
        The belief after it, ``p(x_t | y_1, …, y_t)``.
    log_evidence : float
        The log density of all readings.
    """

    before: B
    after: B
    log_evidence: float


def filter(model: StateModel[B], readings: Any, *, seen: Any = None) -> Filtered[B]:
    """Return what was believed at each step by the readings so far, [eq-be-filter].

    Parameters
    ----------
    model : HiddenMarkov or LinearNormal
        The process and its readings.
    readings : Array, T rows
        The readings in a row: numbers of observations (T,), or vectors (T, K).
    seen : array of bool, shape (T,), optional
        Where there was a reading; by default everywhere. Elsewhere `readings` may hold anything
        valid, which is not looked at.

    Returns
    -------
    Filtered
        The beliefs before and after each reading, and the log evidence.

    Notes
    -----
    T steps, each of the cost of one product with the transitions: with S states S², with D normal
    numbers D³. Source: Rabiner (1989); Kalman (1960).

    Examples
    --------
    >>> import numpy as np
    >>> stays = np.asarray([[0.9, 0.1], [0.1, 0.9]])
    >>> model = HiddenMarkov(np.asarray([0.5, 0.5]), stays, np.asarray([[0.8, 0.2], [0.2, 0.8]]))
    >>> filter(model, np.asarray([0, 0])).after[-1].round(3)
    array([0.919, 0.081])
    """
    before, after, log = _forward(model, *_prepared(model, readings, seen))
    return Filtered(model.stacked(before), model.stacked(after), log)


def smooth(model: StateModel[B], readings: Any, *, seen: Any = None) -> B:
    """Return what is believed of each step by all readings, [eq-be-smooth].

    Parameters
    ----------
    model : HiddenMarkov or LinearNormal
        The process and its readings.
    readings : Array, T rows
        The readings in a row, as `filter` takes them.
    seen : array of bool, shape (T,), optional
        Where there was a reading; by default everywhere.

    Returns
    -------
    beliefs of T steps
        ``p(x_t | y_1, …, y_T)`` for each t.

    Notes
    -----
    The filter, and once more the same way back; the memory is that of the beliefs. Source: Rauch,
    Tung & Striebel (1965).

    Examples
    --------
    >>> import numpy as np
    >>> stays = np.asarray([[0.9, 0.1], [0.1, 0.9]])
    >>> model = HiddenMarkov(np.asarray([0.5, 0.5]), stays, np.asarray([[0.8, 0.2], [0.2, 0.8]]))
    >>> smooth(model, np.asarray([0, 0]))[0].round(3)
    array([0.919, 0.081])
    """
    before, after, _ = _forward(model, *_prepared(model, readings, seen))
    smoothed = [after[-1]]
    for step in range(len(after) - 1, 0, -1):
        smoothed.append(model.back(after[step - 1], before[step], smoothed[-1], step))
    return model.stacked(smoothed[::-1])


def _prepared(model: StateModel[B], readings: Any, seen: Any) -> tuple[Any, list[bool]]:
    for name in ("readings", "ahead", "update", "back"):
        if not hasattr(model, name) or isinstance(model, type):
            raise TypeError(
                f"model must be a HiddenMarkov or a LinearNormal; got {_check.kind_of(model)}"
            )
    readings = model.readings(readings)
    count = readings.shape[0]
    if count == 0:
        raise ValueError("readings must hold one reading or more; got none")
    if seen is None:
        return readings, [True] * count
    if getattr(seen, "shape", None) != (count,) or "bool" not in str(seen.dtype):
        got = getattr(seen, "shape", _check.kind_of(seen))
        raise TypeError(f"seen must be an array of bool of shape ({count},); got {got}")
    return readings, [bool(one) for one in seen]


def _forward(
    model: StateModel[B], readings: Any, seen: list[bool]
) -> tuple[list[B], list[B], float]:
    """The beliefs before and after each reading, and the sum of the log densities."""
    before: list[B] = []
    after: list[B] = []
    total = 0.0
    for step, there in enumerate(seen):
        belief = model.ahead(after[-1], step) if step else model.first
        before.append(belief)
        if there:
            belief, log = model.update(belief, readings[step, ...], step)
            if log == -math.inf:
                raise NoValueError(f"readings[{step}] cannot happen after those before it")
            total += log
        after.append(belief)
    return before, after, total


@dataclass(frozen=True, eq=False)
class HiddenMarkov:
    """A chain with S states that nobody sees, and one of O observations at each step.

    Parameters
    ----------
    start : Vector, shape (S,)
        The probabilities of the first state.
    transitions : Matrix, shape (S, S)
        ``P(x' | x)``, a row for each x.
    observations : Matrix, shape (S, O)
        ``P(o | x)``, a row for each x.

    Examples
    --------
    >>> import numpy as np
    >>> stays = np.asarray([[0.9, 0.1], [0.1, 0.9]])
    >>> HiddenMarkov(np.asarray([0.5, 0.5]), stays, np.eye(2))
    HiddenMarkov(2 states, 2 observations)
    """

    start: Vector
    transitions: Matrix
    observations: Matrix

    def __post_init__(self) -> None:
        size = _check.vector(self.start, "start").shape[0]
        _check.matrix(self.transitions, "transitions", rows=size, columns=size)
        _check.matrix(self.observations, "observations", rows=size)
        _check.alike(self.transitions, "transitions", self.start, "start")
        _check.alike(self.observations, "observations", self.start, "start")
        for name in ("start", "transitions", "observations"):
            distributions(getattr(self, name), name)
        keep_copies(self, "start", "transitions", "observations")

    @property
    def first(self) -> Vector:
        """The belief before the first reading, (S,)."""
        return self.start

    def readings(self, readings: Array) -> Array:
        """Return the numbers of observations in a row, (T,), checked."""
        return observed(readings, "readings", self.observations.shape[1])

    def ahead(self, belief: Vector, step: int) -> Vector:
        """Return the belief a step later, ``Pᵀ b``, [eq-be-ahead]."""
        return belief @ self.transitions

    def update(self, belief: Vector, reading: Any, step: int) -> tuple[Vector, float]:
        """Return the belief after an observation, [eq-be-bayes], and its log probability."""
        return weighed(belief, self.observations[:, int(reading)])

    def back(self, after: Vector, before: Vector, smoothed: Vector, step: int) -> Vector:
        """Return the belief of a step by all readings, [eq-be-smooth]."""
        return looked_back(after, before, smoothed, self.transitions)

    def stacked(self, beliefs: list[Vector]) -> Matrix:
        """Return beliefs in a row, (T, S)."""
        return array_namespace(beliefs[0]).stack(beliefs)

    def __repr__(self) -> str:
        """The numbers of states and observations."""
        states, kinds = self.observations.shape
        return f"HiddenMarkov({states} states, {kinds} observations)"


def weighed(belief: Vector, likelihoods: Vector) -> tuple[Vector, float]:
    """A belief times the likelihoods of a reading over their sum, and the logarithm of the sum."""
    joint = belief * likelihoods
    chance = float(array_namespace(joint).sum(joint))
    return (joint / chance, math.log(chance)) if chance > 0.0 else (joint, -math.inf)


def looked_back(after: Vector, before: Vector, smoothed: Vector, transitions: Matrix) -> Vector:
    """The belief of a step by all readings, from that of the step after it."""
    xp = array_namespace(before)
    never = before <= 0.0
    ratio = smoothed / xp.where(never, xp.ones_like(before), before)
    ratio = xp.where(never, xp.zeros_like(before), ratio)
    belief = after * (transitions @ ratio)
    return belief / xp.sum(belief)  # the sum is one up to rounding


def observed(readings: Any, name: str, count: int) -> Array:
    """Return `readings`, if they are a vector of whole numbers below `count`."""
    xp = array_namespace(_check.array(readings, name))
    if not xp.isdtype(readings.dtype, "integral"):
        raise TypeError(f"{name} must hold whole numbers; got {readings.dtype}")
    if readings.ndim != 1:
        raise ValueError(f"{name} must have shape (T,); got {readings.shape}")
    if readings.shape[0] and not bool(xp.all((readings >= 0) & (readings < count))):
        raise ValueError(f"{name} must be observations from 0 to {count - 1}")
    return readings
