"""A network of radial basis functions at an uncertain input: a policy of fixed functions.

``f(x) = Wᵀ k(C, x)`` with one kernel ``exp(−½ Σ_d (x_d − c_d)²/ℓ_d²)`` for all outputs, so that all
covariances come from one matrix of the centres with themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import _check, _xp
from .._xp import Array, array_namespace
from .pairs import Meeting, covariances, meetings, pulled_input, sums
from .parts import Part, Seen, pulled_q, seen
from .points import pulled_points, pulled_q_points
from .predictor import Moments
from .spread import admit_input, admit_points, spread

__all__ = ["network", "network_and_pullback", "trusting_pullback"]


class _Look(NamedTuple):
    """The centres as one part, its meeting with itself, and its covariances (k, k)."""

    part: Seen
    met: Meeting
    C: Array


def network(centres: Array, weights: Array, lengthscale: Array, m: Array, S: Array) -> Moments:
    """Mean, covariance and input-output covariance of ``f(x) = Wᵀ k(C, x)``, ``x ~ N(m, S)``.

    `centres` (k, D), `weights` (k, E), `lengthscale` (D,), m (D,), S (D, D), any covariance. There
    is no noise and no uncertainty but that of x. A variance that rounding took below zero is zero.
    Such a network is the policy of
    :eq:`eq-pc-rbf-policy`; its moments are those of a mean function, :eq:`eq-pi-mean`,
    :eq:`eq-pi-covariance` and :eq:`eq-pi-cross`. O(k² (D + E)). Raises `ValueError` or `TypeError`
    for shapes that do not go together, a lengthscale that is not positive and an S that is none.
    Source: Deisenroth & Rasmussen (2011).

    >>> import numpy as np
    >>> found = network(np.zeros((1, 1)), np.ones((1, 1)), np.ones(1), np.zeros(1), 3.0 * np.eye(1))
    >>> found.mean
    array([0.5])
    """
    S = _admit(centres, weights, lengthscale, m, S)
    return _moments(_look(centres, lengthscale, m, S), weights, S)


def network_and_pullback(
    centres: Array, weights: Array, lengthscale: Array, m: Array, S: Array
) -> tuple[Moments, Callable[[Moments], tuple[Array, Array, Array, Array, Array]]]:
    """What `network` gives, and its pullback.

    ``pull(bar)`` takes a `Moments` of derivatives and returns ``(centres_bar, weights_bar,
    lengthscale_bar, m_bar, S_bar)``, the last symmetric. Raises what `network` raises.

    >>> import numpy as np
    >>> one, nothing = np.ones((1, 1)), np.zeros((1, 1))
    >>> found, pull = network_and_pullback(nothing, one, np.ones(1), np.ones(1), nothing)
    >>> centres_bar, weights_bar, *_ = pull(Moments(np.ones(1), nothing, nothing))
    >>> centres_bar.round(4), weights_bar.round(4)
    (array([[0.6065]]), array([[0.6065]]))
    """
    S = _admit(centres, weights, lengthscale, m, S)
    found, pull = trusting_pullback(centres, weights, lengthscale, m, S)
    return found, lambda bar: pull(_check.cotangents(bar, "bar", found))


def trusting_pullback(
    centres: Array, weights: Array, lengthscale: Array, m: Array, S: Array
) -> tuple[Moments, Callable[[Moments], tuple[Array, Array, Array, Array, Array]]]:
    """`network_and_pullback` that checks nothing, for use inside the house."""
    look = _look(centres, lengthscale, m, S)
    found = _moments(look, weights, S)
    return found, lambda bar: _pull(look, weights, lengthscale, S, bar)


def _admit(centres: Array, weights: Array, lengthscale: Array, m: Array, S: Array) -> Array:
    k, D = admit_points(centres, "centres").shape
    _check.alike(_check.matrix(weights, "weights", rows=k), "weights", centres, "centres")
    _check.alike(
        _check.vector(lengthscale, "lengthscale", size=D), "lengthscale", centres, "centres"
    )
    _check.squarable(_check.positive(lengthscale, "lengthscale"), "lengthscale")
    return admit_input(m, S, centres)


def _look(centres: Array, lengthscale: Array, m: Array, S: Array) -> _Look:
    precision = (1.0 / lengthscale**2)[None, :]
    solved = spread(S, precision)
    part = seen(Part(1.0, precision[0, :]), centres - m, solved, 0)
    met = meetings(S, precision, solved, [(0, 0)])
    return _Look(part, met, covariances(part, part, met, 0))


def _moments(look: _Look, weights: Array, S: Array) -> Moments:
    xp, (part, _, C) = array_namespace(S), look
    turned, weighted = xp.matrix_transpose(weights), part.q[:, None] * weights
    covariance = turned @ C @ weights
    covariance = _xp.symmetric_part(covariance)
    own = _xp.eye(covariance.shape[0], covariance) > 0.0
    covariance = xp.where(own & (covariance < 0.0), 0.0, covariance)
    return Moments(
        xp.sum(weighted, axis=0), covariance, S @ (xp.matrix_transpose(part.g) @ weighted)
    )


def _pull(
    look: _Look, weights: Array, lengthscale: Array, S: Array, bar: Moments
) -> tuple[Array, Array, Array, Array, Array]:
    """``C_bar = W cov_bar Wᵀ``; with ``Y = S cross_bar`` the slopes g get ``q W Yᵀ``."""
    xp, (part, met, C) = array_namespace(S), look
    cov_bar = _xp.symmetric_part(bar.covariance)
    found = sums(part, part, met, 0, weights @ cov_bar @ xp.matrix_transpose(weights))
    along, weighted = S @ bar.cross, part.q[:, None] * weights
    through_q = bar.mean[None, :] + part.g @ along
    t = xp.sum(weighted * through_q, axis=1)
    weights_bar = part.q[:, None] * through_q + 2.0 * (C @ (weights @ cov_bar))
    # dg = N (dν − dS g + Λ dλ Λ g)
    g_bar = (weighted @ xp.matrix_transpose(along)) @ part.N
    bars = *pulled_points(part, part, met, 0, found), pulled_q_points(part, t)
    centres_bar = g_bar + sum(one.points for one in bars)
    ratio = part.g / part.precision
    precision_bar = xp.sum(g_bar * ratio, axis=0) / part.precision
    precision_bar = precision_bar + sum(one.precision for one in bars)
    S_bar = (
        bar.cross @ (xp.matrix_transpose(weighted) @ part.g) - xp.matrix_transpose(g_bar) @ part.g
    )
    S_bar = S_bar + pulled_q(part, t)[1] + pulled_input(part, part, met, 0, found)[1]
    S_bar = _xp.symmetric_part(S_bar)
    lengths_bar = -2.0 * precision_bar / lengthscale**3
    return centres_bar, weights_bar, lengths_bar, -xp.sum(centres_bar, axis=0), S_bar
