"""The outcomes of the steps, the mutants and the estimates of a statement: frozen records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["OUTCOMES", "EstimateRecord", "MutantRecord", "Mutants", "StepRecord"]

OUTCOMES = ("caught", "indistinct", "survived", "spared")


@dataclass(frozen=True)
class StepRecord:
    """One relation of a chain: its LaTeX, its residual, and its line in the file."""

    latex: str
    relation: str
    residual: float | None
    line: int


@dataclass(frozen=True)
class MutantRecord:
    """One mutant and its outcome; `why` is the reason for which it is spared.

    `said` is the name `edit` with its mathematics between dollars, as a page shows it.
    """

    edit: str
    latex: str
    outcome: str
    residual: float | None
    why: str = ""
    said: str = ""


@dataclass(frozen=True)
class Mutants:
    """The mutants of an equation and their counts."""

    caught: int
    indistinct: int
    survived: int
    spared: int
    list: tuple[MutantRecord, ...] = ()

    @classmethod
    def of(cls, mutants: tuple[MutantRecord, ...]) -> Mutants:
        """The mutants with their outcomes counted."""
        counts = Counter(mutant.outcome for mutant in mutants)
        return cls(
            counts["caught"], counts["indistinct"], counts["survived"], counts["spared"], mutants
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many mutants have which outcome."""
        return {name: getattr(self, name) for name in OUTCOMES}


@dataclass(frozen=True)
class EstimateRecord:
    """The worst z-score of an estimate, the limit it is held to, and the sample behind it.

    `slip` is the smallest relative error of the statement that the sample would have caught.
    """

    z: float
    limit: float
    standard_error: float
    entries: int
    n: int | None = None
    seed: int | None = None
    slip: float | None = None
