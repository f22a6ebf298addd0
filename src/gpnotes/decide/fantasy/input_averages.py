"""Averages over an uncertain input, and their covariance with f where one might observe.

All that a fantasy observation at x̂ can do to the prediction at ``x ~ N(m, S)`` goes through two
numbers: the covariance of f averaged over x with f at x̂, and the variance of the observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ground import check as _check
from ...ground import memory
from ...ground.threads import threads_for
from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace, epsilon
from ...infer.exact import ExactPosterior
from ...model.gaussian_process import require_known_mean
from ..moments.input_covariance import validate_beside, validate_input
from ..moments.kernel_expectations import _kernel_mean

__all__ = [
    "Averages",
    "Candidates",
    "UncertainInput",
    "at_candidates",
    "average_over",
    "chunks",
    "kernel_means",
    "validate_inputs",
    "validate_posterior",
    "validate_posteriors",
    "validate_uncertain",
]


class UncertainInput(NamedTuple):
    """An uncertain input ``x ~ N(mean, covariance)``, (D,) and (D, D)."""

    mean: Vector
    covariance: Matrix


class Averages(NamedTuple):
    """A posterior and T uncertain inputs, with ``L⁻¹ E_x k_Xx`` of each, (n, T)."""

    posterior: ExactPosterior
    inputs: list[UncertainInput]
    half_means: Matrix

    @property
    def noise_var(self) -> float:
        """The variance with which a fantasy is observed: jitter counts, as it does for the data."""
        return self.posterior.gp.noise_var + self.posterior.cholesky.jitter


class Candidates(NamedTuple):
    """Statistics that k candidates have in common with T uncertain inputs.

    `half` is ``L⁻¹ k_X(x̂)``, (n, k); `mean_covariance` is ``E_x c(x, x̂)``, (T, k), with the
    posterior covariance c; `variance` is that of the observation, ``c(x̂, x̂) + σ_n²``, (k,). A
    variance not above `rounding`, (k,), is nothing but rounding; that is zero where there is more
    noise, which leaves something to observe however small c is.
    """

    half: Matrix
    mean_covariance: Matrix
    variance: Vector
    rounding: Vector

    @property
    def reduction(self) -> Vector:
        """``Σ_t mean_covariance² / variance``, (k,): the reductions, [eq-pi-reduction]."""
        xp = array_namespace(self.mean_covariance)
        covariance = self.mean_covariance
        return xp.sum(covariance * self.over_variance(covariance), axis=0)

    def over_variance(self, numerator: Array) -> Array:
        """A numerator, (..., k), over `variance`; zero where nothing is left to observe."""
        xp = array_namespace(numerator)
        known = self.variance <= self.rounding
        ratio = numerator / xp.where(known, xp.ones_like(self.variance), self.variance)
        return xp.where(known, xp.zeros_like(ratio), ratio)


def validate_posteriors(
    posteriors: ExactPosterior | Sequence[ExactPosterior],
) -> list[ExactPosterior]:
    """One posterior or several of one kind, as a list; `TypeError` or `ValueError` otherwise."""
    models = (posteriors,) if isinstance(posteriors, ExactPosterior) else posteriors
    if not isinstance(models, Sequence):
        wanted = "an ExactPosterior or a sequence of them"
        raise TypeError(f"posteriors must be {wanted}; got {type(models).__name__}")
    if not models:
        raise ValueError("posteriors must hold at least one; got none")
    for i, model in enumerate(models):
        if not isinstance(model, ExactPosterior):
            raise TypeError(f"posteriors must be ExactPosterior; got {type(model).__name__}")
        require_known_mean(model.gp)
        if i:
            validate_beside(model.X, f"posteriors[{i}].X", models[0].X, "posteriors[0].X")
    return list(models)


def validate_posterior(posterior: ExactPosterior) -> ExactPosterior:
    """`posterior` if it is a single one; `TypeError` otherwise."""
    if not isinstance(posterior, ExactPosterior):
        raise TypeError(f"posterior must be one ExactPosterior; got {type(posterior).__name__}")
    return posterior


def validate_inputs(
    models: list[ExactPosterior],
    m: Vector | Matrix,
    S: Matrix | Stack,
    candidates: Matrix,
    name: str = "candidates",
) -> list[UncertainInput]:
    """The uncertain inputs, if candidates (k, D) are at least one row like those of X.

    One input for m (D,) and S (D, D), T for (T, D) and (T, D, D). Raises `ValueError` for shapes
    that do not fit, and for an S that is not symmetric positive semidefinite up to rounding.
    """
    like = models[0].X
    _check.matrix(candidates, name, columns=like.shape[1])
    if candidates.shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {tuple(candidates.shape)}")
    _check.alike(_check.squarable(candidates, name), name, like, "X")
    return validate_uncertain(m, S, like)


def validate_uncertain(m: Vector | Matrix, S: Matrix | Stack, like: Array) -> list[UncertainInput]:
    """The uncertain inputs by themselves, as in `validate_inputs`, for rows of `like`."""
    D = like.shape[1]
    if getattr(m, "ndim", 0) != 2:
        return [_uncertain_input(m, S, "S", like)]
    if _check.floating(m, "m").shape[1] != D:
        raise ValueError(f"m must have shape (n, {D}); got {tuple(m.shape)}")
    wanted = (m.shape[0], D, D)
    if m.shape[0] == 0 or getattr(S, "shape", None) != wanted:
        got = f"m {tuple(m.shape)} and S {getattr(S, 'shape', type(S).__name__)}"
        raise ValueError(f"m and S must have shapes (T, {D}) and (T, {D}, {D}), T ≥ 1; got {got}")
    rows = range(m.shape[0])
    return [_uncertain_input(m[t, :], S[t, :, :], f"S[{t}]", like) for t in rows]


def _uncertain_input(m: Vector, S: Matrix, name: str, like: Array) -> UncertainInput:
    return UncertainInput(m, validate_input(m, S, like, name))


def chunks(averages: Averages, candidates: Matrix, most: int | None = None) -> list[Matrix]:
    """Split the candidates into portions whose averages take a few tens of MB."""
    width = sum(averages.half_means.shape)
    entries = memory.ENTRIES if most is None else min(memory.ENTRIES, most * width)
    like = candidates if most is None else None
    blocks = memory.blocks(candidates.shape[0], width, entries, like=like)
    return [candidates[rows, :] for rows in blocks]


@threads_for(lambda posterior, inputs: posterior.X.shape[0] ** 2 * len(inputs))
def average_over(posterior: ExactPosterior, inputs: list[UncertainInput]) -> Averages:
    """The averages that all candidates share; O(T (n² + n D²))."""
    xp = array_namespace(posterior.X)
    means = kernel_means(posterior, posterior.X, inputs)
    return Averages(posterior, inputs, posterior.cholesky._half_solve(xp.matrix_transpose(means)))


def kernel_means(posterior: ExactPosterior, Z: Matrix, inputs: Sequence[UncertainInput]) -> Matrix:
    """``E_x k(x, zᵢ)`` for every uncertain input, (T, k)."""
    kernel = posterior.gp.kernel
    means = [_kernel_mean(kernel, Z, m, S) for m, S in inputs]
    return array_namespace(Z).stack(means)


@threads_for(lambda averages, rows: averages.half_means.shape[0] ** 2 * rows.shape[0])
def at_candidates(averages: Averages, candidates: Matrix) -> Candidates:
    """Compute the statistics of candidates (k, D) for the inputs that were averaged over; O(n² k).

    ``E_x c(x, x̂) = E_x k(x, x̂) − (L⁻¹ E_x k_Xx)ᵀ L⁻¹ k_X(x̂)``, by [eq-pi-kernel-mean].
    """
    xp = array_namespace(candidates)
    posterior = averages.posterior
    half = posterior.cholesky._half_solve(posterior.gp.kernel._gram(posterior.X, candidates))
    explained = xp.matrix_transpose(averages.half_means) @ half
    mean_covariance = kernel_means(posterior, candidates, averages.inputs) - explained
    # c(x̂, x̂) = k(x̂, x̂) − |L⁻¹ k_X(x̂)|²
    prior = posterior.gp.kernel._diag(candidates)
    variance = xp.clip(prior - xp.sum(half * half, axis=0), 0.0, None) + averages.noise_var
    rounding = max(10, half.shape[0]) * epsilon(half) * prior
    has_noise = posterior.gp.noise_var > rounding
    floor = xp.where(has_noise, xp.zeros_like(prior), 10.0 * rounding)
    return Candidates(half, mean_covariance, variance, floor)
