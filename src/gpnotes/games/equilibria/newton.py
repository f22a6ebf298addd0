"""Second-order steps towards the solutions of ``p = Π(p + u(p))``, which are the equilibria.

Π is the projection on the simplex of each role; it has kinks, so this is a semismooth Newton
method. The payoffs of each role are divided by a unit of its own: the solutions stay the same, and
roles that are paid in different units are alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ground.xp import Array, array_namespace, as_array, as_index, epsilon, eye
from ..game import RoleSymmetricGame

__all__ = ["newton_steps", "project"]

_RANK = 1e-10

PayoffsAndJacobian = Callable[[Array], tuple[Array, Array]]


def newton_steps(
    payoffs: PayoffsAndJacobian, p: Array, game: RoleSymmetricGame, unit: Array, max_steps: int
) -> Array:
    """Take Newton steps from mixtures (B, S), and keep the best one on the way of each.

    `payoffs` gives payoffs (B, S), each strategy's in its `unit`, and their Jacobian (B, S, S).
    """
    xp = array_namespace(p)
    identity = eye(game.num_strategies, p)
    u, J = payoffs(p)
    best = p
    best_gap = _residual_norm(u, p, game, unit)
    for _ in range(max_steps):
        if p.shape[0] == 0 or float(xp.max(best_gap)) <= 64.0 * epsilon(p):
            break
        target, active = project(p + u / unit, game)
        # the residual p − Π(p + u(p)/unit) and its Jacobian
        residual_jacobian = identity - active @ (identity + J / unit[:, None])
        newton_point, _ = project(p + _least_norm_steps(residual_jacobian, target - p), game)
        halfway = 0.5 * (p + target)
        u, J = payoffs(newton_point)
        gap = _residual_norm(u, newton_point, game, unit)
        better = gap < best_gap
        best = xp.where(better[:, None], newton_point, best)
        best_gap = xp.where(better, gap, best_gap)
        # where the step does not help, half of the way to the projection, and from there again
        p = xp.where(better[:, None], newton_point, halfway)
        if not bool(xp.all(better)):
            u, J = payoffs(p)
    tiny = best < 64.0 * epsilon(best)
    if not bool(xp.any(tiny)):
        return best
    return project(xp.where(tiny, xp.zeros_like(best), best), game)[0]


def _least_norm_steps(jacobian: Array, right_side: Array) -> Array:
    """The shortest steps (B, S) for which ``jacobian step`` is as near to `right_side` as can be.

    Singular values below `_RANK` of the largest count as zero, on every processor.
    """
    xp = array_namespace(right_side)
    U, values, V_transposed = xp.linalg.svd(jacobian, full_matrices=False)
    kept = values > max(_RANK, 64.0 * epsilon(right_side)) * values[:, :1]
    inverse = 1.0 / xp.where(kept, values, xp.ones_like(values))
    inverse = xp.where(kept, inverse, xp.zeros_like(values))
    coordinates = xp.matrix_transpose(U) @ right_side[:, :, None]
    return (xp.matrix_transpose(V_transposed) @ (inverse[:, :, None] * coordinates))[:, :, 0]


def _residual_norm(u: Array, p: Array, game: RoleSymmetricGame, unit: Array) -> Array:
    xp = array_namespace(p)
    return xp.max(xp.abs(p - project(p + u / unit, game)[0]), axis=1)


def project(z: Array, game: RoleSymmetricGame) -> tuple[Array, Array]:
    """Project points (B, S) on the simplex of each role; with the derivative (B, S, S) of that map.

    The threshold is found by sorting. Source: Duchi et al. (2008), Efficient projections onto the
    l1-ball for learning in high dimensions.
    """
    xp = array_namespace(z)
    mixtures = []
    supports = []
    for part in game.columns:
        y = z[:, part]
        descending = xp.flip(xp.sort(y, axis=1), axis=1)
        k = as_array(range(1, y.shape[1] + 1), z)
        # what is cut off the k largest entries so that they add up to one; the last level below
        # its own entry is the cut of the projection
        thresholds = (xp.cumulative_sum(descending, axis=1) - 1.0) / k
        support_size = xp.sum(as_index(descending > thresholds, thresholds), axis=1, keepdims=True)
        threshold = xp.take_along_axis(thresholds, support_size - 1, axis=1)
        mixtures.append(xp.clip(y - threshold, 0.0, None))
        supports.append(xp.astype(y > threshold, z.dtype))
    return xp.concat(mixtures, axis=1), _projection_jacobian(supports, game, z)


def _projection_jacobian(supports: list[Array], game: RoleSymmetricGame, z: Array) -> Array:
    """The derivative of the projection: on the support of each role, the identity less the mean."""
    xp = array_namespace(z)
    support = xp.concat(supports, axis=1)
    shares = xp.concat([a / xp.sum(a, axis=1, keepdims=True) for a in supports], axis=1)
    # ∂Π(z)_s/∂z_t = [s = t] − 1/n for s and t in the support of one role, which holds n
    identity = eye(game.num_strategies, z) * support[:, :, None]
    roles = np.repeat(np.arange(game.num_roles), game.strategies)
    same_role = as_array((roles[:, None] == roles[None, :]).astype(float), z)
    mean = same_role * support[:, :, None] * shares[:, None, :]
    return identity - mean
