"""Equilibria of a payoff model, each with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._xp import Array, array_namespace, as_array, eye, to_numpy
from ..random import Stream
from .game import RoleSymmetricGame
from .payoffs import PayoffModel
from .solve import regret, replicator

__all__ = ["Equilibrium", "equilibria"]


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A mixture (S,) that nobody gains by leaving, and what that claim rests on.

    `payoffs` (S,) and `regret` are those of the model, by `method`; `true_regret` is that of the
    true game where it is known, else None. `steps` is how many second-order steps were taken.
    """

    mixture: Array
    payoffs: Array
    regret: float
    true_regret: float | None
    steps: int
    method: str


def equilibria(
    model: PayoffModel,
    starts: Array | None = None,
    *,
    stream: Stream | None = None,
    count: int = 16,
    method: str = "exact",
    true: Callable[[Array], Array] | None = None,
    replicator_steps: int = 50,
    steps: int = 30,
    tolerance: float = 1e-4,
    apart: float = 1e-2,
) -> list[Equilibrium]:
    """Symmetric equilibria of the model, those with the least regret first.

    From `starts` (B, S), or `count` mixtures drawn from `stream`, replicator dynamics lead to the
    neighbourhood of an equilibrium; then Newton steps solve ``p = Π(p + u(p))``, Π the projection
    on the simplex of each role and u the payoffs over their range: the solutions are the
    equilibria, on the boundary too. What has a regret above `tolerance` times the range is
    dropped; of mixtures closer than `apart` one is kept. `true` gives the payoffs (B, S) of the
    true game. Finding none, or not all, is possible: no method finds all.
    """
    game = model.game
    p = _starts(model, starts, stream, count)

    def payoffs(q: Array) -> Array:
        return model.deviation_payoffs(q, method)

    def slopes(q: Array) -> tuple[Array, Array]:
        return model.deviation_payoffs(q, method, jacobian=True)

    p = replicator(payoffs, p, game, steps=replicator_steps)
    u = payoffs(p)
    xp = array_namespace(p)
    size = float(xp.max(u) - xp.min(u)) or 1.0
    p, taken = _newton(slopes, p, game, size, steps)
    u = payoffs(p)
    r = regret(u, p, game)
    found = []
    for i in np.argsort(np.asarray(to_numpy(r))):
        i = int(i)
        near = any(float(xp.max(xp.abs(p[i, :] - e.mixture))) < apart for e in found)
        if float(r[i]) > tolerance * size or near:
            continue
        sure = (
            None if true is None else float(regret(true(p[i : i + 1, :]), p[i : i + 1, :], game)[0])
        )
        found.append(Equilibrium(p[i, :], u[i, :], float(r[i]), sure, taken, method))
    return found


def _starts(model: PayoffModel, starts: Array | None, stream: Stream | None, count: int) -> Array:
    if starts is not None:
        return model.game.check_mixtures(starts)
    if stream is None:
        raise ValueError("equilibria need starts, or a stream to draw them from")
    parts = [stream.generator.dirichlet(np.ones(s), count) for s in model.game.strategies]
    like = model.expansions[0].weights
    return model.game.check_mixtures(as_array(np.concatenate(parts, axis=1), like))


def _newton(
    slopes: Callable, p: Array, game: RoleSymmetricGame, size: float, steps: int
) -> tuple[Array, int]:
    """Semismooth Newton steps on ``F(p) = p − Π(p + u(p)/size)``, the best mixture of each kept."""
    xp = array_namespace(p)
    best, least, taken = p, _gap(slopes(p)[0], p, game, size), 0
    for _ in range(steps):
        if float(xp.max(least)) <= 1e-13:
            break
        u, J = slopes(p)
        target, active = _project(p + u / size, game)
        slope = eye(game.size, p) - active @ (eye(game.size, p) + J / size)
        ridge = 1e-10 * eye(game.size, p)
        step = xp.linalg.solve(slope + ridge, (target - p)[:, :, None])[:, :, 0]
        p, _ = _project(p + step, game)
        gap, taken = _gap(slopes(p)[0], p, game, size), taken + 1
        better = gap < least
        best = xp.where(better[:, None], p, best)
        least = xp.where(better, gap, least)
        # where a full step does not help, go half of the way to the projection instead
        p = xp.where(better[:, None], p, _project(0.5 * (best + target), game)[0])
    return best, taken


def _gap(u: Array, p: Array, game: RoleSymmetricGame, size: float) -> Array:
    return array_namespace(p).max(abs(p - _project(p + u / size, game)[0]), axis=1)


def _project(z: Array, game: RoleSymmetricGame) -> tuple[Array, Any]:
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
