"""Targets of sampling: a log density, known up to a constant, and its zeros.

A target is a function of a vector. Samplers that ask for a gradient want value and gradient of it;
for the others the value will do, and where they get both they leave the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..ground import check as _check
from ..ground.ascent import UNEVALUABLE
from ..ground.xp import Array, Numbers, Vector, array_namespace

__all__ = ["MinibatchDensity", "Target", "log_density_and_gradient", "log_density_at", "start_at"]

Target: TypeAlias = Callable[[Vector], Any]
"""A log density of x (d,) up to a constant, as its value or its value and gradient (d,)."""

LOG_ZERO = -math.inf  # what the log density counts for where it has no value


@dataclass(frozen=True, eq=False)
class MinibatchDensity:
    """A log posterior that is a log prior and a sum over rows of data, which may be drawn.

    It is a target like any other: called, it takes all rows. `SGLD` asks it for some.

    Parameters
    ----------
    log_prior : callable
        ``log_prior(x)`` gives the log density of the prior and its gradient (d,).
    log_likelihood : callable
        ``log_likelihood(x, rows)`` gives the sum over some rows, an array of their numbers, and its
        gradient (d,); a row that stands twice counts twice.
    rows : array of int, shape (n,)
        The numbers of all rows, in the kind of array that `log_likelihood` takes.
    """

    log_prior: Callable[[Vector], tuple[Numbers, Vector]]
    log_likelihood: Callable[[Vector, Array], tuple[Numbers, Vector]]
    rows: Array

    def __post_init__(self) -> None:
        _check.function(self.log_prior, "log_prior", "a vector")
        _check.function(self.log_likelihood, "log_likelihood", "a vector and rows")
        xp = array_namespace(_check.array(self.rows, "rows"))
        if not xp.isdtype(self.rows.dtype, "integral"):
            raise TypeError(f"rows must hold whole numbers; got {self.rows.dtype}")
        if self.rows.ndim != 1 or self.rows.shape[0] == 0:
            raise ValueError(f"rows must have shape (n,), n from 1; got {tuple(self.rows.shape)}")

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """Return the log posterior up to a constant, and its gradient, from all rows."""
        return self.estimate(x, self.rows)

    def estimate(self, x: Vector, rows: Array) -> tuple[float, Vector]:
        """Estimate the log posterior from some rows, each weighted by n/m.

        Its mean over rows that are drawn at random is the log posterior; so it is of the gradient.

        Parameters
        ----------
        x : Vector, shape (d,)
            The position.
        rows : array of int, shape (m,)
            The numbers of the rows.

        Returns
        -------
        value : float
            The estimate of the log posterior up to a constant.
        gradient : Vector, shape (d,)
            The estimate of its gradient.
        """
        weight = self.rows.shape[0] / rows.shape[0]
        prior, prior_gradient = self.log_prior(x)
        likelihood, gradient = self.log_likelihood(x, rows)
        return float(prior) + weight * float(likelihood), prior_gradient + weight * gradient


def log_density_at(target: Target, x: Vector) -> float:
    """Return the log density at a vector, minus infinity where it has none.

    Parameters
    ----------
    target : callable
        The log density.
    x : Vector, shape (d,)
        The position.

    Returns
    -------
    float
        The value; NaN and an arithmetic error count as a density of zero.
    """
    try:
        answer = _asked(target, x)
    except UNEVALUABLE:
        return LOG_ZERO
    return _finite_or_log_zero(answer[0] if isinstance(answer, tuple) else answer)


def log_density_and_gradient(target: Target, x: Vector) -> tuple[float, Vector]:
    """Return the log density at a vector and its gradient, as `log_density_at` does.

    Parameters
    ----------
    target : callable
        The log density, with its gradient.
    x : Vector, shape (d,)
        The position.

    Returns
    -------
    value : float
        The value, minus infinity where value or gradient is not finite.
    gradient : Vector, shape (d,)
        The gradient, zero where there is none.
    """
    try:
        answer = _asked(target, x)
    except UNEVALUABLE:
        return LOG_ZERO, array_namespace(x).zeros_like(x)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        got = _check.kind_of(answer)
        raise TypeError(f"target must return a value and its gradient to this sampler; got {got}")
    value, gradient = _finite_or_log_zero(answer[0]), answer[1]
    xp = array_namespace(x)
    if value == LOG_ZERO or not bool(xp.all(xp.isfinite(gradient))):
        return LOG_ZERO, xp.zeros_like(x)
    return value, xp.asarray(gradient, copy=True)  # it may be written into at the next point


def _asked(target: Target, x: Vector) -> Any:
    """Return the answer of a target at a copy of a vector, since it may write into it."""
    return target(array_namespace(x).asarray(x, copy=True))


def start_at(
    target: Target, position: Vector, *, gradient: bool, name: str = "position"
) -> tuple[float, Vector | None]:
    """Return the log density and, if asked for, the gradient where a chain starts."""
    _check.function(target, "target", "a vector")
    d = _check.vector(position, name).shape[0]
    if d == 0:
        raise ValueError(f"{name} must have at least one entry; got shape (0,)")
    try:
        answer = _asked(target, position)
    except UNEVALUABLE as problem:
        raise _check.NoValueError(f"{name} must have a log density; there is {problem}") from None
    value = _check_value(answer, name)
    if not gradient:
        return value, None
    _, slope = log_density_and_gradient(lambda x: answer, position)
    if slope.shape != (d,):
        raise ValueError(f"target must return a gradient of shape ({d},); got {tuple(slope.shape)}")
    xp = array_namespace(position)
    if not bool(xp.all(xp.isfinite(answer[1]))):
        raise _check.NoValueError(f"{name} must have a finite gradient; it is {answer[1]}")
    return value, slope


def _check_value(answer: Numbers | tuple[Numbers, Vector], name: str) -> float:
    value = answer[0] if isinstance(answer, tuple) and answer else answer
    try:
        number = float(value)
    except (TypeError, ValueError):
        got = _check.kind_of(value)
        raise TypeError(
            f"target must return a number, or a number and a gradient; got {got}"
        ) from None
    if not math.isfinite(number):
        raise _check.NoValueError(f"{name} must have a finite log density; it is {number}")
    return number


def _finite_or_log_zero(value: Numbers) -> float:
    number = float(value)
    if number == math.inf:
        raise _check.NoValueError("target must not be plus infinity: no chain would leave there")
    return LOG_ZERO if math.isnan(number) else number
