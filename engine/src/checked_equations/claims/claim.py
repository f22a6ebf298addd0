"""A claim and its findings: stored draws, one of them repeated, and fresh ones.

The streams of its experiment are made here, from the label of the claim and the number of the draw,
so that whoever writes the experiment does not choose them.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np

from .code_key import key_of
from .outcome import Outcome
from .rounding import NUDGES, nudged
from .tally import Tally

FRESH = "CHECKED_CLAIMS_FRESH"  # how many fresh draws of each claim a run adds
SECONDS = "CHECKED_CLAIMS_SECONDS"  # a draw that takes longer is not repeated
RENAMED = "CHECKED_CLAIMS_RENAMED"  # draws of other code are kept if this code draws the same
_AS_FAR = 0.3  # a nudge that moves a draw by this share of what it is off explains it
_SAME = 0.05  # how far a repeated effect may be off, in standard deviations of the stored ones

# A function of one stream, or several sides that are given the same stream.
Numbers = Mapping[str, object]
Experiment = Callable[[np.random.Generator], Numbers] | Mapping[str, Callable[..., Numbers]]


class ClaimError(ValueError):
    """A claim that its own draws, or fresh ones, do not bear out; or that asks for too little."""


@dataclass(frozen=True)
class Draw:
    """The result of one draw, with processor seconds by side and the paths of picks at an edge."""

    outcome: Outcome
    held: bool
    effect: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    at_edge: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """The draw as plain data."""
        effect = {} if self.effect is None else {"effect": float(f"{self.effect:.6g}")}
        spent = {side: float(f"{s:.2g}") for side, s in self.seconds.items()}
        edges = {"at edge": list(self.at_edge)} if self.at_edge else {}
        found = self.outcome.to_json()
        return {"held": self.held, **effect, **edges, "seconds": spent, "found": found}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Draw:
        """Return the draw that `to_json` wrote."""
        found, edges = Outcome(data["found"]), data.get("at edge", ())
        return cls(found, bool(data["held"]), data.get("effect"), dict(data["seconds"]), edges)


def stream(label: str, number: int, salt: str = "") -> np.random.Generator:
    """The random numbers of one draw; a `salt` gives others.

    >>> bool(stream("cl-a", 0).random() == stream("cl-a", 0).random())
    True
    """
    words = "\0".join([label, str(number), salt]).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(words).digest()[:16]))


@dataclass(frozen=True)
class Claim:
    """A sentence about an experiment; the fields are the arguments of `Chapter.claim`."""

    label: str
    experiment: Experiment
    holds: Callable[[Outcome], object]
    draws: int = 12
    least: int | None = None
    effect: Callable[[Outcome], SupportsFloat] | None = None
    parts: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    without: Mapping[str, Experiment] = field(default_factory=dict)
    settings: Mapping[str, Experiment] = field(default_factory=dict)
    differences: Callable[[Outcome], Numbers] | None = None
    blocks: int | None = None
    once: str = ""

    def tally(self, draws: Sequence[Draw]) -> Tally:
        """The tally of draws, with their effects and differences among the numbers."""
        drawn = []
        for draw in draws:
            effect = {} if draw.effect is None else {"effect": draw.effect}
            less = {} if self.differences is None else {"less": self.differences(draw.outcome)}
            drawn.append({**draw.outcome.numbers(), **Outcome(less).numbers(), **effect})
        return Tally.over([draw.held for draw in draws], drawn)

    @property
    def variants(self) -> dict[str, Experiment]:
        """The experiment in its other settings, and without each cause, by their names."""
        return {**self.settings, **self.without}

    @property
    def needed(self) -> int:
        """In how many draws it must hold."""
        return self.draws if self.least is None else self.least

    def draw(self, experiment: Experiment, number: int, salt: str = "") -> Draw:
        """One draw of the experiment; its sides have the same stream, and are timed."""
        sides = experiment if isinstance(experiment, Mapping) else {"": experiment}
        found: dict[str, Numbers] = {}
        seconds: dict[str, float] = {}
        for side, function in sides.items():
            start = time.process_time()
            found[side] = function(stream(self.label, number, salt))
            seconds[side] = time.process_time() - start
            if not isinstance(found[side], Mapping):
                kind = type(found[side]).__name__
                raise TypeError(f"an experiment must return numbers by name; got {kind}")
        outcome = Outcome(found if isinstance(experiment, Mapping) else found[""])
        shown = None if self.effect is None else float(self.effect(outcome))
        edges = [path for path, pick in outcome.picks().items() if pick.at_edge]
        return Draw(outcome, bool(self.holds(outcome)), shown, seconds, edges)

    def each(self, numbers: range, salt: str = "") -> dict[str, list[Draw]]:
        """Draws of the claim, under no name, and of each of its variants."""
        sides = {"": self.experiment, **self.variants}
        return {name: [self.draw(one, n, salt) for n in numbers] for name, one in sides.items()}


@dataclass(frozen=True)
class Found:
    """The findings for a claim; `stored` is whether the draws were stored ones.

    `draws` are those of the claim, under no name, and of its variants; `fresh` are the tallies of
    those that came since the code last changed, with picks at an edge and the day of the last one;
    `earlier` has the counts of earlier code.
    """

    claim: Claim
    draws: Mapping[str, Sequence[Draw]]
    fresh: Mapping[str, Any]
    earlier: Sequence[Mapping[str, Any]] = ()
    stored: bool = True

    def drawn(self, name: str = "") -> Tally:
        """Return the tally of the stored draws, of the claim or of one of its variants."""
        return self.claim.tally(self.draws[name])

    def drawn_fresh(self, name: str = "") -> Tally:
        """Return the tally of the fresh draws."""
        return Tally.from_json(self.fresh.get("variants", {}).get(name, {}) if name else self.fresh)

    def pooled(self, name: str = "") -> Tally:
        """Return the tally of all draws made with this code."""
        return self.drawn(name) + self.drawn_fresh(name)


def _stored(file: Path) -> dict[str, dict[str, Any]]:
    """The entries of the claims of a chapter, as `find` makes them, by their labels."""
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _store(file: Path, label: str, entry: Mapping[str, object]) -> None:
    """Write the entry of a claim, with a draw a line, so that a change can be read."""
    claims = []
    for name, known in sorted({**_stored(file), label: entry}.items()):
        lines = [f"  {_one(key)}: {_value(value)}" for key, value in known.items()]
        claims.append(f"{_one(name)}: {{\n" + ",\n".join(lines) + "\n}")
    file.parent.mkdir(parents=True, exist_ok=True)
    partly = file.with_suffix(".part")  # whoever stops here loses nothing
    partly.write_text("{\n" + ",\n".join(claims) + "\n}\n", encoding="utf-8")
    partly.replace(file)


def _value(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"    {_one(entry)}" for entry in value) + "\n  ]"
    if isinstance(value, dict) and any(isinstance(entry, list) for entry in value.values()):
        return "{" + ", ".join(f"{_one(k)}: {_value(v)}" for k, v in value.items()) + "}"
    return _one(value)


def _one(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def find(claim: Claim, file: Path, version: str, *, writable: bool = True) -> Found:
    """Return the stored draws of a claim, once one draw is repeated; or all draws, stored then.

    Repeated is the draw that took the least time, unless that is more than the environment grants.
    Where it asks for fresh draws, they are added to the counts. Where it says that names changed
    and nothing else, draws of other code are kept if two of them come out again. Nothing is stored
    in a file that is not `writable`. Raises `ClaimError` where the repeated draw is not the stored
    one.
    """
    code = [claim.experiment, claim.holds, claim.effect, claim.variants, claim.draws]
    code += [claim.differences] if claim.differences else []
    key = key_of(*code, version=version)
    entry = _stored(file).get(claim.label, {})
    known = entry.get("key") == key
    kept = known or (bool(entry and os.environ.get(RENAMED)) and _only_renamed(claim, entry))
    entry = {**entry, "key": key} if kept else _drawn(claim, key, entry)
    draws = {name: _read(told) for name, told in _sides(entry).items()}
    if known:
        _repeat(claim, draws[""])
    wanted = int(os.environ.get(FRESH) or 0)
    if wanted and not claim.once:
        entry["fresh"] = _with_fresh(claim, entry["fresh"], wanted)
    if writable and (wanted or not known):
        _store(file, claim.label, entry)
    return Found(claim, draws, entry["fresh"], entry["earlier"], kept)


def _drawn(claim: Claim, key: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """A new entry of a claim; of the one before it stay the counts of its fresh draws."""
    earlier = list(before.get("earlier", ()))
    if fresh := before.get("fresh"):  # what it has shown of the code that was there before
        earlier.append({name: fresh[name] for name in ("held", "of", "until")})
    each = claim.each(range(claim.draws)).items()
    made = {name: [draw.to_json() for draw in draws] for name, draws in each}
    return {"key": key, "fresh": {}, "earlier": earlier, "draws": made.pop(""), "variants": made}


def _sides(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The stored draws of the claim, under no name, and of its variants."""
    return {"": entry["draws"], **entry["variants"]}


def _read(told: Sequence[Mapping[str, Any]]) -> list[Draw]:
    return [Draw.from_json(draw) for draw in told]


def _cheapest(draws: Sequence[Draw], count: int) -> list[int]:
    """The numbers of the draws that took the least time, the first one first."""
    spent = [sum(draw.seconds.values()) for draw in draws]
    return [int(number) for number in np.argsort(spent, kind="stable")[:count]]


def _only_renamed(claim: Claim, entry: Mapping[str, Any]) -> bool:
    """Return whether other code made as many draws of the same sides, and two come out again."""
    sides = {"": claim.experiment, **claim.variants}
    before = {name: _read(told) for name, told in _sides(entry).items()}
    if {n: len(draws) for n, draws in before.items()} != dict.fromkeys(sides, claim.draws):
        return False
    return all(
        _comes_again(claim.draw(experiment, number), before[name][number], before[name])
        for name, experiment in sides.items()
        for number in _cheapest(before[name], 2)
    )


def _comes_again(again: Draw, before: Draw, stored: Sequence[Draw]) -> bool:
    """Return whether a draw of renamed code is the stored one, by its effect or all numbers."""
    now, then = again.outcome.numbers(), before.outcome.numbers()
    if again.held != before.held or now.keys() != then.keys() or not _same(again, before, stored):
        return False
    if again.effect is not None:
        return True
    others = [draw.outcome.numbers() for draw in stored]
    return all(
        _near(now[path], then[path], [other[path] for other in others if path in other])
        for path in now
    )


def _repeat(claim: Claim, stored: Sequence[Draw]) -> None:
    """Repeat the cheapest draw, since functions that the experiment calls may have changed.

    Rounding differs from one processor to the next, and now and then sends a fit to another
    optimum. A change of the code shows in every draw: so two more draws may speak for the first.
    Where rounding decides every draw, a nudge moves it as well, and the code is not to blame.
    """
    first, *others = _cheapest(stored, 3)
    if sum(stored[first].seconds.values()) > float(os.environ.get(SECONDS) or np.inf):
        return
    again = claim.draw(claim.experiment, first)
    if _same(again, stored[first], stored):
        return
    more = [_same(claim.draw(claim.experiment, n), stored[n], stored) for n in others]
    if more != [True, True] and not _rounding_decides(claim, first, again, stored[first]):
        raise ClaimError(
            f"{claim.label}: draw {first}, repeated, is not the stored one: "
            f"{again.to_json()} where {stored[first].to_json()} is stored; what the experiment "
            "calls has changed: take its entry out of the file in _claims and run the chapter again"
        )


def _rounding_decides(claim: Claim, number: int, again: Draw, before: Draw) -> bool:
    """Return whether a nudge moves the outcome of a draw about as far as it is from the stored."""
    off = _apart(again, before)
    for part in NUDGES:
        with nudged(part):
            moved = claim.draw(claim.experiment, number)
        if _apart(moved, again) > _AS_FAR * off:
            return True
    return False


def _apart(one: Draw, other: Draw) -> float:
    """Return the distance of the effects of two draws; without effects, whether both held."""
    if one.effect is None or other.effect is None:
        return float(one.held != other.held)
    return abs(one.effect - other.effect)


def _same(again: Draw, before: Draw, stored: Sequence[Draw]) -> bool:
    """Return whether a draw came out as before, up to rounding."""
    if again.effect is None or before.effect is None:
        return again.held == before.held
    effects = [draw.effect for draw in stored if draw.effect is not None]
    return _near(again.effect, before.effect, effects)


def _near(again: float, before: float, among: Sequence[float]) -> bool:
    return abs(again - before) <= _SAME * float(np.std(among)) + 1e-4 * abs(before)


def _with_fresh(claim: Claim, before: Mapping[str, Any], wanted: int) -> dict[str, object]:
    """Return the tallies with fresh draws added: the date and the earlier count are the salt."""
    today = date.today().isoformat()
    count = before.get("of", 0)
    draws = claim.each(range(count, count + wanted), today)
    told = {"": before, **before.get("variants", {})}
    tallies = {
        name: (Tally.from_json(told.get(name, {})) + claim.tally(found)).to_json()
        for name, found in draws.items()
    }
    edges = before.get("edges", 0) + sum(len(draw.at_edge) for draw in draws[""])
    return {**tallies.pop(""), "edges": edges, "variants": tallies, "until": today}
