"""Scores of predictions: held-out y under normal predictions, each with its limit.

Held-out y (n,), predictive means and variances (n,) are arrays of one kind; a variance is that of
an observation, with the noise in it. Scores are Python floats, worked out in float64 where the
device has it. *Trivial* is the prediction that looks at no input: the mean, or the normal
distribution, of the targets that a model was trained on. All but `coverage` are losses: less is
better. The least value of a loss in one sample is not the value that a true model reaches on
average, and so every docstring gives both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from ..ground import check as _check
from ..ground.conversion import takes
from ..ground.xp import (
    LOG_2PI,
    Namespace,
    Vector,
    VectorLike,
    array_namespace,
    how_many,
    in_double,
    log_normal_cdf,
)

__all__ = [
    "Scores", "coverage", "crps", "log_loss", "mean_squared_error", "mean_standardised_log_loss",
    "score_all", "standardised_mean_squared_error",
]  # fmt: skip


@dataclass(frozen=True)
class Scores:
    """All scores of one set of held-out y, made by `score_all`; each is a function of this module.

    Parameters
    ----------
    mean_squared_error : float
        As `mean_squared_error` gives it.
    standardised_mean_squared_error : float or None
        None for y that are all equal, as of a single one.
    log_loss : float
        As `log_loss` gives it.
    mean_standardised_log_loss : float or None
        None after training on targets that are all equal.
    crps : float
        As `crps` gives it.
    coverage : float
        As `coverage` gives it.
    """

    mean_squared_error: float
    standardised_mean_squared_error: float | None
    log_loss: float
    mean_standardised_log_loss: float | None
    crps: float
    coverage: float


@takes("y", "mean")
def mean_squared_error(y: VectorLike, mean: VectorLike) -> float:
    """Return the mean squared error of predictive means m (n,) for held-out y (n,).

    Parameters
    ----------
    y : Vector, shape (n,)
        The held-out observations.
    mean : Vector, shape (n,)
        Their predictive means.

    Returns
    -------
    float
        ``Σ (yᵢ − mᵢ)² / n``, in the unit of y².

    Notes
    -----
    Zero if every y is met. On average over noise, ``E[y | x]`` is the best mean, and its loss
    is the variance of the noise. The mean of the y themselves, whatever x is, gets their variance.
    Source: Rasmussen & Williams (2006), section 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> mean_squared_error(np.asarray([1.0, 2.0]), np.asarray([1.0, 4.0]))
    2.0
    """
    return _average((_held_out(y) - _predicted(mean, y)) ** 2)


@takes("y", "mean")
def standardised_mean_squared_error(y: VectorLike, mean: VectorLike) -> float:
    """Return `mean_squared_error` divided by the variance of the held-out y; it has no unit.

    Parameters
    ----------
    y, mean
        As in `mean_squared_error`.

    Returns
    -------
    float
        The share of the variance ``Σ (yᵢ − ȳ)² / n`` that the errors are.

    Notes
    -----
    Zero if every y is met; on average over noise at best its share of the variance of y, not zero.
    A constant c gets ``1 + (c − ȳ)² / var(y)``: the mean of the training targets a little more
    than one. Units of y do not matter. Source: Rasmussen & Williams (2006), section 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> standardised_mean_squared_error(np.asarray([1.0, 3.0]), np.asarray([1.0, 4.0]))
    0.5
    """
    target, predicted = _held_out(y), _predicted(mean, y)
    spread = _spread(target, "y")
    # in units of the range, in which no square is too small for a float
    xp = array_namespace(target)
    error = _check.squarable(
        (target - predicted) / spread, "(y − mean), in units of the range of y"
    )
    deviation = (target - xp.mean(target)) / spread
    return _average(error**2) / _average(deviation**2)


@takes("y", "mean", "variance")
def log_loss(y: VectorLike, mean: VectorLike, variance: VectorLike) -> float:
    """Return the mean negative log density of held-out y (n,) under normal predictions, in nats.

    Parameters
    ----------
    y : Vector, shape (n,)
        The held-out observations.
    mean : Vector, shape (n,)
        Their predictive means, m.
    variance : Vector, shape (n,)
        Their predictive variances, v, with the noise.

    Returns
    -------
    float
        ``−Σ log N(yᵢ; mᵢ, vᵢ) / n``.

    Notes
    -----
    A density has the unit 1/y, so the loss has no zero: y in a unit s times smaller add log s. It
    has no least value either: it goes to minus infinity as v shrinks around means that are met. On
    average it is least where N(m, v) is true, and there is ``Σ ½ log(2πe vᵢ) / n``; the excess of
    a model is its Kullback-Leibler divergence from the truth. Source: Rasmussen & Williams
    (2006), section 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> round(log_loss(np.zeros(1), np.zeros(1), np.ones(1)), 4)
    0.9189
    """
    xp, z, variance = _standardised(y, mean, variance)
    return 0.5 * (_average(z * z + xp.log(variance)) + LOG_2PI)


@takes("y", "mean", "variance", "y_train")
def mean_standardised_log_loss(
    y: VectorLike, mean: VectorLike, variance: VectorLike, y_train: VectorLike
) -> float:
    """Return `log_loss` less that of the trivial prediction from the training targets, in nats.

    Parameters
    ----------
    y, mean
        As in `mean_squared_error`.
    variance : Vector, shape (n,)
        Their predictive variances, v, with the noise.
    y_train : Vector, shape (k,)
        The targets of the training, of mean ȳ and variance ``s² = Σ (y_train − ȳ)² / k``.

    Returns
    -------
    float
        The loss less that of the trivial ``N(ȳ, s²)``.

    Notes
    -----
    The trivial prediction gets zero, a better one less than that, without a bound below. If the
    predictions are true, and ȳ and s² those of the held-out y as well, it is on average
    ``½ mean log(vᵢ / s²)``. Units of y do not matter.
    Source: Rasmussen & Williams (2006), section 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> y_train = np.asarray([-1.0, 1.0])
    >>> mean_standardised_log_loss(np.zeros(1), np.zeros(1), np.ones(1), y_train)
    0.0
    >>> round(mean_standardised_log_loss(np.zeros(1), np.zeros(1), np.full(1, 0.01), y_train), 4)
    -2.3026
    """
    xp, z, variance = _standardised(y, mean, variance)
    target, trained = _held_out(y), _trained(y_train, y)
    spread = _spread(trained, "y_train")
    centre = xp.mean(trained)
    sd = spread * math.sqrt(_average(((trained - centre) / spread) ** 2))
    trivial = _check.squarable((target - centre) / sd, "(y − mean of y_train) / sd of y_train")
    return 0.5 * _average(z * z + xp.log(variance) - trivial * trivial) - math.log(sd)


@takes("y", "mean", "variance")
def crps(y: VectorLike, mean: VectorLike, variance: VectorLike) -> float:
    """Return the continuous ranked probability score of normal predictions, in the unit of y.

    Parameters
    ----------
    y, mean, variance
        As in `log_loss`.

    Notes
    -----
    The mean over i of ``∫ (Φ((t − mᵢ)/sᵢ) − [t ≥ yᵢ])² dt = sᵢ (z(2Φ(z) − 1) + 2φ(z) − 1/√π)``
    with ``sᵢ² = vᵢ`` and ``z = (yᵢ − mᵢ)/sᵢ``. As v goes to zero, it becomes ``|yᵢ − mᵢ|``, and so
    zero if every y is met; for a given s it is least, ``(√2 − 1) s/√π``, at y = m. On average it
    is least where N(m, v) is true, and there is ``s/√π``: as the trivial prediction gets too,
    with the larger s of all targets, if they are normal. Source: Gneiting, Raftery, Westveld &
    Goldman (2005), equation 5.

    Examples
    --------
    >>> import numpy as np
    >>> round(crps(np.zeros(1), np.zeros(1), np.ones(1)), 4)
    0.2337
    """
    xp, z, variance = _standardised(y, mean, variance)
    far = xp.abs(z)
    tail = xp.exp(log_normal_cdf(-far))
    density = xp.exp(-0.5 * (z * z + LOG_2PI))
    unit = far * (1.0 - 2.0 * tail) + 2.0 * density - 1.0 / math.sqrt(math.pi)
    return _average(xp.sqrt(variance) * unit)


@takes("y", "mean", "variance")
def coverage(y: VectorLike, mean: VectorLike, variance: VectorLike, level: float = 0.95) -> float:
    """Return the share of y (n,) in the central intervals that hold it with probability `level`.

    Parameters
    ----------
    y, mean, variance
        As in `log_loss`.
    level : float, default 0.95
        The probability, between 0 and 1.

    Returns
    -------
    float
        The share of y with ``|yᵢ − mᵢ| ≤ q √vᵢ``, where ``q = Φ⁻¹((1 + level)/2)``.

    Notes
    -----
    Best is `level`, not 1, which intervals without end would get. If the predictions are true and
    the y independent given them, it scatters around `level` with the standard deviation
    ``√(level (1 − level)/n)``. It says nothing of how narrow the intervals are: the trivial
    prediction gets `level` as well, if all targets are normal. Units of y do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> coverage(np.asarray([0.0, 1.9, 2.0, -2.1]), np.zeros(4), np.ones(4))
    0.5
    """
    reach = sds_to_each_side(level)
    xp, z, variance = _standardised(y, mean, variance)
    return _average(xp.astype(xp.abs(z) <= reach, variance.dtype))


@takes("y", "mean", "variance", "y_train")
def score_all(
    y: VectorLike, mean: VectorLike, variance: VectorLike, y_train: VectorLike, level: float = 0.95
) -> Scores:
    """Return all scores of y (n,) under normal predictions, given the training targets.

    Parameters
    ----------
    y, mean
        As in `mean_squared_error`.
    variance : Vector, shape (n,)
        Their predictive variances, with the noise.
    y_train : Vector, shape (k,)
        The targets of the training.
    level : float, default 0.95
        The probability of the intervals of `coverage`.

    Returns
    -------
    Scores
        The scores. `y` or `y_train` that are all equal are no error, but leave it without a
        standardised score.

    Examples
    --------
    >>> import numpy as np
    >>> scores = score_all(np.zeros(1), np.zeros(1), np.ones(1), np.asarray([-1.0, 1.0]))
    >>> scores.coverage, scores.mean_standardised_log_loss, scores.standardised_mean_squared_error
    (1.0, 0.0, None)
    """
    _held_out(y)
    _trained(y_train, y)
    normal = y, mean, variance
    return Scores(
        mean_squared_error(y, mean),
        standardised_mean_squared_error(y, mean) if _vary(y) else None,
        log_loss(*normal),
        mean_standardised_log_loss(*normal, y_train) if _vary(y_train) else None,
        crps(*normal),
        coverage(*normal, level),
    )


def _held_out(y: Vector) -> Vector:
    """y in float64, if it is finite and not empty."""
    return _filled(_check.vector(y, "y"), "y")


def _predicted(mean: Vector, y: Vector) -> Vector:
    """The means in float64, if they are as many as the y and of their kind."""
    _check.vector(mean, "mean", size=y.shape[0])
    return _filled(_check.alike(mean, "mean", y, "y"), "mean")


def _trained(y_train: Vector, y: Vector) -> Vector:
    """The targets of the training in float64, if they are of the kind of y, however many."""
    _check.vector(y_train, "y_train")
    return _filled(_check.alike(y_train, "y_train", y, "y"), "y_train")


def _filled(a: Vector, name: str) -> Vector:
    if a.shape[0] == 0:
        raise ValueError(f"{name} must have at least one entry; got (0,)")
    return in_double(_check.squarable(a, name))


def _standardised(y: Vector, mean: Vector, variance: Vector) -> tuple[Namespace, Vector, Vector]:
    """The namespace, ``z = (y − mean) / √variance``, and the variance, in float64."""
    target, predicted = _held_out(y), _predicted(mean, y)
    _check.alike(_check.vector(variance, "variance", size=y.shape[0]), "variance", y, "y")
    xp = array_namespace(target)
    count, row = how_many(variance <= 0.0)
    if count:
        where = f"the first in row {row}: {float(variance[row])}"
        raise ValueError(f"variance must be positive; {count} of its entries are not, {where}")
    variance = in_double(variance)
    z = (target - predicted) / xp.sqrt(variance)
    return xp, _check.squarable(z, "(y − mean) / √variance"), variance


def _spread(a: Vector, name: str) -> float:
    """The range of `a`, if its entries are not all equal."""
    xp = array_namespace(a)
    if not _vary(a):
        raise ValueError(f"{name} must vary; its {a.shape[0]} entries are all {float(a[0])}")
    return float(xp.max(a)) - float(xp.min(a))


def _vary(a: Vector) -> bool:
    xp = array_namespace(a)
    return float(xp.max(a)) > float(xp.min(a))


def sds_to_each_side(level: float) -> float:
    """``Φ⁻¹((1 + level)/2)``: half the width of the central interval of a level."""
    level = _check.number(level, "level")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level}")
    return -NormalDist().inv_cdf(0.5 * (1.0 - level))  # of the lower tail: nothing rounds to one


def _average(a: Vector) -> float:
    return float(array_namespace(a).mean(a))
