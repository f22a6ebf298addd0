"""Two cheap approximations: the payoff at the mean profile, and near the likeliest one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb, prod

import numpy as np

from .. import _check
from .._xp import Array, array_namespace, as_array, to_numpy
from ..memory import blocks
from .enumerated import chances
from .expansion import ENTRIES, Expansion
from .game import LIMIT, RoleSymmetricGame, compositions, refuse_more, side_by_side

__all__ = ["mode", "near_mode", "point"]


def point(
    game: RoleSymmetricGame, strategy: int, expansion: Expansion, p: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    """The bumps at the mean profile ``n p``, and their derivatives there.

    No expectation at all: right for payoffs that are linear over the spread of the multinomial,
    and off by a second derivative times half a variance, ``n p (1 − p)``, where they bend.
    """
    each = np.repeat(game.opponents(strategy), game.strategies).astype(float)
    n = as_array(each, p)
    value, slope = Expansion(
        expansion.profiles, expansion.weights, expansion.lengthscales
    ).payoff_and_slope(n * p)
    return value, n * slope if jacobian else None


def near_mode(
    game: RoleSymmetricGame,
    strategy: int,
    expansion: Expansion,
    p: Array,
    jacobian: bool,
    *,
    moves: int = 2,
    limit: int = LIMIT,
) -> tuple[Array, Array | None]:
    """The mean over the profiles at most `moves` players away from the likeliest one.

    ``Σ M(x) f(x) / Σ M(x)`` over those x, M the multinomial: biased, and it jumps where the
    likeliest profile changes. With a handful of opponents nearly all probability lies there. With
    dozens hardly any does, since counts spread as ``√n``: what is left is a narrow slice about a
    whole profile that is itself off the mean by part of a player, and it is no better than
    `point`, which stands at the mean and costs less. The closed form is better than both there.

    Derivatives leave the set of profiles as it is, and divide by the
    entries of the mixture that are not zero; those by entries that are zero come from M with one
    opponent less. The idea is that of the neighbour method of gameanalysis, whose profiles are
    the ones near the mode with the deviator among the players.

    Raises `ValueError` with the number of profiles where there are more than `limit`.
    """
    players = game.opponents(strategy)
    asks = f"method 'neighbours' with moves={moves} would sum for strategy {strategy} over"
    shares = _all_shares(players, game.strategies, _check.whole(moves, "moves"), limit, asks)
    steps = np.concatenate([_steps(share, game.strategies) for share in shares])
    starts = mode(to_numpy(p), players, game)
    parts = [
        _weighed(starts[rows, None, :] + steps, players, game, expansion, p[rows, :], jacobian)
        for rows in blocks(p.shape[0], steps.size, ENTRIES)
    ]
    xp = array_namespace(p)
    value = xp.concat([one for one, _ in parts])
    return value, xp.concat([one for _, one in parts]) if jacobian else None


def _weighed(
    profiles: np.ndarray,
    players: tuple[int, ...],
    game: RoleSymmetricGame,
    expansion: Expansion,
    p: Array,
    jacobian: bool,
) -> tuple[Array, Array | None]:
    """The means (b,) over profiles (b, P, S), those with a negative count apart."""
    xp = array_namespace(p)
    flat = as_array(profiles.reshape(-1, game.size), p)
    f = xp.reshape(expansion.bumps(flat), profiles.shape[:2])
    weights = _chances(profiles, players, p)
    total = xp.sum(weights, axis=1)
    value = xp.sum(weights * f, axis=1) / total
    if not jacobian:
        return value, None
    above, slopes = (f - value[:, None]) / total[:, None], []
    for t in range(game.size):
        # ∂M(x; n, p)/∂p_t = n_r M(x − e_t; n − e_r, p)
        role = game.role_of(t)
        fewer = tuple(n - (r == role) for r, n in enumerate(players))
        less = profiles - (np.arange(game.size) == t)
        whole = (profiles >= 0).all(axis=-1, keepdims=True)
        less = np.where(whole, less, -1.0)
        slopes.append(players[role] * xp.sum(_chances(less, fewer, p) * above, axis=1))
    return value, xp.stack(slopes, axis=1)


def _chances(profiles: np.ndarray, players: tuple[int, ...], p: Array) -> Array:
    """The probabilities (b, P) of profiles (b, P, S), zero where a count is negative."""
    if min(players) < 0:
        return as_array(np.zeros(profiles.shape[:2]), p)
    held = (profiles >= 0).all(axis=-1)
    return chances(np.maximum(profiles, 0), players, p) * as_array(held, p)


def _all_shares(
    players: tuple[int, ...], strategies: tuple[int, ...], moves: int, limit: int, asks: str
) -> list[tuple[int, ...]]:
    """How many of each role take another strategy, all ways with at most so many moves.

    Refuses them, as soon as they have more steps than `limit` together.
    """
    movable = tuple(n if s > 1 else 0 for n, s in zip(players, strategies, strict=True))
    most, count = min(moves, sum(movable)), 0
    shares: list[tuple[int, ...]] = []
    for together in range(most + 1):
        more = list(_shares(movable, together))
        count += sum(_count(share, strategies) for share in more)
        refuse_more(count, limit, asks if together == most else f"{asks} at least")
        shares += more
    return shares


def _shares(players: tuple[int, ...], moves: int) -> Iterator[tuple[int, ...]]:
    """Numbers from 0 to n for each n of `players`, which add up to `moves`."""
    if len(players) == 1:
        yield from [(moves,)] if moves <= players[0] else []
        return
    for first in range(min(moves, players[0]) + 1):
        yield from ((first, *rest) for rest in _shares(players[1:], moves - first))


def _count(share: tuple[int, ...], strategies: tuple[int, ...]) -> int:
    """The rows that `_steps` has: for each role, who gains k players, and who loses them."""
    return prod(
        sum(comb(s, j) * comb(k - 1, j - 1) * comb(k + s - j - 1, k) for j in range(1, s))
        for k, s in zip(share, strategies, strict=True)
        if k > 0
    )


def _steps(share: tuple[int, ...], strategies: tuple[int, ...]) -> np.ndarray:
    """What it does to a profile when as many of each role take another strategy: each way once."""
    return side_by_side(_moved(k, s) for k, s in zip(share, strategies, strict=True))


def _moved(k: int, s: int) -> np.ndarray:
    """All rows of s whole numbers that sum to zero and whose positive ones sum to k."""
    rows = [np.zeros((int(k == 0), s))]
    for j in range(1, min(k, s - 1) + 1):
        gains, losses = compositions(k - j, j) + 1.0, compositions(k, s - j)
        for gain in combinations(range(s), j):
            part = np.zeros((len(gains) * len(losses), s))
            part[:, gain] = np.repeat(gains, len(losses), axis=0)
            part[:, [i for i in range(s) if i not in gain]] = -np.tile(losses, (len(gains), 1))
            rows.append(part)
    return np.concatenate(rows)


def mode(p: np.ndarray, players: tuple[int, ...], game: RoleSymmetricGame) -> np.ndarray:
    """The likeliest profiles (B, S) under mixtures (B, S), on the host.

    Players are added one by one where ``p_s / (x_s + 1)`` is largest: so no single move is a gain,
    and the probability, which is log-concave, has its largest value there.
    """
    profiles = np.zeros(p.shape)
    for n, part in zip(players, game.columns, strict=True):
        here = np.floor(n * p[:, part] * (1.0 - 1e-12))
        for _ in range(int((n - here.sum(axis=1)).max(initial=0))):
            best = np.argmax(p[:, part] / (here + 1.0), axis=1)
            left = here.sum(axis=1) < n
            here[np.arange(len(p)), best] += left
        profiles[:, part] = here
    return profiles
