"""How far mixtures are from an equilibrium, and the dynamics that may lead to one.

`replicator` follows what pays better than the average; it is slow but needs payoffs only.
`find_equilibria` searches with second-order steps too, which need the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ground import check as _check
from ....ground.xp import Matrix, Vector, array_namespace
from ..game import RoleSymmetricGame
from ..payoffs import PayoffModel

__all__ = ["gains", "regret", "replicator"]


def regret(
    payoffs: Matrix, mixtures: Matrix, game: RoleSymmetricGame, *, by_role: bool = False
) -> Vector:
    """What the best deviation gains, (B,): ``max_r (max_s u_s − p_rᵀ u_r)``; zero at equilibrium.

    `payoffs` and `mixtures` are (B, S), or (S,) for one. With `by_role` the regret of each role,
    (B, R), in the role's own unit: where roles are paid in different units, the largest of them
    means nothing. It is not negative, save for rounding. Raises `ValueError` for shapes that do not
    fit the game, and for mixtures off the simplex.

    >>> import numpy as np
    >>> game = RoleSymmetricGame((4, 1), (2, 2))
    >>> payoffs, mixture = np.asarray([1.0, 3.0, 500.0, 400.0]), np.asarray([0.5, 0.5, 0.9, 0.1])
    >>> regret(payoffs, mixture, game).round(9), regret(payoffs, mixture, game, by_role=True)
    (array([10.]), array([[ 1., 10.]]))
    """
    _check.instance(game, "game", RoleSymmetricGame)
    p = game.check_mixtures(mixtures)
    u = payoffs[None, :] if getattr(payoffs, "ndim", 0) == 1 else payoffs
    _check.matrix(u, "payoffs", rows=p.shape[0], columns=game.size)
    _check.alike(u, "payoffs", p, "mixtures")
    of_roles = gains(u, p, game)
    return of_roles if _check.flag(by_role, "by_role") else array_namespace(p).max(of_roles, axis=1)


def gains(u: Matrix, p: Matrix, game: RoleSymmetricGame) -> Matrix:
    """What the best deviation of each role gains, (B, R)."""
    xp = array_namespace(u)
    best = xp.stack([xp.max(u[:, c], axis=1) for c in game.columns], axis=1)
    return best - xp.stack([xp.sum(p[:, c] * u[:, c], axis=1) for c in game.columns], axis=1)


def replicator(
    payoffs: PayoffModel | Callable[[Matrix], Matrix],
    starts: Matrix,
    game: RoleSymmetricGame | None = None,
    *,
    steps: int = 200,
    rate: float = 0.5,
) -> Matrix:
    """Where mixtures (B, S) are after so many steps of the replicator dynamics.

    ``p_s ← p_s exp(rate (u_s − max u_r) / range_r) / Z`` with the widest range that the payoffs in
    a role have had on the way of that row, so that neither offset nor scale of the payoffs matters,
    rows do not touch each other, and steps shrink near a rest point. `payoffs` is a model
    (its exact payoffs are used) or a function of mixtures, which needs `game`. What has
    probability zero keeps it. Raises `ValueError` or `TypeError` for payoffs that are not finite,
    or not of the mixtures' shape and kind, and for a `game` that is not the model's.
    """
    game, call = _game(payoffs, game)
    p = game.check_mixtures(starts, "starts")
    steps = _check.whole(steps, "steps")
    rate = _check.positive(_check.number(rate, "rate"), "rate")
    widest = [0.0 * p[:, :1] for _ in game.columns]
    for _ in range(steps):
        u = _check.matrix(call(p), "payoffs", rows=p.shape[0], columns=game.size)
        p, widest = _follow(_check.alike(u, "payoffs", p, "starts"), p, widest, game, rate)
    return p


def _game(
    payoffs: PayoffModel | Callable[[Matrix], Matrix], game: RoleSymmetricGame | None
) -> tuple[RoleSymmetricGame, Callable[[Matrix], Matrix]]:
    if isinstance(payoffs, PayoffModel):
        if game is not None and _check.instance(game, "game", RoleSymmetricGame) != payoffs.game:
            raise ValueError(
                f"game must be the model's own, {payoffs.game}, or left out; got {game}"
            )
        return payoffs.game, payoffs.deviation_payoffs
    if not callable(payoffs) or isinstance(payoffs, type):
        got = type(payoffs).__name__
        raise TypeError(f"payoffs must be a PayoffModel or a function of mixtures; got {got}")
    if game is None:
        raise ValueError("game must be given where payoffs is a function")
    return _check.instance(game, "game", RoleSymmetricGame), payoffs


def _follow(
    u: Matrix, p: Matrix, widest: list[Vector], game: RoleSymmetricGame, rate: float
) -> tuple[Matrix, list[Vector]]:
    xp = array_namespace(p)
    parts = []
    ranges = []
    for c, before in zip(game.columns, widest, strict=True):
        payoffs = u[:, c]
        least = xp.min(payoffs, axis=1, keepdims=True)
        widened = xp.maximum(before, xp.max(payoffs, axis=1, keepdims=True) - least)
        unit = xp.where(widened > 0.0, widened, xp.ones_like(widened))
        # from the best that anybody plays: what nobody plays may be better at any rate
        played = xp.where(p[:, c] > 0.0, payoffs, least + 0.0 * payoffs)
        ahead = xp.minimum(payoffs - xp.max(played, axis=1, keepdims=True), 0.0 * payoffs)
        grown = p[:, c] * xp.exp(rate * ahead / unit)
        parts.append(grown / xp.sum(grown, axis=1, keepdims=True))
        ranges.append(widened)
    return xp.concat(parts, axis=1), ranges
