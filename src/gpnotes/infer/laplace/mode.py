"""Newton's steps to the mode of latent values, each halved for as long as it leads downhill."""

from __future__ import annotations

from collections.abc import Callable

from ...ground import check as _check
from ...ground.xp import Array, Matrix, array_namespace, epsilon

__all__ = ["mode_of"]

_MOST_STEPS, _MOST_HALVINGS = 200, 20


def mode_of(
    K: Matrix,
    mean: Array,
    value: Callable[[Array, Array], float],
    newton: Callable[[Array], Array],
    doubt: str,
) -> tuple[Array, int]:
    """The ``f = m + K α`` of the largest value, and the steps it took.

    Parameters
    ----------
    K : Matrix, shape (n, n)
        The prior covariance.
    mean : Array, shape (n,) or (n, c)
        The prior mean m, of one function or of several, a column each.
    value : callable
        The log posterior up to a constant, of α and f.
    newton : callable
        The α at the maximum of the quadratic that touches it at f, [eq-la-newton].
    doubt : str
        The question in the error where no mode is found.

    Returns
    -------
    f : Array
        The mode, in the shape of `mean`.
    steps : int
        The number of steps.

    Raises
    ------
    ValueError
        If there is no mode after as many steps as are allowed.
    """
    xp = array_namespace(K)
    alpha, f = xp.zeros_like(mean), mean
    here = value(alpha, f)
    eps = epsilon(K)
    for step in range(1, _MOST_STEPS + 1):
        toward = newton(f) - alpha
        for halvings in range(_MOST_HALVINGS):
            tried = alpha + 0.5**halvings * toward
            new = mean + K @ tried
            there = value(tried, new)
            if there >= here - 10.0 * eps * (1.0 + abs(here) + _summed(K, tried)):
                break
        moved = float(xp.max(xp.abs(new - f)))
        size = 1.0 + float(xp.max(xp.abs(f)))
        alpha, f, here = tried, new, there
        if halvings == 0 and moved <= eps**0.5 * size:  # Newton squares it: √eps leaves eps
            return f, step
    wanted = f"the mode must be found in {_MOST_STEPS} Newton steps"
    raise _check.NoValueError(f"{wanted}; it was not: {doubt}")


def _summed(K: Matrix, alpha: Array) -> float:
    """``|α|ᵀ |K| |α|``: the sizes of all that ``αᵀ K α`` sums, which it is rounded by."""
    xp = array_namespace(K)
    size = xp.abs(alpha)
    return float(xp.sum(size * (xp.abs(K) @ size)))
