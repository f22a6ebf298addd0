"""Inequalities are judged where they are tight: there, a strict one is another statement."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import EquationError
from .bindings import Tight
from .mutants import Mutant
from .statements import BoundStatement

NEVER = "never: "


def why_never_tight(tight: Tight) -> str:
    """Why no numbers make the inequality an equality, where the author says so."""
    if not isinstance(tight, str):
        return ""
    if not tight.startswith(NEVER) or not tight.removeprefix(NEVER).strip():
        raise ValueError(f"tight= in words must begin with {NEVER!r} and say why; got {tight!r}")
    return tight


def refuse_not_tight(
    bound: BoundStatement, mutants: Sequence[Mutant], tight: Tight, latex: str
) -> None:
    """Raise `EquationError` where `tight` does not say what the numbers say."""
    if tight is None:
        return
    strict = [mutant for mutant in mutants if mutant.strict]
    if not strict:
        raise EquationError("tight=: no relation of this equation can be tight", latex)
    # whether some inequality would fail on a draw if it were strict
    attained = [
        any(not bound.compare(m.places[0], m.steps[0], slice(i, i + 1)).holds for m in strict)
        for i in range(len(bound.draws))
    ]
    if why_never_tight(tight) and any(attained):
        raise EquationError("tight= says never, but both sides are equal on a draw", latex)
    if bound.tight and not any(attained[-bound.tight :]):
        raise EquationError("tight=: on none of the tight draws are both sides equal", latex)


def survivor_hints(alive: Sequence[Mutant]) -> str:
    """What to do about mutants of a relation that survive."""
    hint = ""
    if any(mutant.strict for mutant in alive):
        hint = " An inequality that is never seen tight could be strict: give tight= numbers on "
        hint += f"which both sides are equal, or say why there are none, tight='{NEVER}why'."
    if any(mutant.finer and not mutant.strict for mutant in alive):
        hint += " Where both sides are equal to rtol=, write = instead of \\approx."
    return hint
