"""Equilibria of a payoff model, each with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._xp import Array, array_namespace, as_array, eye, to_numpy
from ..random import Stream
from ._admit import drawn_from, whole
from .game import RoleSymmetricGame
from .payoffs import METHODS, PayoffModel
from .solve import regret, replicator

__all__ = ["Equilibria", "Equilibrium", "equilibria"]


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A mixture (S,) that nobody gains by leaving, and what that claim rests on.

    `payoffs` (S,) and `regret` are those of the model, by `method`; `true_regret` is that of the
    true game where it is known, else None. `steps` is how many second-order steps were taken, and
    `reached` how many of the starts ended here.
    """

    mixture: Array
    payoffs: Array
    regret: float
    true_regret: float | None
    steps: int
    method: str
    reached: int = 1


@dataclass(frozen=True, eq=False)
class Equilibria(Sequence):
    """The equilibria found, those with the least regret first; and what became of all starts.

    `regrets`, (B,), are those of the model where each of the `starts` ended. Those above `allowed`
    are the `failed`: nothing is claimed about them, and an equilibrium may lie near one.
    """

    found: tuple[Equilibrium, ...]
    regrets: Array
    allowed: float

    @property
    def starts(self) -> int:
        """How many mixtures the search started from."""
        return self.regrets.shape[0]

    @property
    def failed(self) -> int:
        """How many starts did not end at an equilibrium."""
        return self.starts - sum(one.reached for one in self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]


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
) -> Equilibria:
    """Symmetric equilibria of the model, a sequence with those of least regret first.

    From `starts` (B, S), or `count` mixtures drawn from `stream`, replicator dynamics lead to the
    neighbourhood of an equilibrium; then Newton steps solve ``p = Π(p + u(p))``, Π the projection
    on the simplex of each role and u the payoffs over their range: the solutions are the
    equilibria, on the boundary too. The range is that at the starts and where all of a role play
    one strategy. What has a regret above `tolerance` times the range is dropped, and counted as
    `Equilibria.failed`; of mixtures closer than `apart` one is kept. `true` gives the payoffs
    (B, S) of the true game. Finding none, or not all, is possible: no method finds all.
    Raises `ValueError` where there are neither starts nor a stream, and for options that mean
    nothing; `sampled` is no method here, since a search wants the same answer twice.

    >>> import numpy as np
    >>> from gpnotes.games import Expansion, RoleSymmetricGame
    >>> road = [Expansion(9.0 * row, -np.ones(1), np.full(2, 6.0)) for row in np.eye(2)[:, None, :]]
    >>> model = PayoffModel(RoleSymmetricGame(players=(10,), strategies=(2,)), road)
    >>> found = equilibria(model, np.asarray([[0.9, 0.1], [0.2, 0.8]]))  # nobody likes a crowd
    >>> len(found), found.starts, found.failed, found[0].mixture.round(6)
    (1, 2, 0, array([0.5, 0.5]))
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    _check.positive(tolerance, "tolerance", zero=True)
    _check.positive(apart, "apart", zero=True)
    steps = whole(steps, "steps", 0)
    game, p = model.game, _starts(model, starts, stream, count)

    def payoffs(q: Array) -> Array:
        return model.deviation_payoffs(q, method)

    def slopes(q: Array) -> tuple[Array, Array]:
        return model.deviation_payoffs(q, method, jacobian=True)

    size = _size(payoffs, p, game)
    p = replicator(payoffs, p, game, steps=replicator_steps)
    p, taken = _newton(slopes, p, game, size, steps)
    u = payoffs(p)
    r = regret(u, p, game)
    found = []
    for i, reached in _distinct(p, r, tolerance * size, apart):
        sure = None if true is None else _regret_at(true, p[i : i + 1, :], game)
        found.append(Equilibrium(p[i, :], u[i, :], float(r[i]), sure, taken, method, reached))
    return Equilibria(tuple(found), r, tolerance * size)


def _size(payoffs: Callable[[Array], Array], p: Array, game: RoleSymmetricGame) -> float:
    """The range of the payoffs; where the search ends it may be zero, so not there."""
    even = np.repeat([1.0 / s for s in game.strategies], game.strategies)
    corners = np.tile(even, (game.size, 1))
    for c in game.columns:
        corners[c, c] = np.eye(c.stop - c.start)
    xp = array_namespace(p)
    u = payoffs(xp.concat([p, as_array(corners, p)], axis=0))
    return float(xp.max(u) - xp.min(u)) or 1.0


def _regret_at(payoffs: Callable[[Array], Array], p: Array, game: RoleSymmetricGame) -> float:
    return float(regret(payoffs(p), p, game)[0])


def _distinct(p: Array, r: Array, allowed: float, apart: float) -> list[tuple[int, int]]:
    """The rows with the least regret, none near another, and how many rows each stands for."""
    mixtures, regrets = np.asarray(to_numpy(p)), np.asarray(to_numpy(r))
    kept: dict[int, int] = {}
    for i in map(int, np.argsort(regrets)):
        if regrets[i] <= allowed:
            near = [k for k in kept if np.max(np.abs(mixtures[i] - mixtures[k])) < apart]
            stands = near[0] if near else i
            kept[stands] = kept.get(stands, 0) + 1
    return list(kept.items())


def _starts(model: PayoffModel, starts: Array | None, stream: Stream | None, count: int) -> Array:
    if starts is not None:
        given = model.game.check_mixtures(starts)
        whole(given.shape[0], "the number of starts", 1)
        return given
    if stream is None:
        raise ValueError("equilibria need starts, or a stream to draw them from")
    count, generator = whole(count, "count", 1), drawn_from(stream).generator
    parts = [generator.dirichlet(np.ones(s), count) for s in model.game.strategies]
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
