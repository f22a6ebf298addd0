"""A claim and what was found for it: stored draws, one of them repeated, and fresh ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from .code_key import key_of
from .experiment import Draw, Experiment, run_draw
from .outcome import Outcome
from .store import Store

FRESH = "CHECKED_CLAIMS_FRESH"  # how many fresh draws of each claim a run adds
_SAME = 0.05  # how far a repeated effect may be off, in standard deviations of the stored ones


class ClaimError(ValueError):
    """A claim that its own draws, or fresh ones, do not bear out; or that asks for too little."""


@dataclass(frozen=True)
class Claim:
    """A sentence about an experiment: what is done, when it holds of one draw, and how often.

    The fields are the arguments of `Chapter.claim`.
    """

    label: str
    experiment: Experiment
    holds: Callable[[Outcome], Any]
    draws: int = 12
    least: int | None = None
    effect: Callable[[Outcome], Any] | None = None
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    without: Mapping[str, Experiment] = field(default_factory=dict)
    once: str = ""

    @property
    def needed(self) -> int:
        """In how many draws it must hold."""
        return self.draws if self.least is None else self.least

    def key(self, version: str) -> str:
        """A name for the code."""
        return key_of(
            self.experiment, self.holds, self.effect, self.without, self.draws, version=version
        )

    def run(self, experiment: Experiment, numbers: Iterable[int], salt: str = "") -> list[Draw]:
        """Draws of the experiment, or of one without its cause."""
        terms = (self.label, experiment, self.holds, self.effect)
        return [run_draw(*terms, number, salt) for number in numbers]


@dataclass(frozen=True)
class Found:
    """What was found for a claim.

    `fresh` counts since the code was last changed: how many draws ``held`` ``of`` how many, the
    same ``without`` each cause, and how many picks stood at an edge; `earlier` has what was counted
    of earlier code. `stored` tells whether the draws were stored ones.
    """

    claim: Claim
    draws: Sequence[Draw]
    without: Mapping[str, Sequence[Draw]]
    fresh: Mapping[str, Any]
    earlier: Sequence[Mapping[str, Any]] = ()
    stored: bool = True

    @property
    def held(self) -> int:
        """In how many of its draws it holds."""
        return sum(draw.held for draw in self.draws)


def find(claim: Claim, store: Store, version: str) -> Found:
    """What is stored of a claim, once one draw is repeated; or all draws, which are then stored.

    Where the environment asks for fresh draws, they are added to the counts.

    Raises `ClaimError` where the repeated draw is not the stored one.
    """
    key = claim.key(version)
    entry = store.read(claim.label)
    stored = entry.get("key") == key
    if stored:
        _repeat(claim, Draw.from_json(entry["draws"][0]), entry)
    else:
        entry = {"key": key, "fresh": {}, "earlier": _earlier(entry)}
        entry["draws"] = _json(claim.run(claim.experiment, range(claim.draws)))
        entry["without"] = {
            name: _json(claim.run(other, range(claim.draws)))
            for name, other in claim.without.items()
        }
    wanted = int(os.environ.get(FRESH) or 0)
    if wanted and not claim.once:
        entry["fresh"] = _with_fresh(claim, entry["fresh"], wanted)
    if wanted or not stored:
        store.write(claim.label, entry)
    return Found(
        claim,
        [Draw.from_json(draw) for draw in entry["draws"]],
        {name: [Draw.from_json(d) for d in draws] for name, draws in entry["without"].items()},
        entry["fresh"],
        entry["earlier"],
        stored,
    )


def _json(draws: Iterable[Draw]) -> list[dict[str, Any]]:
    return [draw.to_json() for draw in draws]


def _earlier(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What fresh draws have shown of the code that was there before."""
    kept = list(entry.get("earlier", ()))
    fresh = entry.get("fresh")
    return [*kept, {name: fresh[name] for name in ("held", "of", "until")}] if fresh else kept


def _repeat(claim: Claim, stored: Draw, entry: Mapping[str, Any]) -> None:
    """The first draw once more; rounding may differ elsewhere, and no verdict rests on it."""
    (again,) = claim.run(claim.experiment, [0])
    effects = [draw["effect"] for draw in entry["draws"] if "effect" in draw]
    if again.effect is not None and stored.effect is not None:
        allowed = _SAME * float(np.std(effects)) + 1e-4 * abs(stored.effect)
        same = abs(again.effect - stored.effect) <= allowed
    else:
        same = again.held == stored.held
    if not same:
        raise ClaimError(
            f"{claim.label}: the first draw, repeated, is not the stored one: "
            f"{again.to_json()} where {stored.to_json()} is stored; what the experiment calls has "
            "changed: take its entry out of the file in _claims and run the chapter again"
        )


def _with_fresh(claim: Claim, before: Mapping[str, Any], wanted: int) -> dict[str, Any]:
    """The counts with fresh draws added: the date and what was counted before are the salt."""
    today = date.today().isoformat()
    count = before.get("of", 0)
    numbers = range(count, count + wanted)
    draws = claim.run(claim.experiment, numbers, today)
    without = {
        name: before.get("without", {}).get(name, 0)
        + sum(draw.held for draw in claim.run(other, numbers, today))
        for name, other in claim.without.items()
    }
    edges = sum(len(draw.at_edge) for draw in draws)
    return {
        "held": before.get("held", 0) + sum(draw.held for draw in draws),
        "of": count + wanted,
        "edges": before.get("edges", 0) + edges,
        "without": without,
        "until": today,
    }
