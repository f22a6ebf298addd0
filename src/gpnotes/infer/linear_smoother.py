"""A posterior mean as a linear smoother: its weights, its degrees of freedom, its cross-validation.

Given the hyperparameters, the posterior mean is linear in the observations. Their
smoother is therefore a matrix, and everything here is a view of that matrix; all of it comes from
the Cholesky factor that an exact posterior has.
"""

from __future__ import annotations

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import takes
from ..ground.xp import Matrix, MatrixLike, array_namespace, diagonal, eye, in_double
from .exact import ExactPosterior

__all__ = ["degrees_of_freedom", "generalised_cross_validation", "hat_matrix"]


@takes("Xs")
def hat_matrix(posterior: ExactPosterior, Xs: MatrixLike | None = None) -> Matrix:
    """Return the weights H (n*, n) by which observations enter the posterior mean, a place a row.

    Parameters
    ----------
    Xs : Matrix, shape (n*, d), or None
        The places; None for the inputs themselves, where H is (n, n) and symmetric.

    Returns
    -------
    Matrix, shape (n*, n)
        The weights.

    Notes
    -----
    ``f̄_* = m(Xs) + H (y − m(X))`` with ``H = K_*f K_y⁻¹``, [eq-sm-hat]; m is the prior's
    mean. At the inputs themselves ``H = I − σ_n² K_y⁻¹``, [eq-sm-residual]. Jitter counts as
    noise. Costs O(n² n*), or O(n³) at the inputs. Source: Rasmussen & Williams (2006), section 2.6.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X = np.asarray([[0.0], [1.0]])
    >>> posterior = condition(GP(RBF(), 0.5), X, np.asarray([3.0, 0.0]))
    >>> hat_matrix(posterior).round(4)
    array([[0.6015, 0.1611],
           [0.1611, 0.6015]])
    """
    _validate(posterior)
    if Xs is None:
        return eye(posterior.X.shape[0], posterior.X) - _noise(posterior) * _inverse(posterior)
    posterior.validate_inputs(Xs)
    n, n_new = posterior.X.shape[0], Xs.shape[0]
    memory.require(n_new, n, copies=3, like=Xs, what="the hat matrix")
    weights = posterior.cholesky._solve(posterior.gp.kernel._gram(posterior.X, Xs))
    return array_namespace(weights).matrix_transpose(weights)


def degrees_of_freedom(posterior: ExactPosterior) -> float:
    """Count how many free numbers the mean at the inputs is worth, from 0 to n readings.

    Returns
    -------
    float
        The trace of the hat matrix; a mean of the prior, which is given, counts for nothing.

    Raises
    ------
    TypeError
        If `posterior` is no exact posterior.
    ValueError
        If its readings have a noise of their own each.

    Notes
    -----
    ``tr H = n − σ_n² tr K_y⁻¹``, [eq-sm-df]. Costs O(n³), without H.
    Source: Rasmussen & Williams (2006), section 2.6.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> far_apart = np.asarray([[0.0], [100.0]])
    >>> degrees_of_freedom(condition(GP(RBF(3.0), 1.0), far_apart, np.ones(2)))
    1.5
    """
    n = _validate(posterior).X.shape[0]
    return n - _noise(posterior) * _trace(posterior)


def generalised_cross_validation(posterior: ExactPosterior) -> float:
    """Return the mean squared error of leaving one out, with one leverage for all; less is better.

    Returns
    -------
    float
        The score, in the units of y squared.

    Raises
    ------
    TypeError
        If `posterior` is no exact posterior.
    ValueError
        If its readings have a noise of their own each.

    Notes
    -----
    ``(|y − f̄|² / n) / (1 − tr H / n)²``, which is ``n |α|² / (tr K_y⁻¹)²``, [eq-sm-gcv], and
    so has a value without noise, too. The exact errors, each with its own leverage, are y less the
    mean of `ExactPosterior.leave_one_out`. Costs O(n³). Source: Golub, Heath & Wahba (1979).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> far_apart, y = np.asarray([[0.0], [100.0]]), np.asarray([1.0, 3.0])
    >>> generalised_cross_validation(condition(GP(RBF(3.0), 1.0), far_apart, y))
    5.0
    """
    n = _validate(posterior).X.shape[0]
    # for its error alone: readings with a noise of their own each have no common leverage
    _noise(posterior)
    alpha = _check.squarable(posterior.alpha, "the alpha of posterior")
    # α over the mean of diag K_y⁻¹, where leaving one out divides by each entry
    errors = alpha * (n / _trace(posterior))
    return float(array_namespace(errors).mean(errors * errors))


def _validate(posterior: ExactPosterior) -> ExactPosterior:
    return _check.instance(posterior, "posterior", ExactPosterior)


def _noise(posterior: ExactPosterior) -> float:
    """Return the variance on K_y's diagonal on top of the kernel, the same for all readings."""
    variance = posterior.reading_noise.variance
    if not isinstance(variance, float):
        wanted = "one whose readings have one noise, not one of their own each"
        raise ValueError(f"posterior must be {wanted}")
    return variance + posterior.cholesky.jitter


def _inverse(posterior: ExactPosterior) -> Matrix:
    memory.require_of_rows(
        posterior.X.shape[0], like=posterior.X, copies=3, what="the inverse of K_y"
    )
    return posterior.cholesky.inverse()


def _trace(posterior: ExactPosterior) -> float:
    """``tr K_y⁻¹``, worked out in float64 where the device has it."""
    precisions = in_double(diagonal(_inverse(posterior)))
    return float(array_namespace(precisions).sum(precisions))
