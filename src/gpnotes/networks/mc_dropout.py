"""Monte Carlo dropout and dropconnect: weights that are there or not, by the toss of a coin."""

from __future__ import annotations

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.random import RNG, Stream, stream_of
from ..ground.xp import Array, Matrix, MatrixLike, Vector, VectorLike, array_namespace, as_array
from .layers import Network
from .model import BayesianNetwork, _log_joint_and_gradient, check_data
from .posterior_mode import FittedWeights, ascend, validate_steps

__all__ = ["dropout_masks", "fit_mc_dropout"]


def dropout_masks(
    network: Network,
    num_samples: int,
    *,
    dropout_rate: float,
    kind: str = "dropconnect",
    like: Array | None = None,
    rng: RNG,
) -> Matrix:
    """Draw which weights (num_samples, p) are there, one, and which have been dropped, zero.

    Parameters
    ----------
    num_samples : int
        How many.
    dropout_rate : float
        The probability that a weight or a neuron is dropped, from 0 to below 1.
    kind : {"dropconnect", "dropout"}, default "dropconnect"
        Dropconnect drops every weight by itself; dropout every hidden neuron, with all its
        outgoing weights. Biases stay.
    like : Array or None, default None
        The masks are in the kind of it; without it, NumPy float64.

    Returns
    -------
    Matrix, shape (num_samples, p)
        Zeros and ones, by which theta is multiplied.

    Notes
    -----
    Kept weights are not scaled up: with p the rate, the mean of a weight θ is ``(1 − p) θ``,
    [eq-bn-dropped].

    Examples
    --------
    >>> from gpnotes import stream
    >>> net = Network((1, 2, 1))
    >>> dropout_masks(net, 2, dropout_rate=0.5, kind="dropout", rng=stream(3))
    array([[1., 1., 1., 1., 0., 0., 1.],
           [1., 1., 1., 1., 1., 1., 1.]])
    """
    _check.instance(network, "network", Network)
    stream = stream_of(rng)
    num_samples, dropout_rate, each_weight = _validated(
        num_samples, dropout_rate, kind, network.num_weights
    )
    if like is not None:
        _check.floating(like, "like")
    masks = _masks(network, stream, num_samples, dropout_rate, each_weight)
    return masks if like is None else as_array(masks, like)


def _validated(num_samples: int, dropout_rate: float, kind: str, p: int) -> tuple[int, float, bool]:
    """Return the number of samples, the rate, and True for dropconnect, once checked."""
    num_samples = memory.count(num_samples, "num_samples", each=3 * p)
    rate = _check.positive(_check.number(dropout_rate, "dropout_rate"), "dropout_rate", zero=True)
    if rate >= 1.0:
        raise ValueError(f"dropout_rate must be below 1; got {rate}")
    kind = _check.choice(kind, "kind", ("dropconnect", "dropout"))
    return num_samples, rate, kind == "dropconnect"


def _masks(
    network: Network, stream: Stream, m: int, dropout_rate: float, each_weight: bool
) -> Matrix:
    parts = []
    for layer, (inputs, outputs) in enumerate(zip(network.sizes, network.sizes[1:], strict=False)):
        if each_weight:
            kept = np.asarray(stream.uniform((m, inputs * outputs))) >= dropout_rate
        elif layer:
            kept = np.repeat(
                np.asarray(stream.uniform((m, inputs))) >= dropout_rate, outputs, axis=1
            )
        else:
            kept = np.ones((m, inputs * outputs), dtype=bool)
        parts += [kept, np.ones((m, outputs), dtype=bool)]
    return np.concatenate(parts, axis=1).astype(np.float64)


@takes("X", "y")
def fit_mc_dropout(
    model: BayesianNetwork,
    X: MatrixLike,
    y: VectorLike,
    start: Vector,
    *,
    dropout_rate: float,
    kind: str = "dropconnect",
    num_steps: int = 1000,
    learning_rate: float = 0.03,
    num_samples: int = 4,
    rng: RNG,
) -> FittedWeights:
    """Fit the weights under dropout: maximise the expected log likelihood less a penalty.

    The penalty is the term of [eq-bn-drop-kl] in the weights: for each that may be dropped,
    ``(1 − p) θ² / 2v``, p the rate.

    Parameters
    ----------
    model : BayesianNetwork
        The network, its prior and its noise.
    start : Vector, shape (p,)
        Where it starts.
    dropout_rate : float
        The probability that a weight or a neuron is dropped, from 0 to below 1.
    kind : {"dropconnect", "dropout"}, default "dropconnect"
        The kind of dropout, as in `dropout_masks`.
    num_steps : int, default 1000
        The number of steps.
    learning_rate : float, default 0.03
        The length of the first steps in each weight; it falls to zero along a line.
    num_samples : int, default 4
        The masks of a step.
    rng : Stream, Generator or int
        The stream of the masks.

    Returns
    -------
    FittedWeights
        The weights, none of them dropped, and the estimate of each step.

    Notes
    -----
    For draws of the networks multiply the weights by other masks of the same `dropout_rate`.
    Source: Gal & Ghahramani (2016).
    """
    num_steps, learning_rate = validate_steps(num_steps, learning_rate)
    _check.instance(model, "model", BayesianNetwork)
    stream = stream_of(rng)
    num_samples, dropout_rate, each_weight = _validated(
        num_samples, dropout_rate, kind, model.network.num_weights
    )
    _check.vector(start, "start", size=model.network.num_weights)
    data = check_data(model, X, y, _check.alike(start, "start", _check.matrix(X, "X"), "X"), None)
    xp, v = array_namespace(start), model.variances(start)
    keep = as_array(_keep_probabilities(model.network, dropout_rate, each_weight), start)

    def target(theta: Vector) -> tuple[Array, Array]:
        masks = as_array(
            _masks(model.network, stream, num_samples, dropout_rate, each_weight), start
        )
        values, slopes = _log_joint_and_gradient(model, theta * masks, data, prior=0.0)
        value = xp.mean(values) - 0.5 * xp.sum(keep * theta**2 / v)
        return value, xp.mean(slopes * masks, axis=0) - keep * theta / v

    return ascend(target, start, num_steps, learning_rate)


def _keep_probabilities(network: Network, dropout_rate: float, each_weight: bool) -> Vector:
    """The probability that each weight is there."""
    parts = []
    for layer, (inputs, outputs) in enumerate(zip(network.sizes, network.sizes[1:], strict=False)):
        is_dropped = each_weight or layer > 0
        parts += [np.full(inputs * outputs, 1.0 - dropout_rate * is_dropped), np.ones(outputs)]
    return np.concatenate(parts)
