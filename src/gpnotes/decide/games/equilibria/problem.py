"""What a search for equilibria solves: payoffs by one method, and which ends are equilibria."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ....ground import check as _check
from ....ground.xp import Array, array_namespace, as_array, epsilon, to_numpy
from ..game import RoleSymmetricGame
from ..payoffs import PayoffModel
from .dynamics import gains
from .newton import newton_steps

__all__ = ["End", "EquilibriumProblem", "Judged", "MethodPayoffs", "pose"]

_PROFILES = 256  # pure profiles of roles at which payoffs are asked for their range


class End(NamedTuple):
    """Where a search ended, (S,), and how it got there."""

    mixture: Array
    route: str
    start: int | None = None
    support: tuple[int, ...] | None = None
    left: bool = False


class Judged(NamedTuple):
    """Ends together: mixtures and payoffs (n, S), regrets (n, R), which are equilibria (n,)."""

    mixtures: Array
    payoffs: Array
    regrets: np.ndarray
    holds: np.ndarray


@dataclass(frozen=True, eq=False)
class MethodPayoffs:
    """The payoffs of a model by one method."""

    model: PayoffModel
    method: str
    options: dict[str, Any]

    def __call__(self, p: Array) -> Array:
        """The payoffs of deviating from `p`."""
        return self.model.deviation_payoffs(p, self.method, **self.options)

    def and_jacobian(self, p: Array) -> tuple[Array, Array]:
        """The payoffs and their Jacobian at `p`."""
        return self.model.deviation_payoffs_and_jacobian(p, self.method, **self.options)


class EquilibriumProblem(NamedTuple):
    """Payoffs, and what is near enough to an equilibrium of them.

    `unit`, (S,), is the range of each strategy's role, or one where that is zero.
    """

    payoffs: MethodPayoffs
    ranges: tuple[float, ...]
    allowed: tuple[float, ...]
    unit: np.ndarray

    @property
    def game(self) -> RoleSymmetricGame:
        """The game that is played."""
        return self.payoffs.model.game

    def losses_and_jacobian(self, q: Array) -> tuple[Array, Array]:
        """`losses` at mixtures q (B, S), and the Jacobian of the payoffs, (B, S, S)."""
        u, J = self.payoffs.and_jacobian(q)
        return self.losses(u), J

    def losses(self, u: Array) -> Array:
        """The payoffs less the best of the role: what all share takes digits and says nothing."""
        xp = array_namespace(u)
        parts = [u[:, c] for c in self.game.columns]
        return xp.concat([part - xp.max(part, axis=1, keepdims=True) for part in parts], axis=1)

    def refined(self, q: Array, steps: int) -> Array:
        """Where so many Newton steps lead from the mixtures q."""
        return newton_steps(self.losses_and_jacobian, q, self.game, as_array(self.unit, q), steps)

    def judged(self, ends: list[End]) -> Judged:
        """Which ends of searches are equilibria."""
        p = array_namespace(ends[0].mixture).stack([end.mixture for end in ends])
        u = self.payoffs(p)
        regrets = np.maximum(to_numpy(gains(u, p, self.game)), 0.0)
        return Judged(p, u, regrets, (regrets <= self.allowed).all(axis=1))


def pose(payoffs: MethodPayoffs, p: Array, tolerance: float | None) -> EquilibriumProblem:
    """The problem with the ranges of payoffs at the mixtures p and at others.

    The range of a role is taken where it may be wide: where a search ends it may be zero.
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
    allowed = [tolerance * wide + small for wide, small in zip(ranges, rounding, strict=True)]
    units = [wide if wide > small else 1.0 for wide, small in zip(ranges, rounding, strict=True)]
    unit = np.repeat(units, game.strategies)
    return EquilibriumProblem(payoffs, tuple(ranges), tuple(allowed), unit)


def _probes(game: RoleSymmetricGame) -> np.ndarray:
    """One role pure and the others even, for each strategy; and all pure, if there are not many."""
    rows = np.tile(np.repeat([1.0 / s for s in game.strategies], game.strategies), (game.size, 1))
    for c in game.columns:
        rows[c, c] = np.eye(c.stop - c.start)
    if math.prod(game.strategies) > _PROFILES:
        return rows
    pure = np.zeros((math.prod(game.strategies), game.size))
    for row, played in zip(
        pure, product(*(range(c.start, c.stop) for c in game.columns)), strict=True
    ):
        row[list(played)] = 1.0
    return np.concatenate([rows, pure])
