"""Does a relation hold between two arrays, and by how much is it missed?

A residual is relative to the larger side: ``max|l - r| / max(max|l|, max|r|)``. For an
inequality it is the violation, which is zero where the inequality holds.

An estimate passes when ``|z| < 4``, `z` in standard errors. For an array the worst entry counts,
and the limit grows so that the probability of a false alarm stays that of a single entry: with m
entries, ``P(|Z| > limit) = P(|Z| > 4) / m`` (Bonferroni, valid however the entries depend).
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from ..evaluate.values import host, size_of
from .outcomes import EstimateRecord

LOOSEST = 1e-3  # what holds to less is an approximation, and says so by its relation
LOOSEST_APPROX = 0.1
ROUNDING = 1e-12  # what is left of terms that cancel is no more than this, relative to them
LIMIT = 4.0


class Misfit(ValueError):
    """The two sides of a relation cannot be compared: their shapes or values do not allow it."""


class ShapeMisfit(Misfit):
    """The two sides have different shapes."""


@dataclass(frozen=True)
class Tolerance:
    """The tolerance of a check; `approx` is the relative one of its ``\\approx``.

    With `decimals` a side that is a printed decimal, ``0.36``, is one that was rounded to it.
    """

    rtol: float = 1e-9
    atol: float = 0.0
    approx: float | None = None
    decimals: bool = False

    def refuse_loose(self) -> None:
        """Raise `ValueError` where a wrong equation would pass, TypeError for all but numbers."""
        for name, value, most in (
            ("rtol", self.rtol, LOOSEST), ("atol", self.atol, np.inf),
            ("approx", self.approx or 0.0, LOOSEST_APPROX),
        ):  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, float | int | np.floating):
                raise TypeError(f"{name} must be a number; got {value!r}")
            if not 0.0 <= value <= most or np.isinf(value):
                raise ValueError(f"{name} must lie between 0 and {most:g}; got {value:g}")

    def times(self, factor: float) -> Tolerance:
        """Return the same with rounding allowed that much more; an approximation stays as it is."""
        return replace(self, rtol=factor * self.rtol, atol=factor * self.atol)


@dataclass(frozen=True)
class Comparison:
    """By how much a relation is missed, and whether that is within the tolerance."""

    residual: float
    holds: bool


Pair = tuple[np.ndarray, np.ndarray]
Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


def compare_all(
    relation: str, pairs: Sequence[Pair], allowed: Tolerance, terms: Sequence[float] = ()
) -> Comparison:
    """The worst comparison over several draws; `terms` is how large the terms of each are.

    Between scalars ``\\propto`` says that the ratio is the same on every draw, so the draws
    are compared together.
    """
    return compare_conformed(relation, [conform_sides(*pair) for pair in pairs], allowed, terms)


def compare_conformed(
    relation: str, pairs: Sequence[Pair], allowed: Tolerance, terms: Sequence[float] = ()
) -> Comparison:
    """As `compare_all`, of pairs that `conform_sides` has returned."""
    if relation == r"\propto" and all(left.size == 1 for left, _ in pairs):
        left, right = (np.array([float(pair[i]) for pair in pairs]) for i in (0, 1))
        return _judged(relation, left, right, allowed, 0.0)
    comparisons = []
    for (left, right), size in zip(pairs, terms or [0.0] * len(pairs), strict=True):
        nothing = is_zero(left) or is_zero(right) or scale(left, right) <= ROUNDING * size
        comparisons.append(_judged(relation, left, right, allowed, size if nothing else 0.0))
    return worst(comparisons)


def worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The one that fails by most, or comes nearest to it."""
    return max(comparisons, key=lambda comparison: (not comparison.holds, comparison.residual))


def compare(left: np.ndarray, relation: str, right: np.ndarray, allowed: Tolerance) -> Comparison:
    """Compare `left` and `right`, shapes equal or one of them a zero scalar.

    Raises `Misfit` for shapes that do not conform and for values that are not finite.

    >>> compare(np.array([1.0, 2.0]), "=", np.array([1.0, 2.5]), Tolerance())
    Comparison(residual=0.2, holds=False)
    """
    return _judged(relation, *conform_sides(left, right), allowed, 0.0)


def conform_sides(left: np.ndarray, right: np.ndarray) -> Pair:
    """The two sides in one shape, or one of them zero; an array of one entry is a number."""
    left, right = _side(left), _side(right)
    if left.shape != right.shape and not (is_zero(left) or is_zero(right)):
        raise ShapeMisfit(f"the left side has shape {left.shape}, the right side {right.shape}")
    for name, side in (("left", left), ("right", right)):
        if not side.size:
            raise Misfit(f"the {name} side has no entries, so that nothing is compared")
        if not (np.isfinite(side).all() if side.ndim else cmath.isfinite(side)):
            raise Misfit(f"the {name} side has values that are not finite")
    return left, right


def _side(value: np.ndarray) -> np.ndarray:
    if isinstance(value, np.float64):
        return value  # as most are: much quicker than an array without axes
    array = host(value)
    return array.reshape(()) if array.size == 1 else array


def is_zero(side: np.ndarray) -> bool:
    """Return whether a side is the number zero, to which anything may be compared."""
    return side.ndim == 0 and side == 0.0


def scale(left: np.ndarray, right: np.ndarray, terms: float = 0.0) -> float:
    """The larger of the two sides in absolute value, over all entries, or that of their terms."""
    return max(size_of(left), size_of(right), terms)


def _judged(
    relation: str, left: np.ndarray, right: np.ndarray, allowed: Tolerance, terms: float
) -> Comparison:
    """Compare two sides of one shape, where `terms` is the size of the terms that cancel in them.

    A value as good as equal is not less, nor more.
    """
    if relation == r"\approx":
        if allowed.approx is None:
            raise Misfit(r"\approx needs a tolerance of its own: approx=")
        allowed = replace(allowed, rtol=allowed.approx)
    if relation == r"\ne":
        same = _judged("=", left, right, allowed, terms)
        return Comparison(float(same.holds), not same.holds)
    factor = 1.0
    if relation == r"\propto":
        factor = _factor(left, right)
        right = factor * right
    errors = excess(relation, left, right)
    most = max(0.0, float(np.max(errors) if errors.ndim else errors))
    if relation in ORDERS:
        most = max(most, float(np.max(np.abs(left - right - (left - right).T))))
    by_entry = relation in ("<", ">")
    size = scale(left, right, 0.0 if by_entry else terms)
    holds = factor > 0.0 and most <= allowed.atol + allowed.rtol * size
    if relation in _STRICT:
        sizes = np.maximum(np.maximum(np.abs(left), np.abs(right)), terms)
        margin = allowed.atol + allowed.rtol * (sizes if by_entry else size)
        holds = holds and bool(np.all(-errors > margin))
    return Comparison(most / size if size > 0.0 else most, holds)


def _factor(left: np.ndarray, right: np.ndarray) -> float:
    """The factor between the sides that fits best, which must be positive."""
    if left.size < 2:
        raise Misfit(r"\propto between scalars needs several draws: bind by a function of a stream")
    if not np.any(right):
        raise Misfit(r"\propto with a right side of zeros says nothing")
    return max(float(np.vdot(right, left) / np.vdot(right, right)), 0.0)


def excess(relation: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """By how much each entry is missed, or in an order of matrices each eigenvalue."""
    if relation in ORDERS:
        gap = np.atleast_2d(ORDERS[relation] * (left - right))
        if gap.ndim != 2 or gap.shape[0] != gap.shape[1]:
            raise Misfit(rf"\succeq compares square matrices; the difference has shape {gap.shape}")
        return -np.linalg.eigvalsh(0.5 * (gap + gap.T))
    if relation in SIGNED and (np.iscomplexobj(left) or np.iscomplexobj(right)):
        left, right = _real(left), _real(right)
    if relation in SIGNED:
        return SIGNED[relation] * left - SIGNED[relation] * right
    return np.abs(left - right)


def _real(side: np.ndarray) -> np.ndarray:
    """Return the values that an order compares: rounding may leave a tiny imaginary part."""
    if size_of(side.imag) > ROUNDING * size_of(side):
        raise Misfit("complex numbers have no order")
    return side.real


# Which side of an inequality may be the larger one: 1 for the right, -1 for the left.
SIGNED = {r"\le": 1, "<": 1, r"\ge": -1, ">": -1}
# Which difference of matrices is positive: 1 for left minus right.
ORDERS = {r"\succeq": 1, r"\succ": 1, r"\preceq": -1, r"\prec": -1}
RELATIONS = {"=", ":=", r"\approx", r"\propto", *SIGNED, *ORDERS}
CHECKED = RELATIONS | {r"\ne"}  # which in a definition or a sentence leaves something out
_STRICT = ("<", ">", r"\succ", r"\prec")


# Estimates, in standard errors


def limit(entries: int) -> float:
    """The largest ``|z|`` allowed for the worst of `entries` entries.

    >>> round(limit(1), 6), round(limit(100), 2)
    (4.0, 4.98)
    """
    return -NormalDist().inv_cdf(NormalDist().cdf(-LIMIT) / entries)


def score(relation: str, triples: Sequence[Triple]) -> EstimateRecord:
    """The worst z-score of ``left - right`` among triples (left, right, standard error)."""
    scores = [_scores(relation, *triple) for triple in triples]
    worst = max(range(len(scores)), key=lambda i: np.max(scores[i]))
    place = np.argmax(scores[worst])
    error = np.broadcast_to(triples[worst][2], scores[worst].shape).flat[place]
    entries = sum(z.size for z in scores)
    most = limit(entries)
    # An entry whose score is z moves by ``slip |value| / error``, at worst back through zero.
    with np.errstate(divide="ignore"):
        slip = min(
            float(np.min((most + z) * error / np.maximum(np.abs(left), np.abs(right))))
            for (left, right, error), z in zip(triples, scores, strict=True)
        )
    told = np.isfinite(slip) and relation not in SIGNED
    z = float(np.max(scores[worst]))
    return EstimateRecord(z, most, float(error), entries, slip=slip if told else None)


def _scores(relation: str, left: np.ndarray, right: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The z-scores of one draw; for an inequality only the violation counts."""
    if not np.all(error > 0.0):
        raise Misfit("the standard error of an estimate must be positive")
    if relation == r"\propto" or relation in ORDERS:
        raise Misfit(f"an estimate cannot stand beside {relation}")
    return np.maximum(excess(relation, left, right) / error, 0.0)
