"""Cross-validation: every row is predicted once by a model that has not seen it.

Everything that is learnt from data must not see a held-out row: the posterior, its
hyperparameters, and the means and scales by which data are standardised. So cross-validation takes
no model but the function that makes one from data, ``fit(X, y)``, and gives it the other rows
alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.conversion import columns_of, floats, refuse_other_order, takes
from ..ground.jobs import Jobs, checked_jobs, mapper_of
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import (
    Array,
    HostVector,
    Matrix,
    MatrixLike,
    Vector,
    VectorLike,
    array_namespace,
    device,
    to_numpy,
)
from .scores import Scores, score_all, sds_to_each_side

__all__ = ["CrossValidation", "cross_validate", "group_folds", "kfold"]


class Predictive(Protocol):
    """The answer of a fit: a posterior that predicts observations, as `gpnotes.condition` gives."""

    def predict(self, Xs: Matrix, /, *, noise: bool) -> tuple[Vector, Vector]:
        """Return mean and variance (n*,) of y at Xs (n*, d), with the noise in the variance."""


FitFunction: TypeAlias = Callable[[Matrix, Vector], Predictive]
"""All that is learnt from inputs X (n, d) and observations y (n,)."""

Folds: TypeAlias = tuple[tuple[HostVector, HostVector], ...]
"""Rows to train on and rows to hold out, of each fold: ascending whole numbers, on the host."""


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The scores and predictions of each fold; made by `cross_validate`.

    Parameters
    ----------
    scores : tuple of Scores
        The scores, one entry a fold.
    held_out : tuple of HostVector
        The numbers of the rows that were held out, one entry a fold.
    predicted_mean : Vector, shape (n,)
        The means, in the order of the rows of X.
    predicted_variance : Vector, shape (n,)
        The variances, in the same order; those of an observation.
    level : float
        The probability of the intervals of the coverage.

    Notes
    -----
    The functions of `scores` take the predictions for other scores, and for scores of all rows
    together, which differ from `mean` where folds have different sizes.
    """

    scores: tuple[Scores, ...]
    held_out: tuple[HostVector, ...]
    predicted_mean: Vector
    predicted_variance: Vector
    level: float

    __repr__ = summary

    @property
    def mean(self) -> Scores:
        """The mean of each score over the folds; None for one that a fold has not got."""
        return _over_folds(self.scores, statistics.fmean)

    @property
    def sd(self) -> Scores:
        """The standard deviation of each score over the K folds, with K − 1 in its denominator.

        Folds share rows to train on, so that ``sd / √K`` may be far too small for a standard error
        of the mean. Source: Bengio & Grandvalet (2004).
        """
        return _over_folds(self.scores, statistics.stdev)


def _over_folds(scores: Sequence[Scores], summary: Callable[[Sequence[float]], float]) -> Scores:
    columns = zip(*(astuple(one) for one in scores), strict=True)
    values: list[Any] = [None if None in column else summary(column) for column in columns]
    return Scores(*values)


def kfold(n: int, folds: int, *, rng: RNG) -> Folds:
    """Deal the rows 0, …, n − 1 to folds by a permutation.

    Parameters
    ----------
    n : int
        The number of rows.
    folds : int
        The number of folds, from 2 to `n`.

    Returns
    -------
    Folds
        The rows (train, held out) of each fold, ascending, on the host.

    Notes
    -----
    Every row is held out once. Sizes differ by one at most; with ``folds = n`` one row is left out
    at a time, and the order of folds is all that is left to chance.

    Examples
    --------
    >>> from gpnotes import stream
    >>> [(len(train), len(test)) for train, test in kfold(5, 2, rng=stream(1))]
    [(2, 3), (3, 2)]
    """
    n = memory.count(n, "n", 2, each=2)
    folds = _check.whole(folds, "folds", 2)
    if folds > n:
        raise ValueError(
            f"folds must be a whole number from 2 to the number of rows, {n}; got {folds}"
        )
    stream = stream_of(rng)
    dealt = np.empty(n, dtype=np.int64)
    dealt[to_numpy(stream.permutation(n))] = np.arange(n) % folds
    return _split(dealt)


def group_folds(groups: Array | Sequence[int | str]) -> Folds:
    """Make a fold for each label of groups (n,) of rows that tell of each other.

    Parameters
    ----------
    groups : Array or sequence, shape (n,)
        The labels, all whole numbers or all strings; a column of a frame will do.

    Returns
    -------
    Folds
        The rows (train, held out) of each fold, in the order of the labels.

    Notes
    -----
    Rows tell of each other as readings of one subject do, or stretches of a time series, such as
    ``np.arange(n) * 5 // n``. Held out one at a time among their neighbours, such rows would be
    predicted from neighbours that a new subject or another year does not have. Rows at the ends of
    a stretch still have neighbours in the next.

    Examples
    --------
    >>> [test.tolist() for train, test in group_folds(["b", "a", "b"])]
    [[1], [0, 2]]
    """
    return _split(_numbered(groups))


@takes("X", "y", kept=("X",))
def cross_validate(
    fit: FitFunction,
    X: MatrixLike,
    y: VectorLike,
    folds: int | None = None,
    *,
    groups: Array | Sequence[int | str] | None = None,
    level: float = 0.95,
    jobs: Jobs = 1,
    rng: RNG | None = None,
) -> CrossValidation:
    """Score predictions of y (n,) at X (n, d), each by a fit to rows that it is not among.

    Parameters
    ----------
    fit : callable
        ``fit(X, y)`` returns a posterior with ``predict(Xs, noise=True)``. It is called once for
        each fold with copies of the other rows, and nothing else comes to it. A frame comes as a
        frame, so that `fit` may name columns, as ``noise_var="error"``.
    folds : int or None, default None
        How many folds `rng` deals the rows to, as in `kfold`.
    groups : Array or sequence, shape (n,), or None
        Labels, a fold for each, as in `group_folds`; instead of `folds` and `rng`.
    level : float, default 0.95
        The probability with which the intervals of the coverage hold y.
    jobs : int or callable, default 1
        On how many processes `fit` is called, by ``joblib``, or the `map` that calls it, as in
        `gpnotes.fit`. On a device `stacks.in_step` fits small folds at once.
    rng : Stream, Generator, int or None, default None
        The source of random numbers.

    Returns
    -------
    CrossValidation
        The scores of each fold, and the predictions of each row.

    Notes
    -----
    Values that `fit` learns itself, such as hyperparameters or the scale of y, have not seen the
    rows held out. Choices made before, by a look at all rows, have. An error of `fit` comes through
    with a note of the fold. Source: Rasmussen & Williams (2006), section 5.3.

    Examples
    --------
    >>> from gpnotes import GP, RBF, condition, stream
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> quiet = GP(RBF(), 1e-4)
    >>> found = cross_validate(lambda X, y: condition(quiet, X, y), X, y, 5, rng=stream(1))
    >>> len(found.scores), found.mean.standardised_mean_squared_error < 0.01
    (5, True)
    """
    refuse_other_order({"X": X, "groups": groups})
    n = _admitted(fit, floats(X, "X"), y)
    sds_to_each_side(level)
    pairs = _pairs(n, folds, rng, groups)
    in_fold = partial(_in_fold, fit, X, y, level)
    parts = list(mapper_of(checked_jobs(jobs))(in_fold, list(enumerate(pairs))))
    scores, means, variances = zip(*parts, strict=True)
    held_out = tuple(test for _, test in pairs)
    back = np.argsort(np.concatenate(held_out))  # from the order of the folds to that of the rows
    xp = array_namespace(y)
    mean, variance = (_rows(xp.concat(parts), back) for parts in (means, variances))
    return CrossValidation(scores, held_out, mean, variance, float(level))


def _in_fold(
    fit: FitFunction,
    X: Matrix,
    y: Vector,
    level: float,
    numbered: tuple[int, tuple[HostVector, HostVector]],
) -> tuple[Scores, Vector, Vector]:
    """Scores and predictions of the rows that a fold holds out; its errors have its number."""
    number, (train, test) = numbered
    try:
        posterior = fit(_rows(X, train), _rows(y, train))
        mean, variance = _predictions(posterior, _rows(X, test), _rows(y, test), test)
        return score_all(_rows(y, test), mean, variance, _rows(y, train), level), mean, variance
    except Exception as problem:
        problem.add_note(f"in fold {number}, which holds out the rows {_said(test)}")
        raise


def _predictions(
    posterior: Predictive, Xs: Matrix, y: Vector, rows: HostVector
) -> tuple[Vector, Vector]:
    """The predictions of a fold's posterior, if they are means and variances of the kind of y."""
    if not hasattr(posterior, "predict"):
        wanted = "fit must return a posterior, with predict(Xs, noise=True)"
        raise TypeError(f"{wanted}; got {_check.kind_of(posterior)}")
    if not getattr(posterior, "has_normal_noise", True):
        wanted = "fit must return a posterior of normal observations, given by mean and variance"
        raise TypeError(f"{wanted}; got {_check.kind_of(posterior)}")
    answer = posterior.predict(Xs, noise=True)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        wanted = "fit must return a posterior that predicts a mean and a variance"
        raise TypeError(f"{wanted}; got {_check.kind_of(answer)}")
    for a, name in zip(answer, ("mean", "variance"), strict=True):
        _validate_prediction(a, name, y, rows)
    return answer[0], answer[1]


def _validate_prediction(a: Vector, name: str, y: Vector, rows: HostVector) -> None:
    name = f"the {name} that fit's posterior predicts"
    _check.alike(_check.floating(a, name), name, y, "y")
    if a.shape != y.shape:
        raise ValueError(f"{name} must have shape {tuple(y.shape)}; got {tuple(a.shape)}")
    xp = array_namespace(a)
    right = xp.isfinite(a) & (a > 0.0) if "variance" in name else xp.isfinite(a)
    if not bool(xp.all(right)):
        wanted = "positive and finite" if "variance" in name else "finite"
        wrong = np.flatnonzero(~to_numpy(right))
        raise ValueError(
            f"{name} must be {wanted}; {len(wrong)} of {len(rows)} are not, the first at row "
            f"{rows[wrong[0]]} of X: {float(a[int(wrong[0])])}"
        )


def _admitted(fit: FitFunction, X: Matrix, y: Vector) -> int:
    """The number of rows, if the data go together and there is something to leave out."""
    _check.function(fit, "fit", of="X and y")
    n = _check.matrix(X, "X").shape[0]
    if n < 2:
        raise ValueError(f"X must have at least two rows; got {tuple(X.shape)}")
    _check.alike(_check.vector(y, "y", rows=X), "y", X, "X")
    return n


def _pairs(
    n: int,
    folds: int | None,
    rng: RNG | None,
    groups: Array | Sequence[int | str] | None,
) -> Folds:
    if folds is not None:
        _check.whole(folds, "folds", 2)
    if groups is None:
        if folds is None:
            raise ValueError("folds must be a whole number from 2 where there are no groups")
        if rng is None:
            raise ValueError("folds need an rng that assigns the rows to them")
        return kfold(n, folds, rng=rng)
    if folds is not None or rng is not None:
        raise ValueError("folds and rng must be None where groups define the folds")
    return _split(_numbered(groups, n))


def _numbered(groups: Array | Sequence[int | str], n: int | None = None) -> HostVector:
    """The labels (n,) as numbers 0, 1, … in their order."""
    labels = _labels(groups)
    if n not in (None, len(labels)):
        raise ValueError(f"groups must have a label for each of the {n} rows; got {len(labels)}")
    different, numbers = np.unique(labels, return_inverse=True)
    if len(different) < 2:
        raise ValueError(f"groups must have at least two different labels; got {len(different)}")
    return numbers


def _labels(groups: Any) -> HostVector:
    """The labels on the host, if they are all whole numbers or all strings."""
    wanted = "groups must be labels (n,), all whole numbers or all strings"
    groups = getattr(groups, "to_numpy", lambda: groups)()  # of a column of pandas or Polars
    if isinstance(groups, np.ndarray) and groups.dtype.kind == "O" and groups.ndim == 1:
        groups = groups.tolist()  # as a column of words gives them
    if isinstance(groups, list | tuple):
        words = all(isinstance(one, str) for one in groups)
        if not words and any(_check.whole_or_none(one) is None for one in groups):
            raise TypeError(f"{wanted}; got {groups!s:.60}")
        return np.asarray(groups)
    labels = to_numpy(_check.plain(_check.array(groups, "groups"), "groups"))
    if labels.dtype.kind not in "iuU":
        raise TypeError(f"{wanted}; got {labels.dtype}")
    if labels.ndim != 1:
        raise ValueError(f"groups must have shape (n,); got {tuple(labels.shape)}")
    return labels


def _split(numbers: HostVector) -> Folds:
    """For each number in turn: the rows that have another, and those that have it."""
    count = int(numbers.max()) + 1
    return tuple((np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in range(count))


def _rows(a: Array, rows: HostVector) -> Array:
    """A copy of some rows, of an array or of a frame of pandas or Polars."""
    if columns_of(a):
        return getattr(a, "iloc", a)[rows]
    xp = array_namespace(a)
    return xp.take(a, xp.asarray(rows, device=device(a)), axis=0)


def _said(rows: HostVector) -> str:
    first = ", ".join(str(row) for row in rows[:8])
    return first if len(rows) <= 8 else f"{first}, … ({len(rows)} in all)"
