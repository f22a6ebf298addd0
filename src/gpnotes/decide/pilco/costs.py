"""Costs of a state or an action, and their expectations where it is uncertain.

A cost is a function of one vector, ``cost(x)`` for x (k,), with its expectation where that vector
is uncertain: ``cost.expected_and_pullback(m, S)`` returns ``E c(x)`` for ``x ~ N(m, S)`` and the
function that carries a derivative back to ``(m_bar, S_bar)``. Costs add up and take weights, see
`composed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...ground import check as _check
from ...ground.showing import summary
from ...ground.xp import Matrix, Vector, array_namespace, keep_copies
from .composed import ComposableCost, Pull

__all__ = ["QuadraticCost", "SaturatingCost"]


class _TargetCost(ComposableCost):
    """A cost of how far x is from a target, in the units of a weight matrix."""

    target: Vector
    weight: Matrix

    def __post_init__(self) -> None:
        size = _check.vector(self.target, "target").shape[0]
        weight = _check.semidefinite(self.weight, "weight", size=size)
        _check.alike(weight, "weight", self.target, "target")
        keep_copies(self, "target", "weight")

    def expected(self, m: Vector, S: Matrix) -> float:
        """Return the expected cost ``E c(x)`` for ``x ~ N(m, S)``; O(k³).

        Arguments and errors are those of `expected_and_pullback`.
        """
        return self.expected_and_pullback(m, S)[0]

    def expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        """Return the expected cost ``E c(x)`` for ``x ~ N(m, S)``, and its pullback to m and S.

        Parameters
        ----------
        m : Vector, shape (k,)
            Mean of x.
        S : Matrix, shape (k, k)
            Its covariance, singular and zero included.

        Returns
        -------
        value : float
            The expected cost.
        pullback : Callable
            It carries a derivative back to ``(m_bar, S_bar)``.
        """
        _check.alike(_check.vector(m, "m", size=self.target.shape[0]), "m", self.target, "target")
        value, pull = self._expected_and_pullback(m, _check.normal(m, S))
        return value, lambda bar: pull(_check.number(bar, "bar"))

    def _expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        raise NotImplementedError

    def _off(self, x: Vector) -> Vector:
        """Return x less the target, once its shape is checked."""
        _check.vector(x, "x", size=self.target.shape[0])
        _check.alike(x, "x", self.target, "target")
        return x - self.target


@dataclass(frozen=True, eq=False)
class SaturatingCost(_TargetCost):
    """Cost that is zero at a target and at most one far from it.

    ``c(x) = 1 − exp(−½ (x − t)ᵀ W (x − t))``, [eq-pc-cost].

    Parameters
    ----------
    target : Vector, shape (k,)
        The target t; it is copied.
    weight : Matrix, shape (k, k)
        The matrix W, symmetric and positive semidefinite, in one over the squared units of x; an
        entry of x that does not matter has a row of zeros. It is copied.

    Notes
    -----
    With ``G = W (I + S W)⁻¹`` and ``d = m − t`` the expectation for ``x ~ N(m, S)`` is ``1 − e``,
    ``e = |I + S W|^(−½) exp(−½ dᵀ G d)``, [eq-pc-expected-cost], and its derivatives are
    ``e G d`` and ``½ e (G − G d dᵀ G)``, [eq-pc-cost-gradient].

    Source: Deisenroth & Rasmussen (2011), equations 25 and 24, whose integral this is.

    Examples
    --------
    >>> import numpy as np
    >>> cost = SaturatingCost(np.zeros(2), np.diag(np.asarray([1.0, 0.0])))
    >>> round(cost(np.asarray([2.0, 100.0])), 4)
    0.8647
    """

    target: Vector
    weight: Matrix

    __repr__ = summary

    @cached_property
    def _axes(self) -> tuple[Vector, Matrix]:
        values, vectors = array_namespace(self.weight).linalg.eigh(self.weight)
        return values, vectors

    @cached_property
    def _root(self) -> Matrix:
        """R (k, k) with ``W = R Rᵀ``."""
        values, vectors = self._axes
        xp = array_namespace(values)
        return vectors * xp.sqrt(xp.clip(values, 0.0, None))[None, :]

    def __call__(self, x: Vector) -> float:
        """Return the cost of one state or action x (k,)."""
        d = self._off(x)
        return -float(array_namespace(x).expm1(-0.5 * (d @ (self.weight @ d))))

    def _expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        xp = array_namespace(m)
        R = self._root
        # |I + S W| = |I + Rᵀ S R| and G = R (I + Rᵀ S R)⁻¹ Rᵀ: S and W may be singular
        values, vectors = xp.linalg.eigh(R.T @ S @ R)
        values = xp.maximum(values, 0.0)
        axes = R @ vectors
        G = (axes / (1.0 + values)) @ axes.T
        d = m - self.target
        Gd = G @ d
        log_e = -0.5 * (xp.sum(xp.log1p(values)) + d @ Gd)

        def pull(bar: float) -> tuple[Vector, Matrix]:
            e = bar * float(xp.exp(log_e))
            return e * Gd, 0.5 * e * (G - Gd[:, None] * Gd[None, :])

        return -float(xp.expm1(log_e)), pull


@dataclass(frozen=True, eq=False)
class QuadraticCost(_TargetCost):
    """Quadratic cost of a state or, in a `StepCost`, of an action's effort.

    ``c(x) = (x − t)ᵀ W (x − t)``.

    Parameters
    ----------
    target : Vector, shape (k,)
        The target t; it is copied.
    weight : Matrix, shape (k, k)
        The matrix W, symmetric and positive semidefinite, in units of the cost over the squared
        units of x. It is copied.

    Notes
    -----
    With ``x = m + ε``, ``E ε = 0`` and ``E ε εᵀ = S``, and with ``d = m − t``,

        E c(x) = dᵀ W d + 2 dᵀ W E ε + E εᵀ W ε = dᵀ W d + tr(W S):

    exact whatever the distribution of x is, once m and S are. The derivatives are ``2 W d`` by m
    and W by S.

    Examples
    --------
    >>> import numpy as np
    >>> cost = QuadraticCost(np.ones(1), np.asarray([[3.0]]))
    >>> cost(np.asarray([3.0])), cost.expected(np.asarray([3.0]), np.eye(1))
    (12.0, 15.0)
    """

    target: Vector
    weight: Matrix

    __repr__ = summary

    def __call__(self, x: Vector) -> float:
        """Return the cost of one state or action x (k,)."""
        d = self._off(x)
        return float(d @ (self.weight @ d))

    def _expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        xp = array_namespace(m)
        d = m - self.target
        slope = self.weight @ d
        value = float(d @ slope + xp.sum(self.weight * S))
        return value, lambda bar: (2.0 * bar * slope, bar * self.weight)
