"""Joint distributions of a few variables with a few values each, drawn by the factors of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

Factor = tuple[Set[str], Set[str]]  # variables, and those on which their distribution depends
Chance = np.ndarray  # of each point of the space; one axis for each letter


@dataclass(frozen=True)
class JointLaw:
    """A finite space: the chance of each point, with one axis for each letter."""

    letters: Sequence[str]
    chance: Chance

    @classmethod
    def drawn(cls, letters: Sequence[str], factors: Iterable[Factor], values: int) -> JointLaw:
        """One whose chance is the product of a chance for each of the `factors`."""
        rng = np.random.default_rng(7)
        chance = np.ones([values] * len(letters))
        for of, given in factors:
            sizes = [values if one in of | given else 1 for one in letters]
            weights = rng.gamma(2.0, size=sizes)
            axes = tuple(i for i, one in enumerate(letters) if one in of)
            chance = chance * (weights / weights.sum(axis=axes, keepdims=True))
        return cls(letters, chance)

    def of(self, names: Set[str]) -> Chance:
        """Return the chances of these letters, whose axes are in the order of `letters`."""
        away = tuple(i for i, one in enumerate(self.letters) if one not in names)
        found: Chance = self.chance.sum(axis=away, keepdims=True)
        return found


def given_each_other(factors: Sequence[Factor]) -> str:
    """Say which variables are independent in a product of factors, each given earlier ones.

    >>> given_each_other([({"x"}, set()), ({"y"}, {"x"}), ({"z"}, {"y"})])
    'z is independent of x given y'
    """
    before: set[str] = set()
    said = []
    for of, given in factors:
        if before - given:
            verb = "is" if len(of) == 1 else "are"
            kept = f" given {listed(given)}" if given else ""
            said.append(f"{listed(of)} {verb} independent of {listed(before - given)}{kept}")
        before |= of
    return " and ".join(said)


def in_order(factors: Sequence[Factor]) -> list[Factor] | None:
    """Return factors so that each is given earlier ones alone; None where no order is so.

    >>> in_order([({"y"}, {"x"}), ({"x"}, set())])
    [({'x'}, set()), ({'y'}, {'x'})]
    """
    left, known, found = list(factors), set[str](), list[Factor]()
    while left:
        ready = next((one for one in left if one[1] <= known), None)
        if ready is None:
            return None
        left.remove(ready)
        found.append(ready)
        known |= ready[0]
    return found


def listed(letters: Iterable[str]) -> str:
    """Return letters in their order, with commas."""
    return ", ".join(sorted(letters))
