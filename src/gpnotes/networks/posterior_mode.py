"""The most probable weights: of one network, of an ensemble at once, of resampled readings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.adam import Adam
from ..ground.conversion import takes
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import Array, Matrix, MatrixLike, Vector, VectorLike, array_namespace, as_array
from .model import BayesianNetwork, Data, _log_joint_and_gradient, check_data

__all__ = ["FittedWeights", "bootstrap_counts", "map_estimate"]

Target: TypeAlias = Callable[[Array], tuple[Array, Array]]


class FittedWeights(NamedTuple):
    """Where an ascent ended.

    Parameters
    ----------
    theta : Vector, shape (p,), or Matrix, shape (m, p)
        The weights at its end.
    trace : Array, shape (steps,) or (steps, m)
        The value before each step, or its estimate.
    """

    theta: Array
    trace: Array

    def __repr__(self) -> str:
        return summary(self)


def ascend(target: Target, start: Array, num_steps: int, learning_rate: float) -> FittedWeights:
    """Adam from a start, by a rate that falls to zero along a line; nothing is checked."""
    adam, theta, trace = Adam(learning_rate, start), start, []
    for step in range(num_steps):
        value, gradient = target(theta)
        trace.append(value)
        theta = theta + adam.step(gradient, 1.0 - step / num_steps)
    xp = array_namespace(start)
    if not bool(xp.all(xp.isfinite(theta))) or not bool(xp.all(xp.isfinite(value))):
        raise _check.NoValueError(
            f"learning_rate must be smaller: the ascent overflows; got {learning_rate}"
        )
    return FittedWeights(theta, xp.stack(trace))


def validate_steps(num_steps: int, learning_rate: float) -> tuple[int, float]:
    """Both numbers of an ascent, if they may be."""
    learning_rate = _check.positive(_check.number(learning_rate, "learning_rate"), "learning_rate")
    return _check.whole(num_steps, "num_steps", 1), learning_rate


@takes("X", "y")
def map_estimate(
    model: BayesianNetwork,
    X: MatrixLike,
    y: VectorLike,
    start: Array,
    *,
    num_steps: int = 500,
    learning_rate: float = 0.03,
    counts: Array | None = None,
) -> FittedWeights:
    """Raise the log joint density by steps of Adam, from one start or from m at once.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    start : Vector, shape (p,), or Matrix, shape (m, p)
        Where it starts, such as draws of the prior.
    num_steps : int, default 500
        The number of steps, each with all readings.
    learning_rate : float, default 0.03
        The length of the first steps in each weight; it falls to zero along a line.
    counts : Array, shape (n,) or (m, n), optional
        How often each reading counts, as `bootstrap_counts` draws it for each of m networks.

    Returns
    -------
    FittedWeights
        The weights, and the log joint density before each step: [eq-bn-map].

    Notes
    -----
    A density of weights has many tops, and which of them an ascent finds depends on its start.
    Source: Kingma & Ba (2015) for Adam.

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.networks import BayesianNetwork, Network
    >>> model = BayesianNetwork(Network((1, 8, 2)))
    >>> X = np.linspace(-2.0, 2.0, 30)[:, None]
    >>> found = map_estimate(model, X, np.sin(X[:, 0]), model.draw(3, rng=stream(0)), num_steps=50)
    >>> found.theta.shape, bool((found.trace[-1] > found.trace[0]).all())
    ((3, 34), True)
    """
    num_steps, learning_rate = validate_steps(num_steps, learning_rate)
    data = _from_start(model, X, y, start, counts)
    return ascend(
        lambda theta: _log_joint_and_gradient(model, theta, data), start, num_steps, learning_rate
    )


def _from_start(
    model: BayesianNetwork, X: Matrix, y: Vector, start: Array, counts: Array | None
) -> Data:
    _check.instance(model, "model", BayesianNetwork)
    _check.alike(model.network.check_weights(start, "start"), "start", _check.matrix(X, "X"), "X")
    data = check_data(model, X, y, start, counts)
    with np.errstate(over="ignore", invalid="ignore"):
        value, _ = _log_joint_and_gradient(model, start, data)
    _check.no_overflow(value, "start", "the log density")
    return data


def bootstrap_counts(n: int, num_samples: int, *, like: Array | None = None, rng: RNG) -> Matrix:
    """Draw samples of n readings with replacement: how often each is in each, (num_samples, n).

    Parameters
    ----------
    n : int
        The number of readings.
    num_samples : int
        The number of samples.
    like : Array or None, default None
        The counts are in the kind of it; without it, NumPy float64.

    Returns
    -------
    Matrix, shape (num_samples, n)
        Whole numbers as floats; each row sums to n.

    Examples
    --------
    >>> from gpnotes import stream
    >>> bootstrap_counts(4, 2, rng=stream(0)).sum(axis=1)
    array([4., 4.])
    """
    stream = stream_of(rng)
    n = memory.count(n, "n", each=3)
    num_samples = memory.count(num_samples, "num_samples", each=3 * n)
    indices = np.asarray(stream.integers(0, n, (num_samples, n)))
    counts = np.stack([np.bincount(row, minlength=n) for row in indices])
    host = counts.astype(np.float64)
    return host if like is None else as_array(host, _check.floating(like, "like"))
