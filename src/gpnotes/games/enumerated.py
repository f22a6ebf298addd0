"""The expected payoff by its definition: a sum over every profile of the opponents."""

from __future__ import annotations

import math

import numpy as np

from .._xp import Array, array_namespace, as_array
from ..memory import blocks
from .expansion import ENTRIES, Expansion
from .game import LIMIT, RoleSymmetricGame, profiles_of, refuse_more

__all__ = ["chances", "expected"]

_NEVER = -1e30  # stands for the logarithm of zero: times zero it is zero, as 0⁰ = 1 wants


def expected(
    game: RoleSymmetricGame,
    strategy: int,
    expansion: Expansion,
    p: Array,
    jacobian: bool,
    *,
    limit: int = LIMIT,
) -> tuple[Array, Array | None]:
    """``Σ_x M(x; n, p) f(x)`` (B,), and its derivatives ``n_r Σ_x M(x; n − e_r, p) f(x + e_t)``.

    The definition, :eq:`eq-dp-expectation`, and :eq:`eq-dp-exact-gradient`; O(B P J) for P profiles
    and J samples, and as much again for each derivative.

    Raises `ValueError` with the number of profiles where there are more than `limit`.
    """
    asks = f"method 'enumerated', unlike 'exact', would sum for strategy {strategy} over"
    refuse_more(game.count_profiles(strategy), limit, asks)
    players = game.opponents(strategy)
    value = _sum(profiles_of(players, game.strategies), players, game, expansion, p)
    if not jacobian:
        return value, None
    columns = []
    for t in range(game.size):
        columns.append(_derivative(players, game.role_of(t), t, game, expansion, p))
    return value, array_namespace(p).stack(columns, axis=1)


def _derivative(
    players: tuple[int, ...], role: int, t: int, game: RoleSymmetricGame, f: Expansion, p: Array
) -> Array:
    """Moving a little chance to strategy t: one opponent of the role plays it for sure."""
    n = players[role]
    if n == 0:
        return array_namespace(p).zeros_like(p[:, 0])
    fewer = tuple(m - (r == role) for r, m in enumerate(players))
    return n * _sum(profiles_of(fewer, game.strategies), fewer, game, f, p, added=t)


def _sum(
    profiles: np.ndarray,
    players: tuple[int, ...],
    game: RoleSymmetricGame,
    expansion: Expansion,
    p: Array,
    added: int | None = None,
) -> Array:
    xp = array_namespace(p)
    total = xp.zeros_like(p[:, 0])
    for rows in blocks(profiles.shape[0], p.shape[0], ENTRIES):
        here = profiles[rows, :]
        seen = here if added is None else here + (np.arange(game.size) == added)
        total = total + chances(here, players, p) @ expansion.bumps(as_array(seen, p))
    return total


def chances(profiles: np.ndarray, players: tuple[int, ...], p: Array) -> Array:
    """The multinomial probabilities, :eq:`eq-dp-multinomial`, of all roles together.

    (B, P) of profiles (P, S) under mixtures p (B, S), or of profiles (B, P, S), some for each.
    """
    xp = array_namespace(p)
    log_ways = as_array(_log_ways(profiles, players), p)
    some = p > 0.0
    log_p = xp.where(some, xp.log(xp.where(some, p, 0.0 * p + 1.0)), 0.0 * p + _NEVER)
    x = as_array(profiles, p)
    if profiles.ndim == 2:
        return xp.exp(log_p @ xp.matrix_transpose(x) + log_ways)
    return xp.exp((x @ log_p[:, :, None])[:, :, 0] + log_ways)


def _log_ways(profiles: np.ndarray, players: tuple[int, ...]) -> np.ndarray:
    """``log Π_r n_r! / Π_s x_s!`` for each profile."""
    factorials = np.asarray([math.lgamma(k + 1) for k in range(1 + int(profiles.max(initial=0)))])
    return sum(math.lgamma(n + 1) for n in players) - factorials[profiles.astype(int)].sum(axis=-1)
