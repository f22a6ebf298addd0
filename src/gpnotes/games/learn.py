"""A game from samples of its payoffs: one Gaussian process for each strategy."""

from __future__ import annotations

import numpy as np

from .. import _check
from .._xp import Array, array_namespace, as_array, to_numpy
from ..exact import GP, condition
from ..fit import fit
from ..kernels import RBF
from ..random import Stream
from .expansion import Expansion
from .game import RoleSymmetricGame
from .payoffs import PayoffModel

__all__ = ["learn"]


def learn(
    game: RoleSymmetricGame,
    profiles: Array,
    payoffs: Array,
    *,
    noise_var: float | None = None,
    restarts: int = 2,
    stream: Stream | None = None,
) -> PayoffModel:
    """The payoff model of samples: full `profiles` (n, S) and what each strategy earned, (n, S).

    Payoffs of strategies that nobody plays in a profile are not looked at; they may be NaN.
    Profiles may repeat. For each strategy the deviator is taken out of the profile, the payoffs
    are centred and scaled, and a process with one length scale for each strategy is fitted by its
    evidence, length scales between one player and ten times the role; `noise_var` is the variance
    of the payoffs' noise in their own units, fitted where it is None. A column that is constant
    becomes a constant payoff.

    Raises `ValueError` for profiles that do not fit the game, payoffs that are not finite where
    they are looked at, and strategies that no profile plays.
    """
    profiles = _check.matrix(_counts(profiles, payoffs), "profiles", columns=game.size)
    if tuple(payoffs.shape) != tuple(profiles.shape):
        raise ValueError(f"payoffs must have shape {profiles.shape}; got {payoffs.shape}")
    rows, paid = np.asarray(to_numpy(profiles), float), np.asarray(to_numpy(payoffs), float)
    _admit(game, rows)
    found = []
    for s in range(game.size):
        played = rows[:, s] > 0
        if not played.any():
            raise ValueError(f"profiles must play every strategy; none plays strategy {s}")
        y = paid[played, s]
        if not np.isfinite(y).all():
            raise ValueError(f"payoffs must be finite where a strategy is played; see column {s}")
        x = rows[played] - (np.arange(game.size) == s)
        start = stream.spawn(f"strategy {s}") if stream is not None else None
        found.append(_expansion(game, s, x, y, profiles, noise_var, restarts, start))
    return PayoffModel(game, tuple(found))


def _counts(profiles: Array, payoffs: Array) -> Array:
    """Profiles of whole numbers, as a simulator draws them, in the dtype of the payoffs."""
    xp = array_namespace(profiles)
    whole = xp.isdtype(profiles.dtype, "integral")
    return xp.astype(profiles, payoffs.dtype) if whole else profiles


def _admit(game: RoleSymmetricGame, rows: np.ndarray) -> None:
    for role, part in enumerate(game.columns):
        totals = rows[:, part].sum(axis=1)
        if (rows[:, part] < 0).any() or (totals != game.players[role]).any():
            raise ValueError(
                f"profiles must spread the {game.players[role]} players of role {role}; "
                f"got sums from {totals.min():g} to {totals.max():g}"
            )


def _expansion(
    game: RoleSymmetricGame,
    s: int,
    x: np.ndarray,
    y: np.ndarray,
    like: Array,
    noise_var: float | None,
    restarts: int,
    stream: Stream | None,
) -> Expansion:
    offset, scale = float(y.mean()), float(y.std())
    if scale <= 1e-12 * max(1.0, abs(offset)):
        ones = as_array(np.ones(game.size), like)
        return Expansion(as_array(x[:1], like), as_array([0.0], like), ones, 1.0, offset)
    X, z = as_array(x, like), as_array((y - offset) / scale, like)
    sizes = np.repeat(game.opponents(s), game.strategies).astype(float)
    top = 10.0 * max(1.0, float(sizes.max()))
    start = as_array(np.maximum(1.0, sizes / 3.0), like)
    noise = 0.1 if noise_var is None else noise_var / scale**2
    bounds = {"kernel.lengthscale": (1.0, top), "kernel.signal_var": (1e-3, 1e4)}
    if noise_var is None:
        bounds["noise_var"] = (1e-6, 10.0)
    tries = {"restarts": restarts if stream is not None else 0, "stream": stream}
    fixed = () if noise_var is None else ("noise_var",)
    gp = fit(GP(RBF(1.0, start), noise), X, z, bounds=bounds, fixed=fixed, **tries).gp
    weights = gp.kernel.signal_var * condition(gp, X, z).alpha
    return _merged(x, np.asarray(to_numpy(weights), float), gp, like, scale, offset)


def _merged(
    x: np.ndarray, weights: np.ndarray, gp: GP, like: Array, scale: float, offset: float
) -> Expansion:
    """Profiles that repeat have one bump, with the sum of their weights."""
    distinct, where = np.unique(x, axis=0, return_inverse=True)
    total = np.bincount(where.reshape(-1), weights, minlength=len(distinct))
    arrays = as_array(distinct, like), as_array(total, like), gp.kernel.lengthscale
    return Expansion(*arrays, scale, offset)
