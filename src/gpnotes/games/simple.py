"""Two cheap approximations: the payoff at the mean profile, and near the likeliest one."""

from __future__ import annotations

from itertools import product

import numpy as np

from .._xp import Array, array_namespace, as_array, to_numpy
from ._admit import whole
from .enumerated import chances
from .expansion import Expansion, blocks
from .game import RoleSymmetricGame, profiles_of

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
    """
    players = game.opponents(strategy)
    steps = _steps(game, whole(moves, "moves", 0))
    starts = mode(to_numpy(p), players, game)
    parts = [
        _weighed(starts[rows, None, :] + steps, players, game, expansion, p[rows, :], jacobian)
        for rows in blocks(p.shape[0], steps.size)
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


def _steps(game: RoleSymmetricGame, moves: int) -> np.ndarray:
    """What at most so many players change in a profile when each takes another strategy."""
    found = []
    for share in product(range(moves + 1), repeat=game.roles):
        if sum(share) <= moves:
            ways = profiles_of(share, game.strategies)
            steps = (ways[:, None, :] - ways[None, :, :]).reshape(-1, game.size)
            found.append(steps)
    return np.unique(np.concatenate(found), axis=0)


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
