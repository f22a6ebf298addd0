"""Labels, 1 and −1: their probabilities given f, their information on f, and averages over f."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.params import fixed
from ...ground.xp import (
    LOG_2PI,
    Array,
    HostVector,
    array_namespace,
    as_array,
    fused,
    log_normal_cdf,
    mills_fractions,
)
from .base import LikelihoodBase
from .counts import first_other

__all__ = ["Bernoulli"]

_TAIL = 2.0  # below minus this, ratios of the normal tail come from its continued fraction
_FAR = 25.0  # below minus this, five levels of that fraction are enough
_FAR_SINGLE = 6.0  # the same in float32, whose logarithms lose the more digits the larger they are
_NODES = 200  # of the rule in `Bernoulli`: a step of 0.09 standard deviations, or of 0.4 in f
_CERTAIN = 1e4  # the |f| beyond which one probability is zero, its logarithm not yet −∞
_WIDTH = 9.0  # standard deviations beyond which a normal density is below 1e-18 of its top
_LINKS = {"probit": 9.0, "logit": 40.0}  # and the |f| beyond which a label is certain


@dataclass(frozen=True)
class Bernoulli(LikelihoodBase):
    """A label, 1 or −1: ``P(y = 1 | f) = Φ(f)`` or ``1 / (1 + exp(−f))``, [eq-al-label].

    All methods work entry by entry on arrays of one shape, as in `LikelihoodBase`, and hold in the
    tails: a label that is all but impossible has a finite logarithm. The second derivative is
    never positive. Entropies and information are in nats.

    Parameters
    ----------
    link : str, default "probit"
        ``"probit"`` for the normal distribution function Φ, or ``"logit"`` for the logistic one.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> label = Bernoulli()
    >>> label.log_density(np.asarray([1.0, -1.0]), np.asarray([-40.0, 0.0])).round(4)
    array([-8.046084e+02, -6.931000e-01])
    >>> label.probability(np.asarray([1.0]), np.asarray([3.0])).round(4)
    array([0.6915])
    """

    link: str = fixed("probit")

    def __post_init__(self) -> None:
        if not isinstance(self.link, str) or self.link not in _LINKS:
            raise ValueError(f"link must be one of {list(_LINKS)}; got {self.link!r}")

    def _observable(self, y: Any) -> Any:
        return _labels(y)

    def _log_density(self, y: Array, f: Array) -> Array:
        return self._log_probability(y * f)

    def _log_probability(self, z: Array) -> Array:
        if self.link == "probit":
            return log_normal_cdf(z)
        xp = array_namespace(z)
        return xp.clip(z, None, 0.0) - xp.log1p(xp.exp(-xp.abs(z)))

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """Source: Rasmussen & Williams (2006), section 3.4, for the first two."""
        of_log = _probit_derivatives if self.link == "probit" else _logit_derivatives
        first, second, third = of_log(y * f)
        return y * first, second, y * third

    def _value_and_slope(self, y: Array, f: Array) -> tuple[Array, Array]:
        """``φ(z)/Φ(z)``, or ``σ(−z)``."""
        z = y * f
        value = self._log_probability(z)
        if self.link == "probit":
            return value, y * _probit_slope(z, value)
        return value, y * array_namespace(f).exp(value - z)

    def _slope(self, y: Array, f: Array) -> Array:
        return self._value_and_slope(y, f)[1]

    def _log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """``log P(y = 1)`` for y = 1, and for −1 that of −f."""
        xp = array_namespace(mean)
        if self.link == "probit":
            return log_normal_cdf(y * mean / xp.sqrt(1.0 + variance))
        return xp.clip(super()._log_predictive(y, mean, variance), None, 0.0)  # but for rounding

    def tilted(self, y: Array, mean: Array, variance: Array) -> tuple[Array, Array, Array]:
        """Evaluate ``log Z``, ``Z = E p(y | f)`` for ``f ~ N(mean, variance)``, and two slopes.

        They give the posterior of a normal f under one label: with α the first and −β the second
        derivative of ``log Z`` by the mean, f given y has the mean ``m + v α`` and the variance ``v
        − v² β``, [eq-la-tilted].

        Parameters
        ----------
        y, mean, variance
            As in `expected_log_density`.

        Returns
        -------
        tuple of Array
            ``log Z``, α and β, each of the shape of `mean`.

        Notes
        -----
        The logistic is a probit of random scale, so that its Z is that of a mixture.
        Source: Rasmussen & Williams (2006), section 3.9; Stefanski (1991).
        """
        return self._tilted(self._validate_average(y, mean, variance), mean, variance)

    def _tilted(self, y: Array, mean: Array, variance: Array) -> tuple[Array, Array, Array]:
        if self.link == "probit":
            return _tilted_probit(y, mean, variance, 1.0)
        xp = array_namespace(mean)
        scales, log_weights = (as_array(a, mean) for a in _logistic_scales())
        y, mean, variance = (a[..., None] for a in (y, mean, variance))
        logs, first, second = _tilted_probit(y, mean, variance, scales)
        logs = logs + log_weights
        top = xp.max(logs, axis=-1, keepdims=True)
        total = top + xp.log(xp.sum(xp.exp(logs - top), axis=-1, keepdims=True))
        share = xp.exp(logs - total)
        alpha = xp.sum(share * first, axis=-1)
        beta = xp.sum(share * (second - (first - alpha[..., None]) ** 2), axis=-1)
        return total[..., 0], alpha, beta

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """``p − q`` and ``4 p q`` of a label that is 1 with p and −1 with q."""
        p, q = self._probability(mean, variance), self._probability(-mean, variance)
        return p - q, 4.0 * p * q

    def probability(self, mean: Array, variance: Array) -> Array:
        """Evaluate ``P(y = 1)`` for ``f ~ N(mean, variance)``, by entry, [eq-al-predictive].

        Parameters
        ----------
        mean, variance : Array
            The moments of f, of one shape.

        Notes
        -----
        For the probit, ``Φ(mean / √(1 + variance))``. Source: Rasmussen & Williams (2006), section
        3.9. For the logit, which has no closed form, a quadrature to some 1e-12.
        """
        _check.mean_and_variance(mean, variance)
        return self._probability(mean, variance)

    def _probability(self, mean: Array, variance: Array) -> Array:
        xp = array_namespace(mean)
        if self.link == "probit":
            return xp.exp(log_normal_cdf(mean / xp.sqrt(1.0 + variance)))
        return _blockwise(self._probability_by_nodes, mean, variance)

    def _probability_by_nodes(self, mean: Array, variance: Array) -> Array:
        """For wide f, the logit is a probit of the same slope plus a part that dies away."""
        xp = array_namespace(mean)
        scale = math.sqrt(8.0 / math.pi)
        f, weights = _nodes(mean, variance)
        narrow = xp.sum(xp.exp(self._log_probability(f)) * weights, axis=-1)
        f, weights = _nodes_near_zero(mean, variance, _LINKS[self.link])
        probit = xp.exp(log_normal_cdf(f / scale))
        bump = xp.sum((xp.exp(self._log_probability(f)) - probit) * weights, axis=-1)
        wide = xp.exp(log_normal_cdf(mean / xp.sqrt(scale**2 + variance))) + bump
        return xp.clip(xp.where(_is_narrow(variance), narrow, wide), 0.0, 1.0)

    def entropy(self, f: Array) -> Array:
        """Evaluate ``H(y | f)``, between 0 and log 2, entry by entry.

        Parameters
        ----------
        f : Array
            The values of f.

        Returns
        -------
        Array
            The entropies, of the shape of f.
        """
        return self._entropy(_check.finite(_check.floating(f, "f"), "f"))

    def _entropy(self, f: Array) -> Array:
        xp = array_namespace(f)
        f = xp.clip(f, -_CERTAIN, _CERTAIN)
        up = self._log_probability(f)
        down = self._log_probability(-f)
        return -(xp.exp(up) * up + xp.exp(down) * down)

    def expected_entropy(self, mean: Array, variance: Array) -> Array:
        """Average the entropy, ``E H(y | f)`` for ``f ~ N(mean, variance)``, entry by entry.

        It is the uncertainty of y that no knowledge of f takes away.

        Parameters
        ----------
        mean, variance : Array
            The moments of f, of one shape.
        """
        _check.mean_and_variance(mean, variance)
        return _blockwise(self._expected_entropy, mean, variance)

    def _expected_entropy(self, mean: Array, variance: Array) -> Array:
        xp = array_namespace(mean)
        sums = []
        for f, weights in (
            _nodes(mean, variance),
            _nodes_near_zero(mean, variance, _LINKS[self.link]),
        ):
            sums.append(xp.sum(self._entropy(f) * weights, axis=-1))
        return xp.where(_is_narrow(variance), *sums)

    def information(self, mean: Array, variance: Array) -> Array:
        """Evaluate ``I(y; f) = H(y) − E H(y | f)`` for ``f ~ N(mean, variance)``, [eq-al-bald].

        Parameters
        ----------
        mean, variance : Array
            The moments of f, of one shape.

        Returns
        -------
        Array
            The information, between 0 and log 2, of the same shape.

        Notes
        -----
        Where f is narrow the two terms are nearly equal, and their difference is summed as the
        mean divergence of ``P(y | f)`` from ``P(y)``: it keeps about half the digits of a variance
        however small, and is never negative.
        """
        _check.mean_and_variance(mean, variance)
        return self._information(mean, variance)

    def _information(self, mean: Array, variance: Array) -> Array:
        return _blockwise(self._information_of_rows, mean, variance)

    def _information_of_rows(self, mean: Array, variance: Array) -> Array:
        xp = array_namespace(mean)
        f, weights = _nodes(mean, variance)
        f = xp.clip(f, -_CERTAIN, _CERTAIN)
        narrow = sum(_divergence(self._log_probability(s * f), weights) for s in (1.0, -1.0))
        p, q = self._probability(mean, variance), self._probability(-mean, variance)
        wide = _times_log(p) + _times_log(q) - self._expected_entropy(mean, variance)
        return xp.clip(xp.where(_is_narrow(variance), narrow, wide), 0.0, math.log(2.0))


def _labels(y: Array) -> Array:
    if not _all(y * y == 1.0):
        others = ": `gpnotes.GPClassifier` takes labels of any kind"
        hint = ": of 0 and 1, 2 y - 1 makes labels" if _all(y * y == y) else others
        got = first_other(y, y * y == 1.0)
        raise ValueError(f"y must hold labels, 1 and -1; got {got}{hint}")
    return y


def _all(good: Array) -> bool:
    """Return True if a truth, or each of an array, holds."""
    return good if isinstance(good, bool) else bool(array_namespace(good).all(good))


def _probit_slope(z: Array, log_cdf: Array) -> Array:
    """``φ(z)/Φ(z)``, by logarithms; far out, where these cancel, the first parts of a fraction."""
    xp = array_namespace(z)
    far = _FAR if z.dtype == xp.float64 else _FAR_SINGLE
    x = xp.clip(-z, far, None)
    tail = x + 1.0 / (x + 2.0 / (x + 3.0 / (x + 4.0 / (x + 5.0 / x))))
    near = xp.clip(z, -_CERTAIN, _CERTAIN)
    log_ratio = -0.5 * (near * near + LOG_2PI) - log_cdf
    return xp.where(z < -far, tail, xp.exp(xp.clip(log_ratio, None, math.log(2.0 * far))))


def _probit_derivatives(z: Array) -> tuple[Array, Array, Array]:
    """Of log Φ(z): with ``r = φ/Φ`` they are r, −r(z + r) and r((z + r)(z + 2r) − 1).

    In the tail, ``r = x + q₁`` at ``x = −z``, and the other two are ``−r q₁`` and
    ``r q₁² q₂ (q₃ − q₂)``: nothing cancels.
    """
    xp = array_namespace(z)
    x = xp.clip(-z, _TAIL, None)
    near = xp.clip(z, -_TAIL, _CERTAIN)  # where r is zero already
    return _of_ratio(z, x, near, log_normal_cdf(near), *mills_fractions(x))


@fused
def _of_ratio(
    z: Array, x: Array, near: Array, log_cdf: Array, q1: Array, q2: Array, q3: Array
) -> tuple[Array, Array, Array]:
    """`_probit_derivatives`, of x in the tail, z elsewhere, and what belongs to these."""
    xp, tail = array_namespace(z), z < -_TAIL
    here = xp.exp(-0.5 * (near * near + LOG_2PI) - log_cdf)
    r, both = xp.where(tail, x + q1, here), near + here
    second = -r * xp.where(tail, q1, both)
    third_over_r = xp.where(tail, q1 * q1 * q2 * (q3 - q2), both * (both + here) - 1.0)
    return r, second, r * third_over_r


def _logit_derivatives(z: Array) -> tuple[Array, Array, Array]:
    """Of log σ(z): σ(−z), −σ(z)σ(−z) and σ(z)σ(−z)(2σ(z) − 1)."""
    xp = array_namespace(z)
    small = xp.exp(-xp.abs(z))
    other = xp.where(z > 0.0, small, xp.ones_like(z)) / (1.0 + small)
    product = small / (1.0 + small) ** 2
    return other, -product, product * xp.tanh(0.5 * z)


def _tilted_probit(
    y: Array, mean: Array, variance: Array, scale: float | Array
) -> tuple[Array, Array, Array]:
    """``log Φ(z)`` with ``z = y m/√(s² + v)``, its slope by m and minus its second derivative."""
    xp = array_namespace(mean)
    spread = xp.sqrt(scale * scale + variance)
    z = y * mean / spread
    first, second, _ = _probit_derivatives(z)
    return log_normal_cdf(z), y * first / spread, -second / spread**2


@cache
def _logistic_scales() -> tuple[HostVector, HostVector]:
    """Scales s and log weights, ``1/(1 + exp(−f)) = Σ w Φ(f/s)``, to rounding for f from −60.

    Twice Kolmogorov's variable is the scale, by the trapezoid rule in its logarithm. Its density
    is a series in ``exp(−s²/2)`` and, by Jacobi's identity, one in ``exp(−π²/2s²)``.
    """
    log_s = np.arange(math.log(0.2), math.log(20.0), 0.07)
    s, k = np.exp(log_s), np.arange(1.0, 12.0)[:, None]
    wide = 2.0 * s * np.sum((-1.0) ** (k + 1.0) * k * k * np.exp(-0.5 * (k * s) ** 2), axis=0)
    a = ((2.0 * k - 1.0) * math.pi / s) ** 2
    narrow = math.sqrt(8.0 * math.pi) / s**2 * np.sum((a - 1.0) * np.exp(-0.5 * a), axis=0)
    return s, np.log(np.where(s > 1.2, wide, narrow) * s * 0.07)


def _blockwise(function: Callable[[Array, Array], Array], mean: Array, variance: Array) -> Array:
    """`function` of flat arrays, a block at a time: its nodes take room."""
    xp = array_namespace(mean)
    shape = mean.shape
    mean, variance = xp.reshape(mean, (-1,)), xp.reshape(variance, (-1,))
    blocks = memory.blocks(mean.shape[0], _NODES, like=mean)
    answers = [function(mean[block], variance[block]) for block in blocks]
    return xp.reshape(xp.concat(answers), shape)


def _is_narrow(variance: Array) -> Array:
    return variance <= 16.0


def _nodes(mean: Array, variance: Array) -> tuple[Array, Array]:
    """Equidistant nodes over all of ``N(mean, variance)``, (n, k), and weights (k,) of sum one.

    The trapezoidal rule converges geometrically for functions smooth on the scale of the step.
    """
    xp = array_namespace(mean)
    steps = np.linspace(-_WIDTH, _WIDTH, _NODES)
    density = np.exp(-0.5 * steps * steps)
    z = as_array(steps, mean)
    weights = as_array(density / density.sum(), mean)
    return mean[:, None] + xp.sqrt(variance)[:, None] * z[None, :], weights


def _nodes_near_zero(mean: Array, variance: Array, reach: float) -> tuple[Array, Array]:
    """Nodes where ``N(mean, variance)`` and [−reach, reach] overlap, (n, k), and their weights.

    They are for functions that vanish outside, however wide the distribution is.
    """
    xp = array_namespace(mean)
    sd = xp.sqrt(xp.where(variance > 0.0, variance, xp.ones_like(variance)))
    low = xp.clip(mean - _WIDTH * sd, -reach, reach)
    length = xp.clip(mean + _WIDTH * sd, -reach, reach) - low
    steps = as_array(np.linspace(0.0, 1.0, _NODES), mean)
    f = low[:, None] + length[:, None] * steps[None, :]
    z = xp.clip((f - mean[:, None]) / sd[:, None], -_CERTAIN, _CERTAIN)
    scale = length / (sd * ((_NODES - 1) * math.sqrt(2.0 * math.pi)))
    return f, scale[:, None] * xp.exp(-0.5 * z * z)


def _divergence(logs: Array, weights: Array) -> Array:
    """``Σ w p log(p / p̄) − Σ w (p − p̄)`` of one label, from the logarithms of p (n, k)."""
    xp = array_namespace(logs)
    top = xp.max(logs, axis=-1, keepdims=True)
    mean = top + xp.log(xp.sum(xp.exp(logs - top) * weights, axis=-1, keepdims=True))
    excess = logs - mean
    terms = excess * xp.exp(excess) - xp.expm1(excess)
    return xp.exp(mean[:, 0]) * xp.sum(terms * weights, axis=-1)


def _times_log(p: Array) -> Array:
    """``−p log p``, 0 at 0."""
    xp = array_namespace(p)
    return -p * xp.log(xp.where(p > 0.0, p, xp.ones_like(p)))
