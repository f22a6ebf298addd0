"""Reliability diagrams: predictions, outcomes, and the gap that chance may leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.random import RNG, stream_of
from ...ground.showing import summary
from ...ground.xp import (
    Array,
    Matrix,
    Vector,
    VectorLike,
    array_namespace,
    as_array,
    as_index,
    device,
    to_numpy,
)
from .label_checks import is_one, labels, probabilities

__all__ = ["Reliability", "consistency_resampling", "reliability", "reliability_of_groups"]

_CHUNK = 2**22  # labels that are drawn at once


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability diagram, bin by bin; made by `reliability`. Bins that are empty are left out.

    Parameters
    ----------
    count : Vector, shape (b,)
        How many predictions each bin has; positive, and the counts add up to n.
    confidence : Vector, shape (b,)
        The mean of the predicted probabilities in the bin.
    frequency : Vector, shape (b,)
        The share of labels that are 1.
    sd : Vector, shape (b,)
        ``√(Σ pᵢ (1 − pᵢ)) / n_b``: the standard deviation that `frequency` has if every prediction
        in the bin is right.
    squared_gap : Vector, shape (b,)
        ``Σ_{i≠j} dᵢ dⱼ / (n_b (n_b − 1))`` with ``dᵢ = [yᵢ = 1] − pᵢ``: an unbiased estimate of the
        square of the gap, which may be negative. It is zero in a bin of one, which tells nothing.

    Notes
    -----
    All are in float64 where the device has it. Equations [eq-ca-bin], [eq-ca-variance] and
    [eq-ca-unbiased].
    """

    count: Vector
    confidence: Vector
    frequency: Vector
    sd: Vector
    squared_gap: Vector

    __repr__ = summary

    @property
    def gap(self) -> Vector:
        """The outcome less the prediction, `frequency` − `confidence`, of each bin."""
        return self.frequency - self.confidence

    @property
    def expected_calibration_error(self) -> float:
        """The expected calibration error, the mean of ``|gap|`` over all predictions."""
        return self._mean(array_namespace(self.count).abs(self.gap))

    @property
    def maximum_calibration_error(self) -> float:
        """The largest ``|gap|``, the maximum calibration error."""
        xp = array_namespace(self.count)
        return float(xp.max(xp.abs(self.gap)))

    @property
    def squared_error(self) -> float:
        """The mean of ``gap²`` over all predictions; by chance it is larger than the truth's."""
        return self._mean(self.gap**2)

    @property
    def unbiased_squared_error(self) -> float:
        """The same without the share of chance; unbiased, and so at times below zero.

        Bins of one prediction, which tell nothing of it, have no part in the mean.
        """
        xp = array_namespace(self.count)
        several = xp.astype(self.count > 1.0, self.count.dtype)
        total = float(xp.sum(several * self.count))
        if total == 0.0:
            raise ValueError("a bin must have at least two predictions; each has one: take fewer")
        return float(xp.sum(several * self.count * self.squared_gap)) / total

    @property
    def bound_if_calibrated(self) -> float:
        """The most that `expected_calibration_error` is on average if every prediction is right.

        The mean of `sd` over all predictions, [eq-ca-chance]. With many labels in each bin, the
        average is ``√(2/π)``, four fifths, of it.
        """
        return self._mean(self.sd)

    def _mean(self, a: Vector) -> float:
        xp = array_namespace(a)
        return float(xp.sum(self.count * a) / xp.sum(self.count))


@takes("y", "probability")
def reliability(
    y: VectorLike, probability: VectorLike, bins: int = 10, *, strategy: str = "uniform"
) -> Reliability:
    """Compare predicted probabilities p (n,) with labels y (n,), in bins by prediction.

    Parameters
    ----------
    y : Vector, shape (n,)
        The labels, 1 and −1, which the predictions have not seen.
    probability : Vector, shape (n,)
        The predicted probabilities of the label 1.
    bins : int, default 10
        How many bins there are.
    strategy : str, default "uniform"
        ``"uniform"`` for bins of one width, from 0 to 1; ``"quantile"`` for bins of one size, as
        near as ties allow: equal predictions stay together.

    Notes
    -----
    Inner edges belong to the bin below, as in scikit-learn's ``calibration_curve``. Of more than
    two classes, pass the probability of the class that was predicted, and 1 where it was right.
    Source: Bröcker & Smith (2007).

    Examples
    --------
    >>> import numpy as np
    >>> y, p = np.asarray([-1.0, 1.0, 1.0, -1.0, 1.0]), np.asarray([0.1, 0.2, 0.8, 0.8, 0.9])
    >>> diagram = reliability(y, p, 2)
    >>> diagram.confidence.round(2), diagram.frequency.round(2), diagram.count
    (array([0.15, 0.83]), array([0.5 , 0.67]), array([2., 3.]))
    >>> round(diagram.expected_calibration_error, 2)
    0.24
    """
    p = probabilities(probability, labels(y))
    return _diagram(is_one(y), p, _binned(p, bins, strategy))


@takes("y", "probability")
def reliability_of_groups(
    y: VectorLike, probability: VectorLike, groups: Array | Sequence[int]
) -> Reliability:
    """Compare predicted probabilities p (n,) with labels y (n,) in groups that are given.

    Parameters
    ----------
    y : Vector, shape (n,)
        The labels, 1 and −1.
    probability : Vector, shape (n,)
        The predicted probabilities of the label 1.
    groups : Array or sequence, shape (n,)
        A whole number from 0 for each prediction: which group it is in.

    Notes
    -----
    Groups may go by anything that was known before the labels were: hospitals, ages, the
    predictions themselves. Groups by lot tell next to nothing, [eq-ca-random].

    Examples
    --------
    >>> import numpy as np
    >>> y, p = np.asarray([-1.0, 1.0, 1.0, -1.0]), np.asarray([0.1, 0.2, 0.8, 0.9])
    >>> reliability_of_groups(y, p, [0, 1, 0, 1]).gap.round(2)
    array([ 0.05, -0.05])
    """
    p = probabilities(probability, labels(y))
    return _diagram(is_one(y), p, _groups(groups, p))


@takes("probability")
def consistency_resampling(
    probability: VectorLike, num_samples: int = 1000, bins: int = 10, *,
    strategy: str = "uniform", rng: RNG,
) -> Vector:  # fmt: skip
    """Draw labels from the predicted probabilities themselves, and return the error of each draw.

    Parameters
    ----------
    probability, bins
        As in `reliability`.
    num_samples : int, default 1000
        How often n labels are drawn.
    strategy : str, default "uniform"
        As in `reliability`.

    Returns
    -------
    Vector, shape (num_samples,)
        The expected calibration error of each draw. An error of real labels that most of these
        exceed is within chance for a calibrated model.

    Notes
    -----
    Costs O(n · num_samples). Source: Bröcker & Smith (2007), whose consistency bars are those of
    each bin; they draw the predictions anew too, with replacement, which here stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import stream
    >>> p = np.linspace(0.0, 1.0, 201)
    >>> bool(0.03 < consistency_resampling(p, rng=stream(1)).mean() < 0.09)
    True
    """
    p = probabilities(probability)
    stream = stream_of(rng)
    num_samples = memory.count(num_samples, "num_samples", each=2, like=p)
    share = _membership(_binned(p, bins, strategy), p)
    xp = array_namespace(p)
    rows = max(1, _CHUNK // p.shape[0])
    parts = []
    for start in range(0, num_samples, rows):
        shape = (min(rows, num_samples - start), p.shape[0])
        ones = xp.astype(stream.uniform(shape, like=p) < p[None, :], p.dtype)
        parts.append(xp.sum(xp.abs((ones - p[None, :]) @ share), axis=1) / p.shape[0])
    return xp.concat(parts)


def _binned(p: Vector, bins: int, strategy: str) -> Vector:
    """For each prediction the number of its bin."""
    bins = memory.count(bins, "bins", each=3, like=p)
    if _check.choice(strategy, "strategy", ("uniform", "quantile")) == "uniform":
        return _above(p, as_array(np.arange(1, bins) / bins, p))
    n = p.shape[0]
    if bins > n:
        raise ValueError(f"bins of one size must be at most the {n} predictions; got {bins}")
    xp = array_namespace(p)
    last = [(n - 1) * k // bins for k in range(1, bins)]  # of each bin but the last
    return _above(p, xp.take(xp.sort(p), as_index(last, p)))


def _above(p: Vector, edges: Vector) -> Vector:
    """For each prediction how many of the edges it is above."""
    xp = array_namespace(p)
    return xp.searchsorted(edges, p, side="left")


def _groups(groups: Any, p: Vector) -> Vector:
    wanted = "groups must be whole numbers from 0, one for each prediction"
    xp = array_namespace(p)
    groups = getattr(groups, "to_numpy", lambda: groups)()  # of a column of pandas or Polars
    if isinstance(groups, list | tuple):
        groups = as_index([_check.whole(one, "groups", 0) for one in groups], p)
    _check.plain(_check.array(groups, "groups"), "groups")
    if array_namespace(groups) != xp or not xp.isdtype(groups.dtype, "integral"):
        raise TypeError(f"{wanted}; got {_check.kind_of(groups)} of {groups.dtype}")
    if groups.shape != p.shape:
        raise ValueError(f"{wanted}: {p.shape[0]}; got the shape {tuple(groups.shape)}")
    if int(xp.min(groups)) < 0:
        raise ValueError(f"{wanted}; got {int(xp.min(groups))}")
    return groups


def _membership(numbers: Vector, p: Vector) -> Matrix:
    """For each prediction (a row) one in the column of its bin, of the bins that are not empty."""
    xp = array_namespace(p)
    present = xp.asarray(np.unique(to_numpy(numbers)), dtype=numbers.dtype, device=device(p))
    return xp.astype(numbers[:, None] == present[None, :], p.dtype)


def _diagram(ones: Vector, p: Vector, numbers: Vector) -> Reliability:
    xp = array_namespace(p)
    member = _membership(numbers, p)
    count = xp.sum(member, axis=0)
    off = ones - p
    total = off @ member
    pairs = total**2 - (off * off) @ member  # Σ dᵢ dⱼ over i ≠ j
    alone = count < 2.0
    orders = xp.where(alone, xp.ones_like(count), count * (count - 1.0))
    return Reliability(
        count,
        (p @ member) / count,
        (ones @ member) / count,
        xp.sqrt((p * (1.0 - p)) @ member) / count,
        xp.where(alone, xp.zeros_like(count), pairs / orders),
    )
