"""Equilibria by their supports: who is played must pay alike, which is a system of equations.

For each set of strategies, some of every role, Newton steps from its centre solve
``u_s(p) = v_r`` for the strategies s of the set, ``Σ_s p_s = 1`` in each role, p zero elsewhere.
Where payoffs are linear, in games of two players, one step does: then this is the enumeration of
supports, which finds every equilibrium of a game that is not degenerate. Source: Dickhaut & Kaplan
(1991), A program for finding Nash equilibria.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, islice, product
from typing import NamedTuple

import numpy as np

from ...ground.xp import HostArray, HostMatrix, HostVector
from ..game import RoleSymmetricGame

__all__ = [
    "SupportSolutions",
    "count_supports",
    "first_supports",
    "is_exhaustive",
    "solve_on_supports",
]

_STEPS = 15
_RANK = 1e-10  # singular values below this part of the largest are zero, on every processor
_EDGE = 1e-4  # chances that fall below this part of an even share lead out of the simplex

PayoffsAndJacobian = Callable[[HostArray], tuple[HostArray, HostArray]]


class SupportSolutions(NamedTuple):
    """The ends of the steps on supports.

    Parameters
    ----------
    mixtures : HostMatrix, shape (n, S)
        The mixtures at the end.
    left_simplex : HostVector, shape (n,)
        True where the steps left the simplex.
    """

    mixtures: HostMatrix
    left_simplex: HostVector


def count_supports(game: RoleSymmetricGame) -> int:
    """Count the supports of a game, ``Π_r (2^{S_r} − 1)``."""
    return math.prod(2**s - 1 for s in game.strategies)


def is_exhaustive(game: RoleSymmetricGame, num_supports: int) -> bool:
    """Tell if so many first supports hold all equilibria of the game, unless it is degenerate.

    Only where payoffs are linear, since everybody meets one other player.
    """
    if game.players == (1, 1):
        rows, columns = game.strategies
        return num_supports >= math.comb(rows + columns, rows) - 1  # those with as many of each
    return game.players == (2,) and num_supports >= count_supports(game)


def first_supports(game: RoleSymmetricGame, limit: int) -> list[tuple[int, ...]]:
    """List the first supports of a game, small ones first, each as the columns played.

    With one player in each of two roles, those with as many strategies in one role as in the other
    come before: only they have an equilibrium unless the game is degenerate.
    """
    sizes = _sizes(game)
    if game.players == (1, 1):
        sizes = iter(sorted(sizes, key=lambda size: size[0] != size[1]))
    return list(islice((chosen for size in sizes for chosen in _of_sizes(game, size)), limit))


def _sizes(game: RoleSymmetricGame) -> Iterator[tuple[int, ...]]:
    for total in range(game.num_roles, game.num_strategies + 1):
        yield from _sizes_with_sum(game.strategies, total)


def _sizes_with_sum(strategies: tuple[int, ...], total: int) -> Iterator[tuple[int, ...]]:
    """A number from 1 to s for each s of `strategies`, which add up to `total`."""
    if not strategies:
        yield ()
        return
    others = strategies[1:]
    for k in range(max(1, total - sum(others)), min(strategies[0], total - len(others)) + 1):
        yield from ((k, *sizes) for sizes in _sizes_with_sum(others, total - k))


def _of_sizes(game: RoleSymmetricGame, size: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    columns = [range(c.start, c.stop) for c in game.columns]
    parts = [combinations(c, k) for c, k in zip(columns, size, strict=True)]
    return (sum(columns_played, start=()) for columns_played in product(*parts))


def solve_on_supports(
    payoffs: PayoffsAndJacobian,
    supports: list[tuple[int, ...]],
    game: RoleSymmetricGame,
    unit: HostVector,
    rounding: float,
) -> SupportSolutions:
    """Find mixtures on each support at which all that is played pays alike, if steps get there.

    For mixtures (n, S) `payoffs` gives payoffs (n, S), each strategy with a `unit`, and
    Jacobians (n, S, S). A step goes nine tenths of the way to the edge at most, and who is led
    there again and again has left; steps below `rounding` are none.
    """
    played = np.zeros((len(supports), game.num_strategies), dtype=bool)
    for row, support in zip(played, supports, strict=True):
        row[list(support)] = True
    p = _normalised(played.astype(float), game)
    left_simplex = np.zeros(len(played), dtype=bool)
    lowest = _EDGE * p
    active = np.flatnonzero(played.sum(axis=1) > game.num_roles)
    for _ in range(_STEPS):
        if not len(active):
            break
        u, J = payoffs(p[active])
        systems = zip(u / unit, J / unit[:, None], played[active], strict=True)
        steps = np.stack([_step(*case, game) for case in systems])
        shares = _step_shares(p[active], steps)
        p[active] = _normalised(p[active] + shares[:, None] * steps, game)
        left_simplex[active] = (shares < 1.0) & ((p < lowest) & played)[active].any(axis=1)
        active = active[(np.abs(steps).max(axis=1) > rounding) & ~left_simplex[active]]
    return SupportSolutions(p, left_simplex)


def _normalised(p: HostMatrix, game: RoleSymmetricGame) -> HostMatrix:
    parts = [p[:, c] / p[:, c].sum(axis=1, keepdims=True) for c in game.columns]
    return np.concatenate(parts, axis=1)


def _step(u: HostVector, J: HostMatrix, played: HostVector, game: RoleSymmetricGame) -> HostArray:
    """The Newton step (S,): the shortest where many would do, as near as can be where none does.

    Strategies in play must pay as much as their role's mean, and the step must keep each role's
    sum.
    """
    support = np.flatnonzero(played)
    roles = np.repeat(np.arange(game.num_roles), game.strategies)[support]
    # less_mean J step = −less_mean u, and the steps of each role add up to zero
    same_role = (roles[:, None] == roles).astype(float)
    less_mean = np.eye(len(support)) - same_role / same_role.sum(axis=1, keepdims=True)
    role_sums = (np.arange(game.num_roles)[:, None] == roles).astype(float)
    system = np.concatenate([less_mean @ J[np.ix_(support, support)], role_sums])
    right_side = np.append(-less_mean @ u[support], np.zeros(game.num_roles))
    step = np.zeros(game.num_strategies)
    step[support] = np.linalg.lstsq(system, right_side, rcond=_RANK)[0]
    return step


def _step_shares(p: HostMatrix, steps: HostMatrix) -> HostVector:
    """The share of each step to take, (n,): all, or nine tenths of the way to the edge."""
    decrease = np.where(steps < 0.0, -steps, 0.0)
    share = np.divide(p, decrease, out=np.full(p.shape, np.inf), where=decrease > 0.0).min(axis=1)
    return np.where(share >= 1.0, 1.0, 0.9 * share)
