"""Fantasy observations: how much one more observation would sharpen an uncertain prediction.

For ``x ~ N(m, S)`` the prediction of f(x) is uncertain since x is, and since f is. An observation ŷ
that we imagine at x̂ leaves, on average over its possible values,

    E_ŷ V_{x,f}[f(x) | ŷ] = V_{x,f}[f(x)] − (E_x c(x, x̂))² / (c(x̂, x̂) + σ_n²),

with the posterior covariance c, [eq-pi-reduction]: one squared covariance over one variance.
The data enter through their inputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ...ground import check as _check
from ...ground.threads import threads_for
from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace
from ...infer.exact import ExactPosterior
from ..moments.kernel_expectations import _kernel_mean_and_pullback
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

__all__ = [
    "Posteriors",
    "mean_covariance",
    "reductions_and_pullbacks",
    "reductions_of_output",
    "reductions_of_outputs",
    "variance_reduction",
    "variance_reduction_and_pullback",
]

Posteriors = ExactPosterior | Sequence[ExactPosterior]
Pull = Callable[[Array], tuple[Matrix, Array, Array]]


def mean_covariance(
    posterior: ExactPosterior, m: Vector | Matrix, S: Matrix | Stack, candidates: Matrix
) -> Vector | Matrix:
    """Return the covariance of f averaged over an uncertain x with f at each candidate.

    Parameters
    ----------
    posterior : ExactPosterior
        The model of the output.
    m : Vector, shape (D,), or Matrix, shape (T, D)
        Mean of the uncertain input, or means of T of them.
    S : Matrix, shape (D, D), or Stack, shape (T, D, D)
        Its covariance, which may be singular or zero.
    candidates : Matrix, shape (k, D)
        The candidates.

    Returns
    -------
    Vector, shape (k,), or Matrix, shape (T, k)
        ``E_x c(x, x̂)``; a row for each of T uncertain inputs.

    Raises
    ------
    TypeError
        If `posterior` is not a single one, an array is not of the kind of the data, or a kernel is
        neither RBF nor a sum of RBF.

    Notes
    -----
    It costs as much as `variance_reduction`.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> mean_covariance(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).round(4)
    array([0.0501, 0.4829])
    """
    models = [validate_posterior(posterior)]
    averages = average_over(posterior, validate_inputs(models, m, S, candidates))
    rows_of_chunks = chunks(averages, candidates)
    columns = [at_candidates(averages, rows).mean_covariance for rows in rows_of_chunks]
    covariance = array_namespace(candidates).concat(columns, axis=1)
    return covariance if m.ndim == 2 else covariance[0, :]


def variance_reduction(
    posteriors: Posteriors, m: Vector | Matrix, S: Matrix | Stack, candidates: Matrix
) -> Vector | Matrix:
    """Return how much the variance of f(x) falls on average by one observation at each candidate.

    Parameters
    ----------
    posteriors : ExactPosterior or sequence of E ExactPosterior
        The model of the output, or one for each of E outputs. Outputs are independent, so an
        observation of one says nothing about another.
    m : Vector, shape (D,), or Matrix, shape (T, D)
        Mean of the uncertain input ``x ~ N(m, S)``, or means of T of them, whose reductions are
        added.
    S : Matrix, shape (D, D), or Stack, shape (T, D, D)
        Its covariance, which may be singular or zero.
    candidates : Matrix, shape (k, D)
        Where one might observe.

    Returns
    -------
    Vector, shape (k,), or Matrix, shape (k, E)
        The reductions, in squared units of the output; for a sequence of posteriors one column an
        output. Their sum over outputs, or a weighted one, is ``variance_reduction(...) @ weights``.

    Raises
    ------
    TypeError
        If `posteriors` is something else, an array is not of the kind of the data, or a kernel is
        neither RBF nor a sum of RBF.

    Notes
    -----
    ``(E_x c(x, x̂))² / (c(x̂, x̂) + σ_n²)``, [eq-pi-reduction]. The noise of the fantasy is
    that of the data. Without noise nothing is learnt at an input that was observed: zero there,
    exactly; the value next to it is another, that of observing a slope. Noise that is lost in the
    rounding of K_y, at most ``max(10, n) eps k(x̂, x̂)``, counts as none. O(n² k + T (n² + k n +
    (n + k) D²)) an output.

    Source: van der Wilk, McAllister & Rasmussen (2016), the sum of equations 7 and 18, with its
    correction.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> variance_reduction(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).round(4)
    array([0.0131, 0.2153])
    """
    models = validate_posteriors(posteriors)
    columns = reductions_of_outputs(models, validate_inputs(models, m, S, candidates), candidates)
    return columns[:, 0] if isinstance(posteriors, ExactPosterior) else columns


def reductions_of_outputs(
    models: list[ExactPosterior], inputs: list[UncertainInput], candidates: Matrix
) -> Matrix:
    """Return the reductions of each output, (k, E), without checks."""
    columns = [reductions_of_output(average_over(model, inputs), candidates) for model in models]
    return array_namespace(candidates).stack(columns, axis=1)


def reductions_of_output(averages: Averages, candidates: Matrix) -> Vector:
    """The reductions of one output, (k,), in portions."""
    reductions = [at_candidates(averages, rows).reduction for rows in chunks(averages, candidates)]
    return array_namespace(candidates).concat(reductions)


def variance_reduction_and_pullback(
    posteriors: Posteriors, m: Vector | Matrix, S: Matrix | Stack, candidates: Matrix
) -> tuple[Array, Pull]:
    """Return `variance_reduction` and its pullback to candidates, m and S.

    Arguments and errors are those of `variance_reduction`.

    Returns
    -------
    reduction : Vector, shape (k,), or Matrix, shape (k, E)
        The reductions.
    pullback : Callable
        It takes a cotangent of the shape of the reductions and returns
        ``(candidates_bar, m_bar, S_bar)``, the last one symmetric. Where nothing is left to
        observe, all derivatives are zero.

    Notes
    -----
    [eq-pi-gradient]. O(n² (k + T) + T (n k + (n + k) D²)) an output; nothing is in chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> at = np.ones(1), np.eye(1), np.asarray([[2.0]])
    >>> value, pull = variance_reduction_and_pullback(posterior, *at)
    >>> pull(np.ones(1))[0].round(4)
    array([[-0.1379]])
    """
    models = validate_posteriors(posteriors)
    several = not isinstance(posteriors, ExactPosterior)
    inputs = validate_inputs(models, m, S, candidates)
    pairs = reductions_and_pullbacks(models, inputs, candidates)
    values = [value for value, _ in pairs]
    result = array_namespace(candidates).stack(values, axis=1) if several else values[0]

    def pullback(bar: Array) -> tuple[Array, Array, Array]:
        """The derivatives by candidates, m and S."""
        _check.cotangent(bar, "bar", result)
        columns = [bar[:, e] for e in range(len(pairs))] if several else [bar]
        bars = [pull(column) for (_, pull), column in zip(pairs, columns, strict=True)]
        x_bar, m_bar, S_bar = (sum(part[1:], start=part[0]) for part in zip(*bars, strict=True))
        return (x_bar, m_bar, S_bar) if m.ndim == 2 else (x_bar, m_bar[0, :], S_bar[0, :, :])

    return result, pullback


def reductions_and_pullbacks(
    models: list[ExactPosterior], inputs: list[UncertainInput], candidates: Matrix
) -> list[tuple[Vector, Pull]]:
    """Return the reductions of each output, (k,), and their pullbacks, without checks."""
    return [_with_pullback(average_over(model, inputs), candidates) for model in models]


def _with_pullback(averages: Averages, inputs: Matrix) -> tuple[Array, Pull]:
    candidates = at_candidates(averages, inputs)
    return candidates.reduction, lambda bar: _pullback(averages, candidates, inputs, bar)


@threads_for(lambda averages, candidates, x, bar: averages.half_means.shape[0] ** 2 * x.shape[0])
def _pullback(
    averages: Averages, candidates: Candidates, x: Matrix, bar: Array
) -> tuple[Array, Array, Array]:
    """The derivatives by the candidates x (k, D), and by the T inputs' means and covariances.

    With the covariance averaged over x, ``g = E k_x̂x − qᵀK_y⁻¹K_Xx̂``, the observation's variance
    ``s = k_x̂x̂ − diag K_x̂X K_y⁻¹ K_Xx̂ + σ_n²`` and ``ρ = g/s``:
    ``g_bar = 2 ρ bar``, ``s_bar = −Σ_t ρ² bar``,
    ``K_bar = −K_y⁻¹(q g_bar + 2 K_Xx̂ diag s_bar)`` and ``q_bar = −K_y⁻¹K_Xx̂ g_barᵀ``.
    """
    xp = array_namespace(x)
    posterior = averages.posterior
    factor = posterior.cholesky
    kernel = posterior.gp.kernel
    rho = candidates.over_variance(candidates.mean_covariance)
    covariance_bar = 2.0 * rho * bar
    variance_bar = -xp.sum(rho * rho, axis=0) * bar
    beta = factor._half_solve_t(candidates.half)  # K_y⁻¹ K_Xx̂
    K_bar = -factor._half_solve_t(averages.half_means) @ covariance_bar - 2.0 * beta * variance_bar
    q_bar = -beta @ xp.matrix_transpose(covariance_bar)
    x_bar = cast(Matrix, kernel._pullback(posterior.X, x, K_bar)[2])  # k_x̂x̂ is the same at all x̂
    m_bars, S_bars = [], []
    for t, uncertain in enumerate(averages.inputs):
        _, pull_candidates = _kernel_mean_and_pullback(kernel, x, *uncertain)
        _, pull_data = _kernel_mean_and_pullback(kernel, posterior.X, *uncertain)
        x_bar_t, m_bar, S_bar = pull_candidates(covariance_bar[t, :])
        _, m_bar_of_data, S_bar_of_data = pull_data(q_bar[:, t])
        x_bar = x_bar + x_bar_t
        m_bars.append(m_bar + m_bar_of_data)
        S_bars.append(S_bar + S_bar_of_data)
    return x_bar, xp.stack(m_bars), xp.stack(S_bars)
