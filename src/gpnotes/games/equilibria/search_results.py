"""The outcome of a search for equilibria: those it found, and how every attempt ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from ...ground.xp import Vector, to_numpy

__all__ = ["BETTER", "FOUND", "LEFT", "STALLED", "Equilibria", "Equilibrium", "Search"]

FOUND = "equilibrium"
STALLED = "did not converge"
LEFT = "left the simplex"
BETTER = "another strategy pays more"


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """A mixture that no player gains by leaving, with its regret and the search behind it.

    Parameters
    ----------
    mixture : Vector, shape (S,)
        The mixture.
    payoffs : Vector, shape (S,)
        The payoffs there, of the model by `method`.
    regrets : tuple of float
        The regrets of the model by `method`, one for each role in its own unit.
    true_regrets : tuple of float or None
        The regrets of the true game where it is known, else None.
    method : str
        The method that computed the payoffs.
    num_searches : int, default 1
        The number of searches that ended here.
    """

    mixture: Vector
    payoffs: Vector
    regrets: tuple[float, ...]
    true_regrets: tuple[float, ...] | None
    method: str
    num_searches: int = 1

    @property
    def regret(self) -> float:
        """The largest of `regrets`, which means something where all roles are paid in one unit."""
        return max(self.regrets)

    @property
    def true_regret(self) -> float | None:
        """The largest of `true_regrets`, likewise."""
        return None if self.true_regrets is None else max(self.true_regrets)

    def __repr__(self) -> str:
        return f"Equilibrium({_format_mixture(self.mixture)}, num_searches={self.num_searches})"


@dataclass(frozen=True, eq=False, repr=False)
class Search:
    """One attempt to find an equilibrium: by which route, from where, and how it ended.

    Parameters
    ----------
    route : str
        ``"newton"`` (from a start as it stands), ``"replicator"`` (from where the dynamics lead
        from a start), ``"support"`` or ``"simplicial"``.
    start : int or None
        The row of the start, where there is one.
    support : tuple of int or None
        The columns that are played, where there is a support.
    outcome : str
        ``"equilibrium"``; ``"did not converge"``; ``"left the simplex"``; or
        ``"another strategy pays more"``, for a support on which all pays alike.
    equilibrium : int or None
        The place of the equilibrium in the sequence, where there is one.
    mixture : Vector, shape (S,)
        The mixture at the end.
    regrets : tuple of float
        The regrets there, one for each role.
    """

    route: str
    start: int | None
    support: tuple[int, ...] | None
    outcome: str
    equilibrium: int | None
    mixture: Vector
    regrets: tuple[float, ...]

    def __repr__(self) -> str:
        start = "" if self.start is None else f" from start {self.start}"
        support = "" if self.support is None else f" {self.support}"
        which = "" if self.equilibrium is None else f" {self.equilibrium}"
        return f"Search({self.route}{start}{support}: {self.outcome}{which})"


@dataclass(frozen=True, eq=False, repr=False)
class Equilibria(Sequence[Equilibrium]):
    """The equilibria found, and how every search ended; printed, it is a table.

    Those with the least regret come first; among those whose regret is rounding, who plays the
    first strategies more. That no search failed proves nothing: an equilibrium that no search
    has met is not counted anywhere.

    Parameters
    ----------
    equilibria : tuple of Equilibrium
        The equilibria, in order.
    searches : tuple of Search
        Every search.
    payoff_ranges : tuple of float
        How far the payoffs of each role are apart where they are furthest apart.
    max_regrets : tuple of float
        The largest regret of an equilibrium in each role: the tolerance times its range, and
        its rounding.
    supports : pair of int
        The number of supports that were tried, the first ones, and of all.
    exhaustive : bool
        True where the supports tried hold all equilibria of the game, unless it is degenerate.
    """

    equilibria: tuple[Equilibrium, ...]
    searches: tuple[Search, ...]
    payoff_ranges: tuple[float, ...]
    max_regrets: tuple[float, ...]
    supports: tuple[int, int]
    exhaustive: bool

    @property
    def num_starts(self) -> int:
        """The number of mixtures that the search started from; from each it may go two ways."""
        return len({search.start for search in self.searches} - {None})

    @property
    def num_failed(self) -> int:
        """The number of searches from these starts that did not end at an equilibrium."""
        return sum(search.start is not None and search.outcome != FOUND for search in self.searches)

    def __len__(self) -> int:
        return len(self.equilibria)

    @overload
    def __getitem__(self, index: int) -> Equilibrium: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Equilibrium, ...]: ...

    def __getitem__(self, index: int | slice) -> Equilibrium | tuple[Equilibrium, ...]:
        return self.equilibria[index]

    def __repr__(self) -> str:
        plural = "" if self.num_starts == 1 else "s"
        tried = (
            f"{self.num_starts} start{plural}, {self.supports[0]} of {self.supports[1]} supports"
        )
        return f"Equilibria({len(self)} found by {len(self.searches)} searches: {tried})"

    def __str__(self) -> str:
        rows = [f"{i:>3}  {equilibrium!r}" for i, equilibrium in enumerate(self.equilibria)]
        bounds = ", ".join(f"{bound:.1g}" for bound in self.max_regrets)
        rows += [f"     regret by role at most {bounds}"] if rows else []
        counts = Counter((search.route, search.outcome) for search in self.searches)
        lines = [f"     {route}: {outcome}, {n}" for (route, outcome), n in sorted(counts.items())]
        return "\n".join([repr(self), *rows, *lines, self._caveat()])

    def _caveat(self) -> str:
        if self.exhaustive:
            return "Payoffs are linear, and every support was tried: unless it is degenerate, all."
        return "Other equilibria may exist: that no search failed would not prove there are none."


def _format_mixture(mixture: Vector) -> str:
    return "[" + " ".join(f"{probability:.4g}" for probability in to_numpy(mixture).tolist()) + "]"
