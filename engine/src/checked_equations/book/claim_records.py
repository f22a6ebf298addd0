"""The record that a claim leaves: plain data for the page, the notebook and the ledger."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

from ..claims.claim import Found
from ..claims.experiment import Draw
from ..claims.judging import weakened
from ..claims.outcome import Outcome
from .claim_panel import panel_of
from .records import Shown


@dataclass(frozen=True, repr=False)
class ClaimRecord(Shown):
    """A claim that its draws bear out.

    Parameters
    ----------
    data : mapping
        What the page shows: counts, means with their standard errors, costs, one entry a draw.
    outcomes : tuple of Outcome
        The numbers of each draw, for tables and figures.
    without : mapping of str to tuple of Outcome
        Those of each ablation.
    """

    data: Mapping[str, Any]
    outcomes: tuple[Outcome, ...]
    without: Mapping[str, tuple[Outcome, ...]]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return dict(self.data)

    def panel(self) -> str:
        """What its open badge shows."""
        return panel_of(self.data)


def claim_record(found: Found, chapter: str, text: str, line: int, sentence: str) -> ClaimRecord:
    """The record of what was found."""
    claim = found.claim
    data = {
        "kind": "claim", "label": claim.label, "about": claim.label,
        "chapter": chapter, "line": line, "text": text,
        **_counts(found.draws), "least": claim.needed, "once": claim.once,
        "without": {name: _counts(draws) for name, draws in found.without.items()},
        "worst": {name: _worst(found.draws, name, least) for name, least in claim.parts.items()},
        "seconds": _seconds(found.draws),
        "fresh": dict(found.fresh), "earlier": list(found.earlier),
        "weakened": weakened(found), "stored": found.stored, "sentence": sentence,
    }  # fmt: skip
    lasting = {**data, "fresh": {}}  # the plain line is compared, and fresh draws are added
    data["said"] = f"{claim.label}: {' · '.join(claim_phrases(lasting))}"
    outcomes = tuple(draw.outcome for draw in found.draws)
    without = {n: tuple(draw.outcome for draw in draws) for n, draws in found.without.items()}
    return ClaimRecord(data, outcomes, without)


def claim_phrases(data: Mapping[str, Any]) -> list[str]:
    """``10 of 12``, ``fresh 49 of 60``, ``without a grid 3 of 12``."""
    if data["once"]:
        return [f"once: {data['once']}"]
    fresh = data["fresh"]
    parts = [f"{data['held']} of {data['of']}"]
    parts += [f"fresh {fresh['held']} of {fresh['of']}"] if fresh else []
    parts += [f"without {name} {c['held']} of {c['of']}" for name, c in data["without"].items()]
    return parts


def _counts(draws: Sequence[Draw]) -> dict[str, Any]:
    """How often it holds; every number as a mean with its standard error; each draw's dot."""
    columns: dict[str, list[float]] = {}
    for draw in draws:
        effect = {} if draw.effect is None else {"effect": draw.effect}
        for path, value in {**draw.outcome.numbers(), **effect}.items():
            columns.setdefault(path, []).append(value)
    return {
        "held": sum(draw.held for draw in draws),
        "of": len(draws),
        "numbers": {path: _with_error(values) for path, values in columns.items()},
        "dots": [[draw.held, draw.effect] for draw in draws],
    }


def _with_error(values: Sequence[float]) -> list[float]:
    """The mean, and its standard error by the spread over the draws."""
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return [float(f"{fmean(values):.6g}"), float(f"{error:.3g}")]


def _worst(draws: Sequence[Draw], name: str, least: Any) -> dict[str, Any]:
    """The part whose mean over the draws is the worst: `least` picks it, as `min` or `max` do."""
    parts = {
        part: _with_error([draw.outcome[name][part] for draw in draws])
        for part in draws[0].outcome[name]
    }
    worst = least(parts, key=lambda part: parts[part][0])
    return {"part": worst, "mean": parts[worst][0], "error": parts[worst][1]}


def _seconds(draws: Sequence[Draw]) -> dict[str, float]:
    """The median of the seconds of each side."""
    sides = draws[0].seconds
    return {side: float(f"{median(d.seconds[side] for d in draws):.2g}") for side in sides if side}
