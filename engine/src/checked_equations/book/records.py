"""Records that the verbs of a chapter return: inline relations, ledger and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from ..check.phrases import Data, claim_phrases
from ..check.records import Shown
from ..claims.claim import Found
from ..claims.judgement import weakened, would_refute
from ..claims.outcome import Outcome
from ..claims.tally import Moments
from .chapter_badges import claim_details, ledger_details


@dataclass(frozen=True)
class InlineRecord:
    """A relation of a sentence: "evaluated" on the numbers of `by`, or "listed" and `why`.

    Of its `mutants` that differ from it, so many were `caught`; its author may have `spared` it.
    """

    latex: str
    line: int
    outcome: str
    why: str = ""
    by: str = ""
    residual: float | None = None
    caught: int = 0
    mutants: int = 0
    spared: bool = False


@dataclass(frozen=True, repr=False)
class Ledger(Shown):
    """The summary of a chapter; `more` has the further counts of a book, as in `Record`."""

    chapter: str
    totals: Mapping[str, int]
    inline: tuple[InlineRecord, ...] = ()
    kind: str = "ledger"
    text: str = ""
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def panel(self) -> str:
        """The totals of the chapter, and the relations that are only listed."""
        return ledger_details(self.to_json())


@dataclass(frozen=True, repr=False)
class ClaimRecord(Shown):
    """A claim that its draws bear out.

    `data` is shown on the page; `outcomes` are the numbers of each stored draw, and those
    `without` each cause and in other `settings`, for tables and figures.
    """

    data: Data
    outcomes: tuple[Outcome, ...]
    without: Mapping[str, tuple[Outcome, ...]]
    settings: Mapping[str, tuple[Outcome, ...]]

    def to_json(self) -> dict[str, object]:
        """The record as plain JSON data."""
        return dict(self.data)

    def panel(self) -> str:
        """Its draws, means, costs and counts."""
        return claim_details(self.data)


def claim_record(found: Found, chapter: str, text: str, line: int, sentence: str) -> ClaimRecord:
    """Return the record of the findings."""
    claim, draws, numbers = found.claim, found.draws[""], found.pooled().numbers
    data = {
        "kind": "claim", "label": claim.label, "about": claim.label,
        "chapter": chapter, "line": line, "text": text,
        **_counts(found, ""), "least": claim.needed, "blocks": claim.blocks, "once": claim.once,
        "without": {name: _counts(found, name) for name in claim.without},
        "settings": {name: _counts(found, name) for name in claim.settings},
        "refuted_by": would_refute(claim),
        "worst": {name: _worst(numbers, name, least) for name, least in claim.parts.items()},
        "seconds": {
            side: float(f"{median(draw.seconds[side] for draw in draws):.2g}")
            for side in draws[0].seconds if side
        },
        "fresh": {name: found.fresh[name] for name in _OF_FRESH if name in found.fresh},
        "earlier": list(found.earlier), "weakened": weakened(found), "stored": found.stored,
        "sentence": sentence,
    }  # fmt: skip
    lasting = {**data, "fresh": {}}  # the plain line is compared, and fresh draws are added
    data["said"] = f"{claim.label}: {' · '.join(claim_phrases(lasting))}"
    told = {name: tuple(draw.outcome for draw in drawn) for name, drawn in found.draws.items()}
    without = {name: told[name] for name in claim.without}
    settings = {name: told[name] for name in claim.settings}
    return ClaimRecord(data, told[""], without, settings)


_OF_FRESH = ("held", "of", "edges", "until")  # its tallies are in the counts of the variants


def _counts(found: Found, name: str) -> dict[str, object]:
    """Count how often it holds: a dot for each stored draw, counts and numbers of all draws."""
    stored, fresh = found.drawn(name), found.drawn_fresh(name)
    pooled = stored + fresh
    return {
        "held": stored.held, "of": stored.of, "fresh_held": [fresh.held, fresh.of],
        "pooled": [pooled.held, pooled.of],
        "numbers": {path: _told(moments) for path, moments in pooled.numbers.items()},
        "answers": sorted({path for draw in found.draws[name] for path in draw.outcome.answers()}),
        "dots": [[draw.held, draw.effect] for draw in found.draws[name]],
    }  # fmt: skip


def _told(number: Moments) -> list[float]:
    """The mean, its standard error, the number of draws, the least and the most."""
    extremes = (float(f"{end:.6g}") for end in (number.least, number.most))
    return [float(f"{number.mean:.6g}"), float(f"{number.error:.3g}"), number.count, *extremes]


def _worst(
    numbers: Mapping[str, Moments], name: str, least: Callable[..., str]
) -> dict[str, object]:
    """The part whose mean over the draws is the worst: `least` picks it, as `min` or `max` do."""
    paths = [path for path in numbers if path.startswith(f"{name}.")]
    worst = least(paths, key=lambda path: numbers[path].mean)
    mean, error, *_ = _told(numbers[worst])
    return {"part": worst.removeprefix(f"{name}."), "mean": mean, "error": error}
