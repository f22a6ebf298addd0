"""Greedy policies: the best action of each state, and which one where several are as good."""

from __future__ import annotations

from ..ground.xp import Matrix, Namespace, Vector, array_namespace

__all__ = ["chosen_values", "greedy_policy", "max_over_actions"]

_FEW = 64  # columns, up to which a maximum of columns is faster than one of each row


def greedy_policy(action_values: Matrix, tolerance: float = 0.0) -> Vector:
    """Return the first action of each state whose value is within a tolerance of the best.

    Parameters
    ----------
    action_values : Matrix, shape (S, A)
        The values.
    tolerance : float, default 0
        The loss that an action may have. Above the rounding of the values it makes the choice the
        same on every machine.

    Returns
    -------
    Vector, shape (S,)
        The actions, whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> greedy_policy(np.asarray([[1.0, 1.0 + 1e-15], [0.0, 2.0]]), tolerance=1e-12)
    array([0, 1])
    """
    xp = array_namespace(action_values)
    if tolerance == 0.0:
        return xp.argmax(action_values, axis=1)
    close = action_values >= max_over_actions(action_values, xp)[:, None] - tolerance
    if int(xp.count_nonzero(close)) == action_values.shape[0]:  # one in each row
        return xp.nonzero(close)[1]
    return xp.argmax(xp.astype(close, xp.int8), axis=1)


def max_over_actions(action_values: Matrix, xp: Namespace) -> Vector:
    """Return the largest entry of each row of a matrix (S, A) of a namespace, as a vector (S,)."""
    columns = action_values.shape[1]
    if columns > _FEW:
        return xp.max(action_values, axis=1)
    best = action_values[:, 0]
    for a in range(1, columns):
        best = xp.maximum(best, action_values[:, a])
    return best


def chosen_values(action_values: Matrix, policy: Vector, xp: Namespace) -> Vector:
    """Return the value (S,) of the action that a policy (S,) takes in each state."""
    return xp.take_along_axis(action_values, policy[:, None], axis=1)[:, 0]
