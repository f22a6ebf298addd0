"""What is left of a prediction's variance after a fantasy observation, in full and in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .. import _check, _xp
from .._xp import Array, array_namespace
from ..exact import Posterior
from ..means import ConstantMean, ZeroMean
from ..moments import kernel_covariance, predict, predictor
from .gain import reduction
from .outlook import Look, Outlook, admitted, blocks, look, outlook, outputs, single

__all__ = ["Parts", "expected_covariance", "expected_parts", "expected_variance"]

_SQUARE = 128  # candidates in a portion: each meets each other, for a diagonal


class Parts(NamedTuple):
    """The two parts of an expected variance, (k,) each, by the law of total variance.

    `of_function` is ``E_x V_f[f(x) | ŷ]``, how little the function is known where x may be; it
    depends on where one looks and not on what one sees. `of_input` is ``E_ŷ V_x[E_f[f(x) | ŷ]]``,
    how much the mean function varies over x.
    """

    of_function: Array
    of_input: Array

    @property
    def total(self) -> Array:
        """Their sum, ``E_ŷ V_{x,f}[f(x) | ŷ]``."""
        return self.of_function + self.of_input


def expected_variance(
    posterior: Posterior, m: Array, S: Array, candidates: Array, noise: bool = False
) -> Array:
    """``E_ŷ V_{x,f}[f(x) | ŷ]`` of ``x ~ N(m, S)`` for a fantasy at each candidate (k, D), (k,).

    The variance as it is less the `reduction`, :eq:`eq-pi-criterion`; with `noise` that of a new y
    at x. One uncertain input: m (D,), S (D, D). O(n³ + n² (D + k)). Raises what `reduction`,
    `moments.predictor` and `moments.predict` raise.
    Source: van der Wilk, McAllister & Rasmussen (2016), equation 3.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> expected_variance(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).round(4)
    array([0.702 , 0.4999])
    """
    return expected_covariance([single(posterior)], m, S, candidates, noise)[:, 0, 0]


def expected_covariance(
    posteriors: Sequence[Posterior], m: Array, S: Array, candidates: Array, noise: bool = False
) -> Array:
    """The expected covariance of E outputs after a fantasy of all of them, (k, E, E).

    Outputs are independent functions of one uncertain x, which ties them to each other. An
    observation at x̂ takes from the diagonal, nothing from the rest:
    ``Cov[f(x)] − diag(reduction)``, :eq:`eq-pi-outputs`. A variance that rounding took below zero
    is zero. With `noise` the covariance is that of new observations at x.
    O(E n³ + E² n² D + E n² k). Raises what `expected_variance` raises.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> at = np.ones(1), np.eye(1), np.asarray([[2.0]])
    >>> expected_covariance([posterior, posterior], *at).round(4)
    array([[[0.4999, 0.0913],
            [0.0913, 0.4999]]])
    """
    models, noise = outputs(posteriors), _check.flag(noise, "noise")
    _check.vector(m, "m", size=models[0].X.shape[1])
    falls, xp = reduction(models, m, S, candidates), array_namespace(candidates)
    before = predict(predictor(models), m, S, noise).covariance
    variances = xp.clip(_xp.diagonal(before)[None, :] - falls, 0.0, None)
    eye = _xp.eye(len(models), candidates)
    return (before * (1.0 - eye))[None, :, :] + variances[:, :, None] * eye[None, :, :]


def expected_parts(
    posterior: Posterior, m: Array, S: Array, candidates: Array, noise: bool = False
) -> Parts:
    """`expected_variance` in its two parts, for a fantasy at each candidate (k, D).

    With ``c(x, x̂)`` the posterior covariance and ``s = c(x̂, x̂) + σ_n²`` the fantasy takes
    ``E_x[c²]/s`` from the function's part, :eq:`eq-pi-expected-after`, and adds ``V_x[c]/s`` to
    the input's, since it makes the mean function livelier; the difference is the `reduction`.
    With `noise`, that of an observation counts with the function. O(n³ + n² k + n k D). Raises
    what `expected_variance` raises.
    Source: van der Wilk, McAllister & Rasmussen (2016), equations 4 to 18; the last one corrected.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> parts = expected_parts(posterior, np.ones(1), np.eye(1), np.asarray([[2.0]]))
    >>> parts.of_function.round(4), parts.of_input.round(4)
    (array([0.2845]), array([0.2154]))
    """
    models, noise = outputs(single(posterior)), _check.flag(noise, "noise")
    if not isinstance(posterior.gp.mean, ZeroMean | ConstantMean):
        raise TypeError(f"posterior must have a constant mean or none; got {posterior.gp.mean!r}")
    _check.vector(m, "m", size=models[0].X.shape[1])
    view = outlook(posterior, admitted(models, m, S, candidates))
    kernel, X, factor = posterior.gp.kernel, posterior.X, posterior.cholesky
    xp, C = array_namespace(X), kernel_covariance(kernel, kernel, X, X, m, S)
    explained = xp.sum(factor.inverse() * C) + xp.sum(view.half_means * view.half_means)
    of_function = kernel.diag(X[:1, :]) - explained + (posterior.gp.noise_var if noise else 0.0)
    of_input = xp.sum(posterior.alpha * (C @ posterior.alpha))
    taken, added = [], []
    for rows in blocks(view, candidates, most=_SQUARE):
        here = look(view, rows)
        varied = _varied(view, here, C, rows)
        added.append(here.over(varied))
        taken.append(here.over(varied + here.cross[0, :] ** 2))
    function = xp.clip(of_function - xp.concat(taken), 0.0, None)
    return Parts(function, of_input + xp.concat(added))


def _varied(view: Outlook, here: Look, C: Array, rows: Array) -> Array:
    """``V_x[c(x, x̂)]``, (k,): a quadratic form in ``(K_y⁻¹ k_X(x̂), −1)``, not a difference."""
    xp, posterior, (m, S) = array_namespace(rows), view.posterior, view.states[0]
    kernel, onto = posterior.gp.kernel, posterior.cholesky.half_solve_t(here.half)
    with_data = kernel_covariance(kernel, kernel, posterior.X, rows, m, S)
    own = _xp.diagonal(kernel_covariance(kernel, kernel, rows, rows, m, S))
    return xp.clip(xp.sum(onto * (C @ onto - 2.0 * with_data), axis=0) + own, 0.0, None)
