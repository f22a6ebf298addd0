"""The expected payoff by sampling the opponents' profiles, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._xp import Array, array_namespace, as_array, to_numpy
from ..random import Stream
from .expansion import Expansion, blocks
from .game import RoleSymmetricGame

__all__ = ["SampledPayoffs", "expected"]


@dataclass(frozen=True, eq=False)
class SampledPayoffs:
    """Payoffs (B, S) estimated by sampling, and how far off they may be.

    `standard_errors` belong to `payoffs`; `jacobian` and `jacobian_errors`, (B, S, S), are None
    unless they were asked for.
    """

    payoffs: Array
    standard_errors: Array
    samples: int
    jacobian: Array | None = None
    jacobian_errors: Array | None = None


def expected(
    game: RoleSymmetricGame,
    strategy: int,
    expansion: Expansion,
    p: Array,
    jacobian: bool,
    *,
    stream: Stream,
    samples: int = 1000,
) -> tuple[tuple[Array, Array], tuple[Array, Array] | None]:
    """Mean and standard error of the bumps, (B,) each, and of their derivatives, (B, S) each.

    Derivatives are ``n_r E f(x + e_t)`` with one opponent less, estimated from draws of their own:
    nothing is divided by an entry of the mixture. Raises `ValueError` for fewer than two samples.
    """
    if samples < 2:
        raise ValueError(f"samples must be at least 2, for a standard error; got {samples}")
    found = [
        _few(game, strategy, expansion, p[rows, :], jacobian, stream, samples)
        for rows in blocks(p.shape[0], samples * game.size, 2**22)
    ]
    xp = array_namespace(p)
    value = tuple(xp.concat([v[i] for v, _ in found]) for i in (0, 1))
    if not jacobian:
        return value, None
    return value, tuple(xp.concat([g[i] for _, g in found]) for i in (0, 1))


def _few(
    game: RoleSymmetricGame,
    strategy: int,
    expansion: Expansion,
    p: Array,
    jacobian: bool,
    stream: Stream,
    samples: int,
) -> tuple:
    players = game.opponents(strategy)
    value = _moments(_draw(game, players, p, stream, samples), expansion, p)
    if not jacobian:
        return value, None
    columns = []
    for role, part in enumerate(game.columns):
        n = players[role]
        fewer = tuple(max(0, m - (r == role)) for r, m in enumerate(players))
        drawn = _draw(game, fewer, p, stream, samples)
        for t in range(part.start, part.stop):
            mean, error = _moments(drawn + (np.arange(game.size) == t), expansion, p)
            columns.append((n * mean, n * error))
    xp = array_namespace(p)
    return value, tuple(xp.stack([c[i] for c in columns], axis=1) for i in (0, 1))


def _draw(
    game: RoleSymmetricGame, players: tuple[int, ...], p: Array, stream: Stream, samples: int
) -> np.ndarray:
    """Profiles (B, samples, S), drawn on the host."""
    host = np.asarray(to_numpy(p), dtype=np.float64)
    drawn = np.zeros((len(host), samples, game.size))
    for n, part in zip(players, game.columns, strict=True):
        chance = host[:, None, part] / host[:, part].sum(axis=1)[:, None, None]
        drawn[:, :, part] = stream.generator.multinomial(n, chance, size=(len(host), samples))
    return drawn


def _moments(profiles: np.ndarray, expansion: Expansion, p: Array) -> tuple[Array, Array]:
    """Mean and standard error over the samples."""
    xp = array_namespace(p)
    flat = as_array(profiles.reshape(-1, profiles.shape[2]), p)
    f = xp.reshape(expansion.bumps(flat), profiles.shape[:2])
    spread = xp.var(f, axis=1, correction=1.0)
    return xp.mean(f, axis=1), xp.sqrt(spread / profiles.shape[1])
