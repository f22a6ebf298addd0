"""A game from a table: every profile with each strategy's payoff in it, or simulations of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ground import check as _check
from ..ground.showing import summary
from ..ground.xp import Array, HostMatrix, as_array, to_numpy
from .expansion import Expansion
from .game import LIMIT, RoleSymmetricGame, profiles_of, refuse_more
from .payoff_fit import matrix_with_nans
from .payoffs import PayoffModel

__all__ = ["Simulations", "all_profiles", "tabulate"]

_BUMP_WIDTH = 0.05  # players: a bump at the next profile, two counts away, is exp(−400)


class Simulations(NamedTuple):
    """Profiles of a game, and each strategy's payoffs in them: ``fit_payoffs(*simulations)``.

    Parameters
    ----------
    game : RoleSymmetricGame
        The game.
    profiles : Matrix, shape (n, S)
        The counts of all players, one profile a row; a profile that was seen again has rows again.
    payoffs : Matrix, shape (n, S)
        The payoffs, NaN for strategies without players.
    """

    game: RoleSymmetricGame
    profiles: HostMatrix
    payoffs: HostMatrix

    def __repr__(self) -> str:
        return summary(self)


def all_profiles(game: RoleSymmetricGame, limit: int = LIMIT) -> HostMatrix:
    """List every profile of all players of a game.

    Parameters
    ----------
    limit : int, default 200000
        The most profiles to list.

    Returns
    -------
    ndarray, shape (P, S)
        The profiles, one a row, on the host.

    Examples
    --------
    >>> all_profiles(RoleSymmetricGame((2,), (2,))).tolist()
    [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]
    """
    _check.instance(game, "game", RoleSymmetricGame)
    count = 1
    for n, s in zip(game.players, game.strategies, strict=True):
        count *= RoleSymmetricGame((n + 1,), (s,)).count_profiles(0)
    refuse_more(count, limit, "the game has")
    return profiles_of(game.players, game.strategies)


def tabulate(game: RoleSymmetricGame, profiles: Array, payoffs: Array) -> PayoffModel:
    """A model of payoffs that are known, every profile with its own.

    Parameters
    ----------
    profiles : Matrix, shape (P, S)
        Every profile of all players, once, in any order.
    payoffs : Matrix, shape (P, S)
        The payoffs; those of strategies without players are left out, and may be NaN.

    Returns
    -------
    PayoffModel
        A model that gives back the table, to be asked by `exact` or `enumerated`; it has no
        `posterior_variance`, and between profiles it knows nothing.

    Examples
    --------
    >>> import numpy as np
    >>> game = RoleSymmetricGame((2,), (2,))
    >>> table = np.asarray([[0.0, 1.0], [3.0, 0.0], [2.0, 0.0]])  # a dilemma of two
    >>> tabulate(game, all_profiles(game), table).deviation_payoffs(np.asarray([0.0, 1.0]))
    array([[3., 1.]])
    """
    _check.instance(game, "game", RoleSymmetricGame)
    x = np.asarray(
        to_numpy(_check.matrix(profiles, "profiles", columns=game.num_strategies)), float
    )
    if tuple(matrix_with_nans(payoffs, "payoffs").shape) != x.shape:
        raise ValueError(f"payoffs must have shape {tuple(x.shape)}; got {tuple(payoffs.shape)}")
    _check.alike(payoffs, "payoffs", profiles, "profiles")
    u = np.asarray(to_numpy(payoffs), float)
    listed = np.unique(all_profiles(game, limit=max(LIMIT, len(x))), axis=0)
    distinct = np.unique(x, axis=0)
    if len(distinct) != len(x) or distinct.shape != listed.shape or (distinct != listed).any():
        raise ValueError(
            f"profiles must be all {len(listed)} of the game, once each; got {len(x)}, of which "
            f"{len(distinct)} differ"
        )
    if not np.isfinite(u[x > 0]).all():
        raise ValueError("payoffs must be finite where a strategy is played")
    narrow = as_array(np.full(game.num_strategies, _BUMP_WIDTH), profiles)
    return PayoffModel(
        game,
        tuple(
            Expansion(as_array(others, profiles), as_array(u[x[:, s] > 0, s], profiles), narrow)
            for s in range(game.num_strategies)
            for others in [x[x[:, s] > 0] - (np.arange(game.num_strategies) == s)]
        ),
    )
