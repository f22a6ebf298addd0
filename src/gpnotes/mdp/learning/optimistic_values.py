"""First values that are too good to be true, so that everything is tried."""

from __future__ import annotations

import numpy as np

from ...ground import check as _check
from .schedules import Schedule, settled, share

__all__ = ["optimistic_value"]


def optimistic_value(
    highest: float, discount: float, rate: Schedule | float, visits: int = 0
) -> float:
    """Return a first value that stays above all true ones for so many visits of a pair.

    ``highest / (1 − γ) · ∏ (1 − α_k)^{−1}`` over the first `visits` step sizes: a visit leaves at
    least the share ``1 − α_k`` of a value, so that after so many of them ``highest / (1 − γ)`` is
    left, which no policy earns more than. Rewards must not be negative.

    Parameters
    ----------
    highest : float
        The highest reward of a step, from 0.
    discount : float
        The discount γ, in [0, 1).
    rate : Schedule or float
        The step sizes α, at counts from 0.
    visits : int, default 0
        For how many visits.

    Returns
    -------
    float
        The value.

    Raises
    ------
    ValueError
        If the discount is 1, or a step size among the first is 1: it forgets every first value. If
        an argument does not fit.

    Examples
    --------
    >>> round(optimistic_value(1.0, 0.9, 0.1, visits=2), 6)
    12.345679
    """
    highest = _check.positive(_check.number(highest, "highest"), "highest", zero=True)
    discount = share(discount, "discount")
    if discount == 1.0:
        raise ValueError(f"discount must be below 1, for values to have a bound; got {discount}")
    schedule, visits = settled(rate, "rate"), _check.whole(visits, "visits")
    rests = 1.0 - np.asarray(schedule(np.arange(float(visits))))
    if not rests.all():
        raise ValueError(
            f"rate must be below 1 at the first {visits} counts, as a step of size 1 forgets the "
            f"first value; got {rate}"
        )
    with np.errstate(over="ignore", divide="ignore"):
        value = float(np.float64(highest / (1.0 - discount)) / rests.prod())
    return _check.no_overflow(value if highest else 0.0, "visits", "the first value")
