"""The verdict on a trial: where it holds, or why it is nobody's fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..check.mends import Mends
from ..check.outcomes import Mutants
from ..latex import tree as t
from .conditions import ORDERS
from .drawing import Plan, Sample
from .judging import Fate, Trial
from .kinds import Kind
from .reading import mentions

UNMET = "no numbers meet the conditions"
LOOSE = "a relation that the text must explain: "
_MANY = 5  # samples on which an inequality must fail before it is blamed
Samples = tuple[Sample, ...]
Verdict = Literal["holds", "holds if", "does not hold", "definition", "not read"]


@dataclass(frozen=True)
class Tried:
    """What became of a display that nobody bound.

    `why` says why it is not read, or what the verdict rests on; `region` where it holds, if not
    everywhere; `residual` is the worst where it holds, else the best; `mutants` are its slips and
    their fates; `mend` what one edit would mend it; `drawn` what was drawn for each symbol.
    """

    verdict: Verdict
    why: str = ""
    region: str | None = None
    residual: float | None = None
    mutants: Mutants | None = None
    mend: Mends | None = None
    drawn: Mapping[str, Kind] = field(default_factory=dict)

    def __str__(self) -> str:
        """The verdict with the region and the reason, in a line."""
        said = f"{self.verdict} {self.region}" if self.region else self.verdict
        return f"{said} ({self.why})" if self.why else said


def verdict_on(
    trial: Trial, plan: Plan, told: str, doubt: str, again: Callable[[], Samples]
) -> Tried:
    """What the fates on all samples say together; `told` is what stands in the way of a blame,
    and `doubt` what leaves one to a reader. Samples drawn `again` tell a region from a chance.
    """
    if _by_chance(trial, plan):
        others = replace(trial, samples=again())
        unsure = frozenset(fate.sample.region.name for fate in others.failed)
        sure = replace(trial, unsure=unsure)
        if not sure.held and not _equal(trial):
            return Tried("not read", "an inequality that may want a condition")
        if not sure.held and not _whole(plan):
            what = "what is rounded, or the largest,"
            return Tried("not read", f"{what} agrees on some numbers and not on others")
        if not sure.held:
            return Tried("holds if", told, _cases(trial, plan.drawn), None, trial.mutants())
        trial = sure
    if trial.held:
        return _held(trial, plan, told)
    if trial.failed:
        return _failed(trial, plan, told, doubt)
    if name := _defined(trial.statement):
        return Tried("definition", f"of {name}")
    near = "its sides differ by so little that lost digits may have done it"
    why = next((fate.why for fate in trial.fates if fate.why), near if trial.fates else "")
    if not why:
        return Tried("not read", UNMET)
    if why == near:
        return Tried("not read", why, residual=trial.residual)
    return Tried("not read", f"it has no value: {why}", residual=trial.residual)


def _equal(trial: Trial) -> bool:
    return not any(step.relation in ORDERS for step in trial.statement.steps)


def _by_chance(trial: Trial, plan: Plan) -> bool:
    """Whether it may hold on the numbers that were drawn, and not on others beside them."""
    steps = not _equal(trial) or _chooses(trial.statement)  # sides that meet on a whole stretch
    return bool(trial.held) and (steps or (_whole(plan) and bool(trial.failed)))


def _whole(plan: Plan) -> bool:
    return any(kind.counts for kind in plan.drawn.values())


_CHOOSING = frozenset({"max", "min", "sup", "inf", "argmax", "argmin", "floor", "ceil"})


def _chooses(statement: t.Statement) -> bool:
    """Whether it takes one of several values, the largest or the next whole one."""
    parts = (part for _, part in t.walk(statement))
    own = (getattr(part, "kind", getattr(part, "name", "")) for part in parts)
    return not _CHOOSING.isdisjoint(own)


def _failed(trial: Trial, plan: Plan, told: str, doubt: str) -> Tried:
    """A statement that holds nowhere: a definition, a relation of symbols, or a slip."""
    steps = trial.statement.steps
    first = steps[0]
    if name := _defined(trial.statement):
        return Tried("definition", f"of {name}")
    if told:
        return Tried("not read", told, residual=trial.residual)
    if first.relation == "\\sim":
        why = "the ratio of its sides does not tend to one on the way to the limit"
        return Tried("not read", why, residual=trial.residual)
    if first.relation not in ("=", ":=") and len(trial.failed) < _MANY:
        return Tried("not read", "an inequality that may want a condition", residual=trial.residual)
    loose = [
        key
        for key in plan.drawn
        if not any(_on_both_sides(step, key) for step in trial.statement.steps)
    ]
    if loose or doubt:
        return Tried("not read", doubt or _loose(loose), residual=trial.residual)
    return Tried("does not hold", residual=trial.residual, mend=trial.mends())


def _held(trial: Trial, plan: Plan, told: str) -> Tried:
    """What holds on some of the numbers, or on all of them."""
    if trial.failed and not _equal(trial) and (loose := _unrelated(trial, plan)):
        return Tried("not read", _loose(loose))
    verdict: Verdict = "holds if" if trial.failed else "holds"
    region = _region(trial, plan.drawn) if trial.failed else None
    return Tried(verdict, told, region, trial.residual, trial.mutants())


def _loose(keys: Sequence[str]) -> str:
    return f"{LOOSE}{', '.join(sorted(keys))} on one side only"


def _unrelated(trial: Trial, plan: Plan) -> list[str]:
    """The symbols of ``H \\le \\log K``, whose sides have none in common; else none.

    On some of the numbers such an order holds, whatever its author means.
    """
    steps = trial.statement.steps
    left, right = ([k for k in plan.drawn if mentions(getattr(steps[0], one), k)] for one in _SIDES)
    alone = len(steps) == 1 and left and right and not {*left} & {*right}
    return [*left, *right] if alone else []


_SIDES = ("left", "right")


def _defined(statement: t.Statement) -> str:
    """The symbol that stands alone for what is on the other side, if that is all that is said."""
    first = statement.steps[0]
    left = first.left.key if isinstance(first.left, t.Name) else ""
    alone = len(statement.steps) == 1 and first.relation in ("=", ":=")
    return left if left and alone and not mentions(first.right, left) else ""


def _on_both_sides(step: t.Step, key: str) -> bool:
    return mentions(step.left, key) and mentions(step.right, key)


def _region(trial: Trial, kinds: Mapping[str, Kind]) -> str:
    """Where it holds: of several descriptions that fit the shortest."""
    if kinds and all(kind.counts for kind in kinds.values()):
        return _cases(trial, kinds)
    names = [fate.sample.region.said for fate in trial.held]
    for signs, said in (("+", "> 0"), ("-", "< 0")):
        held = {fate.sample.region.signs == signs for fate in trial.held}
        failed = {fate.sample.region.signs == signs for fate in trial.failed}
        if held == {True} and failed == {False} and len(kinds) == 1:
            plane = any(fate.sample.region.plane for fate in trial.held)
            key = next(iter(kinds))
            return f"\\Re {key} {said}" if plane else f"{key} {said}"
    numbers = [key for key, kind in kinds.items() if kind.name in ("real", "complex")]
    if numbers and all(_positive(f) for f in trial.held) and not any(map(_positive, trial.failed)):
        return f"{', '.join(numbers)} > 0"
    return f"in the regions: {', '.join(names)}"


def _positive(fate: Fate) -> bool:
    return fate.sample.region.signs == "+" and not fate.sample.region.plane


def _cases(trial: Trial, kinds: Mapping[str, Kind]) -> str:
    """The whole numbers with which it holds, of those that were drawn."""
    keys = [key for key, kind in kinds.items() if kind.counts]
    held = dict.fromkeys(
        ", ".join(f"{key} = {fate.sample.bindings[key]}" for key in keys) for fate in trial.held
    )
    return " or ".join(held)
