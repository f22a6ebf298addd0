"""Statements about expectations, compared in standard errors instead of residuals.

An estimate passes when ``|z| < 4``. For an array the worst entry counts, and the limit grows
so that the probability of a false alarm stays that of a single entry: with m entries,
``P(|Z| > limit) = P(|Z| > 4) / m`` (Bonferroni, valid however the entries depend).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from .outcomes import EstimateRecord
from .relations import SIGNED, Misfit

LIMIT = 4.0

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


def limit(entries: int) -> float:
    """The largest ``|z|`` allowed for the worst of `entries` entries.

    >>> round(limit(1), 6), round(limit(100), 2)
    (4.0, 4.98)
    """
    tail = NormalDist().cdf(-LIMIT)
    return -NormalDist().inv_cdf(tail / entries)


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
    z = (left - right) / error
    if relation in SIGNED:
        return np.maximum(SIGNED[relation] * z, 0.0)
    if relation not in ("=", ":=", r"\approx"):
        raise Misfit(f"an estimate cannot stand beside {relation}")
    return np.abs(z)
