"""The best action of each state, and which one where several are as good."""

from __future__ import annotations

from ...ground.xp import Matrix, Vector, array_namespace

__all__ = ["first_best"]


def first_best(action_values: Matrix, slack: float = 0.0) -> Vector:
    """Return the first action of each state whose value is within a slack of the best.

    Parameters
    ----------
    action_values : Matrix, shape (S, A)
        The values.
    slack : float, default 0
        What an action may lack. Above the rounding of the values it makes the choice the same on
        every machine.

    Returns
    -------
    Vector, shape (S,)
        The actions, whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> first_best(np.asarray([[1.0, 1.0 + 1e-15], [0.0, 2.0]]), slack=1e-12)
    array([0, 1])
    """
    xp = array_namespace(action_values)
    if slack == 0.0:
        return xp.argmax(action_values, axis=1)
    enough = xp.max(action_values, axis=1, keepdims=True) - slack
    return xp.argmax(xp.astype(action_values >= enough, xp.int32), axis=1)
