"""The expected payoff by its definition: a sum over every profile of the opponents."""

from __future__ import annotations

import math

import numpy as np

from ...ground.memory import blocks
from ...ground.xp import HostMatrix, HostVector, Matrix, Vector, array_namespace, as_array
from ..expansion import ENTRIES, Expansion
from ..game import LIMIT, profiles_of, refuse_more
from .expected_payoff import Expectation, Options, RoleProblem

__all__ = ["expectations", "multinomial_pmf", "pairs", "single_bumps"]

_NEVER = -1e30  # stands for the logarithm of zero: times zero it is zero, as 0⁰ = 1 wants


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """The exact expectations of a role's bumps, and their gradients, by summing over every profile.

    ``Σ_x M(x; n, p) f(x)``, and its derivatives ``n_r Σ_x M(x; n − e_r, p) f(x + e_t)``: the
    definition, [eq-dp-expectation], and [eq-dp-exact-gradient].

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        Only ``limit`` matters.

    Returns
    -------
    list of Expectation
        One for each strategy of the role.

    Notes
    -----
    O(B P J) for P profiles and J samples, and as much again for each derivative.
    """
    results = []
    for strategy, payoff in problem.strategies:
        asks = f"method 'enumerated', unlike 'exact', would sum for strategy {strategy} over"
        refuse_more(problem.game.count_profiles(strategy), options.limit, asks)
        value = _sum(problem, problem.opponents, payoff)
        results.append(Expectation(value, _gradient(problem, payoff)))
    return results


def single_bumps(problem: RoleProblem, payoff: Expansion) -> Matrix:
    """The exact expectation of each bump alone, without its weight, by summing over every profile.

    Parameters
    ----------
    problem : RoleProblem
        The mixtures; of its payoffs only the place matters.
    payoff : Expansion
        The bumps.

    Returns
    -------
    Matrix, shape (J, B)
        The expectations.
    """
    profiles, probabilities = _profiles_and_probabilities(problem)
    samples = payoff.profiles
    total = array_namespace(probabilities).zeros_like(samples[:, :1] @ probabilities[:1, :])
    for rows in blocks(profiles.shape[0], samples.shape[0], ENTRIES, like=samples):
        total = total + payoff.bump_matrix(samples, profiles[rows, :]) @ probabilities[rows, :]
    return total


def pairs(problem: RoleProblem, payoff: Expansion) -> Vector:
    """The expectation of the bump between two profiles that are drawn apart, by summing over both.

    Parameters
    ----------
    problem : RoleProblem
        The mixtures.
    payoff : Expansion
        The bumps; only their lengthscales matter.

    Returns
    -------
    Vector, shape (B,)
        The expectations.
    """
    profiles, probabilities = _profiles_and_probabilities(problem)
    xp = array_namespace(probabilities)
    total = xp.zeros_like(probabilities[0, :])
    for rows in blocks(profiles.shape[0], profiles.shape[0], ENTRIES, like=profiles):
        mean_bumps = payoff.bump_matrix(profiles[rows, :], profiles) @ probabilities
        total = total + xp.sum(probabilities[rows, :] * mean_bumps, axis=0)
    return total


def _profiles_and_probabilities(problem: RoleProblem) -> tuple[Matrix, Matrix]:
    """Every profile of the opponents (P, S), and its probabilities (P, B)."""
    count = problem.game.count_profiles(problem.game.columns[problem.role].start)
    refuse_more(count, LIMIT, "method 'enumerated', unlike 'exact', would sum over")
    profiles = profiles_of(problem.opponents, problem.game.strategies)
    probabilities = multinomial_pmf(profiles, problem.opponents, problem.mixtures)
    xp = array_namespace(probabilities)
    return as_array(profiles, probabilities), xp.matrix_transpose(probabilities)


def _gradient(problem: RoleProblem, payoff: Expansion) -> Matrix | None:
    if not problem.gradient:
        return None
    columns = [_derivative(problem, payoff, t) for t in range(problem.game.num_strategies)]
    return array_namespace(problem.mixtures).stack(columns, axis=1)


def _derivative(problem: RoleProblem, payoff: Expansion, t: int) -> Vector:
    """Moving a little chance to strategy t: one opponent of its role plays it for sure."""
    role = problem.game.role_of(t)
    n = problem.opponents[role]
    if n == 0:
        return array_namespace(problem.mixtures).zeros_like(problem.mixtures[:, 0])
    fewer = tuple(m - (r == role) for r, m in enumerate(problem.opponents))
    return n * _sum(problem, fewer, payoff, added=t)


def _sum(
    problem: RoleProblem, players: tuple[int, ...], payoff: Expansion, added: int | None = None
) -> Vector:
    """The sum over the profiles of so many players; each with one more on the strategy `added`."""
    p = problem.mixtures
    profiles = profiles_of(players, problem.game.strategies)
    one_more = np.arange(problem.game.num_strategies) == added
    total = array_namespace(p).zeros_like(p[:, 0])
    for rows in blocks(profiles.shape[0], p.shape[0], ENTRIES, like=p):
        block = profiles[rows, :]
        met = as_array(block + one_more, p)
        total = total + multinomial_pmf(block, players, p) @ payoff.bumps(met)
    return total


def multinomial_pmf(profiles: HostMatrix, players: tuple[int, ...], p: Matrix) -> Matrix:
    """The multinomial probabilities of profiles, [eq-dp-multinomial], of all roles together.

    Parameters
    ----------
    profiles : ndarray, shape (P, S) or (B, P, S)
        The profiles on the host, the same for all mixtures or some for each.
    players : tuple of int
        The number of players of each role.
    p : Matrix, shape (B, S)
        The mixtures.

    Returns
    -------
    Matrix, shape (B, P)
        The probabilities.
    """
    xp = array_namespace(p)
    log_coefficients = as_array(_log_coefficients(profiles, players), p)
    positive = p > 0.0
    logs = xp.log(xp.where(positive, p, xp.ones_like(p)))
    log_p = xp.where(positive, logs, xp.full_like(p, _NEVER))
    x = as_array(profiles, p)
    if profiles.ndim == 2:
        return xp.exp(log_p @ xp.matrix_transpose(x) + log_coefficients)
    return xp.exp((x @ log_p[:, :, None])[:, :, 0] + log_coefficients)


def _log_coefficients(profiles: HostMatrix, players: tuple[int, ...]) -> HostVector:
    """``log Π_r n_r! / Π_s x_s!`` for each profile."""
    factorials = np.asarray([math.lgamma(k + 1) for k in range(1 + int(profiles.max(initial=0)))])
    return sum(math.lgamma(n + 1) for n in players) - factorials[profiles.astype(int)].sum(axis=-1)
