"""Deviation payoffs and their Jacobian of a batch of mixtures: in closed form, and exactly."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from harness import Call, Task

from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame

PLAYERS, STRATEGIES = (50, 50), (4, 4)
_ROWS = 16  # mixtures at a time in the floor: more, and BLAS would start threads, at a loss


@dataclass(frozen=True)
class Problem:
    """A game with random weighted profiles a strategy, and n mixtures to evaluate it at."""

    n: int
    profiles: int = 500  # for each strategy

    @cached_property
    def data(self) -> tuple[Any, np.ndarray]:
        """Our model of the game and the mixtures, (points, 8)."""
        rng = np.random.default_rng(self.n)
        game = RoleSymmetricGame(PLAYERS, STRATEGIES)
        expansions = tuple(
            Expansion(
                profiles=self._draw(rng, game.opponents(strategy)),
                weights=rng.normal(size=self.profiles),
                lengthscales=rng.uniform(3.0, 40.0, sum(STRATEGIES)),
                scale=2.0,
                offset=1.0,
            )
            for strategy in range(game.num_strategies)
        )
        parts = [rng.dirichlet(np.ones(k), self.n) for k in STRATEGIES]
        return PayoffModel(game, expansions), np.concatenate(parts, axis=1)

    def _draw(self, rng: np.random.Generator, counts: tuple[int, ...]) -> np.ndarray:
        parts = [
            rng.multinomial(m, rng.dirichlet(np.ones(k), self.profiles))
            for m, k in zip(counts, STRATEGIES, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(float)


def floor(problem: Problem) -> Call:
    """Exponentials and products alone: exponents are quadratic in the profile, role by role."""
    rng = np.random.default_rng(0)
    features = sum(1 + k + k * (k + 1) // 2 for k in STRATEGIES) - len(STRATEGIES) + 1
    left = -rng.uniform(size=(problem.n, features))
    right = rng.uniform(size=(features, problem.profiles))
    back = np.ascontiguousarray(right.T)

    def call() -> None:
        for _ in range(sum(STRATEGIES)):
            for start in range(0, problem.n, _ROWS):
                exponents = left[start : start + _ROWS] @ right
                np.exp(exponents, out=exponents)
                exponents @ back

    return call


def ours(method: str, problem: Problem) -> Call:
    """Payoffs and the Jacobian on the tangent space, by one of our methods, in all threads."""
    model, mixtures = problem.data
    options = {"threads": os.cpu_count() or 1} if method == "exact" else {}

    def call() -> np.ndarray:
        payoffs, jacobian = model.deviation_payoffs_and_jacobian(mixtures, method, **options)
        return np.concatenate([payoffs.ravel(), _along(model.game, jacobian).ravel()])

    return call


def _along(game: Any, jacobian: np.ndarray) -> np.ndarray:
    """What is left of the derivatives where each role's probabilities keep their sum."""
    parts = [jacobian[..., columns] for columns in game.columns]
    return np.concatenate([part - part.mean(axis=-1, keepdims=True) for part in parts], axis=-1)


TASKS = {
    "game": Task(
        "payoffs and Jacobians of {n} mixtures, in closed form", "products, exponentials", Problem,
        {"floor": floor, "gpnotes": partial(ours, "gaussian")}, 1000, 3,
    ),
    "exact game": Task(
        "the same exactly, of 60 profiles", "products, exponentials", partial(Problem, profiles=60),
        {"floor": floor, "gpnotes": partial(ours, "exact")}, 1000, 3,
    ),
}  # fmt: skip
