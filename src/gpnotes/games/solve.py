"""Equilibria: how far mixtures are from one, and two ways to get there.

`replicator` follows what pays better than the average; it is slow but needs payoffs only.
`equilibria` polishes where it ends with a second-order method, which needs the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import _check
from .._xp import Array, array_namespace
from ._admit import whole
from .game import RoleSymmetricGame
from .payoffs import PayoffModel

__all__ = ["regret", "replicator"]


def regret(payoffs: Array, mixtures: Array, game: RoleSymmetricGame) -> Array:
    """What the best deviation gains, (B,): ``max_r (max_s u_s − p_rᵀ u_r)``; zero at equilibrium.

    `payoffs` and `mixtures` are (B, S). It is not negative, save for rounding. Raises `ValueError`
    for shapes that do not fit the game, and for mixtures off the simplex.

    >>> import numpy as np
    >>> game = RoleSymmetricGame((4,), (2,))
    >>> regret(np.asarray([[1.0, 3.0]]), np.asarray([[0.5, 0.5]]), game)
    array([1.])
    """
    _check.matrix(payoffs, "payoffs", columns=game.size)
    _check.matrix(mixtures, "mixtures", rows=payoffs.shape[0], columns=game.size)
    game.check_mixtures(mixtures)
    xp = array_namespace(payoffs)
    gains = [_best(payoffs[:, c]) - _mean(payoffs[:, c], mixtures[:, c]) for c in game.columns]
    return xp.max(xp.stack(gains, axis=1), axis=1)


def _best(u: Array) -> Array:
    return array_namespace(u).max(u, axis=1)


def _mean(u: Array, p: Array) -> Array:
    return array_namespace(u).sum(p * u, axis=1)


def replicator(
    payoffs: PayoffModel | Callable[[Array], Array],
    starts: Array,
    game: RoleSymmetricGame | None = None,
    *,
    steps: int = 200,
    rate: float = 0.5,
) -> Array:
    """Where mixtures (B, S) are after so many steps of the replicator dynamics.

    ``p_s ← p_s exp(rate (u_s − max u_r) / range_r) / Z`` with the widest range that the payoffs in
    a role have had on the way of that row, so that neither offset nor scale of the payoffs matters,
    rows do not touch each other, and steps shrink near a rest point. `payoffs` is a model
    (its exact payoffs are used) or a function of mixtures, which needs `game`. What has
    probability zero keeps it. Raises `ValueError` or `TypeError` for payoffs that are not finite,
    or not of the mixtures' shape and kind.
    """
    game = payoffs.game if isinstance(payoffs, PayoffModel) else game
    if game is None:
        raise ValueError("game must be given where payoffs is a function")
    call = payoffs.deviation_payoffs if isinstance(payoffs, PayoffModel) else payoffs
    p, steps = game.check_mixtures(starts), whole(steps, "steps", 0)
    _check.positive(rate, "rate")
    widest = [0.0 * p[:, :1] for _ in game.columns]
    for _ in range(steps):
        u = _check.matrix(call(p), "payoffs", rows=p.shape[0], columns=game.size)
        p, widest = _follow(_check.alike(u, "payoffs", p, "starts"), p, widest, game, rate)
    return p


def _follow(
    u: Array, p: Array, widest: list[Array], game: RoleSymmetricGame, rate: float
) -> tuple[Array, list[Array]]:
    xp = array_namespace(p)
    parts, ranges = [], []
    for c, before in zip(game.columns, widest, strict=True):
        ahead = u[:, c] - xp.max(u[:, c], axis=1, keepdims=True)
        widened = xp.maximum(before, -xp.min(ahead, axis=1, keepdims=True))
        size = xp.where(widened > 0.0, widened, xp.ones_like(widened))
        grown = p[:, c] * xp.exp(rate * ahead / size)
        parts.append(grown / xp.sum(grown, axis=1, keepdims=True))
        ranges.append(widened)
    return xp.concat(parts, axis=1), ranges
