"""A display is tried: read, drawn for, judged, and spoilt to see that the numbers notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ..check.mends import Mends
from ..check.outcomes import Mutants
from ..latex import tree as t
from ..latex.macros import Macros, expand
from ..latex.names import normal
from . import kinds as known_kinds
from .conditions import Condition, conditions_of
from .drawing import samples
from .judging import Trial
from .kinds import Kind
from .knowledge import Known, by_custom, known
from .parts import parted
from .reading import NotRead, Reading, read

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


def try_display(
    latex: str,
    *,
    conditions: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    macros: Macros | None = None,
    bindings: Mapping[str, Any] | None = None,
    rng: int | np.random.Generator = 0,
) -> Tried:
    """Try the display `latex` on numbers that are drawn for its symbols.

    Symbols are of the kinds in `kinds`, or by custom: n, m, k, i, j are whole, z, w, s complex,
    all others real. `conditions` are LaTeX, such as ``x > 0``; those that the display prints are
    read as well. `bindings` are values of symbols that are no variables, or functions.

    Examples
    --------
    >>> try_display(r"\\cos(x + y) = \\cos x \\cos y - \\sin x \\sin y").verdict
    'holds'
    >>> str(try_display(r"\\sqrt{x^2} = x"))
    'holds if x > 0'
    >>> try_display(r"(a + b)^2 = a^2 + 3 a b + b^2").verdict
    'does not hold'
    """
    full = expand(latex, macros).latex if macros else latex
    declared = {normal(key): kind for key, kind in (kinds or {}).items()}
    stream = np.random.default_rng(rng)
    functions = {
        k: kind.draw(stream, {}) for k, kind in declared.items() if kind.name == "function"
    }
    own = known({**(bindings or {}), **functions})
    try:
        statement, stated = parted(full, own)
        reading = read(statement, own)
    except NotRead as wrong:
        return Tried("not read", str(wrong))
    found, unread = conditions_of([*stated, *conditions], own)
    return _judged(reading, own, declared, found, unread, stream)


def _judged(
    reading: Reading,
    own: Known,
    declared: Mapping[str, Kind],
    conditions: Sequence[Condition],
    unread: Sequence[str],
    rng: np.random.Generator,
) -> Tried:
    """The verdict on what was read."""
    body = _without_definition(reading)
    if body is None:
        return Tried("definition")
    if not body.statement.steps:
        return Tried("not read", "no relation stands in it")
    if body.unknown:
        said = ", ".join(f"`{key}`" for key in body.unknown)
        return Tried("not read", f"the function {said} is not known")
    kinds, fixed = _kinds_of(body, own, declared, conditions)
    told = f"a condition that is not read: {unread[0]}" if unread else ""
    trial = Trial(body.latex, body.statement, tuple(samples(kinds, fixed, conditions, rng)))
    return replace(_verdict(trial, body, kinds, told), drawn=kinds)


def _without_definition(reading: Reading) -> Reading | None:
    """What is claimed: of ``f(x) = a = b`` that a is b; of ``f(x) = a`` nothing."""
    statement = reading.statement
    first = statement.steps[0] if statement.steps else None
    if first is None or first.relation not in ("=", ":="):
        return reading
    left = first.left
    known = isinstance(left, t.Apply) and left.key not in reading.unknown
    if not isinstance(left, t.Apply) or known or _mentions(first.right, left.key):
        return reading
    rest = statement.steps[1:]
    if not rest:
        return None
    statement = replace(statement, steps=rest)
    return replace(reading, statement=statement, unknown=_called(statement, reading.unknown))


def _called(statement: t.Statement, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if _mentions(statement, key))


def _mentions(node: t.Node, key: str) -> bool:
    return any(getattr(part, "key", "") == key for _, part in t.walk(node))


def _kinds_of(
    reading: Reading, own: Known, declared: Mapping[str, Kind], conditions: Sequence[Condition]
) -> tuple[dict[str, Kind], dict[str, Any]]:
    """The kind of each symbol, and the values of those that are constants."""
    stated = {key: getattr(known_kinds, name) for one in conditions for key, name in one.kinds}
    drawn: dict[str, Kind] = {}
    fixed = {key: own.bindings[key] for key in own.bindings if _mentions(reading.statement, key)}
    for key in reading.symbols:
        if key in declared or key in stated or key not in own.constants:
            drawn[key] = declared.get(key) or stated.get(key) or by_custom(key)
        else:
            fixed[key] = own.constants[key]
    return drawn, fixed


def _verdict(trial: Trial, reading: Reading, kinds: Mapping[str, Kind], told: str) -> Tried:
    held, failed = trial.held, trial.failed
    if not held and not failed:
        why = next((fate.why for fate in trial.fates if fate.why), "no numbers meet the conditions")
        return Tried("not read", f"it has no value: {why}", residual=trial.residual)
    if held:
        verdict: Verdict = "holds if" if failed else "holds"
        region = _region(trial, kinds) if failed else None
        return Tried(verdict, told, region, trial.residual, trial.mutants())
    return _failed(trial, reading, kinds, told)


def _failed(trial: Trial, reading: Reading, kinds: Mapping[str, Kind], told: str) -> Tried:
    """A statement that holds nowhere: a definition, a relation of symbols, or a slip."""
    first = reading.statement.steps[0]
    left = first.left.key if isinstance(first.left, t.Name) else ""
    alone = len(reading.statement.steps) == 1 and first.relation in ("=", ":=")
    if left and alone and not _mentions(first.right, left):
        return Tried("definition", f"of {left}")
    loose = sorted(key for key in kinds if not _on_both_sides(reading.statement, key))
    if loose or told:
        said = told or f"a relation that the text must explain: {', '.join(loose)} on one side only"
        return Tried("not read", said, residual=trial.residual)
    return Tried("does not hold", residual=trial.residual, mend=trial.mends())


def _on_both_sides(statement: t.Statement, key: str) -> bool:
    return all(_mentions(step.left, key) and _mentions(step.right, key) for step in statement.steps)


def _region(trial: Trial, kinds: Mapping[str, Kind]) -> str:
    """Where it holds: of several descriptions that fit the shortest."""
    names = [fate.sample.region.said for fate in trial.held]
    for signs, said in (("+", "> 0"), ("-", "< 0")):
        held = {fate.sample.region.signs == signs for fate in trial.held}
        failed = {fate.sample.region.signs == signs for fate in trial.failed}
        if held == {True} and failed == {False} and len(kinds) == 1:
            plane = any(fate.sample.region.plane for fate in trial.held)
            key = next(iter(kinds))
            return f"\\Re {key} {said}" if plane else f"{key} {said}"
    return f"in the regions: {', '.join(names)}"
