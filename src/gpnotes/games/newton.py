"""Second-order steps towards the solutions of ``p = Π(p + u(p))``, which are the equilibria.

Π is the projection on the simplex of each role; it has kinks, so this is a semismooth Newton
method. The payoffs of each role are divided by a unit of its own: the solutions stay the same, and
roles that are paid in different units are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._xp import Array, array_namespace, as_array, epsilon, eye
from .game import RoleSymmetricGame

__all__ = ["newton", "project"]

_RANK = 1e-10

Slopes = Callable[[Array], tuple[Array, Array]]


def newton(slopes: Slopes, p: Array, game: RoleSymmetricGame, unit: Array, steps: int) -> Array:
    """Where so many steps lead from the mixtures p (B, S): the best mixture on the way of each.

    `slopes` gives payoffs (B, S) and their Jacobian (B, S, S), `unit` (S,) is what the payoffs of
    each strategy are measured in.
    """
    xp, identity = array_namespace(p), eye(game.size, p)
    u, J = slopes(p)
    best, least = p, _gap(u, p, game, unit)
    for _ in range(steps):
        if p.shape[0] == 0 or float(xp.max(least)) <= 64.0 * epsilon(p):
            break
        target, active = project(p + u / unit, game)
        slope = identity - active @ (identity + J / unit[:, None])
        there, _ = project(p + _shortest(slope, target - p), game)
        half, (u, J) = 0.5 * (p + target), slopes(there)
        gap = _gap(u, there, game, unit)
        better = gap < least
        best = xp.where(better[:, None], there, best)
        least = xp.where(better, gap, least)
        # where the step does not help, half of the way to the projection, and from there again
        p = xp.where(better[:, None], there, half)
        if not bool(xp.all(better)):
            u, J = slopes(p)
    dust = best < 64.0 * epsilon(best)
    return project(xp.where(dust, 0.0 * best, best), game)[0] if bool(xp.any(dust)) else best


def _shortest(slope: Array, wanted: Array) -> Array:
    """The shortest steps (B, S) for which ``slope step`` is as near to `wanted` as can be.

    Singular slopes are common: where two roles play different numbers of strategies, say. What is
    below `_RANK` of the largest singular value is zero, on every processor.
    """
    xp = array_namespace(wanted)
    U, values, turned = xp.linalg.svd(slope, full_matrices=False)
    kept = values > max(_RANK, 64.0 * epsilon(wanted)) * values[:, :1]
    inverse = xp.where(kept, 1.0 / xp.where(kept, values, xp.ones_like(values)), 0.0 * values)
    along = xp.matrix_transpose(U) @ wanted[:, :, None]
    return (xp.matrix_transpose(turned) @ (inverse[:, :, None] * along))[:, :, 0]


def _gap(u: Array, p: Array, game: RoleSymmetricGame, unit: Array) -> Array:
    return array_namespace(p).max(abs(p - project(p + u / unit, game)[0]), axis=1)


def project(z: Array, game: RoleSymmetricGame) -> tuple[Array, Any]:
    """The nearest mixtures (B, S) to z, and the derivative (B, S, S) of that map.

    The threshold is found by sorting. Source: Duchi et al. (2008), Efficient projections onto the
    l1-ball for learning in high dimensions.
    """
    xp = array_namespace(z)
    mixtures, support = [], []
    for part in game.columns:
        y = z[:, part]
        down = xp.flip(xp.sort(y, axis=1), axis=1)
        k = as_array(range(1, y.shape[1] + 1), z)
        level = (xp.cumulative_sum(down, axis=1) - 1.0) / k
        above = xp.sum(xp.astype(down > level, xp.int64), axis=1, keepdims=True)
        cut = xp.take_along_axis(level, above - 1, axis=1)
        mixtures.append(xp.clip(y - cut, 0.0, None))
        support.append(xp.astype(y > cut, z.dtype))
    return xp.concat(mixtures, axis=1), _slope(support, game, z)


def _slope(support: list[Array], game: RoleSymmetricGame, z: Array) -> Array:
    """On the support of each role: the identity less the mean."""
    xp = array_namespace(z)
    every = xp.concat(support, axis=1)
    spread = [a / xp.sum(a, axis=1, keepdims=True) for a in support]
    same = eye(game.size, z) * every[:, :, None]
    roles = np.repeat(np.arange(game.roles), game.strategies)
    together = as_array((roles[:, None] == roles[None, :]).astype(float), z)
    mean = together * every[:, :, None] * xp.concat(spread, axis=1)[:, None, :]
    return same - mean
