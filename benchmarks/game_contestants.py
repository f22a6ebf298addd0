"""Deviation payoffs and their Jacobian, timed: one batch of mixtures, four ways to its answer.

The floor is what no evaluation of the closed form can do without: for each strategy a product that
makes the exponents of all mixtures and profiles, their exponentials, and a product that adds them
up with weights. The slow contestant writes the published formula down, one mixture at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np

PLAYERS, STRATEGIES = (50, 50), (4, 4)
PROFILES, MIXTURES = 500, 1000
_ROWS = 16  # mixtures at a time in the floor: more, and BLAS would start threads, at a loss


@dataclass(frozen=True)
class GameProblem:
    """A game with n random weighted profiles a strategy, and mixtures to evaluate it at."""

    n: int = PROFILES
    points: int = MIXTURES
    players: tuple[int, ...] = PLAYERS

    @cached_property
    def data(self) -> tuple[Any, np.ndarray]:
        """Our model of the game and the mixtures, (points, 8)."""
        from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame

        rng = np.random.default_rng(self.n)
        game = RoleSymmetricGame(self.players, STRATEGIES)
        expansions = tuple(
            Expansion(
                profiles=self._draw(rng, game.opponents(strategy)),
                weights=rng.normal(size=self.n),
                lengthscales=rng.uniform(3.0, 40.0, sum(STRATEGIES)),
                scale=2.0,
                offset=1.0,
            )
            for strategy in range(game.num_strategies)
        )
        parts = [rng.dirichlet(np.ones(k), self.points) for k in STRATEGIES]
        return PayoffModel(game, expansions), np.concatenate(parts, axis=1)

    def _draw(self, rng: np.random.Generator, counts: tuple[int, ...]) -> np.ndarray:
        parts = [
            rng.multinomial(m, rng.dirichlet(np.ones(k), self.n))
            for m, k in zip(counts, STRATEGIES, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(float)


Call = Callable[[], Any]


def floor(problem: GameProblem) -> Call:
    """Exponentials and products alone: exponents are quadratic in the profile, role by role."""
    rng = np.random.default_rng(0)
    features = sum(1 + k + k * (k + 1) // 2 for k in STRATEGIES) - len(STRATEGIES) + 1
    left = -rng.uniform(size=(problem.points, features))
    right = rng.uniform(size=(features, problem.n))
    back = np.ascontiguousarray(right.T)

    def call() -> None:
        for _ in range(sum(STRATEGIES)):
            for start in range(0, problem.points, _ROWS):
                exponents = left[start : start + _ROWS] @ right
                np.exp(exponents, out=exponents)
                exponents @ back

    return call


def our_method(method: str) -> Callable[[GameProblem], Call]:
    """Payoffs and Jacobian of the whole batch by one of gpnotes' methods, in all threads."""

    def prepare(problem: GameProblem) -> Call:
        model, mixtures = problem.data
        options = {"threads": os.cpu_count() or 1} if method == "exact" else {}
        return lambda: model.deviation_payoffs_and_jacobian(mixtures, method, **options)

    return prepare


def one_by_one(problem: GameProblem) -> Call:
    """The published closed form and its published gradient, for each mixture and strategy."""
    model, mixtures = problem.data

    def call() -> tuple[np.ndarray, np.ndarray]:
        answers = [
            [
                published(model.game, expansion, strategy, mixture)
                for strategy, expansion in expansions
            ]
            for mixture in mixtures
        ]
        payoffs = np.array([[payoff for payoff, _ in row] for row in answers])
        return payoffs, np.array([[slope for _, slope in row] for row in answers])

    expansions = list(enumerate(model.expansions))
    return call


def published(game: Any, expansion: Any, strategy: int, p: np.ndarray) -> tuple[float, np.ndarray]:
    """The source's last two displays, written down: one payoff and its derivatives by p."""
    counts = np.repeat(game.opponents(strategy), game.strategies)
    starts = [columns.start for columns in game.columns]
    sizes = np.asarray(game.strategies)
    gap = expansion.profiles - counts * p
    d = expansion.lengthscales**2 + counts * p
    gamma = 1 - np.add.reduceat(counts * p**2 / d, starts)
    outer = np.add.reduceat(p / d * gap, starts, axis=1)
    squares = np.sum(gap**2 / d, axis=1) + np.sum(
        np.asarray(game.opponents(strategy)) / gamma * outer**2, axis=1
    )
    front = np.prod(gamma**-0.5) * np.prod(expansion.lengthscales / np.sqrt(d))
    terms = expansion.weights * np.exp(-0.5 * squares)
    gamma_s = np.repeat(gamma, sizes)
    delta, beta = np.repeat(outer / gamma, sizes, axis=1), 1 - counts * p / d
    xi = 1 + gap / d
    inner = (delta - 1) ** 2 - (delta * beta - xi) ** 2
    flat = ((beta**2 - 1) / gamma_s + counts / d) * np.sum(terms)
    slope = -0.5 * front * (flat + counts * (terms @ inner))
    return expansion.offset + expansion.scale * front * np.sum(terms), expansion.scale * slope


def by_convolution(model: Any, mixture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The exact payoffs and Jacobian at one mixture, polynomial by polynomial: a check."""
    answers = [
        _coefficients(model.game, expansion, s, mixture)
        for s, expansion in enumerate(model.expansions)
    ]
    return np.array([payoff for payoff, _ in answers]), np.array([slope for _, slope in answers])


def _coefficients(
    game: Any, expansion: Any, strategy: int, p: np.ndarray
) -> tuple[float, np.ndarray]:
    values, slopes = [], []
    for count, columns in zip(game.opponents(strategy), game.columns, strict=True):
        plain = [_polynomial(expansion, s, count, p[s], slope=False) for s in _indices(columns)]
        derived = [_polynomial(expansion, s, count, p[s], slope=True) for s in _indices(columns)]
        values.append(_top(plain, count))
        slopes.append(
            [_top([*plain[:i], b, *plain[i + 1 :]], count) for i, b in enumerate(derived)]
        )
    rest = [np.prod(values[:r] + values[r + 1 :], axis=0) for r in range(len(values))]
    jacobian = [
        expansion.weights @ (slope * rest[r]) for r, role in enumerate(slopes) for slope in role
    ]
    payoff = expansion.weights @ np.prod(values, axis=0)
    return expansion.offset + expansion.scale * payoff, expansion.scale * np.array(jacobian)


def _indices(columns: slice) -> range:
    return range(columns.start, columns.stop)


def _polynomial(expansion: Any, s: int, count: int, p: float, *, slope: bool) -> np.ndarray:
    """The coefficients of one strategy's polynomial, or their derivatives by p, (n, count + 1)."""
    x = np.arange(count + 1)
    powers = x * p ** np.maximum(x - 1.0, 0.0) if slope else p**x
    kernel = np.exp(-0.5 * ((expansion.profiles[:, s, None] - x) / expansion.lengthscales[s]) ** 2)
    return kernel * powers / np.array([float(factorial(k)) for k in x])


def _top(polynomials: list[np.ndarray], count: int) -> np.ndarray:
    """``n! [t^n]`` of their product, for each profile."""
    product = polynomials[0]
    for other in polynomials[1:]:
        longer = np.zeros_like(product)
        for k in range(count + 1):
            longer[:, k:] += product[:, k, None] * other[:, : count + 1 - k]
        product = longer
    return factorial(count) * product[:, count]


def largest_gap(game: Any, ours: Any, theirs: Any) -> float:
    """The largest difference of payoffs and of Jacobians on the tangent space, relative."""
    payoffs = np.max(np.abs(ours[0] - theirs[0])) / np.max(np.abs(theirs[0]))
    along = [_along(game, jacobian) for jacobian in (ours[1], theirs[1])]
    jacobians = np.max(np.abs(along[0] - along[1])) / np.max(np.abs(along[1]))
    return float(max(payoffs, jacobians))


def _along(game: Any, jacobian: np.ndarray) -> np.ndarray:
    """What is left of the derivatives where each role's probabilities keep their sum."""
    parts = [jacobian[..., columns] for columns in game.columns]
    return np.concatenate([part - part.mean(axis=-1, keepdims=True) for part in parts], axis=-1)
