"""Does a relation hold between two arrays, and by how much is it missed?

A residual is relative to the larger side: ``max|l - r| / max(max|l|, max|r|)``. For an
inequality it is the violation, which is zero where the inequality holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

LOOSEST = 1e-3  # what holds to less is an approximation, and says so by its relation
LOOSEST_APPROX = 0.1
ROUNDING = 1e-12  # what is left of terms that cancel is no more than this, relative to them


class Misfit(ValueError):
    """The two sides of a relation cannot be compared: their shapes or values do not allow it."""


class ShapeMisfit(Misfit):
    """The two sides have different shapes."""


@dataclass(frozen=True)
class Tolerance:
    """What a check allows; `approx` is the relative tolerance of its ``\\approx``.

    `terms` is the size of the terms that cancel where one side is zero; see `scales`.
    """

    rtol: float = 1e-9
    atol: float = 0.0
    approx: float | None = None
    terms: float = 0.0

    def refuse_loose(self) -> None:
        """Raise `ValueError` for a tolerance under which a wrong equation would pass.

        Raises TypeError for one that is no number.
        """
        for name, value, most in (
            ("rtol", self.rtol, LOOSEST), ("atol", self.atol, np.inf),
            ("approx", self.approx or 0.0, LOOSEST_APPROX),
        ):  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, float | int | np.floating):
                raise TypeError(f"{name} must be a number; got {value!r}")
            if not 0.0 <= value <= most or np.isinf(value):
                raise ValueError(f"{name} must lie between 0 and {most:g}; got {value:g}")

    def times(self, factor: float) -> Tolerance:
        """The same with rounding allowed that much more; an approximation is what it is."""
        return replace(self, rtol=factor * self.rtol, atol=factor * self.atol)


@dataclass(frozen=True)
class Comparison:
    """By how much a relation is missed, and whether that is within what is allowed."""

    residual: float
    holds: bool


Pair = tuple[np.ndarray, np.ndarray]


def compare_all(
    relation: str, pairs: Sequence[Pair], allowed: Tolerance, terms: Sequence[float] = ()
) -> Comparison:
    """The worst comparison over several draws; `terms` is how large the terms of each are.

    Between scalars ``\\propto`` says that the ratio is the same on every draw, so the draws
    are compared together.
    """
    conformed = [conform_sides(*pair) for pair in pairs]
    if relation == r"\propto" and all(left.size == 1 for left, _ in conformed):
        left, right = (np.array([float(pair[i]) for pair in conformed]) for i in (0, 1))
        return compare(left, relation, right, allowed)
    comparisons = []
    for (left, right), size in zip(conformed, terms or [0.0] * len(conformed), strict=True):
        nothing = is_zero(left) or is_zero(right) or scale(left, right) <= ROUNDING * size
        within = replace(allowed, terms=size if nothing else 0.0)
        comparisons.append(RELATIONS[relation](left, right, within))
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
    left, right = conform_sides(left, right)
    return RELATIONS[relation](left, right, allowed)


def conform_sides(left: np.ndarray, right: np.ndarray) -> Pair:
    """The two sides as arrays of one shape, or one of them a scalar zero; a 1 x 1 is a scalar."""
    arrays = (np.asarray(side, dtype=np.float64) for side in (left, right))
    left, right = (side.reshape(()) if side.size == 1 else side for side in arrays)
    if left.shape != right.shape and not any(is_zero(side) for side in (left, right)):
        raise ShapeMisfit(f"the left side has shape {left.shape}, the right side {right.shape}")
    for name, side in (("left", left), ("right", right)):
        if not side.size:
            raise Misfit(f"the {name} side has no entries, so that nothing is compared")
        if not np.all(np.isfinite(side)):
            raise Misfit(f"the {name} side has values that are not finite")
    return left, right


def is_zero(side: np.ndarray) -> bool:
    """Whether a side is the number zero, to which anything may be compared."""
    return side.ndim == 0 and side == 0.0


def scale(left: np.ndarray, right: np.ndarray, terms: float = 0.0) -> float:
    """The larger of the two sides in absolute value, over all entries, or that of their terms."""
    return max(float(np.max(np.abs(left))), float(np.max(np.abs(right))), terms)


def _within(error: np.ndarray, size: float, allowed: Tolerance) -> Comparison:
    most = max(float(np.max(error)), 0.0)
    residual = most / size if size > 0.0 else most
    return Comparison(residual, most <= allowed.atol + allowed.rtol * size)


def _equal(left: np.ndarray, right: np.ndarray, allowed: Tolerance) -> Comparison:
    return _within(np.abs(left - right), scale(left, right, allowed.terms), allowed)


def _near(left: np.ndarray, right: np.ndarray, allowed: Tolerance) -> Comparison:
    if allowed.approx is None:
        raise Misfit(r"\approx needs a tolerance of its own: approx=")
    return _equal(left, right, replace(allowed, rtol=allowed.approx))


def _at_most(left: np.ndarray, right: np.ndarray, allowed: Tolerance) -> Comparison:
    return _within(left - right, scale(left, right, allowed.terms), allowed)


def _below(left: np.ndarray, right: np.ndarray, allowed: Tolerance) -> Comparison:
    """Less by more than rounding, entry by entry; what is as good as equal is not less."""
    comparison = _within(left - right, scale(left, right), allowed)
    size = np.maximum(np.maximum(np.abs(left), np.abs(right)), allowed.terms)
    margin = allowed.atol + allowed.rtol * size
    return replace(comparison, holds=bool(np.all(right - left > margin)))


def _proportional(left: np.ndarray, right: np.ndarray, allowed: Tolerance) -> Comparison:
    """Equal up to the factor that fits best, which must be positive."""
    if left.size < 2:
        raise Misfit(r"\propto between scalars needs several draws: bind by a function of a stream")
    if not np.any(right):
        raise Misfit(r"\propto with a right side of zeros says nothing")
    factor = max(float(np.vdot(right, left) / np.vdot(right, right)), 0.0)
    comparison = _equal(left, factor * right, allowed)
    return replace(comparison, holds=comparison.holds and factor > 0.0)


def _above(
    left: np.ndarray, right: np.ndarray, allowed: Tolerance, *, strictly: bool = False
) -> Comparison:
    """``left - right`` is symmetric with no negative eigenvalue; strictly, with positive ones."""
    gap = np.atleast_2d(left - right)
    if gap.ndim != 2 or gap.shape[0] != gap.shape[1]:
        raise Misfit(rf"\succeq compares square matrices; the difference has shape {gap.shape}")
    size = scale(left, right, allowed.terms)
    skew = _within(np.abs(gap - gap.T), size, allowed)
    lowest = np.linalg.eigvalsh(0.5 * (gap + gap.T))[:1]
    order = _within(-lowest, size, allowed)
    clear = bool(np.all(lowest > allowed.atol + allowed.rtol * size))
    holds = skew.holds and (clear if strictly else order.holds)
    return Comparison(max(skew.residual, order.residual), holds)


def _turned(relation: Callable[..., Comparison]) -> Callable[..., Comparison]:
    return lambda left, right, allowed: relation(right, left, allowed)


RELATIONS: dict[str, Callable[[np.ndarray, np.ndarray, Tolerance], Comparison]] = {
    "=": _equal, ":=": _equal, r"\approx": _near, r"\propto": _proportional,
    r"\le": _at_most, r"\ge": _turned(_at_most), "<": _below, ">": _turned(_below),
    r"\succeq": _above, r"\preceq": _turned(_above),
    r"\succ": partial(_above, strictly=True), r"\prec": _turned(partial(_above, strictly=True)),
}  # fmt: skip

# Which side of an inequality may be the larger one: 1 for the right, -1 for the left.
SIGNED = {r"\le": 1, "<": 1, r"\ge": -1, ">": -1}
# Which difference of matrices is positive: 1 for left minus right.
ORDERS = {r"\succeq": 1, r"\succ": 1, r"\preceq": -1, r"\prec": -1}
