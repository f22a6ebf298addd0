"""What our likelihoods share: the checks of y and f, and averages over a normal f."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeAlias

from ...ground import check as _check
from ...ground.xp import Array
from ..contracts import Likelihood
from .averages import NODES, Expected, by_quadrature
from .predictive import log_average

__all__ = ["LikelihoodBase", "unchecked"]


class LikelihoodBase(ABC):
    """The density of an observation y given f, and its derivatives in f, entry by entry.

    y and f are finite, of one kind and one shape; y may be a single number, or end in an axis of
    length one where f has nodes on its last, as under `quadrature.expect`. What does not fit is a
    `ValueError` or a `TypeError` that names it. The public methods check this once; each class
    brings ``_log_density``, ``_derivatives`` and ``_predict``, which check nothing, and may say in
    ``_observable`` which y there are. One with parameters brings ``_bar``, one whose averages have
    closed forms ``_expected`` and ``_log_predictive``. A likelihood of yours may do without all
    this: what is asked of one is `contracts.Likelihood`.
    """

    @abstractmethod
    def _log_density(self, y: Array, f: Array) -> Array:
        """What `log_density` returns."""

    @abstractmethod
    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """What `derivatives` returns."""

    @abstractmethod
    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """What `predict` returns."""

    def _value_and_slope(self, y: Array, f: Array) -> tuple[Array, Array]:
        """The log density and its first derivative, for those who need no more."""
        return self._log_density(y, f), self._derivatives(y, f)[0]

    def _bar(self, y: Array, f: Array, bar: Array) -> Self:
        """``Σ bar ∂ log p(y | f)/∂θ`` in the place of each parameter θ; here there are none."""
        return self

    def _expected(self, y: Array, mean: Array, variance: Array, nodes: int) -> Expected:
        """The average of the log density and its slopes."""
        return by_quadrature(self._value_and_slope, self._curvature, y, mean, variance, nodes)

    def _curvature(self, y: Array, f: Array) -> Array:
        return self._derivatives(y, f)[1]

    def _log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """What `log_predictive` returns."""
        return log_average(self._value_and_slope, y, mean, variance)

    def log_density(self, y: Array, f: Array) -> Array:
        """``log p(y | f)``."""
        return self._log_density(self._validate(y, f), f)

    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """The first three derivatives of `log_density` by f."""
        return self._derivatives(self._validate(y, f), f)

    def pullback(self, y: Array, f: Array, bar: Array) -> tuple[Self, Array]:
        """``(likelihood_bar, f_bar)`` for derivatives `bar`, of the shape of f, by `log_density`.

        ``likelihood_bar`` is a likelihood of this class that holds ``Σ bar ∂ log p(y | f)/∂θ`` in
        the place of each parameter θ, and is this one where there is none.
        """
        y = self._validate(y, f)
        _check.cotangent(bar, "bar", f)
        return self._bar(y, f, bar), bar * self._derivatives(y, f)[0]

    def expected_log_density(
        self, y: Array, mean: Array, variance: Array, nodes: int = NODES
    ) -> Array:
        """``E log p(y | f)`` for ``f ~ N(mean, variance)``, entry by entry.

        In closed form where there is one, else by Gauss-Hermite with so many `nodes`, from 2. y has
        the shape of `mean`. Raises `ValueError` for a negative variance.
        """
        return self._average(y, mean, variance, nodes).value

    def expected_derivatives(
        self, y: Array, mean: Array, variance: Array, nodes: int = NODES
    ) -> tuple[Array, Array]:
        """The derivatives of `expected_log_density` by mean and by variance, entry by entry.

        They are ``E ∂ log p/∂f`` and ``½ E ∂² log p/∂f²``, but for the error of the rule.
        Source: Opper & Archambeau (2009).
        """
        _, by_mean, by_variance = self._average(y, mean, variance, nodes)
        return by_mean, by_variance

    def _average(self, y: Any, mean: Array, variance: Array, nodes: int) -> Expected:
        y = self._validate_average(y, mean, variance)
        return self._expected(y, mean, variance, _check.whole(nodes, "nodes", 2))

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """``log E p(y | f)`` for ``f ~ N(mean, variance)``: how likely y was, f being averaged.

        In closed form where there is one, else by a rule that follows the peaks of p(y | f),
        however narrow they are, to some 1e-9 of the average. y has the shape of `mean`. Raises
        `ValueError` for a negative variance.
        """
        y = self._validate_average(y, mean, variance)
        return self._log_predictive(y, mean, variance)

    def predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Mean and variance of y for ``f ~ N(mean, variance)``, entry by entry.

        ``E E[y | f]`` and ``E var[y | f] + var E[y | f]``. Raises `ValueError` for a negative
        variance.
        """
        _check.mean_and_variance(mean, variance)
        return self._predict(mean, variance)

    def _validate_average(self, y: Any, mean: Array, variance: Array) -> Array:
        xp = _check.mean_and_variance(mean, variance)
        y = self._validate(y, mean)
        return y if getattr(y, "ndim", 0) else xp.full_like(mean, float(y))

    def _validate(self, y: Any, f: Array) -> Any:
        """y, if it goes with f and can be observed."""
        _check.finite(_check.floating(f, "f"), "f")
        if getattr(y, "ndim", 0) == 0:
            return self._observable(y if _is_array(y) else _check.number(y, "y"))
        _check.alike(_check.floating(y, "y"), "y", f, "f")
        nodes = f.ndim > 1 and y.shape == (*f.shape[:-1], 1)
        if y.shape != f.shape and not nodes:
            raise ValueError(f"y must have the shape of f, {f.shape}; got {y.shape}")
        return self._observable(y)

    def _observable(self, y: Any) -> Any:
        return _check.finite(y, "y")


LogDensity: TypeAlias = Callable[[Array, Array], Array]
Derivatives: TypeAlias = Callable[[Array, Array], tuple[Array, Array, Array]]


def unchecked(likelihood: Likelihood) -> tuple[LogDensity, Derivatives]:
    """`log_density` and `derivatives` of a likelihood, without their checks if they are ours.

    For work that goes through them again and again, on the way to a mode, with a y that was
    validated once.
    """
    log_density, derivatives = likelihood.log_density, likelihood.derivatives
    if isinstance(likelihood, LikelihoodBase):
        kind = type(likelihood)
        if kind.log_density is LikelihoodBase.log_density:
            log_density = likelihood._log_density
        if kind.derivatives is LikelihoodBase.derivatives:
            derivatives = likelihood._derivatives
    return log_density, derivatives


def _is_array(y: Any) -> bool:
    return hasattr(y, "dtype") and hasattr(y, "ndim")
