"""The saturating cost of a state, and its expectation when the state is uncertain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from .. import _check
from .._xp import Array, array_namespace, keep_copies
from ..moments.input_covariance import admit_input

__all__ = ["SaturatingCost"]


@dataclass(frozen=True, eq=False)
class SaturatingCost:
    """``c(x) = 1 − exp(−½ (x − t)ᵀ W (x − t))``: zero at the target, at most one far from it.

    `target` is t, (k,), and `weight` W, (k, k), symmetric and positive semidefinite, in one over
    the squared units of x; an entry of x that does not matter has a row of zeros.
    Both are copied. :eq:`eq-pc-cost`. Raises `ValueError` or `TypeError` for shapes and matrices
    that do not fit.
    Source: Deisenroth & Rasmussen (2011), equation 25.

    >>> import numpy as np
    >>> cost = SaturatingCost(np.zeros(2), np.diag(np.asarray([1.0, 0.0])))
    >>> round(cost(np.asarray([2.0, 100.0])), 4)
    0.8647
    """

    target: Array
    weight: Array

    def __post_init__(self) -> None:
        size = _check.vector(self.target, "target").shape[0]
        _check.alike(
            _check.semidefinite(self.weight, "weight", size=size), "weight", self.target, "target"
        )
        keep_copies(self, "target", "weight")

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        return tuple(array_namespace(self.weight).linalg.eigh(self.weight))

    @cached_property
    def _root(self) -> Array:
        """R (k, k) with ``W = R Rᵀ``."""
        values, vectors = self._axes
        xp = array_namespace(values)
        return vectors * xp.sqrt(xp.clip(values, 0.0, None))[None, :]

    def __call__(self, x: Array) -> float:
        """The cost of one state x (k,)."""
        _check.vector(x, "x", size=self.target.shape[0])
        _check.alike(x, "x", self.target, "target")
        xp = array_namespace(x)
        off = x - self.target
        return -float(xp.expm1(-0.5 * (off @ (self.weight @ off))))

    def expected(self, m: Array, S: Array) -> float:
        """``E c(x)`` for ``x ~ N(m, S)``, (k,) and (k, k), S singular and zero included; O(k³).

        ``1 − |I + S W|^(−½) exp(−½ (m − t)ᵀ G (m − t))`` with ``G = W (I + S W)⁻¹``,
        :eq:`eq-pc-expected-cost`. Source: Deisenroth & Rasmussen (2011), equation 24, whose
        integral this is.
        """
        return self.expected_and_pullback(m, S)[0]

    def expected_and_pullback(
        self, m: Array, S: Array
    ) -> tuple[float, Callable[[float], tuple[Array, Array]]]:
        """The same, and the function that carries a derivative back to ``(m_bar, S_bar)``.

        With ``e = 1 − E c`` and ``d = m − t`` the derivatives are ``e G d`` and
        ``½ e (G − G d dᵀ G)``, :eq:`eq-pc-cost-gradient`.
        """
        _check.alike(_check.vector(m, "m", size=self.target.shape[0]), "m", self.target, "target")
        value, pull = self._expected(m, admit_input(m, S, m[None, :]))
        return value, lambda bar: pull(_check.number(bar, "bar"))

    def _expected(self, m: Array, S: Array) -> tuple[float, Callable[[float], tuple[Array, Array]]]:
        xp, R = array_namespace(m), self._root
        # |I + S W| = |I + Rᵀ S R| and G = R (I + Rᵀ S R)⁻¹ Rᵀ: S and W may be singular
        values, vectors = xp.linalg.eigh(xp.matrix_transpose(R) @ S @ R)
        values, axes = xp.clip(values, 0.0, None), R @ vectors
        G = (axes / (1.0 + values)[None, :]) @ xp.matrix_transpose(axes)
        off = m - self.target
        pull_in = G @ off
        log_e = -0.5 * (xp.sum(xp.log1p(values)) + off @ pull_in)

        def pull(bar: float) -> tuple[Array, Array]:
            e = bar * float(xp.exp(log_e))
            return e * pull_in, 0.5 * e * (G - pull_in[:, None] * pull_in[None, :])

        return -float(xp.expm1(log_e)), pull
