"""Draws of a Matérn process along a line before any reading, in time that grows as the places."""

from __future__ import annotations

from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace, eye, zeros
from .parallel_scan import Element, Lanes, compose, entered, scan, stacked

__all__ = ["prior_draw"]


def prior_draw(lanes: Lanes, normals: Stack) -> Vector:
    """Draw the signal (N,), of variance one, at places along a line, from normals (L, D, B); O(N).

    All lanes start from a state of zeros, at once; what the state that a lane is entered with adds
    is carried through afterwards, as the motion is linear. Readings and noise are not looked at.
    """
    xp, motion = array_namespace(normals), lanes.motion
    x, d = xp.zeros_like(normals[0, ...]), motion.size
    none = zeros((d, d, normals.shape[2]), normals)
    passed = none + eye(d, normals)[:, :, None]
    own, seen = [], []
    for k in range(normals.shape[0]):
        s, decay = lanes.gaps[k, ...], lanes.decay(k)
        for moved in (x, passed):
            motion.up(s, moved)
            moved *= decay
        x += _rooted(lanes.drift(k, decay), normals[k, ...])
        own.append(xp.asarray(x[0, ...], copy=True))
        seen.append(xp.asarray(passed[0, ...], copy=True))
    moved = stacked(x)
    lane = Element(stacked(passed), moved, stacked(none), xp.zeros_like(moved), stacked(none))
    start = entered(scan(lane, compose).b)[:, 0, :]
    return lanes.ordered(xp.stack(own) + xp.sum(xp.stack(seen) * start[None, :, :], axis=1))


def _rooted(Q: Stack, z: Matrix) -> Matrix:
    """``R z`` with the Cholesky factor R of each covariance of Q (D, D, B), for z (D, B).

    A gap of nothing has a covariance of nothing, and one that is all but nothing may have a pivot
    that rounding takes below zero: then that is zero.
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
