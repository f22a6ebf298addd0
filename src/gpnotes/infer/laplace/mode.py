"""Newton's steps to the mode of latent values, each halved for as long as it leads downhill."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.xp import Array, Matrix, array_namespace, diagonal, epsilon, fused, largest

__all__ = ["Mode", "Seen", "mode_of"]

_MOST_STEPS, _MOST_HALVINGS, _MOST_SHORT = 200, 20, 50
_FARTHEST = 100  # halvings of a step from 0 to counts however large, whose exp(f) overflows
_FAR = 100.0  # times the rounding of f, which a step through K and the curvature makes larger
_TURN = 1e-3  # by how much of W + 1/K the last step may have changed it: the next squares that


class Seen(NamedTuple):
    """The posterior density at some f; numbers are arrays without axes, to be read together.

    Its logarithm up to a constant, the derivatives of the log likelihood, from which the next step
    starts, and whether log p(y | f) bends upwards for one of the observations.
    """

    value: Array
    slopes: tuple[Array, ...]
    bends: Array | bool = False


class Mode(NamedTuple):
    """The mode ``m + K α``, with its α, the slopes there, as of `Seen`, and the steps."""

    f: Array
    alpha: Array
    slopes: tuple[Array, ...]
    bends: bool
    steps: int


@np.errstate(over="ignore", invalid="ignore")  # a step that is too long is halved
def mode_of(
    K: Matrix,
    mean: Array,
    look: Callable[[Array, Array], Seen],
    newton: Callable[[Array, tuple[Array, ...], bool], Array],
    doubt: str,
) -> Mode:
    """The ``f = m + K α`` of the largest posterior density.

    `look` gives the density at α and f, `newton` the way of α to the maximum of the quadratic that
    touches the log density, [eq-la-newton], of α, the slopes at f, and whether log p(y | f) bends
    upwards; m and f are (n,), or of several functions (n, c). Where no mode is found it is an
    error, whose question is `doubt`.

    A device is read once a step, and once for each factor that the step takes: all numbers on
    which it depends if a step was right are launched before the first of them is read. Where a step
    is short W is asked if it changed.
    """
    xp = array_namespace(K)
    alpha, f, pull, offset = xp.zeros_like(mean), mean, xp.zeros_like(mean), xp.abs(mean)
    seen, variance, level = look(alpha, f), xp.max(diagonal(K)), xp.max(offset)
    here, bends = float(seen.value), bool(seen.bends)
    eps = epsilon(K)
    deviation, short = math.sqrt(float(variance)), 0  # f has the unit of y, which may be any
    for step in range(1, _MOST_STEPS + 1):
        # steps are of α, not of f: K α is in the range of K, however nearly singular that is
        toward, before = newton(alpha, seen.slopes, bends), seen
        for halvings in range(_FARTHEST):
            tried = alpha + 0.5**halvings * toward
            pulled = K @ tried
            new = mean + pulled
            seen = look(tried, new)
            asked = (
                seen.value, _summed(K, tried, offset), largest(pulled - pull), largest(pull), level,
            )  # fmt: skip
            there, summed, moved, size, far = map(float, asked)
            # not lower, but for the rounding of the sums in it
            scale = 1.0 + abs(here) + summed
            if there >= here - 10.0 * eps * scale:
                break
            if halvings + 1 >= _MOST_HALVINGS and there >= here - scale:
                break
        alpha, f, pull, here, bends = tried, new, pulled, there, bool(seen.bends)
        rounded = _FAR * eps * (far + size)  # what y less f loses far from zero
        # Newton squares it: √eps leaves eps, if W is what it was, which a wide prior hides
        # a step that was halved does not say how far the top is
        if halvings > 0 or moved > max(eps**0.5 * (deviation + size), rounded):
            short = 0
            continue
        short += 1
        steady = moved <= rounded or short > _MOST_SHORT
        if steady or _turned(K, before, seen, moved / (_FAR * eps), alpha) <= _TURN:
            return Mode(f, alpha, seen.slopes, bends, step)
    wanted = f"the mode must be found in {_MOST_STEPS} Newton steps"
    raise _check.NoValueError(f"{wanted}; it was not: {doubt}")


def _summed(K: Matrix, alpha: Array, offset: Array) -> Array:
    """``|α|ᵀ (|K| |α| + |m|)``: the sizes of all that ``αᵀ f`` sums, which it is rounded by."""
    size = array_namespace(K).abs(alpha)
    return _sum_of_sizes(size, array_namespace(K).abs(K) @ size, offset)


def _turned(K: Matrix, before: Seen, after: Seen, moved: float, alpha: Array) -> float:
    """Return the largest change of W, or of the classes' shares, relative to ``W + 1/K``.

    It is zero where K α is rounded by more than it moved.
    """
    xp, W, new = array_namespace(K), before.slopes[:2][-1], after.slopes[:2][-1]
    own = diagonal(K) if W.ndim == 1 else diagonal(K)[:, None]
    turned = xp.max(own * xp.abs(new - W) / (1.0 + own * xp.abs(W)))
    reach = xp.max(xp.abs(K) @ xp.abs(alpha))
    return float(xp.where(reach < moved, turned, xp.zeros_like(turned)))


@fused
def _sum_of_sizes(size: Array, pull: Array, offset: Array) -> Array:
    return array_namespace(size).sum(size * (pull + offset))
