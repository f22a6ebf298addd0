"""Waves on an interval as inducing variables of Matérn kernels: variational Fourier features.

A Matérn process solves a stochastic differential equation, so that the inner product of its space
of functions is an integral over the interval and a form of the state at its start. With it u is
the product of f with a wave, and ``cov(u, f(x))`` is the wave itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.params import cotangent
from ...ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    diagonal,
    eye,
    symmetric_part,
    to_numpy,
)
from ...model.contracts import MeanFunction
from ...model.kernels import Matern12, Matern32, Matern52
from .waves import WaveVariables

__all__ = ["IntervalHarmonics"]

Matern = Matern12 | Matern32 | Matern52

_PANEL = 16  # Gauss-Legendre nodes of a panel, of which there are four for the shortest wave
_STENCIL = 9  # Chebyshev nodes for derivatives at an end


@dataclass(frozen=True, eq=False, repr=False)
class IntervalHarmonics(WaveVariables[Matern]):
    """Products of f with waves on an interval, for a Matérn kernel with ν of 1/2, 3/2 or 5/2.

    ``uₘ = ⟨f, φₘ⟩`` in the space of functions of the kernel on [low, high], where φ is
    ``cos ω(x − low)`` or ``sin ω(x − low)`` with ``ω = 2πn / (high − low)``, the cosines of all
    orders first and then the sines of each but 0. So ``cov(u, f(x)) = φ(x)``, without
    hyperparameters, and K_uu is diagonal but for a matrix of rank one to three. M is 2R, or 2R − 1
    where 0 is an order. There are no inputs to move; inputs off the interval are refused.

    Parameters
    ----------
    orders : Vector, shape (R,)
        The orders n, distinct whole numbers from 0, in floats of the data's dtype; copied.
    low, high : float
        The ends of the interval. All waves have the same value at both, and the same derivatives,
        as f has not, and no number of waves mends that: take an interval wider than the data by
        three lengthscales at either end, where this is as good as forgotten.

    Notes
    -----
    With ``λ = √(2ν)/ℓ``, ``p = ν + ½`` and ``⟨g, h⟩ = ∫ (λ + ∂)ᵖg (λ + ∂)ᵖh dx / q + sₐᵀ P⁻¹ tₐ``,
    where s and t are the values and p − 1 derivatives of g and h at the start, P is their
    covariance under the kernel and q is 2λσ_f², 4λ³σ_f² or 16λ⁵σ_f²/3: K_uu has
    ``(high − low) (λ² + ω²)ᵖ / 2q`` on its diagonal, twice that for n = 0, plus ``SᵀP⁻¹S``.

    Source: Hensman, Durrande & Solin (2018), section 3, with the inner products of Durrande,
    Hensman, Rattray & Lawrence (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, Matern32, condition
    >>> from gpnotes.infer import sparse
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> u = IntervalHarmonics(np.arange(12.0), -2.0, 8.0)
    >>> posterior = condition(sparse.SparseGP(GP(Matern32(), 0.01), u), X, np.sin(X[:, 0]))
    >>> posterior.mean(np.asarray([[1.5]])).round(2)
    array([1.])
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high"):
            object.__setattr__(self, name, _check.number(getattr(self, name), name))
        if not self.low < self.high:
            raise ValueError(f"low must be below high, {self.high}; got {self.low}")

    @property
    def circle(self) -> tuple[float, float]:
        """The start, and how long the interval is."""
        return self.low, self.high - self.low

    def require_places(self, X: Matrix, name: str = "X") -> Matrix:
        """Inputs, if they lie on the interval."""
        xp = array_namespace(super().require_places(X, name))
        if X.shape[0] and (float(xp.min(X)) < self.low or float(xp.max(X)) > self.high):
            off = float(xp.min(X)), float(xp.max(X))
            raise ValueError(
                f"{name} must lie from low, {self.low}, to high, {self.high}; it goes from"
                f" {off[0]} to {off[1]}"
            )
        return X

    def require_kernel(self, kernel: Matern) -> None:
        """Raise for a kernel whose inner product is not known here."""
        if type(kernel) not in _POWERS:
            wanted = "a Matern12, Matern32 or Matern52"
            raise TypeError(f"kernel must be {wanted} on an interval; got {kernel!r}")
        kernel._validate_inputs(self.inputs, "inputs")

    def amplitudes(self, kernel: Matern) -> Vector:
        """Ones, (M,)."""
        return array_namespace(self.orders).ones_like(self.of_each)

    def amplitudes_pullback(self, kernel: Matern, bar: Vector) -> Matern:
        """Nothing: no hyperparameter is in the waves."""
        return _bar(kernel, 0.0, 0.0)

    def gram(self, kernel: Matern) -> Matrix:
        """The products of the waves with each other; O(M²).

        Parameters
        ----------
        kernel : Matern12, Matern32 or Matern52
            The kernel.

        Returns
        -------
        Matrix, shape (M, M)
            K_uu.
        """
        self.require_kernel(kernel)
        memory.require_square(self.size, like=self.orders, copies=3, what="K_uu")
        integrals, _ = self._integrals(kernel)
        S, form, _ = self._states(kernel)
        edge = array_namespace(S).matrix_transpose(S) @ form @ S
        whole = eye(self.size, self.orders) * integrals + edge
        return symmetric_part(whole) / kernel.variance

    def gram_pullback(self, kernel: Matern, K_bar: Matrix) -> tuple[Matern, Matrix]:
        """Carry derivatives by K_uu back to the kernel.

        Parameters
        ----------
        kernel : Matern12, Matern32 or Matern52
            The kernel.
        K_bar : Matrix, shape (M, M)
            The derivatives by K_uu.

        Returns
        -------
        kernel_bar : Matern12, Matern32 or Matern52
            The derivatives by the hyperparameters.
        inputs_bar : Matrix, shape (0, 1)
            Nothing, since there are no inputs.
        """
        self.require_kernel(kernel)
        self.require_bar(K_bar, self.size)
        xp = array_namespace(K_bar)
        integrals, log_slope = self._integrals(kernel)
        S, form, of_rate = self._states(kernel)
        own = diagonal(K_bar) * integrals
        # Σ S_bar ∘ S has the form twice, once for each S in Sᵀ P⁻¹ S
        S_bar = form @ S @ (K_bar + xp.matrix_transpose(K_bar))
        total = float(xp.sum(own)) + 0.5 * float(xp.sum(S_bar * S))
        by_rate = float(xp.sum(own * log_slope)) + float(xp.sum(S_bar * of_rate[:, None] * S))
        # all is over σ_f², and dλ/dℓ = −λ/ℓ
        variance_bar = -total / kernel.variance**2
        length_bar = -by_rate / kernel.variance * _rate(kernel) / _length(kernel)
        return _bar(kernel, variance_bar, length_bar), self.inputs

    def apply(self, function: MeanFunction, kernel: Matern) -> Vector:
        """The products ``⟨g, φₘ⟩`` of a function g, integrated by parts and by Gauss's rule.

        Parameters
        ----------
        function : callable
            The function g, of inputs (n, 1).
        kernel : Matern12, Matern32 or Matern52
            The kernel, whose inner product it is.

        Returns
        -------
        Vector, shape (M,)
            The products.

        Notes
        -----
        Besides values of g the formula has p − 1 derivatives at the ends, which are
        taken from the polynomial through nine values near each: there g must be smooth.
        """
        _check.function(function, "function")
        self.require_kernel(kernel)
        waves = len(to_numpy(self.orders))
        panels = np.linspace(self.low, self.high, 4 * (self.highest + 1) + 1)
        nodes, weights = np.polynomial.legendre.leggauss(_PANEL)
        half = 0.5 * np.diff(panels)[:, None]
        places = (panels[:-1, None] + half * (nodes + 1.0)).reshape(-1, 1)
        values = self._values(function, places) * (half * weights).reshape(-1)
        integrals = to_numpy(self.waves(as_array(places, self.orders))).astype(float) @ values
        ends = self._ends(function, kernel)
        return as_array(self._products(kernel, integrals, ends, waves), self.orders)

    def _values(self, function: MeanFunction, places: HostMatrix) -> HostVector:
        values = function(as_array(places, self.orders))
        _check.vector(values, "function(x)", size=places.shape[0])
        return to_numpy(values).astype(float)

    def _ends(self, function: MeanFunction, kernel: Matern) -> HostMatrix:
        """Derivatives of g by λx, of order below p, at the start and the end, (2, p)."""
        width = 0.25 * (self.high - self.low) / (self.highest + 1)
        # Chebyshev nodes: a polynomial through even ones would magnify rounding at the end, where
        # the derivatives are taken
        nodes = 0.5 - 0.5 * np.cos(math.pi * np.arange(_STENCIL) / (_STENCIL - 1))
        derivatives = []
        for end, step in ((self.low, width), (self.high, -width)):
            values = self._values(function, (end + step * nodes)[:, None])
            series = np.polynomial.Polynomial.fit(nodes, values, _STENCIL - 1, domain=[0.0, 1.0])
            # x = end + step t, so that ∂/∂(λx) is ∂/∂t over step λ, negative at the far end
            scale = [(step * _rate(kernel)) ** -j for j in range(_POWERS[type(kernel)])]
            derivatives.append([s * series.deriv(j)(0.0) for j, s in enumerate(scale)])
        return np.asarray(derivatives)

    def _products(
        self, kernel: Matern, integrals: HostVector, ends: HostMatrix, cosines: int
    ) -> HostVector:
        """By parts, ``|z|²ᵖ ∫φg`` and ``Σⱼ z̄ᵖ⁻¹⁻ʲ zᵖ (λ + ∂)ʲg`` from end to end, z = λ + iω."""
        p, rate = _POWERS[type(kernel)], _rate(kernel)
        z = rate + 1j * to_numpy(self._frequencies).astype(float)
        # (1 + ∂/λ)ʲ g by the binomial theorem
        rises = [
            rate**j * sum(math.comb(j, i) * (ends[1, i] - ends[0, i]) for i in range(j + 1))
            for j in range(p)
        ]
        jumps = sum(z.conj() ** (p - 1 - j) * z**p * rise for j, rise in enumerate(rises))
        # waves are parts of e^{iω(x − low)}, which is 1 at both ends: the real and the imaginary
        part = np.where(np.arange(z.size) < cosines, np.real(jumps), np.imag(jumps))
        S, form, _ = (to_numpy(a).astype(float) for a in self._states(kernel))
        within = (np.abs(z) ** (2 * p) * integrals + part) / (_FACTORS[p] * rate ** (2 * p - 1))
        return (within + S.T @ form @ ends[0]) / kernel.variance

    @property
    def _frequencies(self) -> Vector:
        """ω of each of the M."""
        return self.of_each * (2.0 * math.pi / (self.high - self.low))

    def _integrals(self, kernel: Matern) -> tuple[Vector, Vector]:
        """``σ_f² ∫ ((λ + ∂)ᵖφ)² dx / q`` of each wave, and its log's derivative by λ."""
        xp = array_namespace(self.orders)
        p, rate = _POWERS[type(kernel)], _rate(kernel)
        squares = (self._frequencies / rate) ** 2 + 1.0
        length = 0.5 * (self.high - self.low) * rate / _FACTORS[p]
        # over whole turns ∫ cos² is half the interval, and all of it for n = 0
        twice = xp.where(self.of_each == 0.0, 2.0 * length * squares, length * squares)
        # log (λ squaresᵖ) has the slope (1 − 2p (squares − 1)/squares)/λ
        return twice * squares ** (p - 1), (2.0 * p / squares - (2.0 * p - 1.0)) / rate

    def _states(self, kernel: Matern) -> tuple[Matrix, Matrix, Vector]:
        """Return the waves' derivatives by λx at the start, (p, M); the form; logs by λ, (p,)."""
        xp = array_namespace(self.orders)
        p, rate = _POWERS[type(kernel)], _rate(kernel)
        slopes = self._frequencies / rate
        cosine = self._is_cosine
        rows = [cosine, (1.0 - cosine) * slopes, -cosine * slopes**2][:p]
        orders = as_array([-j / rate for j in range(p)], self.orders)
        return xp.stack(rows, axis=0), as_array(_FORMS[p], self.orders), orders

    @property
    def _is_cosine(self) -> Vector:
        xp = array_namespace(self.orders)
        return xp.concat([xp.ones_like(self.orders), xp.zeros_like(self.sines)], axis=0)


_POWERS: dict[type, int] = {Matern12: 1, Matern32: 2, Matern52: 3}  # p
_FACTORS = {1: 2.0, 2: 4.0, 3: 16.0 / 3.0}  # q / σ_f² λ²ᵖ⁻¹
# the inverse covariance, times σ_f², of the value and derivatives by λx of f in one place
_FORMS = {
    1: [[1.0]],
    2: [[1.0, 0.0], [0.0, 1.0]],
    3: [[1.125, 0.0, 0.375], [0.0, 3.0, 0.0], [0.375, 0.0, 1.125]],
}


def _length(kernel: Matern) -> float:
    held = kernel.lengthscale
    return held if isinstance(held, float) else float(held[0])


def _rate(kernel: Matern) -> float:
    """λ, which is √(2ν)/ℓ."""
    return math.sqrt(2.0 * _POWERS[type(kernel)] - 1.0) / _length(kernel)


def _bar(kernel: Matern, variance_bar: float, length_bar: float) -> Matern:
    held = kernel.lengthscale
    by_length = length_bar if isinstance(held, float) else as_array([length_bar], held)
    return cotangent(kernel, variance=variance_bar, lengthscale=by_length)
