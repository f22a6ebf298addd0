"""The base class of our likelihoods: the checks of y and f, and averages over a normal f."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

from ...ground import check as _check
from ...ground.params import leaves
from ...ground.quadrature import MOST_NODES
from ...ground.xp import Array, array_namespace
from .hermite_averages import NODES, Expected, by_quadrature, points
from .predictive import log_average

__all__ = ["Bars", "LikelihoodBase"]


class Bars(NamedTuple):
    """Derivatives by a log density and by its first two derivatives by f, entry by entry.

    Parameters
    ----------
    bar, first_bar, second_bar : Array
        The derivatives, of the shape of f.
    """

    bar: Array
    first_bar: Array
    second_bar: Array

    def total(self, log_density: Array, first: Array, second: Array) -> float:
        """Return the derivative by a parameter: the sum of each times the parameter's effect on it.

        Parameters
        ----------
        log_density, first, second : Array
            The derivatives of the log density and of its slopes by the parameter.
        """
        xp = array_namespace(self.bar)
        terms = self.bar * log_density + self.first_bar * first + self.second_bar * second
        return float(xp.sum(terms))


class LikelihoodBase(ABC):
    """The density of an observation y given f, and its derivatives in f, entry by entry.

    y and f are finite, of one kind and one shape; y may be a single number, or end in an axis of
    length one where f has nodes on its last, as under `quadrature.expect`.

    Notes
    -----
    The public methods check their arguments once; each class brings ``_log_density``,
    ``_derivatives`` and ``_predict``, which check nothing, and may say in ``_observable`` which y
    there are. One with parameters brings ``_bar`` and ``_derivatives_bar``, one whose averages have
    closed forms ``_expected`` and ``_log_predictive``. A likelihood of yours may do without all
    this: its contract is `contracts.Likelihood`.
    """

    @abstractmethod
    def _log_density(self, y: Array, f: Array) -> Array:
        """The hook behind `log_density`."""

    @abstractmethod
    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """The hook behind `derivatives`."""

    @abstractmethod
    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """The hook behind `predict`."""

    def _value_and_slope(self, y: Array, f: Array) -> tuple[Array, Array]:
        """The log density and its first derivative, for those who need no more."""
        return self._log_density(y, f), self._slope(y, f)

    def _slope(self, y: Array, f: Array) -> Array:
        """The first derivative alone."""
        return self._derivatives(y, f)[0]

    def _bar(self, y: Array, f: Array, bar: Array) -> Self:
        """``Σ bar ∂ log p(y | f)/∂θ`` in the place of each parameter θ; here there are none."""
        return self

    def _derivatives_bar(self, y: Array, f: Array, bars: Bars) -> Self:
        """The hook behind `derivatives_bar`, for one with parameters."""
        return self

    def _expected(self, y: Array, mean: Array, variance: Array, nodes: int) -> Expected:
        """The average of the log density and its slopes."""
        given = (*self._centred(y, mean), variance, nodes, self._unit or 1.0)
        return by_quadrature(self._value_and_slope, self._curvature, *given)

    def _expected_bar(self, y: Array, mean: Array, variance: Array, bar: Array, nodes: int) -> Self:
        """Carry derivatives by the averages to the parameters, where there are some."""
        if not leaves(self):
            return self
        y, mean = self._centred(y, mean)
        f, weights, _ = points(mean, variance, nodes)
        y = array_namespace(f).broadcast_to(y[..., None], f.shape)
        return self._bar(y, f, bar[..., None] * weights)

    def _curvature(self, y: Array, f: Array) -> Array:
        return self._derivatives(y, f)[1]

    def _log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """The hook behind `log_predictive`."""
        given = (*self._centred(y, mean), variance, self._unit or 1.0)
        return log_average(self._log_density, self._slope, *given)

    @property
    def _unit(self) -> float | None:
        """The scale of y − f, where y and f count by it alone; None where f itself counts."""
        return None

    def _centred(self, y: Array, level: Array) -> tuple[Array, Array]:
        """y and the level of f, less that level if only y − f counts: far from 0, f is rounded."""
        if self._unit is None:
            return y, level
        return y - level, array_namespace(level).zeros_like(level)

    def log_density(self, y: Array, f: Array) -> Array:
        """Evaluate ``log p(y | f)``, entry by entry.

        Parameters
        ----------
        y : Array, or float
            The observations, of the shape of f, or one for all.
        f : Array
            The values of f.
        """
        return self._log_density(self._validate(y, f), f)

    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """Differentiate `log_density` by f, three times.

        Parameters
        ----------
        y, f
            As in `log_density`.

        Returns
        -------
        tuple of Array
            The first, the second and the third derivatives, each of the shape of f.
        """
        return self._derivatives(self._validate(y, f), f)

    def pullback(self, y: Array, f: Array, bar: Array) -> tuple[Self, Array]:
        """Carry derivatives by `log_density` back to the parameters and f.

        Parameters
        ----------
        y, f
            As in `log_density`.
        bar : Array
            The derivatives by the log densities, of the shape of f.

        Returns
        -------
        likelihood_bar : LikelihoodBase
            A likelihood of this class that holds ``Σ bar ∂ log p(y | f)/∂θ`` in the place of each
            parameter θ; this one where there is none.
        f_bar : Array
            The derivatives by f.
        """
        y = self._validate(y, f)
        _check.cotangent(bar, "bar", f)
        return self._bar(y, f, bar), bar * self._derivatives(y, f)[0]

    def derivatives_bar(
        self, y: Array, f: Array, bar: Array, first_bar: Array, second_bar: Array
    ) -> Self:
        """Carry derivatives by the log density and its first two slopes back to the parameters.

        Parameters
        ----------
        y, f
            As in `log_density`.
        bar, first_bar, second_bar : Array
            The derivatives by ``log p(y | f)`` and by its first and second derivative by f, of the
            shape of f each.

        Returns
        -------
        LikelihoodBase
            One of this class that holds ``Σ bar ∂ℓ/∂θ + first_bar ∂ℓ′/∂θ + second_bar ∂ℓ″/∂θ``,
            for ``ℓ = log p(y | f)``, in the place of each parameter θ; this one where there is
            none.

        Notes
        -----
        A fit under Laplace's approximation needs this of the parameters: they move the density, the
        mode and the curvature there.
        """
        y = self._validate(y, f)
        bars = Bars(bar, first_bar, second_bar)
        for name, given in bars._asdict().items():
            _check.cotangent(given, name, f)
        return self._derivatives_bar(y, f, bars)

    def expected_log_density(
        self, y: Array, mean: Array, variance: Array, nodes: int = NODES
    ) -> Array:
        """Average the log density, ``E log p(y | f)`` for ``f ~ N(mean, variance)``, by entry.

        In closed form where there is one, else by Gauss-Hermite quadrature.

        Parameters
        ----------
        y : Array, or float
            The observations, of the shape of `mean`, or one for all.
        mean, variance : Array
            The moments of f, of one shape.
        nodes : int, default 20
            The nodes of the rule, from 2 to 350.
        """
        return self.expected(y, mean, variance, nodes).value

    def expected_derivatives(
        self, y: Array, mean: Array, variance: Array, nodes: int = NODES
    ) -> tuple[Array, Array]:
        """Differentiate `expected_log_density` by mean and by variance, entry by entry.

        The derivatives are ``E ∂ log p/∂f`` and ``½ E ∂² log p/∂f²``, but for the error of the
        rule.

        Parameters
        ----------
        y, mean, variance, nodes
            As in `expected_log_density`.

        Returns
        -------
        by_mean, by_variance : Array
            The derivatives, of the shape of `mean` each.

        Notes
        -----
        Source: Opper & Archambeau (2009).
        """
        _, by_mean, by_variance = self.expected(y, mean, variance, nodes)
        return by_mean, by_variance

    def expected(self, y: Array, mean: Array, variance: Array, nodes: int = NODES) -> Expected:
        """Evaluate `expected_log_density` and `expected_derivatives` at once, by one rule."""
        y = self._validate_average(y, mean, variance)
        return self._expected(y, mean, variance, _check.whole(nodes, "nodes", 2, MOST_NODES))

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """Evaluate ``log E p(y | f)`` for ``f ~ N(mean, variance)``: how likely y was, f averaged.

        In closed form where there is one, else by a rule that follows the peaks of p(y | f),
        however narrow they are, to some 1e-9 of the average.

        Parameters
        ----------
        y, mean, variance
            As in `expected_log_density`.

        Returns
        -------
        Array
            The log densities of y, of the shape of `mean`.
        """
        y = self._validate_average(y, mean, variance)
        return self._log_predictive(y, mean, variance)

    def predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Find the mean and the variance of y for ``f ~ N(mean, variance)``, entry by entry.

        They are ``E E[y | f]`` and ``E var[y | f] + var E[y | f]``.

        Parameters
        ----------
        mean, variance : Array
            The moments of f, of one shape.

        Returns
        -------
        mean, variance : Array
            Those of y, of the same shape.
        """
        _check.mean_and_variance(mean, variance)
        return self._predict(mean, variance)

    def expected_bar(
        self, y: Array, mean: Array, variance: Array, bar: Array, nodes: int = NODES
    ) -> Self:
        """Carry derivatives by `expected_log_density` back to the parameters.

        Parameters
        ----------
        y, mean, variance, nodes
            As in `expected_log_density`.
        bar : Array
            The derivatives by the averages, of the shape of `mean`.

        Returns
        -------
        LikelihoodBase
            One of this class that holds ``Σ bar ∂ E log p(y | f)/∂θ`` in the place of each
            parameter θ; this one where there is none.
        """
        y = self._validate_average(y, mean, variance)
        _check.cotangent(bar, "bar", mean)
        return self._expected_bar(
            y, mean, variance, bar, _check.whole(nodes, "nodes", 2, MOST_NODES)
        )

    def _validate_average(self, y: Array, mean: Array, variance: Array) -> Array:
        xp = _check.mean_and_variance(mean, variance)
        y = self._validate(y, mean)
        return y if getattr(y, "ndim", 0) else xp.full_like(mean, float(y))

    def _validate(self, y: Array, f: Array) -> Array:
        """y, if it goes with f and can be observed."""
        _check.finite(_check.floating(f, "f"), "f")
        if getattr(y, "ndim", 0) == 0:
            return self._observable(y if hasattr(y, "dtype") else _check.number(y, "y"))
        _check.alike(_check.floating(y, "y"), "y", f, "f")
        nodes = f.ndim > 1 and y.shape == (*f.shape[:-1], 1)
        if y.shape != f.shape and not nodes:
            raise ValueError(f"y must have the shape of f, {tuple(f.shape)}; got {tuple(y.shape)}")
        return self._observable(y)

    def _observable(self, y: Any) -> Any:
        return _check.finite(y, "y")
