"""Role-symmetric games: their players, strategies, profiles and mixtures.

Players of one role are interchangeable, so a profile is a row of counts, one for each strategy of
each role. Columns stand role after role, in profiles and in mixtures alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import cast

import numpy as np

from ..ground import check as _check
from ..ground.xp import Array, HostVector, array_namespace, epsilon, to_numpy

__all__ = ["LIMIT", "RoleSymmetricGame", "compositions", "profiles_of", "refuse_more"]

LIMIT = 200_000  # profiles that are listed unless the caller allows more


def refuse_more(count: int, limit: int, asks: str) -> None:
    """Refuse more profiles than a limit, before room is made for any of them.

    Parameters
    ----------
    count : int
        The number of profiles.
    limit : int
        The most that are allowed.
    asks : str
        The beginning of the message, which says who asks for them.
    """
    if count > _check.whole(limit, "limit", 1):
        raise ValueError(f"{asks} {count} profiles, more than limit={limit}")


@dataclass(frozen=True)
class RoleSymmetricGame:
    """A game in which the players of each role choose among the strategies of that role.

    A profile less the deviator is the profile of the opponents.

    Parameters
    ----------
    players : tuple of int
        The number of players of each role.
    strategies : tuple of int
        The number of strategies of each role.
    role_names : tuple of str, optional
        A name for each role, all different; r0, r1, … unless given.
    strategy_names : tuple of tuple of str, optional
        For each role a name for each of its strategies, all different; s0, s1, … unless given.

    Examples
    --------
    >>> game = RoleSymmetricGame(players=(60, 40), strategies=(3, 2))
    >>> game.num_strategies, game.columns, game.opponents(4)
    (5, (slice(0, 3, None), slice(3, 5, None)), (60, 39))
    >>> roads = RoleSymmetricGame((60,), (2,), ("cars",), (("bridge", "ford"),))
    >>> roads.to_dict([45, 15])
    {'cars': {'bridge': 45, 'ford': 15}}
    """

    players: tuple[int, ...]
    strategies: tuple[int, ...]
    role_names: tuple[str, ...] = ()
    strategy_names: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "players", _counts(self.players, "players"))
        object.__setattr__(self, "strategies", _counts(self.strategies, "strategies"))
        if len(self.players) != len(self.strategies):
            raise ValueError(
                f"players and strategies must have one entry for each role; got "
                f"{len(self.players)} and {len(self.strategies)}"
            )
        roles = _names(self.role_names, "role_names", len(self.players), "r")
        object.__setattr__(self, "role_names", roles)
        given = self.strategy_names or ((),) * self.num_roles
        if not isinstance(given, tuple | list):
            raise TypeError(f"strategy_names must be a tuple of tuples of names; got {given!r}")
        if len(given) != self.num_roles:
            raise ValueError(
                f"strategy_names must have one entry for each role; got {len(given)} for "
                f"{self.num_roles} roles"
            )
        names = tuple(
            _names(each, f"strategy_names[{role}]", s, "s")
            for role, (each, s) in enumerate(zip(given, self.strategies, strict=True))
        )
        object.__setattr__(self, "strategy_names", names)

    @property
    def num_strategies(self) -> int:
        """The number S of strategies of all roles, which is that of the columns of a profile."""
        return sum(self.strategies)

    @property
    def num_roles(self) -> int:
        """The number R of roles."""
        return len(self.players)

    @property
    def columns(self) -> tuple[slice, ...]:
        """The columns of each role."""
        ends = list(accumulate(self.strategies, initial=0))
        return tuple(slice(a, b) for a, b in pairwise(ends))

    def to_dict(self, row: Sequence[object]) -> dict[str, dict[str, object]]:
        """Return a profile, a mixture or payoffs as a dict by roles and strategies.

        Parameters
        ----------
        row : sequence, length S
            An entry for each strategy, in order.

        Returns
        -------
        dict
            For each role a dict of its strategies' entries, as Python's numbers.
        """
        values = to_numpy(cast(Array, row)).tolist() if hasattr(row, "dtype") else list(row)
        if len(values) != self.num_strategies:
            raise ValueError(f"row must have {self.num_strategies} entries; got {len(values)}")
        return {
            role: dict(zip(names, values[columns], strict=True))
            for role, names, columns in zip(
                self.role_names, self.strategy_names, self.columns, strict=True
            )
        }

    def from_dict(self, named: Mapping[str, Mapping[str, float]]) -> HostVector:
        """The entries of a profile, a mixture or payoffs in order: the way back from `to_dict`.

        Parameters
        ----------
        named : dict
            For each role a dict of its strategies' entries; a strategy left out is zero.

        Returns
        -------
        ndarray, shape (S,)
            The entries, in float64 on the host.
        """
        entries = np.zeros(self.num_strategies)
        for role, values in named.items():
            r = self.role_names.index(_check.choice(role, "a role of named", self.role_names))
            names = self.strategy_names[r]
            for strategy, value in values.items():
                index = names.index(
                    _check.choice(strategy, f"a strategy of named[{role!r}]", names)
                )
                entries[self.columns[r].start + index] = value
        return entries

    def restrict(self, kept: Sequence[bool]) -> RoleSymmetricGame:
        """The game in which only some strategies may be played.

        Parameters
        ----------
        kept : sequence of bool, length S
            True for the strategies that may be played, one of each role at least.

        Returns
        -------
        RoleSymmetricGame
            The game of the same players, with the names of the strategies kept.

        Examples
        --------
        >>> RoleSymmetricGame((5, 2), (3, 2)).restrict([True, False, True, False, True]).strategies
        (2, 1)
        """
        mask = np.asarray(kept)
        if mask.dtype != bool:
            raise TypeError(f"kept must hold a truth for each strategy; got {kept!r}")
        if mask.shape != (self.num_strategies,):
            raise ValueError(
                f"kept must have {self.num_strategies} entries; got shape {tuple(mask.shape)}"
            )
        parts = [mask[columns] for columns in self.columns]
        for role, part in zip(self.role_names, parts, strict=True):
            if not part.any():
                raise ValueError(f"kept must leave a strategy to every role; {role} has none")
        names = tuple(
            tuple(name for name, keep in zip(names, part, strict=True) if keep)
            for names, part in zip(self.strategy_names, parts, strict=True)
        )
        sizes = tuple(len(each) for each in names)
        return RoleSymmetricGame(self.players, sizes, self.role_names, names)

    def role_of(self, strategy: int) -> int:
        """The role that a strategy belongs to.

        Parameters
        ----------
        strategy : int
            The column of the strategy.

        Returns
        -------
        int
            The number of the role, from 0.
        """
        strategy = _check.whole(strategy, "strategy", 0, self.num_strategies - 1)
        return next(r for r, part in enumerate(self.columns) if strategy < part.stop)

    def opponents(self, strategy: int) -> tuple[int, ...]:
        """The number of others who play in each role: all players but the one who deviates.

        Parameters
        ----------
        strategy : int
            The column of the strategy that he deviates to.

        Returns
        -------
        tuple of int
            The number of opponents in each role.
        """
        role = self.role_of(strategy)
        return tuple(n - (r == role) for r, n in enumerate(self.players))

    def count_profiles(self, strategy: int) -> int:
        """Count the profiles that the opponents of a deviator can form.

        Parameters
        ----------
        strategy : int
            The column of the strategy that he deviates to.

        Examples
        --------
        >>> RoleSymmetricGame((50, 50), (4, 4)).count_profiles(0)
        517714600
        """
        sizes = zip(self.opponents(strategy), self.strategies, strict=True)
        return math.prod(math.comb(n + s - 1, s - 1) for n, s in sizes)

    def profiles(self, strategy: int, limit: int = LIMIT) -> np.ndarray:
        """List every profile that the opponents of a deviator can form.

        Parameters
        ----------
        strategy : int
            The column of the strategy that he deviates to.
        limit : int, default 200000
            The most profiles to list.

        Returns
        -------
        ndarray, shape (P, S)
            The profiles, one a row, in float64 on the host.
        """
        refuse_more(self.count_profiles(strategy), limit, f"strategy {strategy} meets")
        return profiles_of(self.opponents(strategy), self.strategies)

    def check_mixtures(self, mixtures: Array, name: str = "mixtures") -> Array:
        """Check that mixtures lie on the simplex of each role, and put rounding right.

        Parameters
        ----------
        mixtures : Array, shape (S,) or (B, S)
            The mixtures. An entry above -1e-12 and a sum within 1e-9 of one are off by rounding,
            or within the precision of the dtype where that is coarser.
        name : str, default ``"mixtures"``
            The name of the mixtures in errors.

        Returns
        -------
        Matrix, shape (B, S)
            The mixtures with each role's part on the simplex.
        """
        if getattr(mixtures, "ndim", 0) == 1:
            mixtures = _check.vector(mixtures, name)[None, :]
        p = _check.matrix(mixtures, name, columns=self.num_strategies)
        xp = array_namespace(p)
        rounding = epsilon(p) * 16.0 * self.num_strategies
        _refuse_negative(p, max(1e-12, rounding), name)
        p = xp.clip(p, 0.0, None)
        parts = [self._normalised(p, r, max(1e-9, rounding), name) for r in range(self.num_roles)]
        return xp.concat(parts, axis=1)

    def _normalised(self, p: Array, role: int, tolerance: float, name: str) -> Array:
        xp = array_namespace(p)
        role_mixtures = p[:, self.columns[role]]
        total = xp.sum(role_mixtures, axis=1, keepdims=True)
        row, worst = _worst(xp.abs(total[:, 0] - 1.0))
        if worst > tolerance:
            raise ValueError(
                f"{name} must sum to one in each role; in row {row} those of role {role} sum to "
                f"{float(total[row, 0]):.10g}, off by {worst:.3g}"
            )
        return role_mixtures / total


def _counts(given: tuple[int, ...], name: str) -> tuple[int, ...]:
    if not isinstance(given, tuple | list):
        raise TypeError(f"{name} must be a tuple of whole numbers from 1; got {given!r}")
    if not given:
        raise ValueError(f"{name} must have an entry for each role; got none")
    return tuple(_check.whole(n, f"{name}[{role}]", 1) for role, n in enumerate(given))


def _names(given: Sequence[str], name: str, size: int, letter: str) -> tuple[str, ...]:
    """Names, all different; made of a letter and a number where there are none."""
    if not isinstance(given, tuple | list) or not all(isinstance(each, str) for each in given):
        raise TypeError(f"{name} must be a tuple of names; got {given!r}")
    if not given:
        return tuple(f"{letter}{k}" for k in range(size))
    if len(given) != size or len(set(given)) != size:
        raise ValueError(f"{name} must be {size} different names; got {given!r}")
    return tuple(given)


def _refuse_negative(p: Array, tolerance: float, name: str) -> None:
    row, worst = _worst(-array_namespace(p).min(p, axis=1))
    if worst > tolerance:
        raise ValueError(
            f"{name} must not be negative; row {row} has an entry {-worst:.10g}, "
            f"below zero by {worst:.3g}"
        )


def _worst(excess: Array) -> tuple[int, float]:
    """The row with the largest excess, and that excess."""
    if excess.shape[0] == 0:
        return 0, 0.0
    row = int(array_namespace(excess).argmax(excess))
    return row, float(excess[row])


def profiles_of(players: tuple[int, ...], strategies: tuple[int, ...]) -> np.ndarray:
    """List every way to spread the players of each role over its strategies.

    Parameters
    ----------
    players, strategies
        As in `RoleSymmetricGame`.

    Returns
    -------
    ndarray, shape (P, S)
        The profiles, one a row, on the host.
    """
    return side_by_side(compositions(n, s) for n, s in zip(players, strategies, strict=True))


def side_by_side(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Every way to put one row of each of `parts` after another."""
    rows = np.zeros((1, 0))
    for part in parts:
        repeated = np.repeat(rows, len(part), axis=0)
        rows = np.concatenate([repeated, np.tile(part, (len(rows), 1))], axis=1)
    return rows


def compositions(n: int, s: int) -> np.ndarray:
    """List all rows of whole numbers from 0 with a given sum.

    Parameters
    ----------
    n : int
        The sum.
    s : int
        The number of entries of a row.

    Returns
    -------
    ndarray
        The rows, of s entries each.
    """
    rows = np.zeros((1, 0))
    remaining: HostVector = np.asarray([n])
    for _ in range(s - 1):
        counts: HostVector = np.concatenate([np.arange(m + 1) for m in remaining])
        rows = np.concatenate([np.repeat(rows, remaining + 1, axis=0), counts[:, None]], axis=1)
        remaining = np.repeat(remaining, remaining + 1) - counts
    return np.concatenate([rows, remaining[:, None]], axis=1)
