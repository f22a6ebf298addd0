"""The problem of a search for equilibria: payoffs by one method, and which ends are equilibria."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.xp import Array, array_namespace, as_array, epsilon, to_numpy
from ..game import RoleSymmetricGame
from ..payoffs import PayoffModel
from .game_dynamics import deviation_gains
from .newton import newton_steps

__all__ = ["End", "EquilibriumProblem", "Judged", "MethodPayoffs", "pose"]

_PROFILES = 256  # pure profiles of roles at which payoffs are asked for their range


class End(NamedTuple):
    """The end of a search, and how it got there.

    Parameters
    ----------
    mixture : Vector, shape (S,)
        The mixture at the end.
    route : str
        The kind of the search.
    start : int, optional
        The row of the start.
    support : tuple of int, optional
        The columns that are played.
    left_simplex : bool, default False
        True where the search left the simplex.
    """

    mixture: Array
    route: str
    start: int | None = None
    support: tuple[int, ...] | None = None
    left_simplex: bool = False


class Judged(NamedTuple):
    """Ends of searches together, and which of them are equilibria.

    Parameters
    ----------
    mixtures : Matrix, shape (n, S)
        The mixtures.
    payoffs : Matrix, shape (n, S)
        The payoffs there.
    regrets : ndarray, shape (n, R)
        The regret of each role.
    holds : ndarray, shape (n,)
        True for equilibria.
    """

    mixtures: Array
    payoffs: Array
    regrets: np.ndarray
    holds: np.ndarray


@dataclass(frozen=True, eq=False)
class MethodPayoffs:
    """The payoffs of a model by one method.

    Parameters
    ----------
    model : PayoffModel
        The model.
    method : str
        The name of the method.
    options : dict
        Its options.
    """

    model: PayoffModel
    method: str
    options: dict[str, object]

    def __call__(self, p: Array) -> Array:
        """The payoffs of deviating from `p`."""
        return self.model.deviation_payoffs(p, self.method, **self.options)

    def with_jacobian(self, p: Array) -> tuple[Array, Array]:
        """The payoffs of deviating from `p`, and their Jacobian."""
        return self.model.deviation_payoffs_and_jacobian(p, self.method, **self.options)


class EquilibriumProblem(NamedTuple):
    """Payoffs, and the regrets that are small enough for an equilibrium of them.

    Parameters
    ----------
    payoffs : MethodPayoffs
        The payoffs.
    payoff_ranges : tuple of float
        The range of the payoffs of each role.
    max_regrets : tuple of float
        The largest regret of an equilibrium in each role.
    unit : ndarray, shape (S,)
        The range of each strategy's role, or one where that is zero.
    """

    payoffs: MethodPayoffs
    payoff_ranges: tuple[float, ...]
    max_regrets: tuple[float, ...]
    unit: np.ndarray

    @property
    def game(self) -> RoleSymmetricGame:
        """The game that is played."""
        return self.payoffs.model.game

    def losses_and_jacobian(self, q: Array) -> tuple[Array, Array]:
        """The losses (B, S) at some mixtures, and the Jacobian (B, S, S) of the payoffs."""
        u, J = self.payoffs.with_jacobian(q)
        return self.losses(u), J

    def losses(self, u: Array) -> Array:
        """The payoffs less the best of the role.

        The part that all share takes digits and says nothing.
        """
        xp = array_namespace(u)
        parts = [u[:, c] for c in self.game.columns]
        return xp.concat([part - xp.max(part, axis=1, keepdims=True) for part in parts], axis=1)

    def refine(self, q: Array, max_steps: int) -> Array:
        """Take Newton steps from some mixtures, by `newton_steps`."""
        return newton_steps(
            self.losses_and_jacobian, q, self.game, as_array(self.unit, q), max_steps
        )

    def judge(self, ends: list[End]) -> Judged:
        """Judge which ends of searches, at least one, are equilibria."""
        p = array_namespace(ends[0].mixture).stack([end.mixture for end in ends])
        u = self.payoffs(p)
        regrets = np.maximum(to_numpy(deviation_gains(u, p, self.game)), 0.0)
        return Judged(p, u, regrets, (regrets <= self.max_regrets).all(axis=1))


def pose(payoffs: MethodPayoffs, p: Array, tolerance: float | None) -> EquilibriumProblem:
    """Pose the problem, with the ranges of payoffs at the given mixtures and at others.

    The range of a role is taken where it may be wide: where a search ends it may be zero. The
    tolerance is the largest regret of an equilibrium over the range; √eps if None.
    """
    if tolerance is None:
        tolerance = math.sqrt(epsilon(p))
    tolerance = _check.positive(_check.number(tolerance, "tolerance"), "tolerance", zero=True)
    game = payoffs.model.game
    probes = array_namespace(p).concat([p, as_array(_probes(game), p)], axis=0)
    u = np.asarray(to_numpy(payoffs(probes)), float)
    parts = [u[:, c] for c in game.columns]
    name = "the range of the payoffs"
    ranges = [_check.finite(float(np.ptp(part, axis=1).max()), name) for part in parts]
    rounding = [64.0 * epsilon(p) * float(np.abs(part).max()) for part in parts]
    max_regrets = [tolerance * width + error for width, error in zip(ranges, rounding, strict=True)]
    units = [width if width > error else 1.0 for width, error in zip(ranges, rounding, strict=True)]
    unit = np.repeat(units, game.strategies)
    return EquilibriumProblem(payoffs, tuple(ranges), tuple(max_regrets), unit)


def _probes(game: RoleSymmetricGame) -> np.ndarray:
    """One role pure and the others even, for each strategy; and all pure, if there are not many."""
    rows = np.tile(
        np.repeat([1.0 / s for s in game.strategies], game.strategies), (game.num_strategies, 1)
    )
    for c in game.columns:
        rows[c, c] = np.eye(c.stop - c.start)
    if math.prod(game.strategies) > _PROFILES:
        return rows
    pure = np.zeros((math.prod(game.strategies), game.num_strategies))
    for row, played in zip(
        pure, product(*(range(c.start, c.stop) for c in game.columns)), strict=True
    ):
        row[list(played)] = 1.0
    return np.concatenate([rows, pure])
