"""A game from samples of its payoffs: one Gaussian process for each strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from ..ground import check as _check
from ..ground.interrupts import raised_interrupts
from ..ground.linalg import _cholesky
from ..ground.params import names
from ..ground.random import RNG, Stream, stream_of
from ..ground.xp import Array, array_namespace, as_array, epsilon, eye, to_numpy
from ..infer.exact import GP
from ..infer.fit_checks import may_be_noise
from ..infer.fitting import fit
from ..infer.verbs import condition
from ..model.kernels import RBF, Linear, Product
from .expansion import Expansion
from .game import RoleSymmetricGame
from .payoffs import PayoffModel
from .posterior_variance import PosteriorVariance

__all__ = ["check_profiles", "fit_payoffs", "matrix_with_nans"]

LENGTHSCALES_PER = ("strategy", "role")
_LEAST_NOISE = 1e-6  # of what is fitted, in units of the payoffs' variance


class _Options(NamedTuple):
    """The options by which each of the processes is fitted."""

    noise_var: float | None
    lengthscale_per: str
    bounds: tuple[float, float] | None
    restarts: int | None


def fit_payoffs(
    game: RoleSymmetricGame,
    profiles: Array,
    payoffs: Array,
    *,
    noise_var: float | None = None,
    repetitions: Array | None = None,
    lengthscale_per: str = "strategy",
    lengthscale_bounds: tuple[float, float] | None = None,
    restarts: int | None = None,
    rng: RNG | None = None,
) -> PayoffModel:
    """Fit a payoff model to samples of full profiles and the payoffs of each strategy in them.

    For each strategy the deviator is taken out of the profile, the payoffs are centred and scaled,
    and a process is fitted by its evidence; its mean is the payoff, [eq-dp-payoff], with the
    weights [eq-dp-weights], and its variance the expansion's `posterior_variance`. In ``K_y`` a
    payoff that is the mean of r repetitions has the noise ``noise_var / r``.

    A strategy that one profile shows, once or again, says nothing of how its payoff varies: it gets
    the scale of the payoffs of its role (where these are all alike, of the game) and the length
    scales that a fit starts from. A column that is constant over several profiles is taken at its
    word: it becomes a constant payoff without a variance.

    Parameters
    ----------
    profiles : Matrix, shape (n, S)
        The counts of all players, one profile a row. Profiles may repeat.
    payoffs : Matrix, shape (n, S)
        The payoffs. Those of strategies that no player of a profile plays are left out; they may be
        NaN.
    noise_var : float, optional
        The variance of the noise of one simulation, in units of the payoffs squared; fitted where
        it is None.
    repetitions : Array, shape (n,) or (n, S), optional
        How many simulations each profile's payoffs, or each payoff, is the mean of: positive, one
        unless given. For means whose own variances are known they are one over these, with
        ``noise_var=1.0``.
    lengthscale_per : ``"strategy"`` or ``"role"``, default ``"strategy"``
        Give each process a length scale for each strategy, or one for each role: fewer to fit, for
        few samples or many strategies that are alike. Both are in players.
    lengthscale_bounds : pair of float, optional
        The ends of the length scales; without them, from one player to ten times the largest
        number of opponents in a role: payoffs of whole profiles, one player apart at least, tell a
        length scale below one from another only by the noise.
    restarts : int, optional
        The number of further starts, which need a `rng`; two unless given.
    rng : Stream, Generator or int, optional
        The stream that draws these starts; without it each process is fitted from one start.

    Notes
    -----
    O(n³) a step.

    Examples
    --------
    >>> import numpy as np
    >>> game = RoleSymmetricGame(players=(9,), strategies=(2,))
    >>> profiles = np.stack([np.arange(10.0), 9.0 - np.arange(10.0)], axis=1)
    >>> model = fit_payoffs(game, profiles, -profiles, noise_var=1e-4)  # crowds cost
    >>> model.deviation_payoffs(np.asarray([[0.5, 0.5]])).round(2)
    array([[-5., -5.]])
    """
    _check.instance(game, "game", RoleSymmetricGame)
    payoffs = matrix_with_nans(payoffs, "payoffs")
    profiles = _check.matrix(
        _as_floats(profiles, "profiles", payoffs), "profiles", columns=game.num_strategies
    )
    if tuple(payoffs.shape) != tuple(profiles.shape):
        shape = tuple(profiles.shape)
        raise ValueError(f"payoffs must have shape {shape}; got {tuple(payoffs.shape)}")
    _check.alike(payoffs, "payoffs", profiles, "the profiles")
    x = np.asarray(to_numpy(profiles), float)
    u = np.asarray(to_numpy(payoffs), float)
    check_profiles(game, x)
    r = _repetitions(repetitions, payoffs)
    stream = None if rng is None else stream_of(rng)
    options = _checked(_Options(noise_var, lengthscale_per, lengthscale_bounds, restarts), stream)
    samples = [_samples_of(game, s, x, u, r) for s in range(game.num_strategies)]
    expansions = []
    for s, strategy in enumerate(samples):
        own_stream = stream.spawn(f"strategy {s}") if stream is not None else None
        scale = _payoff_scale(samples[game.columns[game.role_of(s)]], samples, profiles)
        expansions.append(_expansion(strategy, scale, profiles, options, own_stream))
    return PayoffModel(game, tuple(expansions))


def _repetitions(given: Array | None, payoffs: Array) -> np.ndarray:
    """Return the number of simulations that each payoff is the mean of, (n, S)."""
    if given is None:
        return np.ones(payoffs.shape)
    given = _as_floats(given, "repetitions", payoffs)
    if given.ndim == 1:
        _check.vector(given, "repetitions", size=payoffs.shape[0])
        given = given[:, None]
    elif tuple(matrix_with_nans(given, "repetitions").shape) != tuple(payoffs.shape):
        shapes = f"({payoffs.shape[0]},) or {tuple(payoffs.shape)}"
        raise ValueError(f"repetitions must have shape {shapes}; got {tuple(given.shape)}")
    _check.alike(given, "repetitions", payoffs, "the payoffs")
    return np.broadcast_to(np.asarray(to_numpy(given), float), payoffs.shape)


class _Samples(NamedTuple):
    """The samples of a strategy: profiles of the opponents (n, S), and its payoffs (n,)."""

    game: RoleSymmetricGame
    strategy: int
    profiles: np.ndarray
    payoffs: np.ndarray
    repetitions: np.ndarray  # of each payoff, (n,)


def _samples_of(
    game: RoleSymmetricGame,
    s: int,
    rows: np.ndarray,
    earned: np.ndarray,
    repetitions: np.ndarray,
) -> _Samples:
    """Return the profiles that play strategy s, less the deviator, and its payoffs in them."""
    played = rows[:, s] > 0
    if not played.any():
        raise ValueError(f"profiles must play every strategy; none plays strategy {s}")
    y = earned[played, s]
    if not np.isfinite(y).all():
        wanted = f"payoffs must be finite where a strategy is played; see column {s}"
        raise ValueError(f"{wanted}: leave out the profiles whose payoffs are not known")
    _check.squarable(y, "payoffs")
    r = repetitions[played, s]
    if not (np.isfinite(r) & (r > 0.0)).all():
        raise ValueError(
            f"repetitions must be positive and finite where a strategy is played; see column {s}"
        )
    return _Samples(game, s, rows[played] - (np.arange(game.num_strategies) == s), y, r)


def _payoff_scale(role: Sequence[_Samples], game: Sequence[_Samples], like: Array) -> float:
    """Return the spread of the payoffs of a role, else that of a game, else their size."""
    for part in (role, game):
        y = np.concatenate([samples.payoffs for samples in part])
        if not _constant(y, like):
            return float(y.std())
    return float(abs(y).max()) or 1.0


def _constant(y: np.ndarray, like: Array) -> bool:
    return float(y.std()) <= max(1e-12, 16.0 * epsilon(like)) * float(abs(y).max())


def _checked(options: _Options, stream: Stream | None) -> _Options:
    _check.choice(options.lengthscale_per, "lengthscale_per", LENGTHSCALES_PER)
    noise_var = options.noise_var
    if noise_var is not None:
        number = _check.number(noise_var, "noise_var")
        noise_var = _check.positive(number, "noise_var", zero=True)
    bounds = _bounds(options.bounds)
    restarts = _restarts(options.restarts, stream)
    return options._replace(noise_var=noise_var, bounds=bounds, restarts=restarts)


def _bounds(given: tuple[float, float] | None) -> tuple[float, float] | None:
    if given is None:
        return None
    if isinstance(given, tuple | list) and len(given) == 2:
        low, high = (_check.number(end, "lengthscale_bounds") for end in given)
        if 0.0 < low < high:
            return low, high
    raise ValueError(f"lengthscale_bounds must be two numbers, positive and rising; got {given!r}")


def _restarts(given: int | None, stream: Stream | None) -> int:
    if stream is None and given is not None and _check.whole(given, "restarts"):
        raise ValueError(f"restarts={given} need an rng to draw their starts from; got none")
    return (0 if stream is None else 2) if given is None else _check.whole(given, "restarts")


def matrix_with_nans(payoffs: Array, name: str) -> Array:
    """Return `payoffs` if they are a real matrix; some of its entries may be NaN.

    Parameters
    ----------
    payoffs : Matrix
        The payoffs.
    name : str
        Their name in errors.

    Returns
    -------
    Matrix
        The payoffs.
    """
    xp = array_namespace(_check.plain(_check.array(payoffs, name), name))
    _check.matrix(xp.zeros_like(payoffs), name)
    return payoffs


def _as_floats(counts: Array, name: str, payoffs: Array) -> Array:
    """Whole numbers, as a simulator draws them, in the dtype of the payoffs."""
    xp = array_namespace(_check.array(counts, name))
    integers = xp.isdtype(counts.dtype, "integral")
    return xp.astype(counts, payoffs.dtype) if integers else counts


def check_profiles(game: RoleSymmetricGame, rows: np.ndarray) -> None:
    """Refuse rows that are no profiles of all players of a game.

    Parameters
    ----------
    rows : ndarray, shape (n, S)
        The rows, on the host.
    """
    wrong = np.argwhere((rows % 1.0 != 0.0) | (rows < 0.0))
    if len(wrong):
        i, s = wrong[0]
        raise ValueError(f"profiles must hold whole numbers from 0; row {i} has {rows[i, s]:g}")
    for role, part in enumerate(game.columns):
        totals = rows[:, part].sum(axis=1)
        if (totals != game.players[role]).any():
            raise ValueError(
                f"profiles must spread the {game.players[role]} players of role {role}; "
                f"got sums from {totals.min():g} to {totals.max():g}"
            )


def _expansion(
    samples: _Samples, usual_scale: float, like: Array, options: _Options, stream: Stream | None
) -> Expansion:
    game, s, x, y, r = samples
    one_profile = bool((x == x[0]).all())
    offset = float(np.average(y, weights=r))
    if _constant(y, like) and not one_profile:
        ones = as_array(np.ones(game.num_strategies), like)
        certain = PosteriorVariance(0.0, 0.0, as_array([[1.0]], like))
        return Expansion(as_array(x[:1], like), as_array([0.0], like), ones, 1.0, offset, certain)
    scale = usual_scale if one_profile else float(y.std())
    mean_r = float(r.mean())  # a payoff of as many repetitions has the noise that is fitted
    root, uneven = np.sqrt(r / mean_r), bool((r != r[0]).any())
    X = as_array(np.column_stack([x, root]) if uneven else x, like)
    z = as_array(root * ((y - offset) / scale), like)
    bounds = options.bounds or (1.0, 10.0 * max(1.0, *game.opponents(s)))
    options = options._replace(bounds=bounds)
    start = _start(game, s, options, like, scale**2 * mean_r)
    if uneven:
        start = _weighted_by_root(start, game.num_strategies)
    gp = _unfitted(start, z, options) if one_profile else _fitted(start, X, z, options, stream)
    signal_var = float(gp.kernel.diag(X[:1, :])[0]) / float(root[0]) ** 2
    weights = signal_var * root * np.asarray(to_numpy(condition(gp, X, z).alpha), float)
    distinct, summed, counts = _merge_repeats(x, weights, r)
    arrays = as_array(distinct, like), as_array(summed, like), _lengthscales(game, gp.kernel, like)
    bumps = Expansion(*arrays, scale, offset)
    variance = _posterior_variance(
        bumps, signal_var, mean_r * float(gp.noise_var), as_array(counts, like)
    )
    return replace(bumps, posterior_variance=variance)


def _posterior_variance(
    bumps: Expansion, signal_var: float, noise_var: float, counts: Array
) -> PosteriorVariance:
    """Return the posterior variance: a mean of c simulations has a c-th of the noise of one."""
    shared = signal_var * bumps.bump_matrix(bumps.profiles, bumps.profiles)
    noise = noise_var * eye(counts.shape[0], counts) / counts
    return PosteriorVariance(signal_var, noise_var, _cholesky(shared + noise, name="K_y").lower)


def _start(game: RoleSymmetricGame, s: int, options: _Options, like: Array, unit: float) -> GP:
    """The process that the fit starts from, with a third of each role as length scale."""
    noise = 0.1 if options.noise_var is None else options.noise_var / unit
    lengths = [max(1.0, n / 3.0) for n in game.opponents(s)]
    if options.lengthscale_per == "strategy":
        return GP(RBF(1.0, as_array(np.repeat(lengths, game.strategies), like)), noise)
    columns = [range(c.start, c.stop) for c in game.columns]
    roles = [RBF(1.0, ell).on(*c) for ell, c in zip(lengths, columns, strict=True)]
    return GP(math.prod(roles[1:], start=roles[0]), noise)


def _weighted_by_root(start: GP, size: int) -> GP:
    """The process of payoffs times the root of their repetitions, which stands in a last column.

    ``v K + σ² diag(1/r) = D⁻¹ (v D K D + σ² I) D⁻¹`` with ``D = diag(√r)``: so multiplied all have
    the same noise, and the kernel has a slope along that column for another factor.
    """
    kernel = start.kernel.on(*range(size)) if isinstance(start.kernel, RBF) else start.kernel
    return replace(start, kernel=kernel * Linear(1.0).on(size))


def _unfitted(start: GP, z: Array, options: _Options) -> GP:
    """Of one profile's payoffs there is nothing to fit, but the noise, if they are several."""
    if options.noise_var is not None or z.shape[0] == 1:
        return start
    noise = float(array_namespace(z).sum(z * z)) / (z.shape[0] - 1)
    return replace(start, noise_var=max(noise, _LEAST_NOISE))


def _fitted(start: GP, X: Array, z: Array, options: _Options, stream: Stream | None) -> GP:
    entries = dict.fromkeys(name.partition("[")[0] for name in names(start))
    first, *others = [name for name in entries if name.endswith("variance")]
    bounds = {first: (1e-3, 1e4)}
    if options.bounds is not None:
        lengthscales = [name for name in entries if name.endswith("lengthscale")]
        bounds |= dict.fromkeys(lengthscales, options.bounds)
    fixed = list(others)  # of a product of kernels, one variance is enough
    if options.noise_var is None:
        bounds["noise_var"] = (_LEAST_NOISE, 10.0)
    else:
        fixed.append("noise_var")
    restarts = options.restarts or 0
    with raised_interrupts(), may_be_noise():
        return fit(start, X, z, bounds=bounds, fixed=fixed, restarts=restarts, rng=stream).model


def _lengthscales(game: RoleSymmetricGame, kernel: Any, like: Array) -> Array:
    """One for each strategy, (S,), also where a role has one for all."""
    if isinstance(kernel, RBF):
        return cast(Array, kernel.lengthscale)  # the fit started from one for each strategy
    factors: tuple[Any, ...] = kernel.parts if isinstance(kernel, Product) else (kernel,)
    ells: list[Any] = [each.kernel.lengthscale for each in factors if isinstance(each.kernel, RBF)]
    by_role = isinstance(ells[0], float)
    return as_array(np.repeat(ells, game.strategies), like) if by_role else ells[0]


def _merge_repeats(
    x: np.ndarray, weights: np.ndarray, r: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Profiles that repeat have one bump, with the sums of their weights and repetitions."""
    distinct, index = np.unique(x, axis=0, return_inverse=True)
    weight, count = (np.bincount(index.reshape(-1), a, len(distinct)) for a in (weights, r))
    return distinct, weight, count
