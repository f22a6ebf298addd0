"""What a method is asked, and what it answers: one signature for all of them.

A method is a function ``expectations(problem, options) -> list[Expectation]``: one for each
strategy of the role that the problem is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....ground import check as _check
from ....ground.random import Stream
from ....ground.xp import Array, array_namespace
from ..expansion import Expansion
from ..game import LIMIT, RoleSymmetricGame

__all__ = ["Expectation", "Method", "Options", "RoleProblem"]


@dataclass(frozen=True, eq=False)
class RoleProblem:
    """The payoffs of a role's strategies against mixtures (B, S), with gradients or without."""

    game: RoleSymmetricGame
    role: int
    expansions: tuple[Expansion, ...]  # one for each strategy of the role
    mixtures: Array
    gradient: bool

    @property
    def strategies(self) -> Iterator[tuple[int, Expansion]]:
        """The column of each strategy, and its payoff."""
        return enumerate(self.expansions, start=self.game.columns[self.role].start)

    @property
    def opponents(self) -> tuple[int, ...]:
        """How many others play in each role, whichever of its strategies the deviator takes."""
        return self.game.opponents(self.game.columns[self.role].start)


class Expectation(NamedTuple):
    """The expectation of a sum of bumps for each mixture, without offset and scale: `value` (B,).

    `gradient`, (B, S), are its derivatives by the mixture, None unless they were asked for. Methods
    that sample give the standard errors of both.
    """

    value: Array
    gradient: Array | None = None
    value_error: Array | None = None
    gradient_error: Array | None = None

    def scaled(self, expansion: Expansion) -> Expectation:
        """The same in units of the payoff."""
        scale = expansion.scale
        return Expectation(
            expansion.offset + scale * self.value,
            _times(scale, self.gradient),
            _times(abs(scale), self.value_error),
            _times(abs(scale), self.gradient_error),
        )

    @classmethod
    def joined(cls, parts: Sequence[Expectation]) -> Expectation:
        """The expectations of all mixtures from those of blocks of them."""
        xp = array_namespace(parts[0].value)

        def together(arrays: list[Array | None]) -> Array | None:
            present = [a for a in arrays if a is not None]
            return xp.concat(present) if present else None

        return cls(
            xp.concat([part.value for part in parts]),
            together([part.gradient for part in parts]),
            together([part.value_error for part in parts]),
            together([part.gradient_error for part in parts]),
        )


def _times(scale: float, a: Array | None) -> Array | None:
    return None if a is None else scale * a


@dataclass(frozen=True)
class Options:
    """What a caller may say about how to compute; a method looks at its own.

    At most `limit` profiles; so many `moves` away from the likeliest profile; `samples` for each
    mixture, drawn from `stream`; blocks of mixtures in so many `threads`.
    """

    limit: int = LIMIT
    moves: int = 2
    samples: int = 1000
    stream: Stream | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        for name, least in (("limit", 1), ("moves", 0), ("samples", 2), ("threads", 1)):
            object.__setattr__(self, name, _check.whole(getattr(self, name), name, least))


class Method(NamedTuple):
    """How expectations are computed, and the options that make a difference to it."""

    expectations: Callable[[RoleProblem, Options], list[Expectation]]
    options: tuple[str, ...] = ()
