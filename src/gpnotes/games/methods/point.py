"""The cheapest approximation: the payoff at the mean profile."""

from __future__ import annotations

import numpy as np

from ...ground.xp import as_array
from ..expansion import Expansion
from .expected_payoff import Expectation, Options, RoleProblem

__all__ = ["expectations"]


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """The bumps at the mean profile ``n p``, and their gradients there.

    No expectation at all: right for payoffs that are linear over the spread of the multinomial,
    and off by a second derivative times half a variance, ``n p (1 − p)``, where they bend.

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        None matters.

    Returns
    -------
    list of Expectation
        One for each strategy of the role.
    """
    counts = np.repeat(problem.opponents, problem.game.strategies).astype(float)
    n = as_array(counts, problem.mixtures)
    results = []
    for payoff in problem.expansions:
        bumps = Expansion(payoff.profiles, payoff.weights, payoff.lengthscales)
        value, gradient = bumps.payoff_and_gradient(n * problem.mixtures)
        results.append(Expectation(value, n * gradient if problem.gradient else None))
    return results
