"""The verdict on a trial: where it holds, or the reason why it cannot be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final, Literal

import numpy as np

from checked_equations.check.mutants import Mutant
from checked_equations.check.outcomes import Mutants
from checked_equations.evaluate.effort import SECOND, allowing, current
from checked_equations.latex import tree as t

from ..mends import Mends
from .conditions import has_symbols
from .drawing import ALL_ZERO, NEAR_AN_END, More, Plan
from .kinds import EVEN, Kind
from .meeting_sides import meeting
from .negative_bases import wants_positive_bases
from .reversed_orders import turned_round
from .sample_fates import STRICT, Fate, Trial, clearly_fails, is_long
from .token_patterns import ORDERS
from .unbound_statement import RATIONAL, mentioned, mentions
from .whole_numbers import (
    GENERIC,
    Wanted,
    broken_plans,
    condition_on,
    counted,
    small_plans,
    wide_plans,
)

UNMET = "no numbers meet the conditions"
LOOSE = "a relation that the text must explain: "
FAILS: Final = "fails on all numbers drawn"
PART: Final = "holds in part"
ODD: Final = "does not fit together"
HOLDS: Final = ("holds", "holds if")
RELATES = (  # reasons for which what fails on all numbers may be a relation, and no identity
    LOOSE, "an entry of", "a bar may be", "a condition that is not read",
)  # fmt: skip
BOTH = "where both sides have a value"
UNTOLD = "it agrees on some numbers and not on others, and no region that is known tells them apart"
_ARGUMENT = "in which of its symbols it is proportional is not said"
_CONDITION = "an inequality that may want a condition"
REVERSED = "its order is reversed"
_TIGHT = "it holds only where both sides are the same"
_PATIENCE = SECOND // 2  # effort for numbers that confirm a verdict
_LOOSE = 2  # symbols on one side alone, beyond which it is no slip but a relation of symbols
_BRIEFLY = 6 * SECOND // 10  # of a search for the mends of what may be no slip
_NEAR = 3.0  # numbers where no function has lost its difference from its limit
_MANY = 5  # samples on which an inequality must fail before it is blamed


Verdict = Literal[
    "holds", "holds if", "holds in part", "does not hold", "fails on all numbers drawn",
    "does not fit together", "definition", "not read",
]  # fmt: skip


@dataclass(frozen=True)
class Tried:
    """The outcome for an unbound display.

    `why` says why it is not read, or on which evidence the verdict rests; `region` is where it
    holds, if not everywhere; `residual` is the worst where it holds, else the best; `slips` gives
    `mutants`, its slips and their fates, which are tried when they are first asked for; `mend` is
    an edit that mends it; `drawn` has each symbol's kind.
    A display that *fails on all numbers drawn* accuses no one: `why` has other meanings that a
    text may give it. Nor does one that *does not fit together*, by its marks and indices: that
    has no value at all.

    Where a display is judged in pieces, `steps` counts those that hold, fail, define and are not
    judged; `failing` and `unjudged` have two of these as they are printed.
    """

    verdict: Verdict
    why: str = ""
    region: str | None = None
    residual: float | None = None
    slips: Callable[[], Mutants] | None = field(default=None, compare=False, repr=False)
    mend: Mends | None = None
    drawn: Mapping[str, Kind] = field(default_factory=dict)
    steps: Mapping[str, int] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def mutants(self) -> Mutants | None:
        """The slips with their fates, of a display that holds."""
        return self.slips and self.slips()

    def __str__(self) -> str:
        """The verdict with the region and the reason, in a line."""
        said = f"{self.verdict} {self.region}" if self.region else self.verdict
        return f"{said} ({self.why})" if self.why else said


def _slips_of(trial: Trial) -> Callable[[], Mutants]:
    """Return a function that tries the slips once, with the effort that is left at present."""
    left = current().most - current().spent

    @cache
    def slips() -> Mutants:
        with allowing(left):
            return trial.mutants()

    return slips


def verdict_on(trial: Trial, plan: Plan, told: str, doubt: str, more: More) -> Tried:
    """Combine the fates on all samples; `told` is a reason not to accuse, and `doubt` one to leave
    that to a reader. With `more` numbers a region differs from a chance. An order that fails, and
    holds turned round, is noted.
    """
    found = _as_printed(trial, plan, told, doubt, more)
    fails = plan.drawn and trial.failed and found.verdict not in HOLDS
    for other, mends in turned_round(trial) if fails else ():
        if _as_printed(other, plan, told, doubt, more).verdict == "holds":
            verdict = FAILS if found.verdict == "not read" else found.verdict
            why = "; ".join(filter(None, (REVERSED, _TIGHT * bool(trial.held), told, doubt)))
            return Tried(verdict, why, residual=trial.residual, mend=mends)
    return found


def _as_printed(trial: Trial, plan: Plan, told: str, doubt: str, more: More) -> Tried:
    if sum(fate.same for fate in trial.fates) > 1:
        trial = replace(trial, alike=True)
    if _by_chance(trial, plan):
        order = plan.wide and not _equal(trial)
        others = _confirming(trial, plan, more)
        with allowing(_PATIENCE):
            sure = _sure(trial, others)
        if not sure.held:
            return _on_some(sure, others, plan, told, more)
        if order and _wants_an_end(trial, sure):
            loose = _unrelated(trial, plan)
            return Tried("not read", _loose(loose) if loose else _CONDITION)
        trial = sure
    if trial.held:
        return _held(trial, plan, told, more)
    if trial.failed:
        return _failed(trial, plan, told, doubt)
    if name := defined_in(trial.statement):
        return Tried("definition", f"of {name}")
    near = "its sides differ by so little that lost digits may have done it"
    why = next((fate.why for fate in trial.fates if fate.why), near if trial.fates else "")
    if not why:
        return Tried("not read", UNMET)
    if why == near:
        return Tried("not read", why, residual=trial.residual)
    return Tried("not read", f"it has no value: {why}", residual=trial.residual)


def _confirming(trial: Trial, plan: Plan, more: More) -> Trial:
    """The trial on more numbers, some of them far out where sizes may decide."""
    order = plan.wide and not _equal(trial)
    far, beyond = order or _folds(trial.statement), order or (plan.wide and _by_size(trial))
    ends = more.at_ends() if beyond else ()
    others = replace(trial, samples=(*more.around(far=far, beyond=beyond), *ends))
    near = (fate for fate in others.fates if fate.sample.region.span <= _NEAR)
    return replace(others, alike=True) if sum(fate.same for fate in near) > 1 else others


def _equal(trial: Trial) -> bool:
    return not any(step.relation in ORDERS for step in trial.statement.steps)


def _by_chance(trial: Trial, plan: Plan) -> bool:
    """Return whether it may hold on the numbers that were drawn, and not on others nearby."""
    if not trial.held:
        return False
    if not _equal(trial):  # sides that meet on a whole stretch
        return True
    if trial.far or not plan.drawn or _in_the_limit(trial):
        return False
    if trial.failed:
        return True
    # near a cut differences cross it; and branches that are chosen follow the numbers
    rough = is_long(trial.statement) or any(
        isinstance(p, t.Slope | t.Primed) for p in t.parts(trial.statement)
    )
    turned = any(kind.name == "orthogonal" for kind in plan.drawn.values())
    return (turned or _folds(trial.statement)) and not rough and not trial.choices


def _sure(trial: Trial, others: Trial) -> Trial:
    """Return the trial without regions where it holds by chance, with its failures outside."""
    steps, known = trial.statement.steps, {sample.region.name for sample in trial.samples}
    failed = [
        fate
        for fate in others.failed
        if fate.sample.region.name in known or clearly_fails(fate, steps)
    ]
    outside = [fate.sample.region for fate in (*trial.failed, *failed)]
    regions = (sample.region for sample in (*trial.samples, *others.samples))
    unsure = frozenset(one.name for one in regions if any(map(one.contains, outside)))
    more = [fate.sample for fate in failed if fate.sample.region.name not in known]
    return replace(trial, unsure=unsure, samples=(*trial.samples, *more))


def _wants_an_end(trial: Trial, sure: Trial) -> bool:
    """Return whether it fails far out, or near a printed end, on a side where it holds nearby."""
    known = {sample.region.name for sample in trial.samples}
    regions = {fate.sample.region for fate in sure.failed}
    inside = {region.signs for region in regions if region.name in known}
    signs = {fate.sample.region.signs for fate in sure.held} - inside
    beyond = (region for region in regions if region.name not in known)
    return any(one in (NEAR_AN_END, *EVEN) or one.signs in signs for one in beyond)


def _on_some(trial: Trial, others: Trial, plan: Plan, told: str, more: More) -> Tried:
    """Return the verdict where it holds on some numbers of each region, and not on others."""
    if not _equal(trial):
        return Tried("not read", _CONDITION)
    cases = _cases(others, plan.drawn)
    alone = len(counted(plan)) == 1  # with numbers of two symbols it may hold by chance
    if cases and (said := _of_whole(others, plan, more) or cases[: _MANY * alone]):
        held = [one for one in others.fates if one.holds and _case(one, plan.drawn) in cases]
        sure = replace(others, samples=tuple(fate.sample for fate in held[:_MANY]))
        return Tried("holds if", told, " or ".join(said), None, _slips_of(sure))
    return Tried("not read", UNTOLD)


_CHOOSING = frozenset({"max", "min", "sup", "inf", "argmax", "argmin", "floor", "ceil"})
_OF_ONE_FORM = frozenset(  # functions that are the same power series wherever they have values
    {"exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sec", "csc", "cot", "sech", "csch",
     "coth", "det", "tr", "diag", "identity", "factorial", "double_factorial", "binom"}
)  # fmt: skip


def is_of_one_form(trial: Trial) -> bool:
    """Return whether an equality that fails on some numbers holds nowhere, but by chance."""
    several = any(isinstance(part, t.Cases) for part in t.parts(trial.statement))
    return not (several or trial.choices or _folds(trial.statement)) and _equal(trial)


def _folds(statement: t.Statement) -> bool:
    """Return whether signs, or sizes, may decide which of several forms a part of it has.

    The modulus, roots, logarithms and inverse functions do so, the largest of several values, and
    the next whole number.
    """
    return any(_of_several_forms(part) for part in t.parts(statement))


def _by_size(trial: Trial) -> bool:
    """Return whether sizes may decide, as in ``|1000 - x|``, and numbers far out lose no digits."""
    parts = t.parts(trial.statement)
    rough = any(isinstance(p, t.Slope | t.Apply | t.Primed) for p in parts) or is_long(
        trial.statement
    )
    own = {getattr(part, "kind", getattr(part, "name", "")) for part in parts}
    chosen = any(isinstance(part, t.Bars) for part in parts) or not _CHOOSING.isdisjoint(own)
    return chosen and not rough


def _of_several_forms(part: t.Node) -> bool:
    if isinstance(part, t.Function):
        return part.name not in _OF_ONE_FORM
    if isinstance(part, t.Power):
        exponent = part.exponent
        return not (isinstance(exponent, t.Number) and exponent.value == int(exponent.value))
    own = getattr(part, "kind", getattr(part, "name", ""))
    return isinstance(part, t.Bars | t.Root | t.Apply) or own in _CHOOSING


def _failed(trial: Trial, plan: Plan, told: str, doubt: str) -> Tried:
    """A statement that holds nowhere: a definition, a relation of symbols, or a slip."""
    steps = trial.statement.steps
    first = steps[0]
    if name := defined_in(trial.statement):
        return Tried("definition", f"of {name}")
    loose = [
        key
        for key in plan.drawn
        if not any(mentions(step.left, key) and mentions(step.right, key) for step in steps)
    ]
    sides = [side for step in steps for side in (step.left, step.right)]
    named = Counter(p.key for one in sides for p in t.parts(one) if isinstance(p, t.Name))
    lone = [key for key in loose if named[key] == 1]
    if told:
        return _noted(trial, told, lone)
    known = any(kind.name == "in turn" for kind in plan.drawn.values())
    if not known and any(step.relation == "\\propto" for step in steps):
        return Tried("not read", _ARGUMENT, residual=trial.residual)
    if first.relation == "\\sim":
        why = "the ratio of its sides does not tend to one on the way to the limit"
        return _noted(trial, why, lone)
    few = plan.drawn and len(trial.failed) < _MANY
    if few and first.relation not in ("=", ":=", "\\approx", "\\propto"):
        return Tried("not read", _CONDITION, residual=trial.residual)
    alone = loose if all(map(has_symbols, sides)) else lone
    if not doubt and len(alone) > _LOOSE:  # no single edit takes them all away
        return Tried("not read", _loose(loose), residual=trial.residual)
    if loose or doubt:
        return _noted(trial, doubt or _loose(loose), lone)
    return Tried("does not hold", residual=trial.residual, mend=trial.mends())


def _noted(trial: Trial, why: str, lone: Sequence[str]) -> Tried:
    """Return the verdict on a failure that may not be a slip, for the reason `why`.

    A relation of symbols fails on all numbers too: it is a slip where a single edit would mend it,
    which brings in no symbol, and takes away the `lone` ones, which stand once.
    """
    if not why.startswith(RELATES):
        return Tried(FAILS, why, residual=trial.residual, mend=trial.mends(_BRIEFLY))
    flat = any(isinstance(part, _LEVELLING) for part in t.parts(trial.statement))
    mends = trial.mends(_BRIEFLY, partial(_takes_away, [] if flat else lone))
    if mends is None or not mends.found:
        return Tried("not read", why, residual=trial.residual)
    return Tried(FAILS, why, residual=trial.residual, mend=mends)


# Nodes whose value may not depend on a symbol that stands in them.
_LEVELLING = t.Slope | t.Primed | t.Limit | t.Integral | t.Average | t.At | t.Apply


def _takes_away(keys: Sequence[str], edit: Mutant) -> bool:
    """Return whether an edit takes symbols away, and puts none where it did not stand."""
    before, after = (
        Counter(part.key for part in t.parts(node) if isinstance(part, t.Name))
        for node in (edit.before, edit.after)
    )
    return not after - before and all(before[key] > after[key] for key in keys)


def _held(trial: Trial, plan: Plan, told: str, more: More) -> Tried:
    """Return the verdict of a statement that holds on some numbers or on all."""
    if trial.failed and not _equal(trial) and (loose := _unrelated(trial, plan)):
        return Tried("not read", _loose(loose))
    if trial.failed and not _equal(trial) and all(_meet(trial, fate) for fate in trial.held):
        return Tried("not read", _CONDITION)
    bases = [] if trial.failed else _of_bases(trial, more)
    if bases:
        trial = replace(trial, samples=tuple(one.sample for one in trial.held if _positive(one)))
    wanted = _of_whole(trial, plan, more)
    if wanted is None or (trial.failed and len(counted(plan)) > 1 and _all_count(plan.drawn)):
        return Tried("not read", UNTOLD if _equal(trial) else _CONDITION)
    regions = [_region(trial, plan.drawn)] if trial.failed else bases
    regions += [*_apart(trial, more), *wanted]
    verdict: Verdict = "holds if" if regions else "holds"
    without = (fate for fate in trial.fates if fate.residual is None)
    if not told and not regions and any(_one_sided(trial, fate) for fate in without):
        told = BOTH
    return Tried(verdict, told, ", ".join(regions) or None, trial.residual, _slips_of(trial))


def _meet(trial: Trial, fate: Fate) -> bool:
    """Return whether sides are equal where it holds, as in ``|x| \\le x``: so it says x ≥ 0."""
    steps, draw = trial.statement.steps, fate.draw
    return draw is not None and all(np.allclose(*draw.sides(one), atol=0.0) for one in steps)


def _of_bases(trial: Trial, more: More) -> list[str]:
    """Return the condition that the bases of real powers are positive, if it fails without."""
    if not more.plan.wide or trial.far or trial.choices or not _equal(trial):
        return []
    with allowing(_PATIENCE):
        return wants_positive_bases(trial, more)


def _one_sided(trial: Trial, fate: Fate) -> bool:
    """Return whether one side of a step has a value where the other has none."""
    steps, numbers = trial.statement.steps, fate.sample.bindings
    try:
        with allowing(_PATIENCE, anew=True):
            sides = [[trial.value(side, numbers) for side in (s.left, s.right)] for s in steps]
    except TimeoutError:
        return False
    return any((left is None) != (right is None) for left, right in sides)


_JUMPING = frozenset({"sign", r"\mathrm{sign}", "floor", "ceil", "indicator"})


def _apart(trial: Trial, more: More) -> list[str]:
    """The places where it fails, if it has jumps or strict orders: ``x ≠ 0``, ``a ≠ b``."""
    parts = t.parts(trial.statement)
    jumps = any(isinstance(p, t.Cases) or getattr(p, "name", "") in _JUMPING for p in parts)
    strict = any(step.relation in STRICT for step in trial.statement.steps)
    rough = is_long(trial.statement) or any(isinstance(p, t.Slope | t.Primed) for p in parts)
    if rough or not (jumps or strict) or trial.far or trial.choices or _in_the_limit(trial):
        return []
    held = {fate.sample.region.name for fate in trial.held}
    more = replace(more, regions=[region for region in more.regions if region.name in held])
    places = [*more.at_places()]
    there = trial.on(sample for _, sample in places)
    with allowing(_PATIENCE):
        fates = zip(places, there.fates, strict=True)
        steps = trial.statement.steps
        found = {said for (said, _), one in fates if one.same or clearly_fails(one, steps)}
        if strict and trial.held and (met := meeting(trial.held[0].sample, more, steps, found)):
            return [f"its sides do not meet, as they do at {met}"]
    whole = [key for key in more.plan.drawn if {f"{key} ≠ {n}" for n in range(3)} <= found]
    kept = sorted(said for said in found if not said.startswith(tuple(f"{key} ≠" for key in whole)))
    kept = [f"{key} is not whole" for key in whole] + kept
    return [said for said in kept if not said.endswith(ALL_ZERO)] or kept


def _of_whole(trial: Trial, plan: Plan, more: More) -> list[str] | None:
    """The conditions on whole numbers without which it fails; nothing if none is known of."""
    if not plan.wide or not counted(plan) or trial.far or trial.choices or _in_the_limit(trial):
        return []
    regions = [fate.sample.region for fate in trial.held]
    wide = trial.on(more.by(wide_plans(plan), regions))
    with allowing(_PATIENCE):
        if not trial.failed and _is_rational(trial.statement, plan):
            few = trial.on(more.by(wide_plans(plan, GENERIC), regions))
            if not any(_fails_there(few, fate, plan) for fate in few.fates):
                return [*_to_be_whole(trial, plan, more, None)]
        failing = [fate for fate in wide.fates if _fails_there(wide, fate, plan)]
        wanted = _wanted(trial, wide, failing, plan) if failing else None
        if failing and (wanted is None or _by_few(trial, plan, more, wanted)):
            return None
        said = [wanted.said] if wanted else []
        return [*said, *_to_be_whole(trial, plan, more, wanted)]


def _is_rational(statement: t.Statement, plan: Plan) -> bool:
    """Return whether whole numbers only stand in sums, products and quotients of an equality."""
    keys, equal = counted(plan), all(step.relation in ("=", ":=") for step in statement.steps)
    rest = (part for part in t.parts(statement) if type(part) not in RATIONAL)
    sized = plan.derived or any(kind.shape for kind in plan.drawn.values())
    return equal and not sized and all(mentioned(part).isdisjoint(keys) for part in rest)


def _wanted(trial: Trial, wide: Trial, failing: list[Fate], plan: Plan) -> Wanted | None:
    fates = [*trial.held, *trial.failed, *(one for one in wide.fates if one.holds), *failing]
    keys = counted(plan)
    cases = [({key: one.sample.bindings[key] for key in keys}, one.holds) for one in fates]
    return condition_on(cases, order=not _equal(trial))


def _by_few(trial: Trial, plan: Plan, more: More, wanted: Wanted) -> bool:
    """Return whether it fails for some small whole numbers that are `wanted`, of all of them.

    Of the few pairs n, j that are drawn with j no multiple of n, all may have n even.
    """
    if len(counted(plan)) < 2:
        return False
    regions = [fate.sample.region for fate in trial.held]
    met = (one for one in more.by(small_plans(plan), regions) if wanted.holds(one.bindings))
    every = trial.on(met)
    return any(_fails_there(every, fate, plan) for fate in every.fates)


def _to_be_whole(trial: Trial, plan: Plan, more: More, wanted: Wanted | None) -> Iterator[str]:
    """The letters that measure as often as they count, and must be whole numbers here."""
    regions = [fate.sample.region for fate in trial.held]
    for key, one in broken_plans(plan):
        samples = more.by([one] * _MANY, regions)
        met = (one for one in samples if not wanted or wanted.holds(one.bindings))
        broken = trial.on(met)
        if any(_fails_there(broken, fate, one) for fate in broken.fates):
            yield f"{key} is whole"


def _fails_there(trial: Trial, fate: Fate, plan: Plan) -> bool:
    """Return whether it clearly fails; where it has no real value, whether it does as complex.

    So ``\\log(m^2) = 2 \\log m`` fails for m = -2, though no logarithm of it is real.
    """
    if fate.residual is None:
        bindings = dict(fate.sample.bindings)
        drawn = {key: bindings[key] for key in plan.drawn}
        below = {key: complex(one) for key, one in drawn.items() if isinstance(one, int | float)}
        sample = replace(fate.sample, bindings={**bindings, **below})
        fate = trial.on([sample]).fates[0]
    small = all(abs(n) <= _SMALL for n in (fate.sample.bindings[key] for key in counted(plan)))
    return (fate.same and small) or clearly_fails(fate, trial.statement.steps)


_SMALL = 2  # whole numbers for which sides that are the same have not lost their difference


def _in_the_limit(trial: Trial) -> bool:
    return any(step.relation == "\\sim" for step in trial.statement.steps)


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


def defined_in(statement: t.Statement) -> str:
    """Return the symbol that stands alone on one side, if the display only defines it."""
    first = statement.steps[0]
    left = first.left.key if isinstance(first.left, t.Name) else ""
    alone = len(statement.steps) == 1 and first.relation in ("=", ":=")
    return left if left and alone and not mentions(first.right, left) else ""


def _region(trial: Trial, kinds: Mapping[str, Kind]) -> str:
    """Where it holds: of several descriptions that fit the shortest."""
    if _all_count(kinds):
        return " or ".join(_cases(trial, kinds))
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


def _all_count(kinds: Mapping[str, Kind]) -> bool:
    return bool(kinds) and all(kind.counts for kind in kinds.values())


def _positive(fate: Fate) -> bool:
    return fate.sample.region.signs == "+" and not fate.sample.region.plane


def _case(fate: Fate, kinds: Mapping[str, Kind]) -> str:
    keys = [key for key, kind in kinds.items() if kind.counts]
    return ", ".join(f"{key} = {fate.sample.bindings[key]}" for key in keys)


def _cases(trial: Trial, kinds: Mapping[str, Kind]) -> list[str]:
    """The whole numbers with which it always holds, of those that were drawn."""
    refuted = {_case(fate, kinds) for fate in trial.fates if not fate.holds}
    held = dict.fromkeys(_case(fate, kinds) for fate in trial.fates if fate.holds)
    return [case for case in held if case not in refuted]
