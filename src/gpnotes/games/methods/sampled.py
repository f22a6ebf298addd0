"""The expected payoff by sampling the opponents' profiles, with standard errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, cast

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.memory import blocks
from ...ground.random import Stream
from ...ground.xp import Array, array_namespace, as_array, to_numpy
from ..expansion import Expansion
from ..game import RoleSymmetricGame
from .expected_payoff import Expectation, Options, RoleProblem

__all__ = ["expectations"]

_DRAWN = 2**22  # counts that are held at a time: 32 MiB


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """Means and standard errors of a role's bumps and their derivatives, over drawn profiles.

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        Only ``num_samples`` and ``rng`` matter.

    Returns
    -------
    list of Expectation
        One for each strategy of the role, with standard errors.

    Notes
    -----
    Derivatives are ``n_r E f(x + e_t)`` with one opponent less, [eq-dp-exact-gradient],
    estimated from draws of their own: nothing is divided by an entry of the mixture. Held at a
    time are as many samples as fit 32 MiB.
    """
    stream = cast(Stream, _check.instance(options.rng, "rng", Stream))
    p = problem.mixtures
    memory.count(options.num_samples, "num_samples", 2)
    rows = blocks(p.shape[0], options.num_samples * problem.game.num_strategies, _DRAWN)
    results = []
    for payoff in problem.expansions:
        draws = [_Draws(problem.game, p[block, :], stream, options.num_samples) for block in rows]
        parts = [_expectation(problem, payoff, own) for own in draws]
        results.append(Expectation.joined(parts))
    return results


@dataclass(frozen=True, eq=False)
class _Draws:
    """A source of profiles: `num_samples` of them for each of some mixtures (b, S)."""

    game: RoleSymmetricGame
    mixtures: Array
    stream: Stream
    num_samples: int

    def profiles(self, players: tuple[int, ...]) -> Iterator[np.ndarray]:
        """Profiles (b, some, S), drawn on the host, until there are enough for each mixture."""
        host = np.asarray(to_numpy(self.mixtures), dtype=np.float64)
        for samples in blocks(self.num_samples, len(host) * self.game.num_strategies, _DRAWN):
            shape = len(host), samples.stop - samples.start
            drawn = np.zeros((*shape, self.game.num_strategies))
            for n, part in zip(players, self.game.columns, strict=True):
                probabilities = host[:, None, part] / host[:, part].sum(axis=1)[:, None, None]
                drawn[:, :, part] = self.stream.generator.multinomial(n, probabilities, size=shape)
            yield drawn


def _expectation(problem: RoleProblem, payoff: Expansion, draws: _Draws) -> Expectation:
    players = problem.opponents
    p = draws.mixtures
    moments = [_moments(profiles, payoff, p) for profiles in draws.profiles(players)]
    value, value_error = _mean_and_error(moments)
    if not problem.gradient:
        return Expectation(value, None, value_error)
    columns = []
    for role, part in enumerate(problem.game.columns):
        fewer = tuple(max(0, m - (r == role)) for r, m in enumerate(players))
        added = np.eye(problem.game.num_strategies)[part]
        all_moments = [
            [_moments(profiles + one_more, payoff, p) for one_more in added]
            for profiles in draws.profiles(fewer)
        ]
        derivatives = [_mean_and_error(list(parts)) for parts in zip(*all_moments, strict=True)]
        columns += [(players[role] * mean, players[role] * error) for mean, error in derivatives]
    xp = array_namespace(p)
    gradient, gradient_error = (xp.stack(column, axis=1) for column in zip(*columns, strict=True))
    return Expectation(value, gradient, value_error, gradient_error)


class _Moments(NamedTuple):
    """The mean (B,) of a number of samples, and the sum of squares about it (B,)."""

    number: int
    mean: Array
    squares: Array


def _moments(profiles: np.ndarray, payoff: Expansion, p: Array) -> _Moments:
    xp = array_namespace(p)
    number = profiles.shape[1]
    rows = as_array(profiles.reshape(-1, profiles.shape[2]), p)
    f = xp.reshape(payoff.bumps(rows), profiles.shape[:2])
    return _Moments(number, xp.mean(f, axis=1), number * xp.var(f, axis=1))


def _combine(a: _Moments, b: _Moments) -> _Moments:
    """Two lots of samples as one.

    Source: Chan, Golub & LeVeque (1979), Updating formulae and a pairwise algorithm for computing
    sample variances.
    """
    count = a.number + b.number
    gap = b.mean - a.mean
    squares = a.squares + b.squares + gap**2 * (a.number * b.number / count)
    return _Moments(count, a.mean + gap * (b.number / count), squares)


def _mean_and_error(moments: list[_Moments]) -> tuple[Array, Array]:
    """Mean and standard error, (B,) each."""
    count, mean, squares = reduce(_combine, moments)
    return mean, array_namespace(mean).sqrt(squares / ((count - 1) * count))
