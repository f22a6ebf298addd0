"""Expected variance of a prediction after a fantasy observation, in full and in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ground import check as _check
from ...ground.showing import summary
from ...ground.xp import Matrix, Stack, Vector, array_namespace, diagonal, eye
from ...infer.exact import ExactPosterior
from ..moments.kernel_expectations import _kernel_covariance
from ..moments.prediction import _predict
from ..moments.predictors import _predictor, require_constant_mean
from .input_averages import (
    Averages,
    Candidates,
    UncertainInput,
    at_candidates,
    average_over,
    chunks,
    validate_inputs,
    validate_posterior,
    validate_posteriors,
)
from .reductions import reductions_of_outputs

__all__ = [
    "VarianceParts",
    "expected_covariance",
    "expected_variance",
    "expected_variance_parts",
]

_PORTION = 128  # candidates in a portion: of all their pairs only the diagonal is used


class VarianceParts(NamedTuple):
    """The two parts of an expected variance by the law of total variance.

    Parameters
    ----------
    of_function : Vector, shape (k,)
        ``E_x V_f[f(x) | ŷ]``, how little the function is known where x may be; it depends on where
        one looks and not on the value observed.
    of_input : Vector, shape (k,)
        ``E_ŷ V_x[E_f[f(x) | ŷ]]``, how much the mean function varies over x.
    """

    of_function: Vector
    of_input: Vector

    def __repr__(self) -> str:
        return summary(self)

    @property
    def total(self) -> Vector:
        """Their sum, ``E_ŷ V_{x,f}[f(x) | ŷ]``."""
        return self.of_function + self.of_input


def expected_variance(
    posterior: ExactPosterior,
    m: Vector | Matrix,
    S: Matrix | Stack,
    candidates: Matrix,
    noise: bool = False,
) -> Vector:
    """Return the variance of an uncertain prediction that a fantasy at each candidate leaves.

    Parameters
    ----------
    posterior : ExactPosterior
        The model of the output, with a constant mean or none.
    m : Vector, shape (D,)
        Mean of the uncertain input.
    S : Matrix, shape (D, D)
        Its covariance, which may be singular or zero.
    candidates : Matrix, shape (k, D)
        Where one might observe.
    noise : bool, default False
        If True, the variance is that of a new y at x.

    Returns
    -------
    Vector, shape (k,)
        ``E_ŷ V_{x,f}[f(x) | ŷ]`` of ``x ~ N(m, S)``.

    Raises
    ------
    TypeError
        If `posterior` is not a single one, its mean is not constant, its kernel is neither RBF nor
        a sum of RBF, `noise` is not a bool, or an array is not of the kind of the data.

    Notes
    -----
    The variance as it is less the `variance_reduction`, [eq-pi-criterion]; O(n³ + n² (D + k)).

    Source: van der Wilk, McAllister & Rasmussen (2016), equation 3.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> expected_variance(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).round(4)
    array([0.702 , 0.4999])
    """
    return expected_covariance([validate_posterior(posterior)], m, S, candidates, noise)[:, 0, 0]


def expected_covariance(
    posteriors: Sequence[ExactPosterior],
    m: Vector | Matrix,
    S: Matrix | Stack,
    candidates: Matrix,
    noise: bool = False,
) -> Stack:
    """Return the covariance of E uncertain outputs that a fantasy of all of them leaves.

    Outputs are independent functions of one uncertain x, which ties them to each other.

    Parameters
    ----------
    posteriors : sequence of E ExactPosterior
        The model of each output, with a constant mean or none.
    m, S, candidates
        As in `expected_variance`.
    noise : bool, default False
        If True, the covariance is that of new observations at x.

    Returns
    -------
    Stack, shape (k, E, E)
        The expected covariance for each candidate. A variance that rounding took below zero is
        zero.

    Raises
    ------
    TypeError
        If `posteriors` is something else, a mean is not constant, a kernel is neither RBF nor a
        sum of RBF, `noise` is not a bool, or an array is not of the kind of the data.

    Notes
    -----
    An observation at x̂ takes from the diagonal, nothing from the rest:
    ``Cov[f(x)] − diag(reduction)``, [eq-pi-outputs]. O(E n³ + E² n² D + E n² k).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> at = np.ones(1), np.eye(1), np.asarray([[2.0]])
    >>> expected_covariance([posterior, posterior], *at).round(4)
    array([[[0.4999, 0.0913],
            [0.0913, 0.4999]]])
    """
    models = validate_posteriors(posteriors)
    noise = _check.flag(noise, "noise")
    for e, model in enumerate(models):
        require_constant_mean(model, f"posteriors[{e}]")
    inputs = _one_input(models, m, S, candidates)
    reductions = reductions_of_outputs(models, inputs, candidates)
    xp = array_namespace(candidates)
    unobserved = _predict(_predictor(models), *inputs[0], noise).covariance
    variances = xp.clip(diagonal(unobserved)[None, :] - reductions, 0.0, None)
    same = eye(len(models), candidates)
    return (unobserved * (1.0 - same))[None, :, :] + variances[:, :, None] * same[None, :, :]


def expected_variance_parts(
    posterior: ExactPosterior,
    m: Vector | Matrix,
    S: Matrix | Stack,
    candidates: Matrix,
    noise: bool = False,
) -> VarianceParts:
    """Return `expected_variance` in its two parts, for a fantasy at each candidate.

    Arguments and errors are those of `expected_variance`.

    Returns
    -------
    VarianceParts
        The part of the function and that of the input, (k,) each. With `noise`, that of an
        observation counts with the function.

    Notes
    -----
    With ``c(x, x̂)`` the posterior covariance and ``s = c(x̂, x̂) + σ_n²`` the fantasy takes
    ``E_x[c²]/s`` from the function's part, [eq-pi-expected-after], and adds ``V_x[c]/s`` to
    the input's, [eq-pi-final], since it makes the mean function livelier; the difference is
    the `variance_reduction`. O(n³ + n² k + n k D).

    Source: van der Wilk, McAllister & Rasmussen (2016), equations 4 to 18; the last one corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> parts = expected_variance_parts(posterior, np.ones(1), np.eye(1), np.asarray([[2.0]]))
    >>> parts.of_function.round(4), parts.of_input.round(4)
    (array([0.2845]), array([0.2154]))
    """
    models = [validate_posterior(posterior)]
    noise = _check.flag(noise, "noise")
    require_constant_mean(posterior, "posterior")
    inputs = _one_input(models, m, S, candidates)
    averages = average_over(posterior, inputs)
    kernel = posterior.gp.kernel
    X = posterior.X
    xp = array_namespace(X)
    C = _kernel_covariance(kernel, kernel, X, X, *inputs[0])
    # E_x V_f[f(x)] = k(x, x) − tr(K_y⁻¹ E_x k_Xx k_xX), and E k k = C + E k E k
    half_means = averages.half_means
    explained = xp.sum(posterior.cholesky.inverse() * C) + xp.sum(half_means * half_means)
    of_function = kernel._diag(X[:1, :]) - explained + (posterior.gp.noise_var if noise else 0.0)
    of_input = xp.sum(posterior.alpha * (C @ posterior.alpha))
    reductions, increases = [], []
    for rows in chunks(averages, candidates, most=_PORTION):
        at_rows = at_candidates(averages, rows)
        variation = _mean_variation(averages, at_rows, C, rows)
        increases.append(at_rows.over_variance(variation))
        reductions.append(at_rows.over_variance(variation + at_rows.mean_covariance[0, :] ** 2))
    function = xp.clip(of_function - xp.concat(reductions), 0.0, None)
    return VarianceParts(function, of_input + xp.concat(increases))


def _one_input(
    models: list[ExactPosterior], m: Vector, S: Matrix, candidates: Matrix
) -> list[UncertainInput]:
    """The uncertain input, if it is one."""
    if getattr(m, "ndim", 1) != 1:
        raise ValueError(f"m must have shape ({models[0].X.shape[1]},); got {tuple(m.shape)}")
    return validate_inputs(models, m, S, candidates)


def _mean_variation(averages: Averages, candidates: Candidates, C: Matrix, rows: Matrix) -> Vector:
    """``V_x[c(x, x̂)]``, (k,): a quadratic form in ``(K_y⁻¹ k_X(x̂), −1)``, not a difference."""
    xp = array_namespace(rows)
    posterior = averages.posterior
    kernel = posterior.gp.kernel
    m, S = averages.inputs[0]
    beta = posterior.cholesky._half_solve_t(candidates.half)  # K_y⁻¹ k_X(x̂)
    cross = _kernel_covariance(kernel, kernel, posterior.X, rows, m, S)
    variances = diagonal(_kernel_covariance(kernel, kernel, rows, rows, m, S))
    return xp.clip(xp.sum(beta * (C @ beta - 2.0 * cross), axis=0) + variances, 0.0, None)
