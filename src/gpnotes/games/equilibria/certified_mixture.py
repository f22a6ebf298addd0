"""The certainty of an equilibrium of a learned game, from the variances of its processes.

The payoffs at a mixture are independent and normal, [eq-ge-doubt]. Draws of them are draws of
the regret, and where the equations of an equilibrium hold, they move it by [eq-ge-moved].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.random import RNG, stream_of
from ...ground.showing import summary
from ...ground.xp import Array, HostMatrix, HostVector, Vector, as_array, to_numpy
from ..methods import WITH_VARIANCE
from ..payoffs import PayoffModel
from .game_dynamics import deviation_gains

__all__ = ["CertifiedMixture", "certify", "mixture_sensitivity"]

_PLAYED = 1e-9  # probabilities below are those of strategies that nobody plays


@dataclass(frozen=True, eq=False)
class CertifiedMixture:
    """The payoffs and the regret of a mixture in a learned game, with standard deviations.

    Parameters
    ----------
    mixture : Vector, shape (S,)
        The mixture.
    mixture_sd : Vector, shape (S,)
        How far the equilibrium of the same support may lie from it, to first order; infinite where
        the payoffs of the support do not settle a mixture.
    payoffs : Vector, shape (S,)
        The expected payoffs.
    payoff_sd : Vector, shape (S,)
        Their standard deviations.
    regrets : tuple of float
        For each role the regret in the learned game.
    regret_means : tuple of float
        For each role the mean regret in the games that the processes hold possible.
    regret_sd : tuple of float
        For each role the standard deviation of that.
    regret_quantiles : tuple of pair of float
        For each role the regrets between which nine tenths of those games lie.
    """

    mixture: Vector
    mixture_sd: Vector
    payoffs: Vector
    payoff_sd: Vector
    regrets: tuple[float, ...]
    regret_means: tuple[float, ...]
    regret_sd: tuple[float, ...]
    regret_quantiles: tuple[tuple[float, float], ...]

    __repr__ = summary


def certify(
    model: PayoffModel, mixture: Array, *, method: str = "exact", num_samples: int = 1000, rng: RNG
) -> CertifiedMixture:
    """Ask a learned game how well it knows a mixture: its payoffs, its regret, its place.

    Parameters
    ----------
    model : PayoffModel
        The model, every payoff with its `posterior_variance`.
    mixture : Array, shape (S,)
        The mixture, best an equilibrium of the model.
    method : ``"exact"``, ``"enumerated"`` or ``"gaussian"``, default ``"exact"``
        The way to the expectations.
    num_samples : int, default 1000
        The number of payoffs to draw.
    rng : Stream, Generator or int
        The stream that draws possible payoffs.

    Returns
    -------
    CertifiedMixture
        Payoffs, regrets and the mixture with their standard deviations.

    Notes
    -----
    Each payoff is taken to be wrong by a number of its own, the same at all mixtures near by. The
    uncertainty of lengthscales and noise is not in it.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.games import RoleSymmetricGame, fit_payoffs
    >>> game = RoleSymmetricGame(players=(9,), strategies=(2,))
    >>> profiles = np.stack([np.arange(10.0), 9.0 - np.arange(10.0)], axis=1)
    >>> model = fit_payoffs(game, profiles, -profiles, noise_var=0.01)
    >>> certified = certify(model, np.asarray([0.5, 0.5]), rng=1)
    >>> certified.regrets[0] < 1e-3 < certified.regret_means[0] < 0.2
    True
    """
    _check.instance(model, "model", PayoffModel)
    _check.choice(method, "method", WITH_VARIANCE)
    num_samples = memory.count(num_samples, "num_samples", 2, each=3 * model.game.num_strategies)
    generator = stream_of(rng).generator
    p = model.game.check_mixtures(mixture, "mixture")
    if p.shape[0] != 1:
        raise ValueError(f"mixture must be one; got {p.shape[0]} of them")
    payoffs, sd = model.deviation_payoffs_and_sd(p, method)
    _, jacobian = model.deviation_payoffs_and_jacobian(p, method)
    means, sds = (np.asarray(to_numpy(a), float)[0] for a in (payoffs, sd))
    host_mixture = np.asarray(to_numpy(p), float)
    payoff_draws = means + sds * generator.standard_normal((num_samples, model.game.num_strategies))
    regret_draws = _regrets(payoff_draws, np.tile(host_mixture, (num_samples, 1)), model)
    J = np.asarray(to_numpy(jacobian), float)[0]
    sensitivity = mixture_sensitivity(host_mixture[0], J, model)
    unsettled = np.isinf(sensitivity).any(axis=1)  # infinite however sure the payoffs are
    finite = np.where(unsettled[:, None], 0.0, sensitivity)
    mixture_sd = np.where(unsettled, np.inf, np.sqrt(finite**2 @ sds**2))
    low, high = np.quantile(regret_draws, (0.05, 0.95), axis=0)
    return CertifiedMixture(
        p[0, :],
        as_array(mixture_sd, p),
        payoffs[0, :],
        sd[0, :],
        tuple(_regrets(means[None], host_mixture, model)[0].tolist()),
        tuple(regret_draws.mean(axis=0).tolist()),
        tuple(regret_draws.std(axis=0).tolist()),
        tuple(zip(low.tolist(), high.tolist(), strict=True)),
    )


def _regrets(u: HostMatrix, p: HostMatrix, model: PayoffModel) -> HostMatrix:
    return np.maximum(to_numpy(deviation_gains(u, p, model.game)), 0.0)


def mixture_sensitivity(p: HostVector, jacobian: HostMatrix, model: PayoffModel) -> HostMatrix:
    """Derivatives of an equilibrium by errors of the payoffs, its support kept, [eq-ge-moved].

    Parameters
    ----------
    p : ndarray, shape (S,)
        The mixture.
    jacobian : ndarray, shape (S, S)
        The Jacobian of the payoffs there.
    model : PayoffModel
        The game.

    Returns
    -------
    ndarray, shape (S, S)
        The derivatives of the mixture by the payoffs; zero for strategies that no player or every
        player of a role plays, and infinite for others where the equations do not settle the
        mixture.
    """
    game = model.game
    played = np.flatnonzero(p > _PLAYED)
    roles = np.asarray([[s in range(c.start, c.stop) for s in played] for c in game.columns])
    sums = roles.astype(float)
    zeros = np.zeros((game.num_roles, game.num_roles))
    J = jacobian[np.ix_(played, played)]
    unit = float(np.max(np.abs(J))) or 1.0  # so that the rank is the same in any currency
    system = np.block([[J / unit, -sums.T], [sums, zeros]])
    sensitivity = np.zeros((game.num_strategies, game.num_strategies))
    right_side = np.vstack([-np.eye(len(played)), np.zeros((game.num_roles, len(played)))])
    if np.linalg.matrix_rank(system) < len(system):
        free = played[sums[sums.sum(axis=1) > 1].any(axis=0)]  # a single strategy has all of 1
        sensitivity[np.ix_(free, played)] = np.inf
        return sensitivity
    sensitivity[np.ix_(played, played)] = np.linalg.solve(system, right_side)[: len(played)] / unit
    return sensitivity
