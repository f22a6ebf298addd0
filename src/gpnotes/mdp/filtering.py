"""Hidden states from a sequence of readings: one filter and one smoother.

A model is three steps on a belief: ahead without a reading, over a reading, and back from the step
after. With finitely many states these are sums, with normal ones the equations of Kalman.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..ground import check as _check
from ..ground.check import NoValueError
from ..ground.xp import Array, Matrix, Vector, array_namespace, device, keep_copies
from .distribution_checks import check_distributions

__all__ = ["FilterResult", "HiddenMarkovModel", "StateModel", "filter", "smooth"]

B = TypeVar("B")  # a belief: probabilities, or mean and covariance


class StateModel(Protocol[B]):
    """A Markov process that is observed through readings, by the three steps on a belief."""

    def check_readings(self, readings: Array, /) -> Array:
        """Return readings in a row, checked."""
        ...

    @property
    def initial(self) -> B:
        """The belief before the first reading."""
        ...

    def predict(self, belief: B, step: int, /) -> B:
        """Return the belief before reading `step`, from that after the reading before it."""
        ...

    def update(self, belief: B, reading: Array, step: int, /) -> tuple[B, float]:
        """Return the belief after reading `step`, and the log density of that reading."""
        ...

    def smooth(self, filtered: B, predicted: B, smoothed: B, step: int, /) -> B:
        """Return the belief at ``step − 1`` by all readings.

        `filtered` is the filtered belief there, `predicted` the prediction of `step` from it, and
        `smoothed` the belief of `step` by all readings.
        """
        ...

    def stack(self, beliefs: list[B], /) -> B:
        """Return beliefs in a row as one object, with the steps along its first axis."""
        ...


@dataclass(frozen=True, eq=False)
class FilterResult(Generic[B]):
    """The result of a filter. Beliefs are probabilities (T, S), or means and covariances.

    Parameters
    ----------
    predicted : beliefs of T steps
        The belief at each step before its reading, ``p(x_t | y_1, …, y_{t−1})``.
    filtered : beliefs of T steps
        The belief after it, ``p(x_t | y_1, …, y_t)``.
    log_evidence : float
        The log density of all readings.
    """

    predicted: B
    filtered: B
    log_evidence: float


def filter(model: StateModel[B], readings: object, *, observed: object = None) -> FilterResult[B]:
    """Return the belief at each step by the readings so far, [eq-be-filter].

    Parameters
    ----------
    model : HiddenMarkovModel or LinearGaussianSSM
        The process and its readings.
    readings : Array, T rows
        The readings in a row: numbers of observations (T,), or vectors (T, K).
    observed : array of bool, shape (T,), optional
        Where there was a reading; by default everywhere. Elsewhere `readings` may hold anything,
        NaN too, which is not looked at.

    Returns
    -------
    FilterResult
        The beliefs before and after each reading, and the log evidence.

    Notes
    -----
    T steps, each of the cost of one product with the transitions: with S states S², with D normal
    numbers D³. Source: Rabiner (1989); Kalman (1960).

    Examples
    --------
    >>> import numpy as np
    >>> stays = np.asarray([[0.9, 0.1], [0.1, 0.9]])
    >>> seen = np.asarray([[0.8, 0.2], [0.2, 0.8]])
    >>> model = HiddenMarkovModel(np.asarray([0.5, 0.5]), stays, seen)
    >>> filter(model, np.asarray([0, 0])).filtered[-1].round(3)
    array([0.919, 0.081])
    """
    predicted, filtered, log = _forward(model, *_prepared(model, readings, observed))
    return FilterResult(model.stack(predicted), model.stack(filtered), log)


def smooth(model: StateModel[B], readings: object, *, observed: object = None) -> B:
    """Return the belief at each step by all readings, [eq-be-smooth].

    Parameters
    ----------
    model : HiddenMarkovModel or LinearGaussianSSM
        The process and its readings.
    readings : Array, T rows
        The readings in a row, as `filter` takes them.
    observed : array of bool, shape (T,), optional
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
    >>> seen = np.asarray([[0.8, 0.2], [0.2, 0.8]])
    >>> model = HiddenMarkovModel(np.asarray([0.5, 0.5]), stays, seen)
    >>> smooth(model, np.asarray([0, 0]))[0].round(3)
    array([0.919, 0.081])
    """
    predicted, filtered, _ = _forward(model, *_prepared(model, readings, observed))
    smoothed = [filtered[-1]]
    for step in range(len(filtered) - 1, 0, -1):
        smoothed.append(model.smooth(filtered[step - 1], predicted[step], smoothed[-1], step))
    return model.stack(smoothed[::-1])


def _prepared(model: StateModel[B], readings: Any, observed: Any) -> tuple[Array, list[bool]]:
    for name in ("check_readings", "predict", "update", "smooth"):
        if not hasattr(model, name) or isinstance(model, type):
            raise TypeError(
                "model must be a HiddenMarkovModel or a LinearGaussianSSM; "
                f"got {_check.kind_of(model)}"
            )
    if observed is not None:
        seen = _validated(observed, _check.array(readings, "readings"))
        readings = _filled(readings, seen)
    readings = model.check_readings(readings)
    if readings.shape[0] == 0:
        raise ValueError("readings must hold at least one reading; got none")
    return readings, [True] * readings.shape[0] if observed is None else seen


def _validated(observed: Any, readings: Array) -> list[bool]:
    """Return at which of the readings there was one."""
    if getattr(observed, "shape", None) != readings.shape[:1] or "bool" not in str(observed.dtype):
        got = getattr(observed, "shape", _check.kind_of(observed))
        shape = tuple(readings.shape[:1])
        raise TypeError(f"observed must be an array of bool of shape {shape}; got {got}")
    return [bool(seen) for seen in observed]


def _filled(readings: Array, seen: list[bool]) -> Array:
    """Return readings with the first that was made in place of those that were not, or zeros."""
    xp = array_namespace(readings)
    if not any(seen):
        return xp.zeros_like(readings)
    rows = [row if there else seen.index(True) for row, there in enumerate(seen)]
    return xp.take(readings, xp.asarray(rows, device=device(readings)), axis=0)


def _forward(
    model: StateModel[B], readings: Array, observed: list[bool]
) -> tuple[list[B], list[B], float]:
    """The beliefs before and after each reading, and the sum of the log densities."""
    predicted: list[B] = []
    filtered: list[B] = []
    total = 0.0
    for step, seen in enumerate(observed):
        belief = model.predict(filtered[-1], step) if step else model.initial
        predicted.append(belief)
        if seen:
            belief, log_density = model.update(belief, readings[step, ...], step)
            if log_density == -math.inf:
                raise NoValueError(f"readings[{step}] cannot happen after those before it")
            total += log_density
        filtered.append(belief)
    return predicted, filtered, total


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel:
    """A Markov chain with S hidden states, and one of O observations at each step.

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
    >>> HiddenMarkovModel(np.asarray([0.5, 0.5]), stays, np.eye(2))
    HiddenMarkovModel(2 states, 2 observations)
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
            object.__setattr__(self, name, check_distributions(getattr(self, name), name))
        keep_copies(self, "start", "transitions", "observations")

    @property
    def initial(self) -> Vector:
        """The belief before the first reading, (S,)."""
        return self.start

    def check_readings(self, readings: Array) -> Array:
        """Return the numbers of observations in a row, (T,), checked."""
        return check_observations(readings, "readings", self.observations.shape[1])

    def predict(self, belief: Vector, step: int) -> Vector:
        """Return the belief a step later, ``Pᵀ b``, [eq-be-ahead]."""
        return belief @ self.transitions

    def update(self, belief: Vector, reading: Array, step: int) -> tuple[Vector, float]:
        """Return the belief after an observation, [eq-be-bayes], and its log probability."""
        return conditioned(belief, self.observations[:, int(reading)])

    def smooth(self, filtered: Vector, predicted: Vector, smoothed: Vector, step: int) -> Vector:
        """Return the belief of a step by all readings, [eq-be-smooth]."""
        return smoothed_belief(filtered, predicted, smoothed, self.transitions)

    def stack(self, beliefs: list[Vector]) -> Matrix:
        """Return beliefs in a row, (T, S)."""
        return array_namespace(beliefs[0]).stack(beliefs)

    def __repr__(self) -> str:
        """The numbers of states and observations."""
        states, observations = self.observations.shape
        return f"HiddenMarkovModel({states} states, {observations} observations)"


def conditioned(belief: Vector, likelihoods: Vector) -> tuple[Vector, float]:
    """A belief times the likelihoods of a reading over their sum, and the logarithm of the sum."""
    joint = belief * likelihoods
    evidence = float(array_namespace(joint).sum(joint))
    return (joint / evidence, math.log(evidence)) if evidence > 0.0 else (joint, -math.inf)


def smoothed_belief(
    filtered: Vector, predicted: Vector, smoothed: Vector, transitions: Matrix
) -> Vector:
    """The belief of a step by all readings, from that of the step after it."""
    xp = array_namespace(predicted)
    impossible = predicted <= 0.0
    positive = xp.where(impossible, xp.ones_like(predicted), predicted)
    ratio = xp.where(impossible, xp.zeros_like(predicted), smoothed / positive)
    belief = filtered * (transitions @ ratio)
    return belief / xp.sum(belief)  # the sum is one up to rounding


def check_observations(readings: Array, name: str, count: int) -> Array:
    """Return `readings`, if they are a vector of whole numbers below `count`."""
    xp = array_namespace(_check.array(readings, name))
    if not xp.isdtype(readings.dtype, "integral"):
        raise TypeError(f"{name} must hold whole numbers; got {readings.dtype}")
    if readings.ndim != 1:
        raise ValueError(f"{name} must have shape (T,); got {tuple(readings.shape)}")
    if readings.shape[0] and not bool(xp.all((readings >= 0) & (readings < count))):
        raise ValueError(f"{name} must be observations from 0 to {count - 1}")
    return readings
