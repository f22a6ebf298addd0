"""What noisy measurements say about a process."""

from __future__ import annotations

from collections.abc import Iterable

from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.linalg import cholesky
from ...ground.xp import Matrix, Numbers, Vector, array_namespace
from ...infer.exact import GP, Posterior
from . import _validate
from .criteria import Information

__all__ = ["information_gain", "marginal_gains"]


def information_gain(gp: GP | Posterior, X: Matrix, noise_var: Numbers | None = None) -> float:
    """``I(f; y) = ½ log |I + N^-½ K N^-½|`` for measurements of X (n, d), in nats; O(n³).

    :eq:`eq-al-information`.

    `noise_var` is the diagonal of N: a float, an array (n,), or that of the process. For a
    posterior, K is its covariance, and the result is what y adds to the data. No rows have no
    information. Raises `ValueError` or `TypeError` for inputs that do not fit and for noise that is
    zero.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> round(information_gain(GP(RBF(), 1.0), np.zeros((1, 1))), 4)
    0.3466
    """
    _validate.candidates(gp, X)
    noise = _validate.noise_of(gp, X, noise_var, positive=True)
    n = X.shape[0]
    xp = array_namespace(X)
    if n == 0:
        return 0.0
    name = "I + N^-½ K N^-½"
    memory.require_square(n, copies=4, like=X, what=name)
    K = gp.kernel(X) if isinstance(gp, GP) else gp.covariance(X)
    root = xp.sqrt(noise)
    return 0.5 * cholesky(_xp.eye(n, X) + K / root[:, None] / root[None, :], name=name).log_det


def marginal_gains(
    gp: GP | Posterior, X: Matrix, chosen: Iterable[int] = (), noise_var: Numbers | None = None
) -> Vector:
    """What one more measurement adds to the information of those `chosen`, for all X, (n,) in nats.

    ``½ log(1 + s²(x) / σ²(x))``, :eq:`eq-al-gain-gaussian` and :eq:`eq-al-gain-heteroscedastic`,
    with the variance s² of f given y at the chosen rows of X, which may be measured again. O(n k²)
    for k of them. Raises what `information_gain`
    raises.

    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> marginal_gains(GP(RBF(), 1.0), np.asarray([[0.0], [1.0]]), chosen=[0]).round(4)
    array([0.2027, 0.2983])
    """
    _validate.candidates(gp, X)
    noise = _validate.noise_of(gp, X, noise_var, positive=True)
    rows = _check.entries(chosen, "chosen", X.shape[0], "X", repeat=True)
    criterion = Information(gp, X, noise, len(rows))
    for j in rows:
        criterion.add(j)
    return criterion.gains()
