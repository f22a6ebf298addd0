"""Which profiles to simulate next: where the error of a regret shrinks most.

The regret at a mixture is a maximum of payoffs less their mean, so an error of the payoff to s
moves it by ``1 − p_s`` where s is the best choice and by ``−p_s`` where it is not. A simulation
takes from the variance of each payoff that it shows the square of a covariance, [eq-ge-next].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.random import RNG, stream_of
from ..ground.xp import (
    Array,
    HostMatrix,
    HostVector,
    Matrix,
    as_array,
    epsilon,
    to_numpy,
    zeros,
)
from .expansion import Expansion
from .methods import WITH_VARIANCE
from .payoffs import PayoffModel, role_problem

__all__ = ["propose_profiles"]

_ROUNDING = 64.0  # times the precision: below that a variance may be one of nothing


def propose_profiles(
    model: PayoffModel,
    mixtures: Array,
    num_profiles: int = 1,
    *,
    num_candidates: int = 200,
    method: str = "gaussian",
    rng: RNG,
) -> Matrix:
    """Propose profiles to simulate, one after another, where the error of the regret shrinks most.

    Candidates are drawn at the mixtures, and with one player who deviates; each choice counts
    the information of those before it, whatever their payoffs: the variance of a process does not
    depend on the values observed.

    Parameters
    ----------
    model : PayoffModel
        The model, every payoff with its `posterior_variance`.
    mixtures : Array, shape (S,) or (B, S)
        The mixtures whose regrets are asked for, as equilibria of the model.
    num_profiles : int, default 1
        The number of profiles to propose.
    num_candidates : int, default 200
        The number of profiles to choose from, each for as many simulations as it is worth.
    method : ``"gaussian"``, ``"exact"`` or ``"enumerated"``, default ``"gaussian"``
        The way to the expectations.
    rng : Stream, Generator or int
        The stream that the candidates are drawn from.

    Returns
    -------
    Matrix, shape (num_profiles, S)
        The profiles, of all players, in the order of their choice.

    Notes
    -----
    O(J² C) for J samples and C candidates, and O(C²) for each choice.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.games import RoleSymmetricGame, fit_payoffs
    >>> game = RoleSymmetricGame(players=(9,), strategies=(2,))
    >>> profiles = np.stack([np.arange(10.0), 9.0 - np.arange(10.0)], axis=1)
    >>> model = fit_payoffs(game, profiles[6:], -profiles[6:], noise_var=0.01)
    >>> bool((propose_profiles(model, np.asarray([0.2, 0.8]), 3, rng=0)[:, 0] < 6).all())
    True
    """
    _check.instance(model, "model", PayoffModel)
    _check.choice(method, "method", WITH_VARIANCE)
    num_profiles = _check.whole(num_profiles, "num_profiles", 1)
    num_candidates = memory.count(num_candidates, "num_candidates", each=model.game.num_strategies)
    p = model.game.check_mixtures(mixtures)
    if p.shape[0] == 0:
        raise ValueError("mixtures must have at least one row; got none")
    generator = stream_of(rng).generator
    weights = _weights(model, p, method, generator)
    profiles = _candidates(model, np.asarray(to_numpy(p), float), num_candidates, generator)
    payoffs = [
        _Candidates.of(model, s, p, profiles, weights[:, s], method)
        for s in range(model.game.num_strategies)
    ]
    choices = []
    for _ in range(num_profiles):
        j = int(np.argmax(sum(payoff.gains() for payoff in payoffs)))
        choices.append(j)
        payoffs = [payoff.after(j) for payoff in payoffs]
    return as_array(profiles[choices], p)


def _weights(
    model: PayoffModel, p: Array, method: str, generator: np.random.Generator, num_draws: int = 256
) -> HostMatrix:
    """The mean square of the derivative of a role's regret by each payoff, (B, S)."""
    u, sd = (np.asarray(to_numpy(a), float) for a in model.deviation_payoffs_and_sd(p, method))
    payoff_draws = u + sd * generator.standard_normal((num_draws, *u.shape))
    host_mixtures = np.asarray(to_numpy(p), float)
    weights = np.empty_like(u)
    for c in model.game.columns:
        role_payoffs = payoff_draws[:, :, c]
        is_best = role_payoffs == role_payoffs.max(axis=2, keepdims=True)
        weights[:, c] = np.mean((is_best - host_mixtures[:, c]) ** 2, axis=0)
    return weights


def _candidates(
    model: PayoffModel, p: HostMatrix, num_candidates: int, generator: np.random.Generator
) -> HostMatrix:
    """Profiles drawn at the mixtures, every other one with a player moved to any strategy."""
    game = model.game
    mixtures = p[np.arange(num_candidates) // 2 % len(p)]
    drawn = np.concatenate(
        [
            generator.multinomial(n, mixtures[:, c] / mixtures[:, c].sum(axis=1, keepdims=True))
            for n, c in zip(game.players, game.columns, strict=True)
        ],
        axis=1,
    ).astype(float)
    targets = generator.integers(game.num_strategies, size=num_candidates)
    for i in range(1, num_candidates, 2):
        t = int(targets[i])
        c = game.columns[game.role_of(t)]
        others = drawn[i, c].copy()
        others[t - c.start] = 0.0
        if others.sum() > 0:
            drawn[i, c.start + generator.choice(len(others), p=others / others.sum())] -= 1.0
            drawn[i, t] += 1.0
    return np.unique(drawn, axis=0)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The posterior of one payoff: at the candidates, and of its expectations at the mixtures."""

    shows: HostVector  # whether a candidate plays the strategy, (C,)
    cross: HostMatrix  # covariances of candidates and expectations, (C, B)
    shared: HostMatrix  # covariances between candidates, (C, C)
    noise: float
    weights: HostVector  # (B,)

    @classmethod
    def of(
        cls,
        model: PayoffModel,
        s: int,
        p: Array,
        profiles: HostMatrix,
        weights: HostVector,
        method: str,
    ) -> _Candidates:
        payoff = model.expansions[s]
        variance = payoff.posterior_variance
        if variance is None:  # of a model of other payoffs deviation_payoffs_and_sd has refused
            raise ValueError(f"the payoff of strategy {s} needs a posterior_variance")
        x = np.maximum(profiles - (np.arange(model.game.num_strategies) == s), 0.0)
        others = as_array(x, p)
        bumps = WITH_VARIANCE[method].singles
        problem = role_problem(model, s, p)
        bumps_at = Expansion(others, zeros((others.shape[0],), others), payoff.lengthscales)
        white_x = variance.whiten(payoff.bump_matrix(payoff.profiles, others))
        white_p = variance.whiten(bumps(problem, payoff))
        cross = variance.signal_var * bumps(problem, bumps_at) - white_x.T @ white_p
        shared = variance.signal_var * payoff.bump_matrix(others, others) - white_x.T @ white_x
        host = (np.asarray(to_numpy(a), float) for a in (cross, shared))
        rounding = _ROUNDING * epsilon(white_x) * variance.signal_var  # what two differences leave
        noise, scaled = max(variance.noise_var, rounding, 1e-12), payoff.scale**2 * weights
        return cls(profiles[:, s] > 0, next(host), next(host), noise, scaled)

    def gains(self) -> HostVector:
        """Return how far a simulation of each candidate reduces the weighted variances, (C,)."""
        variance = np.maximum(np.diag(self.shared), 0.0) + self.noise
        return np.asarray(self.shows * ((self.cross**2) @ self.weights) / variance)

    def after(self, j: int) -> _Candidates:
        """The same after a simulation of candidate j."""
        if not self.shows[j]:
            return self
        column = self.shared[:, j]
        variance = max(column[j], 0.0) + self.noise
        cross = self.cross - np.outer(column, self.cross[j]) / variance
        shared = self.shared - np.outer(column, column) / variance
        return _Candidates(self.shows, cross, shared, self.noise, self.weights)
