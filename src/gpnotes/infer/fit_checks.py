"""Checks at the end of a fit, above all of its noise.

Two ends are tops of the evidence and yet no use: all of y taken for noise, where the start lay far
from the units of the data, and no noise at all, where readings say otherwise. And where a bound
holds the noise, readings may be more precise than it lets them be.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..ground.chunks import Data, Rows
from ..ground.linalg import JitterWarning
from ..ground.params import Parameters
from ..ground.xp import Vector, epsilon, to_numpy
from ..model.bounds import Spread
from ..model.gaussian_process import GP
from ..model.kernels import Constant, Sum
from ..model.means import ZeroMean
from .evidence import Evidence, M, evidence_of
from .interdomain import WaveSums
from .posterior import Posterior

__all__ = [
    "ALL_NOISE", "COPIES", "TOO_HIGH", "TWO_TOPS", "FitWarning", "LeftOut", "far_from_zero",
    "is_all_noise", "is_of_precision", "left_out", "left_out_size", "may_be_noise",
    "may_be_precise", "without_copies",
]  # fmt: skip

_ROWS = 200  # that are compared with all others
_SIGNAL = 0.01  # of the variance of a reading: what another one must be able to tell of it
_SMALL = 1e-3  # of the variance of y: noise that is worth a look
ALL_NOISE = "no reading tells of another: all that varies in y is taken for noise"
TOO_HIGH = "the noise stands on its floor"
COPIES = "the noise fell to its floor, as it must between rows that are copies of others"
TWO_TOPS = "readings can mean another top with less noise"
_OF_PRECISION = (TOO_HIGH, TWO_TOPS, COPIES)
SURPRISE = 3.0  # the root mean square of z from which errors of prediction contradict a fit


class FitWarning(UserWarning):
    """A fit ended where all of y is noise, or its noise or labels contradict it, or nearly did.

    Noise that is smaller than left-out readings allow contradicts them, and so does noise that
    stands on the floor of `gpnotes.fit` where they are more precise, or that a lower top with less
    noise puts in doubt.

    The report of the fit says the same. ``warnings.simplefilter("error", FitWarning)`` makes an
    error of it.
    """


@contextmanager
def may_be_noise() -> Iterator[None]:
    """Within it, a fit whose end or start takes all of y for noise says so in its report alone.

    So it is where a task fits models one by one: a payoff or a state may well be noise.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* taken for noise", FitWarning)
        yield


@contextmanager
def may_be_precise() -> Iterator[None]:
    """Within it, a fit whose noise may be too high says so in its report alone."""
    with warnings.catch_warnings():
        for said in _OF_PRECISION:
            warnings.filterwarnings("ignore", said, FitWarning)
        yield


def is_of_precision(remark: str) -> bool:
    """Return whether a remark of a fit is one that `may_be_precise` keeps to the report."""
    return remark.lower().startswith(_OF_PRECISION)


def is_all_noise(model: object, data: Data | WaveSums, of: Spread) -> bool:
    """Return whether no reading tells of another under a model, so that all of y is noise.

    That is where the covariances of f at two hundred rows with all others differ by less than a
    hundredth of the variance of a reading. A constant that they share is no news, and no part of
    that variance either: a straight line is found with a variance and a lengthscale as large as you
    like, whose covariances differ little from each other, and much in units of the noise.
    """
    gp = getattr(model, "gp", model)
    if of.latent or not (isinstance(gp, GP) and isinstance(data, Rows)):
        return False
    n = data.X.shape[0]
    if gp.kernel.labels_rows or n < 3:
        return False
    step = -(-n // _ROWS)
    # a copy, since the entries of rows with themselves are overwritten below
    K = np.array(to_numpy(gp.kernel._gram(data.X[::step, :], data.X)), dtype=np.float64)
    here = np.arange(0, n, step)
    own = K[np.arange(len(here)), here] + gp.noise_var
    # its covariance with itself tells nothing of others: that with a neighbour stands there
    K[np.arange(len(here)), here] = K[np.arange(len(here)), (here + 1) % n]
    least = np.min(K)
    return float(np.max(K) - least) < _SIGNAL * float(np.max(own) - least)


def left_out_size(
    evidence: Evidence[Any, Posterior], model: Parameters, data: Data | WaveSums, of: Spread
) -> float:
    """Return the root mean square of ``zᵢ = (yᵢ − mean) / sd``, each from all others.

    It is near 1 where a model is right. Zero where there is no reason to look: of models but a
    `GP`, and where the noise is more than a thousandth of the variance of y. [eq-fv-loo].
    """
    if type(model) is not GP or not isinstance(data, Rows):
        return 0.0
    if model.noise_var > _SMALL * of.unit * of.unit or data.noise_var is not None or of.constant:
        return 0.0
    found = left_out(evidence, model, data)
    return found.size if found else 0.0


class LeftOut(NamedTuple):
    """Predictions of readings, each from all others.

    Parameters
    ----------
    size : float
        The root mean square of ``zᵢ = (yᵢ − mean) / sd``, near 1 where a model is right.
    density : float
        The average of their log densities.
    rounding : float
        About how far rounding may have moved the log evidence, for each reading, or its variance
        in units of the noise, whichever is more; infinite where a Gram matrix needed jitter.
    readings : int
        How many were left out.
    """

    size: float
    density: float
    rounding: float
    readings: int

    @property
    def is_far_within(self) -> bool:
        """True if errors are so much smaller than their deviations that it is hardly chance.

        The root mean square of n standard normals is 1 with a deviation of about ``1 / √(2n)``. It
        has to be two of these below 1, and a tenth where there are many.
        """
        return self.size < 1.0 - math.sqrt(2.0 / min(self.readings, _ROWS))


def left_out(evidence: Evidence[M, Posterior], model: M, data: Data | WaveSums) -> LeftOut | None:
    """Leave each reading out in turn, or return None where that tells nothing.

    Of a `GP` it is exact, [eq-fv-loo]. Of other models with normal noise of variance s it is of two
    hundred readings, by the moments m and v of f at them: with ``h = v / s`` the error is
    ``(y − m) / (1 − h)``, its variance ``s / (1 − h)``. Where an approximation or rounding has an h
    above 1 there is nothing to tell. Of rows that are copies, y too, one is there: another would
    tell it without an error.
    """
    if not isinstance(data, Rows):
        return None
    kept = without_copies(data)
    if kept.X.shape[0] < 3:
        return None
    if kept is not data:
        data, evidence = kept, evidence_of(model, kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitterWarning)
        posterior = evidence.posterior(model)
    exact = type(model) is GP
    told = _left_out_exactly(posterior) if exact else _left_out_by_moments(posterior, data)
    error, variance = (to_numpy(one).astype(np.float64) for one in told)
    # a reading that its others leave no variance divides by zero, which is looked at below
    with np.errstate(all="ignore"):
        squares = np.square(error) / variance
        size = float(np.sqrt(np.mean(squares)))
        density = -0.5 * float(np.mean(squares + np.log(2.0 * math.pi * variance)))
    if not (math.isfinite(size) and math.isfinite(density)):
        return None
    return LeftOut(size, density, _rounding_of(posterior, data), error.size)


def without_copies(rows: Rows) -> Rows:
    """Return rows without those that repeat another, in X, y and in their known quantities.

    Rows of other libraries than NumPy are all kept.
    """
    if not isinstance(rows.X, np.ndarray):
        return rows
    held = np.column_stack([one for one in _columns_of(rows) if one is not None])
    _, first = np.unique(held, axis=0, return_index=True)
    if len(first) == rows.X.shape[0]:
        return rows
    # `unique` has sorted by values: sorted again, the rows stay in the order they came in
    kept = np.sort(first)
    known = (one if one is None else one[kept] for one in _columns_of(rows)[2:])
    return Rows(rows.X[kept], rows.y[kept], *known)


def _columns_of(rows: Rows) -> tuple[Any, ...]:
    return rows.X, rows.y, rows.noise_var, rows.weights, rows.offset


def _rounding_of(posterior: Any, rows: Rows) -> float:
    """Return the error of the log evidence by rounding, for each reading, or a bound of it."""
    n = rows.X.shape[0]
    size = float(np.max(to_numpy(posterior.gp.kernel._diag(rows.X[: min(n, _ROWS), :]))))
    of_variance = epsilon(rows.y) * size / posterior.gp.noise_var  # what remains of the prior's
    if type(posterior.gp) is not GP or not hasattr(posterior, "evidence_error"):
        return n * of_variance
    return math.inf if posterior.cholesky.jitter else max(posterior.evidence_error / n, of_variance)


def _left_out_exactly(posterior: Any) -> tuple[Vector, Vector]:
    """Errors of readings that are left out, and their variances."""
    one = posterior.leave_one_out()
    return posterior.y - one.mean, one.variance


def _left_out_by_moments(posterior: Posterior, rows: Rows) -> tuple[Vector, Vector]:
    """Return the same for some readings, from the moments of f and their noise."""
    step = -(-rows.X.shape[0] // _ROWS)
    X, y = rows.X[::step, :], rows.y[::step]
    mean, of_f = posterior.predict(X)
    noise = _of_each(rows, posterior.predict(X, noise=True)[1] - of_f, step)
    # near 0 where f at a reading is known from that reading alone: its error is nearly 0 / 0
    rest = 1.0 - of_f / noise
    return (y - mean) / rest, noise / rest


def _of_each(rows: Rows, noise: Vector, step: int) -> Vector:
    """Return the noise of some readings, from that of the model and their known noise."""
    if rows.weights is not None:
        noise = noise / rows.weights[::step]
    return noise if rows.noise_var is None else noise + rows.noise_var[::step]


def far_from_zero(model: object, of: Spread) -> tuple[float, ...]:
    """Return mean and standard deviation of y, if a model without a level leaves it far off."""
    gp = getattr(model, "gp", model)
    mean, sd = float(of.mean[-1]), float(of.deviation[-1])
    if of.latent or of.constant or of.count < 2 or abs(mean) <= sd or not isinstance(gp, GP):
        return ()
    parts = gp.kernel.parts if isinstance(gp.kernel, Sum) else (gp.kernel,)
    level = gp.kernel.labels_rows or any(isinstance(part, Constant) for part in parts)
    return () if level or type(gp.mean) is not ZeroMean else (mean, sd)
