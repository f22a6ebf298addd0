"""Findings: the verdict on each display, its grounds and its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from checked_equations.check.phrases import counted, mutants_caught

from .mends import Mends
from .reasons import for_readers
from .tried import Tried
from .tried.nist import PAPERS
from .tried.verdicts import FAILS, ODD, PART

AGREES: Final = "agrees on all numbers drawn"
# What a verdict rests on: numbers by a route of their own, numbers that were drawn, nothing.
Verdict = Literal["checked", "tried", "definition", "not read"]
Outcome = Literal[
    "holds", "holds if", "holds in part", "agrees on all numbers drawn",
    "fails on all numbers drawn", "does not fit together", "does not hold", "refused", "",
]  # fmt: skip
VERDICTS: tuple[Verdict, ...] = ("checked", "tried", "definition", "not read")


@dataclass(frozen=True)
class Finding:
    """A display: where it stands, its `verdict` and, if it was evaluated, the `outcome`.

    `number` is the one that stands next to it in print, where that is known.

    `why` has the rest in words; `region` is where it holds, if not everywhere; `mends` are edits
    after which it would hold; `mutants` counts the slips that were caught and that survived;
    `drawn` has the assumed kind of each symbol. Where it was judged in pieces, `steps` counts
    their fates, `failing` has those that fail, and `unjudged` those without a verdict.
    """

    file: str
    line: int
    column: int
    verdict: Verdict
    outcome: Outcome = ""
    label: str = ""
    latex: str = ""
    why: str = ""
    region: str = ""
    residual: float | None = None
    mends: tuple[str, ...] = ()
    mutants: Mapping[str, int] = field(default_factory=dict)
    drawn: Mapping[str, str] = field(default_factory=dict)
    number: str = ""
    steps: Mapping[str, int] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``(3.4) eq-a: ``, as far as it has a number in print and a label."""
        said = " ".join(filter(None, [f"({self.number})" if self.number else "", self.label]))
        return f"{said}: " if said else ""

    @property
    def fails(self) -> bool:
        """Return whether it was evaluated and does not hold, or its check is refused."""
        return self.outcome in ("does not hold", "refused")

    @property
    def noted(self) -> bool:
        """Return whether an author should look at it, though it is no error.

        One that fails on all numbers may be an equation to be solved, unless an edit would mend
        it, or it is an approximation of a number.
        """
        near = not self.drawn and ("\\approx" in self.latex or "≈" in self.latex)
        slip = self.outcome == FAILS and bool(self.mends or self.failing or near)
        return slip or self.outcome in ("holds if", ODD)

    def __str__(self) -> str:
        """The verdict in a line: ``tried: holds if x > 0 · 3 of 3 mutants caught``."""
        head: str = f"{self.verdict}: {self.said}" if self.outcome else self.verdict
        if self.mends:
            head += f"; {_mended(self.mends, self.fails)}"
        slips = mutants_caught(self.mutants) if self.mutants else ""
        drawn = in_words(self.drawn) if self.verdict == "tried" else ""
        told = f": {self.why}" if self.verdict == "not read" else self.why and f" · {self.why}"
        return " · ".join(filter(None, [head, slips, drawn])) + told

    @property
    def said(self) -> str:
        """The outcome in words: ``holds if x > 0``, ``2 of 3 steps hold, 1 not judged: …``."""
        where = f" {self.region}" if self.region else ""
        steps = sum(self.steps.get(name, 0) for name in ("hold", "fail", "not judged"))
        if self.outcome == PART:
            held = _of_steps(self.steps["hold"], steps, "holds", "hold")
            held += f" if{where}" if where else ""
            return f"{held}, {len(self.unjudged)} not judged: {_listed(self.unjudged)}"
        if self.failing and steps > 1:
            said = _of_steps(len(self.failing), steps, FAILS, FAILS.replace("fails", "fail"))
            return f"{said}, {_listed(self.failing)}"
        return f"{self.outcome}{where}"

    def to_json(self) -> dict[str, Any]:
        """Return plain data without empty entries."""
        every = {
            "file": self.file, "line": self.line, "column": self.column, "label": self.label,
            "number": self.number, "verdict": self.verdict, "outcome": self.outcome,
            "region": self.region, "why": self.why, "mends": list(self.mends),
            "residual": self.residual, "steps": dict(self.steps), "failing": list(self.failing),
            "not judged": list(self.unjudged),
            "mutants": dict(self.mutants), "drawn": dict(self.drawn), "latex": self.latex,
        }  # fmt: skip
        return {key: value for key, value in every.items() if value not in ("", None, [], {})}


def _of_steps(number: int, every: int, one: str, many: str) -> str:
    return f"{number} of {every} steps {one if number == 1 else many}"


def _listed(steps: Sequence[str]) -> str:
    return ", ".join(f"`{' '.join(step.split())}`" for step in steps)


def in_words(drawn: Mapping[str, str]) -> str:
    """``a, b real; n whole``: the assumed kinds of the symbols."""
    by_kind: dict[str, list[str]] = {}
    for key, kind in drawn.items():
        by_kind.setdefault(kind, []).append(key)
    return "; ".join(f"{', '.join(keys)} {kind}" for kind, keys in by_kind.items())


def _mended(mends: Sequence[str], accused: bool) -> str:
    """One edit is a suggestion, several are listed."""
    if len(mends) == 1:
        return f"it would {'' if accused else 'hold '}with {mends[0]}"
    shown = "; ".join(mends[:_SHOWN])
    more = f"; and {len(mends) - _SHOWN} more" if len(mends) > _SHOWN else ""
    return f"{len(mends)} single edits would mend it, {shown}{more}"


_SHOWN = 3


def finding(tried: Tried, place: tuple[str, int, int], label: str, latex: str) -> Finding:
    """Return the finding of a display that was tried."""
    name, outcome = _PARTS[tried.verdict]
    mutants = tried.mutants.counts if tried.mutants else {}
    if outcome == "holds" and (not mutants.get("caught") or mutants.get("survived")):
        outcome = AGREES
    mends = _told(tried.mend) if outcome in ("does not hold", FAILS) else ()
    return Finding(
        *place, name, outcome, label, latex,
        why="" if mends and outcome != FAILS else for_readers(tried.why),  # which says it
        region=tried.region or "", residual=tried.residual, mends=mends,
        mutants=mutants, steps=tried.steps, failing=tried.failing, unjudged=tried.unjudged,
        drawn={key: str(kind) for key, kind in tried.drawn.items() if kind.name != "told"},
    )  # fmt: skip


_PARTS: Mapping[str, tuple[Verdict, Outcome]] = {
    "holds": ("tried", "holds"), "holds if": ("tried", "holds if"),
    PART: ("tried", PART), FAILS: ("tried", FAILS), ODD: ("tried", ODD),
    "does not hold": ("tried", "does not hold"), "definition": ("definition", ""),
    "not read": ("not read", ""),
}  # fmt: skip


def _told(mends: Mends | None) -> tuple[str, ...]:
    """Each edit that would mend it, and how it then reads; nothing if some were not tried."""
    if mends is None or not mends.whole:
        return ()
    told = (f"{one.said.replace('$', '`')}: {one.step}" for one in mends.found)
    return tuple(map(PAPERS.as_printed, told))


def summary(findings: Sequence[Finding], faults: int = 0, *, every: bool = True) -> list[str]:
    """Count the displays of each verdict, and where `every` the reasons for those not read."""
    lines = [f"{counted(len(findings), 'equation')}: {', '.join(_totals(findings))}"]
    unread = Counter(_kind_of_reason(one.why) for one in findings if one.verdict == "not read")
    if every:
        lines += [f"  not read, {count}: {why}" for why, count in unread.most_common(5)]
    return lines + ([f"{counted(faults, 'error')} in pages and declarations"] if faults else [])


def totals(findings: Iterable[Finding]) -> dict[str, int]:
    """The number of each verdict, those that were evaluated by their outcome."""
    names = [" ".join(filter(None, [one.verdict, one.outcome])) for one in findings]
    order = [f"{verdict} {outcome}".strip() for verdict, outcome in _ORDER]
    counts = Counter(names)
    return {name: counts[name] for name in order if counts[name]}


_ORDER = (
    *(("checked", outcome) for outcome in ("holds", "does not hold", "refused")),
    *(("tried", one) for one in ("holds", "holds if", PART, AGREES, FAILS, ODD, "does not hold")),
    ("definition", ""), ("not read", ""),
)  # fmt: skip


def _totals(findings: Sequence[Finding]) -> list[str]:
    told = []
    for verdict in VERDICTS:
        own = [one for one in findings if one.verdict == verdict]
        outcomes: Counter[Outcome] = Counter(one.outcome for one in own if one.outcome)
        inner = [
            f"{outcomes[name]} {one if outcomes[name] == 1 else many}"
            for name, (one, many) in _WORDS.items()
            if outcomes[name]
        ]
        name = counted(len(own), verdict) if verdict == "definition" else f"{len(own)} {verdict}"
        if own:
            told.append(name + (f" ({', '.join(inner)})" if inner else ""))
    return told or ["none"]


_WORDS: Mapping[Outcome, tuple[str, str]] = {
    "holds": ("holds", "hold"), "holds if": ("holds in a region", "hold in a region"),
    PART: ("holds in part", "hold in part"), AGREES: ("agrees, with slips unseen",) * 2,
    FAILS: ("fails on all numbers drawn", "fail on all numbers drawn"),
    ODD: (ODD, ODD.replace("does", "do")),
    "does not hold": ("does not hold", "do not hold"), "refused": ("refused", "refused"),
}  # fmt: skip
_PARTICULAR = re.compile(r"`[^`]*`")


def _kind_of_reason(why: str) -> str:
    """Return a reason without the details of its display."""
    if why.startswith("a relation that the text must explain"):
        return "a relation that the text must explain"
    return _PARTICULAR.sub("`…`", why.split("\n")[0]).split(";")[0]
