"""The problem that a method solves, and its answer: one signature for all of them.

A method is a function ``expectations(problem, options) -> list[Expectation]``: one for each
strategy of the role that the problem is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import Array, array_namespace
from ..expansion import Expansion
from ..game import LIMIT, RoleSymmetricGame

__all__ = ["BumpMoments", "Expectation", "Options", "PayoffMethod", "RoleProblem"]


@dataclass(frozen=True, eq=False)
class RoleProblem:
    """The payoffs of a role's strategies against mixtures, asked for with gradients or without.

    Parameters
    ----------
    game : RoleSymmetricGame
        The game.
    role : int
        The role of the deviators.
    expansions : tuple of Expansion
        The payoffs, one for each strategy of the role.
    mixtures : Matrix, shape (B, S)
        The mixtures that all others play.
    gradient : bool
        Ask for derivatives by the mixtures too.
    """

    game: RoleSymmetricGame
    role: int
    expansions: tuple[Expansion, ...]  # one for each strategy of the role
    mixtures: Array
    gradient: bool

    @property
    def strategies(self) -> Iterator[tuple[int, Expansion]]:
        """The column of each strategy, with its payoff."""
        return enumerate(self.expansions, start=self.game.columns[self.role].start)

    @property
    def opponents(self) -> tuple[int, ...]:
        """The number of others who play in each role, whichever strategy the deviator takes."""
        return self.game.opponents(self.game.columns[self.role].start)


class Expectation(NamedTuple):
    """The expectation of a sum of bumps for each mixture, without offset and scale.

    Parameters
    ----------
    value : Vector, shape (B,)
        The expectations.
    gradient : Matrix, shape (B, S), optional
        Their derivatives by the mixture; None unless they were asked for.
    value_error : Vector, shape (B,), optional
        The standard errors of `value`, by methods that sample.
    gradient_error : Matrix, shape (B, S), optional
        The standard errors of `gradient`, likewise.
    """

    value: Array
    gradient: Array | None = None
    value_error: Array | None = None
    gradient_error: Array | None = None

    def scaled(self, expansion: Expansion) -> Expectation:
        """The same expectations in units of the payoff.

        Parameters
        ----------
        expansion : Expansion
            The payoff, with its offset and scale.
        """
        scale = expansion.scale
        return Expectation(
            expansion.offset + scale * self.value,
            _times(scale, self.gradient),
            _times(abs(scale), self.value_error),
            _times(abs(scale), self.gradient_error),
        )

    @classmethod
    def joined(cls, parts: Sequence[Expectation]) -> Expectation:
        """Join the expectations of blocks of mixtures to those of all.

        Parameters
        ----------
        parts : sequence of Expectation
            The expectations of each block, in order.
        """
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
    """The options of all methods; a method looks at its own.

    Parameters
    ----------
    limit : int, default 200000
        The most profiles to sum over.
    max_deviations : int, default 2
        The players by which a profile may differ from the likeliest one.
    num_samples : int, default 1000
        The profiles drawn for each mixture, at least two.
    threads : int, default 1
        The threads in which blocks of mixtures are worked on.
    rng : Stream, optional
        The stream that they are drawn from.
    """

    limit: int = LIMIT
    max_deviations: int = 2
    num_samples: int = 1000
    threads: int = 1
    rng: Stream | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("limit", 1),
            ("max_deviations", 0),
            ("num_samples", 2),
            ("threads", 1),
        ):
            object.__setattr__(self, name, _check.whole(getattr(self, name), name, least))


class PayoffMethod(NamedTuple):
    """A method: the function that computes expectations, and the options that matter to it.

    Parameters
    ----------
    expectations : callable
        The function of a `RoleProblem` and `Options`.
    options : tuple of str, default ()
        The names of its options.
    """

    expectations: Callable[[RoleProblem, Options], list[Expectation]]
    options: tuple[str, ...] = ()


class BumpMoments(NamedTuple):
    """A method's expectations for a variance: of single bumps, and of pairs of profiles.

    Parameters
    ----------
    singles : callable
        A function of a `RoleProblem` and an `Expansion` that gives the expectation of each bump
        alone, (J, B).
    pairs : callable
        A function of the same that gives the expectation of the bump between two profiles that are
        drawn apart, (B,).
    """

    singles: Callable[[RoleProblem, Expansion], Array]
    pairs: Callable[[RoleProblem, Expansion], Array]
