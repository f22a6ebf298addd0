"""The regret of mixtures, and the dynamics that may lead to an equilibrium.

`replicator_dynamics` moves to strategies that pay more than the average; it is slow but needs
payoffs only.
`find_equilibria` searches with second-order steps too, which need the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ground import check as _check
from ...ground.xp import Matrix, Vector, array_namespace
from ..game import RoleSymmetricGame
from ..payoffs import PayoffModel

__all__ = ["deviation_gains", "regret", "replicator_dynamics"]


def regret(
    payoffs: Matrix, mixtures: Matrix, game: RoleSymmetricGame, *, by_role: bool = False
) -> Vector:
    """The regret of mixtures: the gain of the best deviation, zero at an equilibrium.

    ``max_r (max_s u_s − p_rᵀ u_r)``; it is not negative, save for rounding.

    Parameters
    ----------
    payoffs : Matrix, shape (B, S) or (S,)
        The payoffs u of deviating to each strategy.
    mixtures : Matrix, shape (B, S) or (S,)
        The mixtures p.
    by_role : bool, default False
        Give the regret of each role in the role's own unit: where roles are paid in different
        units, the largest of them means nothing.

    Returns
    -------
    Array, shape (B,) or (B, R)
        The regrets; (B, R) with `by_role`.

    Examples
    --------
    >>> import numpy as np
    >>> game = RoleSymmetricGame((4, 1), (2, 2))
    >>> payoffs, mixture = np.asarray([1.0, 3.0, 500.0, 400.0]), np.asarray([0.5, 0.5, 0.9, 0.1])
    >>> regret(payoffs, mixture, game).round(9), regret(payoffs, mixture, game, by_role=True)
    (array([10.]), array([[ 1., 10.]]))
    """
    _check.instance(game, "game", RoleSymmetricGame)
    p = game.check_mixtures(mixtures)
    u = payoffs[None, :] if getattr(payoffs, "ndim", 0) == 1 else payoffs
    _check.matrix(u, "payoffs", rows=p.shape[0], columns=game.num_strategies)
    _check.alike(u, "payoffs", p, "mixtures")
    gains = deviation_gains(u, p, game)
    return gains if _check.flag(by_role, "by_role") else array_namespace(p).max(gains, axis=1)


def deviation_gains(u: Matrix, p: Matrix, game: RoleSymmetricGame) -> Matrix:
    """The gain of the best deviation of each role.

    Parameters
    ----------
    u : Matrix, shape (B, S)
        The payoffs.
    p : Matrix, shape (B, S)
        The mixtures.

    Returns
    -------
    Matrix, shape (B, R)
        The gains.
    """
    xp = array_namespace(u)
    best = xp.stack([xp.max(u[:, c], axis=1) for c in game.columns], axis=1)
    return best - xp.stack([xp.sum(p[:, c] * u[:, c], axis=1) for c in game.columns], axis=1)


def replicator_dynamics(
    payoffs: PayoffModel | Callable[[Matrix], Matrix],
    starts: Matrix,
    game: RoleSymmetricGame | None = None,
    *,
    num_steps: int = 200,
    step_size: float = 0.5,
) -> Matrix:
    """Follow the replicator dynamics from some mixtures.

    ``p_s ← p_s exp(η (u_s − max u_r) / range_r) / Z``, η the step size, with the widest range that
    the payoffs in a role have had on the way of that row, so that neither offset nor scale of the
    payoffs matters, rows do not touch each other, and steps shrink near a rest point. A
    strategy of probability zero keeps it.

    Parameters
    ----------
    payoffs : PayoffModel or callable
        A model, whose exact payoffs are used, or a function of mixtures (B, S) that gives
        payoffs (B, S).
    starts : Matrix, shape (B, S)
        The mixtures to start from.
    game : RoleSymmetricGame, optional
        The game, which a function needs; a model has its own.
    num_steps : int, default 200
        The number of steps.
    step_size : float, default 0.5
        The step of the dynamics.

    Returns
    -------
    Matrix, shape (B, S)
        The mixtures after the last step.
    """
    game, payoffs_at = _game(payoffs, game)
    p = game.check_mixtures(starts, "starts")
    num_steps = _check.whole(num_steps, "num_steps")
    step_size = _check.positive(_check.number(step_size, "step_size"), "step_size")
    widest = [array_namespace(p).zeros_like(p[:, :1]) for _ in game.columns]
    for _ in range(num_steps):
        u = _check.matrix(payoffs_at(p), "payoffs", rows=p.shape[0], columns=game.num_strategies)
        _check.alike(u, "payoffs", p, "starts")
        p, widest = _replicator_step(u, p, widest, game, step_size)
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


def _replicator_step(
    u: Matrix, p: Matrix, widest_before: list[Vector], game: RoleSymmetricGame, step_size: float
) -> tuple[Matrix, list[Vector]]:
    xp = array_namespace(p)
    mixtures = []
    ranges = []
    for c, range_before in zip(game.columns, widest_before, strict=True):
        payoffs = u[:, c]
        least = xp.min(payoffs, axis=1, keepdims=True)
        widest = xp.maximum(range_before, xp.max(payoffs, axis=1, keepdims=True) - least)
        divisor = xp.where(widest > 0.0, widest, xp.ones_like(widest))
        # from the best that anybody plays: what nobody plays may be better at any rate
        played = xp.where(p[:, c] > 0.0, payoffs, least)
        lag = xp.minimum(payoffs - xp.max(played, axis=1, keepdims=True), xp.zeros_like(payoffs))
        weights = p[:, c] * xp.exp(step_size * lag / divisor)
        mixtures.append(weights / xp.sum(weights, axis=1, keepdims=True))
        ranges.append(widest)
    return xp.concat(mixtures, axis=1), ranges
