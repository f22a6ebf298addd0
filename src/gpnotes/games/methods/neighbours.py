"""A cheap approximation: the mean over the profiles near the likeliest one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb, prod

import numpy as np

from ...ground.memory import blocks
from ...ground.xp import Array, array_namespace, as_array, to_numpy
from ..expansion import ENTRIES, Expansion
from ..game import RoleSymmetricGame, compositions, refuse_more, side_by_side
from .enumerated import chances
from .expected_payoff import Expectation, Options, RoleProblem

__all__ = ["expectations", "mode"]


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """The means over the profiles a few players away from the likeliest one, and their gradients.

    ``Σ M(x) f(x) / Σ M(x)`` over those x at most ``options.max_deviations`` players away, M the
    multinomial: biased, and it jumps where the likeliest profile changes. With a handful of
    opponents nearly all probability lies there. With dozens hardly any does, since counts spread
    as ``√n``: what is left is a narrow slice about a whole profile that is itself off the mean by
    part of a player, and it is no better than `point`, which stands at the mean and costs less.
    The closed form is better than both there.

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        Of which ``max_deviations`` and ``limit`` matter.

    Returns
    -------
    list of Expectation
        One for each strategy of the role.

    Notes
    -----
    Derivatives leave the set of profiles as it is, and divide by the entries of the mixture that
    are not zero; those by entries that are zero come from M with one opponent less. The idea is
    that of the neighbour method of gameanalysis, whose profiles are the ones near the mode with
    the deviator among the players.
    """
    return [
        _expectation(problem, strategy, payoff, options) for strategy, payoff in problem.strategies
    ]


def _expectation(
    problem: RoleProblem, strategy: int, payoff: Expansion, options: Options
) -> Expectation:
    p = problem.mixtures
    strategies = problem.game.strategies
    moves = options.max_deviations
    asks = f"method 'neighbours' with max_deviations={moves} would sum for strategy {strategy} over"
    shares = _all_shares(problem.opponents, strategies, moves, options.limit, asks)
    steps = np.concatenate([_steps(share, strategies) for share in shares])
    starts = mode(to_numpy(p), problem.opponents, problem.game)
    parts = [
        _weighted(problem, payoff, starts[rows, None, :] + steps, p[rows, :])
        for rows in blocks(p.shape[0], steps.size, ENTRIES)
    ]
    return Expectation.joined(parts)


def _weighted(
    problem: RoleProblem, payoff: Expansion, profiles: np.ndarray, p: Array
) -> Expectation:
    """The means (b,) over profiles (b, P, S), those with a negative count apart."""
    xp = array_namespace(p)
    rows = as_array(profiles.reshape(-1, problem.game.num_strategies), p)
    f = xp.reshape(payoff.bumps(rows), profiles.shape[:2])
    weights = _chances(profiles, problem.opponents, p)
    total = xp.sum(weights, axis=1)
    value = xp.sum(weights * f, axis=1) / total
    if not problem.gradient:
        return Expectation(value)
    above = (f - value[:, None]) / total[:, None]
    columns = []
    for t in range(problem.game.num_strategies):
        # ∂M(x; n, p)/∂p_t = n_r M(x − e_t; n − e_r, p)
        n = problem.opponents[problem.game.role_of(t)]
        columns.append(n * xp.sum(_chances_of_rest(problem, profiles, p, t) * above, axis=1))
    return Expectation(value, xp.stack(columns, axis=1))


def _chances_of_rest(problem: RoleProblem, profiles: np.ndarray, p: Array, t: int) -> Array:
    """``M(x − e_t; n − e_r, p)`` for each profile, (b, P): one opponent plays t for sure."""
    role = problem.game.role_of(t)
    fewer = tuple(n - (r == role) for r, n in enumerate(problem.opponents))
    rest = profiles - (np.arange(problem.game.num_strategies) == t)
    possible = (profiles >= 0).all(axis=-1, keepdims=True)
    return _chances(np.where(possible, rest, -1.0), fewer, p)


def _chances(profiles: np.ndarray, players: tuple[int, ...], p: Array) -> Array:
    """The probabilities (b, P) of profiles (b, P, S), zero where a count is negative."""
    if min(players) < 0:
        return as_array(np.zeros(profiles.shape[:2]), p)
    possible = (profiles >= 0).all(axis=-1)
    return chances(np.maximum(profiles, 0), players, p) * as_array(possible, p)


def _all_shares(
    players: tuple[int, ...], strategies: tuple[int, ...], moves: int, limit: int, asks: str
) -> list[tuple[int, ...]]:
    """The ways to choose how many of each role take another strategy, with at most so many moves.

    Refuses them, as soon as they have more steps than `limit` together.
    """
    movable = tuple(n if s > 1 else 0 for n, s in zip(players, strategies, strict=True))
    most = min(moves, sum(movable))
    count = 0
    shares: list[tuple[int, ...]] = []
    for together in range(most + 1):
        more = list(_shares(movable, together))
        count += sum(_count(share, strategies) for share in more)
        refuse_more(count, limit, asks if together == most else f"{asks} at least")
        shares += more
    return shares


def _shares(players: tuple[int, ...], moves: int) -> Iterator[tuple[int, ...]]:
    """Numbers from 0 to n for each n of `players`, which add up to `max_deviations`."""
    if len(players) == 1:
        yield from [(moves,)] if moves <= players[0] else []
        return
    for first in range(min(moves, players[0]) + 1):
        yield from ((first, *rest) for rest in _shares(players[1:], moves - first))


def _count(share: tuple[int, ...], strategies: tuple[int, ...]) -> int:
    """The rows that `_steps` has: for each role, who gains k players, and who loses them."""
    # of s strategies, j that gain; ways to share k gains, none empty; ways to share k losses
    return prod(
        sum(comb(s, j) * comb(k - 1, j - 1) * comb(k + s - j - 1, k) for j in range(1, s))
        for k, s in zip(share, strategies, strict=True)
        if k > 0
    )


def _steps(share: tuple[int, ...], strategies: tuple[int, ...]) -> np.ndarray:
    """The changes to a profile when as many of each role take another strategy, each way once."""
    return side_by_side(_moved(k, s) for k, s in zip(share, strategies, strict=True))


def _moved(k: int, s: int) -> np.ndarray:
    """All rows of s whole numbers that sum to zero and whose positive ones sum to k."""
    rows = [np.zeros((int(k == 0), s))]
    # j strategies gain, at least one player each; the others lose as many together
    for j in range(1, min(k, s - 1) + 1):
        gains = compositions(k - j, j) + 1.0
        losses = compositions(k, s - j)
        for gain in combinations(range(s), j):
            part = np.zeros((len(gains) * len(losses), s))
            part[:, gain] = np.repeat(gains, len(losses), axis=0)
            part[:, [i for i in range(s) if i not in gain]] = -np.tile(losses, (len(gains), 1))
            rows.append(part)
    return np.concatenate(rows)


def mode(p: np.ndarray, players: tuple[int, ...], game: RoleSymmetricGame) -> np.ndarray:
    """The likeliest profiles under some mixtures.

    Players are added one by one where ``p_s / (x_s + 1)`` is largest: so no single move is a gain,
    and the probability, which is log-concave, has its largest value there.

    Parameters
    ----------
    p : ndarray, shape (B, S)
        The mixtures, on the host.
    players : tuple of int
        The number of players of each role.

    Returns
    -------
    ndarray, shape (B, S)
        The profiles, on the host.
    """
    profiles = np.zeros(p.shape)
    for n, part in zip(players, game.columns, strict=True):
        counts = np.floor(n * p[:, part] * (1.0 - 1e-12))
        for _ in range(int((n - counts.sum(axis=1)).max(initial=0))):
            best = np.argmax(p[:, part] / (counts + 1.0), axis=1)
            missing = counts.sum(axis=1) < n
            counts[np.arange(len(p)), best] += missing
        profiles[:, part] = counts
    return profiles
