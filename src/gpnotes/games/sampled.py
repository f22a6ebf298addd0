"""The expected payoff by sampling the opponents' profiles, with standard errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from .. import _check
from .._xp import Array, array_namespace, as_array, to_numpy
from ..memory import blocks
from ..random import Stream
from .expansion import Expansion
from .game import RoleSymmetricGame

__all__ = ["SampledPayoffs", "expected"]

_DRAWN = 2**22  # counts that are held at a time: 32 MiB


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
    stream: Stream | None = None,
    samples: int = 1000,
) -> tuple[tuple[Array, Array], tuple[Array, Array] | None]:
    """Mean and standard error of the bumps, (B,) each, and of their derivatives, (B, S) each.

    Derivatives are ``n_r E f(x + e_t)`` with one opponent less, :eq:`eq-dp-exact-gradient`,
    estimated from draws of their own: nothing is divided by an entry of the mixture. Held at a time
    are as many samples as fit 32 MiB. Raises `ValueError` for fewer than two samples, `TypeError`
    without a stream.
    """
    stream = _check.instance(stream, "stream", Stream)
    samples = _check.whole(samples, "samples", 2)
    found = [
        _few(game, strategy, expansion, p[rows, :], jacobian, stream, samples)
        for rows in blocks(p.shape[0], samples * game.size, _DRAWN)
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
    drawn = _draws(game, players, p, stream, samples)
    value = _summary([_moments(some, expansion, p) for some in drawn])
    if not jacobian:
        return value, None
    columns = []
    for role, part in enumerate(game.columns):
        fewer = tuple(max(0, m - (r == role)) for r, m in enumerate(players))
        added = np.eye(game.size)[part]
        drawn = _draws(game, fewer, p, stream, samples)
        moments = [[_moments(some + one, expansion, p) for one in added] for some in drawn]
        slopes = [_summary(list(chunks)) for chunks in zip(*moments, strict=True)]
        columns += [(players[role] * mean, players[role] * error) for mean, error in slopes]
    xp = array_namespace(p)
    return value, tuple(xp.stack([c[i] for c in columns], axis=1) for i in (0, 1))


def _draws(
    game: RoleSymmetricGame, players: tuple[int, ...], p: Array, stream: Stream, samples: int
) -> Iterator[np.ndarray]:
    """Profiles (B, some, S), drawn on the host, until there are enough for each mixture."""
    host = np.asarray(to_numpy(p), dtype=np.float64)
    for some in blocks(samples, len(host) * game.size, _DRAWN):
        shape = len(host), some.stop - some.start
        drawn = np.zeros((*shape, game.size))
        for n, part in zip(players, game.columns, strict=True):
            chance = host[:, None, part] / host[:, part].sum(axis=1)[:, None, None]
            drawn[:, :, part] = stream.generator.multinomial(n, chance, size=shape)
        yield drawn


class _Moments(NamedTuple):
    """A number of samples, their mean (B,), and the sum of squares about it (B,)."""

    count: int
    mean: Array
    squares: Array


def _moments(profiles: np.ndarray, expansion: Expansion, p: Array) -> _Moments:
    xp, count = array_namespace(p), profiles.shape[1]
    flat = as_array(profiles.reshape(-1, profiles.shape[2]), p)
    f = xp.reshape(expansion.bumps(flat), profiles.shape[:2])
    return _Moments(count, xp.mean(f, axis=1), count * xp.var(f, axis=1))


def _together(a: _Moments, b: _Moments) -> _Moments:
    """Two lots of samples as one.

    Source: Chan, Golub & LeVeque (1979), Updating formulae and a pairwise algorithm for computing
    sample variances.
    """
    count, gap = a.count + b.count, b.mean - a.mean
    squares = a.squares + b.squares + gap**2 * (a.count * b.count / count)
    return _Moments(count, a.mean + gap * (b.count / count), squares)


def _summary(lots: list[_Moments]) -> tuple[Array, Array]:
    """Mean and standard error, (B,) each."""
    count, mean, squares = reduce(_together, lots)
    return mean, array_namespace(mean).sqrt(squares / ((count - 1) * count))
