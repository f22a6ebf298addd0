"""The outcomes of the steps, the mutants and the estimates of a statement: frozen records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

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

    `said` is the name `edit` with its mathematics between dollars, as a page shows it. Put
    ``changed[2]`` in place of the text from ``changed[0]`` to ``changed[1]`` in the LaTeX of
    the equation, and it reads as the mutant does. A page points at `place` before the edit,
    and marks `shown` after it. They are empty where no text reads as the mutant does.
    """

    edit: str
    latex: str
    outcome: str
    residual: float | None
    why: str = ""
    said: str = ""
    changed: tuple[int, int, str] | tuple[()] = ()
    place: tuple[int, int] | tuple[()] = ()
    shown: tuple[int, int] | tuple[()] = ()


Write = Callable[[], tuple[MutantRecord, ...]]


@dataclass(frozen=True)
class Mutants:
    """The mutants of an equation and their counts.

    `write` gives the same list with its edits in the text. It reads each edited text again, so
    it is called only for a page that shows it.
    """

    caught: int
    indistinct: int
    survived: int
    spared: int
    list: tuple[MutantRecord, ...] = ()
    write: Write | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, mutants: tuple[MutantRecord, ...], write: Write | None = None) -> Mutants:
        """The mutants with their outcomes counted."""
        counts = Counter(mutant.outcome for mutant in mutants)
        caught, indistinct, survived, spared = (counts[name] for name in OUTCOMES)
        return cls(caught, indistinct, survived, spared, mutants, write)

    @property
    def undecided(self) -> int:
        """Count the mutants that took longer than a trial may: none in a check, which waits."""
        return sum(mutant.outcome == "undecided" for mutant in self.list)

    @property
    def counts(self) -> dict[str, int]:
        """Count the mutants by their outcome; undecided ones are named only if there are any."""
        late = {"undecided": self.undecided} if self.undecided else {}
        return {**{name: getattr(self, name) for name in OUTCOMES}, **late}


@dataclass(frozen=True)
class EstimateRecord:
    """The worst z-score over entries and draws, the limit it is held to, and the sample behind it.

    `slip` is the smallest relative error of the whole statement that the sample would have caught,
    whichever way it went; none for an inequality.
    """

    z: float
    limit: float
    standard_error: float
    entries: int
    n: int | None = None
    seed: int | None = None
    slip: float | None = None
