"""One measurement after the other, each the best given those before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.conversion import takes
from ...ground.showing import summary
from ...ground.xp import (
    HostVector,
    Matrix,
    MatrixLike,
    Numbers,
    Vector,
    array_namespace,
    as_array,
    device,
    epsilon,
    to_numpy,
)
from ...infer.exact import GP, ExactPosterior
from ...model import contracts
from . import design_checks
from .criteria import CRITERIA

__all__ = ["Design", "as_design", "greedy_design", "greedy_design_by"]

_FIRST_BATCH = 64  # candidates whose gains are computed together
_GROWTH = 4  # how many times as many the next time


@dataclass(frozen=True, eq=False)
class Design:
    """The candidates to measure, in order.

    Parameters
    ----------
    indices : Vector, shape (k,)
        Their rows, whole numbers from 0.
    gains : Vector, shape (k,)
        The gain of each measurement in the criterion given those before it.
    evaluations : int
        How many gains of candidates were computed on the way.
    """

    indices: Vector
    gains: Vector
    evaluations: int

    __repr__ = summary

    @property
    def value(self) -> float:
        """The sum of the gains."""
        return float(array_namespace(self.gains).sum(self.gains))


@takes("X", "reference")
def greedy_design(
    gp: GP | ExactPosterior,
    X: MatrixLike,
    budget: int,
    criterion: str = "information",
    *,
    noise_var: Numbers | None = None,
    lazy: bool = True,
    initial_subset: Iterable[int] = (),
    repeat: bool = False,
    reference: MatrixLike | None = None,
) -> Design:
    """Choose candidates to measure one after the other, each time the one that gains most.

    The steps of [eq-al-greedy], with variances kept by [eq-al-downdate].

    Parameters
    ----------
    gp : GP or ExactPosterior
        A prior, or a posterior: then its data are taken into account.
    X : Matrix, shape (n, d)
        The candidates.
    budget : int
        The number of candidates to choose.
    criterion : str, default "information"
        The criterion to increase:

        - ``"information"``: ``½ log(1 + s²/σ²)``, the information of y about f, in nats,
          [eq-al-gain-heteroscedastic];
        - ``"variance"``: ``s²``, the variance of f, noise or not;
        - ``"integrated variance"``: how much the variance of f falls on average at `reference`,
          [eq-al-integrated];
        - ``"mutual information"``: the mutual information of the chosen y and the others, in nats,
          [eq-al-between]; O(n³) once, n × n memory. Given data, both entropies are.
    noise_var : float or Vector, shape (n,), optional
        The variance of a measurement, one for all or one for each candidate; that of the process
        unless it is given.
    lazy : bool, default True
        If True, a gain is computed again only while the old one exceeds the best new one; gains
        that can only diminish make that exact, [eq-al-submodular]. They may rise in the
        integrated variance, which is computed afresh for all at every step.
    initial_subset : iterable of int, default ()
        Candidates measured before, which are not part of the result.
    repeat : bool, default False
        If True, a candidate may be measured more than once.
    reference : Matrix, shape (m, d), optional
        Where ``"integrated variance"`` takes the average; `X` unless it is given.

    Returns
    -------
    Design
        The candidates in order, fewer than `budget` where no candidate gains anything. So it is
        without noise when the rest is known; a second copy of a point is not measured then.

    Raises
    ------
    ValueError
        If `budget` is larger than the ground set, `criterion` does not exist, candidates, noise,
        `initial_subset` or `reference` do not fit, a `reference` is given for a criterion that
        needs none, or noise is zero where information would be infinite.

    Notes
    -----
    Gains that agree within a relative √eps count as equal, and the first candidate is taken: the
    same one on every backend.

    Step t takes O(n t) at most, O(n m) more for the integrated variance, and O(n m t) where it has
    fallen by a factor of √eps; memory is O(n budget).

    Source: Nemhauser, Wolsey & Fisher (1978) for the guarantee, which holds for information;
    Minoux (1978) for lazy evaluation; Krause, Singh & Guestrin (2008) for both on Gaussian
    processes and for ``"mutual information"``.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> greedy_design(GP(RBF(), 0.1), X, 3).indices
    array([0, 8, 4])
    """
    candidates = design_checks.candidates(gp, X)
    kind = CRITERIA[_check.choice(criterion, "criterion", CRITERIA)]
    repeat = _check.flag(repeat, "repeat")
    lazy = _check.flag(lazy, "lazy")
    noise = design_checks.noise_of(gp, X, noise_var, positive=kind.needs_noise)
    initial = _check.entries(initial_subset, "initial_subset", X.shape[0], "X", repeat=repeat)
    available = None if repeat and X.shape[0] else X.shape[0] - len(initial)
    size = _check.whole(budget, "budget", 0, available)
    reference = design_checks.reference_of(gp, X, reference, criterion)
    scores = kind(gp, candidates, noise, len(initial) + size, reference=reference)
    for j in initial:
        if float(scores.state.variance(np.asarray([j]))[0]) + float(noise[j]) > 0.0:
            scores.add(j)
    choose = _lazy if lazy and kind.diminishing else _eager
    return as_design(X, *choose(scores, X.shape[0], size, set(initial), repeat))


@takes("X")
def greedy_design_by(
    criterion: contracts.Criterion,
    X: MatrixLike,
    budget: int,
    *,
    lazy: bool = True,
    initial_subset: Iterable[int] = (),
    repeat: bool = False,
) -> Design:
    """Choose candidates to measure, each the one that a criterion of your own puts first.

    Parameters
    ----------
    criterion : Criterion
        One made for these candidates; `testing.check_criterion` tries one. It takes the
        measurements on the way and cannot be used again.
    X, budget, initial_subset, repeat
        As in `greedy_design`.
    lazy : bool, default True
        If True, gains that only diminish are computed again only where that may matter.

    Returns
    -------
    Design
        The candidates in order. As in `greedy_design`, equal gains go to the first candidate, and
        nothing is chosen that gains nothing.

    Raises
    ------
    ValueError
        If `budget` is larger than the ground set, `X` is no finite matrix, or
        `initial_subset` does not fit.
    TypeError
        If `criterion` lacks a member, `X` is no array of float32 or float64, a number is not
        whole, or a flag is not a bool.

    Examples
    --------
    >>> class Coverage:  # how many places come within reach
    ...     diminishing = True
    ...     def __init__(self, X, reach):
    ...         self.near = abs(X - X.T) <= reach
    ...     def gains(self, rows=None):
    ...         gains = self.near.sum(axis=1) * 1.0
    ...         return gains if rows is None else gains[rows]
    ...     def add(self, j):
    ...         gain = float(self.near[j].sum())
    ...         self.near &= ~self.near[j]
    ...         return gain
    >>> X = np.linspace(0.0, 4.0, 9)[:, None]
    >>> greedy_design_by(Coverage(X, 1.0), X, 3).indices
    array([2, 6])
    """
    contracts.require(criterion, "criterion", contracts.Criterion)
    n = _check.matrix(X, "X").shape[0]
    repeat = _check.flag(repeat, "repeat")
    choose = _lazy if _check.flag(lazy, "lazy") and criterion.diminishing else _eager
    initial = _check.entries(initial_subset, "initial_subset", n, "X", repeat=repeat)
    size = _check.whole(budget, "budget", 0, None if repeat and n else n - len(initial))
    for j in initial:
        criterion.add(j)
    return as_design(X, *choose(criterion, n, size, set(initial), repeat))


def as_design(X: Matrix, chosen: list[int], gains: list[float], evaluations: int) -> Design:
    """A design in the kind of X, from numbers on the host."""
    xp = array_namespace(X)
    indices = xp.asarray(np.asarray(chosen, dtype=np.int64), device=device(X))
    return Design(indices, as_array(np.asarray(gains, dtype=np.float64), X), evaluations)


def _all_ranks(scores: contracts.Criterion, n: int) -> HostVector:
    """The ranks of all n candidates, if that is how many the criterion knows."""
    gains = scores.gains()
    if tuple(gains.shape) != (n,):
        wanted = f"gains of the {n} candidates, ({n},)"
        raise ValueError(f"criterion must return {wanted}; got {tuple(gains.shape)}")
    return _rank(gains)


def _rank(gains: Vector) -> HostVector:
    """Steps of a relative √eps that gains stand on; −inf for those that are not positive."""
    host = np.asarray(to_numpy(gains), dtype=np.float64)
    step = epsilon(gains) ** 0.5
    known = host > 0.0
    return np.where(known, np.floor(np.log(np.where(known, host, 1.0)) / step), -np.inf)


def _eager(
    scores: contracts.Criterion, n: int, budget: int, initial: set[int], repeat: bool
) -> tuple[list[int], list[float], int]:
    """Every candidate at every step."""
    chosen: list[int] = []
    gains: list[float] = []
    evaluations = 0
    excluded = np.zeros(n, dtype=bool)
    excluded[list(initial)] = not repeat
    for _ in range(budget):
        ranks = np.where(excluded, -np.inf, _all_ranks(scores, n))
        evaluations += n - int(excluded.sum())
        best = int(np.argmax(ranks))
        if ranks[best] == -np.inf:
            break
        chosen.append(best)
        gains.append(scores.add(best))
        excluded[best] = not repeat
    return chosen, gains, evaluations


def _lazy(
    scores: contracts.Criterion, n: int, budget: int, initial: set[int], repeat: bool
) -> tuple[list[int], list[float], int]:
    """Old gains are bounds: whoever is first among them with a new gain is the best."""
    if budget == 0:
        return [], [], 0
    chosen: list[int] = []
    gains: list[float] = []
    bounds = _all_ranks(scores, n)
    if not repeat:
        bounds[list(initial)] = -np.inf
    evaluations = n if repeat else n - len(initial)
    fresh = np.ones(n, dtype=bool)
    for _ in range(budget):
        evaluations += _renew(bounds, fresh, scores)
        best = int(np.argmax(bounds))
        if bounds[best] == -np.inf:
            break
        chosen.append(best)
        gains.append(scores.add(best))
        fresh[:] = False
        if not repeat:
            bounds[best] = -np.inf
    return chosen, gains, evaluations


def _renew(bounds: HostVector, fresh: HostVector, scores: contracts.Criterion) -> int:
    """Renew the gains that the bounds put before the best new gain, and return how many that were.

    It keeps `fresh`, whose gains are those given all measurements, and asks for more each time.
    """
    evaluations = 0
    size = max(1, min(_FIRST_BATCH, bounds.size // 16))
    stale = ~fresh & (bounds > -np.inf)
    while np.any(stale):
        rows = _leading(bounds, stale, size)
        bounds[rows] = _rank(scores.gains(rows))
        evaluations += rows.size
        size *= _GROWTH
        fresh[rows] = True
        renewed = np.where(fresh, bounds, -np.inf)
        best = int(np.argmax(renewed))
        stale = ~fresh & (bounds > renewed[best])
        stale[:best] |= ~fresh[:best] & (bounds[:best] == renewed[best])
    return evaluations


def _leading(bounds: HostVector, candidates: HostVector, size: int) -> HostVector:
    """The `size` candidates of the largest bounds, and the first of those that are equal."""
    rows = np.flatnonzero(candidates)
    if rows.size <= size:
        return rows
    smallest = -np.partition(-bounds[rows], size - 1)[size - 1]
    larger = rows[bounds[rows] > smallest]
    ties = rows[bounds[rows] == smallest]
    return np.concatenate([larger, ties[: size - larger.size]])
