"""Kalman's recursions over many readings, in lanes side by side.

A recursion takes one step after the other, and a step of three numbers is too small a piece of
work for an array library. So the readings are cut into B lanes of equal length, and step k of all
lanes is done at once. The map of a lane from the belief before it is computed before that
belief is known (`elements`); the beliefs between the lanes follow by composing such elements, in
pairs, pairs of pairs and so on (`scan`). Nothing is approximated.

Arrays are (…, B): the lane is the last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
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
from .first_reading import FirstReading
from .motion import FARTHEST, Motion, Step, narrow, signal

__all__ = [
    "LOST",
    "Element",
    "Lanes",
    "compose",
    "elements",
    "entered",
    "lanes_of",
    "scan",
    "solution",
    "stacked",
    "turned",
]


LOST = "rounding takes the digits of what readings of such noise leave of the prior variance"
_AT_ONCE = 2**18  # numbers of the covariances of a step


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
        The distance of each reading from the one before it; of the first of all it is zero.
    places : Matrix, shape (L, B)
        Where they are.
    readings : Matrix, shape (L, B)
        The readings less their prior mean, in standard deviations of the signal.
    noise : tuple of Vector
        For each step the variance of the noise in these units, (B,).
    longest : float
        The longest gap.
    """

    motion: Motion
    count: int
    gaps: Matrix
    places: Matrix
    readings: Matrix
    noise: tuple[Vector, ...]
    longest: float

    def step(self, k: int) -> Step:
        """Step k of all lanes."""
        return self.motion.at(self.gaps[k, ...], self.places[k, ...], self.longest)

    def steps(self, lanes: slice) -> Step:
        """The first step of some lanes."""
        return self.motion.at(self.gaps[0, lanes], self.places[0, lanes], self.longest)

    @cached_property
    def first(self) -> FirstReading:
        """The belief after the first reading of all."""
        first = self.places[0, :1], self.readings[0, :1], self.noise[0][:1]
        return FirstReading(self.motion, *first)

    @property
    def later_noise(self) -> tuple[Vector, ...]:
        """The noise of all readings but the first, in its place infinity."""
        xp, first = array_namespace(self.gaps), self.noise[0]
        return xp.concat([xp.full_like(first[:1], math.inf), first[1:]]), *self.noise[1:]

    def ordered(self, values: Matrix) -> Vector:
        """Values of each step and lane (L, B), in the order of the readings, (N,)."""
        xp = array_namespace(values)
        return xp.reshape(xp.permute_dims(values, (1, 0)), (-1,))[: self.count]


def lanes_of(
    motion: Motion, times: Vector, readings: Vector, noise: Numbers, length: int = 0
) -> Lanes:
    """Cut readings (N,) at ascending times into lanes.

    Of a signal in the unit of the motion, under noise of this variance, or of these (N,). A lane
    has so many steps, or a third of √N, which balances the steps and the pairs of lanes; more where
    states are large, so that those of a step stay in a processor's cache.
    """
    xp = array_namespace(times)
    n = times.shape[0]
    length = length or max(round(math.sqrt(n) / 3.0), -(-n * motion.size**2 // _AT_ONCE))
    count = -(-n // length)
    spare = count * length - n
    gaps = xp.concat([xp.zeros_like(times[:1]), times[1:] - times[:-1]])
    longest = float(xp.max(gaps))
    if longest > FARTHEST:
        gaps, longest = xp.clip(gaps, None, FARTHEST), FARTHEST
    none = as_array([0.0] * spare, times)
    pairs = (gaps, none), (times, none + times[-1]), (readings, none)
    gaps, places, readings = (_in_lanes(*pair, length) for pair in pairs)
    level = _noise_in_lanes(noise, none, length, count)
    return Lanes(motion, n, gaps, places, readings, level, longest)


def _noise_in_lanes(noise: Numbers, none: Vector, length: int, count: int) -> tuple[Vector, ...]:
    """Return the noise of each step; the last lane is padded with infinite noise."""
    xp = array_namespace(none)
    if isinstance(noise, float):
        level = xp.full((count,), noise, dtype=none.dtype, device=device(none))
        if not none.shape[0]:
            return (level,) * length
        last = xp.concat([level[:-1], xp.full_like(level[:1], math.inf)])
        return (level,) * (length - none.shape[0]) + (last,) * none.shape[0]
    filled = _in_lanes(noise, xp.full_like(none, math.inf), length)
    return tuple(filled[k, ...] for k in range(length))


def _in_lanes(values: Vector, rest: Vector, length: int) -> Matrix:
    xp = array_namespace(values)
    if length == 1:
        return values[None, :]
    return turned(xp.reshape(xp.concat([values, rest]), (-1, length)), (1, 0))


def turned(a: Array, axes: tuple[int, ...]) -> Array:
    """Return an array with its axes in another order, laid out so that the last is contiguous."""
    xp = array_namespace(a)
    shape = tuple(a.shape[axis] for axis in axes)
    out = xp.empty(shape, dtype=a.dtype, device=device(a))
    out[...] = xp.permute_dims(a, axes)
    return out


class Element(NamedTuple):
    """The map of a lane, or of a row of them, from the belief before it to that after it.

    Given the state x before it, the state after it is normal about ``A x + b`` with covariance
    C, and its readings have a density ``exp(ηᵀx − ½ xᵀJ x)`` up to a constant. Each is a stack
    over lanes.

    Parameters
    ----------
    A : Stack, shape (B, D, D)
        How the state is carried.
    b : Stack, shape (B, D, 1)
        The term of the readings.
    C : Stack, shape (B, D, D)
        The covariance of the state after it.
    eta : Stack, shape (B, D, 1)
        η.
    J : Stack, shape (B, D, D)
        The information of its readings about x.
    """

    A: Stack
    b: Stack
    C: Stack
    eta: Stack
    J: Stack


def elements(lanes: Lanes) -> Element:
    """Return the element of each lane, of the first without the first reading of all."""
    motion = lanes.motion
    d, B = motion.size, lanes.gaps.shape[1]
    C, J = zeros((d, d, B), lanes.gaps), zeros((d, d, B), lanes.gaps)
    b, eta = zeros((d, B), lanes.gaps), zeros((d, B), lanes.gaps)
    A = C + eye(d, C)[:, :, None]
    for k, noise in enumerate(lanes.later_noise):
        step = lanes.step(k)
        step.up(A)
        step.up(b)
        step.carry(C)
        step.add_noise(C)
        shared, seen = signal(C, motion.seen), signal(A, motion.seen)
        told = 1.0 / (signal(shared, motion.seen) + noise)
        gain, gap = shared * told, lanes.readings[k, ...] - signal(b, motion.seen)
        weighed = seen * told
        # J and η before A: where one entry is seen, `seen` is a view of a row of A
        J += seen[:, None, :] * weighed[None, :, :]
        eta += weighed * gap
        A -= gain[:, None, :] * seen[None, :, :]
        b += gain * gap
        narrow(C, shared, told, noise, motion.seen)
    return Element(stacked(A), stacked(b), stacked(C), stacked(eta), stacked(J))


def stacked(M: Array) -> Stack:
    """M (D, …, B) as a stack (B, D, …); a vector becomes a column."""
    return turned(M if M.ndim == 3 else M[:, None, :], (2, 0, 1))


def compose(first: Element, second: Element) -> Element:
    """Return the element of one after the other (Särkkä & García-Fernández, 2021, lemma 8)."""
    xp, t = array_namespace(first.A), array_namespace(first.A).matrix_transpose
    d = first.A.shape[1]
    right = xp.concat([first.A, first.b + first.C @ second.eta, first.C], axis=2)
    # one solve for A, b and C, which all have (I + C J)⁻¹ to their left
    solved = solution(eye(d, first.A) + first.C @ second.J, right)
    A, b, C = solved[:, :, :d], solved[:, :, d : d + 1], solved[:, :, d + 1 :]
    return Element(
        second.A @ A,
        second.A @ b + second.b,
        symmetric_part(second.A @ C @ t(second.A)) + second.C,
        t(A) @ (second.eta - second.J @ first.b) + first.eta,
        symmetric_part(t(A) @ second.J @ first.A) + first.J,
    )


def solution(a: Stack, b: Stack) -> Stack:
    """Return ``a⁻¹ b`` of each pair; an error that names the noise where rounding has none."""
    try:
        return array_namespace(a).linalg.solve(a, b)
    except np.linalg.LinAlgError as problem:
        raise _check.NoValueError(f"gp.noise_var must be larger: {LOST}") from problem


def scan(one: Element, join: Callable[[Element, Element], Element]) -> Element:
    """Return the first element, the first two joined, … and all of them joined.

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


def entered(lanes: Element, mean: Stack, cov: Stack) -> tuple[Stack, Stack]:
    """The beliefs that lanes are entered with, (D, B) and (D, D, B), given that before the first.

    Parameters
    ----------
    lanes : Element
        The map of each lane.
    mean, cov : Stack, shape (D, 1) and (D, D, 1)
        The belief before the first.
    """
    xp = array_namespace(mean)
    b, C = stacked(mean), stacked(cov)
    # a belief is the map that forgets the state before it, A = 0
    first = Element(xp.zeros_like(C), b, C, xp.zeros_like(b), xp.zeros_like(C))
    pairs = zip(first, lanes, strict=True)
    after = scan(Element(*(xp.concat([one, more[:-1, ...]], axis=0) for one, more in pairs)),
                 compose)  # fmt: skip
    return turned(after.b, (1, 2, 0))[:, 0, :], turned(after.C, (1, 2, 0))
