"""Counts that add up: how often a claim held over many draws, and each of its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_WIDE = 1.959964  # standard errors to either side of an interval of 95 %


@dataclass(frozen=True)
class Moments:
    """A number over `count` draws: its mean, the sum of its squared deviations, its extremes."""

    count: int
    mean: float
    squares: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Moments:
        """Those of one or more values."""
        numbers = list(values)
        mean = math.fsum(numbers) / len(numbers)
        squares = math.fsum((number - mean) ** 2 for number in numbers)
        return cls(len(numbers), mean, squares, min(numbers), max(numbers))

    def __add__(self, other: Moments) -> Moments:
        """Those of both sets of draws together (Chan, Golub and LeVeque, 1983)."""
        count, apart = self.count + other.count, other.mean - self.mean
        mean = self.mean + apart * other.count / count
        squares = self.squares + other.squares + apart**2 * self.count * other.count / count
        extremes = min(self.least, other.least), max(self.most, other.most)
        return Moments(count, mean, squares, *extremes)

    @property
    def error(self) -> float:
        """The standard error of the mean, by the spread over the draws; zero for one draw."""
        return math.sqrt(self.squares / (self.count - 1) / self.count) if self.count > 1 else 0.0

    def to_json(self) -> list[float]:
        """The five numbers, to six digits."""
        numbers = (self.mean, self.squares, self.least, self.most)
        return [self.count, *(float(f"{number:.6g}") for number in numbers)]


@dataclass(frozen=True)
class Tally:
    """In how many draws a claim `held`, `of` how many, and its numbers over those that have them.

    Counts of long ago may have come without the numbers, so a number may have fewer draws.
    """

    held: int = 0
    of: int = 0
    numbers: Mapping[str, Moments] = field(default_factory=dict)

    @classmethod
    def over(cls, held: Sequence[bool], drawn: Sequence[Mapping[str, float]]) -> Tally:
        """The tally of draws, each with whether it held and its numbers by their paths."""
        columns: dict[str, list[float]] = {}
        for numbers in drawn:
            for path, number in numbers.items():
                columns.setdefault(path, []).append(number)
        moments = {path: Moments.of(column) for path, column in columns.items()}
        return cls(sum(held), len(held), moments)

    def __add__(self, other: Tally) -> Tally:
        """Of both sets of draws together."""
        numbers = dict(self.numbers)
        for path, moments in other.numbers.items():
            numbers[path] = numbers[path] + moments if path in numbers else moments
        return Tally(self.held + other.held, self.of + other.of, numbers)

    def to_json(self) -> dict[str, object]:
        """The tally as plain data."""
        numbers = {path: moments.to_json() for path, moments in self.numbers.items()}
        return {"held": self.held, "of": self.of, "numbers": numbers}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tally:
        """Return the tally that `to_json` wrote; an empty one of nothing."""
        told = data.get("numbers", {})
        numbers = {path: Moments(int(count), *rest) for path, (count, *rest) in told.items()}
        return cls(int(data.get("held", 0)), int(data.get("of", 0)), numbers)


def wilson(held: float, of: int) -> tuple[float, float]:
    """Wilson's (1927) interval of 95 % for a share; it has a width where none or all held.

    >>> [round(end, 2) for end in wilson(0, 20)], [round(end, 2) for end in wilson(19, 20)]
    ([0.0, 0.16], [0.76, 0.99])
    """
    share, square = held / of, _WIDE**2 / of
    middle = share + square / 2
    half = math.sqrt(square * (share * (1 - share) + square / 4))
    return (middle - half) / (1 + square), (middle + half) / (1 + square)


def chance_apart(one: Moments, other: Moments) -> float:
    """Welch's test: the chance that two sets of draws of one law have means so far apart.

    The quantile of t is turned into one of the normal law by Wallace's (1959) approximation, which
    keeps a chance of a hundredth to a tenth of itself from three degrees of freedom on.
    """
    if min(one.count, other.count) < 2:
        return 1.0
    parts = one.error**2, other.error**2
    if not (total := sum(parts)):
        return 1.0 if math.isclose(one.mean, other.mean, rel_tol=1e-4, abs_tol=1e-12) else 0.0
    free = total**2 / (parts[0] ** 2 / (one.count - 1) + parts[1] ** 2 / (other.count - 1))
    t = abs(one.mean - other.mean) / math.sqrt(total)
    normal = (8 * free + 1) / (8 * free + 3) * math.sqrt(free * math.log1p(t**2 / free))
    return math.erfc(normal / math.sqrt(2))
