"""Prediction at an uncertain input: the moments of f(x) for ``x ~ N(m, S)`` under a set of GPs.

The law of total variance splits the covariance of the outputs: the mean functions at a random x
covary, and each output has a variance at x, whose expectation is added to its own. Both are sums
over ``Cov[k(x_i, x), k'(x_j, x)]``, which `term_pairs` has without cancellation and `pair_sums`
sums. One implementation serves all namespaces; the tests hold it to one that takes the same sums
pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...ground import check as _check
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Namespace, Stack, Vector, array_namespace, symmetric_part
from ...model.contracts import Moments
from .input_covariance import damped_covariance, require_digits, validate_input
from .pair_sums import PairSums, sum_pairs
from .predictors import Predictor, means_alone
from .rbf_terms import TermsAtInput, pullback_q, terms_at_input
from .term_pairs import (
    End,
    PairAlgebra,
    end_at_input,
    exponents,
    pair_algebra,
    pullback_to_input,
)

__all__ = ["Moments", "predict", "predict_and_pullback"]


def predict(model: Predictor, m: Vector, S: Matrix, noise: bool = False) -> Moments:
    """Predict f at an uncertain input: mean, covariance and input-output covariance.

    Parameters
    ----------
    model : Predictor
        GPs made ready by `predictor`.
    m : Vector, shape (D,)
        Mean of the input ``x ~ N(m, S)``.
    S : Matrix, shape (D, D)
        Its covariance: any, singular, tiny or zero.
    noise : bool, default False
        If True, each output's noise variance is added to its own.

    Returns
    -------
    Moments
        Mean (E,), covariance (E, E) and input-output covariance (D, E). A variance that rounding
        took below zero is zero.

    Notes
    -----
    [eq-pi-mean], [eq-pi-expected-variance], [eq-pi-covariance], [eq-pi-cross].
    O(E² n² D) for E outputs of one kernel each. Exponents keep an absolute accuracy of some
    ``eps (x − m)²/ℓ²`` at points x within S.

    Source: Deisenroth & Rasmussen (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.decide.moments import predictor
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([1.0, 0.0])
    >>> model = predictor([condition(GP(RBF(), 0.1), X, y)])
    >>> tuple(moment.round(4) for moment in predict(model, np.ones(1), np.eye(1)))
    (array([0.21]), array([[0.4842]]), array([[-0.3597]]))
    """
    return _predict(model, m, _validate(model, m, S), _check.flag(noise, "noise"))


def predict_and_pullback(
    model: Predictor, m: Vector, S: Matrix, noise: bool = False
) -> tuple[Moments, Callable[[Moments], tuple[Vector, Matrix]]]:
    """Predict f at an uncertain input as `predict` does, and return the pullback to m and S.

    Arguments and errors are those of `predict`.

    Returns
    -------
    moments : Moments
        The result of `predict`.
    pullback : Callable
        ``pull(bar) -> (m_bar, S_bar)`` of a `Moments` of derivatives; ``S_bar`` is symmetric.

    Notes
    -----
    The pullback is finite at singular S too: it knows ``(I + SD)⁻¹`` and no inverse of S, nor
    derivatives of eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.decide.moments import predictor
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([1.0, 0.0])
    >>> model = predictor([condition(GP(RBF(), 0.1), X, y)])
    >>> _, pull = predict_and_pullback(model, np.ones(1), np.zeros((1, 1)))
    >>> m_bar, S_bar = pull(Moments(np.ones(1), np.zeros((1, 1)), np.zeros((1, 1))))
    >>> m_bar.round(4), S_bar.round(4)
    (array([-0.7923]), array([[0.3601]]))
    """
    S = _validate(model, m, S)
    noise = _check.flag(noise, "noise")
    result, pull = _predict_and_pullback(model, m, S, noise)
    return result, lambda bar: pull(_check.cotangents(bar, "bar", result))


def _validate(model: Predictor, m: Vector, S: Matrix) -> Matrix:
    if not isinstance(model, Predictor):
        wanted = "a Predictor, made by predictor(posteriors)"
        raise TypeError(f"model must be {wanted}; got {type(model).__name__}")
    return validate_input(m, S, model.X)


def _predict(model: Predictor, m: Vector, S: Matrix, noise: bool) -> Moments:
    return _match(model, m, S, noise, slopes=False).moments


def _predict_and_pullback(
    model: Predictor, m: Vector, S: Matrix, noise: bool
) -> tuple[Moments, Callable[[Moments], tuple[Vector, Matrix]]]:
    predicted = _match(model, m, S, noise, slopes=True)
    return predicted.moments, lambda bar: _pullback(model, S, predicted, bar)


class _Predicted(NamedTuple):
    """The moments and the few intermediate values that the pullback reads."""

    moments: Moments
    N: Stack
    g: Stack  # (C, D, n)
    q: Matrix  # (C, n)
    b: Matrix  # α q
    half: Stack  # (E, n, 1): L⁻¹ q
    totals: Vector  # (C,): Σ α q
    h: Matrix  # (C, D): Σ α q g
    p: Matrix  # (2P, n)
    r: Matrix | None
    slopes: tuple[Matrix, Stack] | None  # of each pair's value through Δ: (P, D) and (P, D, D)
    valid: Vector  # (E,): one, or zero where the variance was clipped


@threads_for(lambda model, *given, **how: model.X.shape[0] ** 3)
def _match(model: Predictor, m: Vector, S: Matrix, noise: bool, slopes: bool) -> _Predicted:
    xp = array_namespace(model.X)
    damped = damped_covariance(S, model.pairs.scales)
    at = terms_at_input(model.pairs.scales, model.terms, m, damped)
    algebra = pair_algebra(xp, model.pairs, damped)
    b = model.alpha * at.q
    half = model.half @ (model.term_of @ at.q)[:, :, None]
    at_mean = model.variance - xp.vecdot(half[:, :, 0], half[:, :, 0])
    first, second = _both_ends(xp, model, at, algebra)
    factors = exponents(xp, algebra, first, second)
    sums, valid = _sum_all_pairs(xp, model, at, b, factors, algebra.half_gap, at_mean, slopes)
    h = (at.g @ b[:, :, None])[:, :, 0]
    totals = xp.vecdot(model.alpha, at.q)
    moments = Moments(
        model.offset + model.term_of @ totals,
        _covariance(xp, model, sums.value, valid * at_mean, noise),
        S @ (model.term_of @ h).T,
    )
    pair_slopes = None
    if slopes:
        assert sums.r is not None
        assert sums.across is not None
        P = sums.value.shape[0]
        r_sums = sums.r[:P, :], sums.r[P:, :], sums.across
        pair_slopes = pullback_to_input(xp, model.pairs, algebra, first, second, r_sums)
    of_terms = at.N, at.g, at.q, b
    return _Predicted(
        moments, *of_terms, half, totals, h, sums.p, sums.r, slopes=pair_slopes, valid=valid
    )


def _both_ends(
    xp: Namespace, model: Predictor, at: TermsAtInput, algebra: PairAlgebra
) -> tuple[End, End]:
    """The first and the second ends of all pairs."""
    pairs = model.pairs
    P = algebra.T.shape[0]
    nu = at.nu if at.nu.shape[0] == 1 else xp.take(at.nu, pairs.ends, axis=0)
    ends = end_at_input(pairs.scales, pairs.own, algebra.A, nu)
    require_digits(xp, ends.squares, at.q, pairs.ends)
    return End(*(a[:P, ...] for a in ends)), End(*(a[P:, ...] for a in ends))


def _sum_all_pairs(
    xp: Namespace,
    model: Predictor,
    at: TermsAtInput,
    b: Matrix,
    factors: tuple[Stack, Stack],
    half_gap: Vector,
    at_mean: Vector,
    slopes: bool,
) -> tuple[PairSums, Vector]:
    """The sums of all pairs, and which outputs have a variance (E,), one or zero.

    Where rounding takes the expected variance of an output below zero, its mean is all that counts.
    """
    ends = xp.take(b, model.pairs.ends, axis=0)

    def sum_with(model: Predictor) -> PairSums:
        outer = xp.take(xp.concat([at.q, b]), model.outer_rows, axis=0)
        return sum_pairs(
            xp, model.plan, factors, outer, ends, reach=at.reach, half_gap=half_gap, slopes=slopes
        )

    sums = sum_with(model)
    variance = at_mean + model.variance_counts @ (sums.value - sums.of_means)
    if float(xp.min(variance)) > 0.0:
        return sums, xp.ones_like(variance)
    valid = variance > 0.0
    flags = [bool(valid[e]) for e in range(valid.shape[0])]
    return sum_with(means_alone(model, flags)), xp.astype(valid, b.dtype)


def _covariance(
    xp: Namespace, model: Predictor, value: Vector, at_mean: Vector, noise: bool
) -> Matrix:
    """Of the outputs, from the sums of all pairs and the variances at the mean."""
    variance = model.variance_counts @ value + at_mean
    variance = xp.maximum(variance, 0.0)
    variance = variance + model.noise_var if noise else variance
    E = variance.shape[0]
    return xp.reshape(model.cross_counts @ value, (E, E)) + model.eye * variance[:, None]


@threads_for(lambda model, *given: model.X.shape[0] ** 3)
def _pullback(
    model: Predictor, S: Matrix, predicted: _Predicted, bar: Moments
) -> tuple[Vector, Matrix]:
    """The derivatives by m and by S, which is symmetric."""
    xp = array_namespace(model.X)
    N = predicted.N
    g = predicted.g
    slopes = predicted.slopes
    assert slopes is not None
    assert predicted.r is not None
    D = S.shape[0]
    pair_bar = xp.reshape(bar.covariance, (-1,)) @ model.covariance_counts
    sum_ends = model.sum_ends * xp.concat([pair_bar, pair_bar])
    cross_bar = model.term_of.T @ bar.cross.T  # (C, D): of each term's output
    S_column = cross_bar @ S
    log_q_bar = sum_ends @ predicted.p + _log_q_bar(xp, model, predicted, bar, S_column)
    # dg = −N (dm + dS g)
    NS_column = (N @ S_column[:, :, None])[:, :, 0]
    m_bar, S_bar = pullback_q(xp, N, g, log_q_bar, log_q_bar - sum_ends @ predicted.r)
    m_bar = m_bar + pair_bar @ slopes[0] - predicted.totals @ NS_column
    by_pairs = xp.reshape(pair_bar @ xp.reshape(slopes[1], (-1, D * D)), (D, D))
    S_bar = S_bar + by_pairs + (cross_bar - NS_column).T @ predicted.h
    return m_bar, symmetric_part(S_bar)


def _log_q_bar(
    xp: Namespace, model: Predictor, predicted: _Predicted, bar: Moments, S_column: Matrix
) -> Matrix:
    """The derivatives by log q, (C, n), of means, of ``S h`` and of the variances at m."""
    E, of_terms = model.outputs, model.term_of.T
    by_mean = (of_terms @ bar.mean)[:, None] + (S_column[:, None, :] @ predicted.g)[:, 0, :]
    solved = (xp.matrix_transpose(model.half) @ predicted.half)[:, :, 0]
    variance_bar = predicted.valid * xp.reshape(bar.covariance, (-1,))[:: E + 1]
    by_variance = of_terms @ (2.0 * variance_bar[:, None] * solved)
    return predicted.b * by_mean - predicted.q * by_variance
