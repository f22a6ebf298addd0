"""What beliefs would be worth if some of the information were free: upper bounds of their value."""

from __future__ import annotations

from collections.abc import Callable

from ..ground import check as _check
from ..ground.xp import Matrix, array_namespace
from .alpha_vectors import Planes, discounted
from .pomdp import POMDP

__all__ = ["informed", "qmdp"]

Backup = Callable[[Matrix], Matrix]


def qmdp(pomdp: POMDP, *, tolerance: float = 1e-8, most: int = 100_000) -> Planes:
    """Return what beliefs would be worth if the state were seen after the first step.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.
    tolerance : float, default 1e-8
        How far each plane may be from the limit; it is above it.
    most : int, default 100000
        How many backups at most.

    Returns
    -------
    Planes
        One plane an action, [eq-be-qmdp]; nowhere below the best value.

    Raises
    ------
    ValueError
        If the discount is one or `tolerance` not positive.
    RuntimeError
        If so many backups did not suffice.

    Notes
    -----
    A backup costs A·S². Source: Littman, Cassandra & Kaelbling (1995).
    """

    def once(planes: Matrix) -> Matrix:
        xp = array_namespace(planes)
        best = xp.max(planes, axis=0)
        ahead = xp.stack([pomdp.moves[a, ...] @ best for a in range(pomdp.mdp.actions)])
        return xp.matrix_transpose(pomdp.mdp.rewards) + pomdp.mdp.discount * ahead

    return _fixed(pomdp, once, tolerance, most)


def informed(pomdp: POMDP, *, tolerance: float = 1e-8, most: int = 100_000) -> Planes:
    """Return what beliefs would be worth if each state were seen one step late.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.
    tolerance : float, default 1e-8
        How far each plane may be from the limit; it is above it.
    most : int, default 100000
        How many backups at most.

    Returns
    -------
    Planes
        One plane an action, [eq-be-informed]; nowhere below the best value, nor above `qmdp`.

    Raises
    ------
    ValueError
        If the discount is one or `tolerance` not positive.
    RuntimeError
        If so many backups did not suffice.

    Notes
    -----
    The fast informed bound: a backup costs A²·O·S². Source: Hauskrecht (2000).
    """

    def once(planes: Matrix) -> Matrix:
        xp = array_namespace(planes)
        rows = []
        for a in range(pomdp.mdp.actions):
            row = pomdp.mdp.rewards[:, a]
            for kind in range(pomdp.kinds):
                weights = pomdp.moves[a, ...] * pomdp.observations[a, :, kind][None, :]
                ahead = weights @ xp.matrix_transpose(planes)
                row = row + pomdp.mdp.discount * xp.max(ahead, axis=1)
            rows.append(row)
        return xp.stack(rows)

    return _fixed(pomdp, once, tolerance, most)


def _fixed(pomdp: POMDP, once: Backup, tolerance: float, most: int) -> Planes:
    """The fixed point of a backup from above: what a step lowers, the rest lowers by γ/(1 − γ)."""
    discount = discounted(pomdp).mdp.discount
    _check.positive(_check.number(tolerance, "tolerance"), "tolerance")
    most = _check.whole(most, "most", 1)
    rewards = pomdp.mdp.rewards
    xp = array_namespace(rewards)
    planes = xp.matrix_transpose(xp.full_like(rewards, float(xp.max(rewards)) / (1.0 - discount)))
    for _ in range(most):
        new = once(planes)
        left = float(xp.max(xp.abs(new - planes))) * discount
        planes = new
        if left <= tolerance * (1.0 - discount):
            return Planes(planes, tuple(range(pomdp.mdp.actions)))
    raise RuntimeError(f"most must allow more backups than {most} for this tolerance")
