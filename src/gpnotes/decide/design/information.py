"""Information that noisy measurements have about a process."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.linalg import _cholesky, warn_of_jitter
from ...ground.xp import MatrixLike, Numbers, Vector, array_namespace, eye
from ...infer.exact import GP, ExactPosterior
from . import design_checks
from .criteria import Information

__all__ = ["information_gain", "marginal_gains"]


@takes("X")
def information_gain(
    gp: GP | ExactPosterior, X: MatrixLike, noise_var: Numbers | None = None
) -> float:
    """Return the information that measurements of X have about f, in nats.

    Parameters
    ----------
    gp : GP or ExactPosterior
        A prior, or a posterior: then the result is the information of y on top of its data.
    X : Matrix, shape (n, d)
        Where y is measured. No rows have no information.
    noise_var : float or Vector, shape (n,), optional
        The diagonal of N, that of the process unless it is given.

    Notes
    -----
    ``I(f; y) = ½ log |I + N^-½ K N^-½|``, [eq-al-information], with the covariance K of f at
    X, given the data of a posterior; O(n³).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> round(information_gain(GP(RBF(), 1.0), np.zeros((1, 1))), 4)
    0.3466
    """
    design_checks.candidates(gp, X)
    noise = design_checks.noise_of(gp, X, noise_var, positive=True)
    n = X.shape[0]
    xp = array_namespace(X)
    if n == 0:
        return 0.0
    name = "I + N^-½ K N^-½"
    memory.require_square(n, copies=4, like=X, what=name)
    K = design_checks.covariance_at(gp, X)
    root = xp.sqrt(noise)
    least = float(xp.min(noise))
    if not math.isfinite(float(xp.max(xp.abs(K))) / least):
        raise _check.NoValueError(f"noise_var must be larger: K / noise_var overflows; got {least}")
    factor = _cholesky(eye(n, X) + K / root[:, None] / root[None, :], name=name)
    warn_of_jitter(factor.jitter, name)
    return 0.5 * factor.log_det


@takes("X")
def marginal_gains(
    gp: GP | ExactPosterior,
    X: MatrixLike,
    chosen: Iterable[int] = (),
    noise_var: Numbers | None = None,
) -> Vector:
    """Return the gain in information of one more measurement, for each candidate.

    Parameters
    ----------
    gp : GP or ExactPosterior
        A prior, or a posterior: then its data are taken into account.
    X : Matrix, shape (n, d)
        The candidates.
    chosen : iterable of int, default ()
        The k rows of X that are measured; they may be measured again.
    noise_var : float or Vector, shape (n,), optional
        The variance of a measurement, one for all or one for each candidate; that of the process
        unless it is given.

    Returns
    -------
    Vector, shape (n,)
        The gains, in nats.

    Notes
    -----
    ``½ log(1 + s²(x) / σ²(x))``, [eq-al-gain-gaussian] and [eq-al-gain-heteroscedastic],
    with the variance s² of f given y at the chosen rows; O(n k²).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> marginal_gains(GP(RBF(), 1.0), np.asarray([[0.0], [1.0]]), chosen=[0]).round(4)
    array([0.2027, 0.2983])
    """
    design_checks.candidates(gp, X)
    noise = design_checks.noise_of(gp, X, noise_var, positive=True)
    rows = _check.entries(chosen, "chosen", X.shape[0], "X", repeat=True)
    criterion = Information(gp, X, noise, len(rows))
    for j in rows:
        criterion.add(j)
    return criterion.gains()
