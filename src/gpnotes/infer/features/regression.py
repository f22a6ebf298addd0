"""Gaussian process regression on random Fourier features: weights, evidence and its gradient.

With features Φ for the kernel, ``y = m(X) + Φ w + ε`` and ``w ~ N(0, I)`` is regression in R
weights. The data enter by sums over rows, in blocks, so that Φ (n, R) is never whole.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from ...ground import check as _check
from ...ground import xp as _xp
from ...ground.chunks import Chunk, Chunks, Data, Mapper, Rows, repeatable
from ...ground.conversion import takes
from ...ground.params import cotangent
from ...ground.xp import MatrixLike, VectorLike, array_namespace
from ...model.gaussian_process import GP, differentiable_mean
from ..linear import WeightPosterior
from ..sufficient_statistics import Statistics, like_data, positive_noise
from .frequencies import Frequencies
from .posterior import FeaturePosterior
from .streaming import Pull, Slopes, Sums, validate_rows

__all__ = [
    "condition",
    "condition_on_chunks",
    "log_evidence",
    "log_evidence_and_gradient",
    "log_evidence_and_gradient_on_chunks",
    "posterior_of",
    "value_and_gradient",
]  # fmt: skip


@takes("X", "y")
def condition(gp: GP, frequencies: Frequencies, X: MatrixLike, y: VectorLike) -> FeaturePosterior:
    """Condition a process on data through its features.

    ``w | y ~ N(B⁻¹Φᵀr / σ², B⁻¹)`` with ``B = I + ΦᵀΦ / σ²`` and ``r = y − m(X)``.

    Parameters
    ----------
    gp : GP
        The process, with a positive ``noise_var``.
    frequencies : Frequencies
        The frequencies, drawn for a kernel of the same terms.

    Returns
    -------
    FeaturePosterior
        The posterior.

    Notes
    -----
    O(n R² + R³) time. Memory is O(R²), whatever n is: Φ is made a few rows at a time. Sums over
    rows are kept in float64 where the device has it.

    Source: Rasmussen & Williams (2006), equation 2.8, with the features of Rahimi & Recht (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, stream
    >>> from gpnotes.infer.features import draw_frequencies
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> frequencies = draw_frequencies(RBF(), X, 100, rng=stream(1))
    >>> posterior = condition(GP(RBF(), 0.01), frequencies, X, np.sin(X[:, 0]))
    >>> posterior.mean(np.asarray([[1.5]])).round(2)
    array([1.])
    """
    validate_rows(_validate(gp, frequencies), frequencies, X, y)
    return posterior_of(gp, frequencies, Rows(X, y))


def condition_on_chunks(
    gp: GP, frequencies: Frequencies, chunks: Iterable[Chunk], *, map: Mapper = builtins.map
) -> FeaturePosterior:
    """`condition` for data in chunks, which may be on other machines.

    ``ΦᵀΦ``, ``Φᵀr`` and ``rᵀr`` of each chunk are worked out by `map` and added. Memory here is
    O(R²) for each answer that is held.

    Parameters
    ----------
    gp, frequencies
        As in `condition`.
    chunks : iterable
        Pairs (X, y), or functions that fetch one, as `chunks.add_up` takes them.
    map : callable, default ``map``
        What works on the chunks, as `chunks.add_up` takes it.

    Returns
    -------
    FeaturePosterior
        The posterior given all chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, stream
    >>> from gpnotes.infer.features import draw_frequencies
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> frequencies = draw_frequencies(RBF(), X, 100, rng=stream(1))
    >>> halves = [(part, np.sin(part[:, 0])) for part in (X[:20], X[20:])]
    >>> posterior = condition_on_chunks(GP(RBF(), 0.01), frequencies, halves)
    >>> posterior.mean(np.asarray([[1.5]])).round(2)
    array([1.])
    """
    return posterior_of(_validate(gp, frequencies), frequencies, Chunks(chunks, map))


@takes("X", "y")
def log_evidence(gp: GP, frequencies: Frequencies, X: MatrixLike, y: VectorLike) -> float:
    """The log evidence of the process by features, ``log N(y; m(X), ΦΦᵀ + σ²I)``.

    Parameters
    ----------
    gp, frequencies, X, y
        As in `condition`.

    Returns
    -------
    float
        The evidence in nats.

    Notes
    -----
    ``−½ (n log 2πσ² + log |B| + rᵀr/σ² − cᵀc)`` with ``c = L⁻¹Φᵀr/σ²``, ``L Lᵀ = B``. O(n R² +
    R³).

    Source: Rasmussen & Williams (2006), equation 5.8, by the determinant and inversion lemmas of
    their appendix A.3.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, stream
    >>> from gpnotes.infer.features import draw_frequencies
    >>> X = np.zeros((1, 1))
    >>> frequencies = draw_frequencies(RBF(), X, 2, rng=stream(1))
    >>> round(log_evidence(GP(RBF(), 1.0), frequencies, X, np.zeros(1)), 4)
    -1.2655
    """
    return Sums(_validate(gp, frequencies), frequencies)(X, y).warned().log_evidence


@takes("X", "y")
def log_evidence_and_gradient(
    gp: GP, frequencies: Frequencies, X: MatrixLike, y: VectorLike
) -> tuple[float, GP]:
    """`log_evidence` and its derivatives by all hyperparameters; the frequencies are held.

    Parameters
    ----------
    gp : GP
        The process; its mean must have a ``pullback``.
    frequencies, X, y
        As in `condition`.

    Returns
    -------
    value : float
        The evidence in nats.
    gp_bar : GP
        The derivatives by all hyperparameters.

    Raises
    ------
    TypeError
        As in `condition`, and for a mean without a ``pullback``.

    Notes
    -----
    ``Φ_bar = α wᵀ − Φ B⁻¹/σ²`` with ``α = (r − Φ w)/σ²`` is carried back through the cosines, a
    few rows at a time, in a second pass over the data. O(n R² + R³).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, stream
    >>> from gpnotes.infer.features import draw_frequencies
    >>> X = np.zeros((1, 1))
    >>> frequencies = draw_frequencies(RBF(), X, 2, rng=stream(1))
    >>> value, gp_bar = log_evidence_and_gradient(GP(RBF(), 1.0), frequencies, X, np.zeros(1))
    >>> round(gp_bar.noise_var, 4)
    -0.25
    """
    differentiable_mean(_validate(gp, frequencies))
    validate_rows(gp, frequencies, X, y)
    return value_and_gradient(gp, frequencies, Rows(X, y))


def log_evidence_and_gradient_on_chunks(
    gp: GP, frequencies: Frequencies, chunks: Iterable[Chunk], *, map: Mapper = builtins.map
) -> tuple[float, GP]:
    """`log_evidence_and_gradient` for data in chunks, which are gone through twice.

    Parameters
    ----------
    gp, frequencies
        As in `log_evidence_and_gradient`.
    chunks, map
        As in `condition_on_chunks`, but that `chunks` must be a list, or another iterable that can
        be gone through more than once.

    Returns
    -------
    value, gp_bar
        As in `log_evidence_and_gradient`.

    Raises
    ------
    TypeError
        As in `condition_on_chunks`, for chunks that can be had only once, and for a mean without a
        ``pullback``.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, stream
    >>> from gpnotes.infer.features import draw_frequencies
    >>> X = np.zeros((1, 1))
    >>> frequencies = draw_frequencies(RBF(), X, 2, rng=stream(1))
    >>> chunks = [(X, np.zeros(1)), (X, np.zeros(1))]
    >>> value, _ = log_evidence_and_gradient_on_chunks(GP(RBF(), 1.0), frequencies, chunks)
    >>> round(value, 4)
    -2.3872
    """
    differentiable_mean(_validate(gp, frequencies))
    return value_and_gradient(gp, frequencies, Chunks(repeatable(chunks), map))


def _validate(gp: GP, frequencies: Frequencies) -> GP:
    """A process with noise, and frequencies."""
    _check.instance(frequencies, "frequencies", Frequencies)
    positive_noise(_check.instance(gp, "gp", GP))
    frequencies.validate_kernel(gp.kernel)
    return gp


def posterior_of(gp: GP, frequencies: Frequencies, data: Data) -> FeaturePosterior:
    """`condition` of a process and frequencies that go together.

    Parameters
    ----------
    data : Rows or Chunks
        The data.
    """
    statistics: Statistics = data.over(Sums(gp, frequencies)).warned()
    root = statistics.factor._half_solve_t(_xp.eye(frequencies.size, statistics.gram))
    weights = WeightPosterior(
        like_data(statistics.weight_mean, frequencies.unit),
        like_data(root, frequencies.unit),
        gp.noise_var,
        statistics.log_evidence,
    )
    return FeaturePosterior(gp, frequencies, weights)


def value_and_gradient(gp: GP, frequencies: Frequencies, data: Data) -> tuple[float, GP]:
    """The evidence and its derivatives, from two passes over the data.

    Parameters
    ----------
    gp, frequencies, data
        As in `posterior_of`.

    Returns
    -------
    value, gp_bar
        As in `log_evidence_and_gradient`.
    """
    sums: Statistics = data.over(Sums(gp, frequencies))
    w = sums.weight_mean
    inverse = sums.factor.inverse()
    left = _xp.diagonal(inverse)
    noise_var = gp.noise_var
    slopes: Slopes = data.over(Pull(gp, frequencies, w, inverse / noise_var))
    # Σᵢ (Φ_bar ∘ Φ)ᵢ = w ∘ w − diag(I − B⁻¹), and tr K_y⁻¹ = (n − tr(I − B⁻¹)) / σ²
    used = frequencies.size - float(array_namespace(left).sum(left))
    noise_bar = sums.squared_alpha(noise_var) - (sums.count - used) / noise_var
    omega_bar = like_data(slopes.omega_bar, frequencies.unit)
    kernel_bar = frequencies.kernel_bar(gp.kernel, w * w - 1.0 + left, omega_bar)
    return sums.log_evidence, cotangent(
        gp, kernel=kernel_bar, noise_var=0.5 * noise_bar, mean=slopes.mean_bar
    )
