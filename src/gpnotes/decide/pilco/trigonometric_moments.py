"""Sines of Gaussian variables: exact moments, for angles and for bounded actions.

With ``ψ ~ N(m, S)`` everything is a sum of exponentials and sines. A cosine is a sine shifted by a
quarter of a turn, so that one function serves both halves of an angle and the squashing of an
action.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...ground import check as _check
from ...ground.showing import summary
from ...ground.xp import Array, Matrix, Namespace, Vector, array_namespace, as_array, eye

__all__ = [
    "Augmented",
    "SineMoments",
    "augment",
    "augment_and_pullback",
    "sine_moments",
    "sine_moments_and_pullback",
]


class SineMoments(NamedTuple):
    """Moments of ``sin ψ`` for a Gaussian ψ.

    Parameters
    ----------
    mean : Vector, shape (k,)
        The mean.
    covariance : Matrix, shape (k, k)
        The covariance.
    gain : Vector, shape (k,)
        The expected slope ``E cos ψ``: the covariance of anything jointly Gaussian with ψ and
        ``sin ψⱼ`` is its covariance with ψⱼ times the j-th gain.
    """

    mean: Vector
    covariance: Matrix
    gain: Vector

    def __repr__(self) -> str:
        return summary(self)


def sine_moments(m: Vector, S: Matrix) -> SineMoments:
    """Return mean, covariance and gain of ``sin ψ`` for ``ψ ~ N(m, S)``.

    Parameters
    ----------
    m : Vector, shape (k,)
        Mean of ψ.
    S : Matrix, shape (k, k)
        Its covariance.

    Returns
    -------
    SineMoments
        The moments. The covariance keeps its relative accuracy for small S, and is finite for
        large S.

    Notes
    -----
    [eq-pc-sine-mean], [eq-pc-sine-covariance], [eq-pc-sine-gain]; O(k²).

    Examples
    --------
    >>> import numpy as np
    >>> mean, covariance, gain = sine_moments(np.zeros(1), np.asarray([[2.0]]))
    >>> mean.round(4), covariance.round(4), gain.round(4)
    (array([0.]), array([[0.4908]]), array([0.3679]))
    """
    return sine_moments_and_pullback(m, S)[0]


def sine_moments_and_pullback(
    m: Vector, S: Matrix
) -> tuple[SineMoments, Callable[[SineMoments], tuple[Vector, Matrix]]]:
    """Return `sine_moments` and its pullback to m and S.

    Arguments and errors are those of `sine_moments`.

    Returns
    -------
    moments : SineMoments
        The moments.
    pullback : Callable
        It carries a `SineMoments` of derivatives back to ``(m_bar, S_bar)``.
    """
    moments, pull = _sine_moments_and_pullback(m, _check.normal(m, S))
    return moments, lambda bar: pull(_check.cotangents(bar, "bar", moments))


def _sine_moments_and_pullback(
    m: Vector, S: Matrix, xp: Namespace | None = None
) -> tuple[SineMoments, Callable[[SineMoments], tuple[Vector, Matrix]]]:
    xp = array_namespace(m) if xp is None else xp
    v = xp.linalg.diagonal(S)
    sine, cosine, shrink = xp.sin(m), xp.cos(m), xp.exp(-0.5 * v)
    # E sin ψ = exp(−v/2) sin m and E cos ψ = exp(−v/2) cos m
    mean, gain = shrink * sine, shrink * cosine
    sinh_part, cosh_part, h = _damped(xp, S, v)
    # exp(−h) (sinh s cos m cos m' + (cosh s − 1) sin m sin m')
    cosines, sines = cosine[:, None] * cosine, sine[:, None] * sine
    covariance = sinh_part * cosines + cosh_part * sines

    def pull(bar: SineMoments) -> tuple[Vector, Matrix]:
        """The derivatives by m and by S."""
        slopes = (cosh_part + xp.exp(-h)) * cosines + sinh_part * sines
        sym_bar = bar.covariance + bar.covariance.T
        m_bar = cosine * ((sym_bar * cosh_part) @ sine) - sine * ((sym_bar * sinh_part) @ cosine)
        v_bar = xp.sum(sym_bar * covariance, axis=1) + bar.mean * mean + bar.gain * gain
        identity = 1.0 if m.shape[0] == 1 else eye(m.shape[0], m)
        S_bar = bar.covariance * slopes - identity * (0.5 * v_bar)
        return m_bar + bar.mean * gain - bar.gain * mean, S_bar

    return SineMoments(mean, covariance, gain), pull


def _damped(xp: Namespace, S: Matrix, v: Vector) -> tuple[Matrix, Matrix, Matrix]:
    """``exp(−h) sinh s``, ``exp(−h) (cosh s − 1)`` and ``h = ½ (v + v')``; finite, as ``|s| ≤ h``.

    With ``e = exp(−|s|) − 1`` they are ``½ exp(|s| − h)`` times ``±e (2 + e)`` and ``e²``: exact
    for small s too.
    """
    abs_S = xp.abs(S)
    h = 0.5 * (v[:, None] + v)
    e = xp.expm1(-abs_S)
    scale = 0.5 * xp.exp(abs_S - h)
    sinh_part = scale * e * (2.0 + e)
    return xp.where(S > 0.0, -sinh_part, sinh_part), scale * e * e, h


class Augmented(NamedTuple):
    """Moments of a state with the sines and cosines of its angles.

    ``K = D + 2A``: the D entries of the state, the A sines, the A cosines.

    Parameters
    ----------
    mean : Vector, shape (K,)
        The mean.
    covariance : Matrix, shape (K, K)
        The covariance.
    """

    mean: Vector
    covariance: Matrix

    def __repr__(self) -> str:
        return summary(self)


def augment(m: Vector, S: Matrix, angles: Sequence[int]) -> Augmented:
    """Return the moments of ``(x, sin x_a, cos x_a)`` for ``x ~ N(m, S)``.

    The moments are exact; the joint distribution is not Gaussian.

    Parameters
    ----------
    m : Vector, shape (D,)
        Mean of x.
    S : Matrix, shape (D, D)
        Its covariance.
    angles : sequence of int
        The A entries of x that are angles, in radians.

    Returns
    -------
    Augmented
        Mean and covariance of all D + 2A entries.

    Notes
    -----
    [eq-pc-augment]; O(D²).

    Examples
    --------
    >>> import numpy as np
    >>> augment(np.asarray([0.0, 3.0]), np.zeros((2, 2)), (0,)).mean
    array([0., 3., 0., 1.])
    """
    return augment_and_pullback(m, S, angles)[0]


def augment_and_pullback(
    m: Vector, S: Matrix, angles: Sequence[int]
) -> tuple[Augmented, Callable[[Augmented], tuple[Vector, Matrix]]]:
    """Return `augment` and its pullback to m and S.

    Arguments and errors are those of `augment`.

    Returns
    -------
    augmented : Augmented
        The moments.
    pullback : Callable
        It carries an `Augmented` of derivatives back to ``(m_bar, S_bar)``.
    """
    S = _check.normal(m, S)
    augmented, pull = _augment_and_pullback(m, S, _check.entries(angles, "angles", m.shape[0], "m"))
    return augmented, lambda bar: pull(_check.cotangents(bar, "bar", augmented))


def _augment_and_pullback(
    m: Vector, S: Matrix, angles: Sequence[int]
) -> tuple[Augmented, Callable[[Augmented], tuple[Vector, Matrix]]]:
    return augment_by(angle_map(angles, m.shape[0], m), m, S)


def augment_states(states: Matrix, angles: Sequence[int]) -> Matrix:
    """States (n, D) with sines and cosines, ``(x, sin x_a, cos x_a)``; nothing is checked."""
    xp = array_namespace(states)
    turns = [f(states[:, a])[:, None] for f in (xp.sin, xp.cos) for a in angles]
    return xp.concat([states, *turns], axis=1)


class AngleMap(NamedTuple):
    """The matrix (2A, D) that picks every angle twice, and the shifts (2A,) for half cosines."""

    xp: Namespace
    pick: Matrix
    shift: Vector


def angle_map(angles: Sequence[int], D: int, like: Array) -> AngleMap:
    """Prepare the sines and cosines of a state (D,), to be used in every step."""
    rows = [[1.0 if a == d else 0.0 for d in range(D)] for a in angles]
    shift = [0.0] * len(rows) + [0.5 * math.pi] * len(rows)
    xp = array_namespace(like)
    pick = xp.reshape(as_array(rows + rows, like), (len(shift), D))
    return AngleMap(xp, pick, as_array(shift, like))


def augment_by(
    angles: AngleMap, m: Vector, S: Matrix
) -> tuple[Augmented, Callable[[Augmented], tuple[Vector, Matrix]]]:
    """A state with its sines and cosines, and the way back; nothing is checked."""
    xp, pick, shift = angles
    if not shift.shape[0]:
        return Augmented(m, S), lambda bar: (bar.mean, bar.covariance)
    D = m.shape[0]
    psi_cross = S @ pick.T  # cov[x, ψ] with ψ = pick · x + shift
    (mean, covariance, gain), pull_sines = _sine_moments_and_pullback(
        pick @ m + shift, pick @ psi_cross, xp
    )
    cross = psi_cross * gain

    def pull(bar: Augmented) -> tuple[Vector, Matrix]:
        """The derivatives by m and by S."""
        cross_bar = bar.covariance[:D, D:] + bar.covariance[D:, :D].T
        gain_bar = xp.sum(cross_bar * psi_cross, axis=0)
        m_bar, S_bar = pull_sines(SineMoments(bar.mean[D:], bar.covariance[D:, D:], gain_bar))
        across_bar = cross_bar * gain + pick.T @ S_bar
        return bar.mean[:D] + m_bar @ pick, bar.covariance[:D, :D] + across_bar @ pick

    return Augmented(xp.concat([m, mean]), joint(xp, S, cross, covariance)), pull


def joint(xp: Namespace, upper: Matrix, cross: Matrix, lower: Matrix) -> Matrix:
    """The covariance of two vectors from its blocks."""
    return xp.concat([xp.concat([upper, cross], axis=1), xp.concat([cross.T, lower], axis=1)])
