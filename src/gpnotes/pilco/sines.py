"""SineMoments of Gaussian variables: exact moments, for angles and for bounded actions.

With ``ψ ~ N(m, S)`` everything is a sum of exponentials and sines. A cosine is a sine shifted by a
quarter of a turn, so that one function serves both halves of an angle and the squashing of an
action.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .. import _check, _xp
from .._xp import Array, array_namespace
from . import _admit

__all__ = [
    "Augmented",
    "SineMoments",
    "augment",
    "augment_and_pullback",
    "sine_moments",
    "sine_moments_and_pullback",
]


class SineMoments(NamedTuple):
    """Moments of ``sin ψ``: mean (k,), covariance (k, k) and gain (k,).

    The gain is the expected slope ``E cos ψ``: the covariance of anything jointly Gaussian with ψ
    and ``sin ψⱼ`` is its covariance with ψⱼ times the j-th gain.
    """

    mean: Array
    covariance: Array
    gain: Array


def sine_moments(m: Array, S: Array) -> SineMoments:
    """Mean, covariance and gain of ``sin ψ`` for ``ψ ~ N(m, S)``, (k,) and (k, k); O(k²).

    :eq:`eq-pc-sine-mean`, :eq:`eq-pc-sine-covariance`, :eq:`eq-pc-sine-gain`. The covariance keeps
    its relative accuracy for small S, and is finite for large S. Raises `ValueError` for shapes
    that do not fit, numbers that are not finite and an S that is not a covariance.

    >>> import numpy as np
    >>> mean, covariance, gain = sine_moments(np.zeros(1), np.asarray([[2.0]]))
    >>> mean.round(4), covariance.round(4), gain.round(4)
    (array([0.]), array([[0.4908]]), array([0.3679]))
    """
    return sine_moments_and_pullback(m, S)[0]


def sine_moments_and_pullback(
    m: Array, S: Array
) -> tuple[SineMoments, Callable[[SineMoments], tuple]]:
    """The same, and the function that carries derivatives back to ``(m_bar, S_bar)``."""
    moments, pull = _sine_moments(m, _admit.state(m, S))
    return moments, lambda bar: pull(_check.cotangents(bar, "bar", moments))


def _sine_moments(m: Array, S: Array) -> tuple[SineMoments, Callable[[SineMoments], tuple]]:
    xp, v = array_namespace(m), _xp.diagonal(S)
    # E sin ψ = exp(−v/2) sin m and E cos ψ = exp(−v/2) cos m
    shrink = xp.exp(-0.5 * v)
    mean, gain = shrink * xp.sin(m), shrink * xp.cos(m)
    less, more = m[:, None] - m[None, :], m[:, None] + m[None, :]
    h = 0.5 * (v[:, None] + v[None, :])
    plus, minus = _damped_expm1(xp, S, h), _damped_expm1(xp, -S, h)
    covariance = 0.5 * (plus * xp.cos(less) - minus * xp.cos(more))

    def pull(bar: SineMoments) -> tuple[Array, Array]:
        slope = 0.5 * (xp.exp(S - h) * xp.cos(less) + xp.exp(-S - h) * xp.cos(more))
        left = 0.5 * bar.covariance * (minus * xp.sin(more) - plus * xp.sin(less))
        right = 0.5 * bar.covariance * (minus * xp.sin(more) + plus * xp.sin(less))
        m_bar = xp.sum(left, axis=1) + xp.sum(right, axis=0) + bar.mean * gain - bar.gain * mean
        spent = bar.covariance * covariance
        v_bar = xp.sum(spent, axis=0) + xp.sum(spent, axis=1) + bar.mean * mean + bar.gain * gain
        return m_bar, bar.covariance * slope - 0.5 * v_bar[:, None] * _xp.eye(m.shape[0], m)

    return SineMoments(mean, covariance, gain), pull


def _damped_expm1(xp: object, s: Array, h: Array) -> Array:
    """``exp(−h) (exp(s) − 1)`` for ``|s| ≤ h``, without overflow and exact for small s."""
    return xp.exp(xp.clip(s, 0.0, None) - h) * -xp.sign(s) * xp.expm1(-xp.abs(s))


class Augmented(NamedTuple):
    """A state with the sines and cosines of its angles: mean (K,) and covariance (K, K).

    ``K = D + 2A``: the D entries of the state, the A sines, the A cosines.
    """

    mean: Array
    covariance: Array


def augment(m: Array, S: Array, angles: Sequence[int]) -> Augmented:
    """Moments of ``(x, sin x_a, cos x_a)`` for ``x ~ N(m, S)``, (D,) and (D, D); O(D²).

    `angles` are the A entries of x that are angles, in radians. The moments are exact; the joint
    distribution is not Gaussian. :eq:`eq-pc-augment`. Raises `ValueError` for entries that are not
    there, shapes that do not fit and an S that is not a covariance.

    >>> import numpy as np
    >>> augment(np.asarray([0.0, 3.0]), np.zeros((2, 2)), (0,)).mean
    array([0., 3., 0., 1.])
    """
    return augment_and_pullback(m, S, angles)[0]


def augment_and_pullback(
    m: Array, S: Array, angles: Sequence[int]
) -> tuple[Augmented, Callable[[Augmented], tuple]]:
    """The same, and the function that carries derivatives back to ``(m_bar, S_bar)``."""
    S = _admit.state(m, S)
    augmented, pull = _augment(m, S, _check.entries(angles, "angles", m.shape[0], "m"))
    return augmented, lambda bar: pull(_check.cotangents(bar, "bar", augmented))


def _augment(
    m: Array, S: Array, angles: Sequence[int]
) -> tuple[Augmented, Callable[[Augmented], tuple]]:
    if not angles:
        return Augmented(m, S), lambda bar: (bar.mean, bar.covariance)
    xp, D = array_namespace(m), m.shape[0]
    pick, shift = _selection(angles, D, m)
    across = S @ xp.matrix_transpose(pick)  # cov[x, ψ] with ψ = pick · x + shift
    (mean, covariance, gain), pull_sines = _sine_moments(pick @ m + shift, pick @ across)
    cross = across * gain[None, :]

    def pull(bar: Augmented) -> tuple[Array, Array]:
        cross_bar = bar.covariance[:D, D:] + xp.matrix_transpose(bar.covariance[D:, :D])
        sine_bar = SineMoments(
            bar.mean[D:], bar.covariance[D:, D:], xp.sum(cross_bar * across, axis=0)
        )
        m_bar, S_bar = pull_sines(sine_bar)
        across_bar = cross_bar * gain[None, :] + xp.matrix_transpose(pick) @ S_bar
        return bar.mean[:D] + m_bar @ pick, bar.covariance[:D, :D] + across_bar @ pick

    return Augmented(xp.concat([m, mean]), _joint(S, cross, covariance)), pull


def _selection(angles: Sequence[int], D: int, like: Array) -> tuple[Array, Array]:
    """The matrix (2A, D) that picks every angle twice, and the shifts that make half cosines."""
    rows = [[1.0 if a == d else 0.0 for d in range(D)] for a in angles]
    shift = [0.0] * len(rows) + [0.5 * math.pi] * len(rows)
    return _xp.as_array(rows + rows, like), _xp.as_array(shift, like)


def _joint(upper: Array, cross: Array, lower: Array) -> Array:
    """The covariance of two vectors from its blocks."""
    xp = array_namespace(upper)
    top = xp.concat([upper, cross], axis=1)
    return xp.concat([top, xp.concat([xp.matrix_transpose(cross), lower], axis=1)], axis=0)
