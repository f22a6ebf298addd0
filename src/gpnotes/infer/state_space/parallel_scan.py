"""Kalman's recursions over many readings, in lanes side by side.

A recursion takes one step after the other, and a step of three numbers is too small a piece of
work for an array library. So the readings are cut into B lanes of equal length, and step k of all
lanes is done at once. What a lane does to the belief it is entered with is worked out before that
belief is known (`elements`); the beliefs between the lanes follow by composing such elements, in
pairs, pairs of pairs and so on (`scan`). Nothing is approximated.

Arrays are (…, B): the lane is the last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    Stack,
    Vector,
    array_namespace,
    as_array,
    device,
    eye,
    symmetric_part,
    zeros,
)
from .matern_sde import FAR, Motion

__all__ = [
    "Element",
    "Lanes",
    "carry",
    "compose",
    "elements",
    "entered",
    "lanes_of",
    "scan",
    "stacked",
    "turned",
]


@dataclass(frozen=True, eq=False)
class Lanes:
    """N readings in lanes; reading t is step ``t mod L`` of lane ``t // L``.

    Parameters
    ----------
    motion : Motion
        How a state moves.
    count : int
        N.
    gaps : Matrix, shape (L, B)
        The time before each reading; before the first of all it is `FAR`.
    readings : Matrix, shape (L, B)
        The readings less their prior mean, in standard deviations of the signal.
    noise : tuple of Vector
        For each step the variance of the noise in these units, (B,).
    longest : float
        The longest gap but the first.
    """

    motion: Motion
    count: int
    gaps: Matrix
    readings: Matrix
    noise: tuple[Vector, ...]
    longest: float

    def decay(self, k: int) -> Vector:
        """``e^{−s}`` of step k."""
        return array_namespace(self.gaps).exp(-self.gaps[k, ...])

    def drift(self, k: int, decay: Vector) -> Stack:
        """The noise of the motion before step k, (D, D, B)."""
        s, squared = self.gaps[k, ...], decay * decay
        if k > 0:
            return self.motion.noise(s, squared, self.longest)
        xp = array_namespace(s)
        first = self.motion.noise(s[:1], squared[:1], FAR)
        others = self.motion.noise(s[1:], squared[1:], self.longest)
        return xp.concat([first, others], axis=2)

    def ordered(self, values: Matrix) -> Vector:
        """Values of each step and lane (L, B), in the order of the readings, (N,)."""
        xp = array_namespace(values)
        return xp.reshape(xp.permute_dims(values, (1, 0)), (-1,))[: self.count]


def lanes_of(motion: Motion, times: Vector, readings: Vector, noise: Numbers) -> Lanes:
    """Cut readings (N,) at ascending times, in those of the motion, into lanes.

    Of a signal of variance one, under noise of this variance, or of these (N,). A lane has a third
    of √N steps, which balances the steps and the pairs of lanes.
    """
    xp = array_namespace(times)
    n = times.shape[0]
    length = max(1, round(math.sqrt(n) / 3.0))
    count = -(-n // length)
    spare = count * length - n
    gaps = xp.clip(times[1:] - times[:-1], None, FAR)  # nothing is left of a state, not inf · 0
    longest = float(xp.max(gaps)) if n > 1 else 0.0
    first, none = xp.full_like(times[:1], FAR), as_array([0.0] * spare, times)
    return Lanes(
        motion, n, _in_lanes(xp.concat([first, gaps, none]), length),
        _in_lanes(xp.concat([readings, none]), length),
        _noise_in_lanes(noise, none, length, count), longest,
    )  # fmt: skip


def _noise_in_lanes(noise: Numbers, none: Vector, length: int, count: int) -> tuple[Vector, ...]:
    """That of each step; the last lane ends in readings never made, of infinite noise."""
    if isinstance(noise, float):
        level = as_array([noise] * count, none)
        last = as_array([noise] * (count - 1) + [math.inf], none)
        return (level,) * (length - none.shape[0]) + (last,) * none.shape[0]
    xp = array_namespace(none)
    filled = _in_lanes(xp.concat([noise, xp.full_like(none, math.inf)]), length)
    return tuple(filled[k, ...] for k in range(length))


def _in_lanes(values: Vector, length: int) -> Matrix:
    xp = array_namespace(values)
    return turned(xp.reshape(values, (-1, length)), (1, 0))


def turned(a: Array, axes: tuple[int, ...]) -> Array:
    """Return an array with its axes in another order, laid out so that the last is contiguous."""
    xp = array_namespace(a)
    shape = tuple(a.shape[axis] for axis in axes)
    out = xp.empty(shape, dtype=a.dtype, device=device(a))
    out[...] = xp.permute_dims(a, axes)
    return out


class Element(NamedTuple):
    """What a lane, or a row of them, does to any belief that it is entered with.

    Given the state x before it, the state after it is normal about ``A x + b`` with covariance
    C, and its readings have a density ``exp(ηᵀx − ½ xᵀJ x)`` up to a constant. Each is a stack
    over lanes.

    Parameters
    ----------
    A : Stack, shape (B, D, D)
        How the state is carried.
    b : Stack, shape (B, D, 1)
        What the readings add.
    C : Stack, shape (B, D, D)
        What stays unknown of the state after it.
    eta : Stack, shape (B, D, 1)
        η.
    J : Stack, shape (B, D, D)
        What its readings tell of x.
    """

    A: Stack
    b: Stack
    C: Stack
    eta: Stack
    J: Stack


def elements(lanes: Lanes) -> tuple[Element, list[Stack]]:
    """Return the element of each lane, and the noise of the motion before each step."""
    motion = lanes.motion
    d, B = motion.size, lanes.gaps.shape[1]
    C, J = zeros((d, d, B), lanes.gaps), zeros((d, d, B), lanes.gaps)
    b, eta = zeros((d, B), lanes.gaps), zeros((d, B), lanes.gaps)
    A, drifts = C + eye(d, C)[:, :, None], []
    for k, noise in enumerate(lanes.noise):
        s, decay = lanes.gaps[k, ...], lanes.decay(k)
        drifts.append(lanes.drift(k, decay))
        motion.up(s, A)
        A *= decay
        motion.up(s, b)
        b *= decay
        carry(motion.up, s, C)
        C *= decay * decay
        C += drifts[-1]
        told = 1.0 / (C[0, 0, ...] + noise)
        gain, seen, gap = C[0, ...] * told, A[0, ...], lanes.readings[k, ...] - b[0, ...]
        weighed = seen * told
        J += seen[:, None, :] * weighed[None, :, :]
        eta += weighed * gap
        A -= gain[:, None, :] * seen[None, :, :]
        b += gain * gap
        C -= gain[:, None, :] * C[0, ...][None, :, :]
    return Element(stacked(A), stacked(b), stacked(C), stacked(eta), stacked(J)), drifts


def carry(move: Callable[[Vector, Array], None], s: Vector, M: Stack) -> None:
    """Put ``F M Fᵀ`` in the place of M (D, D, B), where `move` puts ``F M`` there."""
    move(s, M)
    move(s, array_namespace(M).permute_dims(M, (1, 0, 2)))  # a view


def stacked(M: Array) -> Stack:
    """M (D, …, B) as a stack (B, D, …); a vector becomes a column."""
    return turned(M if M.ndim == 3 else M[:, None, :], (2, 0, 1))


def compose(first: Element, second: Element) -> Element:
    """Return the element of one after the other (Särkkä & García-Fernández, 2021, lemma 8)."""
    xp, t = array_namespace(first.A), array_namespace(first.A).matrix_transpose
    d = first.A.shape[1]
    right = xp.concat([first.A, first.b + first.C @ second.eta, first.C], axis=2)
    solved = xp.linalg.solve(eye(d, first.A) + first.C @ second.J, right)
    A, b, C = solved[:, :, :d], solved[:, :, d : d + 1], solved[:, :, d + 1 :]
    return Element(
        second.A @ A,
        second.A @ b + second.b,
        symmetric_part(second.A @ C @ t(second.A)) + second.C,
        t(A) @ (second.eta - second.J @ first.b) + first.eta,
        symmetric_part(t(A) @ second.J @ first.A) + first.J,
    )


def scan(one: Element, join: Callable[[Element, Element], Element]) -> Element:
    """Return what the first element, the first two, … and all of them together do.

    Pairs are joined, then pairs of pairs: 2B elements in 2 log₂ B rounds.
    """
    n = one.A.shape[0]
    if n == 1:
        return one
    even, odd = (Element(*(a[start:n:2, ...] for a in one)) for start in (0, 1))
    pairs = scan(join(Element(*(a[: n // 2, ...] for a in even)), odd), join)
    rest = (n - 1) // 2
    if rest:
        before = Element(*(a[:rest, ...] for a in pairs))
        after = join(before, Element(*(a[1:, ...] for a in even)))
    out = []
    for i, a in enumerate(one):
        whole = array_namespace(a).asarray(a, copy=True)
        whole[1::2, ...] = pairs[i]
        if rest:
            whole[2::2, ...] = after[i]
        out.append(whole)
    return Element(*out)


def entered(after: Stack) -> Stack:
    """The beliefs (D, …, B) that lanes are entered with: those after the lanes before them."""
    xp = array_namespace(after)
    return turned(xp.concat([xp.zeros_like(after[:1, ...]), after[:-1, ...]], axis=0), (1, 2, 0))
