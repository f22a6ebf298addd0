"""An experiment: a function of one stream, or several sides that are given the same stream.

The streams are made here, from the label of the claim and the number of the draw, so that whoever
writes the experiment does not choose them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .outcome import Outcome

Experiment = Callable[[np.random.Generator], Any] | Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Draw:
    """What one draw found.

    The outcome, whether the claim held, its effect, processor seconds by side, and the paths of
    the picks that stand at the edge of their grids.
    """

    outcome: Outcome
    held: bool
    effect: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    at_edge: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The draw as plain data."""
        effect = {} if self.effect is None else {"effect": float(f"{self.effect:.6g}")}
        spent = {side: float(f"{s:.2g}") for side, s in self.seconds.items()}
        edges = {"at edge": list(self.at_edge)} if self.at_edge else {}
        found = self.outcome.to_json()
        return {"held": self.held, **effect, **edges, "seconds": spent, "found": found}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Draw:
        """What `to_json` made."""
        found = Outcome(data["found"])
        held, effect = bool(data["held"]), data.get("effect")
        return cls(found, held, effect, dict(data["seconds"]), data.get("at edge", ()))


def stream(label: str, number: int, salt: str = "") -> np.random.Generator:
    """The random numbers of one draw; a `salt` gives others.

    >>> bool(stream("cl-a", 0).random() == stream("cl-a", 0).random())
    True
    """
    words = "\0".join([label, str(number), salt]).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(words).digest()[:16]))


def run_draw(
    label: str,
    experiment: Experiment,
    holds: Callable[[Outcome], Any],
    effect: Callable[[Outcome], Any] | None,
    number: int,
    salt: str = "",
) -> Draw:
    """One draw. Of several sides each has the same stream, and its processor seconds are taken."""
    sides = experiment if isinstance(experiment, Mapping) else {"": experiment}
    found: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for side, function in sides.items():
        start = time.process_time()
        found[side] = function(stream(label, number, salt))
        seconds[side] = time.process_time() - start
        if not isinstance(found[side], Mapping):
            kind = type(found[side]).__name__
            raise TypeError(f"an experiment must return numbers by name; got {kind}")
    outcome = Outcome(found if isinstance(experiment, Mapping) else found[""])
    shown = None if effect is None else float(effect(outcome))
    edges = [path for path, pick in outcome.picks().items() if pick.at_edge]
    return Draw(outcome, bool(holds(outcome)), shown, seconds, edges)
