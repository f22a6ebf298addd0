"""Printed displays as the engine tries them where nobody bound their symbols."""

from __future__ import annotations

from checked_papers.declarations import Declared
from checked_papers.display_trials import Task, try_one
from checked_papers.findings import Finding

AGREES = "agrees on all numbers drawn"  # as it would with a slip
FAILS = "fails on all numbers drawn"


def tried(
    latex: str, known: Declared | None = None, *, mending: float = True, notation: str = ""
) -> Finding:
    """Return the finding for one display whose symbols are declared as `known` says.

    `mending` is False, or the effort of a search for mends, which True leaves to the package.
    """
    told = known or Declared()
    return try_one(
        Task(("paper.tex", 1, 1), latex, "", {}, told, mending=mending, notation=notation)
    )


def holds(latex: str) -> Finding:
    """That it holds when it is tried, and that slips in it are caught; what was found."""
    found = tried(latex)
    assert (found.verdict, found.outcome) == ("tried", "holds"), str(found)
    assert found.mutants["caught"]
    return found


def twin(latex: str, slip: tuple[str, str]) -> str:
    """A display with the first of a pair, which stands in it, exchanged for the second."""
    spoilt = latex.replace(*slip)
    assert spoilt != latex, f"{slip[0]} does not stand in {latex}"
    return spoilt


def holds_and_its_twin_does_not(latex: str, slip: tuple[str, str]) -> Finding:
    """That it holds, that every slip in it is caught, and that its twin does not hold."""
    found = holds(latex)
    assert not found.mutants["survived"]
    other = tried(twin(latex, slip), mending=False)
    assert other.outcome != "holds", str(other)
    return found
