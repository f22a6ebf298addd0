"""A fixed point of a continuous map by a path through simplices, which cannot miss it.

The space (y, t), 0 ≤ t ≤ 1, is cut into simplices whose vertices lie at t = 0 or t = 1. A vertex
has the label ``y − start`` below and ``y − F(y)`` above. A facet whose labels have zero among their
averages lies on the path; there is one below, around `start`, and from there each simplex that the
path enters by one such facet it leaves by another. It cannot come back, and, where F is bounded, it
cannot run away: so it ends above, at a simplex in which F, taken as linear, has a fixed point.
Sources: Merrill (1972), Applications and extensions of an algorithm that computes fixed points of
certain upper semi-continuous point to set mappings; Eaves (1972), Homotopies for computation of
fixed points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...ground.xp import HostVector

__all__ = ["fixed_points"]

Map = Callable[[HostVector], HostVector]


def fixed_points(
    F: Map, start: HostVector, *, mesh: float = 0.25, meshes: int = 14, max_steps: int = 20_000
) -> Iterator[HostVector]:
    """Follow paths to points ever nearer to a fixed point of a map.

    F maps all of space, (n,) to (n,), into a bounded part of it. Each path starts where the last
    one ended, on a mesh a fourth of the last, and its end is yielded; nothing comes after
    `max_steps` in all, each with one value of F at most.
    """
    y = np.asarray(start, dtype=float)
    steps_left = max_steps
    for level in range(meshes):
        next_point, steps = _path(F, y, mesh / 4.0**level, steps_left)
        if next_point is None:
            return
        y = next_point
        steps_left -= steps
        yield y


def _path(F: Map, start: HostVector, mesh: float, max_steps: int) -> tuple[HostVector | None, int]:
    """The end of the path from `start`, if there is one after at most so many steps, and those."""
    n = len(start)
    # vertices of a simplex, (n + 2, n + 1), each one step of the mesh further than the one before;
    # the last coordinate is t, and `start` is in the middle of the facet below
    vertices = [np.arange(n + 1) < k for k in range(n + 2)]
    vertices = [vertex.astype(float) for vertex in vertices]
    origin = start - mesh * np.mean(vertices[: n + 1], axis=0)[:n]

    def point(vertex: HostVector) -> HostVector:
        return origin + mesh * vertex[:n]

    def label(vertex: HostVector) -> HostVector:
        y = point(vertex)
        return np.append(1.0, (y - (F(y) if vertex[n] > 0.5 else start)) / mesh)

    labels = [label(vertex) for vertex in vertices]
    entering = n + 1
    for step in range(1, max_steps + 1):
        leaving = _leaving(labels, entering)
        top = [i for i in range(n + 2) if i != leaving and vertices[i][n] > 0.5]
        if len(top) == n + 1:
            return _zero_weights([labels[i] for i in top]) @ [point(vertices[i]) for i in top], step
        vertex = _pivot(vertices, leaving)
        entering = {0: n + 1, n + 1: 0}.get(leaving, leaving)
        del vertices[leaving], labels[leaving]
        vertices.insert(entering, vertex)
        labels.insert(entering, label(vertex))
    return None, max_steps


def _zero_weights(labels: list[HostVector]) -> HostVector:
    """Those with which the labels of a facet have the average zero; a label starts with a one."""
    return np.linalg.solve(np.stack(labels, axis=1), np.eye(len(labels))[0])


def _leaving(labels: list[HostVector], entering: int) -> int:
    """The vertex that leaves for the new one, so that zero is an average of the labels again."""
    candidates = [i for i in range(len(labels)) if i != entering]
    facet = np.stack([labels[i] for i in candidates], axis=1)
    right_sides = np.stack([np.eye(len(candidates))[0], labels[entering]], axis=1)
    # with t of the new label the weights are (weights − t change): the first to vanish leaves
    weights, change = np.linalg.solve(facet, right_sides).T
    falling = change > 1e-12
    ratios = np.divide(weights, change, out=np.full(len(candidates), np.inf), where=falling)
    return candidates[int(np.argmin(ratios))]


def _pivot(vertices: list[HostVector], i: int) -> HostVector:
    """The other vertex that makes a simplex of the triangulation, Freudenthal's, with the rest."""
    v = vertices
    last = len(vertices) - 1
    if i == 0:
        return v[last] + (v[1] - v[0])
    if i == last:
        return v[0] - (v[last] - v[last - 1])
    return v[i - 1] + (v[i + 1] - v[i])
