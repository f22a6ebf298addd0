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
from .enumerated import multinomial_pmf
from .expected_payoff import Expectation, Options, RoleProblem

__all__ = ["expectations", "mode"]


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """The means over the profiles a few players away from the likeliest one, and their gradients.

    ``Σ M(x) f(x) / Σ M(x)`` over those x at most ``options.max_deviations`` players away, M the
    multinomial: biased, and it jumps where the likeliest profile changes. With a handful of
    opponents nearly all probability lies there. With dozens hardly any does, since counts spread
    as ``√n``: the sum covers a narrow slice about a whole profile that is itself off the mean by
    part of a player, and it is no better than `point`, which stands at the mean and costs less.
    The closed form is better than both there.

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        Only ``max_deviations`` and ``limit`` matter.

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
    reach = options.max_deviations
    asks = f"method 'neighbours' with max_deviations={reach} would sum for strategy {strategy} over"
    deviations = _all_deviations(problem.opponents, strategies, reach, options.limit, asks)
    changes = np.concatenate([_changes(by_role, strategies) for by_role in deviations])
    starts = mode(to_numpy(p), problem.opponents, problem.game)
    parts = [
        _weighted(problem, payoff, starts[rows, None, :] + changes, p[rows, :])
        for rows in blocks(p.shape[0], changes.size, ENTRIES, like=p)
    ]
    return Expectation.joined(parts)


def _weighted(
    problem: RoleProblem, payoff: Expansion, profiles: np.ndarray, p: Array
) -> Expectation:
    """The means (b,) over profiles (b, P, S), those with a negative count apart."""
    xp = array_namespace(p)
    rows = as_array(profiles.reshape(-1, problem.game.num_strategies), p)
    f = xp.reshape(payoff.bumps(rows), profiles.shape[:2])
    weights = _probabilities(profiles, problem.opponents, p)
    total = xp.sum(weights, axis=1)
    value = xp.sum(weights * f, axis=1) / total
    if not problem.gradient:
        return Expectation(value)
    excess = (f - value[:, None]) / total[:, None]
    columns = []
    for t in range(problem.game.num_strategies):
        # ∂M(x; n, p)/∂p_t = n_r M(x − e_t; n − e_r, p)
        n = problem.opponents[problem.game.role_of(t)]
        columns.append(n * xp.sum(_probabilities_of_rest(problem, profiles, p, t) * excess, axis=1))
    return Expectation(value, xp.stack(columns, axis=1))


def _probabilities_of_rest(problem: RoleProblem, profiles: np.ndarray, p: Array, t: int) -> Array:
    """``M(x − e_t; n − e_r, p)`` for each profile, (b, P): one opponent plays t for sure."""
    role = problem.game.role_of(t)
    fewer = tuple(n - (r == role) for r, n in enumerate(problem.opponents))
    rest = profiles - (np.arange(problem.game.num_strategies) == t)
    possible = (profiles >= 0).all(axis=-1, keepdims=True)
    return _probabilities(np.where(possible, rest, -1.0), fewer, p)


def _probabilities(profiles: np.ndarray, players: tuple[int, ...], p: Array) -> Array:
    """The probabilities (b, P) of profiles (b, P, S), zero where a count is negative."""
    if min(players) < 0:
        return as_array(np.zeros(profiles.shape[:2]), p)
    possible = (profiles >= 0).all(axis=-1)
    return multinomial_pmf(np.maximum(profiles, 0), players, p) * as_array(possible, p)


def _all_deviations(
    players: tuple[int, ...], strategies: tuple[int, ...], reach: int, limit: int, asks: str
) -> list[tuple[int, ...]]:
    """The ways to choose how many of each role take another strategy, with at most so many moves.

    Refuses them, as soon as they have more steps than `limit` together.
    """
    movable = tuple(n if s > 1 else 0 for n, s in zip(players, strategies, strict=True))
    most = min(reach, sum(movable))
    count = 0
    deviations: list[tuple[int, ...]] = []
    for number in range(most + 1):
        splits = list(_deviations_of_roles(movable, number))
        count += sum(_count(by_role, strategies) for by_role in splits)
        refuse_more(count, limit, asks if number == most else f"{asks} at least")
        deviations += splits
    return deviations


def _deviations_of_roles(players: tuple[int, ...], number: int) -> Iterator[tuple[int, ...]]:
    """Numbers from 0 to n for each n of `players`, which add up to `max_deviations`."""
    if len(players) == 1:
        yield from [(number,)] if number <= players[0] else []
        return
    for first in range(min(number, players[0]) + 1):
        yield from ((first, *rest) for rest in _deviations_of_roles(players[1:], number - first))


def _count(by_role: tuple[int, ...], strategies: tuple[int, ...]) -> int:
    """The rows that `_changes` has: for each role, who gains k players, and who loses them."""
    # of s strategies, j that gain; ways to share k gains, none empty; ways to share k losses
    return prod(
        sum(comb(s, j) * comb(k - 1, j - 1) * comb(k + s - j - 1, k) for j in range(1, s))
        for k, s in zip(by_role, strategies, strict=True)
        if k > 0
    )


def _changes(by_role: tuple[int, ...], strategies: tuple[int, ...]) -> np.ndarray:
    """The changes to a profile when as many of each role take another strategy, each way once."""
    return side_by_side(_exchanges(k, s) for k, s in zip(by_role, strategies, strict=True))


def _exchanges(k: int, s: int) -> np.ndarray:
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
