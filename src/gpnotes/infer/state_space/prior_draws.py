"""Draws of a process along a line before any reading, in time that grows as the places."""

from __future__ import annotations

from ...ground.xp import Array, Matrix, Stack, array_namespace, eye, zeros
from .motion import signal
from .parallel_scan import Element, Lanes, entered, stacked

__all__ = ["prior_draw"]


def prior_draw(lanes: Lanes, normals: Stack, *seen: tuple[int, ...]) -> Matrix:
    """Draw sums of entries of the state (S, N) along a line, from normals (L, D, B); O(N).

    All lanes start from a state of zeros, at once; the term of the state before a lane
    is carried through afterwards, as the motion is linear. Readings and noise are ignored.
    The normals of the first step of all, before which there is no gap, draw the first state.
    """
    xp, motion = array_namespace(normals), lanes.motion
    x, d = xp.zeros_like(normals[0, ...]), motion.size
    none = zeros((d, d, normals.shape[2]), normals)
    passed = none + eye(d, normals)[:, :, None]
    own, through = [], []
    for k in range(normals.shape[0]):
        step = lanes.step(k)
        step.up(x)
        step.up(passed)
        for block, rows, Q in zip(motion.blocks, motion.told, step.noise, strict=True):
            if Q is not None:
                enters = _rooted(Q, normals[k, block, :])
                x[block, ...] += enters
                if rows != block:
                    x[rows, ...] += enters
        own.append(xp.stack([signal(x, entries) for entries in seen]))
        through.append(xp.stack([signal(passed, entries) for entries in seen]))
    moved = stacked(x)
    lane = Element(stacked(passed), moved, stacked(none), xp.zeros_like(moved), stacked(none))
    place, pairs = lanes.places[0, :1], zip(motion.terms, motion.blocks, strict=True)
    first = xp.concat([_rooted(term.prior(place), normals[0, own, :1]) for term, own in pairs])
    motion.fold(first)
    start, _ = entered(lane, first, none[:, :, :1])
    drawn = xp.stack(own) + xp.sum(xp.stack(through) * start[None, None, :, :], axis=2)
    return xp.stack([lanes.ordered(drawn[:, s, :]) for s in range(len(seen))])


def _rooted(Q: Stack, z: Matrix) -> Matrix:
    """``R z`` with the Cholesky factor R of each covariance of Q (D, D, B), for z (D, B).

    A pivot that rounding takes below zero, as of next to no gap, is zero.
    """
    xp, size = array_namespace(Q), Q.shape[0]
    R: dict[tuple[int, int], Array] = {}
    out = xp.zeros_like(z)
    for i in range(size):
        for j in range(i):
            rest = Q[i, j, ...] - sum(R[i, k] * R[j, k] for k in range(j))
            pivot = R[j, j]
            flat = pivot == 0.0
            ratio = rest / xp.where(flat, xp.ones_like(pivot), pivot)
            R[i, j] = xp.where(flat, xp.zeros_like(rest), ratio)
        rest = Q[i, i, ...] - sum(R[i, k] ** 2 for k in range(i))
        R[i, i] = xp.sqrt(xp.clip(rest, 0.0, None))
        out[i, ...] = sum(R[i, k] * z[k, ...] for k in range(i + 1))
    return out
