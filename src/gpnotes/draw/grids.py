"""Functions of the prior on a regular grid, by fast Fourier transforms instead of a factor.

On a grid of equal steps the covariance of a stationary kernel depends on how many steps two points
are apart. Bent to a ring, the grid has a circulant covariance, whose eigenvectors are waves. A draw
is a sum of all waves of the ring, with variances that are the eigenvalues, and the arc that is the
grid keeps the kernel's own covariance: O(M log M) for a ring of M points, and no matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add, mul
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.random import RNG, Stream, stream_of
from ..ground.showing import summary
from ..ground.xp import (
    Array,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    epsilon,
    in_double,
    whole_power,
)
from ..model.kernels import (
    ActiveDims,
    Constant,
    Kernel,
    Periodic,
    Power,
    Product,
    Scaled,
    Stationary,
    Sum,
)

__all__ = ["CirculantEmbedding", "embed_circulant"]


@dataclass(frozen=True, eq=False)
class CirculantEmbedding:
    """A stationary prior on a regular grid, bent to a ring; made by `embed_circulant`.

    Parameters
    ----------
    shape : tuple of int
        The numbers of points of the grid.
    step : tuple of float
        Their distances.
    eigenvalues : Array, of the shape of the ring
        The variances of its waves times their number M.
    error : float
        A bound on how far any covariance of a draw is from the kernel's, for eigenvalues below
        zero that count as zero.

    Examples
    --------
    >>> from gpnotes import RBF, stream
    >>> prior = embed_circulant(RBF(), (30, 20), 0.25)
    >>> prior.sample(5, rng=stream(1)).shape, prior.error < 1e-9
    ((5, 30, 20), True)
    """

    shape: tuple[int, ...]
    step: tuple[float, ...]
    eigenvalues: Array
    error: float

    __repr__ = summary

    def sample(self, num_samples: int, *, antithetic: bool = False, rng: RNG) -> Array:
        """Draw functions of the prior on the grid.

        Parameters
        ----------
        num_samples : int
            How many functions are drawn.
        antithetic : bool, default False
            Let every second function be minus the one before it, [eq-sa-pairs]; means of
            linear functionals are then exact, those of even ones are worth half.

        Returns
        -------
        Array, shape (num_samples, ...)
            The functions on the grid, one after the other along the first axis.

        Notes
        -----
        ``f_j = M^−½ Σ_κ √λ_κ (a_κ cos 2πκj/M + b_κ sin 2πκj/M)`` with standard normal a and b,
        [eq-sa-waves]: the real part of a fast Fourier transform, whose imaginary part is a
        second, independent draw. Source: Dietrich & Newsam (1997).
        """
        stream = stream_of(rng)
        size, like = math.prod(self.shape), self.eigenvalues
        num_samples = memory.count(num_samples, "num_samples", 0, each=2 * size, like=like)
        if _check.flag(antithetic, "antithetic"):
            xp = array_namespace(self.eigenvalues)
            half = self._independent(stream, (num_samples + 1) // 2)
            both = xp.reshape(xp.stack([half, -half], axis=1), (2 * half.shape[0], *self.shape))
            return both[:num_samples, ...]
        return self._independent(stream, num_samples)

    def _independent(self, stream: Stream, n: int) -> Array:
        xp = array_namespace(self.eigenvalues)
        size = math.prod(self.eigenvalues.shape)  # of PyTorch, `size` is a method
        roots = xp.sqrt(self.eigenvalues / size)
        blocks = memory.blocks((n + 1) // 2, 4 * size, like=roots)
        drawn = [self._pairs(stream, rows, roots) for rows in blocks]
        return (drawn[0] if len(drawn) == 1 else xp.concat(drawn, axis=0))[:n, ...]

    def _pairs(self, stream: Stream, rows: slice, roots: Array) -> Array:
        """Two draws of each row, (2 rows, *shape), one after the other."""
        xp = array_namespace(roots)
        count = rows.stop - rows.start
        a_and_b = stream.normal((count, 2, *roots.shape), like=roots)
        waves = _complex(roots * a_and_b[:, 0, ...]) + 1j * _complex(roots * a_and_b[:, 1, ...])
        around = xp.fft.fftn(waves, axes=tuple(range(1, waves.ndim)))
        arc = around[(slice(None), *(slice(k) for k in self.shape))]
        pairs = xp.stack([xp.real(arc), xp.imag(arc)], axis=1)
        return xp.astype(xp.reshape(pairs, (2 * count, *self.shape)), roots.dtype, copy=False)


def embed_circulant(
    kernel: Kernel,
    shape: int | Sequence[int],
    step: float | Sequence[float],
    *,
    error: float = 1e-9,
    doublings: int = 5,
    like: Array | None = None,
) -> CirculantEmbedding:
    """Bend a regular grid to a ring, on which a stationary kernel has a circulant covariance.

    Parameters
    ----------
    kernel : Kernel
        RBF, Matérn and any other `Stationary`, `Periodic`, `Constant`, and sums, products,
        multiples and choices of columns of these.
    shape : int or sequence of int
        The number of points of each dimension of the grid.
    step : float or sequence of float
        The distance of points in each dimension, or one for all.
    error : float, default 1e-9
        By how much of the variance a covariance may change where negative eigenvalues count as
        zero.
    doublings : int, default 5
        How many times the ring is doubled at most.
    like : Array or None, default None
        The draws are in the kind of it; without it, NumPy float64.

    Notes
    -----
    The ring has twice as many points as the grid, and is doubled until its circulant matrix has no
    negative eigenvalues but such as change no covariance by more than `error` of the variance when
    they count as zero: ``Σ max(−λ, 0) / M``, [eq-sa-clip]. Doubling helps where the kernel
    falls to zero within a ring that has room; it does not where the kernel never does. Costs O(M
    log M) for M points, [eq-sa-eigenvalues]. Source: Dietrich & Newsam (1997).

    Examples
    --------
    >>> from gpnotes import Matern32, stream
    >>> prior = embed_circulant(Matern32(lengthscale=50.0), 100_000, 1.0)
    >>> prior.sample(2, rng=stream(1)).shape, prior.eigenvalues.shape
    ((2, 100000), (200000,))
    """
    _check.instance(kernel, "kernel", Kernel)
    sizes = _sizes(shape)
    steps = _steps(step, len(sizes))
    error = _check.positive(_check.number(error, "error"), "error", zero=True)
    doublings = _check.whole(doublings, "doublings")
    like = np.ones(1) if like is None else _check.floating(like, "like")
    ring = [_even_and_smooth(2 * (k - 1)) for k in sizes]
    variance = float(kernel.diag(as_array(np.zeros((1, len(sizes))), like))[0])
    # what rounding alone leaves, where there are no numbers in double precision
    allowed = max(error, 1e3 * epsilon(in_double(like))) * variance
    for k in range(doublings + 1):
        values = _eigenvalues(kernel, tuple(m * 2**k for m in ring), steps, like)
        xp = array_namespace(values)
        wrong = float(xp.sum(xp.clip(-values, 0.0, None))) / math.prod(values.shape)
        if wrong <= allowed:
            kept = xp.astype(xp.clip(values, 0.0, None), like.dtype)
            return CirculantEmbedding(sizes, steps, kept, wrong)
    raise ValueError(
        f"kernel must fit on a ring of {values.shape} points, but covariances would be wrong by "
        f"{wrong / variance:.2g} of the variance, more than error={error:.2g}: take a larger "
        f"error or more doublings; if that does not help, a Cholesky factor"
    )


def _sizes(shape: int | Sequence[int]) -> tuple[int, ...]:
    given: Any = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not given:
        raise ValueError("shape must hold a number for each dimension; got none")
    return tuple(_check.whole(k, "shape", 1) for k in given)


def _steps(step: float | Sequence[float], dimensions: int) -> tuple[float, ...]:
    given: Any = tuple(step) if isinstance(step, tuple | list) else (step,) * dimensions
    if len(given) != dimensions:
        raise ValueError(f"step must be one number or {dimensions}, as shape; got {len(given)}")
    return tuple(_check.positive(_check.number(h, "step"), "step") for h in given)


def _even_and_smooth(least: int) -> int:
    """The smallest even number from `least` without prime factors above five: fast to transform."""
    top = max(2, least)
    powers = [[p**k for k in range(top.bit_length())] for p in (3, 5)]
    smooth = (a * b for a, b in product(*powers) if a * b < top)
    return min(2 * odd * 2 ** max(0, (-(-top // (2 * odd)) - 1).bit_length()) for odd in smooth)


def _eigenvalues(
    kernel: Kernel, ring: tuple[int, ...], steps: tuple[float, ...], like: Array
) -> Array:
    """The eigenvalues of the circulant, in the shape of the ring: a transform of one row of it."""
    size = math.prod(ring)
    memory.require(size, 8, copies=1, like=like, what="the ring", remedy="Use fewer points.")
    ways = [
        h * np.minimum(np.arange(m), m - np.arange(m)) for m, h in zip(ring, steps, strict=True)
    ]
    lags = np.stack([way.ravel() for way in np.meshgrid(*ways, indexing="ij")], axis=1)
    places = in_double(as_array(np.zeros(1), like))
    rows = (
        _at_lags(kernel, as_array(lags[part], places))
        for part in memory.blocks(size, len(ring), like=places)
    )
    xp = array_namespace(like)
    row = xp.reshape(xp.concat(list(rows)), ring)
    return xp.real(xp.fft.fftn(_complex(row)))


def _complex(a: Array) -> Array:
    xp = array_namespace(a)
    return xp.astype(a, xp.complex64 if a.dtype == xp.float32 else xp.complex128)


def _at_lags(kernel: Kernel, lags: Matrix) -> Vector:
    """``k(x, x + lag)`` of each row of `lags` (n, d), for a kernel that depends on nothing else."""
    if isinstance(kernel, Stationary):
        scaled = lags / kernel.lengthscale
        # of the lags themselves: a difference of squares would lose digits far from the centre
        return kernel.variance * kernel._profile(array_namespace(lags).sum(scaled * scaled, axis=1))
    if isinstance(kernel, Sum):
        return reduce(add, _each(kernel, lags))
    if isinstance(kernel, Product):
        return reduce(mul, _each(kernel, lags))
    if isinstance(kernel, Scaled):
        return kernel.scale * _at_lags(kernel.kernel, lags)
    if isinstance(kernel, Power):
        return whole_power(_at_lags(kernel.kernel, lags), kernel.exponent)
    if isinstance(kernel, ActiveDims):
        return _at_lags(kernel.kernel, kernel.take_columns(lags))
    if isinstance(kernel, Constant | Periodic):
        return kernel._gram(lags, array_namespace(lags).zeros_like(lags[:1, :]))[:, 0]
    raise TypeError(
        f"kernel must depend on differences only, as Stationary, Periodic and Constant kernels do, "
        f"their sums and products; got {kernel!r}"
    )


def _each(kernel: Sum | Product, lags: Matrix) -> Iterator[Vector]:
    return (_at_lags(part, lags) for part in kernel.parts)
