"""Statements about expectations, compared in standard errors instead of residuals.

An estimate passes when ``|z| < 4``. For an array the worst entry counts, and the limit grows
so that the probability of a false alarm stays that of a single entry: with m entries,
``P(|Z| > limit) = P(|Z| > 4) / m`` (Bonferroni, valid however the entries depend).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .relations import SIGNED, Misfit

LIMIT = 4.0


Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Score:
    """The worst z-score over the entries and draws, and its standard error.

    `slip` is the smallest relative error of the whole statement that this sample would have
    caught, whichever way it went; none for an inequality.
    """

    z: float
    standard_error: float
    entries: int
    slip: float | None = None

    @property
    def limit(self) -> float:
        """The z-score that is allowed: more entries may be farther off."""
        return limit(self.entries)

    @property
    def holds(self) -> bool:
        """Whether the statement lies within its limit."""
        return self.z < self.limit


def limit(entries: int) -> float:
    """The largest ``|z|`` allowed for the worst of `entries` entries.

    >>> round(limit(1), 6), round(limit(100), 2)
    (4.0, 4.98)
    """
    tail = NormalDist().cdf(-LIMIT)
    return -NormalDist().inv_cdf(tail / entries)


def score(relation: str, triples: Sequence[Triple]) -> Score:
    """The worst z-score of ``left - right`` among triples (left, right, standard error)."""
    scores = [_scores(relation, *triple) for triple in triples]
    worst = max(range(len(scores)), key=lambda i: np.max(scores[i]))
    place = np.argmax(scores[worst])
    error = np.broadcast_to(triples[worst][2], scores[worst].shape).flat[place]
    entries = sum(z.size for z in scores)
    slip = None if relation in SIGNED else _slip(triples, scores, limit(entries))
    return Score(float(np.max(scores[worst])), float(error), entries, slip)


def _slip(triples: Sequence[Triple], scores: Sequence[np.ndarray], most: float) -> float | None:
    """The smallest factor 1 + slip on a side that moves some entry beyond the limit.

    An entry whose score is z moves by ``slip |value| / error``, at worst back through zero.
    """
    with np.errstate(divide="ignore"):
        needed = [
            np.min((most + z) * error / np.maximum(np.abs(left), np.abs(right)))
            for (left, right, error), z in zip(triples, scores, strict=True)
        ]
    smallest = float(min(needed))
    return smallest if np.isfinite(smallest) else None


def _scores(relation: str, left: np.ndarray, right: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The z-scores of one draw; for an inequality only the violation counts."""
    if not np.all(error > 0.0):
        raise Misfit("the standard error of an estimate must be positive")
    z = (left - right) / error
    if relation in SIGNED:
        return np.maximum(SIGNED[relation] * z, 0.0)
    if relation not in ("=", ":=", r"\approx"):
        raise Misfit(f"an estimate cannot stand beside {relation}")
    return np.abs(z)
