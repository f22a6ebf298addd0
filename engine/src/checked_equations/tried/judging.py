"""Where a statement holds: the fate of each sample, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..check.bindings import swap_groups
from ..check.mends import Mends, holds_on, mends_of
from ..check.mutant_outcomes import run_mutants
from ..check.mutants import all_mutants
from ..check.outcomes import MutantRecord, Mutants
from ..check.relations import Misfit, Tolerance
from ..check.statements import BoundStatement, Draw
from ..errors import EquationError, OperationError
from ..latex import tree as t
from ..latex.balance import balanced
from ..latex.printer import to_latex
from .drawing import Sample

ALLOWED = Tolerance(rtol=1e-8)
FAR = 1e-4  # a residual below is lost digits, and accuses nobody


@dataclass(frozen=True)
class Fate:
    """What became of a statement on one sample: its residual, or why there is none."""

    sample: Sample
    residual: float | None
    holds: bool
    why: str = ""

    @property
    def fails(self) -> bool:
        """Whether it is off by more than lost digits."""
        return self.residual is not None and not self.holds and self.residual > FAR


@dataclass(frozen=True)
class Trial:
    """A statement on all samples."""

    latex: str
    statement: t.Statement
    samples: tuple[Sample, ...]

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """The fate of each sample."""
        return tuple(fate_of(self.statement, sample) for sample in self.samples)

    @property
    def held(self) -> tuple[Fate, ...]:
        """Where it holds."""
        return tuple(fate for fate in self.fates if fate.holds)

    @property
    def failed(self) -> tuple[Fate, ...]:
        """Where it does not."""
        return tuple(fate for fate in self.fates if fate.fails)

    @property
    def residual(self) -> float | None:
        """The worst residual where it holds; if it holds nowhere, the best of all."""
        held = [fate.residual for fate in self.held if fate.residual is not None]
        every = [fate.residual for fate in self.fates if fate.residual is not None]
        return max(held) if held else min(every, default=None)

    def mutants(self) -> Mutants:
        """The mutants, on the samples on which the statement holds."""
        draws = [fate.sample.bindings for fate in self.held]
        bound = bound_on(self.statement, draws)
        groups = swap_groups(draws[0])
        every = all_mutants(self.statement, groups, lambda node: balanced(self.latex, node.span))
        fates = run_mutants(bound, every)
        pairs = zip(every, fates, strict=True)
        return Mutants.of(
            tuple(MutantRecord(m.edit, to_latex(m.after), *fate, said=m.said) for m, fate in pairs)
        )

    def mends(self) -> Mends:
        """The single edits after which it holds wherever it fails."""
        drawn = [fate.sample.bindings for fate in self.failed][:_SAMPLES]
        missed = min(fate.residual or 0.0 for fate in self.failed)
        holds = holds_on(drawn, ALLOWED, missed)
        return mends_of(self.statement, holds, drawn, seconds=_SECONDS)


_SAMPLES, _SECONDS = 6, 4.0  # on so many a mend must hold, and for so long one is looked for


def bound_on(statement: t.Statement, draws: Sequence[Mapping[str, Any]]) -> BoundStatement:
    """The statement on draws, as a check has it."""
    return BoundStatement(statement, tuple(map(Draw, draws)), ALLOWED)


def fate_of(statement: t.Statement, sample: Sample) -> Fate:
    """What becomes of a statement on a sample."""
    bound = bound_on(statement, [sample.bindings])
    residual, holds = 0.0, True
    try:
        for place, step in enumerate(statement.steps):
            comparison = bound.compare(place, step)
            residual, holds = max(residual, comparison.residual), holds and comparison.holds
    except (EquationError, OperationError, Misfit, ArithmeticError, ValueError, TypeError) as wrong:
        return Fate(sample, None, False, str(getattr(wrong, "problem", wrong)))
    return Fate(sample, residual, holds)
