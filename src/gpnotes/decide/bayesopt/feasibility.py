"""The feasibility of evaluations: constraints that are measured, and places that fail.

Each constraint is a function that one learns by evaluating it with the objective. A process of
its own says how likely it is to be met; where the objective fails is a question of labels, which a
process learns by a variational approximation. The worth of an evaluation is multiplied by these
probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from ...ground.random import Stream
from ...ground.xp import HostMatrix, HostVector, Matrix, Vector, array_namespace, log_normal_cdf
from ...infer import svgp
from ...infer.svgp import VariationalPosterior
from ...infer.svgp.natural_gradients import optimise_q
from ...infer.svgp.posterior import projected
from ...model.gaussian_process import GP
from ...model.kernels import Matern32
from ...model.likelihoods import Bernoulli
from .acquisition import LogExpectedImprovement, LogProbabilityOfImprovement, hazard
from .maximiser import Surface, acquisition_surface
from .pending_points import AcquisitionOf
from .surrogates import Model
from .thompson_sampling import ThompsonSampling
from .training_data import are_penalties, standardised

_DOUBT = 16.0  # the power of a probability of success, where it is below a half

__all__ = ["constraint_values", "log_feasibility", "success_model", "validate_odds"]


class Measured(Protocol):
    """The parts of an evaluation that are used here."""

    @property
    def constraints(self) -> HostVector | None:
        """The values of the constraints."""

    @property
    def failure(self) -> str:
        """The handling of a problem; empty where there was none."""


def validate_odds(acquisition: AcquisitionOf, what: str) -> None:
    """Raise a `ValueError` if an acquisition is no logarithm, to which those of odds are added."""
    worth = None if isinstance(acquisition, ThompsonSampling) else acquisition(0.0)
    if not isinstance(worth, LogExpectedImprovement):
        wanted = f"LogExpectedImprovement with {what}, a logarithm to which one adds"
        raise ValueError(f"acquisition must be {wanted}; got {acquisition!r}")


def constraint_values(given: object, count: int) -> HostVector | None:
    """Return the values of so many constraints; some may not be finite."""
    if given is None and not count:
        return None
    if not count:
        raise ValueError("constraints must be None, or their number when the Optimiser is made")
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"constraints must be {count} numbers; got {given!r}") from None
    if values.shape != (count,):
        raise ValueError(f"constraints must be {count} numbers; got {given!r}")
    return values


def log_feasibility(
    evaluations: Sequence[Measured],
    units: HostMatrix,
    model: Model,
    stream: Stream,
    doubt: bool = True,
) -> tuple[Surface, ...]:
    """Logarithms of the probabilities that an evaluation counts, each a function of the place.

    One for each constraint, and one for success if evaluations failed that a model is to avoid.
    With `doubt` a probability of success below a half is taken to a power, as a search does.
    Constraints are taken for independent given the place, so that logarithms add. Source: Gardner,
    Kusner, Xu, Weinberger & Cunningham (2014).
    """
    odds: list[Surface] = []
    measured = [(unit, e.constraints) for unit, e in zip(units, evaluations, strict=True)
            if e.constraints is not None]  # fmt: skip
    if measured:
        X = np.stack([unit for unit, _ in measured])
        values = np.stack([constraints for _, constraints in measured])
        for number in range(values.shape[1]):
            y, centre, scale = standardised(_clipped(-values[:, number]))
            posterior = model(X, y, rng=stream.spawn(f"constraint {number}"))
            met = LogProbabilityOfImprovement(-centre / (scale or 1.0))
            odds.append(acquisition_surface(posterior, met))
    if any(e.failure == "model" for e in evaluations):
        counted = [e.failure in ("", "model") for e in evaluations]
        labels = [1.0 if not e.failure else -1.0 for e in evaluations]
        X, y = units[counted], np.asarray(labels)[counted]
        odds.append(_Success(success_model(X, y), _DOUBT if doubt else 1.0))
    return tuple(odds)


def _clipped(slack: HostVector) -> HostVector:
    """Slacks of a constraint (n,): where one is a penalty, minus the largest of the others."""
    lost = are_penalties(slack)
    return np.where(lost, -np.max(np.abs(slack[~lost])), slack) if np.any(lost) else slack


def success_model(X: HostMatrix, y: HostVector) -> VariationalPosterior:
    """Learn where an objective has a value, from labels: 1, or −1 where it failed.

    The process is a Matérn-3/2 one of variance 100 and the length ``0.6 √d``, through a probit.
    The variance says that a place fails always or never. Laplace's approximation is of no use
    then: it puts a probability of 0.2 where fifteen evaluations have failed, and the search asks
    there for a sixteenth. Of labels so few, lengths that are fitted predict no better.
    """
    d = X.shape[1]
    gp = GP(Matern32(100.0, 0.6 * math.sqrt(d)), 0.0)
    model = svgp.SVGP(gp, Bernoulli(), np.unique(X, axis=0))
    return cast(
        VariationalPosterior, optimise_q(svgp.initial_posterior(model), X, y, max_steps=100)
    )


class _Success(NamedTuple):
    """``log P(y = 1)`` of labels, as a surface: ``log Φ(z)`` with ``z = μ / √(1 + v)``.

    Probabilities below a half are taken to a power: else most places tried would fail, once
    elsewhere there is little to gain.
    """

    posterior: VariationalPosterior
    power: float

    def values(self, Xs: Matrix) -> Vector:
        xp = array_namespace(Xs)
        mean, variance = self.posterior.predict(Xs)
        return _weighed(log_normal_cdf(mean / xp.sqrt(1.0 + variance)), self.power)[0]

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        """With ``A = L⁻¹ K_u*``: μ = Aᵀ w, and v = k** − Aᵀ A + Aᵀ P⁻¹ A."""
        xp = array_namespace(Xs)
        q = self.posterior
        kernel, Z = q.model.gp.kernel, q.model.variables.inputs
        A, spare = projected(q, Xs)
        B = q.root @ A
        wide = 1.0 + spare + xp.sum(B * B, axis=0)
        z = xp.matrix_transpose(A) @ q.weights / xp.sqrt(wide)
        mean_bar = hazard(z) / xp.sqrt(wide)
        variance_bar = -0.5 * mean_bar * z / xp.sqrt(wide)
        # K_bar = L⁻ᵀ (w mean_barᵀ − 2 (A − P⁻¹ A) diag(variance_bar))
        open_to = A - xp.matrix_transpose(q.root) @ B
        by_A = q.weights[:, None] * mean_bar[None, :] - 2.0 * open_to * variance_bar[None, :]
        _, _, by_cross = kernel._pullback(Z, Xs, q.inducing._half_solve_t(by_A))
        _, by_diag = kernel._diag_pullback(Xs, variance_bar)
        weight, slope = _weighed(log_normal_cdf(z), self.power)
        return weight, slope[:, None] * (by_cross + by_diag)


def _weighed(odds: Vector, power: float) -> tuple[Vector, Vector]:
    """The weight by the logarithm of a probability, and its derivative: a power below a half."""
    xp = array_namespace(odds)
    short = xp.clip(odds + math.log(2.0), None, 0.0)
    one = xp.ones_like(odds)
    return odds + (power - 1.0) * short, xp.where(short < 0.0, power * one, one)
