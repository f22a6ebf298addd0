"""First values that are too good to be true, so that everything is tried."""

from __future__ import annotations

import numpy as np

from ...ground import check as _check
from ...ground import memory
from .schedules import Schedule, as_schedule, fraction

__all__ = ["optimistic_value"]


def optimistic_value(
    max_reward: float, discount: float, step_size: Schedule | float, num_visits: int = 0
) -> float:
    """Return a first value that stays above all true ones for so many visits of a pair.

    ``max_reward / (1 − γ) · ∏ (1 − α_k)^{−1}`` over the first `num_visits` step sizes: a visit
    leaves at least the share ``1 − α_k`` of a value, so that after so many of them
    ``max_reward / (1 − γ)`` is left, which no policy earns more than. Rewards must not be negative.

    Parameters
    ----------
    max_reward : float
        The highest reward of a step, from 0.
    discount : float
        The discount γ, in [0, 1).
    step_size : Schedule or float
        The step sizes α, at counts from 0.
    num_visits : int, default 0
        For how many visits.

    Raises
    ------
    ValueError
        If the discount is 1, or a step size among the first is 1: it forgets every first value. If
        an argument does not fit.

    Examples
    --------
    >>> round(optimistic_value(1.0, 0.9, 0.1, num_visits=2), 6)
    12.345679
    """
    max_reward = _check.number(max_reward, "max_reward")
    _check.positive(max_reward, "max_reward", zero=True)
    discount = fraction(discount, "discount")
    if discount == 1.0:
        raise ValueError(f"discount must be below 1, for values to have a bound; got {discount}")
    schedule = as_schedule(step_size, "step_size")
    num_visits = memory.count(num_visits, "num_visits", 0, each=3)
    kept_shares = 1.0 - np.asarray(schedule(np.arange(float(num_visits))))
    if not kept_shares.all():
        raise ValueError(
            f"step_size must be below 1 at the first {num_visits} counts, as a step of size 1 "
            f"forgets the first value; got {step_size}"
        )
    with np.errstate(over="ignore", divide="ignore"):
        value = float(np.float64(max_reward / (1.0 - discount)) / kept_shares.prod())
    return _check.no_overflow(value if max_reward else 0.0, "num_visits", "the first value")
