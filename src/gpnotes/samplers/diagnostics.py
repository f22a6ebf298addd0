"""Convergence diagnostics: R-hat, effective sample sizes, the error of a mean.

All take draws of some chains, (chains, draws), or of several quantities, (chains, draws, d); the
answers are one number, or one for each. Source: Vehtari, Gelman, Simpson, Carpenter & Bürkner
(2021). ArviZ has the same, and the tests compare; but it takes seconds to import, and brings a
library of labelled arrays along, for a page of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ..ground import check as _check
from ..ground.xp import Array, HostArray, HostMatrix, HostVector, to_numpy

__all__ = ["ess_bulk", "ess_mean", "ess_tail", "mcse", "rhat"]

FEWEST = 4  # draws of a chain: two in each half


def rhat(draws: Array) -> float | HostVector:
    """Return rank-normalised split R-hat: how much wider all chains are than one.

    Parameters
    ----------
    draws : Array, shape (chains, draws) or (chains, draws, d)
        The draws of two chains or more.

    Returns
    -------
    float or HostVector, shape (d,)
        The larger of that of the ranks and that of the ranks of the distances from the median;
        infinite where a chain never moves.

    Examples
    --------
    >>> from gpnotes import stream
    >>> bool(rhat(stream(1).normal((4, 500))) < 1.01)
    True
    """
    host = _checked(draws)
    if host.shape[0] < 2:
        raise ValueError(f"draws must have at least two chains for R-hat; got {host.shape[0]}")
    return _by_quantity(_rhat, host)


def ess_bulk(draws: Array) -> float | HostVector:
    """Return how many independent draws would say as much of the middle: of the ranks' mean.

    Parameters
    ----------
    draws : Array, shape (chains, draws) or (chains, draws, d)
        The draws.

    Returns
    -------
    float or HostVector, shape (d,)
        The effective number; zero where all draws are the same.

    Examples
    --------
    >>> from gpnotes import stream
    >>> bool(ess_bulk(stream(1).normal((4, 500))) > 1500)
    True
    """
    return _by_quantity(lambda x: _ess(_scores(_halves(x))), _checked(draws))


def ess_tail(draws: Array) -> float | HostVector:
    """Return how many independent draws would say as much of the tails.

    Parameters
    ----------
    draws : Array, shape (chains, draws) or (chains, draws, d)
        The draws.

    Returns
    -------
    float or HostVector, shape (d,)
        The smaller of the effective numbers for the 5 % and the 95 % quantile.
    """
    return _by_quantity(_ess_tail, _checked(draws))


def ess_mean(draws: Array) -> float | HostVector:
    """Return how many independent draws would have a mean of the same error.

    Parameters
    ----------
    draws : Array, shape (chains, draws) or (chains, draws, d)
        The draws.

    Returns
    -------
    float or HostVector, shape (d,)
        The effective number.
    """
    return _by_quantity(lambda x: _ess(_halves(x)), _checked(draws))


def mcse(draws: Array) -> float | HostVector:
    """Return the Monte Carlo standard error of the mean of all draws.

    Parameters
    ----------
    draws : Array, shape (chains, draws) or (chains, draws, d)
        The draws.

    Returns
    -------
    float or HostVector, shape (d,)
        The standard deviation over the root of `ess_mean`; infinite where all draws are the same.
    """
    return _by_quantity(_mcse, _checked(draws))


def _checked(draws: Array) -> HostArray:
    host = to_numpy(_check.floating(draws, "draws")).astype(np.float64)
    if host.ndim not in (2, 3):
        raise ValueError(f"draws must have shape (chains, draws) or with d; got {host.shape}")
    if host.shape[0] < 1 or host.shape[1] < FEWEST:
        needed = f"at least one chain of at least {FEWEST} draws"
        raise ValueError(f"draws must be of {needed}; got shape {host.shape}")
    return _check.finite(host, "draws")


def _by_quantity(statistic: Callable[[HostMatrix], float], draws: HostArray) -> float | HostVector:
    """A number for each quantity."""
    if draws.ndim == 2:
        return statistic(draws)
    return np.asarray([statistic(draws[:, :, j]) for j in range(draws.shape[2])])


def _mcse(x: HostMatrix) -> float:
    # halves, as in `ess_bulk`: a chain that drifts has two halves that disagree
    ess = _ess(_halves(x))
    x, power = _scaled(x)
    return math.ldexp(float(np.std(x, ddof=1)) / math.sqrt(ess), power) if ess else math.inf


def _scaled(x: HostMatrix) -> tuple[HostMatrix, int]:
    """Draws over a power of two, and the power: squares of how far they are apart stay in range.

    A power of two changes no digit.
    """
    apart = float(np.max(np.abs(0.5 * x - 0.5 * x[0, 0])))
    power = math.frexp(apart)[1]
    return np.ldexp(x, -power), power


def _ess_tail(x: HostMatrix) -> float:
    bounds = np.quantile(x, (0.05, 0.95))
    return min(_ess(_halves((x <= bound).astype(np.float64))) for bound in bounds)


def _rhat(x: HostMatrix) -> float:
    if not np.all(np.ptp(x, axis=1) > 0.0):
        return math.inf
    halves = _halves(x)
    # scores tell chains at different places apart, scores of folded draws different widths
    return max(_ratio(_scores(halves)), _ratio(_scores(np.abs(halves - np.median(halves)))))


def _ratio(x: HostMatrix) -> float:
    """The root of the variance of all chains over that within them."""
    n = x.shape[1]
    within = float(np.mean(np.var(x, axis=1, ddof=1)))
    between = float(np.var(np.mean(x, axis=1), ddof=1))
    return math.sqrt((n - 1) / n + between / within) if within else math.inf


def _halves(x: HostMatrix) -> HostMatrix:
    """The first and the last half of each chain as chains; a draw in the middle is left out."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _scores(x: HostMatrix) -> HostMatrix:
    """Normal scores of the ranks among all draws; equal ones share their mean rank."""
    _, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    twice = 2 * np.cumsum(counts) - counts + 1  # of a mean rank, which may be half a number
    return _quantiles(x.size)[twice[index.ravel()]].reshape(x.shape)


@lru_cache(maxsize=8)
def _quantiles(size: int) -> HostVector:
    """Normal quantiles at ``(r − 3/8)/(size + 1/4)`` for r = 0, ½, 1, …; none at r = 0, ½."""
    normal = NormalDist()
    at = (np.arange(2, 2 * size + 1) / 2 - 0.375) / (size + 0.25)
    return np.concatenate([np.full(2, np.nan), [normal.inv_cdf(float(p)) for p in at]])


def _ess(x: HostMatrix) -> float:
    """The effective number of draws of chains: their number over the sum of all correlations."""
    chains, n = x.shape
    x, _ = _scaled(x)
    if not np.ptp(x):
        return 0.0
    covariances = np.mean(_autocovariances(x), axis=0)
    # the variance within chains with divisor n − 1; `covariances` has n
    within = covariances[0] * n / (n - 1)
    total = covariances[0] + (float(np.var(np.mean(x, axis=1), ddof=1)) if chains > 1 else 0.0)
    correlations = 1.0 - (within - covariances) / total
    correlations[0] = 1.0
    # antithetic chains: Stan bounds the effective number by N log₁₀ N
    return x.size / max(_sum_of_correlations(correlations), 1.0 / math.log10(x.size))


def _autocovariances(x: HostMatrix) -> HostMatrix:
    """The covariances of each chain with itself, later by 0, 1, …; all divided by n."""
    n = x.shape[1]
    # zeros behind the n draws keep the circular convolution of the FFT from wrapping around
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), size, axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n


def _sum_of_correlations(correlations: HostVector) -> float:
    """One and twice the sum of the correlations, up to where pairs of them begin to be noise.

    Source: Geyer (1992): sums of two neighbours are positive and fall, for a reversible chain.
    """
    last = max(0, (correlations.size - 3) // 2)  # of what is later hardly a draw tells
    pairs = correlations[: 2 * last + 2 : 2] + correlations[1 : 2 * last + 2 : 2]
    noise = np.flatnonzero(pairs <= 0.0)
    end = int(noise[0]) if noise.size else last
    odd_one = float(correlations[2 * end])
    odd_one = odd_one if odd_one > 0.0 or pairs[end] >= 0.0 else 0.0
    return -1.0 + 2.0 * float(np.sum(np.minimum.accumulate(pairs[:end]))) + odd_one
