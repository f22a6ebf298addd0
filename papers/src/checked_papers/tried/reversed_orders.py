"""An order that is printed the wrong way round: turned round it holds on all numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checked_equations.check.mutants import Mutant
from checked_equations.latex import tree as t

from ..mends import Mend, Mends
from .sample_fates import Trial, bound_on

_TURNED = {
    "<": (">", r"\ge"), ">": ("<", r"\le"), r"\le": (r"\ge",), r"\ge": (r"\le",),
    r"\preceq": (r"\succeq",), r"\succeq": (r"\preceq",),
}  # fmt: skip


def turned_round(trial: Trial) -> Iterator[tuple[Trial, Mends]]:
    """Yield a trial with one of its orders turned round, where that holds on the numbers drawn."""
    steps = trial.statement.steps
    for place, step in enumerate(steps):
        for sign in _TURNED.get(step.relation, ()):
            after = replace(step, relation=sign)
            statement = t.Statement((*steps[:place], after, *steps[place + 1 :]))
            if _holds(trial, statement):
                said = f"${sign}$ for ${step.relation}$"
                edit = Mutant(said, (after,), (place,), step, after)
                mend = Mend(said, statement, edit, own=True)
                yield replace(trial, statement=statement), Mends((mend,))


def _holds(trial: Trial, statement: t.Statement) -> bool:
    """Return whether a statement of the same sides holds on the draws of a trial."""
    draws = tuple(fate.draw for fate in trial.fates if fate.draw is not None)
    bound = replace(bound_on(statement, [], trial.far), draws=draws)
    return bool(draws) and all(bound.compare(*each).holds for each in enumerate(statement.steps))
