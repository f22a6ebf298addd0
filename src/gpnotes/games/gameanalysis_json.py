"""Games in the JSON of gameanalysis: names, profiles with payoffs, and learned payoffs.

Five of its types are read and written: ``empty`` (a game with names), ``game`` and ``samplegame``
(profiles with a payoff, or with several, for each strategy that is played), ``matrix`` (one player
a role, every profile), which is read only, and ``rbf`` (sums of bumps). Nothing of the program is
imported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from ..ground import check as _check
from ..ground.xp import HostMatrix, HostVector, to_numpy
from .expansion import Expansion
from .game import RoleSymmetricGame
from .payoff_fit import check_profiles
from .payoffs import PayoffModel
from .tabulated import Simulations

__all__ = ["read_game", "write_game"]

Game: TypeAlias = RoleSymmetricGame | Simulations | PayoffModel

Stored: TypeAlias = Mapping[str, Any]  # an object of JSON


def read_game(text: str) -> Game:
    """Read a game from the JSON of gameanalysis.

    Parameters
    ----------
    text : str
        The contents of the file.

    Returns
    -------
    RoleSymmetricGame, Simulations or PayoffModel
        A game without payoffs; profiles with payoffs, one row for each observation; or, of type
        ``rbf``, a model. A payoff that is ``null`` is missing, and NaN in the table.

    Examples
    --------
    >>> text = '{"players": {"cars": 2}, "strategies": {"cars": ["bridge", "ford"]}, "profiles": '
    >>> text += '[{"cars": [["bridge", 1, -20.0], ["ford", 1, -10.0]]}], "type": "game.1"}'
    >>> read_game(text).payoffs
    array([[-20., -10.]])
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string; got {type(text).__name__}")
    try:
        stored = json.loads(
            text, parse_constant=_number, parse_float=_number, object_pairs_hook=_once
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"text must be JSON: {error}") from error
    if not isinstance(stored, dict):
        raise ValueError("text must hold a JSON object that describes a game")
    kind = str(stored.get("type", "samplegame")).partition(".")[0]
    _check.choice(kind, "the type in text", _READERS)
    try:
        game = _game(stored)
        return _READERS[kind](game, stored)
    except (KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"text must describe a game of type {kind}; it lacks {error}") from error
    except TypeError as error:
        raise ValueError(f"text must describe a game of type {kind}: {error}") from error


def _number(text: str) -> float:
    """A number of JSON, which knows no NaN and no Infinity; nor may one be read as such."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"text must hold finite numbers; got {text}")
    return value


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of pairs with different names: where two have one, JSON keeps the last."""
    once: dict[str, Any] = {}
    for name, value in pairs:
        if name in once:
            raise ValueError(f"text must have each entry of an object once; got {name!r} again")
        once[name] = value
    return once


def write_game(game: Game) -> str:
    """Write a game in the JSON of gameanalysis.

    Parameters
    ----------
    game : RoleSymmetricGame, Simulations or PayoffModel
        The game to write. Simulations become a ``game`` if no profile repeats, else a
        ``samplegame``; of a model the means are written, but not how sure they are: the format has
        no place for it.

    Examples
    --------
    >>> write_game(RoleSymmetricGame((2,), (2,)))
    '{"players": {"r0": 2}, "strategies": {"r0": ["s0", "s1"]}, "type": "empty.1"}'
    """
    if isinstance(game, RoleSymmetricGame):
        return json.dumps({**_header(game), "type": "empty.1"})
    if isinstance(game, PayoffModel):
        return json.dumps({**_header(game.game), **_model_entries(game), "type": "rbf.1"})
    if not isinstance(game, Simulations):
        got = type(game).__name__
        raise TypeError(f"game must be a RoleSymmetricGame, Simulations or PayoffModel; got {got}")
    profiles = np.asarray(to_numpy(game.profiles), float)
    payoffs = np.asarray(to_numpy(game.payoffs), float)
    check_profiles(game.game, profiles)
    if not np.isfinite(payoffs[profiles > 0]).all():
        raise ValueError("payoffs must be finite where a strategy is played")
    distinct, index = np.unique(profiles, axis=0, return_inverse=True)
    index = index.reshape(-1)
    order = sorted(range(len(distinct)), key=lambda k: int(np.flatnonzero(index == k)[0]))
    repeated = len(distinct) < len(profiles)
    rows = [_profile(game.game, distinct[k], payoffs[index == k], repeated) for k in order]
    kind = "samplegame.1" if repeated else "game.1"
    return json.dumps({**_header(game.game), "profiles": rows, "type": kind})


def _game(stored: Stored) -> RoleSymmetricGame:
    if "roles" in stored:
        roles = [(each["name"], each["count"], each["strategies"]) for each in stored["roles"]]
    else:
        roles = [(r, stored["players"][r], names) for r, names in stored["strategies"].items()]
    names = tuple(name for name, _, _ in roles)
    strategies = tuple(tuple(each) for _, _, each in roles)
    sizes = tuple(len(each) for each in strategies)
    return RoleSymmetricGame(tuple(n for _, n, _ in roles), sizes, names, strategies)


def _header(game: RoleSymmetricGame) -> dict[str, object]:
    return {
        "players": dict(zip(game.role_names, game.players, strict=True)),
        "strategies": {
            role: list(names)
            for role, names in zip(game.role_names, game.strategy_names, strict=True)
        },
    }


def _read_names(game: RoleSymmetricGame, stored: Mapping[str, object]) -> Game:
    return game


def _read_simulations(game: RoleSymmetricGame, stored: Stored) -> Game:
    rows = [row for each in stored.get("profiles", ()) for row in _observations(game, each)]
    if not rows:
        return game
    profiles, payoffs = (np.asarray(part) for part in zip(*rows, strict=True))
    check_profiles(game, profiles)
    return Simulations(game, profiles, payoffs)


def _observations(
    game: RoleSymmetricGame, stored: Stored
) -> Iterator[tuple[HostVector, HostVector]]:
    """A profile once for each observation of its payoffs."""
    if "symmetry_groups" in stored and "symmetry_groups" not in game.role_names:
        groups = stored["symmetry_groups"]
        stored = {}
        for each in groups:
            row = [each["strategy"], each["count"], each["payoff"]]
            stored.setdefault(each["role"], []).append(row)
    counts: dict[str, dict[str, float]] = {}
    payoffs: dict[str, dict[str, list[float]]] = {}
    for role, played in stored.items():
        counts[role] = _once((strategy, count) for strategy, count, _ in played)
        payoffs[role] = {strategy: _payoffs(earned) for strategy, _, earned in played}
    profile = game.from_dict(counts)
    lengths = {len(earned) for each in payoffs.values() for earned in each.values()}
    if len(lengths) != 1:
        raise ValueError(f"a profile must have as many payoffs for each strategy; got {stored}")
    for k in range(lengths.pop()):
        of_roles = {r: {s: u[k] for s, u in each.items()} for r, each in payoffs.items()}
        yield profile, np.where(profile > 0, game.from_dict(of_roles), np.nan)


def _payoffs(stored: Any) -> list[float]:
    """Return one payoff or several, with NaN for null."""
    several = stored if isinstance(stored, list) else [stored]
    for payoff in several:
        if isinstance(payoff, bool) or not isinstance(payoff, (int, float, type(None))):
            raise TypeError(f"a payoff must be a number, or null if it is missing; got {payoff!r}")
    return [math.nan if payoff is None else float(payoff) for payoff in several]


def _profile(
    game: RoleSymmetricGame, profile: HostVector, payoffs: HostMatrix, repeated: bool
) -> dict[str, object]:
    rows: dict[str, object] = {}
    for role, names, columns in zip(
        game.role_names, game.strategy_names, game.columns, strict=True
    ):
        by_name = payoffs[:, columns].T.tolist()
        rows[role] = [
            [name, int(count), values if repeated else values[0]]
            for name, count, values in zip(names, profile[columns].tolist(), by_name, strict=True)
            if count > 0
        ]
    return rows


def _read_matrix(game: RoleSymmetricGame, stored: Stored) -> Game:
    rows = [
        ({r: {s: 1.0} for r, s in chosen.items()}, {r: {s: earned[r]} for r, s in chosen.items()})
        for chosen, earned in _entries(game, stored["payoffs"], {})
    ]
    profiles = np.asarray([game.from_dict(profile) for profile, _ in rows])
    payoffs = np.asarray([game.from_dict(earned) for _, earned in rows])
    return Simulations(game, profiles, np.where(profiles > 0, payoffs, np.nan))


def _entries(
    game: RoleSymmetricGame, table: Stored, profile: dict[str, str]
) -> Iterator[tuple[dict[str, str], Mapping[str, float]]]:
    if len(profile) == game.num_roles:
        yield profile, table
        return
    for strategy, subtable in table.items():
        yield from _entries(game, subtable, {**profile, game.role_names[len(profile)]: strategy})


def _read_model(game: RoleSymmetricGame, stored: Stored) -> Game:
    offsets, scales = (game.from_dict(stored[name]) for name in ("offsets", "coefs"))
    expansions = [
        Expansion(
            np.asarray([game.from_dict(row) for row in stored["profiles"][role][name]]),
            np.asarray(stored["alphas"][role][name], float),
            game.from_dict(stored["lengths"][role][name]),
        )
        for role, names in zip(game.role_names, game.strategy_names, strict=True)
        for name in names
    ]
    parts = zip(expansions, scales.tolist(), offsets.tolist(), strict=True)
    return PayoffModel(
        game,
        tuple(Expansion(e.profiles, e.weights, e.lengthscales, c, o) for e, c, o in parts),
    )


def _model_entries(model: PayoffModel) -> dict[str, object]:
    game = model.game
    arrays = [
        [np.asarray(to_numpy(a), float) for a in (e.profiles, e.weights, e.lengthscales)]
        for e in model.expansions
    ]
    profiles = [[_nonzero(game, _as_counts(row)) for row in x] for x, _, _ in arrays]
    return {
        "offsets": _nonzero(game, [e.offset for e in model.expansions]),
        "coefs": _nonzero(game, [e.scale for e in model.expansions]),
        "lengths": game.to_dict([_nonzero(game, ell) for _, _, ell in arrays]),
        "profiles": game.to_dict(profiles),
        "alphas": game.to_dict([weights.tolist() for _, weights, _ in arrays]),
    }


def _as_counts(row: HostVector) -> list[float]:
    """Counts as whole numbers, as the program wants them; in a subgame's bumps they are, too."""
    return [int(x) if x == int(x) else x for x in row.tolist()]


def _nonzero(game: RoleSymmetricGame, row: Any) -> dict[str, dict[str, object]]:
    """The program leaves zeros out, and roles that have nothing else."""
    nonzero = {
        role: {name: value for name, value in entries.items() if value != 0}
        for role, entries in game.to_dict(row).items()
    }
    return {role: entries for role, entries in nonzero.items() if entries}


_READERS = {
    "empty": _read_names,
    "emptygame": _read_names,
    "game": _read_simulations,
    "samplegame": _read_simulations,
    "matrix": _read_matrix,
    "rbf": _read_model,
}
