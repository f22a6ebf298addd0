"""Dropout and dropconnect: weights that are there or not, by the toss of a coin."""

from __future__ import annotations

import numpy as np

from ..ground import check as _check
from ..ground.conversion import takes
from ..ground.random import RNG, Stream, stream_of
from ..ground.xp import Array, Matrix, Vector, array_namespace, as_array
from .layers import Network
from .model import BayesianNetwork, joint_and_gradient, readings
from .posterior_mode import Ascended, ascended, validated_steps

__all__ = ["drop_masks", "fit_dropped"]


def drop_masks(
    network: Network,
    m: int,
    *,
    drop: float,
    what: str = "edges",
    like: Array | None = None,
    rng: RNG,
) -> Matrix:
    """Draw which weights (m, p) of m networks are there, one, and which have been dropped, zero.

    Parameters
    ----------
    network : Network
        The network.
    m : int
        How many.
    drop : float
        The probability that an edge or a vertex is dropped, from 0 to below 1.
    what : {"edges", "vertices"}, default "edges"
        Edges (dropconnect): every weight by itself. Vertices (dropout): every hidden neuron, with
        all the weights of what it sends on. Offsets stay.
    like : Array or None, default None
        The masks are in the kind of it; without it, NumPy float64.
    rng : Stream, Generator or int
        The stream to draw from.

    Returns
    -------
    Matrix, shape (m, p)
        Zeros and ones, by which theta is multiplied.

    Notes
    -----
    What is left is not scaled up: of a weight θ the mean is ``(1 − drop) θ``, [eq-bn-dropped].

    Examples
    --------
    >>> from gpnotes import stream
    >>> net = Network((1, 2, 1))
    >>> drop_masks(net, 2, drop=0.5, what="vertices", rng=stream(3))
    array([[1., 1., 1., 1., 0., 0., 1.],
           [1., 1., 1., 1., 1., 1., 1.]])
    """
    _check.instance(network, "network", Network)
    stream = stream_of(rng)
    m, drop = _check.whole(m, "m", 1), _share(drop)
    edges = _check.choice(what, "what", ("edges", "vertices")) == "edges"
    if like is not None:
        _check.floating(like, "like")
    masks = _masks(network, stream, m, drop, edges)
    return masks if like is None else as_array(masks, like)


def _share(drop: float) -> float:
    drop = _check.positive(_check.number(drop, "drop"), "drop", zero=True)
    if drop >= 1.0:
        raise ValueError(f"drop must be below 1; got {drop}")
    return drop


def _masks(network: Network, stream: Stream, m: int, drop: float, edges: bool) -> Matrix:
    parts = []
    for number, (inputs, outputs) in enumerate(zip(network.sizes, network.sizes[1:], strict=False)):
        if edges:
            kept = np.asarray(stream.uniform((m, inputs * outputs))) >= drop
        elif number:
            kept = np.repeat(np.asarray(stream.uniform((m, inputs))) >= drop, outputs, axis=1)
        else:
            kept = np.ones((m, inputs * outputs), dtype=bool)
        parts += [kept, np.ones((m, outputs), dtype=bool)]
    return np.concatenate(parts, axis=1).astype(np.float64)


@takes("X", "y")
def fit_dropped(
    model: BayesianNetwork,
    X: Matrix,
    y: Vector,
    start: Vector,
    *,
    drop: float,
    what: str = "edges",
    steps: int = 1000,
    rate: float = 0.03,
    draws: int = 4,
    rng: RNG,
) -> Ascended:
    """Fit the weights that are dropped or not: maximise what is expected of the log likelihood.

    From it goes what [eq-bn-drop-kl] has of the weights: for each that may be dropped,
    ``(1 − drop) θ² / 2v``.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The readings.
    start : Vector, shape (p,)
        Where it starts.
    drop : float
        The probability that an edge or a vertex is dropped, from 0 to below 1.
    what : {"edges", "vertices"}, default "edges"
        What is dropped, as in `drop_masks`.
    steps : int, default 1000
        The number of steps.
    rate : float, default 0.03
        The length of the first steps in each weight; it falls to zero along a line.
    draws : int, default 4
        The masks of a step.
    rng : Stream, Generator or int
        The stream of the masks.

    Returns
    -------
    Ascended
        The weights, none of them dropped, and what each step estimated.

    Notes
    -----
    For draws of the networks multiply the weights by other masks of the same `drop`.
    Source: Gal & Ghahramani (2016).
    """
    steps, rate = validated_steps(steps, rate)
    _check.instance(model, "model", BayesianNetwork)
    stream = stream_of(rng)
    draws, drop = _check.whole(draws, "draws", 1), _share(drop)
    edges = _check.choice(what, "what", ("edges", "vertices")) == "edges"
    _check.vector(start, "start", size=model.network.size)
    data = readings(model, X, y, _check.alike(start, "start", _check.matrix(X, "X"), "X"), None)
    xp, v = array_namespace(start), model.variances(start)
    kept = as_array(_kept(model.network, drop, edges), start)

    def target(theta: Vector) -> tuple[Array, Array]:
        masks = as_array(_masks(model.network, stream, draws, drop, edges), start)
        values, slopes = joint_and_gradient(model, theta * masks, data, prior=0.0)
        value = xp.mean(values) - 0.5 * xp.sum(kept * theta**2 / v)
        return value, xp.mean(slopes * masks, axis=0) - kept * theta / v

    return ascended(target, start, steps, rate)


def _kept(network: Network, drop: float, edges: bool) -> Vector:
    """The probability that each weight is there."""
    parts = []
    for number, (inputs, outputs) in enumerate(zip(network.sizes, network.sizes[1:], strict=False)):
        may = edges or number > 0
        parts += [np.full(inputs * outputs, 1.0 - drop * may), np.ones(outputs)]
    return np.concatenate(parts)
